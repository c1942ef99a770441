"""Expectation-maximization of probabilistic PCA, from sums of complete rows or with missing cells.

The latent coordinates z of a row are hidden. Given the parameters and the present cells o of a row,
z is normal with mean `z_i = M_o^-1 W_o'(x_o - m_o)` and covariance `s2 M_o^-1`, `M_o = W_o'W_o +
s2 I`. Maximizing the expected log-likelihood is then a regression of every column j on z and 1,

    (W_j, m_j) = A_j^-1 b_j,     A_j = sum_i w_i E[(z, 1)(z, 1)'],   b_j = sum_i w_i x_ij E[(z, 1)]

over the rows that have a cell in column j, and `s2` is the mean of the squares left. Missing cells
take no part, so nothing is imputed and the likelihood that rises is that of the present cells. On
complete rows all sums are functions of the scatter S, and one step is

    W <- C W (s2 I + M^-1 W'C W)^-1,      s2 <- trace(C - C W_old M^-1 W') / d,      C = S / weight

References
----------
Tipping and Bishop, "Probabilistic principal component analysis", 1999, appendix B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.core.errors import InputError
from novum.core.sums import Additive, SumProblem
from novum.core.tables import Sample, Schema
from novum.decomposition.low_rank_normal import LOG_TWO_PI, NOISE_FLOOR, LowRankNormal
from novum.decomposition.spectrum import spectrum_of_moments
from novum.numerics import ColumnMoments, Floats, Moments, column_moments_of


@dataclass(frozen=True, eq=False)
class ColumnSums(Additive):
    """First pass over rows with missing cells: moments of every column, and the schema."""

    schema: Schema
    columns: ColumnMoments
    weight: float
    rows: float

    @classmethod
    def of(cls, sample: Sample) -> ColumnSums:
        try:
            columns = column_moments_of(sample.numeric, sample.weight)
        except ValueError as error:
            raise InputError(str(error)) from None
        weight = float(sample.weights.sum())
        return cls(sample.schema, columns, weight, float(sample.n_rows))


@dataclass(frozen=True, eq=False)
class LatentSums(Additive):
    """Expected sums of one pass.

    Attributes
    ----------
    design : array (d, q + 1, q + 1)
        `A_j` of every column.
    targets : array (d, q + 1)
        `b_j` of every column.
    squares : array (d,)
        Sums of squares of the cells about the center of the fit.
    log_likelihood : float
        Of the present cells.
    """

    design: Floats
    targets: Floats
    squares: Floats
    log_likelihood: float


class _LatentProblem:
    """What both problems share: a random start, and parameters as one vector."""

    center: Floats
    variance: float
    q: int

    def start(self, rng: np.random.Generator, /) -> LowRankNormal:
        """Random loadings that explain about half of the variance."""
        d = len(self.center)
        size = np.sqrt(self.variance / 2 / max(1, self.q))
        loadings = size * rng.standard_normal((d, self.q))
        return LowRankNormal(self.center, loadings, self.variance / 2)

    def to_vector(self, params: LowRankNormal, /) -> Floats:
        """Mean and loadings in units of the mean deviation, and the logarithm of the noise."""
        unit = np.sqrt(self.variance)
        moved = (params.mean - self.center) / unit
        noise = np.log(params.noise_variance / self.variance)
        return np.concatenate([moved, params.loadings.ravel() / unit, [noise]])

    def from_vector(self, vector: Floats, /) -> LowRankNormal | None:
        d, unit = len(self.center), np.sqrt(self.variance)
        noise = float(np.exp(min(vector[-1], 700.0))) * self.variance
        if not (np.isfinite(vector).all() and np.isfinite(noise)):
            return None
        loadings = vector[d:-1].reshape(d, self.q) * unit
        return LowRankNormal(self.center + vector[:d] * unit, loadings, self._floored(noise))

    def _floored(self, noise: float) -> float:
        return max(noise, NOISE_FLOOR * self.variance)


# --- Missing cells --------------------------------------------------------------------------------


class MissingCells(_LatentProblem, SumProblem[LowRankNormal, LatentSums]):
    """Probabilistic PCA of rows with missing cells.

    Parameters
    ----------
    sums : ColumnSums
        Of the same rows: give the center, the scale of the noise and the counts.
    n_components : int
    """

    objective_name = "log-likelihood of the present cells"
    direction = "maximize"

    def __init__(self, sums: ColumnSums, n_components: int) -> None:
        columns = sums.columns
        empty = np.flatnonzero(columns.weight == 0)
        if empty.size:
            raise InputError(
                f"Column {sums.schema.names[empty[0]]!r} has no present cell, so nothing can be "
                "learned of it. Leave it out."
            )
        self.center, self.q = columns.mean, n_components
        self.cells, self.weight = float(columns.weight.sum()), sums.weight
        self.variance = float(columns.scatter.sum()) / self.cells
        if not self.variance > 0:
            raise InputError(
                "All present cells of every column are the same: there is no variance."
            )

    def step(self, params: LowRankNormal, chunk: Sample, /) -> LatentSums:
        d, width = len(self.center), self.q + 1
        design, targets, squares = np.zeros((d, width * width)), np.zeros((d, width)), np.zeros(d)
        total, rows, weights = 0.0, chunk.numeric, chunk.weights
        for start, stop, part in params._latent_blocks(rows):
            w, n = weights[start:stop], stop - start
            block = rows[start:stop]
            seen = ~np.isnan(block)
            cells = np.where(seen, block - self.center, 0.0)
            Z = np.column_stack([part.mean, np.ones(n)])
            second = Z[:, :, None] * Z[:, None, :]
            second[:, : self.q, : self.q] += params.noise_variance * part.inverse
            weighted = w[:, None] * seen
            design += weighted.T @ second.reshape(n, width * width)
            targets += (w[:, None] * cells).T @ Z
            squares += w @ (cells * cells)
            total += float(w @ part.log_density)
        return LatentSums(design.reshape(d, width, width), targets, squares, total)

    def objective(self, params: LowRankNormal, statistics: LatentSums, /) -> float:  # noqa: ARG002
        return statistics.log_likelihood

    def scale(self, params: LowRankNormal, statistics: LatentSums, /) -> float:  # noqa: ARG002
        return self.weight

    def update(self, params: LowRankNormal, statistics: LatentSums, /) -> LowRankNormal:  # noqa: ARG002
        theta = np.linalg.solve(statistics.design, statistics.targets[:, :, None])[:, :, 0]
        left = statistics.squares - np.einsum("ij,ij->i", theta, statistics.targets)
        noise = float(np.maximum(left, 0.0).sum()) / self.cells
        mean, loadings = self.center + theta[:, -1], np.asarray(theta[:, :-1], np.float64)
        return LowRankNormal(mean, loadings, self._floored(noise))

    def residual(self, params: LowRankNormal, statistics: LatentSums, /) -> float:
        """Largest change of a covariance by a further step, in units of the mean variance."""
        after = self.update(params, statistics)
        change = np.abs(after.covariance - params.covariance).max() / self.variance
        return float(max(change, np.abs(after.mean - params.mean).max() / np.sqrt(self.variance)))


# --- Complete rows --------------------------------------------------------------------------------


class CompleteRows(_LatentProblem, SumProblem[LowRankNormal, Moments]):
    """Probabilistic PCA of complete rows, known by their moments.

    The maximum is known in closed form, so every point comes with its distance from the best.
    """

    objective_name = "log-likelihood"
    direction = "maximize"

    def __init__(self, moments: Moments, n_components: int) -> None:
        self.center, self.q, d = moments.mean, n_components, moments.n_columns
        self.variance = float(np.trace(moments.scatter)) / moments.weight / d
        self.best = log_likelihood(LowRankNormal.from_statistics(moments, n_components), moments)

    def step(self, params: LowRankNormal, chunk: Moments, /) -> Moments:  # noqa: ARG002
        return chunk

    def objective(self, params: LowRankNormal, statistics: Moments, /) -> float:
        return log_likelihood(params, statistics)

    def scale(self, params: LowRankNormal, statistics: Moments, /) -> float:  # noqa: ARG002
        return statistics.weight

    def bound(self, params: LowRankNormal, statistics: Moments, /) -> float:
        # Rounding may lift a point above the best one by its last digits.
        return max(self.best, self.objective(params, statistics))

    def update(self, params: LowRankNormal, statistics: Moments, /) -> LowRankNormal:
        W, s2 = params.loadings, params.noise_variance
        C = statistics.covariance()
        image = C @ W
        inner = params._inverse @ (W.T @ image) + s2 * np.eye(self.q)
        loadings = np.asarray(np.linalg.solve(inner.T, image.T).T, np.float64)
        left = float(np.trace(C)) - float(np.sum((image @ params._inverse) * loadings))
        return LowRankNormal(self.center, loadings, self._floored(max(left, 0.0) / len(C)))

    def residual(self, params: LowRankNormal, statistics: Moments, /) -> float:
        """Largest change of a covariance by a further step, in units of the mean variance."""
        after = self.update(params, statistics)
        return float(np.abs(after.covariance - params.covariance).max() / self.variance)


def log_likelihood(law: LowRankNormal, moments: Moments) -> float:
    """Log-likelihood of rows that are known by their moments, at the mean of the law.

    `-W/2 (d log(2 pi) + log|C| + trace(C^-1 S)/W + (m - mean)'C^-1 (m - mean))`.

    Examples
    --------
    >>> from novum.numerics import moments_of
    >>> X = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 5.0]])
    >>> law = LowRankNormal([1.0, 2.0], [[1.0], [0.5]], 2.0)
    >>> bool(np.isclose(log_likelihood(law, moments_of(X)), law.log_density(X).sum()))
    True
    """
    precision = law.precision
    away = moments.mean - law.mean
    squares = float(np.sum(precision * moments.scatter)) / moments.weight
    squares += float(away @ precision @ away)
    constant = law.n_coordinates * LOG_TWO_PI + law.log_determinant
    return -0.5 * moments.weight * (constant + squares)


def principal(law: LowRankNormal) -> LowRankNormal:
    """The same law with its loadings turned to the principal axes, largest first.

    Loadings are known up to a rotation of z; this one makes its coordinates uncorrelated given a
    row, with the sign rule of `spectrum`.
    """
    W = law.loadings
    q, d = law.n_latent, law.n_coordinates
    turned = spectrum_of_moments(Moments(1.0, law.mean, W @ W.T), float(d))
    loadings = turned.axes[:q].T * np.sqrt(turned.squares[:q])
    return LowRankNormal(law.mean, loadings, law.noise_variance)
