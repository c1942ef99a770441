"""Maps of scores into posteriors: affine with a slope and offsets, a sigmoid, a temperature.

Affine maps have one slope for all classes and an offset for each,

    minimize over a, b    - sum_i w_i sum_k T_ik log softmax(a z_i + b + c)_k

with scores z_i (n, K), target shares T_i that sum to 1, and a given offset c, usually the logarithm
of the priors that the fit is made for. Two classes with z = (0, s) are the sigmoid  a s + b.
The objective is convex; scores are centered and scaled, and Newton steps with a checked length are
taken, so that units and offsets of the scores do not matter. The gauge is b_0 = 0.

With targets of 0 and 1 there is no finite optimum when the scores separate the classes: when for
some sign of a  there are b with  a (z_iy - z_ik) >= b_k - b_y  for every case i of class y. These
are difference constraints, which are feasible exactly if the graph of their least right-hand sides
has no negative cycle (Bellman 1958), so separation is decided exactly and before the fit.

References: Platt, in Advances in Large Margin Classifiers (1999), 61-74; Lin, Lin & Weng, Machine
Learning 68 (2007), 267-276; Brümmer, FoCal multi-class (2007).

A sigmoid leads from a score to the probability of the positive class,

    P(positive | s) = 1 / (1 + exp(-(a s + b)))

*Platt's fit* minimizes the log loss against targets that are moved inwards as if one more case of
each class had been seen,

    t_+ = (N_+ + 1) / (N_+ + 2),        t_- = 1 / (N_- + 2),

which keeps the optimum finite, also where the scores separate the classes. *The prior-weighted fit*
makes a log-likelihood ratio of the score: classes are weighted to a stated effective prior p and
its log-odds are taken off,

    minimize   p / N_+  sum_+ log(1 + exp(-z_i))  +  (1 - p) / N_-  sum_- log(1 + exp(z_i)),
               z_i = a s_i + b + log(p / (1 - p)),

so that  a s + b  is the ratio, best where decisions are taken near that prior.

Reference: Brümmer & du Preez, Computer Speech and Language 20 (2006), section 5.

A temperature is one number that makes posteriors of scores neither too sure nor too unsure,

    minimize over beta = 1 / temperature    - sum_i w_i log softmax(beta z_i)_{y_i}

The loss is convex in beta with slope  sum_i w_i (E_p[z_i] - z_iy)  and curvature the weighted
variance of the scores under their own posteriors, so its minimum is a root of a rising function:
bracketed, then found to the last digits. Classes keep their order in every row.

If every row's own class has its largest score, a lower temperature is always better; if the scores
are no better than none, a higher one is. The search then ends at the bounds `exp(-10)` and
`exp(10)`, in units of the inverse spread of the scores, and says so.

Reference: Guo, Pleiss, Sun & Weinberger, ICML 2017, section 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from novum.numerics.isotonic import checked_columns
from novum.numerics.optimize import Outcome, newton
from novum.numerics.types import Floats, Mask, Positions

# Newton doubles the digits near the optimum, so the last step is as cheap as the first.
_TOLERANCE = 1e-10
_SMALLEST = 1e-305


@dataclass(frozen=True, eq=False)
class AffineSoftmax:
    """`softmax(slope z + offset)`, and how well it was fitted.

    Attributes
    ----------
    slope : float
        0 where the scores are the same for all cases.
    offset : array of shape (K,)
        The first is 0.
    loss : float
        Mean log loss of the fit, by weight.
    residual : float
        Norm of the gradient of the mean loss, in units of the scaled scores.
    iterations : int
    converged : bool
    """

    slope: float
    offset: Floats
    loss: float
    residual: float
    iterations: int
    converged: bool

    def log_odds(self, scores: ArrayLike) -> Floats:
        """`slope z + offset` of scores of shape (n, K)."""
        return self.slope * np.asarray(scores, float) + self.offset


def fit_affine_softmax(
    scores: ArrayLike,
    targets: ArrayLike,
    weight: ArrayLike,
    prior_offset: ArrayLike | None = None,
    *,
    max_iter: int = 100,
) -> AffineSoftmax:
    """Slope and offsets of least log loss.

    Parameters
    ----------
    scores, targets : arrays of shape (n, K)
        Finite scores; shares that sum to 1 in each row.
    weight : array of shape (n,)
        Positive.
    prior_offset : array of shape (K,), optional
        Added to the map in the fit and no part of it.
    max_iter : int

    Examples
    --------
    >>> z = [[0.0, -1.0], [0.0, 0.0], [0.0, 1.0]]
    >>> fitted = fit_affine_softmax(z, [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]], np.ones(3))
    >>> round(fitted.slope, 6) == round(float(np.log(9)), 6)
    True
    """
    z, T = np.asarray(scores, np.float64), np.asarray(targets, np.float64)
    w = np.asarray(weight, np.float64) / np.sum(weight)
    c = np.zeros(z.shape[1]) if prior_offset is None else np.asarray(prior_offset, np.float64)
    centered, middle, unit = _standardized(z, w)
    problem = _Problem(centered, T, w, c)
    K = z.shape[1]
    start = np.zeros(K)
    shares = w @ T
    with np.errstate(divide="ignore"):
        start[1:] = np.log(shares[1:]) - np.log(shares[0]) - (c[1:] - c[0])
    if not np.isfinite(start).all():
        raise ValueError("Every class needs a positive share of the targets.")
    outcome = newton(
        problem.value_and_gradient,
        problem.hessian,
        start if unit > 0 else start[1:],
        tol=_TOLERANCE,
        gradient_scale=1.0,
        max_iter=max_iter,
    )
    return _in_given_units(outcome, middle, unit, K)


def is_separated(scores: ArrayLike, codes: ArrayLike) -> bool:
    """Whether an affine map can make the loss of hard labels as small as one likes.

    Parameters
    ----------
    scores : array of shape (n, K)
    codes : int array of shape (n,)
        The class of each row; every class occurs.

    Examples
    --------
    >>> is_separated([[0, -1.0], [0, 1.0], [0, 2.0]], [0, 1, 1])
    True
    >>> is_separated([[0, -1.0], [0, 1.0], [0, 2.0]], [0, 1, 0])
    False
    """
    z, classes = np.asarray(scores, np.float64), np.asarray(codes)
    return any(_is_feasible(sign * z, classes) for sign in (1.0, -1.0))


# --- The problem ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Problem:
    """Loss of `(a, b_1, ..., b_{K-1})`; without `a` where only K - 1 parameters are given."""

    z: Floats
    T: Floats
    w: Floats
    c: Floats

    def _log_shares(self, params: Floats) -> Floats:
        K = self.z.shape[1]
        slope = params[0] if len(params) == K else 0.0
        scores = slope * self.z + self.c
        scores[:, 1:] += params[-(K - 1) :]
        scores -= scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def value_and_gradient(self, params: Floats) -> tuple[float, Floats]:
        logs = self._log_shares(params)
        value = -float(self.w @ np.einsum("ik,ik->i", self.T, logs))
        excess = self.w[:, np.newaxis] * (np.exp(logs) - self.T)
        offsets = excess.sum(axis=0)[1:]
        if len(params) < self.z.shape[1]:
            return value, offsets
        return value, np.r_[np.einsum("ik,ik->", excess, self.z), offsets]

    def hessian(self, params: Floats) -> Floats:
        P = np.exp(self._log_shares(params))
        K = P.shape[1]
        weighted = self.w[:, np.newaxis] * P
        H = np.diag(weighted.sum(axis=0)) - P.T @ weighted
        if len(params) < K:
            return H[1:, 1:]
        mean = np.einsum("ik,ik->i", P, self.z)
        deviation = self.z - mean[:, np.newaxis]
        cross = np.einsum("ik,ik->k", weighted, deviation)
        corner = np.einsum("ik,ik,ik->", weighted, deviation, deviation)
        full = np.empty((K, K))
        full[0, 0], full[0, 1:], full[1:, 0], full[1:, 1:] = corner, cross[1:], cross[1:], H[1:, 1:]
        return full


def _standardized(z: Floats, w: Floats) -> tuple[Floats, Floats, float]:
    """Scores without what no slope can use, at a spread near 1; their middle and unit.

    A number added to a whole row changes nothing, and a common row is taken up by the offsets.
    """
    rows = z - z[:, :1]
    middle = w @ rows
    deviations = rows - middle
    size = float(np.abs(rows).max(initial=0.0))
    # Below this a slope is no number any more.
    if size < _SMALLEST:
        return np.zeros_like(z), middle, 0.0
    # Squares of small scores would vanish.
    spread = size * float(np.sqrt(w @ ((deviations / size) ** 2).sum(axis=1)))
    # A spread within the rounding of the scores themselves is none.
    if not spread > 64 * np.finfo(np.float64).eps * size:
        return np.zeros_like(z), middle, 0.0
    unit = float(2.0 ** np.round(np.log2(spread)))
    return deviations / unit, middle, unit


def _in_given_units(outcome: Outcome, middle: Floats, unit: float, K: int) -> AffineSoftmax:
    params = outcome.params
    slope = float(params[0]) / unit if unit > 0 else 0.0
    offset = np.r_[0.0, params[-(K - 1) :]] - slope * middle
    return AffineSoftmax(
        slope,
        offset - offset[0],
        outcome.value,
        outcome.gradient_norm,
        outcome.iterations,
        outcome.converged,
    )


def _is_feasible(z: Floats, codes: Positions) -> bool:
    """Whether offsets exist that give every row its own class, ties allowed."""
    K = z.shape[1]
    own = z[np.arange(len(z)), codes]
    slack = np.full((K, K), np.inf)
    np.minimum.at(slack, codes, own[:, np.newaxis] - z)
    # Shortest paths among the classes; a cycle of negative length refutes.
    for k in range(K):
        slack = np.minimum(slack, slack[:, k : k + 1] + slack[k : k + 1, :])
    return bool((np.diagonal(slack) >= 0).all())


@dataclass(frozen=True, eq=False)
class SigmoidMap:
    """`1 / (1 + exp(-(slope s + intercept)))`, and how well it was fitted.

    Attributes
    ----------
    slope, intercept : float
    loss, residual : float
        Mean log loss against the targets of the fit, and the norm of its gradient.
    converged : bool

    Examples
    --------
    >>> SigmoidMap(2.0, -1.0).predict([0.5]).tolist()
    [0.5]
    """

    slope: float
    intercept: float
    loss: float = 0.0
    residual: float = 0.0
    converged: bool = True

    def predict(self, scores: ArrayLike) -> Floats:
        """Probabilities at `scores`, of their shape."""
        return np.asarray(special.expit(self.slope * np.asarray(scores, float) + self.intercept))

    def log_odds(self, scores: ArrayLike) -> Floats:
        """`slope s + intercept`."""
        return self.slope * np.asarray(scores, float) + self.intercept


def fit_sigmoid(
    scores: ArrayLike, positive: ArrayLike, weight: ArrayLike | None = None
) -> SigmoidMap:
    """Platt's sigmoid.

    Parameters
    ----------
    scores : array of shape (n,)
        Finite.
    positive : array of shape (n,)
        True or 1 for the positive class. One class alone is fine: its smoothed share is fitted.
    weight : array of shape (n,), optional
        Weight 2 is the case twice, also in the smoothing.

    Examples
    --------
    >>> fitted = fit_sigmoid([-1.0, 1.0], [0, 1])
    >>> fitted.predict([-1.0, 1.0]).round(6).tolist()
    [0.333333, 0.666667]
    """
    s, t, w = checked_columns(scores, positive, weight)
    targets = smoothed_targets(t > 0, w)
    fitted = fit_affine_softmax(
        np.column_stack([np.zeros_like(s), s]), np.column_stack([1 - targets, targets]), w
    )
    return _as_sigmoid(fitted)


def fit_prior_weighted(
    scores: ArrayLike, positive: ArrayLike, prior: float = 0.5, weight: ArrayLike | None = None
) -> SigmoidMap:
    """The affine map `a s + b` that makes log-likelihood ratios of scores, for one prior.

    Parameters
    ----------
    scores : array of shape (n,)
        Finite, and not such that a threshold separates the classes.
    positive : array of shape (n,)
        Both classes occur.
    prior : float
        Effective prior of the positive class, between 0 and 1.
    weight : array of shape (n,), optional

    Returns
    -------
    SigmoidMap
        Its `log_odds` are the ratios; its `predict` holds for equal priors.

    Examples
    --------
    >>> fitted = fit_prior_weighted([-1.0, 1.0, -1.0, 1.0, 1.0], [0, 0, 1, 1, 1])
    >>> fitted.log_odds([-1.0, 1.0]).round(6).tolist()
    [-0.405465, 0.287682]
    """
    s, t, w = checked_columns(scores, positive, weight)
    if not 0 < prior < 1:
        raise ValueError(f"The effective prior lies between 0 and 1, got {prior!r}.")
    is_positive = t > 0
    totals = np.array([w[~is_positive].sum(), w[is_positive].sum()])
    if not totals.all():
        raise ValueError("A prior-weighted fit needs cases of both classes.")
    priors = np.array([1 - prior, prior])
    codes = is_positive.astype(np.intp)
    fitted = fit_affine_softmax(
        np.column_stack([np.zeros_like(s), s]),
        np.eye(2)[codes],
        w * (priors / totals)[codes],
        np.log(priors),
    )
    return _as_sigmoid(fitted)


def smoothed_targets(positive: Mask, weight: Floats) -> Floats:
    """Platt's targets: as if one more case of each class had been seen.

    Examples
    --------
    >>> smoothed_targets(np.array([True, True, False]), np.ones(3)).round(4).tolist()
    [0.75, 0.75, 0.3333]
    """
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    return np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def _as_sigmoid(fitted: AffineSoftmax) -> SigmoidMap:
    return SigmoidMap(
        fitted.slope, float(fitted.offset[1]), fitted.loss, fitted.residual, fitted.converged
    )


_LOG_BOUND = 10.0


@dataclass(frozen=True, eq=False)
class TemperatureMap:
    """`softmax(inverse_temperature z)`, and how well it was fitted.

    Attributes
    ----------
    inverse_temperature : float
    loss, residual : float
        Mean log loss of the fit, and its slope there, in units of the spread of the scores.
    bound : {"", "low", "high"}
        Which end of the search the result is at.

    Examples
    --------
    >>> TemperatureMap(1.0).predict([[0.0, 0.0]]).tolist()
    [[0.5, 0.5]]
    """

    inverse_temperature: float
    loss: float = 0.0
    residual: float = 0.0
    bound: str = ""

    @property
    def temperature(self) -> float:
        return 1 / self.inverse_temperature

    def predict(self, scores: ArrayLike) -> Floats:
        """Posteriors of scores of shape (n, K)."""
        scaled = self.inverse_temperature * np.asarray(scores, float)
        return np.asarray(special.softmax(scaled, axis=1))


def fit_temperature(
    scores: ArrayLike, codes: ArrayLike, weight: ArrayLike | None = None
) -> TemperatureMap:
    """The temperature of least log loss.

    Parameters
    ----------
    scores : array of shape (n, K)
        Finite, such as logarithms of probabilities.
    codes : int array of shape (n,)
        The class of each row.
    weight : array of shape (n,), optional
        Not negative, at least one positive.

    Examples
    --------
    Three of four rows agree with the score, so its odds should be three to one.

    >>> z = [[0.0, 5.0]] * 4
    >>> fit_temperature(z, [1, 1, 1, 0]).predict(z[:1]).round(6).tolist()
    [[0.25, 0.75]]
    """
    z, y, w = _checked(scores, codes, weight)
    z = z - z[np.arange(len(z)), y][:, np.newaxis]
    spread = float(np.abs(z).max())
    if spread == 0:
        return TemperatureMap(1.0, float(np.log(z.shape[1])))
    z = z / spread

    def loss(beta: float) -> float:
        return float(w @ special.logsumexp(beta * z, axis=1))

    def slope(beta: float) -> float:
        return float(w @ np.einsum("ik,ik->i", special.softmax(beta * z, axis=1), z))

    low, high = np.exp(-_LOG_BOUND), np.exp(_LOG_BOUND)
    if slope(low) >= 0:
        beta, bound = low, "low"
    elif slope(high) <= 0:
        beta, bound = high, "high"
    else:
        beta, bound = optimize.brentq(slope, low, high, xtol=1e-300, rtol=1e-14), ""
    return TemperatureMap(float(beta / spread), loss(beta), abs(slope(beta)), bound)


def _checked(
    scores: ArrayLike, codes: ArrayLike, weight: ArrayLike | None
) -> tuple[Floats, Positions, Floats]:
    z, y = np.asarray(scores, np.float64), np.asarray(codes)
    w = np.ones(len(y)) if weight is None else np.asarray(weight, np.float64)
    if z.ndim != 2 or y.shape != (len(z),) or w.shape != y.shape or y.dtype.kind not in "iu":
        raise ValueError(
            f"Scores have shape (n, K), codes and weights (n,); got {z.shape}, {y.shape} of "
            f"{y.dtype}, and {w.shape}."
        )
    if len(z) == 0 or y.min() < 0 or y.max() >= z.shape[1]:
        raise ValueError(f"Codes of classes are 0 to {z.shape[1] - 1}, one for each row.")
    if not np.isfinite(z).all():
        row = int(np.flatnonzero(~np.isfinite(z).all(axis=1))[0])
        raise ValueError(f"Row {row} has the scores {z[row].tolist()}; all must be finite.")
    if not (np.isfinite(w) & (w >= 0)).all() or not w.any():
        raise ValueError("Weights are finite, not negative, and at least one is positive.")
    kept = w > 0
    return z[kept], y[kept].astype(np.intp), w[kept] / w.sum()
