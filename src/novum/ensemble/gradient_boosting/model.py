"""Gradient boosting: trees that each take a Newton step of the loss (Friedman 2001).

    f_0 = the best constant,        f_t(x) = f_{t-1}(x) + rate * tree_t(x),

where tree t is grown on the derivatives g_i, h_i of the loss at f_{t-1}(x_i): its splits lower the
quadratic model sum_i g_i v + h_i v^2 / 2 most, and the leaf of the rows I says

    v = -sum_I g_i / (sum_I h_i + penalty).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, NotAdditiveError
from novum.core.learners import (
    Certificate,
    Learner,
    Stopwatch,
    count,
    fitted,
    parameter,
    share,
    warn_if_stopped,
)
from novum.core.runtime import CallbackSupport, RandomSource, fit_context, fitting, track
from novum.core.sums import set_feature_names
from novum.core.tables import Schema, check_features
from novum.ensemble.adaboost_rounds import EarlyStopping
from novum.ensemble.gradient_boosting.growing import BoostingTable, TreeRules
from novum.ensemble.gradient_boosting.losses import Loss
from novum.ensemble.gradient_boosting.rounds import Rounds
from novum.numerics import Array, Bytes, Floats
from novum.trees import (
    CellRows,
    ChunkReader,
    ContributingTrees,
    Forest,
    LevelGrowth,
    Passes,
    SurveyStep,
    added_answers,
    cells_of,
    check_forest,
    forest_sums,
    monotone_signs,
    rows_as_asked,
    with_classes,
)

_MOST_GROUPS = 64


class BoostingModel(LevelGrowth, CallbackSupport, ContributingTrees, Learner):
    """Shared by `GradientBoostingClassifier` and `GradientBoostingRegressor`.

    Parameters
    ----------
    learning_rate : float
        What every tree is multiplied by.
    n_estimators : int
        Rounds at most; a round has one tree for each class of more than two, and each target.
    subsample : float
        Share of the rows that every round draws, without replacement.
    max_leaf_nodes : int or None
        Trees grow best leaf first up to so many; None lets them grow as far as the other limits.
    max_depth : int or None
    min_samples_leaf : int
        Least weight of rows in a leaf.
    min_impurity_decrease : float
        Least decrease of the loss by a split, summed over rows.
    l2_regularization : float
        Penalty of squares of leaf values.
    max_features : int, float, "sqrt" or "log2"
        Columns that a node tries, drawn at random.
    max_bins : int
        Columns of more distinct values are cut at as many quantiles.
    monotonic_cst : array-like or dict of -1, 0, 1
        Columns along which predictions never fall (1), or never rise (-1); of two classes the
        probability of the second, of an order that of every class and those above it.
    interaction_cst : "no_interactions" or list of lists of columns
        Columns that may meet on one way down a tree; those in no list are one more list.
    categorical_features : "auto", "all", None, mask, names or indices
    early_stopping : EarlyStopping or bool, optional
        Rows to hold out, or those that a round has not drawn, and how long to wait for a smaller
        loss on them; True is `EarlyStopping(validation_fraction, n_iter_no_change or 10, tol)`, and
        so is None where `n_iter_no_change` is given.
    validation_fraction, n_iter_no_change, tol : float or int, int, float
        What scikit-learn's users write in place of `EarlyStopping`.
    warm_start : bool
        Whether `fit` adds rounds to those of the last fit; they keep to its bins.
    keep_interrupted : bool
        Whether Ctrl-C ends a fit with the rounds so far in place of losing them.
    """

    learning_rate: float = parameter(default=0.1, above=0)
    n_estimators: int = parameter(default=100, at_least=1)
    subsample: float = parameter(default=1.0, above=0.0, at_most=1.0)
    max_leaf_nodes: int | None = parameter(default=31, at_least=2)
    max_depth: int | None = parameter(default=None, at_least=1)
    min_samples_leaf: int = parameter(default=20, at_least=1)
    min_impurity_decrease: float = parameter(default=0.0, at_least=0.0)
    l2_regularization: float = parameter(default=1.0, at_least=0.0)
    max_features: Any = parameter(count(), share(), {"sqrt", "log2"}, default=1.0)
    max_bins: int = parameter(default=255, at_least=2, at_most=255)
    monotonic_cst: Any = parameter("array-like", dict, None, default=None)
    interaction_cst: Any = parameter("array-like", str, None, default=None)
    categorical_features: Any = parameter("array-like", str, None, default="auto")
    early_stopping: Any = parameter(EarlyStopping, "boolean", None, default=None)
    validation_fraction: float = parameter(count(), share("neither"), default=0.1)
    n_iter_no_change: int | None = parameter(default=None, at_least=1)
    tol: float = parameter(default=1e-7, at_least=0.0)
    warm_start: bool = parameter(default=False)
    keep_interrupted: bool = parameter(default=False)
    verbose: int = parameter("verbose", default=0)
    random_state: RandomSource = parameter(default=None)

    forests_: tuple[Forest, ...] = fitted()
    starts_: Floats = fitted()
    losses_: tuple[Loss, ...] = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()
    validation_losses_: Floats = fitted()
    oob_improvement_: Floats = fitted()
    n_features_in_: int = fitted()

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any) -> CellRows:
        """The checked rows."""

    @abstractmethod
    def _take_target(self, rows: CellRows) -> CellRows:
        """Stores what is known of the target; the rows with the weights of classes."""

    @abstractmethod
    def _loss(self) -> Loss:
        """The loss that `loss` names."""

    # Fit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Adds trees, round by round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Numbers, ordinal and nominal columns; cells may be missing.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self) as watch:
            earlier = self.forests_ if self.warm_start and hasattr(self, "forests_") else ()
            rows = self._read(X, y, sample_weight)
            self._refuse_other_rows(rows, earlier)
            coding = earlier[0].coding if earlier else None
            table = BoostingTable.of_rows(rows, self.max_bins, coding)
            codes = table.codes(rows.cells)
            self._boost(self._take_target(rows), table, codes, earlier, watch)
        return self

    def _fit_passes(self, passes: Passes, schema: Schema | None, classes: Any, budget: int) -> None:
        """Rows of chunks are kept as bytes, one for each cell."""
        del budget
        if self.warm_start and hasattr(self, "forests_"):
            raise NotAdditiveError(
                "warm_start cannot add trees from chunks to a fitted model. Set warm_start=False."
            )
        with fitting(self) as watch:
            has_classes = is_classifier(self)
            survey = passes.total(SurveyStep(ChunkReader(clone(self), has_classes, schema)))
            survey = survey if classes is None else survey.with_labels(classes)
            table = BoostingTable.of_survey(survey, self.max_bins)
            reader = ChunkReader(clone(self), has_classes, survey.schema)
            coded: CodedRows = passes.total(CodingStep(reader, table, survey.classes))
            rows = coded.rows(survey.schema, survey.classes)
            set_feature_names(self, survey.schema)
            self._boost(self._take_target(rows), table, np.concatenate(coded.codes), (), watch)

    def _boost(
        self,
        rows: CellRows,
        table: BoostingTable,
        codes: Bytes,
        earlier: Sequence[Forest],
        watch: Stopwatch,
    ) -> None:
        loss = self._loss()
        if loss.refuses(rows.targets.astype(np.float64)):
            raise InputError(
                f"{type(loss).__name__} is for targets that are {loss.range_of_targets}, and y "
                "has others. Choose another loss, or look at the least and largest target."
            )
        self.schema_ = rows.schema
        rounds = Rounds(self, self._rules(rows, loss), rows, table, codes, loss, earlier)
        with track(self, total=self.n_estimators) as progress:
            stopped_by = rounds.run(progress)
        rounds.store(stopped_by, watch.seconds)
        warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=4)

    def _refuse_other_rows(self, rows: CellRows, earlier: Sequence[Forest]) -> None:
        if not earlier:
            return
        if rows.schema != earlier[0].schema:
            raise InputError(
                "warm_start adds trees for the same columns and levels, and these rows have "
                "others. Set warm_start=False."
            )
        made = earlier[0].n_trees
        if self.n_estimators < made:
            raise InputError(
                f"n_estimators={self.n_estimators} must be larger or equal to the {made} rounds "
                "that are there when warm_start==True. Raise it, or set warm_start=False."
            )

    def _rules(self, rows: CellRows, loss: Loss) -> TreeRules:
        p = rows.schema.n_columns
        return TreeRules(
            max_leaves=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_rows=float(self.min_samples_leaf),
            min_gain=float(self.min_impurity_decrease),
            penalty=float(self.l2_regularization),
            rate=float(self.learning_rate),
            n_columns=_n_tried(self.max_features, p),
            signs=monotone_signs(self.monotonic_cst, rows, loss.has_one_score),
            groups=interaction_groups(self.interaction_cst, rows.schema),
        )

    def _stopping_rule(self) -> EarlyStopping | None:
        """When rounds end before the last, as one rule."""
        given, patience = self.early_stopping, self.n_iter_no_change
        if isinstance(given, EarlyStopping):
            if patience is not None:
                raise InputError(
                    f"early_stopping={given!r} says how long to wait, and n_iter_no_change="
                    f"{patience} says it too. Leave n_iter_no_change out."
                )
            return given
        if given or (given is None and patience is not None):
            return EarlyStopping(self.validation_fraction, patience or 10, self.tol)
        return None

    # Scores

    def _scores(self, X: Any) -> Floats:
        """Raw scores, of shape (n_outputs, n_rows)."""
        cells = self._cells(X)
        sums = [forest_sums(forest, cells)[:, 0] for forest in self.forests_]
        return np.array(sums) + self.starts_[:, np.newaxis]

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        """Raw scores after each round; each array is the last one, changed."""
        cells = self._cells(X)
        asked = rows_as_asked(self.forests_[0], cells)
        scores = np.repeat(self.starts_[:, np.newaxis], len(cells), axis=1)
        for round_ in range(self.n_estimators_):
            for k, forest in enumerate(self.forests_):
                scores[k] += added_answers(forest, asked, first=round_, last=round_ + 1)[:, 0]
            yield scores

    def _summands(self) -> tuple[list[Forest], list[float], Any]:
        return list(self.forests_), [1.0] * len(self.forests_), self.starts_

    def _cells(self, X: Any) -> Floats:
        check_is_fitted(self, "forests_")
        return cells_of(check_features(self, X, allow_missing=True, accept_sparse=True))

    # What others ask of a model

    @property
    def n_estimators_(self) -> int:
        """Rounds that were kept."""
        return self.forests_[0].n_trees

    @property
    def feature_importances_(self) -> Floats:
        """Share of each column in the decrease of the loss by all splits."""
        check_is_fitted(self, "forests_")
        gained = np.zeros(self.schema_.n_columns)
        for forest in self.forests_:
            inner = ~forest.is_leaf
            gained += np.bincount(forest.column[inner], forest.gain[inner], len(gained))
        total = gained.sum()
        return gained / total if total > 0 else gained

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on."""
        if self.subsample < 1.0 or self._stopping_rule() is not None:
            return ("shift", "column_scale")
        return ("shift", "column_scale", "row_order", "duplication")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "certificate_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        for forest in self.forests_:
            check_forest(forest)
        sizes = {forest.n_trees for forest in self.forests_}
        n_losses, n_forests = len(self.losses_), len(self.forests_)
        if len(sizes) != 1 or len(self.starts_) != n_forests or n_losses not in (1, n_forests):
            raise InputError("The trees of this model do not belong together; the file is damaged.")


# --- Chunks ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows of chunks as bytes, with their targets and weights; they add one after the other."""

    codes: list[Bytes]
    targets: list[Array]
    weight: list[Floats]

    def __add__(self, other: CodedRows) -> CodedRows:
        return CodedRows(
            self.codes + other.codes, self.targets + other.targets, self.weight + other.weight
        )

    def rows(self, schema: Schema, classes: Any) -> CellRows:
        """The rows, of whose cells only the codes are kept."""
        weight = np.concatenate(self.weight)
        cells = np.empty((len(weight), 0))
        return CellRows(schema, cells, np.concatenate(self.targets), weight, classes)


@dataclass(frozen=True, eq=False)
class CodingStep:
    """The step `(number, chunk) -> CodedRows`."""

    reader: ChunkReader
    table: BoostingTable
    classes: Any

    def __call__(self, numbered: tuple[int, Any]) -> CodedRows | None:
        rows = self.reader(numbered[1])
        if rows is None:
            return None
        rows = with_classes(rows, self.classes)
        return CodedRows([self.table.codes(rows.cells)], [rows.targets], [rows.weight])


# --- Settings -------------------------------------------------------------------------------------


def _n_tried(max_features: Any, n_columns: int) -> int:
    if max_features == "sqrt":
        return max(1, int(sqrt(n_columns)))
    if max_features == "log2":
        return max(1, int(np.log2(n_columns)))
    if isinstance(max_features, Integral):
        return int(max_features)
    return max(1, ceil(max_features * n_columns))


def interaction_groups(given: Any, schema: Schema) -> tuple[frozenset[int], ...]:
    """The groups of columns that may meet on a way down.

    Examples
    --------
    >>> interaction_groups([[0, 1]], Schema.of_array(4))
    (frozenset({0, 1}), frozenset({2, 3}))
    """
    if given is None:
        return ()
    if isinstance(given, str):
        if given != "no_interactions":
            raise InputError(
                f"interaction_cst is 'no_interactions' or lists of columns, got {given!r}."
            )
        groups = [frozenset([j]) for j in range(schema.n_columns)]
    else:
        groups = [frozenset(_column(name, schema) for name in group) for group in given]
    others = frozenset(range(schema.n_columns)).difference(*groups)
    groups += [others] if others else []
    if len(groups) > _MOST_GROUPS:
        raise InputError(
            f"interaction_cst makes {len(groups)} groups of columns, and there can be "
            f"{_MOST_GROUPS}. Join some of them, or set max_depth=1 for no interactions at all."
        )
    return tuple(groups)


def _column(name: Any, schema: Schema) -> int:
    if isinstance(name, str):
        if name not in schema.names:
            raise InputError(f"interaction_cst names {name!r}, which is no column of X.")
        return schema.names.index(name)
    if not (isinstance(name, Integral) and 0 <= int(name) < schema.n_columns):
        raise InputError(
            f"interaction_cst has the column {name!r}; columns are numbered from 0 to "
            f"{schema.n_columns - 1}."
        )
    return int(name)
