"""Which rows and columns each member of a bagging ensemble learns from.

Member m has a stream of random numbers of its own, a function of the seed and m alone:

    rows(m)      n draws, with replacement in proportion to the weights, or without
    columns(m)   d draws, without replacement or with

so nothing drawn needs to be kept: the same call gives the same rows again, members may be made in
any order and number, and the first ten of twenty are the ten. A row is missed by a bootstrap sample
of N draws among N equal rows with probability (1 - 1/N)^N, which tends to 1/e: about 37 % of the
rows of a table are out of the bag of a member.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.runtime import check_memory, seed, stream
from novum.numerics import Floats, Positions, cached_property


@dataclass(frozen=True, eq=False)
class Resampling:
    """The draws of the members `first`, ..., `stop - 1`.

    Parameters
    ----------
    seed_words : uint32 array of shape (4,)
        Root of all streams.
    first, stop : int
        The members it is for.
    n_rows, n_columns : int
        Of the table.
    row_draws, column_draws : int
        For each member.
    bootstrap, bootstrap_columns : bool
        Whether draws are put back.
    weight : array of shape (n_rows,), or None
        With `bootstrap` a row is drawn in proportion to it; without, rows of weight zero never
        are, and the others alike.

    Examples
    --------
    >>> words = np.array([1, 2, 3, 4], np.uint32)
    >>> draws = Resampling(words, 0, 2, n_rows=5, n_columns=2, row_draws=5, column_draws=1)
    >>> len(draws.rows(0)), bool((draws.rows(0) == draws.rows(0)).all())
    (5, True)
    """

    seed_words: NDArray[np.uint32]
    first: int
    stop: int
    n_rows: int
    n_columns: int
    row_draws: int
    column_draws: int
    bootstrap: bool = True
    bootstrap_columns: bool = False
    weight: Floats | None = None

    def __post_init__(self) -> None:
        words = np.asarray(self.seed_words)
        if words.shape != (4,) or words.dtype != np.uint32:
            raise InputError("The seed of a resampling is four words of 32 bits.")
        if not 0 <= self.first <= self.stop:
            raise InputError(f"A resampling for members {self.first} to {self.stop} has none.")
        if min(self.n_rows, self.n_columns, self.row_draws, self.column_draws) < 1:
            raise InputError("A resampling draws at least one row and one column.")
        if self.weight is not None and np.shape(self.weight) != (self.n_rows,):
            raise InputError(
                f"A resampling of {self.n_rows} rows has weights of shape {np.shape(self.weight)}."
            )

    def rows(self, member: int) -> Positions:
        """Positions of the rows drawn for a member, in the order drawn."""
        rng = stream(self._root, "rows", member)
        if not self.bootstrap:
            return self._eligible[rng.permutation(len(self._eligible))[: self.row_draws]]
        if self.weight is None:
            return rng.integers(0, self.n_rows, self.row_draws)
        # A row of weight zero has an interval of length zero, open on the right: none falls in.
        return np.searchsorted(self._cumulative, rng.random(self.row_draws), side="right")

    def columns(self, member: int) -> Positions:
        """Positions of the columns drawn for a member; in order if none can come twice."""
        rng = stream(self._root, "columns", member)
        if self.bootstrap_columns:
            return rng.integers(0, self.n_columns, self.column_draws)
        return np.sort(rng.permutation(self.n_columns)[: self.column_draws])

    def counts(self, member: int) -> Floats:
        """How often each row was drawn for a member (n_rows,)."""
        return np.bincount(self.rows(member), minlength=self.n_rows).astype(np.float64)

    def seed(self, member: int, parameter: str) -> int:
        """A seed of 31 bits for a `random_state` parameter of a member."""
        # Some libraries keep seeds as signed integers of 32 bits.
        return seed(self._root, "estimator", member, parameter) >> 1

    @property
    def takes_every_row(self) -> bool:
        """Whether every member learns from all rows, each once."""
        return not self.bootstrap and self.row_draws == len(self._eligible)

    @property
    def takes_every_column(self) -> bool:
        """Whether every member learns from all columns, each once."""
        return not self.bootstrap_columns and self.column_draws == self.n_columns

    @property
    def _root(self) -> np.random.SeedSequence:
        return np.random.SeedSequence([int(word) for word in self.seed_words])

    @cached_property
    def _eligible(self) -> Positions:
        return np.arange(self.n_rows) if self.weight is None else np.flatnonzero(self.weight > 0)

    @cached_property
    def _cumulative(self) -> Floats:
        assert self.weight is not None
        sums = np.cumsum(self.weight)
        return sums / sums[-1]


# --- How many -------------------------------------------------------------------------------------


def row_draws(max_samples: Any, n_rows: int, weight: Floats | None, *, bootstrap: bool) -> int:
    """How many rows a member draws, by the rules of scikit-learn.

    Parameters
    ----------
    max_samples : None, int or float
        None draws as many as there are rows of positive weight, an integer that many, a fraction
        that part of the rows or, with weights and `bootstrap`, of the total weight.
    n_rows : int
    weight : array of shape (n_rows,), or None
    bootstrap : bool

    Examples
    --------
    >>> row_draws(0.5, 10, None, bootstrap=True), row_draws(None, 10, None, bootstrap=True)
    (5, 10)
    """
    eligible = n_rows if weight is None else int(np.count_nonzero(weight))
    if max_samples is None:
        draws = eligible
    elif isinstance(max_samples, Integral):
        draws = int(max_samples)
    else:
        whole = eligible if weight is None or not bootstrap else float(weight.sum())
        draws = max(int(max_samples * whole), 1)
        if weight is not None and bootstrap and draws < min(10, eligible):
            warnings.warn(
                f"max_samples={max_samples} of a total weight of {whole:g} is {draws} draws for "
                f"{eligible} rows. Give max_samples as a number of rows, or weights of mean 1.",
                stacklevel=5,
            )
    if not bootstrap and draws > eligible:
        raise InputError(
            f"Effective max_samples={draws} must be <= n_samples={eligible} to be able to sample "
            "without replacement. Lower max_samples, or set bootstrap=True."
        )
    check_memory(
        8 * draws,
        f"Drawing {draws} rows for each member",
        "Give max_samples as a number of rows, or divide the weights by their mean.",
    )
    return draws


def column_draws(max_features: Any, n_columns: int) -> int:
    """How many columns a member draws: a number of them, or a fraction rounded down.

    Examples
    --------
    >>> column_draws(0.5, 5), column_draws(3, 5)
    (2, 3)
    """
    if not isinstance(max_features, Integral):
        return max(1, int(max_features * n_columns))
    if int(max_features) > n_columns:
        raise InputError(
            f"max_features={max_features} must be <= n_features={n_columns}. Give a smaller "
            "number, or a fraction."
        )
    return int(max_features)
