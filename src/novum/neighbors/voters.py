"""What neighbors that vote share, be it for classes or for numbers: targets, weights and curves.

Rows of a table of levels or whole numbers are often equally far, more of them than there is room
for among k voters. Which of them the table lists first is no reason to ask that one: they share the
votes that are left,

    each of t rows at the distance of the last voter has (k - rows that are nearer) / t votes,

which is what k voters say on average over all orders of the table.

The leave-one-out error of every k comes from one search: the neighbors of a training row without
itself, counted up one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import fitted, parameter
from novum.core.runtime import fit_context, fitting
from novum.neighbors.nearest import KNeighborsMixin, NeighborsModel, check_count
from novum.neighbors.votes import vote_weights
from novum.numerics import Floats, Integers, Positions

# Neighbors that "auto" chooses among.
MOST_NEIGHBORS = 50
# Values of voters that are held at once.
_CELLS = 2**22
# Distances within this share of each other are equal, but for the block they were computed in.
_EQUAL = 1e-12


class Voters(NamedTuple):
    """The k nearest rows of every query, and those that are as far as the last of them.

    Attributes
    ----------
    distances, rows : arrays of shape (m, k)
    tied : int array of shape (t,)
        Queries of which more rows are as far as the last voter than there is room for.
    equals : list of t int arrays
        All rows at that distance.
    """

    distances: Floats
    rows: Integers
    tied: Positions
    equals: list[Integers]

    def mean(self, weights: Floats, mean_of: Callable[[Integers, Floats], Floats]) -> Floats:
        """What voters of some weights (m, k) say on average; `mean_of` takes rows and weights."""
        means = mean_of(self.rows, weights)
        for query, equals in zip(self.tied.tolist(), self.equals, strict=True):
            is_last = self.distances[query] == self.distances[query, -1]
            left = weights[query, is_last].sum() / len(equals)
            rows = np.concatenate([self.rows[query, ~is_last], equals])
            votes = np.concatenate([weights[query, ~is_last], np.full(len(equals), left)])
            means[query] = mean_of(rows[np.newaxis], votes[np.newaxis])[0]
        return means

    def running_means(
        self, weights: Any, values: Callable[[Integers], Floats], width: int
    ) -> Iterator[tuple[slice, Floats]]:
        """What the first 1, 2, ... voters say, (rows of a block, k, width), block by block.

        `values` gives the values of rows, of shape (..., width).
        """
        m, k = self.rows.shape
        height = max(1, _CELLS // (k * width))
        for start in range(0, m, height):
            block = slice(start, min(start + height, m))
            distances, said = self.distances[block], values(self.rows[block])
            for t in range(*np.searchsorted(self.tied, (start, block.stop))):
                is_last = self.distances[self.tied[t]] == self.distances[self.tied[t], -1]
                said[self.tied[t] - start, is_last] = values(self.equals[t]).mean(axis=0)
            said = shared_by_equals(said, distances)
            if weights in (None, "uniform") and np.isfinite(distances).all():
                yield block, np.cumsum(said, axis=1) / np.arange(1, k + 1)[:, np.newaxis]
                continue
            means = np.empty_like(said)
            for at in range(k):
                votes = vote_weights(weights, distances[:, : at + 1])
                sums = np.einsum("qk,qkt->qt", votes, said[:, : at + 1])
                means[:, at] = sums / votes.sum(axis=1, keepdims=True)
            yield block, means


def shared_by_equals(values: Floats, distances: Floats) -> Floats:
    """Values of voters, (m, k, width), each the mean of those at its distance.

    Examples
    --------
    >>> shared_by_equals(np.array([[[3.0], [0.0], [1.0]]]), np.array([[1.0, 1.0, 2.0]])).ravel()
    array([1.5, 1.5, 1. ])
    """
    m, k, width = values.shape
    begins = np.ones((m, k), bool)
    begins[:, 1:] = distances[:, 1:] != distances[:, :-1]
    first = np.flatnonzero(begins)
    counts = np.diff(first, append=m * k)
    means = np.add.reduceat(values.reshape(m * k, width), first) / counts[:, np.newaxis]
    return np.repeat(means, counts, axis=0).reshape(values.shape)


@dataclass(frozen=True, eq=False)
class NeighborCurve:
    """Leave-one-out errors over the number of neighbors.

    Attributes
    ----------
    n_neighbors : int array (k,)
    errors : array (k,)
        Share of training rows that the others get wrong; of numbers the mean squared error.
    standard_errors : array (k,)
    best : int
        The number of least error, the largest of equals: the smoothest.
    """

    n_neighbors: Integers
    errors: Floats
    standard_errors: Floats

    @property
    def best(self) -> int:
        least = np.flatnonzero(self.errors == self.errors.min())
        return int(self.n_neighbors[least[-1]])

    def __repr__(self) -> str:
        at = int(np.flatnonzero(self.n_neighbors == self.best)[0])
        return (
            f"Leave-one-out error {self.errors[at]:.4g} (standard error "
            f"{self.standard_errors[at]:.2g}) with {self.best} neighbors, the best of "
            f"{self.n_neighbors[0]} to {self.n_neighbors[-1]}."
        )


def curve_of(losses: Floats) -> NeighborCurve:
    """The curve of losses (n_rows, k)."""
    n, k = losses.shape
    spread = losses.std(axis=0, ddof=1) if n > 1 else np.zeros(k)
    return NeighborCurve(np.arange(1, k + 1), losses.mean(axis=0), spread / np.sqrt(n))


class TargetsOfNeighbors(NeighborsModel):
    """Rows that are kept with their targets, one or several, and weights of those who vote."""

    invariances = (*NeighborsModel.invariances, "row_order")

    weights: Any = parameter({"uniform", "distance"}, callable, None, default="uniform")

    outputs_2d_: bool = fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Keeps the rows and their targets.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        """
        with fitting(self):
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        raise NotImplementedError


class ChosenNeighborsMixin(KNeighborsMixin):
    """The k nearest rows as voters, whose number may be chosen by leaving out."""

    n_neighbors: int | str = parameter({"auto"}, default=5, at_least=1, kw_only=False)  # type: ignore[assignment]

    n_neighbors_: int = fitted()

    def _fit(self, X: Any, y: Any) -> None:
        super()._fit(X, y)
        is_chosen = isinstance(self.n_neighbors, str)
        self.n_neighbors_ = self.curve().best if is_chosen else int(self.n_neighbors)

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        self._check_fitted()
        k = self.n_neighbors_ if n_neighbors is None else n_neighbors
        return super().kneighbors(X, k, return_distance)

    def curve(self, most: int | None = None) -> NeighborCurve:
        """Leave-one-out errors for 1 to `most` neighbors, exactly and from one search.

        Of classes the share that the others get wrong, of numbers the mean squared error.

        Parameters
        ----------
        most : int, optional
            At most one less than there are rows; 50 by default.

        Examples
        --------
        >>> from novum.neighbors import KNeighborsClassifier, KNeighborsRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]], ["a"] * 3 + ["b"] * 3
        >>> KNeighborsClassifier().fit(X, y).curve(5).errors.tolist()
        [0.0, 0.0, 0.0, 0.5, 1.0]
        >>> model = KNeighborsRegressor(1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
        >>> model.curve(2).errors.round(4).tolist()
        [0.6667, 1.5]
        """
        self._check_fitted()
        n = self.n_samples_fit_
        if n < 2:
            raise InputError("One row leaves no other to learn from. Pass at least two rows.")
        k = min(MOST_NEIGHBORS, n - 1) if most is None else most
        return curve_of(self._losses(self._voters(None, k)))

    def _voters(self, X: Any, k: Any) -> Voters:
        """The k nearest rows of others, or of the training rows without themselves."""
        asked, own = self._asked(X)
        check_count(k, self.n_samples_fit_, own is not None)
        k, others = int(k), self.n_samples_fit_ - (own is not None)
        distances, rows = self._index.nearest(asked, min(k + 1, others), own)
        if k == others:
            return Voters(distances, rows, np.zeros(0, np.intp), [])
        last, beyond = distances[:, k - 1], distances[:, k]
        distances, rows = np.ascontiguousarray(distances[:, :k]), np.ascontiguousarray(rows[:, :k])
        # Beside others what is infinitely far has no votes to share.
        tied = np.flatnonzero((last == beyond) & (np.isfinite(last) | np.isinf(distances[:, 0])))
        equals: list[Integers] = []
        if len(tied):
            reach = last[tied] * (1 + _EQUAL)
            of_tied = None if own is None else own[tied]
            near = zip(
                *self._index.within(asked.take(tied), reach, of_tied), last[tied], strict=True
            )
            equals = [numbers[apart >= d * (1 - _EQUAL)] for apart, numbers, d in near]
            everybody = np.arange(self.n_samples_fit_)
            for t in np.flatnonzero(np.isinf(last[tied])):
                equals[t] = everybody if of_tied is None else np.delete(everybody, of_tied[t])
        return Voters(distances, rows, tied, equals)

    def _losses(self, voters: Voters) -> Floats:
        """Losses (n_rows, k) of the training rows for the first 1, 2, ... of their neighbors."""
        raise NotImplementedError
