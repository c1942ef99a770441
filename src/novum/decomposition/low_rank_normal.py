"""The normal law of probabilistic PCA: a signal of few dimensions in noise of equal variance.

    x = m + W z + e,    z ~ N(0, I_q),    e ~ N(0, s2 I_d),    so    x ~ N(m, W W' + s2 I)

With `M = W'W + s2 I`, which is q x q, the law of z given x is normal with mean `M^-1 W'(x - m)` and
covariance `s2 M^-1`. For z at that mean,

    (x - m)'C^-1 (x - m) = |x - m - W z|^2 / s2 + |z|^2,     log |C| = (d - q) log s2 + log |M|,

sums of squares that cannot cancel. Missing coordinates are integrated out by leaving their rows of
W away: the marginals of the law have the same form.

References
----------
Tipping and Bishop, "Probabilistic principal component analysis", 1999, eq. 4 to 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.decomposition.centered_rows import row_blocks
from novum.decomposition.spectrum import Spectrum, spectrum_of_moments
from novum.distributions import ArrayParameters, MultivariateNormal, checked_vector
from novum.numerics import Floats, Moments, cached_property, moments_of, one_blas_thread

LOG_TWO_PI = float(np.log(2 * np.pi))

# Numbers in the matrices M of a block of rows with missing cells: 4 MB.
_BLOCK = 2**19

# A noise below this share of the mean variance is raised to it: without noise there is no density.
NOISE_FLOOR = 1e-9


class LatentPosterior(NamedTuple):
    """The law of the latent coordinates of rows: means (n, q) and covariances.

    `covariance` is (q, q), the same for all rows, where no cell is missing, else (n, q, q).
    """

    mean: Floats
    covariance: Floats


class _Latent(NamedTuple):
    """Posterior of a block of rows with the log-density of their present cells."""

    mean: Floats
    inverse: Floats
    log_density: Floats


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LowRankNormal(ArrayParameters):
    """Normal law with covariance `W W' + s2 I`.

    Parameters
    ----------
    mean : array (d,)
    loadings : array (d, q)
    noise_variance : float above 0

    Notes
    -----
    Statistics are `Moments`; `from_statistics` takes weighted ones, so the law can be a component
    of a mixture. O(d q) operations for each complete row, O(d q^2) for one with missing cells.

    Examples
    --------
    >>> law = LowRankNormal([0.0, 0.0], [[2.0], [0.0]], 1.0)
    >>> law.covariance.tolist()
    [[5.0, 0.0], [0.0, 1.0]]
    >>> law.posterior([[5.0, 3.0]]).mean.round(12).tolist()
    [[2.0]]
    """

    mean: Floats
    loadings: Floats
    noise_variance: float

    def __post_init__(self) -> None:
        mean = checked_vector(self.mean, "The mean of a LowRankNormal")
        loadings = np.array(self.loadings, np.float64)
        if loadings.ndim != 2 or len(loadings) != mean.size or not np.isfinite(loadings).all():
            raise InputError(
                f"A mean of {mean.size} coordinates needs finite loadings of shape ({mean.size}, "
                f"q), got shape {loadings.shape}."
            )
        noise = float(self.noise_variance)
        if not (np.isfinite(noise) and noise > 0):
            raise InputError(f"The noise variance is a finite number above 0, got {noise!r}.")
        loadings.setflags(write=False)
        self._store(mean=mean, loadings=loadings, noise_variance=noise)

    @property
    def n_coordinates(self) -> int:
        return self.mean.size

    @property
    def n_latent(self) -> int:
        return self.loadings.shape[1]

    @property
    def n_free(self) -> int:
        """Free parameters: loadings are known up to a rotation."""
        d, q = self.loadings.shape
        return d + 1 + d * q - q * (q - 1) // 2

    @cached_property
    def _inverse(self) -> Floats:
        """`M^-1`, of shape (q, q)."""
        W = self.loadings
        return np.asarray(
            np.linalg.inv(W.T @ W + self.noise_variance * np.eye(self.n_latent)), np.float64
        )

    @cached_property
    def log_determinant(self) -> float:
        """`log |C|`."""
        W, s2, q = self.loadings, self.noise_variance, self.n_latent
        inner = np.linalg.slogdet(W.T @ W / s2 + np.eye(q))[1]
        return self.n_coordinates * float(np.log(s2)) + float(inner)

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """Log-density of points `(..., d)`; NaN where a coordinate is missing."""
        points = self._points(x)
        rows = points.reshape(-1, self.n_coordinates)
        squares, toward = np.empty(len(rows)), self.loadings @ self._inverse
        with one_blas_thread():
            for start, stop in row_blocks(*rows.shape):
                about = rows[start:stop] - self.mean
                Z = about @ toward
                about -= Z @ self.loadings.T
                squares[start:stop] = np.einsum("ij,ij->i", about, about) / self.noise_variance
                squares[start:stop] += np.einsum("ij,ij->i", Z, Z)
        constant = self.n_coordinates * LOG_TWO_PI + self.log_determinant
        return np.asarray(-0.5 * (squares + constant)).reshape(points.shape[:-1])

    def density(self, x: ArrayLike) -> Floats:
        return np.exp(self.log_density(x))

    def log_density_observed(self, x: ArrayLike) -> Floats:
        """Log-density of the coordinates that are present; NaN is missing and integrated out."""
        points = self._points(x)
        rows = points.reshape(-1, self.n_coordinates)
        densities = np.empty(len(rows))
        for start, stop, part in self._latent_blocks(rows):
            densities[start:stop] = part.log_density
        return densities.reshape(points.shape[:-1])

    # The latent coordinates

    def posterior(self, x: ArrayLike) -> LatentPosterior:
        """Law of the latent coordinates of rows (n, d), from what is present of them."""
        rows = self._points(x).reshape(-1, self.n_coordinates)
        q, s2 = self.n_latent, self.noise_variance
        if not np.isnan(rows).any():
            with one_blas_thread():
                means = (rows - self.mean) @ self.loadings @ self._inverse
            return LatentPosterior(means, s2 * self._inverse)
        means, covariances = np.empty((len(rows), q)), np.empty((len(rows), q, q))
        for start, stop, part in self._latent_blocks(rows):
            means[start:stop], covariances[start:stop] = part.mean, s2 * part.inverse
        return LatentPosterior(means, covariances)

    def _latent_blocks(self, rows: Floats) -> Iterator[tuple[int, int, _Latent]]:
        height = max(64, _BLOCK // max(1, max(self.n_latent**2, self.n_coordinates)))
        for start in range(0, len(rows), height):
            block = rows[start : start + height]
            with one_blas_thread():
                part = self._latent(block)
            yield start, start + len(block), part

    def _latent(self, rows: Floats) -> _Latent:
        W, s2, q = self.loadings, self.noise_variance, self.n_latent
        present = ~np.isnan(rows)
        about = np.where(present, rows - self.mean, 0.0)
        seen = present.astype(float)
        # Only the coordinates that are present enter M, which therefore differs by row.
        products = (W[:, :, None] * W[:, None, :]).reshape(len(W), q * q)
        M = (seen @ products).reshape(len(rows), q, q) + s2 * np.eye(q)
        inverse = np.asarray(np.linalg.inv(M), np.float64)
        Z = np.einsum("nij,nj->ni", inverse, about @ W)
        rest = about - seen * (Z @ W.T)
        squares = np.einsum("ij,ij->i", rest, rest) / s2 + np.einsum("ij,ij->i", Z, Z)
        counts = seen.sum(axis=1)
        constant = counts * (LOG_TWO_PI + np.log(s2)) + np.linalg.slogdet(M / s2)[1]
        return _Latent(Z, inverse, -0.5 * (squares + constant))

    # Moments

    @property
    def covariance(self) -> Floats:
        """`W W' + s2 I`, of shape (d, d)."""
        return self.loadings @ self.loadings.T + self.noise_variance * np.eye(self.n_coordinates)

    @property
    def precision(self) -> Floats:
        """The inverse of the covariance, `(I - W M^-1 W') / s2`."""
        W = self.loadings
        return (np.eye(self.n_coordinates) - W @ self._inverse @ W.T) / self.noise_variance

    @property
    def variance(self) -> Floats:
        """Variance of each coordinate."""
        return np.sum(self.loadings**2, axis=1) + self.noise_variance

    @property
    def mode(self) -> Floats:
        return self.mean

    @property
    def entropy(self) -> float:
        """`(d log(2 pi e) + log |C|) / 2` nats."""
        return 0.5 * (self.n_coordinates * (LOG_TWO_PI + 1) + self.log_determinant)

    # Sampling

    def sample(self, size: int | tuple[int, ...], random_state: RandomSource = None) -> Floats:
        """Points of shape `(*size, d)`."""
        shape = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        rng = stream(random_state)
        signal = rng.standard_normal((*shape, self.n_latent))
        noise = rng.standard_normal((*shape, self.n_coordinates))
        with one_blas_thread():
            return np.asarray(
                self.mean + signal @ self.loadings.T + np.sqrt(self.noise_variance) * noise
            )

    # Estimation

    @staticmethod
    def statistics(x: ArrayLike, weight: ArrayLike | None = None) -> Moments:
        """Weight, mean and scatter of the rows of `x`, of shape (n, d)."""
        try:
            return moments_of(x, weight)
        except ValueError as error:
            raise InputError(str(error)) from None

    @staticmethod
    def completed_statistics(
        x: ArrayLike, weight: ArrayLike | None = None, *, law: LowRankNormal | None = None
    ) -> Moments:
        """Expected moments of rows with missing cells, under the law or independent columns."""
        own = None if law is None else MultivariateNormal(law.mean, law.covariance)
        return MultivariateNormal.completed_statistics(x, weight, law=own)

    @classmethod
    def from_statistics(cls, statistics: Moments, n_components: int) -> LowRankNormal:
        """The law of largest likelihood: leading axes of the covariance, noise from the others.

        Where these leave no noise, it is raised to 1e-9 of the mean variance.
        """
        if not statistics.weight > 0:
            raise InputError("LowRankNormal cannot be estimated from no data: the weight is 0.")
        d = statistics.n_columns
        if not 0 <= n_components < d:
            raise InputError(
                f"n_components={n_components} must be at least 0 and below the number of columns, "
                f"{d}: in one direction at least there is noise only."
            )
        return law_of_spectrum(
            spectrum_of_moments(statistics, float(d), n_components), n_components
        )

    @classmethod
    def fit(cls, x: ArrayLike, n_components: int, weight: ArrayLike | None = None) -> LowRankNormal:
        return cls.from_statistics(cls.statistics(x, weight), n_components)

    # Relations

    def marginal(self, indices: ArrayLike) -> LowRankNormal:
        """The law of some of the coordinates, in the order given."""
        chosen = np.atleast_1d(np.asarray(indices, np.intp))
        return LowRankNormal(self.mean[chosen], self.loadings[chosen], self.noise_variance)

    def _points(self, x: ArrayLike) -> Floats:
        points = np.asarray(x, np.float64)
        if points.ndim < 1 or points.shape[-1] != self.n_coordinates:
            raise InputError(
                f"Points of a LowRankNormal have {self.n_coordinates} coordinates, got shape "
                f"{points.shape}."
            )
        return points


def law_of_spectrum(spectrum: Spectrum, n_components: int) -> LowRankNormal:
    """The law of largest likelihood of a table whose spectrum is known.

    Where the components leave no noise, it is raised to 1e-9 of the mean variance.
    """
    d, weight = spectrum.n_columns, spectrum.weight
    total = spectrum.total / weight
    if not total > 0:
        raise InputError("LowRankNormal needs rows that differ; all of these are the same.")
    values = spectrum.squares[:n_components] / weight
    outside = spectrum.outside(n_components) / weight / (d - n_components)
    noise = max(outside, NOISE_FLOOR * total / d)
    loadings = spectrum.axes[:n_components].T * np.sqrt(np.maximum(values - noise, 0.0))
    return LowRankNormal(spectrum.mean, loadings, noise)
