"""Gaussian classes and the error of their Bayes rule.

    p(x, c) = prior_c N(x; mean_c, covariance_c)

On a line through the space, with all but one coordinate fixed, each `log p(x, c)` is a parabola.
The Bayes rule changes only where two parabolas cross, so the error on that line is a sum of normal
tail masses: exact. One dimension needs no more than that. Two classes of equal covariance depend on
x through one linear function and are that case, with the textbook value `Phi(-D/2)` for equal
priors and Mahalanobis distance D. In general, equal covariances leave at most (classes - 1)
dimensions. Two dimensions take one smooth outer integral (Gauss-Legendre panels, error by halving
them), more take quasi-random outer points with four standard errors of their replicates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, special

from novum.core.errors import InputError
from novum.data.synthetic.sample import (
    Seed,
    SyntheticSample,
    averaged,
    check_size,
    checked_priors,
    erased,
)
from novum.numerics import Array, Floats

_PANELS, _NODES, _REACH = 600, 8, 10.0
_REPLICATES, _POINTS = 16, 1024
_TURN = 0.7


@dataclass(frozen=True, eq=False)
class GaussianClasses:
    """Classes with normal laws.

    Parameters
    ----------
    means : array of shape (classes, d)
    covariances : array of shape (d, d) or (classes, d, d), default=None
        One for all classes, or one each; None is the identity.
    priors : array of shape (classes,), default=None
        None makes all classes equally likely.

    Examples
    --------
    >>> law = GaussianClasses([[0.0, 0.0], [2.0, 0.0]])
    >>> sample = law.sample(100, random_state=0)
    >>> sample.X.shape, round(sample.bayes_error, 4)
    ((100, 2), 0.1587)
    """

    means: Any
    covariances: Any = None
    priors: Any = None

    def __post_init__(self) -> None:
        means = np.asarray(self.means, float)
        if means.ndim != 2 or means.shape[0] < 2 or means.shape[1] < 1:
            raise InputError(
                f"`means` needs shape (classes, d) with at least two classes, got {means.shape}."
            )
        classes, d = means.shape
        given = np.eye(d) if self.covariances is None else np.asarray(self.covariances, float)
        if given.shape not in ((d, d), (classes, d, d)):
            raise InputError(
                f"`covariances` needs shape {(d, d)} or {(classes, d, d)}, got {given.shape}."
            )
        covariances = np.broadcast_to(given, (classes, d, d)).copy()
        for c, covariance in enumerate(covariances):
            _check_covariance(covariance, c)
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "covariances", covariances)
        object.__setattr__(self, "priors", checked_priors(self.priors, classes))

    def sample(self, n: int, random_state: Seed = None, missing: float = 0.0) -> SyntheticSample:
        """`n` rows; `missing` is the rate of cells that are erased."""
        check_size(n, missing)
        rng = np.random.default_rng(random_state)
        y = rng.choice(len(self.priors), n, p=self.priors)
        noise = rng.standard_normal((n, self.means.shape[1]))
        roots = np.linalg.cholesky(self.covariances)
        X = self.means[y] + np.einsum("nij,nj->ni", roots[y], noise)
        error, accuracy = self.error(missing)
        return SyntheticSample(erased(X, missing, rng), y, error, accuracy, self)

    def error(self, missing: float = 0.0) -> tuple[float, float]:
        """Bayes error and its accuracy, with cells missing at the given rate."""
        return averaged(self._pattern_error, self.means.shape[1], missing)

    def log_joint(self, X: ArrayLike) -> Floats:
        """`log p(observed cells of x, c)` of shape (n, classes)."""
        rows = np.asarray(X, float)
        seen = ~np.isnan(rows)
        result = np.empty((len(rows), len(self.priors)))
        for pattern in np.unique(seen, axis=0):
            chosen = (seen == pattern).all(axis=1)
            part = rows[np.ix_(chosen, pattern)]
            result[chosen] = _log_joint(part, *self._marginal(tuple(pattern)))
        return result

    def bayes_predict(self, X: ArrayLike) -> Array:
        return self.log_joint(X).argmax(axis=1)

    def _marginal(self, seen: tuple[bool, ...]) -> tuple[Floats, Floats, Floats]:
        index = np.flatnonzero(seen)
        return self.means[:, index], self.covariances[:, index[:, None], index], self.priors

    def _pattern_error(self, seen: tuple[bool, ...]) -> tuple[float, float]:
        if not any(seen):
            return 1 - float(self.priors.max()), 0.0
        return gaussian_error(*self._marginal(seen))


def gaussian_error(means: Floats, covariances: Floats, priors: Floats) -> tuple[float, float]:
    """Error of the Bayes rule and its accuracy (four standard errors from three dimensions on)."""
    if (covariances == covariances[0]).all():
        means, covariances = _sufficient(means, covariances[0])
    d = means.shape[1]
    if d == 0:
        return 1 - float(priors.max()), 0.0
    if d == 1:
        return float(_line_error(priors[None], means.T, covariances[None, :, 0, 0])[0]), 1e-14
    if d == 2:
        return _plane_error(means, covariances, priors)
    return _space_error(means, covariances, priors)


# --- Parts ----------------------------------------------------------------------------------------


def _check_covariance(covariance: Floats, c: int) -> None:
    symmetric = np.allclose(covariance, covariance.T, rtol=1e-12, atol=0)
    if not (np.isfinite(covariance).all() and symmetric):
        raise InputError(f"The covariance of class {c} is not symmetric and finite.")
    smallest = float(np.linalg.eigvalsh(covariance)[0])
    if smallest <= 0:
        raise InputError(
            f"The covariance of class {c} is not positive definite; its smallest eigenvalue is "
            f"{smallest:.3g}."
        )


def _log_joint(X: Floats, means: Floats, covariances: Floats, priors: Floats) -> Floats:
    columns = []
    for mean, covariance, prior in zip(means, covariances, priors, strict=True):
        root = np.linalg.cholesky(covariance)
        z = linalg.solve_triangular(root, (X - mean).T, lower=True)
        log_scale = np.log(np.diag(root)).sum() + 0.5 * len(root) * np.log(2 * np.pi)
        columns.append(np.log(prior) - 0.5 * (z * z).sum(axis=0) - log_scale)
    return np.column_stack(columns)


def _sufficient(means: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Equal covariances: the whitened means in the space that they span, one axis at least."""
    root = np.linalg.cholesky(covariance)
    white = linalg.solve_triangular(root, (means - means[0]).T, lower=True).T
    _, values, axes = np.linalg.svd(white, full_matrices=False)
    rank = int((values > 1e-12 * max(1.0, values[0])).sum())
    return white @ axes[:rank].T, np.broadcast_to(np.eye(rank), (len(means), rank, rank))


def _line_error(weights: Floats, means: Floats, variances: Floats) -> Floats:
    """Mass that the Bayes rule gets wrong on each of m lines.

    Class c has the density `weights[i, c] N(means[i, c], variances[i, c])` on line i; all three
    have shape (m, classes) or broadcast to it.
    """
    weights, means, variances = np.broadcast_arrays(weights, means, variances)
    m, classes = weights.shape
    with np.errstate(divide="ignore"):
        height = np.log(weights) - 0.5 * np.log(variances)
    crossings = [
        _crossings(height[:, a] - height[:, b], means[:, [a, b]], variances[:, [a, b]])
        for a in range(classes)
        for b in range(a)
    ]
    cuts = np.sort(np.concatenate(crossings, axis=1), axis=1)
    edges = np.concatenate([np.full((m, 1), -np.inf), cuts, np.full((m, 1), np.inf)], axis=1)
    spread = np.sqrt(variances.max(axis=1, keepdims=True))
    # A point inside each interval; empty ones between infinite edges have no mass anyway.
    low = np.where(np.isinf(edges[:, :-1]), edges[:, 1:] - spread, edges[:, :-1])
    high = np.where(np.isinf(edges[:, 1:]), edges[:, :-1] + spread, edges[:, 1:])
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isfinite(low) & np.isfinite(high), (low + high) / 2, means[:, :1])
    level = height[:, None] - 0.5 * (middle[..., None] - means[:, None]) ** 2 / variances[:, None]
    best = level.argmax(axis=2)
    z = (edges[:, :, None] - means[:, None]) / np.sqrt(variances)[:, None]
    masses = weights[:, None] * _interval_mass(z[:, :-1], z[:, 1:])
    wrong = np.arange(classes) != best[..., None]
    return np.where(wrong, masses, 0.0).sum(axis=(1, 2))


def _crossings(offset: Floats, means: Floats, variances: Floats) -> Floats:
    """Where `offset - (x-m0)^2/2v0 + (x-m1)^2/2v1` is zero; infinity for roots that are not."""
    (m0, m1), (v0, v1) = means.T, variances.T
    center = m0
    shift = m1 - m0
    a = 0.5 / v1 - 0.5 / v0
    b = -shift / v1
    c = offset + 0.5 * shift**2 / v1
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(b * b - 4 * a * c)
        # The form that does not cancel; with a = 0 it leaves the one root of the line.
        q = -0.5 * (b + np.where(b >= 0, 1.0, -1.0) * root)
        crossings = np.stack([q / a, c / q], axis=1) + center[:, None]
    return np.where(np.isfinite(crossings), crossings, np.inf)


def _interval_mass(low: Floats, high: Floats) -> Floats:
    """`Phi(high) - Phi(low)`, by the tail that is small."""
    return np.where(
        low > 0, special.ndtr(-low) - special.ndtr(-high), special.ndtr(high) - special.ndtr(low)
    )


def _lines(
    outer: Floats, means: Floats, covariances: Floats, priors: Floats
) -> tuple[Floats, Floats, Floats]:
    """Weights, means and variances of the first coordinate given the others, per class."""
    weights, centers, variances = [], [], []
    for mean, covariance, prior in zip(means, covariances, priors, strict=True):
        rest = covariance[1:, 1:]
        slope = np.linalg.solve(rest, covariance[1:, 0])
        weights.append(np.exp(_log_joint(outer, mean[None, 1:], rest[None], prior[None]))[:, 0])
        centers.append(mean[0] + (outer - mean[1:]) @ slope)
        variances.append(np.full(len(outer), covariance[0, 0] - covariance[0, 1:] @ slope))
    return np.stack(weights, 1), np.stack(centers, 1), np.stack(variances, 1)


def _plane_error(means: Floats, covariances: Floats, priors: Floats) -> tuple[float, float]:
    # A boundary along the inner line would make the outer integrand jump: turn the plane.
    turn = np.array([[np.cos(_TURN), np.sin(_TURN)], [-np.sin(_TURN), np.cos(_TURN)]])
    means, covariances = means @ turn.T, turn @ covariances @ turn.T
    spread = np.sqrt(covariances[:, 1, 1])
    low, high = (means[:, 1] - _REACH * spread).min(), (means[:, 1] + _REACH * spread).max()
    nodes, node_weights = np.polynomial.legendre.leggauss(_NODES)

    def integral(panels: int) -> float:
        edges = np.linspace(low, high, panels + 1)
        half = np.diff(edges)[:, None] / 2
        points = (edges[:-1, None] + half + half * nodes).ravel()
        values = _line_error(*_lines(points[:, None], means, covariances, priors))
        return float((values.reshape(panels, -1) * node_weights * half).sum())

    fine = integral(_PANELS)
    return fine, max(abs(fine - integral(_PANELS // 2)), 1e-13)


def _space_error(means: Floats, covariances: Floats, priors: Floats) -> tuple[float, float]:
    from scipy.stats import qmc  # costs half a second, and few laws need it

    d = means.shape[1] - 1
    estimates = []
    for replicate in range(_REPLICATES):
        uniform = qmc.Sobol(d, rng=np.random.default_rng(replicate)).random(_POINTS)
        normal = special.ndtri(np.clip(uniform, 1e-15, 1 - 1e-15))
        total = 0.0
        # Stratified by class: outer points of each class, weighted by the mixture's density there.
        for c, prior in enumerate(priors):
            root = np.linalg.cholesky(covariances[c][1:, 1:])
            outer = means[c, 1:] + normal @ root.T
            weights, centers, variances = _lines(outer, means, covariances, priors)
            density = weights.sum(axis=1)
            total += prior * float(
                np.mean(_line_error(weights / density[:, None], centers, variances))
            )
        estimates.append(total)
    standard_error = np.std(estimates, ddof=1) / np.sqrt(_REPLICATES)
    return float(np.mean(estimates)), float(4 * standard_error)
