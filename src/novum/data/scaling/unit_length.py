"""Centering, then scaling every row to unit length.

    z_i = (x_i - m) / |x_i - m|

Rows then differ only in direction from the common mean: the inner product of two rows is the cosine
of the angle between them. The mean is that of the known cells of each column and adds up over
chunks; the length of a row is its own and needs no training.

A row with missing cells has a length that is known in part. Its known cells stand for all,

    |x - m|^2  ~  (d / number of known cells) * sum over known cells,

as in distances between rows with missing cells, so that its known cells compare with those of
complete rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.core.learners import Certificate, Verdict, parameter
from novum.core.tables import Sample
from novum.data.scaling.transformer import ScalingStatistics, ScalingTransformer, seen
from novum.numerics import ColumnMoments, Floats, Mask, column_moments_of

# What a mean may be off by, as a share of the size of its column.
_ROUNDING = 4 * float(np.finfo(np.float64).eps)


class CenterThenUnitLength(ScalingTransformer):
    """Subtracts the mean of the numeric columns, then scales every row to length 1.

    Parameters
    ----------
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns that take no part.

    Attributes
    ----------
    mean_ : array (number of numeric columns,)
        NaN for a column without known cells.
    n_samples_seen_ : number or array (number of numeric columns,)
        Weight of the known cells.
    statistics_, schema_, certificate_

    Notes
    -----
    `O(n d)`. A row at the mean has no direction and stays at zero. The length of a row is lost, so
    there is no `inverse_transform`. Columns keep their common unit; standardize them before if they
    have different ones. Missing cells stay missing.

    Examples
    --------
    >>> model = CenterThenUnitLength().fit([[0.0, 0.0], [2.0, 4.0]])
    >>> model.transform([[4.0, 6.0], [1.0, 2.0]]).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """

    invariances = ("shift", "common_scale", "row_order", "duplication")

    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    def _columns(self, sample: Sample) -> ColumnMoments:
        return column_moments_of(sample.numeric, sample.weight)

    def _estimate_columns(self, statistics: ScalingStatistics) -> Certificate:
        moments = statistics.columns
        self.mean_ = np.where(moments.weight > 0, moments.mean, np.nan)
        self.n_samples_seen_ = seen(moments.weight)
        return Certificate(
            objective="squared deviations from the mean",
            verdict=Verdict.PROVED,
            value=float(moments.scatter.sum()),
            details={"unknown_columns": int((moments.weight == 0).sum())},
        )

    def _has_scale(self) -> Mask:
        return ~np.isnan(self.mean_)

    def _forward(self, X: Floats) -> Floats:
        away = X - self.mean_
        moments = self.statistics_.columns
        sizes = np.sqrt(moments.variance() + np.square(moments.mean))
        # Rounding of the mean is no direction: a row within it is at the mean.
        near = np.abs(away) <= _ROUNDING * sizes
        still = (near | np.isnan(away)).all(axis=1)
        away[still[:, None] & near] = 0.0
        return unit_rows(away)


def unit_rows(X: Floats) -> Floats:
    """Rows of length 1; known cells of a row with missing ones have their share of it.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [5.0, np.nan]])).round(3).tolist()
    [[0.6, 0.8], [0.0, 0.0], [0.707, nan]]
    """
    known = ~np.isnan(X)
    size = np.max(np.abs(X), axis=1, where=known, initial=0.0)[:, None]
    # Cells near 1 first: the squares of a row can then neither overflow nor vanish.
    near_one = X / np.where(size > 0, size, 1.0)
    squares = np.sum(np.square(near_one), axis=1, where=known)
    counts = known.sum(axis=1)
    whole = squares * (X.shape[1] / np.where(counts > 0, counts, 1))
    length = np.sqrt(whole)[:, None]
    return np.asarray(near_one / np.where(length > 0, length, 1.0))
