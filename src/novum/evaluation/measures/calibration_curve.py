"""Calibration curve: observed frequencies against mean probabilities, in bins.

A model is calibrated when of all rows that got probability p a share p is positive. Rows are put
into bins of equal width or of equal number; the curve has a point for each bin that has rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from novum.core.errors import InputError
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import proportion_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CalibrationBins:
    """Probabilities put into bins.

    Parameters
    ----------
    edges : array of shape (n_bins + 1,)
    place : array of shape (n,)
        The bin of each row.
    probability : array of shape (n,)
    happened : array of shape (n,), bool
    """

    edges: Floats
    place: NDArray[np.int64]
    probability: Floats
    happened: NDArray[np.bool_]

    def gaps(self, weights: Floats) -> Floats:
        """Weight of events minus expected weight in each bin, of shape (b, n_bins)."""
        n_rows, n_bins = self.place.size, self.edges.size - 1
        misses = self.happened - self.probability
        spread = sparse.csr_array((misses, (self.place, np.arange(n_rows))), shape=(n_bins, n_rows))
        return np.asarray(spread @ weights.T).T


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """Points of a calibration curve, one for each bin that has rows.

    Parameters
    ----------
    probability : array of shape (m,)
        Mean probability in the bin.
    frequency : array of shape (m,)
        Share of rows for which the event happened.
    weight : array of shape (m,)
    intervals : tuple of m Interval
        Wilson's, of the frequencies.
    """

    probability: Floats
    frequency: Floats
    weight: Floats
    intervals: tuple[Interval, ...]


def bins_of(
    probability: Floats,
    happened: NDArray[np.bool_],
    n_bins: int = 10,
    strategy: Literal["uniform", "quantile"] = "uniform",
) -> CalibrationBins:
    """Put probabilities into bins, each open below and closed above but for the first.

    Examples
    --------
    >>> import numpy as np
    >>> bins_of(np.array([0.0, 0.2, 0.5, 1.0]), np.array([False, False, True, True]), 5).place
    array([0, 0, 2, 4])
    """
    if not (isinstance(n_bins, int | np.integer) and n_bins >= 1):
        raise InputError(f"n_bins is a number of bins of at least 1, got {n_bins!r}.")
    if strategy == "uniform":
        edges = np.linspace(0.0, 1.0, n_bins + 1)
    elif strategy == "quantile":
        edges = np.unique(np.quantile(probability, np.linspace(0, 1, n_bins + 1)))
        edges = np.array([0.0, 1.0]) if edges.size < 2 else edges
    else:
        raise InputError(f"strategy is 'uniform' or 'quantile', got {strategy!r}.")
    place = np.searchsorted(edges[1:-1], probability, side="left").astype(np.int64)
    return CalibrationBins(edges, place, probability, happened)


def calibration_points(
    bins: CalibrationBins, weight: Floats | None = None, level: float = 0.95
) -> CalibrationCurve:
    """The calibration curve of binned probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> bins = bins_of(np.array([0.1, 0.1, 0.9]), np.array([False, True, True]), 2)
    >>> calibration_points(bins).frequency.tolist()
    [0.5, 1.0]
    """
    weights = np.ones(bins.place.size) if weight is None else weight
    n_bins = bins.edges.size - 1
    total: Floats = np.asarray(np.bincount(bins.place, weights, n_bins), float)
    squares = np.bincount(bins.place, weights**2, n_bins)
    met = total > 0
    expected = np.bincount(bins.place, weights * bins.probability, n_bins)[met] / total[met]
    events = np.bincount(bins.place, weights * bins.happened, n_bins)[met] / total[met]
    sizes = total[met] ** 2 / squares[met]
    # Shares of float weights can exceed 1 by rounding.
    shares = np.clip(events, 0, 1)
    limits = tuple(
        proportion_interval(share * size, size, level)
        for share, size in zip(shares.tolist(), sizes.tolist(), strict=True)
    )
    return CalibrationCurve(expected, shares, total[met], limits)
