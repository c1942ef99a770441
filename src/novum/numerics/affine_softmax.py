"""Affine maps of scores into posteriors: one slope for all classes and an offset for each.

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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from novum.numerics.optimize import Outcome, newton

Floats = NDArray[np.float64]

# Newton doubles the digits near the optimum, so the last step is as cheap as the first.
_TOLERANCE = 1e-10


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
        return np.asarray(special.log_softmax(scores, axis=1))

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
    spread = float(np.sqrt(w @ (deviations**2).sum(axis=1)))
    size = float(np.abs(rows).max(initial=0.0))
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


def _is_feasible(z: Floats, codes: NDArray[np.intp]) -> bool:
    """Whether offsets exist that give every row its own class, ties allowed."""
    K = z.shape[1]
    own = z[np.arange(len(z)), codes]
    slack = np.full((K, K), np.inf)
    np.minimum.at(slack, codes, own[:, np.newaxis] - z)
    # Shortest paths among the classes; a cycle of negative length refutes.
    for k in range(K):
        slack = np.minimum(slack, slack[:, k : k + 1] + slack[k : k + 1, :])
    return bool((np.diagonal(slack) >= 0).all())
