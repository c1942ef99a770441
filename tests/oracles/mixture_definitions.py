"""Mixtures by definition: densities, responsibilities, one EM step, also with missing cells."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats


def normal_log_density(x: Any, mean: Any, covariance: Any) -> float:
    """Of the present cells of one row; 0 where there are none."""
    o = np.flatnonzero(~np.isnan(x))
    if not o.size:
        return 0.0
    C = covariance[np.ix_(o, o)]
    away = x[o] - mean[o]
    log_det = np.linalg.slogdet(C)[1]
    square = away @ np.linalg.solve(C, away)
    return float(-0.5 * (square + log_det + o.size * np.log(2 * np.pi)))


def responsibilities(X: Any, weights: Any, means: Any, covariances: Any) -> tuple[Any, Any]:
    """(n, K), and the log-densities of rows (n,)."""
    joint = np.array(
        [
            [
                np.log(w) + normal_log_density(x, m, C)
                for w, m, C in zip(weights, means, covariances, strict=True)
            ]
            for x in X
        ]
    )
    logs = np.logaddexp.reduce(joint, axis=1)
    return np.exp(joint - logs[:, None]), logs


def em_step(X: Any, weight: Any, weights: Any, means: Any, covariances: Any) -> tuple[Any, ...]:
    """New weights, means and full covariances, by conditional moments of missing cells."""
    R, logs = responsibilities(X, weights, means, covariances)
    R = R * np.asarray(weight)[:, None]
    K, d = np.shape(means)
    new_means, new_covariances = np.empty((K, d)), np.empty((K, d, d))
    for k in range(K):
        filled, extra = np.array(X, float), np.zeros((len(X), d, d))
        for i, x in enumerate(X):
            o, u = np.flatnonzero(~np.isnan(x)), np.flatnonzero(np.isnan(x))
            C = covariances[k]
            if u.size:
                B = C[np.ix_(u, o)] @ np.linalg.inv(C[np.ix_(o, o)]) if o.size else np.empty((d, 0))
                filled[i, u] = means[k][u] + B @ (x[o] - means[k][o])
                extra[i][np.ix_(u, u)] = C[np.ix_(u, u)] - B @ C[np.ix_(o, u)]
        N = R[:, k].sum()
        new_means[k] = R[:, k] @ filled / N
        away = filled - new_means[k]
        products = away[:, :, None] * away[:, None, :] + extra
        new_covariances[k] = np.tensordot(R[:, k], products, 1) / N
    total = R.sum(axis=0)
    return total / total.sum(), new_means, new_covariances, float(np.asarray(weight) @ logs)


def in_family(name: str, N: Any, scatters: Any) -> Any:
    """Likeliest covariances (K, d, d) of a family, from weights and scatters."""
    K, d = scatters.shape[:2]
    eye = np.eye(d)
    total = scatters.sum(axis=0) / N.sum()
    if name == "full":
        return scatters / N[:, None, None]
    if name == "tied":
        return np.array([total] * K)
    if name == "diag":
        return np.array([np.diag(np.diag(S)) / n for S, n in zip(scatters, N, strict=True)])
    if name == "spherical":
        return np.array([eye * np.trace(S) / d / n for S, n in zip(scatters, N, strict=True)])
    if name == "EII":
        return np.array([eye * np.trace(total) / d] * K)
    if name == "EEI":
        return np.array([np.diag(np.diag(total))] * K)
    if name in ("EVI", "EVV"):
        own = np.array([np.diag(np.diag(S)) for S in scatters]) if name == "EVI" else scatters
        volumes = np.linalg.det(own) ** (1 / d)
        return own / volumes[:, None, None] * volumes.sum() / N.sum()
    assert name == "EEV"
    pairs = [np.linalg.eigh(S) for S in scatters]
    shape = sum(values for values, _ in pairs) / N.sum()
    return np.array([U @ np.diag(shape) @ U.T for _, U in pairs])


def gaussian_likelihood(N: Any, scatters: Any, covariances: Any) -> float:
    """What an M-step maximizes, up to a constant."""
    terms = zip(N, scatters, covariances, strict=True)
    return -0.5 * float(
        sum(n * np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, S)) for n, S, C in terms)
    )


def marginal_by_integration(x: Any, weights: Any, means: Any, covariances: Any) -> float:
    """Density of the present cell of a row of two columns, the other integrated numerically."""
    from scipy.integrate import quad

    u = int(np.flatnonzero(np.isnan(x))[0])

    def density(value: float) -> float:
        point = np.array(x)
        point[u] = value
        laws = zip(weights, means, covariances, strict=True)
        return float(sum(w * stats.multivariate_normal(m, C).pdf(point) for w, m, C in laws))

    return float(quad(density, -60, 60, points=sorted(m[u] for m in means), epsabs=1e-14)[0])


def rational_latent_class_step(codes: Any, weights: Any, chances: Any) -> tuple[Any, Any, Any]:
    """One EM step of latent classes with two levels, exactly; codes below 0 are missing.

    Returns the weights, the chances of level 1 by class and column, and the likelihood before.
    """
    K, d = len(weights), len(chances[0])
    likelihood, shares = Fraction(1), []
    for row in codes:
        joint = []
        for k in range(K):
            term = weights[k]
            for j, code in enumerate(row):
                if code >= 0:
                    term *= chances[k][j] if code == 1 else 1 - chances[k][j]
            joint.append(term)
        likelihood *= sum(joint)
        shares.append([term / sum(joint) for term in joint])
    new_weights = [sum(r[k] for r in shares) / len(codes) for k in range(K)]
    new = []
    for k in range(K):
        pairs = [
            [(r[k], row[j]) for r, row in zip(shares, codes, strict=True) if row[j] >= 0]
            for j in range(d)
        ]
        new.append(
            [
                sum(r for r, code in column if code == 1) / sum(r for r, _ in column)
                for column in pairs
            ]
        )
    return new_weights, new, likelihood
