"""What classification and regression trees share: growing, pruning, and sending rows down.

A fit is greedy: every split is the best of its node, which does not make the tree the best of all
trees (finding that is NP-hard). The certificate says what was reached: the impurity of the leaves,
proved least only if it is zero.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict, deferred, fitted, later, parameter
from novum.core.runtime import fit_context, fitting, seed_sequence, stream
from novum.core.tables import Kind, Schema, check_features
from novum.numerics import Floats, Integers
from novum.trees.contributions import ContributingTrees
from novum.trees.forests.forest_value import Forest
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.general.growing import grow_general
from novum.trees.growth.coding import refuse_many_levels
from novum.trees.growth.conversion import coded_table, tree_of
from novum.trees.growth.growing import grow
from novum.trees.pruning.cost_complexity import CostComplexity, cost_complexity_path
from novum.trees.pruning.pessimistic import Pessimistic
from novum.trees.pruning.task import PruningRule, PruningTask, held_out_rows, read_validation_part
from novum.trees.reading.readable import ReadableTree
from novum.trees.routing import heaviest_leaves, leaf_shares, route, tree_values
from novum.trees.scale.streams import TreeStreams
from novum.trees.settings import GrowthParameters, general_rules, growth_rules
from novum.trees.training import CellRows, cells_of, common_values, replaced_cells
from novum.trees.tree import Question, Tree

# What trees that draw nothing are grown with: fresh entropy would cost them a twentieth of the fit.
_NO_CHANCE = np.random.SeedSequence(0)
# Names of scikit-learn for a criterion that has another one.
_OTHER_NAMES = {"log_loss": "entropy", "friedman_mse": "squared_error"}


class TreeModel(TreeStreams, ReadableTree, ContributingTrees, GrowthParameters, ABC):
    """Shared fit and prediction; see `DecisionTreeClassifier` and `DecisionTreeRegressor`.

    Parameters
    ----------
    splitter : {"best", "random"}
        "random" tries one random cut of each column.
    pruning : ReducedError, CostComplexity, Pessimistic (of classes) or None
    """

    splitter: str = parameter({"best", "random"}, default="best")
    pruning: PruningRule | None = parameter(HasMethods("prune"), default=None)

    tree_: Tree = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = deferred()
    replaced_: dict[str, int] = fitted()
    common_values_: Floats = fitted()
    max_features_: int = fitted()

    # In tables of more than 20,000 rows the bins come from a choice of rows by place.
    invariances: ClassVar[tuple[str, ...]] = ("shift", "column_scale", "row_order", "duplication")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = not isinstance(self.pruning, Pessimistic)
        return tags

    # What the two say

    @abstractmethod
    def _training_rows(self, X: Any, y: Any, sample_weight: Any) -> CellRows:
        """The checked rows."""

    @abstractmethod
    def _store_target(self, rows: CellRows) -> None:
        """Stores what is known of the target."""

    # Fit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:  # noqa: ARG002
        """Fits the tree.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Numbers, ordinal and nominal columns; cells may be missing.
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        check_input : bool
            Without effect: input is always checked.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self):
            rows = self._training_rows(X, y, sample_weight)
            self._store_target(rows)
            self._fit_rows(rows)
        return self

    def _fit_rows(self, rows: CellRows) -> None:
        draws = self.splitter == "random" or bool(self.max_features or self.max_thresholds)
        chance = draws or self.random_state is not None or self.pruning is not None
        root = seed_sequence(self.random_state) if chance else _NO_CHANCE
        self.schema_ = rows.schema
        self.common_values_, self.replaced_ = np.empty(0), {}
        if self.missing in ("most_common", "most_common_of_class"):
            by_class = self.missing == "most_common_of_class"
            if by_class and rows.classes is None:
                raise InputError(
                    "missing='most_common_of_class' needs classes, and y holds numbers. Use "
                    "missing='most_common'."
                )
            self.common_values_ = common_values(rows)
            rows, self.replaced_ = replaced_cells(rows, self.common_values_, by_class=by_class)
        self.tree_ = self._pruned(rows, root)
        self.certificate_ = later(certify, self.tree_)

    def _pruned(self, rows: CellRows, root: np.random.SeedSequence) -> Tree:
        """The tree, pruned if asked."""
        rule = self._pruning_rule()
        if rule is None:
            return self._grown(rows, root)
        growing, held_out = rows, None
        if rule.validation_part is not None:
            held_out = read_validation_part(
                copy(self), rows.schema, rows.classes, rule.validation_part
            )
        elif rule.held_out_fraction > 0:
            rng = stream(root, "validation")
            kept, held = held_out_rows(rows.targets, rows.n_classes, rule.held_out_fraction, rng)
            growing, held_out = rows.rows(kept), _task(rows.rows(held))
        tree = self._grown(growing, root)
        task = PruningTask(
            growing.cells,
            growing.targets,
            growing.weight,
            growing.n_classes,
            held_out,
            lambda chosen: self._grown(growing.rows(chosen), root),
            stream(root, "pruning"),
        )
        return rule.prune(tree, task)

    def _pruning_rule(self) -> PruningRule | None:
        if not self.ccp_alpha:
            return self.pruning
        if self.pruning is not None:
            raise InputError(
                "Both ccp_alpha and pruning are given. ccp_alpha=a is pruning=CostComplexity(a): "
                "give one of them."
            )
        return CostComplexity(float(self.ccp_alpha))

    def _criterion(self) -> str | GainRatio:
        """The criterion as the engines know it."""
        if isinstance(self.criterion, str):
            if self.criterion == "gain_ratio":
                return GainRatio()
            return _OTHER_NAMES.get(self.criterion, self.criterion)
        assert isinstance(self.criterion, GainRatio)
        return self.criterion

    def _grown(self, rows: CellRows, root: np.random.SeedSequence) -> Tree:
        """A tree without pruning."""
        criterion = self._criterion()
        multiway = self.nominal == "multiway" and _has_nominal(rows.schema)
        if isinstance(criterion, GainRatio) or criterion == "absolute_error" or multiway:
            refuse_many_levels(rows.schema)
            rules = general_rules(self, rows, criterion)
            self.max_features_ = rules.max_features or rows.schema.n_columns
            about = (rows.schema, rows.classes, rules, stream(root, "growing"))
            return grow_general(rows.cells, rows.targets, rows.weight, *about)
        table, scale = coded_table(rows, self.max_bins)
        binary = growth_rules(self, rows, criterion)
        self.max_features_ = binary.max_features or rows.schema.n_columns
        if scale is not None:
            binary = binary.scaled(scale.unit**-2)
        rng = stream(root, "growing") if binary.draws else None
        grown = grow(table, binary, rows.weight, rng)
        return tree_of(grown, table, rows.schema, rows.classes, scale)

    # Rows on their way

    def _cells(self, X: Any) -> Floats:
        check_is_fitted(self, "tree_")
        cells = cells_of(check_features(self, X, allow_missing=True, accept_sparse=True))
        if self.common_values_.size and np.isnan(cells).any():
            cells = np.where(np.isnan(cells), self.common_values_, cells)
        return cells

    def _summands(self) -> tuple[list[Forest], list[float], Any]:
        return [Forest.of_tree(self.tree_)], [1.0], 0.0

    def _values(self, X: Any) -> Floats:
        cells = self._cells(X)
        return tree_values(self.tree_, cells)

    def apply(self, X: Any, check_input: bool = True) -> Integers:  # noqa: ARG002
        """The leaf of each row; of a row that ends in several, the one with its largest share."""
        cells = self._cells(X)
        return heaviest_leaves(self.tree_, cells)

    def decision_path(self, X: Any, check_input: bool = True) -> sparse.csr_matrix:  # noqa: ARG002
        """Indicator of the nodes on the way of each row, of shape (n_rows, n_nodes)."""
        cells = self._cells(X)
        path = route(self.tree_, cells)
        path.data = np.ones(path.nnz, np.int64)
        return path

    def leaf_shares(self, X: Any) -> sparse.csr_matrix:
        """Share of each row in each leaf, of shape (n_rows, n_nodes); a row's shares add to 1."""
        cells = self._cells(X)
        return leaf_shares(self.tree_, cells)

    # The tree

    def get_depth(self) -> int:
        """Questions on the longest way from the root."""
        check_is_fitted(self, "tree_")
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> Floats:
        """Impurity that the splits of each column remove, as shares that add to 1."""
        check_is_fitted(self, "tree_")
        return self.tree_.compute_feature_importances()

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Prices of a leaf at which the pruned tree changes, and the leaves' impurity there.

        Returns
        -------
        Bunch with `ccp_alphas` and `impurities`, both ascending
            Cuts of equal price are one step.
        """
        model = copy(self).set_params(ccp_alpha=0.0, pruning=None)
        path = cost_complexity_path(model.fit(X, y, sample_weight).tree_)
        return Bunch(ccp_alphas=path.alphas, impurities=path.impurities)

    def _check_state(self) -> None:
        """Refuses a loaded model whose tree does not fit together."""
        self.tree_.check()
        if self.tree_.schema != self.schema_:
            raise InputError("The tree and the model have different columns.")
        if self.common_values_.shape not in ((0,), (self.schema_.n_columns,)):
            raise InputError("The model has no replacement for the missing cells of some columns.")


def certify(tree: Tree) -> Certificate:
    """What a greedy fit can say: the impurity that is left, least if there is none."""
    leaves = tree.question == Question.LEAF
    value = float((tree.weight * tree.impurity)[leaves].sum() / tree.weight[0])
    pure = value <= 0.0
    return Certificate(
        objective="mean impurity of the leaves",
        verdict=Verdict.PROVED if pure else Verdict.LOCAL,
        value=value,
        lower_bound=0.0 if pure else None,
        iterations=int((~leaves).sum()),
        details={"leaves": tree.n_leaves, "depth": tree.depth},
    )


def _has_nominal(schema: Schema) -> bool:
    return any(column.kind is Kind.NOMINAL for column in schema.columns)


def _task(rows: CellRows) -> PruningTask:
    return PruningTask(rows.cells, rows.targets, rows.weight, rows.n_classes)
