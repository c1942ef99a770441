"""Gaussianizing: every numeric column to a standard normal law, through ranks.

    z = Phi^-1( (rank(x) + 1) / (n + 2) ),
    rank(x) = number of known training cells below x, and half of those equal to x

Adding 1 and 2 keeps the fraction away from 0 and 1, as if one more value stood below and one above
all that were seen, so that no cell becomes infinite. Counting equal cells by half treats both sides
alike: fractions of x among a column and of -x among its negative sum to 1, so that a column turned
around gives the values turned around.

Ranks need the distinct values of the column and their weights (`counted_values`), which unite over
chunks and come off again. Going back is piecewise linear between the training values.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from novum.core.learners import Certificate, Verdict, parameter
from novum.core.tables import Sample
from novum.data.scaling.counted_values import CountedValues
from novum.data.scaling.transformer import ScalingStatistics, ScalingTransformer, seen
from novum.numerics import Floats, Mask, interpolate


class Gaussianizer(ScalingTransformer):
    """Numeric columns to standard normal quantiles of their ranks; other columns pass through.

    Parameters
    ----------
    max_values : int, optional
        Distinct values that each column keeps at most. By default all are kept, which takes as much
        memory as the table but makes ranks and removal exact; with a limit ranks have an error,
        which the certificate bounds, and rows cannot be taken away.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns that are not changed.

    Attributes
    ----------
    n_samples_seen_ : number or array (number of numeric columns,)
        Weight of the known cells.
    statistics_, schema_, certificate_
        `statistics_.columns` holds the values and weights; `certificate_.details["rank_error"]` the
        largest error of a rank, as a share of the weight.

    Notes
    -----
    `O(n log n)` for each column. Any strictly rising function of a column leaves the result as it
    is. Weights count repetitions. Missing cells stay missing and have no rank. `inverse_transform`
    gives training values back, and values between their neighbors for what lies between; beyond the
    ends it gives the ends.

    Examples
    --------
    >>> model = Gaussianizer().fit([[10.0], [20.0], [1000.0]])
    >>> model.transform([[10.0], [20.0], [1000.0], [15.0]]).round(3).ravel().tolist()
    [-0.524, 0.0, 0.524, -0.253]
    """

    invariances = ("shift", "column_scale", "row_order", "duplication")

    max_values: int | None = parameter(default=None, at_least=10)

    @property
    def _holds_training_rows(self) -> bool:
        """Values of single cells are kept, though not which row they came from."""
        return True

    def _columns(self, sample: Sample) -> CountedValues:
        return CountedValues.of(sample.numeric, sample.weight, self.max_values or 0)

    def _estimate_columns(self, statistics: ScalingStatistics) -> Certificate:
        counts: CountedValues = statistics.columns
        totals = counts.totals
        self.n_samples_seen_ = seen(totals)
        share = counts.rank_error / np.where(totals > 0, totals, 1.0)
        return Certificate(
            objective="ranks of the columns",
            verdict=Verdict.WITHIN_TOLERANCE if share.any() else Verdict.PROVED,
            details={
                "rank_error": float(share.max(initial=0.0)),
                "values": int(counts.values.size),
                "unknown_columns": int((totals == 0).sum()),
            },
        )

    def _has_scale(self) -> Mask:
        return np.diff(self.statistics_.columns.starts) > 0

    def _forward(self, X: Floats) -> Floats:
        out = np.full(X.shape, np.nan)
        for j in range(X.shape[1]):
            values, weights = self.statistics_.columns.column(j)
            known = ~np.isnan(X[:, j])
            out[known, j] = special.ndtri(_fractions(X[known, j], values, weights))
        return out

    def _backward(self, X: Floats) -> Floats:
        out = np.full(X.shape, np.nan)
        for j in range(X.shape[1]):
            values, weights = self.statistics_.columns.column(j)
            known = ~np.isnan(X[:, j])
            if known.any():
                knots = _fractions(values, values, weights)
                out[known, j] = interpolate(special.ndtr(X[known, j]), knots, values)
        return out


def _fractions(x: Floats, values: Floats, weights: Floats) -> Floats:
    """`(below + equal / 2 + 1) / (n + 2)`."""
    if x.size == 0:
        return np.empty(0)
    ends = np.cumsum(weights)
    place = np.searchsorted(values, x)
    below = np.concatenate([[0.0], ends])[place]
    inside = np.minimum(place, values.size - 1)
    equal = np.where(values[inside] == x, weights[inside], 0.0)
    return np.asarray((below + equal / 2 + 1) / (ends[-1] + 2))
