"""Standardizing: every numeric column to mean 0 and variance 1.

    z_ij = (x_ij - m_j) / s_j

with mean and standard deviation over the known cells of the column, or of a group of columns that
share one scale. Means and scatters add up over chunks, in pairs of doubles, so that an offset of
1e8 costs no digits and rows come off again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from novum.core.learners import Certificate, Verdict, fitted, parameter
from novum.core.tables import Sample
from novum.data.scaling.column_groups import Groups, group_codes
from novum.data.scaling.transformer import ScalingStatistics, ScalingTransformer, seen
from novum.numerics import ColumnMoments, Floats, Mask, Positions, column_moments_of

_EPSILON = float(np.finfo(np.float64).eps)


class StandardScaler(ScalingTransformer):
    """Numeric columns to mean 0 and variance 1; other columns pass through.

    Parameters
    ----------
    copy : bool, default=True
        Kept for scikit-learn's signature; `X` is never overwritten.
    with_mean : bool, default=True
        Whether the mean is subtracted.
    with_std : bool, default=True
        Whether columns are divided by their standard deviation.
    groups : None, "all" or lists of columns, default=None
        Columns that share one mean and one deviation.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns that are not scaled.

    Attributes
    ----------
    mean_, var_, scale_ : arrays (number of numeric columns,)
        NaN for a column without known cells; the scale of a constant column is 1. `mean_` is None
        without both options, the others without `with_std`.
    n_samples_seen_ : number or array (number of numeric columns,)
        Weight of the known cells.
    statistics_, schema_, certificate_

    Notes
    -----
    `O(n d)`. Missing cells stay missing and take no part in the statistics. Weights count
    repetitions; variances divide by the weight. A column whose spread is no more than rounding of
    its mean counts as constant. Sparse rows stay sparse with `with_mean=False` and are refused
    otherwise; float32 gives float32.

    Examples
    --------
    >>> scaler = StandardScaler().fit([[1.0, "a"], [3.0, "b"]])
    >>> scaler.transform([[5.0, "a"]]).tolist()
    [[3.0, 'a']]
    >>> scaler.partial_fit([[8.0, "c"]]).mean_.tolist()
    [4.0]
    """

    mean_: Any = fitted()
    var_: Any = fitted()
    scale_: Any = fitted()

    copy: bool = parameter(default=True)
    with_mean: bool = parameter(default=True)
    with_std: bool = parameter(default=True)
    groups: Groups = parameter(str, None, "array-like", default=None)

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; columns of a group have a common unit."""
        units = "column_scale" if self.groups is None else "common_scale"
        known = ["row_order", "duplication"]
        known += ["shift"] if self.with_mean else []
        return (*known, units) if self.with_std else tuple(known)

    def transform(self, X: Any, copy: bool | None = None) -> Any:  # noqa: ARG002
        """The table with its numeric columns scaled; `copy` as in the constructor."""
        return super().transform(X)

    def inverse_transform(self, X: Any, copy: bool | None = None) -> Any:  # noqa: ARG002
        """The table with its numeric columns as they were before scaling."""
        return super().inverse_transform(X)

    def _columns(self, sample: Sample) -> ColumnMoments:
        if sample.is_sparse:
            return sparse_moments(sample.numeric, sample.weight)
        return column_moments_of(sample.numeric, sample.weight)

    def _keeps_zeros(self) -> bool:
        return not self.with_mean

    def _estimate_columns(self, statistics: ScalingStatistics) -> Certificate:
        moments = pooled(statistics.columns, group_codes(self.groups, statistics.schema))
        known = moments.weight > 0
        mean = np.where(known, moments.mean, np.nan)
        variance = moments.variance()
        constant = is_constant(moments)
        self.mean_ = mean if self.with_mean or self.with_std else None
        self.var_ = np.where(constant, 0.0, variance) if self.with_std else None
        self.scale_ = np.where(constant, 1.0, np.sqrt(variance)) if self.with_std else None
        self.n_samples_seen_ = seen(statistics.columns.weight)
        return Certificate(
            objective="squared deviations from the mean",
            verdict=Verdict.PROVED,
            value=float(moments.scatter.sum()),
            details={
                "constant_columns": int(constant.sum()),
                "unknown_columns": int((~known).sum()),
            },
        )

    def _has_scale(self) -> Mask:
        if self.mean_ is None:
            return np.ones(self.schema_.numeric.size, bool)
        return np.asarray(~np.isnan(self.mean_))

    def _forward(self, X: Any) -> Any:
        if sparse.issparse(X):
            return _times(X, 1.0 / self.scale_ if self.with_std else None)
        out: Floats = X - self.mean_ if self.with_mean else X.copy()
        if self.with_std:
            out /= self.scale_
        return out

    def _backward(self, X: Any) -> Any:
        if sparse.issparse(X):
            return _times(X, self.scale_ if self.with_std else None)
        out: Floats = X * self.scale_ if self.with_std else X.copy()
        if self.with_mean:
            out += self.mean_
        return out


def sparse_moments(X: Any, weight: Floats | None) -> ColumnMoments:
    """Moments of the columns of a sparse matrix: of the cells it stores, and of its zeros.

    >>> moments = sparse_moments(sparse.csr_matrix([[0.0, 2.0], [4.0, 0.0]]), None)
    >>> moments.mean.tolist(), moments.scatter.tolist()
    ([2.0, 1.0], [8.0, 2.0])
    """
    cells, d = X.tocoo(), X.shape[1]
    weights = np.ones(X.shape[0]) if weight is None else weight
    known = ~np.isnan(cells.data)
    stored: Floats = np.bincount(cells.col, weights[cells.row], d).astype(float)
    column, x = cells.col[known], cells.data[known]
    w = weights[cells.row[known]]
    total: Floats = np.bincount(column, w, d).astype(float)
    divisor = np.where(total > 0, total, 1.0)
    mean = np.bincount(column, w * x, d) / divisor
    away = x - mean[column]
    # The mean again from what it left over: sums of large cells lose digits.
    shift = np.bincount(column, w * away, d) / divisor
    away -= shift[column]
    scatter: Floats = np.bincount(column, w * away * away, d).astype(float)
    # A column without zeros has none, whatever the rounding of two sums of weights.
    full = np.bincount(cells.col, minlength=d) == X.shape[0]
    nothing, zeros = np.zeros(d), np.where(full, 0.0, np.maximum(weights.sum() - stored, 0.0))
    return ColumnMoments(total, mean + shift, scatter) + ColumnMoments(zeros, nothing, nothing)


def _times(X: Any, factors: Floats | None) -> Any:
    """A sparse matrix with its columns multiplied."""
    out = X.tocsr(copy=True)
    if factors is not None:
        out.data *= factors[out.indices]
    return out


def pooled(moments: ColumnMoments, groups: Positions) -> ColumnMoments:
    """Moments in which every column has those of its whole group.

    >>> both = pooled(ColumnMoments([1, 1], [0, 2], [0, 0]), np.array([0, 0]))
    >>> both.weight.tolist(), both.mean.tolist(), both.scatter.tolist()
    ([2.0, 2.0], [1.0, 1.0], [2.0, 2.0])
    """
    if groups.size == 0 or groups.max() + 1 == groups.size:
        return moments
    names = ("weight", "mean", "scatter", "weight_low", "mean_low", "scatter_low")
    out = {name: np.array(getattr(moments, name)) for name in names}
    for group in range(int(groups.max()) + 1):
        members = np.flatnonzero(groups == group)
        total = ColumnMoments.zero(1)
        for j in members:
            total = total + ColumnMoments(*(getattr(moments, name)[[j]] for name in names))
        for name in names:
            out[name][members] = getattr(total, name)[0]
    return ColumnMoments(**out)


def is_constant(moments: ColumnMoments) -> Mask:
    """Columns whose spread is no more than what rounding of their mean gives it."""
    weight = np.where(moments.weight > 0, moments.weight, 1.0)
    rounding = _EPSILON * np.abs(moments.mean)
    return np.asarray((moments.weight > 0) & (moments.scatter / weight <= rounding**2))
