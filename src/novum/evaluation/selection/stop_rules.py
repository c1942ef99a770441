"""When a search for columns stops: values that a wrapper asks after every step.

    MinimalGain(tol)       the mean score rose by less than `tol`
    CorrectedGain(alpha)   a corrected test does not find the gain (forward), or finds the loss
    WithinStandardError()     never; of the whole path the smallest set within one error of the best

Scores of folds are correlated, so the test is Nadeau and Bengio's. The column that was added is the
best of several candidates, whose gain is too good by that choice alone; forward steps therefore
need `p <= alpha / number of candidates`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from novum.core.errors import InputError
from novum.evaluation.comparison.pairs.resampled import corrected_t_test
from novum.evaluation.validation.certainty import variance_of_mean
from novum.numerics.ties import at_least, merge_differences, score_differences


@dataclass(frozen=True)
class SelectionStep:
    """One set of columns on the path of a search.

    Parameters
    ----------
    columns : tuple of int
        Positions of the columns of the set, ascending.
    changed : int or None
        The column that was added or removed; None where the path begins.
    scores : tuple of float
        Of the folds.
    n_candidates : int
        How many sets this one is the best of.
    test_train_ratio : float
        Rows tested over rows trained on.
    """

    columns: tuple[int, ...]
    changed: int | None
    scores: tuple[float, ...]
    n_candidates: int
    test_train_ratio: float

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))


class StopRule(ABC):
    """A rule that ends a search, and picks a set from its path."""

    @abstractmethod
    def accepts(self, before: SelectionStep, after: SelectionStep) -> bool:
        """Whether the step is taken; the search ends before the first one that is not."""

    def chosen(self, path: Sequence[SelectionStep]) -> int:
        """Which set of the path to keep; the last one, unless a rule says otherwise."""
        return len(path) - 1


@dataclass(frozen=True)
class MinimalGain(StopRule):
    """Goes on while the mean score gains at least `tol`.

    Examples
    --------
    >>> MinimalGain(0.01).tol
    0.01
    """

    tol: float

    def accepts(self, before: SelectionStep, after: SelectionStep) -> bool:
        gain = score_differences(after.mean, before.mean)
        return not merge_differences(gain, self.tol) < self.tol


@dataclass(frozen=True)
class CorrectedGain(StopRule):
    """Goes on while a corrected test finds a gain, or when removing columns, finds no loss.

    Parameters
    ----------
    alpha : float
        Size of the test; divided among the candidates of a forward step.

    Examples
    --------
    >>> rule = CorrectedGain()
    >>> one = SelectionStep((0,), 0, (0.60, 0.62, 0.61, 0.63), 3, 1 / 3)
    >>> two = SelectionStep((0, 2), 2, (0.81, 0.82, 0.82, 0.83), 2, 1 / 3)
    >>> rule.accepts(one, two), rule.accepts(two, two)
    (True, False)
    """

    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha is the size of a test, between 0 and 1, got {self.alpha!r}.")

    def accepts(self, before: SelectionStep, after: SelectionStep) -> bool:
        differences = np.subtract(after.scores, before.scores)
        ratio = after.test_train_ratio
        if len(after.columns) < len(before.columns):
            loss = corrected_t_test(differences, ratio, alternative="less")
            return bool(loss.p_value > self.alpha)
        found = corrected_t_test(differences, ratio, alternative="greater")
        return bool(found.p_value <= self.alpha / after.n_candidates)


@dataclass(frozen=True)
class WithinStandardError(StopRule):
    """Searches the whole path, and takes the smallest set within one error of the best.

    The error is that of the best set's mean, corrected for overlapping training parts.
    """

    def accepts(self, before: SelectionStep, after: SelectionStep) -> bool:
        del before, after
        return True

    def chosen(self, path: Sequence[SelectionStep]) -> int:
        best = max(path, key=lambda step: step.mean)
        error = math.sqrt(variance_of_mean(best.scores, best.test_train_ratio))
        near = [i for i, step in enumerate(path) if at_least(step.mean, best.mean - error)]
        return min(near, key=lambda i: len(path[i].columns))
