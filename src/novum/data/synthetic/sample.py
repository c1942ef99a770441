"""A drawn sample that knows the best any learner could do on it.

The Bayes rule of a law `p(x, y)` picks the class of largest `p(y, x)`; its error

    1 - E max_y p(y | x)

is the floor for every learner. With cells missing completely at random at a rate r, each pattern
of missing cells has probability r^missing (1 - r)^observed, the rule uses the marginal law of the
observed cells, and the error is the average over patterns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Array, Floats

Seed = int | np.random.Generator | None
PatternError = Callable[[tuple[bool, ...]], tuple[float, float]]

_MAX_PATTERNS = 1 << 12


class Law(Protocol):
    """A law that can be drawn from and knows its own Bayes rule."""

    def bayes_predict(self, X: Any) -> Array: ...


@dataclass(frozen=True)
class SyntheticSample:
    """Rows drawn from a known law.

    Parameters
    ----------
    X : array of shape (n, d), or pyarrow.Table for nominal columns
        Missing cells are NaN, or null in a table.
    y : array of shape (n,)
    bayes_error : float
        Error rate of the Bayes rule; for a regression its mean squared error.
    bayes_accuracy : float
        How far `bayes_error` as computed may be off; 0 where it is a closed form.
    law : Law
    """

    X: Any
    y: Array
    bayes_error: float
    bayes_accuracy: float
    law: Law

    def bayes_predict(self, X: Any) -> Array:
        """The best prediction for each row of `X`, missing cells integrated out."""
        return self.law.bayes_predict(X)


# --- Shared by the laws ---------------------------------------------------------------------------


def check_size(n: int, missing: float) -> None:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"A sample needs at least one row, got n={n!r}.")
    if not 0 <= missing < 1:
        raise InputError(f"`missing` is a rate from 0 to below 1, got {missing!r}.")


def checked_priors(priors: Any, n_classes: int) -> Floats:
    """Class probabilities; equal ones for None."""
    if priors is None:
        return np.full(n_classes, 1 / n_classes)
    given = np.asarray(priors, float)
    if given.shape != (n_classes,) or not (given > 0).all() or abs(given.sum() - 1) > 1e-9:
        raise InputError(
            f"`priors` needs {n_classes} positive numbers that sum to 1, got {priors!r}."
        )
    return given / given.sum()


def erased(X: Floats, missing: float, rng: np.random.Generator) -> Floats:
    """`X` with each cell missing at the given rate, independently of everything."""
    if missing == 0:
        return X
    return np.where(rng.random(X.shape) < missing, np.nan, X)


def averaged(pattern_error: PatternError, n_columns: int, missing: float) -> tuple[float, float]:
    """Error and accuracy averaged over the patterns of missing cells (True is observed)."""
    if missing == 0:
        return pattern_error((True,) * n_columns)
    if 2**n_columns > _MAX_PATTERNS:
        raise InputError(
            f"{n_columns} columns have {2**n_columns:,} patterns of missing cells, too many to "
            f"average over; use at most {int(np.log2(_MAX_PATTERNS))} columns or missing=0."
        )
    error = accuracy = 0.0
    for seen in product((True, False), repeat=n_columns):
        weight = missing ** seen.count(False) * (1 - missing) ** seen.count(True)
        part, bound = pattern_error(seen)
        error, accuracy = error + weight * part, accuracy + weight * bound
    return error, accuracy
