"""Columns that say nothing new, found before an unpenalized fit.

Without a penalty, coefficients along directions in which the rows do not differ (a constant column
beside the intercept, a column that is the sum of two others) are not determined. A largest set of
independent columns is fitted alone; of all coefficients with the same scores on the rows the
solution of smallest norm is then given, as least squares does (`linear.solution`):

    b <- b - N N'b,        N an orthonormal basis of {v : (x - c)'v = 0 for all rows}.

Most tables have no such columns, and their cross-products show it. Only where these leave a doubt
is the triangular factor computed, which decides with all digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from novum.core.engine import sum_blocks
from novum.core.validation import Sample
from novum.linear.logistic_loss import Floats
from novum.linear.logistic_rows import Rows
from novum.linear.solution import Design, solve
from novum.linear.statistics import LeastSquaresStatistics
from novum.numerics.linear_algebra import column_norms, unit_scale

# Cross-products have lost half of the digits below this ratio of eigenvalues.
_DOUBT = 1e-7


@dataclass(frozen=True, eq=False)
class Independent:
    """A largest independent set of the columns, and the directions the rows leave open.

    Attributes
    ----------
    kept : integer array (rank,)
    null_space : array (d, d - rank)
    """

    kept: NDArray[np.intp]
    null_space: Floats

    def smallest(self, coef: Floats) -> Floats:
        """Coefficients (m, d) of smallest norm with the scores of `coef` (m, rank)."""
        whole = np.zeros((len(coef), len(self.null_space)))
        whole[:, self.kept] = coef
        whole -= (whole @ self.null_space) @ self.null_space.T
        # A column that is constant on the rows is left open by itself: exactly zero.
        whole[:, np.linalg.norm(self.null_space, axis=1) > 1 - 1e-12] = 0.0
        return whole


def independent_columns(rows: Rows, sample: Sample, *, fit_intercept: bool) -> Independent | None:
    """The independent columns, or None where all are."""
    if not _doubtful(rows):
        return None
    return independent_of(sum_blocks(triangle, sample), fit_intercept=fit_intercept)


def triangle(sample: Sample) -> LeastSquaresStatistics:
    """The triangular factor of the rows with the class's number as their target."""
    target = np.asarray(sample.target, np.float64)
    return LeastSquaresStatistics.of(replace(sample, target=target, classes=None))


def moments_of(sums: LeastSquaresStatistics) -> Floats:
    """Mean and deviation of each column, and its covariance with the class's number, (3, d)."""
    design = Design.of(sums, fit_intercept=True)
    deviation = column_norms(design.x) / np.sqrt(sums.weight)
    covariance = design.x.T @ design.y[:, 0] / sums.weight
    return np.array([design.x_mean, deviation, covariance])


def independent_of(sums: LeastSquaresStatistics, *, fit_intercept: bool) -> Independent | None:
    """The independent columns of rows known by their triangular factor."""
    design = Design.of(sums, fit_intercept)
    found = solve(design, np.zeros(1))
    if found.rank == design.x.shape[1]:
        return None
    pivots = linalg.qr(design.x * found.scale, mode="r", pivoting=True)[1]
    return Independent(np.sort(pivots[: found.rank]).astype(np.intp), found.null_space)


def _doubtful(rows: Rows) -> bool:
    """Whether cross-products leave the rank open."""
    d = rows.n_columns
    gram = np.zeros((d, d))
    for _, X in rows.blocks():
        Z = X - rows.center
        gram += Z.T @ Z
    # A constant column has nothing but the rounding of its center.
    size = np.sqrt(np.diagonal(gram))
    if (size <= 1e-7 * np.sqrt(rows.n_rows) * np.abs(rows.center)).any() or not size.all():
        return True
    scale = unit_scale(size)
    values = linalg.eigvalsh(gram * scale * scale[:, np.newaxis])
    return bool(values[0] <= _DOUBT * values[-1])
