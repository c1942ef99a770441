"""What random forests and extra trees share: drawing, growing, growing on, asking.

A forest is a mean of trees, each grown on rows drawn for it (`forest_draws`) with the columns that
a node tries drawn anew at every node:

    forest(x) = 1/T sum_t tree_t(x).

The variance of such a mean is rho s^2 + (1 - rho)/T s^2, where s^2 is the variance of one tree and
rho the correlation of two; drawing rows and columns lowers rho, many trees the rest.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval, RealNotInt
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import Certificate, count, fitted, parameter, warn_if_stopped
from novum.core.runtime import CallbackSupport, fit_context, fitting, seed_sequence
from novum.core.tables import check_features
from novum.numerics import Array, Floats, Integers, Mask
from novum.trees.contributions import ContributingTrees
from novum.trees.forests.forest_draws import (
    ForestDraws,
    checksum,
    in_given_order,
    n_row_draws,
    out_of_bag_answers,
    warn_if_seen_by_all,
)
from novum.trees.forests.forest_growing import (
    TreeGrower,
    grow_forest,
    needs_general_engine,
)
from novum.trees.forests.forest_members import ForestMembers, certify_forest, same_labels
from novum.trees.forests.forest_routing import (
    forest_answers,
    forest_paths,
    heaviest_leaves,
    rows_as_asked,
)
from novum.trees.forests.forest_value import Forest, check_forest
from novum.trees.growth.conversion import TargetScale, coded_rows, table_coding
from novum.trees.growth.growing import CodedTable
from novum.trees.model import TreeModel
from novum.trees.scale.streams import ForestStreams
from novum.trees.settings import GrowthParameters
from novum.trees.training import CellRows, cells_of, common_values, replaced_cells


class ForestModel(
    ForestStreams, ForestMembers, ContributingTrees, CallbackSupport, GrowthParameters, ABC
):
    """Shared fit and prediction; see `RandomForestClassifier`.

    Parameters
    ----------
    n_estimators : int
        Trees; the first 100 of 200 are those of a forest of 100.
    bootstrap : bool
        Whether each tree draws rows with replacement; without, all trees learn from all rows.
    n_jobs : int
        Trees, or blocks of rows, at once; the result does not depend on it.
    verbose : int
        Shows a bar on a terminal.
    warm_start : bool
        Whether `fit` adds the trees that are lacking to those of the last fit; they keep to its
        bins.
    max_samples : int, float or None
        Rows that each tree draws; a float is a part of the total weight, None as many as there
        are.
    """

    n_estimators: int = parameter(default=100, at_least=1, kw_only=False)
    bootstrap: bool = parameter(default=True)
    oob_score: Any = parameter("boolean", callable, default=False)
    n_jobs: int | None = parameter(default=None)
    verbose: int = parameter("verbose", default=0)
    warm_start: bool = parameter(default=False)
    max_samples: float | None = parameter(
        Interval(RealNotInt, 0.0, None, closed="neither"), count(), default=None
    )
    missing = "auto"

    certificate_: Certificate = fitted()
    replaced_: dict[str, int] = fitted()
    n_features_in_: int = fitted()
    n_outputs_: int = fitted()

    # What classifiers and regressors say

    @abstractmethod
    def _weighted(self, rows: CellRows) -> CellRows:
        """The rows with the weights of classes."""

    @abstractmethod
    def _store_target(self, rows: CellRows) -> None:
        """Stores what is known of the target."""

    @abstractmethod
    def _judge(self, rows: CellRows, answers: Floats, known: Mask) -> float:
        """The out-of-bag score."""

    @abstractmethod
    def _store_out_of_bag(self, answers: Floats) -> None:
        """Stores the out-of-bag predictions of all given rows."""

    # Fit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grows the trees.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Numbers, ordinal and nominal columns; cells may be missing.
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts: rows are drawn in proportion to it.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self) as watch:
            rows = self._training_rows(X, y, sample_weight)
            made = self.forest_.n_trees if self._grows_on() else 0
            self._check_settings(rows, made)
            weighted = self._weighted(rows)
            kept = _kept_rows(sample_weight)
            if made < self.n_estimators:
                self._store_target(weighted)
                ended = self._grow(rows, weighted, kept, made)
                self.certificate_ = certify_forest(self.forest_, ended, watch.seconds)
                warn_if_stopped(self.certificate_, type(self).__name__)
                for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
                    self.__dict__.pop(name, None)
            if self.oob_score and not hasattr(self, "oob_score_"):
                self._judge_out_of_bag(rows, kept, sample_weight)
        return self

    def _grows_on(self) -> bool:
        """Whether this fit adds to the trees of an earlier one."""
        return bool(self.warm_start) and hasattr(self, "forest_")

    def _check_settings(self, rows: CellRows, made: int) -> None:
        if not self.bootstrap and self.max_samples is not None:
            raise InputError(
                "`max_samples` cannot be set if `bootstrap=False`: every tree learns from all "
                "rows. Set bootstrap=True, or max_samples=None."
            )
        if not self.bootstrap and self.oob_score:
            raise InputError(
                "Out of bag estimation only available if bootstrap=True: without it every tree "
                "has seen all rows."
            )
        if self.n_estimators < made:
            raise InputError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={made} when warm_start==True. Raise it, or set "
                "warm_start=False."
            )
        if self.n_estimators == made:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                stacklevel=4,
            )
        if made and not same_labels(rows, self.forest_):
            raise InputError(
                "warm_start adds trees for the same columns, levels and classes, and these rows "
                "have others. Set warm_start=False."
            )

    def _grow(self, rows: CellRows, weighted: CellRows, kept: Integers | None, made: int) -> str:
        """Grows the trees that are lacking; says what ended it before all of them were."""
        self.schema_ = rows.schema
        filled = self._replaced(weighted)
        member = self._member()
        table, scale = self._coded(member, filled, made)
        asked: Array = rows.cells
        if table is not None and table.coding.is_narrow:
            asked = table.coding.codes(rows.cells) if self.replaced_ else table.codes
        draws = self._draws(rows, weighted.weight, kept, made, checksum(asked, rows.targets))
        balanced = getattr(self, "class_weight", None) == "balanced_subsample" and self.bootstrap
        grower = TreeGrower(member, filled, draws, table, scale, balanced=balanced)
        forest, ended = grow_forest(self, grower)
        earlier = ([self.forest_], self.draws_) if made else ([], ())
        self.forest_ = Forest.joined([*earlier[0], forest])
        self.draws_ = (*earlier[1], replace(draws, stop=made + forest.n_trees))
        return ended

    def _coded(
        self, member: TreeModel, rows: CellRows, made: int
    ) -> tuple[CodedTable | None, TargetScale | None]:
        """The rows as codes; trees that are added keep to the edges of the first ones."""
        table, scale = None, None
        if not needs_general_engine(member, rows):
            known = self.forest_.coding if made else None
            coding = known if known is not None else table_coding(rows, self.max_bins)
            table, scale = coded_rows(rows, coding)
        narrow = table is not None and table.coding.is_narrow
        if made and narrow != self.forest_.is_coded:
            raise InputError(
                "warm_start cannot add these trees to trees grown with another max_bins, "
                "criterion or nominal. Set warm_start=False."
            )
        return table, scale

    def _draws(
        self, rows: CellRows, weight: Floats, kept: Integers | None, made: int, known_by: int
    ) -> ForestDraws:
        uniform = bool((weight == weight[0]).all())
        return ForestDraws(
            self._seed_words(made),
            made,
            self.n_estimators,
            rows.n_rows,
            n_row_draws(self.max_samples, weight) if self.bootstrap else 0,
            None if uniform or not self.bootstrap else weight,
            kept,
            known_by,
        )

    def _replaced(self, rows: CellRows) -> CellRows:
        """The rows with missing cells replaced, where `missing` asks for it."""
        self.common_values_, self.replaced_ = np.empty(0), {}
        if self.missing not in ("most_common", "most_common_of_class"):
            return rows
        by_class = self.missing == "most_common_of_class"
        if by_class and rows.classes is None:
            raise InputError(
                "missing='most_common_of_class' needs classes, and y holds numbers. Use "
                "missing='most_common'."
            )
        self.common_values_ = common_values(rows)
        filled, self.replaced_ = replaced_cells(rows, self.common_values_, by_class=by_class)
        return filled

    def _seed_words(self, made: int) -> NDArray[np.uint32]:
        """Root of all streams; trees that are added continue those of the first fit."""
        if made and not isinstance(self.random_state, (Integral, np.random.SeedSequence)):
            return self.draws_[-1].seed_words
        words = seed_sequence(self.random_state).generate_state(4, np.uint32)
        return words.astype(np.uint32)

    def _judge_out_of_bag(self, rows: CellRows, kept: Integers | None, given: Any) -> None:
        asked_rows = rows_as_asked(self.forest_, self._filled(rows.cells))
        answers, asked = out_of_bag_answers(self.forest_, self.draws_, asked_rows, self.n_jobs)
        warn_if_seen_by_all(asked)
        placed = answers if kept is None else in_given_order(answers, kept, len(given))
        self._store_out_of_bag(placed)
        self.oob_score_ = self._judge(rows, answers, asked > 0)

    # Rows on their way

    def _cells(self, X: Any) -> Floats:
        check_is_fitted(self, "forest_")
        sample = check_features(self, X, allow_missing=True, accept_sparse=True)
        return self._filled(cells_of(sample))

    def _filled(self, cells: Floats) -> Floats:
        if self.common_values_.size and np.isnan(cells).any():
            return np.where(np.isnan(cells), self.common_values_, cells)
        return cells

    def _summands(self) -> tuple[list[Forest], list[float], Any]:
        return [self.forest_], [1.0 / self.forest_.n_trees], 0.0

    def _answers(self, X: Any) -> Floats:
        """Mean over trees of what they say, (n_rows, n_values)."""
        cells = self._cells(X)
        return forest_answers(self.forest_, cells, self.n_jobs)

    def apply(self, X: Any) -> Integers:
        """The leaf of each row in each tree, (n_rows, n_trees), numbered within its tree.

        Of a row that ends in several leaves, the one with its largest share.
        """
        cells = self._cells(X)
        return heaviest_leaves(self.forest_, cells)

    def decision_path(self, X: Any) -> tuple[sparse.csr_matrix, Integers]:
        """Nodes on the ways of each row through all trees.

        Returns
        -------
        indicator : CSR matrix (n_rows, n_nodes)
        n_nodes_ptr : array (n_trees + 1,)
            The columns of tree t are `n_nodes_ptr[t]` to `n_nodes_ptr[t + 1]`.
        """
        cells = self._cells(X)
        return forest_paths(self.forest_, cells), self.forest_.tree_start.copy()

    # What others ask of a model

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; which rows are drawn depends on their order."""
        if self.bootstrap:
            return ("shift", "column_scale")
        return ("shift", "column_scale", "row_order", "duplication")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        check_forest(self.forest_)
        ends = [0, *(draws.stop for draws in self.draws_)]
        firsts = [draws.first for draws in self.draws_]
        if self.forest_.schema != self.schema_ or not self.draws_:
            raise InputError("The forest and the model have different columns.")
        if firsts != ends[:-1] or ends[-1] != self.forest_.n_trees:
            raise InputError("The draws of the model do not belong to its trees.")
        if self.common_values_.size not in (0, self.schema_.n_columns):
            raise InputError("The model's common values do not belong to its columns.")


def _kept_rows(sample_weight: Any) -> Integers | None:
    """Positions of the rows that have a weight; None for all."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, float)
    kept = np.flatnonzero(weight > 0)
    return None if kept.size == weight.size else kept
