"""The trees of a fitted forest as estimators, and how much each column matters to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict
from novum.core.runtime import RandomSource, seed_sequence
from novum.core.tables import Schema
from novum.numerics import Codes, Floats
from novum.trees.forests.forest_draws import ForestDraws, checksum, draws_of
from novum.trees.forests.forest_routing import rows_as_asked
from novum.trees.forests.forest_value import Forest
from novum.trees.forests.importances import (
    Loss,
    PermutationImportances,
    impurity_importances,
    permutation_losses,
    summarized,
)
from novum.trees.model import TreeModel
from novum.trees.settings import n_features
from novum.trees.training import CellRows


class ForestMembers(ABC):
    """What can be asked of a fitted forest besides predictions."""

    max_features: Any
    n_jobs: int | None

    forest_: Forest
    draws_: tuple[ForestDraws, ...]
    schema_: Schema
    common_values_: Floats

    _splitter: ClassVar[str] = "best"

    # What classifiers and regressors say

    @abstractmethod
    def _member(self, random_state: int | None = None) -> TreeModel:
        """An unfitted tree with the settings of the forest."""

    @abstractmethod
    def _training_rows(self, X: Any, y: Any, sample_weight: Any) -> CellRows:
        """The checked rows, without the weights of classes."""

    @abstractmethod
    def _target_attributes(self) -> tuple[str, ...]:
        """The names of what `_store_target` stores."""

    @abstractmethod
    def _losses(self, rows: CellRows, measure: str | None) -> tuple[str, Loss]:
        """The name of a measure, and the loss by it."""

    @abstractmethod
    def _filled(self, cells: Floats) -> Floats:
        """Cells as at prediction, missing ones replaced where the model does."""

    # Trees

    @property
    def estimators_(self) -> list[Any]:
        """The trees as fitted estimators, made when asked for."""
        check_is_fitted(self, "forest_")
        return [self._fitted_member(number) for number in range(self.forest_.n_trees)]

    def _fitted_member(self, number: int) -> TreeModel:
        member = self._member(draws_of(self.draws_, number).seed(number))
        tree = self.forest_.trees[number]
        attributes = (
            "schema_",
            "n_features_in_",
            "feature_names_in_",
            "replaced_",
            "common_values_",
            *self._target_attributes(),
        )
        for name in attributes:
            if hasattr(self, name):
                setattr(member, name, getattr(self, name))
        member.tree_ = tree
        member.max_features_ = n_features(self.max_features, tree.schema.n_columns) or (
            tree.schema.n_columns
        )
        member.certificate_ = certify_forest(Forest.of_tree(tree), "")
        return member

    @property
    def estimator(self) -> TreeModel:
        """An unfitted tree with the settings of the forest's."""
        return self._member()

    @property
    def estimator_(self) -> TreeModel:
        """An unfitted tree with the settings of the forest's."""
        check_is_fitted(self, "forest_")
        return self._member()

    @property
    def estimators_samples_(self) -> list[Codes]:
        """Rows drawn for each tree, as positions in the training table; drawn anew, not kept."""
        check_is_fitted(self, "forest_")
        numbers = range(self.forest_.n_trees)
        return [draws_of(self.draws_, number).given_rows(number) for number in numbers]

    def __len__(self) -> int:
        return self.forest_.n_trees

    def __getitem__(self, number: int) -> Any:
        return self._fitted_member(range(self.forest_.n_trees)[number])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    # Importances

    @property
    def feature_importances_(self) -> Floats:
        """Impurity that the splits of each column remove, as shares that add to 1."""
        check_is_fitted(self, "forest_")
        return impurity_importances(self.forest_)

    def permutation_importances(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        measure: str | None = None,
        n_repeats: int = 1,
        random_state: RandomSource = None,
    ) -> PermutationImportances:
        """What is lost out of bag when one column is shuffled, with standard errors over trees.

        Parameters
        ----------
        X, y, sample_weight
            The training table again, which the model does not keep.
        measure : str, optional
            "accuracy" of classifiers; of regressors "r2" (the default; squared error in units of
            the target's variance) or "mean_squared_error".
        n_repeats : int
            Shuffles of each column in each tree.
        random_state : None, int, Generator, RandomState or SeedSequence
            By default the shuffles follow from the seed of the fit.

        Returns
        -------
        PermutationImportances
        """
        check_is_fitted(self, "forest_")
        if not isinstance(n_repeats, Integral) or n_repeats < 1:
            raise InputError(f"n_repeats is a whole number of at least 1, got {n_repeats!r}.")
        rows = copy(self)._training_rows(X, y, sample_weight)
        draws = self.draws_[-1]
        same = same_labels(rows, self.forest_) and rows.n_rows == draws.n_rows
        if not same or checksum(rows_as_asked(self.forest_, rows.cells), rows.targets) != (
            draws.checksum
        ):
            raise InputError(
                "These are not the rows that the forest was fitted to, so it is not known which "
                "of them a tree has seen. Pass the training table, in its order; for other rows "
                "use sklearn.inspection.permutation_importance."
            )
        name, loss = self._losses(rows, measure)
        own = np.random.SeedSequence([int(word) for word in draws.seed_words])
        root = seed_sequence(own if random_state is None else random_state)
        by_tree = permutation_losses(
            self.forest_,
            self.draws_,
            rows_as_asked(self.forest_, self._filled(rows.cells)),
            loss,
            root,
            n_repeats=int(n_repeats),
            n_jobs=self.n_jobs,
        )
        return summarized(self.schema_.names, name, by_tree)


def certify_forest(forest: Forest, ended: str, seconds: float | None = None) -> Certificate:
    """What a greedy fit can say: the impurity that is left in the leaves, a mean over trees."""
    leaves = forest.is_leaf
    left = np.where(leaves, forest.weight * forest.impurity, 0.0)
    starts = forest.tree_start[:-1]
    value = float((np.add.reduceat(left, starts) / forest.weight[starts]).mean())
    pure = value <= 0.0
    verdict = Verdict.PROVED if pure else Verdict.LOCAL
    return Certificate(
        objective="mean impurity of the leaves",
        verdict=Verdict.STOPPED_EARLY if ended else verdict,
        value=value,
        lower_bound=0.0 if pure and not ended else None,
        iterations=forest.n_trees,
        details={"leaves": int(leaves.sum()), "trees": forest.n_trees}
        | ({"stopped_by": ended} if ended else {}),
        seconds=seconds,
    )


def same_labels(rows: CellRows, forest: Forest) -> bool:
    """Whether rows have the columns, levels and classes of the forest."""
    if rows.schema != forest.schema or (rows.classes is None) != (forest.classes is None):
        return False
    if rows.classes is None or forest.classes is None:
        return rows.targets.shape[1] == forest.n_values
    return len(rows.classes) == len(forest.classes) and all(
        np.array_equal(a, b) for a, b in zip(rows.classes, forest.classes, strict=True)
    )
