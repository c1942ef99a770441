"""When boosting stops before its last round: rows held out say that it no longer gets better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class EarlyStopping:
    """Hold out rows, and keep the rounds up to the best score on them.

    Boosting ends when `patience` rounds in a row have not raised the best score by more than `tol`,
    and the learners after the best round are dropped. The rows held out train nothing.

    Parameters
    ----------
    validation : float or int
        Share of the rows (below 1), or how many; of every class alike.
    patience : int
        Rounds without a better score after which boosting ends.
    tol : float
        A score is better if it exceeds the best by more than this.

    Examples
    --------
    >>> EarlyStopping(validation=0.2)
    EarlyStopping(validation=0.2, patience=10, tol=0.0)
    """

    validation: float = 0.1
    patience: int = 10
    tol: float = 0.0

    def __post_init__(self) -> None:
        share = isinstance(self.validation, Real) and 0 < self.validation < 1
        count = isinstance(self.validation, Integral) and self.validation >= 1
        if not (share or count) or isinstance(self.validation, bool):
            raise InputError(
                "validation is a share of the rows between 0 and 1 or a number of rows, got "
                f"{self.validation!r}."
            )
        if not (isinstance(self.patience, Integral) and self.patience >= 1):
            raise InputError(f"patience is a whole number of at least 1, got {self.patience!r}.")
        if not (isinstance(self.tol, Real) and math.isfinite(self.tol) and self.tol >= 0):
            raise InputError(f"tol is a number of at least 0, got {self.tol!r}.")

    def held_out(self, target: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.bool_]:
        """Marks the rows to hold out: of each class the same share, never all of a class.

        Parameters
        ----------
        target : codes of classes, (n,)
        rng : Generator
        """
        share = self.validation if self.validation < 1 else self.validation / target.size
        marked = np.zeros(target.size, bool)
        for code in np.unique(target):
            rows = np.flatnonzero(target == code)
            count = min(round(share * rows.size), rows.size - 1)
            marked[rng.permutation(rows)[:count]] = True
        if not marked.any():
            raise InputError(
                f"{self!r} of {target.size} rows in {np.unique(target).size} classes holds out no "
                "row. Hold out a larger share, or leave early stopping out."
            )
        return marked


class BestRound:
    """Which round had the best score, and whether to go on.

    Examples
    --------
    >>> best = BestRound(EarlyStopping(patience=2))
    >>> [best.is_over(score) for score in (0.5, 0.7, 0.7, 0.6)], best.rounds
    ([False, False, False, True], 2)
    """

    def __init__(self, rule: EarlyStopping) -> None:
        self._rule = rule
        self._done = 0
        self._score = -math.inf
        self.rounds = 0

    def is_over(self, score: float) -> bool:
        """Takes the score of one more round; true when patience has run out."""
        self._done += 1
        if score > self._score + self._rule.tol:
            self._score, self.rounds = score, self._done
        return self._done - self.rounds >= self._rule.patience
