"""Most likely means and covariances when cells are missing: the EM algorithm.

A row of class k with present columns o and missing columns u has, under the present parameters,

    E[x_u | x_o] = m_u + C_uo C_oo^-1 (x_o - m_o),      Cov[x_u | x_o] = C_uu - C_uo C_oo^-1 C_ou.

The E-step completes every row by these means and sums the covariances; the M-step takes mean and
covariance of the completed rows plus that sum, raised to the floor (`gaussian_covariance`), which
is the most likely choice among all that the floor allows. The likelihood of the present cells,

    sum_i w_i log p(x_i,o | class of i),

therefore never falls, and the driver in `core.sums.expectation` checks that it does not. Labels are
known, so there is no other hidden quantity; the likelihood can still have several local maxima when
few cells are left, which is what the certificate says.

References
----------
Little and Rubin, "Statistical Analysis with Missing Data", 3rd ed., 2019, section 11.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.bayes.gaussian_covariance import known_means, raised_to_floor
from novum.bayes.gaussian_covariance import reference_variances as reference_of
from novum.bayes.gaussian_statistics import (
    GaussianStatistics,
    check_same_kind,
    class_rows,
)
from novum.core.errors import InputError
from novum.core.sums import Additive, SumProblem
from novum.core.tables import Sample
from novum.core.text import label_text
from novum.distributions import MatrixDensities, missing_patterns
from novum.numerics import EPSILON, Array, Floats, Moments, moments_of


@dataclass(frozen=True, eq=False)
class MomentParameters:
    """Means (K, d) and covariance matrices, (K, d, d) or one shared (1, d, d)."""

    means: Floats
    matrices: Floats


@dataclass(frozen=True, eq=False)
class ExpectedSums(Additive):
    """Expected statistics of rows with missing cells.

    Attributes
    ----------
    moments : tuple of K Moments
        Of the completed rows.
    rest : array (K, d, d)
        Sum of the covariances of the missing cells.
    log_likelihood : float
        Of the present cells.
    """

    moments: tuple[Moments, ...]
    rest: Floats
    log_likelihood: float


class MissingMoments(SumProblem[MomentParameters, ExpectedSums]):
    """Moments of classes from rows with missing cells.

    Parameters
    ----------
    columns : GaussianStatistics
        Of the same rows, by column: gives classes, starting values and the scale of the floor.
    structure : {"full", "tied"}
    floor : float
    """

    objective_name = "log-likelihood of the present cells"
    direction = "maximize"

    def __init__(self, columns: GaussianStatistics, structure: str, floor: float) -> None:
        self.columns, self.structure, self.floor = columns, structure, floor
        self.classes = columns.classes
        self.reference = reference_of(columns)

    def start(self, rng: np.random.Generator, /) -> MomentParameters:  # noqa: ARG002
        """Column means and variances of each class, uncorrelated."""
        weights = self.columns.cell_weights
        scatters = self.columns.scatters
        if self.structure == "tied":
            weights, scatters = weights.sum(axis=0)[None], scatters.sum(axis=0)[None]
        known = weights > 0
        variances = np.where(known, scatters / np.where(known, weights, 1.0), self.reference)
        variances = np.maximum(variances, self.floor * self.reference)
        matrices = variances[:, :, None] * np.eye(variances.shape[1])
        return MomentParameters(known_means(self.columns), matrices)

    def step(self, params: MomentParameters, chunk: Sample, /) -> ExpectedSums:
        K, d = params.means.shape
        moments, rest = [Moments.zero(d)] * K, np.zeros((K, d, d))
        places = self._places(chunk)
        total = 0.0
        for code, rows, weight in class_rows(chunk):
            k = places[code]
            matrix = params.matrices[0 if len(params.matrices) == 1 else k]
            done = _completed(chunk.numeric[rows], weight, params.means[k], matrix)
            moments[k], rest[k] = done.moments[0], done.rest[0]
            total += done.log_likelihood
        return ExpectedSums(tuple(moments), rest, total)

    def objective(self, params: MomentParameters, statistics: ExpectedSums, /) -> float:  # noqa: ARG002
        return statistics.log_likelihood

    def scale(self, params: MomentParameters, statistics: ExpectedSums, /) -> float:  # noqa: ARG002
        return float(sum(part.weight for part in statistics.moments))

    def update(self, params: MomentParameters, statistics: ExpectedSums, /) -> MomentParameters:
        weight = np.array([part.weight for part in statistics.moments])
        scatter = np.array([part.scatter for part in statistics.moments]) + statistics.rest
        known = (weight > 0)[:, None]
        means = np.where(known, np.array([part.mean for part in statistics.moments]), params.means)
        if self.structure == "tied":
            scatter, weight = scatter.sum(axis=0)[None], weight.sum()[None]
        # Without a present cell nothing is learned.
        matrices = [
            scatter[k] / weight[k] if weight[k] > 0 else params.matrices[k]
            for k in range(len(weight))
        ]
        raised = [raised_to_floor(matrix, self.reference, self.floor).matrix for matrix in matrices]
        return MomentParameters(means, np.array(raised))

    def rounding(self, params: MomentParameters, /) -> float:
        return rounding_of(params.matrices)

    def expected(self, statistics: ExpectedSums) -> GaussianStatistics:
        """The expected moments of the classes, as if every cell had been seen."""
        moments = tuple(
            Moments(part.weight, part.mean, part.scatter + rest, part.weight_low, part.mean_low)
            for part, rest in zip(statistics.moments, statistics.rest, strict=True)
        )
        weight = np.array([part.weight for part in moments])
        return GaussianStatistics(
            self.columns.schema, self.classes, weight, moments, self.columns.rows
        )

    def residual(self, params: MomentParameters, statistics: ExpectedSums, /) -> float:
        """Largest change of a mean or deviation by a further step, in units of the columns."""
        after = self.update(params, statistics)
        unit = np.sqrt(self.reference)
        moved = np.abs(after.means - params.means) / unit
        spread = np.abs(after.matrices - params.matrices) / unit[:, None] / unit[None, :]
        return float(max(moved.max(), spread.max()))

    def _places(self, chunk: Sample) -> Array:
        """Position of each of the chunk's classes among those of the fit."""
        assert chunk.classes is not None
        check_same_kind(self.classes, chunk.classes)
        places = np.minimum(np.searchsorted(self.classes, chunk.classes), len(self.classes) - 1)
        strange = np.flatnonzero(self.classes[places] != chunk.classes)
        if strange.size:
            raise InputError(
                f"Label {label_text(chunk.classes[strange[0]])} did not occur in the first pass "
                "over the chunks. A callable must return the same chunks every time."
            )
        return places


def rounding_of(matrices: Floats) -> float:
    """Share of squared distances that is noise: the rounding times the worst condition."""
    unit = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
    values = np.linalg.eigvalsh(matrices / unit[:, :, None] / unit[:, None, :])
    least = np.maximum(values[:, 0], EPSILON)
    return float(4 * EPSILON * values.shape[1] * (values[:, -1] / least).max())


def _completed(X: Floats, weight: Floats | None, mean: Floats, matrix: Floats) -> ExpectedSums:
    """Expected statistics of the rows of one class."""
    filled, rest = X.copy(), np.zeros_like(matrix)
    weights = np.ones(len(X)) if weight is None else weight
    law = MatrixDensities.normal(mean[None], matrix, np.ones(1, bool))
    total = 0.0
    used = np.ones(len(X), bool)
    for rows, present in missing_patterns(X):
        if present is None:
            total += float(weights[rows] @ law.log_density(X[rows])[:, 0])
            continue
        if not present.size:
            used[rows] = False
            continue
        missing = np.setdiff1d(np.arange(X.shape[1]), present)
        part, away = law.marginal(present), X[rows][:, present] - mean[present]
        total += float(weights[rows] @ part.log_density(X[rows][:, present])[:, 0])
        A = part.roots[0][0]
        # C_uo A holds the regression in whitened units: C_oo^-1 = A A'.
        cross = matrix[np.ix_(missing, present)] @ A
        filled[np.ix_(rows, missing)] = mean[missing] + (away @ A) @ cross.T
        inner = matrix[np.ix_(missing, missing)] - cross @ cross.T
        rest[np.ix_(missing, missing)] += weights[rows].sum() * inner
    kept = None if weight is None else weight[used]
    moments = moments_of(filled[used], kept)
    return ExpectedSums((moments,), rest[None], total)
