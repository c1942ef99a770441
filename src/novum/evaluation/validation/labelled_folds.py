"""Folds of tables in which only some rows have a label.

A row without a label cannot judge anybody. Folds divide the labelled rows only; every training part
has the labelled rows of the other folds and all rows without a label, as a model in use would have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from novum.core.errors import InputError
from novum.core.tables import check_partial_classes
from novum.numerics import Integers, Positions


@dataclass(frozen=True)
class LabelledFolds:
    """Shuffled folds of the labelled rows with equal shares of the classes; the others only train.

    Parameters
    ----------
    n_folds, n_repeats : int
        Folds are at most as many as the largest class has labelled rows.
    random_state : int or None

    Examples
    --------
    >>> y = ["a", "b", None, "a", "b", None]
    >>> folds = list(LabelledFolds(2).split([[0.0]] * 6, y))
    >>> [(train.tolist(), test.tolist()) for train, test in folds]
    [([0, 2, 4, 5], [1, 3]), ([1, 2, 3, 5], [0, 4])]
    """

    n_folds: int = 5
    n_repeats: int = 1
    random_state: int | None = 0

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Positions, Positions]]:
        """Pairs of rows to train on and rows to test."""
        del X
        if groups is not None:
            raise InputError("LabelledFolds knows no groups. Leave them out.")
        _, codes = check_partial_classes(y, "LabelledFolds")
        labelled = np.flatnonzero(codes >= 0)
        least = int(np.bincount(codes[labelled]).min())
        if least < 2 or len(labelled) < self.n_folds:
            raise InputError(
                f"Labelled rows are too few to be divided into {self.n_folds} folds: there are "
                f"{len(labelled)}, and the rarest class has {least}. Label at least two rows of "
                "every class, and one for each fold."
            )
        splitter = RepeatedStratifiedKFold(
            n_splits=self._n_folds(codes),
            n_repeats=self.n_repeats,
            random_state=self.random_state,
        )
        for _, test in splitter.split(labelled, codes[labelled]):
            held = labelled[test]
            yield np.setdiff1d(np.arange(len(codes)), held), held

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds `split` has in all; without labels, how many it has at most."""
        del X, groups
        if y is None:
            return self.n_folds * self.n_repeats
        _, codes = check_partial_classes(y, "LabelledFolds")
        return self._n_folds(codes) * self.n_repeats

    def _n_folds(self, codes: Integers) -> int:
        return min(self.n_folds, int(np.bincount(codes[codes >= 0]).max()))
