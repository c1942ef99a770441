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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.bayes.gaussian_densities import Roots, whitener
from novum.bayes.gaussian_statistics import GaussianStatistics
from novum.core.certificate import Certificate, Verdict
from novum.core.errors import InputError
from novum.core.text import label_text

Floats = NDArray[np.float64]
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
    raised: NDArray[np.int64]
    smallest: Floats
    roots: Roots | None = None

    @classmethod
    def of_matrices(cls, structure: str, means: Floats, found: list[Raised]) -> GaussianEstimate:
        """The estimate with these covariances: one for each class, or a single one for all."""
        matrices = np.array([one.matrix for one in found])
        counts = np.array([one.count for one in found])
        smallest = np.array([one.smallest for one in found])
        return cls(
            structure,
            means,
            matrices[0] if structure == "tied" else matrices,
            np.broadcast_to(counts, len(means)),
            np.broadcast_to(smallest, len(means)),
            (np.array([one.root for one in found]), np.array([one.log_det for one in found])),
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
    """
    means = known_means(statistics)
    reference = reference_variances(statistics)
    if structure in BY_COLUMN:
        return _by_column(statistics, structure, means, reference, floor)
    change = adjustment or (lambda matrix: matrix)
    scatters, weight = statistics.scatters, statistics.weight
    if structure == "tied":
        pooled = change(scatters.sum(axis=0) / weight.sum())
        return GaussianEstimate.of_matrices(
            structure, means, [raised_to_floor(pooled, reference, floor)]
        )
    # A class without rows has no covariance; that of the columns stands in and is never used.
    matrices = [
        change(scatter / amount) if amount > 0 else np.diag(reference)
        for scatter, amount in zip(scatters, weight, strict=True)
    ]
    found = [raised_to_floor(matrix, reference, floor) for matrix in matrices]
    return GaussianEstimate.of_matrices(structure, means, found)


def _by_column(
    statistics: GaussianStatistics,
    structure: str,
    means: Floats,
    reference: Floats,
    floor: float,
) -> GaussianEstimate:
    weights = statistics.cell_weights
    scatters = statistics.columns_only().scatters
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
        shifted[np.diag_indices_from(shifted)] -= bound
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
    overall = statistics.column_moments.mean
    return np.where(statistics.cell_weights > 0, statistics.means, overall)


def reference_variances(statistics: GaussianStatistics) -> Floats:
    """Variance of each column within the classes; over all rows where that is zero.

    A column that is constant over all rows says nothing about the class; its reference is the
    square of its value, or 1 if that is zero, so that some number stands there.
    """
    total = statistics.column_moments
    weight = np.where(total.weight > 0, total.weight, 1.0)
    within = statistics.columns_only().scatters.sum(axis=0) / weight
    overall = total.scatter / weight
    square = np.where(total.mean**2 > 0, total.mean**2, 1.0)
    # Differences below the resolution of doubles are what removing rows can leave behind.
    constant = overall <= 1e-36 * square
    nothing = within <= _EPSILON**2 * overall
    return np.where(constant, square, np.where(nothing, overall, within))


# --- Certificates ---------------------------------------------------------------------------------


def certify(found: GaussianEstimate, statistics: GaussianStatistics) -> Certificate:
    """The largest likelihood above the floor, which the closed form reaches."""
    return Certificate(
        objective="log-likelihood of the rows given their classes",
        verdict=Verdict.PROVED,
        value=log_likelihood(found, statistics),
        iterations=0,
        details={"structure": found.structure, "raised_directions": int(found.raised.sum())},
    )


def log_likelihood(found: GaussianEstimate, statistics: GaussianStatistics) -> float:
    """Of all present cells given their classes, from the sums alone."""
    K, d = found.means.shape
    if found.roots is None:
        variances = np.broadcast_to(found.covariances.reshape(K, -1), (K, d))
        cells, scatters = statistics.cell_weights, statistics.columns_only().scatters
        terms = cells * (np.log(variances) + _LOG_2PI) + scatters / variances
        return float(-0.5 * terms.sum())
    weight, scatters = statistics.weight, statistics.scatters
    if found.structure == "tied":
        scatters, weight = scatters.sum(axis=0)[None], np.array([weight.sum()])
    total = 0.0
    for A, log_det, S, W in zip(*found.roots, scatters, weight, strict=True):
        total += W * (d * _LOG_2PI + log_det) + float(np.einsum("ij,ij->", A, S @ A))
    return -0.5 * float(total)


# --- Reporting ------------------------------------------------------------------------------------


def report_singular(
    found: GaussianEstimate, classes: NDArray[Any], weight: Floats, floor: float, learner: str
) -> None:
    """Warns of classes that were raised to the floor, or refuses them if the floor is zero."""
    concerned = np.flatnonzero((found.raised > 0) & (weight > 0))
    if not concerned.size:
        return
    d = found.means.shape[1]
    what = "columns" if found.structure in BY_COLUMN else "directions"
    if found.structure == "tied":
        whom = f"The covariance that all classes share is zero in {found.raised[0]} of {d} {what}"
    else:
        shown = [
            f"{label_text(classes[k])} (weight {weight[k]:g}, {found.raised[k]} of {d} {what})"
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
