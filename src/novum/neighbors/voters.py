"""What neighbors that vote share, be it for classes or for numbers: targets, weights and curves.

The leave-one-out error of every k comes from one search: the neighbors of a training row without
itself, counted up one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import fitted, parameter
from novum.core.runtime import fit_context, fitting
from novum.neighbors.nearest import KNeighborsMixin, NeighborsModel
from novum.numerics import Floats, Integers

# Neighbors that "auto" chooses among.
MOST_NEIGHBORS = 50


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
        [1.0, 1.5]
        """
        self._check_fitted()
        n = self.n_samples_fit_
        if n < 2:
            raise InputError("One row leaves no other to learn from. Pass at least two rows.")
        k = min(MOST_NEIGHBORS, n - 1) if most is None else most
        return curve_of(self._losses(*self._nearest(None, k)))

    def _losses(self, distances: Floats, rows: Integers) -> Floats:
        """Losses (n_rows, k) of the training rows for the first 1, 2, ... of their neighbors."""
        raise NotImplementedError
