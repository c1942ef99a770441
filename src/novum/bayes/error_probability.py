"""Error probability of the Bayes rule when the class densities are known normals.

    P(error) = sum_k p(k) P(another class is chosen | k) = 1 - integral max_k p(k) p(x|k) dx

Two classes with one covariance have a closed form: with `D^2 = (m_a - m_b)' C^-1 (m_a - m_b)` and
`r = log p(a)/p(b)`,

    P(error) = p(a) F(-D/2 - r/D) + p(b) F(-D/2 + r/D),        F the standard normal cdf.

With two covariances the log ratio is a sum Y of shifted squares of normals (and one normal), whose
cumulant function `K(t) = log E exp(tY)` is known. Its distribution is an integral in the complex
plane, from below to above through any point t < 0,

    P(Y < 0) = (1 / 2 pi i) int -exp(K(t)) / t dt.

One column has closed form for any number of classes: the line is cut where two of them are equal.
More classes in more columns are integrated by scrambled Sobol points drawn from the mixture; the
error is then the standard error over independent scramblings.

References
----------
Duda, Hart and Stork, "Pattern Classification", 2nd ed., 2001, sections 2.7-2.8.
Rice, "Distribution of quadratic forms in normal random variables", 1980.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.bayes.discriminants import equal_covariances
from novum.core.errors import InputError
from novum.core.runtime import RandomSource, seed
from novum.distributions import MatrixDensities, whitener
from novum.numerics import Floats

_SCRAMBLINGS = 16


@dataclass(frozen=True)
class ErrorProbability:
    """A probability of error and how far it may be off.

    Attributes
    ----------
    value : float
    error : float
        Zero up to rounding in closed form, else the error estimate of the integral or four
        standard errors of the simulation.
    method : {"closed form", "characteristic function", "simulation"}
    """

    value: float
    error: float
    method: str


def bayes_error(
    means: ArrayLike,
    covariances: ArrayLike,
    priors: ArrayLike | None = None,
    *,
    n_points: int = 2**14,
    random_state: RandomSource = 0,
) -> ErrorProbability:
    """Probability that the Bayes rule names the wrong class.

    Parameters
    ----------
    means : array (K, d)
    covariances : array (K, d, d), or (d, d) if all classes share one
    priors : array (K,), optional
        Equal by default.
    n_points : int
        Points per class and scrambling, where no better way exists.
    random_state
        Of the scramblings.

    Examples
    --------
    >>> found = bayes_error([[0.0], [2.0]], [[1.0]])
    >>> round(found.value, 6), found.method
    (0.158655, 'closed form')
    """
    m, C, p = _checked_laws(means, covariances, priors)
    kept = p > 0
    m, C, p = m[kept], C[kept], p[kept]
    if len(p) == 1:
        return ErrorProbability(0.0, 0.0, "closed form")
    if m.shape[1] == 1:
        return _on_a_line(m[:, 0], C[:, 0, 0], p)
    if len(p) == 2:
        if equal_covariances(C[0], C[1]):
            return _shared(m, C[0], p)
        return _two_covariances(m, C, p)
    return _simulated(m, C, p, n_points, random_state)


# --- Closed forms ---------------------------------------------------------------------------------


def _shared(m: Floats, C: Floats, p: Floats) -> ErrorProbability:
    away = (m[0] - m[1]) @ whitener(C)[0]
    D = float(np.linalg.norm(away))
    ratio = float(np.log(p[0] / p[1]))
    if D == 0:
        return ErrorProbability(float(p.min()), 0.0, "closed form")
    value = p[0] * special.ndtr(-D / 2 - ratio / D) + p[1] * special.ndtr(-D / 2 + ratio / D)
    return ErrorProbability(float(value), 0.0, "closed form")


def _on_a_line(m: Floats, v: Floats, p: Floats) -> ErrorProbability:
    """Cuts the line wherever two classes are equal; one class wins in each interval."""
    cuts: list[float] = []
    for a in range(len(p)):
        for b in range(a):
            cuts += _equal_points(m[[a, b]], v[[a, b]], p[[a, b]])
    ends = np.array([-np.inf, *sorted(cuts), np.inf])
    low, high = ends[:-1], ends[1:]
    inside = np.where(np.isinf(low), np.where(np.isinf(high), 0.0, high - 1), low + 1)
    both = np.isfinite(low) & np.isfinite(high)
    inside[both] = (low[both] + high[both]) / 2
    # Far outside the cuts the order of the classes no longer changes.
    scores = np.log(p) - 0.5 * np.log(v) - 0.5 * (inside[:, None] - m) ** 2 / v
    winner = scores.argmax(axis=1)
    d = np.sqrt(v)
    wrong = 0.0
    for k in range(len(p)):
        for i in np.flatnonzero(winner != k):
            wrong += p[k] * _interval((low[i] - m[k]) / d[k], (high[i] - m[k]) / d[k])
    return ErrorProbability(float(wrong), 0.0, "closed form")


def _interval(low: float, high: float) -> float:
    """Standard normal probability of an interval, without cancellation in the tails."""
    if low > 0:
        low, high = -high, -low
    return float(special.ndtr(high) - special.ndtr(low))


def _equal_points(m: Floats, v: Floats, p: Floats) -> list[float]:
    """Where two weighted normal densities on the line are equal."""
    # In units of the first deviation about the first mean, roots keep their digits.
    unit = float(np.sqrt(v[0]))
    shift, r = float((m[1] - m[0]) / unit), float(v[1] / v[0])
    a, b = 0.5 * (1 / r - 1), -shift / r
    c = 0.5 * shift**2 / r + 0.5 * np.log(r) + float(np.log(p[0] / p[1]))
    if abs(a) < 1e-14:
        return [] if b == 0 else [float(m[0]) - unit * c / b]
    discriminant = b * b - 4 * a * c
    if discriminant <= 0:
        return []
    # The stable pair of roots: no difference of nearly equal numbers.
    s = -0.5 * (b + np.copysign(np.sqrt(discriminant), b))
    roots = [s / a] + ([c / s] if s != 0 else [])
    return [float(m[0]) + unit * float(root) for root in roots]


# --- Two covariances ------------------------------------------------------------------------------


def _two_covariances(m: Floats, C: Floats, p: Floats) -> ErrorProbability:
    """Each class's chance to fall on the other side, by inverting a characteristic function."""
    value = error = 0.0
    for own, other in ((0, 1), (1, 0)):
        chance, off = _loses(m[own], C[own], m[other], C[other], float(np.log(p[own] / p[other])))
        value += p[own] * chance
        error += p[own] * off
    return ErrorProbability(
        float(np.clip(value, 0.0, 1.0)), float(error), "characteristic function"
    )


def _loses(
    mean: Floats, C: Floats, other_mean: Floats, other: Floats, ratio: float
) -> tuple[float, float]:
    """P(own score < other score | own class), and the error of the integral.

    In whitened coordinates of the own class in which the other covariance is diagonal, twice the
    difference of the scores is `sum_j [w_j z_j^2 - 2 s_j z_j] + constant` with standard normal z.
    """
    A, log_own = whitener(C)
    inner = A.T @ other @ A
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    shift = vectors.T @ (A.T @ (other_mean - mean))
    log_other = log_own + float(np.log(values).sum())
    w = 1 / values - 1
    s = shift / values
    constant = float((shift**2 / values).sum()) + log_other - log_own + 2 * ratio
    return _quadratic_below(w, s, constant)


def _quadratic_below(w: Floats, s: Floats, constant: float) -> tuple[float, float]:
    """P(Y < 0) for `Y = sum_j [w_j z_j^2 - 2 s_j z_j] + constant` with standard normal z.

    The integral runs through the saddle point of `exp(K(t)) / t` and bends away from the imaginary
    direction to the side on which the integrand dies out; poles and cuts lie on the real axis,
    which it crosses only once. Tiny probabilities keep their digits.
    """
    scale = float(np.sqrt((2 * w**2 + 4 * s**2).sum()))
    if scale == 0:
        return float(constant < 0), 0.0
    w, s, constant = w / scale, s / scale, constant / scale
    below = float(w.sum()) + constant >= 0
    if not below:
        # The smaller of the two tails is the one to integrate.
        w, s, constant = -w, -s, -constant
    tail, error = _lower_tail(w, s, constant)
    return (tail if below else 1 - tail), error


def _lower_tail(w: Floats, s: Floats, constant: float) -> tuple[float, float]:
    """P(Y < 0) where the mean of Y is not negative, and what halving the steps changed."""
    from scipy.optimize import minimize_scalar

    def log_moment(t: Any) -> Any:
        denominator = 1 - 2 * np.multiply.outer(t, w)
        squares = 2 * np.multiply.outer(np.square(t), s**2)
        return (-0.5 * np.log(denominator) + squares / denominator).sum(axis=-1) + t * constant

    lowest = 0.5 / w.min() if w.min() < 0 else -np.inf
    start = max(lowest * (1 - 1e-9), -1e6)
    # In log(-t) the saddle point is found whatever its size.
    minimum = minimize_scalar(
        lambda log_t: float(log_moment(-np.exp(log_t)) - log_t),
        bounds=(-20.0, float(np.log(-start))),
        method="bounded",
    )
    saddle = -float(np.exp(minimum.x))
    top = float(log_moment(saddle))
    linear = constant - float((s[w != 0] ** 2 / w[w != 0]).sum())
    for bend in (0.5, 0.2, 0.05, 0.0):
        fine, growth = _bent_integral(log_moment, saddle, top, -np.sign(linear) * bend, 8000)
        if growth < 100:
            break
    coarse, _ = _bent_integral(log_moment, saddle, top, -np.sign(linear) * bend, 4000)
    size = np.exp(top)
    return float(np.clip(fine * size, 0.0, 1.0)), float(abs(fine - coarse) * size)


def _bent_integral(
    log_moment: Callable[[Any], Any], saddle: float, top: float, bend: float, n_steps: int
) -> tuple[float, float]:
    """`Im int -exp(K(t) - top) / t dt / pi` along a hyperbola through the saddle point.

    Also the largest integrand, relative to that at the saddle point.
    """
    x = (np.arange(n_steps) + 0.5) * (46.0 / n_steps)
    width = abs(saddle)
    y = width * np.sinh(x)
    along = np.hypot(width, y)
    t = saddle + bend * (along - width) + 1j * y
    slope = (bend * y / along + 1j) * width * np.cosh(x)
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        values = -np.exp(log_moment(t) - top) / t
        growth = float(np.nan_to_num(np.abs(values * saddle), nan=np.inf).max())
        terms = (values * slope).imag
    return float(np.nan_to_num(terms).sum() * (46.0 / n_steps) / np.pi), growth


# --- Simulation -----------------------------------------------------------------------------------


def _simulated(
    m: Floats, C: Floats, p: Floats, n_points: int, random_state: RandomSource
) -> ErrorProbability:
    from scipy.stats import qmc

    law, log_prior = MatrixDensities.normal(m, C, np.ones(len(p), bool)), np.log(p)
    exponent = int(np.ceil(np.log2(max(n_points, 2))))
    passes = []
    for number in range(_SCRAMBLINGS):
        points = qmc.Sobol(m.shape[1], seed=seed(random_state, number)).random_base2(exponent)
        z = special.ndtri(np.clip(points, 1e-16, 1 - 1e-16))
        passes.append(_one_pass(z, m, C, p, law, log_prior))
    values = np.array(passes)
    standard_error = float(values.std(ddof=1) / np.sqrt(len(values)))
    return ErrorProbability(float(values.mean()), 4 * standard_error, "simulation")


def _one_pass(
    z: Floats, m: Floats, C: Floats, p: Floats, law: MatrixDensities, log_prior: Floats
) -> float:
    """Mean of `1 - max posterior` over points of the mixture, smoother than counting errors."""
    total = 0.0
    for k in range(len(p)):
        x = m[k] + z @ np.linalg.cholesky(C[k]).T
        scores = law.log_density(x) + log_prior
        top = scores.max(axis=1, keepdims=True)
        total += p[k] * float(1 - (1 / np.exp(scores - top).sum(axis=1)).mean())
    return total


# --- Checks ---------------------------------------------------------------------------------------


def _checked_laws(
    means: ArrayLike, covariances: ArrayLike, priors: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    m, C = np.asarray(means, float), np.asarray(covariances, float)
    if m.ndim != 2 or not len(m):
        raise InputError(f"means have shape (K, d), one row per class; got {m.shape}.")
    K, d = m.shape
    if C.shape not in ((d, d), (K, d, d)):
        raise InputError(
            f"covariances of {K} classes and {d} columns have shape ({K}, {d}, {d}), or "
            f"({d}, {d}) if shared; got {C.shape}."
        )
    p = np.full(K, 1 / K) if priors is None else np.asarray(priors, float)
    if p.shape != (K,) or not (p >= 0).all() or abs(p.sum() - 1) > 1e-9:
        raise InputError(f"priors are {K} probabilities that sum to 1, got {p.tolist()}.")
    if not (np.isfinite(m).all() and np.isfinite(C).all()):
        raise InputError("means and covariances must be finite numbers.")
    matrices = np.broadcast_to(C, (K, d, d))
    for k in _indefinite(matrices):
        raise InputError(
            f"The covariance of class {k} is not symmetric positive definite. Give a covariance "
            "matrix with variances above 0."
        )
    return m, matrices, p


def _indefinite(matrices: Floats) -> Sequence[int]:
    wrong = []
    for k, matrix in enumerate(matrices):
        symmetric = np.allclose(matrix, matrix.T, rtol=1e-10, atol=0.0)
        if not symmetric or (np.diagonal(matrix) <= 0).any() or np.linalg.eigvalsh(matrix)[0] <= 0:
            wrong.append(k)
    return wrong
