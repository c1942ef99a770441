"""Model trees: regression trees with linear models in their leaves (M5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import Certificate, Learner, Verdict, count, fitted, parameter, share
from novum.core.runtime import fit_context, fitting
from novum.core.tables import Schema, check_features
from novum.numerics import Floats, Integers, Mask, Positions
from novum.trees.model_trees.model_tree_growing import DeviationRules, grow_by_deviation
from novum.trees.model_trees.model_tree_lines import columns_below, fitted_models
from novum.trees.model_trees.model_tree_models import (
    LinearModel,
    NodeModels,
    predicted,
    smoothed_model,
)
from novum.trees.routing import leaf_shares, route
from novum.trees.settings import least_weights, rule_for_missing
from novum.trees.training import CellRows, cells_of, common_values, read_numbers, replaced_cells
from novum.trees.tree import Question, Tree

if TYPE_CHECKING:
    from novum.core.svg_text import SvgText


@dataclass(frozen=True)
class ModelPruning:
    """Prunes a model tree by the estimates of M5.

    Parameters
    ----------
    price : float
        What a parameter counts as: v is the number of parameters times this. More prunes more;
        with 0 a node is cut only where its line fits the rows as well as the subtree does.

    Examples
    --------
    >>> ModelPruning().estimate(error=2.0, weight=10.0, parameters=2)
    3.0
    """

    price: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.price) and self.price >= 0):
            raise InputError(f"The price of a parameter is a number of at least 0: {self.price!r}.")

    def estimate(self, error: float, weight: float, parameters: float) -> float:
        """`error (n + v) / (n - v)`, infinite for n <= v."""
        v = self.price * parameters
        return math.inf if weight <= v else error * (weight + v) / (weight - v)

    def leaves(self, tree: Tree, models: NodeModels) -> Mask:
        """Which nodes become leaves; `tree.cut` makes them so."""
        # In units of the deviation of all rows, so that no square leaves the range of a double.
        unit = float(models.deviation[0]) or 1.0
        weight, parameters = tree.weight.tolist(), (models.n_terms + 1.0).tolist()
        squares = ((models.error / unit) ** 2 * tree.weight).tolist()
        cut = np.zeros(tree.n_nodes, bool)
        for node in np.flatnonzero(tree.question != Question.LEAF)[::-1].tolist():
            n, below = weight[node], tree.children(node)
            subtree = sum(squares[child] for child in below)
            count = sum(parameters[child] for child in below) + 1.0
            own = max(math.sqrt(squares[node] / n), NEGLIGIBLE)
            theirs = max(math.sqrt(subtree / n), NEGLIGIBLE)
            line = self.estimate(own, n, parameters[node])
            if line <= self.estimate(theirs, n, count) * (1.0 + _TIE):
                cut[node] = True
            else:
                squares[node], parameters[node] = subtree, count
        return cut


class ModelTreeRegressor(RegressorMixin, Learner):
    """A regression tree with linear models in its leaves, after M5.

    1. A tree is grown to leaves of `min_samples_leaf` by the splits that most lower the sum of
       W v^(1/4), v the variance of W rows: they tell parts apart that one line does not fit, not
       only parts of different means. A branch has at least a tenth of its node's weight.
    2. Every node gets a linear model by least squares on the columns that are asked for in the tree
       below it, simplified greedily by the pessimistic error

           sqrt(SSE / n) (n + v) / (n - v)

       of n rows and v parameters; where no line pays, a constant is left.
    3. Nodes deeper than `max_depth`, and all below a node whose deviation is less than
       `min_deviation` of that of all rows, go. From below, a node becomes a leaf if the
       pessimistic error of its model is not larger than that of its subtree.
    4. A prediction is smoothed on its way from the leaf to the root: p of a node of weight n and q
       of the model of its parent become (n p + k q) / (n + k), k = `smoothing`.

    Parameters
    ----------
    max_depth : int, optional
        0 leaves one linear model.
    min_samples_leaf : int or float
        Least weight of a leaf; a float is a share of all.
    min_deviation : float
        From 0 to 1.
    pruning : "m5", ModelPruning or None
        "m5" is `ModelPruning()`. None keeps every leaf that `max_depth` and `min_deviation` leave.
    smoothing : float or None
        k; 0 or None smooths nothing.
    nominal : {"subset", "single", "auto"}
        Two sets of levels, in the order of their means; one level against the rest; or sets where a
        node has 50 rows for each level and single levels elsewhere.
    missing : {"fractional", "auto", "direction", "most_common"}
        Missing cells go down all branches in parts; or, node by node, in parts, all to one side
        or to a branch of their own, whichever gains most ("auto"); or all to the better side; or
        are replaced before the fit by the most common value of the column (of numbers the median).
    max_bins : int up to 255, or None
        Bins of numeric columns with more distinct values, which is faster. None tries every
        threshold: where one line ends and another begins, rows on the wrong side cost most.
    categorical_features : "auto", "all", None, mask, names or positions

    Attributes
    ----------
    tree_ : Tree
        Its values are means of the target, not predictions.
    models_ : NodeModels
        The linear model of every node, before smoothing.
    schema_ : Schema
    certificate_ : Certificate
        The root mean squared error of the leaves' models. Growth and simplification are greedy,
        so it is a local optimum.
    expected_ : dict from column names to int
        Missing training cells of columns in the linear models, where the node's mean stands for
        them.
    replaced_ : dict from column names to int
        Cells that `missing="most_common"` replaced.
    n_outputs_ : int

    Notes
    -----
    Weights count rows: weight 2 is the row twice, in the tree, in n and in the least squares.
    In a linear model a missing cell, or a level that training never met, stands for the node's mean
    of the column, its expectation there: it adds nothing to the node's mean of the target. Nominal
    and ordinal columns enter the models by columns of zeros and ones for their levels without the
    first; columns with more than 32 levels are asked about and left out of the models. Columns
    that others explain within rounding are left out, the later ones first.
    A line goes on beyond the rows it was fitted to: a cell far outside their range gives a
    prediction far outside theirs.
    With several targets the tree and the columns of the models are common to all.
    Cost: O(rows depth columns^2).

    References
    ----------
    Quinlan, "Learning with continuous classes", 1992. Wang and Witten, "Inducing model trees for
    continuous classes", 1997.

    Examples
    --------
    >>> X = np.arange(40.0)[:, np.newaxis]
    >>> y = np.where(X[:, 0] < 20, 2 * X[:, 0], 300 - X[:, 0])
    >>> tree = ModelTreeRegressor(smoothing=None).fit(X, y)
    >>> print(tree.text())
    all rows [weight 40, deviation 126.08]
    ├─ x0 <= 19.5: LM 1 [weight 20, error 0.0 %]
    └─ x0 > 19.5: LM 2 [weight 20, error 0.0 %]
    <BLANKLINE>
    LM 1: y = 0 + 2 x0
    LM 2: y = 300 - 1 x0
    """

    tree_: Tree = fitted()
    models_: NodeModels = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()
    expected_: dict[str, int] = fitted()
    replaced_: dict[str, int] = fitted()
    common_values_: Floats = fitted()
    n_outputs_: int = fitted()

    invariances: ClassVar[tuple[str, ...]] = ("shift", "column_scale", "row_order", "duplication")

    max_depth: int | None = parameter(default=None, at_least=0)
    min_samples_leaf: float = parameter(count(), share("neither"), default=4)
    min_deviation: float = parameter(default=0.05, at_least=0.0, at_most=1.0)
    pruning: str | ModelPruning | None = parameter({"m5"}, default="m5")
    smoothing: float | None = parameter(default=15.0, at_least=0.0)
    nominal: str = parameter({"subset", "single", "auto"}, default="subset")
    missing: str = parameter(
        {"fractional", "auto", "direction", "most_common"}, default="fractional"
    )
    max_bins: int | None = parameter(default=None, at_least=2, at_most=255)
    categorical_features: Any = parameter("array-like", str, None, default="auto")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags

    # Fit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the tree and its models.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Numbers, ordinal and nominal columns; cells may be missing.
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self):
            rows = read_numbers(self, X, y, sample_weight)
            self.schema_, self.n_outputs_ = rows.schema, rows.targets.shape[1]
            self.common_values_, self.replaced_ = np.empty(0), {}
            if self.missing == "most_common":
                self.common_values_ = common_values(rows)
                rows, self.replaced_ = replaced_cells(rows, self.common_values_, by_class=False)
            self.tree_, self.models_ = self._pruned(rows)
            self.expected_ = _expected_cells(rows, self.models_)
            self.certificate_ = _certify(self.tree_, self.models_)
        return self

    def _pruned(self, rows: CellRows) -> tuple[Tree, NodeModels]:
        """The tree without the subtrees that do not pay, and the models of its nodes."""
        grown = self._grown(rows)
        # What a node asks for below it says which columns matter there, whether it is cut or not.
        usable = columns_below(grown)
        small = grown.impurity < self.min_deviation**2 * grown.impurity[0]
        too_deep = np.zeros(grown.n_nodes, bool)
        if self.max_depth is not None:
            too_deep = grown.depths >= self.max_depth
        tree, kept = _cut(grown, small | too_deep)
        models = fitted_models(tree, usable[kept], rows)
        if self.pruning is None:
            return tree, models
        rule = ModelPruning() if isinstance(self.pruning, str) else self.pruning
        tree, kept = _cut(tree, rule.leaves(tree, models))
        return tree, models.chosen(kept)

    def _grown(self, rows: CellRows) -> Tree:
        least = least_weights(
            SimpleNamespace(min_samples_split=2, min_samples_leaf=self.min_samples_leaf),
            rows.weight,
        )
        rules = DeviationRules(least[1], self.nominal, rule_for_missing(self))
        return grow_by_deviation(rows, rules, self.max_bins)

    # Rows on their way

    def predict(self, X: Any) -> Floats:
        """The smoothed predictions of the leaves that each row reaches; a column for a target."""
        cells = self._cells(X)
        values = predicted(self.tree_, self.models_, cells, self._smoothing)
        return values[:, 0] if self.n_outputs_ == 1 else values

    def apply(self, X: Any) -> Integers:
        """The leaf of each row; of a row that ends in several, the one with its largest share."""
        cells = self._cells(X)
        shares = leaf_shares(self.tree_, cells)
        return np.asarray(shares.argmax(axis=1), np.int64).ravel()

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Indicator of the nodes on the way of each row, of shape (n_rows, n_nodes)."""
        cells = self._cells(X)
        path = route(self.tree_, cells)
        path.data = np.ones(path.nnz, np.int64)
        return path

    def _cells(self, X: Any) -> Floats:
        check_is_fitted(self, "tree_")
        cells = cells_of(check_features(self, X, allow_missing=True, accept_sparse=True))
        if self.common_values_.size and np.isnan(cells).any():
            cells = np.where(np.isnan(cells), self.common_values_, cells)
        return cells

    @property
    def _smoothing(self) -> float:
        return float(self.smoothing or 0.0)

    # The tree and its models

    def leaf_model(self, leaf: int, target: int = 0) -> LinearModel:
        """What a leaf predicts for rows without missing cells, smoothing included."""
        check_is_fitted(self, "tree_")
        if not (0 <= leaf < self.tree_.n_nodes and self.tree_.is_leaf(leaf)):
            raise InputError(f"Node {leaf!r} is no leaf; `apply` gives the leaves of rows.")
        return smoothed_model(self.tree_, self.models_, leaf, self._smoothing, target)

    def text(self, *, max_depth: int | None = None, target: int = 0) -> str:
        """The questions as indented text, and the linear models of the leaves."""
        from novum.trees.model_trees.model_tree_text import model_tree_text

        check_is_fitted(self, "tree_")
        return model_tree_text(
            self.tree_, self.models_, self._smoothing, max_depth=max_depth, target=target
        )

    def svg(self, *, max_depth: int | None = None) -> SvgText:
        """The tree as an SVG picture, with the means of its leaves."""
        from novum.trees.reading.drawing import tree_svg

        check_is_fitted(self, "tree_")
        return tree_svg(self.tree_, max_depth=max_depth)

    def get_depth(self) -> int:
        """Questions on the longest way from the root."""
        check_is_fitted(self, "tree_")
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        self.tree_.check()
        self.models_.check()
        same = self.tree_.schema == self.models_.schema == self.schema_
        if not same or self.models_.n_nodes != self.tree_.n_nodes:
            raise InputError("The tree and the linear models of this file do not fit together.")


def _cut(tree: Tree, leaves: Mask) -> tuple[Tree, Positions]:
    """The tree with the marked nodes as leaves, and which of its nodes remain."""
    gone = np.zeros(tree.n_nodes, bool)
    for node in range(1, tree.n_nodes):
        parent = tree.parent[node]
        gone[node] = gone[parent] or leaves[parent]
    return tree.cut(leaves), np.flatnonzero(~gone)


def _expected_cells(rows: CellRows, models: NodeModels) -> dict[str, int]:
    """Missing cells of columns that some model has."""
    columns = np.unique(models.column)
    missing = np.isnan(rows.cells[:, columns]).sum(axis=0)
    names = rows.schema.names
    return {
        names[j]: int(count)
        for j, count in zip(columns.tolist(), missing.tolist(), strict=True)
        if count
    }


def _certify(tree: Tree, models: NodeModels) -> Certificate:
    """What a greedy fit can say: the error that is left, least if there is none."""
    leaves = tree.question == Question.LEAF
    unit = float(models.deviation[0]) or 1.0
    squares = (tree.weight * (models.error / unit) ** 2)[leaves].sum() / tree.weight[0]
    value = unit * float(np.sqrt(squares))
    return Certificate(
        objective="root mean squared error of the leaves' linear models",
        verdict=Verdict.PROVED if value == 0 else Verdict.LOCAL,
        value=value,
        lower_bound=0.0 if value == 0 else None,
        iterations=int((~leaves).sum()),
        details={
            "leaves": tree.n_leaves,
            "depth": tree.depth,
            "constant leaves": int((models.n_terms[leaves] == 0).sum()),
        },
    )


# --- Pruning --------------------------------------------------------------------------------------
#
# Pruning a model tree: a subtree stays where it is estimated to err less than one linear model.
#
# The error of a model on the rows it was fitted to is too small, the more so the more parameters it
# has. M5 charges for them:
#
#     estimate = sqrt(SSE / n) (n + v) / (n - v).
#
# From the leaves up, a node becomes a leaf if the estimate of its linear model is at most that of
# the subtree below it. A subtree is one model too: its squared error is that of its leaves, and its
# parameters are those of its leaves and one for each question.
#
# References: Quinlan, "Learning with continuous classes", 1992, section 3.3. Wang and
# Witten, "Inducing model trees for continuous classes", 1997.

# Errors below this share of the deviation of all rows count as that share.
NEGLIGIBLE = 1e-6
# Estimates that differ by less, relative to themselves, are equal: sums in another order.
_TIE = 1e-9
