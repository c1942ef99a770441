"""The linear system of kernel ridge regression, solved and certified.

    minimize over f   J(f) = sum_i w_i (y_i - f(x_i))^2 + alpha |f|^2,     f = sum_i a_i k(x_i, .)

    (K + alpha W^-1) a = y,      or    (S + alpha) u = W^1/2 y,   S = W^1/2 K W^1/2,  a = W^1/2 u

`J` is strongly convex in `f` with modulus `2 alpha`, so whatever `a` is found, the residual
`r = y - K a - alpha W^-1 a` and `e = W r` bound how far it is from the optimum:

    J(f) - J* <= e'Ke / alpha,        |f - f*| <= sqrt(e'Ke) / alpha.

Large systems are factorized in single precision, at half the price, and the solution is refined
with residuals in double precision until it is as good as one of double precision; a system that
does not converge is factorized again in double precision. One that is singular in double precision
too is solved by its eigenvalues, and directions below `m eps` of the largest are left out: the
function of least norm among those that fit best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import ROUNDING_ABSOLUTE, ROUNDING_RELATIVE, Certificate, Verdict
from novum.core.runtime import check_memory, long_call
from novum.numerics import Floats, Mask, factorize, invert
from novum.svm.objects import KernelSample

EPSILON = float(np.finfo(np.float64).eps)
# From so many objects on, the factor is made in single precision first.
SINGLE_FROM = 512
# Steps of refinement; each gains six digits where single precision is of any use.
_REFINEMENTS = 12
# Entries must keep clear of the ends of single precision.
_LARGEST_SINGLE = 1e30


@dataclass(frozen=True, eq=False)
class RidgeSolution:
    """Coefficients of one strength with the evidence for them.

    Attributes
    ----------
    coefficients : array of shape (m, n_targets)
        `a`.
    alpha : float
    value : float
        `J` at the solution, summed over targets.
    excess : float
        Bound of `J - J*`.
    distance : float or None
        Bound of `|f - f*|`; None where `alpha` is zero.
    residual : float
        The largest entry of `|r|`.
    refinements : int
    rank : int
        Directions that were used.
    """

    coefficients: Floats
    alpha: float
    value: float
    excess: float
    distance: float | None
    residual: float
    refinements: int
    rank: int


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues and -vectors of `S`, which solve for every strength at once."""

    values: Floats
    vectors: Floats

    @property
    def threshold(self) -> float:
        """Below it an eigenvalue is rounding."""
        return len(self.values) * EPSILON * float(self.values.max(initial=0.0))

    def used(self, alpha: float) -> Mask:
        """Directions whose `lambda + alpha` is more than rounding."""
        return np.asarray(np.maximum(self.values, 0.0) + alpha > self.threshold)

    def inverses(self, alpha: float) -> Floats:
        """`1 / (lambda + alpha)`, zero in the directions that are left out."""
        shifted = np.maximum(self.values, 0.0) + alpha
        used = self.used(alpha)
        return np.where(used, 1.0 / np.where(used, shifted, 1.0), 0.0)


class RidgeSystem:
    """The similarities of weighted objects, ready to be solved for strengths and targets.

    Parameters
    ----------
    gram : array of shape (m, m)
        Similarities; owned by the system from now on, and scaled in place.
    weight : array of shape (m,)
        All positive.

    Examples
    --------
    >>> system = RidgeSystem(np.array([[2.0, 0.0], [0.0, 1.0]]), np.ones(2))
    >>> found = system.solve(np.array([[3.0], [4.0]]), alpha=1.0)
    >>> found.coefficients.ravel().tolist(), found.excess
    ([1.0, 2.0], 0.0)
    """

    def __init__(self, gram: Floats, weight: Floats) -> None:
        self.root = np.sqrt(weight)
        self.is_plain = bool((weight == 1.0).all())
        if not self.is_plain:
            gram *= self.root
            gram *= self.root[:, np.newaxis]
        self.matrix = gram

    def __len__(self) -> int:
        return len(self.matrix)

    def solve(self, targets: Floats, alpha: float) -> RidgeSolution:
        """Coefficients for targets of shape (m, n_targets)."""
        right = targets * self.root[:, np.newaxis]
        solution = _refined(self.matrix, alpha, right) if len(self) >= SINGLE_FROM else None
        if solution is None:
            solution = _factorized(self.matrix, alpha, right)
        if solution is None:
            return self.solve_by(self.spectrum(), targets, alpha)
        return self._judged(*solution, right, alpha, len(self))

    def solve_by(self, spectrum: Spectrum, targets: Floats, alpha: float) -> RidgeSolution:
        """The same from eigenvalues; without the directions in which `S + alpha` is singular."""
        right = targets * self.root[:, np.newaxis]
        used = spectrum.used(alpha)
        turned = spectrum.vectors.T @ right
        u = spectrum.vectors @ (spectrum.inverses(alpha)[:, np.newaxis] * turned)
        unused = spectrum.vectors[:, ~used]
        beyond = unused @ (unused.T @ right)
        rest = right - self.matrix @ u - alpha * u
        return self._judged(u, rest, 0, right, alpha, int(used.sum()), beyond)

    def spectrum(self) -> Spectrum:
        """All eigenvalues and eigenvectors of `S`."""
        m = len(self)
        check_memory(24 * m * m, f"The eigenvectors of {m:,} objects", _FEWER)
        values, vectors = long_call(
            lambda: np.linalg.eigh(self.matrix),
            9.0 * m**3,
            f"eigenvalues of a {m} x {m} kernel matrix",
        )
        return Spectrum(values, vectors)

    def inverse_diagonal(self, alpha: float) -> Floats | None:
        """Diagonal of `(S + alpha)^-1`, or None where that is singular."""
        factor = _double_factor(self.matrix, alpha)
        if factor is None:
            return None
        m = len(self)
        done = long_call(lambda: invert(factor), 2 * m**3 / 3, f"inverse of a {m} x {m} matrix")
        return np.diagonal(factor).copy() if done else None

    def _judged(
        self,
        u: Floats,
        rest: Floats,
        steps: int,
        right: Floats,
        alpha: float,
        rank: int,
        beyond: Floats | float = 0.0,
    ) -> RidgeSolution:
        """What `rest = right - S u - alpha u`, which is `W^1/2 r`, proves: `e'Ke = rest' S rest`.

        `beyond` is the part of the targets in directions that are left out; no `u` reaches it.
        """
        left = rest + alpha * u
        fitted, s = right - left, rest - beyond
        value = float((left * left).sum() + alpha * max(float((u * fitted).sum()), 0.0))
        if alpha > 0:
            wrong = max(float((s * (self.matrix @ s)).sum()), 0.0)
            excess, distance = wrong / alpha, float(np.sqrt(wrong)) / alpha
        else:
            excess, distance = value - float(np.square(beyond).sum()), None
        if rank < len(self):
            distance = None
        return RidgeSolution(
            coefficients=u * self.root[:, np.newaxis],
            alpha=alpha,
            value=value,
            excess=min(max(excess, 0.0), value),
            distance=distance,
            residual=float(np.abs(s / self.root[:, np.newaxis]).max(initial=0.0)),
            refinements=steps,
            rank=rank,
        )


# --- Two ways to a factor -------------------------------------------------------------------------

_FEWER = "Use fewer objects, or novum.kernels.Nystroem before a linear Ridge."


def check_matrix_memory(m: int) -> None:
    """Refuses a table whose matrix of similarities, with its factor, does not fit."""
    check_memory(16 * m * m, f"The kernel matrix of {m:,} objects, with its factor,", _FEWER)


def _refined(matrix: Floats, alpha: float, right: Floats) -> tuple[Floats, Floats, int] | None:
    """A factor of single precision, and corrections with residuals of double precision.

    Gives the solution, its residual and the number of corrections.
    """
    from scipy.linalg import lapack

    m, largest = len(matrix), float(np.abs(np.diagonal(matrix)).max(initial=0.0))
    if not EPSILON < largest + alpha < _LARGEST_SINGLE:
        return None
    single = matrix.astype(np.float32)
    single.ravel()[:: m + 1] += np.float32(alpha)
    # The transpose of a symmetric matrix in C order is the matrix in the order of LAPACK.
    factor = single.T
    if not factorize(factor):
        return None
    norm = float(np.sqrt(np.vdot(matrix, matrix))) + alpha
    u, left, before = np.zeros_like(right), right.copy(), np.inf
    for step in range(1, _REFINEMENTS + 1):
        scale = np.abs(left).max(axis=0)
        scale[scale == 0] = 1.0
        change, _ = lapack.spotrs(factor, (left / scale).astype(np.float32), lower=1)
        better = u + change * scale
        left = right - matrix @ better - alpha * better
        sizes = norm * np.abs(better).max(axis=0) + np.abs(right).max(axis=0)
        error = float((np.abs(left).max(axis=0) / np.where(sizes > 0, sizes, 1.0)).max())
        u = better
        if error <= 4 * EPSILON:
            return u, left, step
        # A factor that gains less than a digit a step is no help; the double one is surer.
        if not error < 0.1 * before:
            return None
        before = error
    return None


def _factorized(matrix: Floats, alpha: float, right: Floats) -> tuple[Floats, Floats, int] | None:
    """The usual solution by a factor of double precision, with one correction."""
    from scipy.linalg import lapack

    factor = _double_factor(matrix, alpha)
    if factor is None:
        return None
    u, _ = lapack.dpotrs(factor, right, lower=1)
    change, _ = lapack.dpotrs(factor, right - matrix @ u - alpha * u, lower=1)
    u = u + change
    return u, right - matrix @ u - alpha * u, 1


def _double_factor(matrix: Floats, alpha: float) -> Any:
    """Lower factor of `S + alpha` in the order of LAPACK, None where it is singular."""
    from scipy.linalg import lapack

    m = len(matrix)
    shifted = matrix.copy()
    shifted.ravel()[:: m + 1] += alpha
    norm = float(np.abs(shifted).sum(axis=1).max(initial=0.0))
    factor = shifted.T
    if not factorize(factor) or norm == 0.0:
        return None
    reciprocal, _ = lapack.dpocon(factor, norm, uplo="L")
    return factor if reciprocal > m * EPSILON else None


# --- The certificate ------------------------------------------------------------------------------

OBJECTIVE = "squared error plus penalty"


def certify(solutions: Sequence[RidgeSolution], n_objects: int, seconds: float) -> Certificate:
    """One certificate for all targets."""
    value = sum(each.value for each in solutions)
    excess = sum(each.excess for each in solutions)
    distances = [each.distance for each in solutions]
    bound = None
    if all(each is not None for each in distances):
        bound = float(np.sqrt(sum(each**2 for each in distances if each is not None)))
    proved = bool(excess <= ROUNDING_RELATIVE * abs(value) + ROUNDING_ABSOLUTE)
    rank = min(each.rank for each in solutions)
    details: dict[str, Any] = {"rank": rank, "objects": n_objects}
    if rank < n_objects:
        # What is proved holds for a matrix whose eigenvalues of rounding size are zero.
        proved = False
        details["solution"] = "of least norm: the kernel matrix is singular within rounding"
    return Certificate(
        objective=OBJECTIVE,
        verdict=Verdict.PROVED if proved else Verdict.WITHIN_TOLERANCE,
        value=value,
        lower_bound=value - excess,
        gap=excess,
        distance_bound=bound,
        residual=max(each.residual for each in solutions),
        iterations=max(each.refinements for each in solutions),
        details=details,
        seconds=seconds,
    )


# --- Leave one out --------------------------------------------------------------------------------
#
# With `B = (S + alpha)^-1` of `kernel_ridge_solution`, the residual and the leverage of an object
# of weight `w` are
#
#     r_i = y_i - f(x_i) = alpha a_i / w_i,        h_i = 1 - alpha B_ii,
#
# and without `c` of its weight the model would miss it by
#
#     r_i / (1 - c h_i / w_i)  =  r_i / ((1 - c / w_i) + (c / w_i) alpha B_ii).
#
# The right-hand side is a sum of positive terms, so no digits are lost where a row determines its
# own prediction. A weight counts copies of a row and one copy is left out. With the eigenvalues of
# `S`, the diagonal of `B` costs `O(m^2)` for every further strength.


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
    predicted = np.empty((len(sample.rows), targets.shape[1], len(alphas)))
    squares = spectrum.vectors**2
    for k, alpha in enumerate(alphas.tolist()):
        if not spectrum.used(alpha).all():
            raise InputError(
                f"Rows cannot be left out at alpha={alpha:g}: it is no more than the rounding of "
                f"the kernel matrix, {spectrum.threshold:.3g}. Leave it out of alphas."
            )
        solution = system.solve_by(spectrum, targets, alpha)
        predicted[:, :, k] = left_out(sample, solution, squares @ spectrum.inverses(alpha))[0]
    return predicted


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
