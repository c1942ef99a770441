"""Maximum likelihood covariances of classes, kept away from zero.

    full       C_k = S_k / W_k                      tied       C = sum_k S_k / sum_k W_k
    diagonal   C_k = diag(S_k) / W_k                spherical  C_k = tr(S_k) / (d W_k) I

A class without spread in some direction (fewer rows than columns, one row, a constant column) has
no largest likelihood: it grows without bound as the variance there goes to zero. The estimate is
therefore the most likely one among covariances with

    a' C a >= floor * a' V a    for every a,      V = diag(v_1, ..., v_d),

`v_j` being the variance of column j within the classes (over all rows, if a column is constant
within every class). In units of `sqrt(v_j)` that maximum is reached by raising the eigenvalues
below `floor` to it and leaving the others (Theobald 1975). The floor is relative, so units of
columns do not matter, and a class that is above it keeps its estimate to the last bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from novum.bayes.gaussian_statistics import GaussianStatistics
from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict
from novum.core.text import label_text
from novum.distributions import Roots, whitener
from novum.numerics import Array, Floats, Integers

Adjustment = Callable[[Floats], Floats]

STRUCTURES = ("full", "tied", "diagonal", "spherical")

# Structures that know every column on its own.
BY_COLUMN = ("diagonal", "spherical")

_EPSILON = float(np.finfo(np.float64).eps)
_LOG_2PI = float(np.log(2 * np.pi))


class SingularCovarianceWarning(UserWarning):
    """A class has no spread in some direction; its variance there was raised to the floor."""


class AbsentColumnWarning(UserWarning):
    """A class has no present cell in some column, about which it therefore says nothing."""


@dataclass(frozen=True, eq=False)
class GaussianEstimate:
    """Means and covariances of K classes.

    Attributes
    ----------
    structure : {"full", "tied", "diagonal", "spherical"}
    means : array (K, d)
    covariances : array
        (K, d, d) full, (d, d) tied, (K, d) diagonal variances, (K,) spherical variances.
    raised : array (K,)
        In how many directions each class was raised to the floor.
    smallest : array (K,)
        Smallest variance of each class in any direction before that, in units of the column
        variances; a lower bound where it is far above the floor.
    roots : Roots or None
        Inverse roots of the matrices; None for uncorrelated columns.
    """

    structure: str
    means: Floats
    covariances: Floats
    raised: Integers
    smallest: Floats
    roots: Roots | None = None

    @classmethod
    def of_matrices(cls, structure: str, means: Floats, raised: list[Raised]) -> GaussianEstimate:
        """The estimate with these covariances: one for each class, or a single one for all."""
        matrices = np.array([one.matrix for one in raised])
        counts = np.array([one.count for one in raised])
        smallest = np.array([one.smallest for one in raised])
        return cls(
            structure,
            means,
            matrices[0] if structure == "tied" else matrices,
            np.broadcast_to(counts, len(means)),
            np.broadcast_to(smallest, len(means)),
            (np.array([one.root for one in raised]), np.array([one.log_det for one in raised])),
        )


@dataclass(frozen=True, eq=False)
class Raised:
    """A covariance above the floor.

    Attributes
    ----------
    matrix : array (d, d)
    count : int
        How many directions were raised.
    smallest : float
        Smallest eigenvalue before, in units of the reference; a lower bound if none was raised.
    root, log_det : array (d, d), float
        `A` with `A A' = C^-1`, and `log|C|`. Of a raised covariance they come from the eigenvalues:
        the matrix itself knows the smallest ones to `eps / floor` only.
    """

    matrix: Floats
    count: int
    smallest: float
    root: Floats
    log_det: float


# --- Estimation -----------------------------------------------------------------------------------


def estimate(
    statistics: GaussianStatistics,
    structure: str,
    floor: float,
    adjustment: Adjustment | None = None,
    *,
    reference: Floats | None = None,
) -> GaussianEstimate:
    """The most likely means and covariances above the floor.

    Parameters
    ----------
    statistics : GaussianStatistics
    structure : {"full", "tied", "diagonal", "spherical"}
    floor : float
    adjustment : callable, optional
        Changes every covariance matrix of classes before the floor, such as a shrinkage; for full
        and tied structures.
    reference : array (d,), optional
        Variances that the floor is relative to; those of the columns within the classes by default.
    """
    means = known_means(statistics)
    reference = reference_variances(statistics) if reference is None else reference
    if structure in BY_COLUMN:
        return _by_column(statistics, structure, means, reference, floor)
    change = adjustment or (lambda matrix: matrix)
    scatters, weight = statistics.scatters, statistics.weight
    if structure == "tied":
        scatters, weight = scatters.sum(axis=0)[None], weight.sum()[None]
    # Without rows, or with empty ones only, there is no covariance; that of the columns stands in.
    matrices = [
        change(scatter / amount) if amount > 0 else np.diag(reference)
        for scatter, amount in zip(scatters, weight, strict=True)
    ]
    raised = [raised_to_floor(matrix, reference, floor) for matrix in matrices]
    return GaussianEstimate.of_matrices(structure, means, raised)


def _by_column(
    statistics: GaussianStatistics,
    structure: str,
    means: Floats,
    reference: Floats,
    floor: float,
) -> GaussianEstimate:
    weights = statistics.cell_weights
    scatters = statistics.column_scatters
    known = weights > 0
    if structure == "spherical":
        cells = weights.sum(axis=1)
        scale = reference.mean()
        variances = np.where(cells > 0, scatters.sum(axis=1) / np.where(cells > 0, cells, 1), scale)
        relative = (variances / scale)[:, None]
        low = floor * scale
    else:
        variances = np.where(known, scatters / np.where(known, weights, 1.0), reference)
        relative = variances / reference
        low = floor * reference
    below = relative < max(floor, _EPSILON)
    return GaussianEstimate(
        structure,
        means,
        np.maximum(variances, low),
        below.sum(axis=1),
        relative.min(axis=1),
    )


def raised_to_floor(matrix: Floats, reference: Floats, floor: float) -> Raised:
    """The matrix with its eigenvalues, in units of `sqrt(reference)`, raised to the floor.

    A matrix above the floor is returned as it is, to the last bit.
    """
    from scipy.linalg import lapack

    unit = np.sqrt(reference)
    scaled = matrix / unit[:, None] / unit[None, :]
    least = max(floor, len(scaled) * _EPSILON)
    for bound in (1e4 * least, least):
        shifted = scaled.copy(order="F")
        shifted.flat[:: len(shifted) + 1] -= bound
        if lapack.dpotrf(shifted, lower=1, clean=0, overwrite_a=1)[1] == 0:
            return Raised(matrix, 0, bound, *whitener(matrix))
    values, vectors = np.linalg.eigh(scaled)
    count = int(np.count_nonzero(values < least))
    if count == 0:
        return Raised(matrix, 0, float(values[0]), *whitener(matrix))
    lifted = np.maximum(values, least)
    raised = (vectors * lifted) @ vectors.T
    raised = (raised + raised.T) / 2 * unit[:, None] * unit[None, :]
    root = vectors / np.sqrt(lifted) / unit[:, None]
    log_det = float(np.log(lifted).sum() + 2 * np.log(unit).sum())
    return Raised(raised, count, float(max(values[0], 0.0)), root, log_det)


# --- Scales of columns ----------------------------------------------------------------------------


def known_means(statistics: GaussianStatistics) -> Floats:
    """Class means; where a class has no present cell of a column, the mean of all classes."""
    present = statistics.cell_weights > 0
    if present.all():
        return statistics.means
    return np.where(present, statistics.means, statistics.column_moments.mean)


def reference_variances(statistics: GaussianStatistics) -> Floats:
    """Variance of each column within the classes; over all rows where that is zero.

    A column that is constant over all rows says nothing about the class; its reference is the
    square of its value, or 1 if that is zero, so that some number stands there.
    """
    total = statistics.column_moments
    weight = np.where(total.weight > 0, total.weight, 1.0)
    within = statistics.column_scatters.sum(axis=0) / weight
    overall = total.scatter / weight
    square = np.where(total.mean**2 > 0, total.mean**2, 1.0)
    # Differences below the resolution of doubles are what removing rows can leave behind.
    constant = overall <= 1e-36 * square
    nothing = within <= _EPSILON**2 * overall
    return np.where(constant, square, np.where(nothing, overall, within))


# --- Certificates ---------------------------------------------------------------------------------


def certify(estimate: GaussianEstimate, statistics: GaussianStatistics) -> Certificate:
    """The largest likelihood above the floor, which the closed form reaches."""
    return Certificate(
        objective="log-likelihood of the rows given their classes",
        verdict=Verdict.PROVED,
        value=log_likelihood(estimate, statistics),
        iterations=0,
        details={"structure": estimate.structure, "raised_directions": int(estimate.raised.sum())},
    )


def log_likelihood(estimate: GaussianEstimate, statistics: GaussianStatistics) -> float:
    """Of all present cells given their classes, from the sums alone."""
    K, d = estimate.means.shape
    if estimate.roots is None:
        variances = np.broadcast_to(estimate.covariances.reshape(K, -1), (K, d))
        cells, scatters = statistics.cell_weights, statistics.column_scatters
        terms = cells * (np.log(variances) + _LOG_2PI) + scatters / variances
        return float(-0.5 * terms.sum())
    weight, scatters = statistics.weight, statistics.scatters
    if estimate.structure == "tied":
        scatters, weight = scatters.sum(axis=0)[None], np.array([weight.sum()])
    A, log_det = estimate.roots
    terms = weight * (d * _LOG_2PI + log_det) + np.einsum("kij,kij->k", A, scatters @ A)
    return -0.5 * float(terms.sum())


# --- Reporting ------------------------------------------------------------------------------------


def report_singular(
    estimate: GaussianEstimate, classes: Array, weight: Floats, floor: float, learner: str
) -> None:
    """Warns of classes that were raised to the floor, or refuses them if the floor is zero."""
    concerned = np.flatnonzero((estimate.raised > 0) & (weight > 0))
    if not concerned.size:
        return
    d = estimate.means.shape[1]
    what = "columns" if estimate.structure in BY_COLUMN else "directions"
    if estimate.structure == "tied":
        whom = (
            f"The covariance that all classes share is zero in {estimate.raised[0]} of {d} {what}"
        )
    else:
        shown = [
            f"{label_text(classes[k])} (weight {weight[k]:g}, {estimate.raised[k]} of {d} {what})"
            for k in concerned[:5]
        ]
        more = f" and {len(concerned) - 5} more" if len(concerned) > 5 else ""
        whom = f"Classes have no spread: {', '.join(shown)}{more}"
    advice = (
        "Use estimate='predictive', covariance='tied' or 'diagonal', drop constant columns, or "
        "give more rows."
    )
    if floor == 0:
        raise InputError(f"{learner}: {whom}. No likelihood is largest there. {advice}")
    warnings.warn(
        f"{learner}: {whom}. Their variance there was raised to floor={floor:g} times that of the "
        f"columns. {advice}",
        SingularCovarianceWarning,
        stacklevel=2,
    )


def report_absent(statistics: GaussianStatistics, learner: str) -> None:
    """Warns of columns without a present cell in some class that has rows."""
    absent = (statistics.cell_weights == 0) & (statistics.weight > 0)[:, None]
    if not absent.any():
        return
    names = statistics.schema.names
    whole = np.flatnonzero(absent.all(axis=0))
    if whole.size:
        listed = ", ".join(repr(names[j]) for j in whole[:5])
        what = f"{len(whole)} columns have no present cell ({listed}) and are without influence"
    else:
        k, j = np.argwhere(absent)[0]
        what = (
            f"column {names[j]!r} has no present cell in class {label_text(statistics.classes[k])} "
            f"({int(absent.sum())} such pairs); mean and variance of the other classes stand in"
        )
    warnings.warn(f"{learner}: {what}.", AbsentColumnWarning, stacklevel=2)


# --- Shrinkage ------------------------------------------------------------------------------------
#
# Shrinking a covariance towards a multiple of the identity.
#
#     C(s) = (1 - s) C + s (tr C / d) I,        0 <= s <= 1.
#
# Ledoit and Wolf choose s to minimize the expected squared distance of `C(s)` from the true
# covariance. With rows z in units of their deviations (so that units do not matter), and with
# `E = sum z z' / W`, `mu = tr E / d`,
#
#     s = min(b, a) / a,   a = |E - mu I|^2 / d,   b = (sum_i |z_i|^4 / W - |E|^2) / (d W).
#
# The sum of fourth powers is about means that are known only at the end, so this s is a function of
# the rows and not of their moments.
#
# # Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", 2004.


def shrunk(matrix: Floats, amount: float) -> Floats:
    """The matrix moved by `amount` towards its mean variance times the identity.

    >>> shrunk(np.array([[3.0, 1.0], [1.0, 1.0]]), 0.5).tolist()
    [[2.5, 0.5], [0.5, 1.5]]
    """
    d = len(matrix)
    result = (1 - amount) * matrix
    result[np.diag_indices(d)] += amount * np.trace(matrix) / d
    return result


def mixed_with_identity(matrix: Floats, amount: float) -> Floats:
    """`(1 - amount) C + amount I`, in the units that the columns have.

    >>> mixed_with_identity(np.array([[3.0]]), 0.5).tolist()
    [[2.0]]
    """
    result = (1 - amount) * matrix
    result[np.diag_indices(len(matrix))] += amount
    return result


def ledoit_wolf(X: Floats, weight: Floats | None = None) -> Floats:
    """Covariance of rows, shrunk by the amount of Ledoit and Wolf in units of the deviations.

    Parameters
    ----------
    X : array (n, d)
        Complete rows.
    weight : array (n,), optional
        Repetitions of each row.
    """
    w = np.ones(len(X)) if weight is None else weight
    total = float(w.sum())
    centered = X - X[0]
    centered -= w @ centered / total
    unit = np.sqrt(w @ centered**2 / total)
    unit = np.where(unit > 0, unit, 1.0)
    z = centered / unit
    E = (z * w[:, None]).T @ z / total
    amount = _best_amount(E, z, w, total)
    return shrunk(E, amount) * unit[:, None] * unit[None, :]


def _best_amount(E: Floats, z: Floats, w: Floats, total: float) -> float:
    d = len(E)
    mu = float(np.trace(E)) / d
    fourth = float(w @ np.einsum("ij,ij->i", z, z) ** 2) / total
    square = float((E**2).sum())
    a = (square - d * mu**2) / d
    b = (fourth - square) / (d * total)
    return float(min(b, a) / a) if a > 0 and b > 0 else 0.0
