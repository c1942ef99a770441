"""Leaving rows out of kernel ridge regression, exactly and without a second fit.

With `B = (S + alpha)^-1` of `kernel_ridge_solution`, the residual and the leverage of an object of
weight `w` are

    r_i = y_i - f(x_i) = alpha a_i / w_i,        h_i = 1 - alpha B_ii,

and without `c` of its weight the model would miss it by

    r_i / (1 - c h_i / w_i)  =  r_i / ((1 - c / w_i) + (c / w_i) alpha B_ii).

The right-hand side is a sum of positive terms, so no digits are lost where a row determines its
own prediction. A weight counts copies of a row and one copy is left out. With the eigenvalues of
`S`, the diagonal of `B` costs `O(m^2)` for every further strength.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.svm.objects import KernelSample
from novum.svm.ridge.solution import RidgeSolution, RidgeSystem, Spectrum

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Every row as the model of all other rows sees it.

    Attributes
    ----------
    predictions : array of shape (n_rows,) or (n_rows, n_targets)
        NaN for rows of weight zero, which are no part of the training.
    residuals : array of the same shape
        Target minus prediction.
    leverages : array of the same shape
        How much a copy of a row's target moves its own fitted value, between 0 and 1.
    degrees_of_freedom : float or array of shape (n_targets,)
        Effective number of coefficients: the sum of all leverages.
    """

    predictions: Floats
    residuals: Floats
    leverages: Floats
    degrees_of_freedom: float | Floats

    @property
    def mean_squared_error(self) -> float:
        """Over all rows that count, and all targets."""
        return float(np.nanmean(self.residuals**2))


def left_out(sample: KernelSample, solution: RidgeSolution, diagonal: Floats) -> tuple[Floats, ...]:
    """Residuals without a copy of the row, (n, n_targets), and leverages of a copy, (n,).

    Parameters
    ----------
    sample : KernelSample
    solution : RidgeSolution
    diagonal : array of shape (m,)
        Of `B`.
    """
    alpha, weight = solution.alpha, sample.weight
    group, copy = sample.group, np.minimum(sample.row_weight, 1.0)
    share = copy / weight[group]
    a, b = solution.coefficients[group], diagonal[group]
    leverage = share * (1 - alpha * b)
    alone = share == 1.0
    rest = np.where(alone, b, (1 - share) + share * alpha * b)
    # The strength cancels for a row that leaves with all its weight; it may be zero there.
    error = np.where(alone, 1.0, alpha)[:, np.newaxis] * a / weight[group][:, np.newaxis]
    return error / rest[:, np.newaxis], leverage


def leave_one_out(
    sample: KernelSample, system: RidgeSystem, targets: Floats, alphas: Floats
) -> LeaveOneOut:
    """Predictions of all rows by the others, for one strength for each target."""
    n = len(sample.rows)
    residuals, leverages = np.empty((n, targets.shape[1])), np.empty((n, targets.shape[1]))
    freedom = np.empty(targets.shape[1])
    for alpha in np.unique(alphas):
        chosen = alphas == alpha
        diagonal = system.inverse_diagonal(float(alpha))
        if diagonal is None:
            raise InputError(
                f"Rows cannot be left out at alpha={alpha:g}: the kernel matrix is singular, so "
                "that the model without a row is not determined. Choose a larger alpha."
            )
        solution = system.solve(targets[:, chosen], float(alpha))
        errors, one = left_out(sample, solution, diagonal)
        residuals[:, chosen], leverages[:, chosen] = errors, one[:, np.newaxis]
        freedom[chosen] = float((1 - alpha * diagonal).sum())
    return _of_table(sample, targets, residuals, leverages, freedom)


def left_out_path(
    sample: KernelSample,
    system: RidgeSystem,
    spectrum: Spectrum,
    targets: Floats,
    alphas: Floats,
) -> Floats:
    """Residuals of left-out rows for every strength, of shape (n, n_targets, n_alphas)."""
    found = np.empty((len(sample.rows), targets.shape[1], len(alphas)))
    squares = spectrum.vectors**2
    for k, alpha in enumerate(alphas.tolist()):
        if not spectrum.used(alpha).all():
            raise InputError(
                f"Rows cannot be left out at alpha={alpha:g}: it is no more than the rounding of "
                f"the kernel matrix, {spectrum.threshold:.3g}. Leave it out of alphas."
            )
        solution = system.solve_by(spectrum, targets, alpha)
        found[:, :, k] = left_out(sample, solution, squares @ spectrum.inverses(alpha))[0]
    return found


def _of_table(
    sample: KernelSample, targets: Floats, residuals: Floats, leverages: Floats, freedom: Floats
) -> LeaveOneOut:
    def spread(values: Floats) -> Floats:
        whole = np.full((sample.n_rows, values.shape[1]), np.nan)
        whole[sample.rows] = values
        return whole[:, 0] if sample.target.ndim == 1 else whole

    predictions = targets[sample.group] - residuals
    single = sample.target.ndim == 1
    return LeaveOneOut(
        spread(predictions),
        spread(residuals),
        spread(leverages),
        float(freedom[0]) if single else freedom,
    )
