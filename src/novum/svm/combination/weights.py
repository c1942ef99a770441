"""Weights of kernels by a saddle point: what is best for the weights, and a bound of it.

A learner with the kernel `sum_k d_k K_k` has the optimal value

    J(d) = max over b   c(b) - sum_k d_k q_k(b),        q_k(b) >= 0,

a maximum of linear functions of `d`: convex. The weights minimize it over `d >= 0, |d|_p <= 1`.
Every `b` that was ever found bounds the minimum from below, and so does every mixture of them,

    J* >= sum_t m_t c_t - | sum_t m_t q_t |_p',     1 / p + 1 / p' = 1,   m >= 0, sum m = 1,

and every `J(d)` from above: the gap is exact, however the weights are found.

p = 1    bundle method: the cuts `c_t - q_t d` model `J` from below; the next weights are the point
         nearest to the present ones at which the model is below a level between the two bounds
p > 1    fixed point `d_k ~ (d_k^2 q_k)^(1/(p+1))` (Kloft et al. 2011), under which `J` never rises
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from novum.core.learners import Stopwatch
from novum.numerics import Floats

# Where between the bounds the level lies; the theory of the method allows any share.
_LEVEL = 0.3
# A cut that has been far below the model for so long is forgotten.
_CUTS = 200


class Evaluation(NamedTuple):
    """What a solved learner says about its weights.

    Attributes
    ----------
    linear : float
        `c(b)`.
    squares : array of shape (n_kernels,)
        `q(b)`.
    upper : float
        Proved upper bound of `J(d)`.
    """

    linear: float
    squares: Floats
    upper: float


@dataclass(frozen=True, eq=False)
class Saddle:
    """Weights with the two bounds.

    Attributes
    ----------
    weights : array of shape (n_kernels,)
    upper, lower : float
    iterations : int
    stopped_by : str or None
    trace : tuple of float
        The best upper bound after each evaluation.
    """

    weights: Floats
    upper: float
    lower: float
    iterations: int
    stopped_by: str | None
    trace: tuple[float, ...]


@dataclass(frozen=True)
class Limits:
    """When to stop: relative gap, evaluations, seconds."""

    tol: float
    max_iter: int
    max_seconds: float | None = None


Evaluate = Callable[[Floats], Evaluation]


def find_weights(evaluate: Evaluate, n_kernels: int, norm: float, limits: Limits) -> Saddle:
    """Weights whose value is within the relative gap `tol` of the best.

    Parameters
    ----------
    evaluate : callable
        Solves the learner for given weights.
    n_kernels : int
    norm : float
        `p`, at least 1; infinite for weights that are each at most 1.
    limits : Limits

    Examples
    --------
    Two kernels, of which the second has the larger square for the only `b` there is:

    >>> one = lambda d: Evaluation(3.0, np.array([1.0, 2.0]), 3.0 - d @ np.array([1.0, 2.0]))
    >>> found = find_weights(one, 2, 1.0, Limits(1e-6, 50))
    >>> found.weights.round(5).tolist(), round(found.upper, 5), round(found.lower, 5)
    ([0.0, 1.0], 1.0, 1.0)
    """
    watch, bundle = Stopwatch(), Bundle(n_kernels, norm)
    d = np.full(n_kernels, n_kernels ** (-1.0 / norm))
    best, upper, trace = d, np.inf, []
    stopped_by: str | None = "max_iter"
    for _ in range(limits.max_iter):
        evaluation = evaluate(d)
        bundle.add(evaluation)
        if evaluation.upper < upper:
            best, upper = d, float(evaluation.upper)
        trace.append(upper)
        lower = bundle.lower_bound()
        if upper - lower <= limits.tol * max(abs(upper), abs(lower)):
            stopped_by = None
            break
        if limits.max_seconds is not None and watch.seconds > limits.max_seconds:
            stopped_by = "max_seconds"
            break
        d = bundle.next_point(d, evaluation, upper)
    return Saddle(best, upper, min(bundle.lower, upper), len(trace), stopped_by, tuple(trace))


class Bundle:
    """All that evaluations have told about `J`: its cuts, and the best bound from below."""

    def __init__(self, n_kernels: int, norm: float) -> None:
        self.n_kernels, self.norm = n_kernels, norm
        self.linear: list[float] = []
        self.squares: list[Floats] = []
        self.lower = -np.inf
        self.lowest: Floats | None = None

    def add(self, evaluation: Evaluation) -> None:
        self.linear.append(evaluation.linear)
        self.squares.append(evaluation.squares)
        if len(self.linear) > _CUTS:
            del self.linear[0], self.squares[0]

    def lower_bound(self) -> float:
        """The best bound known so far, from single evaluations and from a mixture of all."""
        self.lower = max(self.lower, self._mixed(np.array([1.0]), [-1]))
        if self.norm == 1.0 and self.n_kernels > 1:
            mixture = self._best_mixture()
            if mixture is not None:
                self.lower = max(self.lower, self._mixed(mixture, slice(None)))
        return self.lower

    def _mixed(self, mixture: Floats, chosen: Any) -> float:
        linear, squares = np.array(self.linear)[chosen], np.array(self.squares)[chosen]
        dual = np.inf if self.norm == 1.0 else self.norm / (self.norm - 1.0)
        dual = 1.0 if np.isinf(self.norm) else dual
        return float(mixture @ linear) - float(np.linalg.norm(mixture @ squares, dual))

    def _best_mixture(self) -> Floats | None:
        """Minimizes the model over all weights; the multipliers of its cuts are the mixture."""
        from scipy.optimize import linprog

        c, Q = np.array(self.linear), np.array(self.squares)
        # In units of the cuts' spread, so that the tolerances of the program mean something.
        unit = max(float(np.abs(Q).max()), float(np.ptp(c)), 1e-300)
        cuts = np.column_stack([-Q / unit, -np.ones(len(c))])
        optimum = linprog(
            np.append(np.zeros(self.n_kernels), 1.0),
            A_ub=cuts,
            b_ub=-(c - c.max()) / unit,
            A_eq=np.append(np.ones(self.n_kernels), 0.0)[np.newaxis],
            b_eq=[1.0],
            bounds=[(0, None)] * self.n_kernels + [(None, None)],
            method="highs",
        )
        if optimum.status != 0:
            return None
        self.lowest = np.maximum(optimum.x[:-1], 0.0)
        mixture = np.maximum(-optimum.ineqlin.marginals, 0.0)
        total = float(mixture.sum())
        return mixture / total if total > 0 else None

    # The next weights

    def next_point(self, d: Floats, evaluation: Evaluation, upper: float) -> Floats:
        if self.n_kernels == 1:
            return d
        if self.norm == 1.0:
            return self._nearest_at_level(d, upper)
        if np.isinf(self.norm):
            return np.ones(self.n_kernels)
        # Squares of rounding size are none; the largest keeps all of them in range.
        lengths = d**2 * np.maximum(evaluation.squares, 0.0)
        largest = float(lengths.max(initial=0.0))
        if largest == 0.0:
            return d
        raised = (lengths / largest) ** (1.0 / (self.norm + 1.0))
        return np.asarray(raised / np.linalg.norm(raised, self.norm))

    def _nearest_at_level(self, d: Floats, upper: float) -> Floats:
        level = self.lower + _LEVEL * (upper - self.lower)
        c, Q = np.array(self.linear), np.array(self.squares)
        nearest = nearest_point(d, Q, c - level)
        if nearest is None:
            nearest = self.lowest if self.lowest is not None else d
        nearest = np.maximum(nearest, 0.0)
        # Weights of rounding size are none.
        nearest[nearest < 1e-12 * nearest.max()] = 0.0
        return np.asarray(nearest / nearest.sum())


def nearest_point(center: Floats, normals: Floats, offsets: Floats) -> Floats | None:
    """The point of the simplex nearest to `center` with `normals x >= offsets`; None if none.

    A problem of least distance, solved as one of nonnegative least squares (Lawson and Hanson
    1974, chapter 23).

    Examples
    --------
    >>> nearest_point(np.array([0.5, 0.5]), np.array([[1.0, 0.0]]), np.array([0.8])).round(9)
    array([0.8, 0.2])
    """
    from scipy.optimize import nnls

    n = len(center)
    # Moves within the simplex, in an orthonormal basis.
    basis = np.linalg.svd(np.ones((1, n)))[2][1:].T
    G = np.vstack([normals, np.eye(n)]) @ basis
    h = np.concatenate([offsets - normals @ center, -center])
    size = np.linalg.norm(G, axis=1)
    keep = size > 1e-14 * max(float(np.abs(normals).max(initial=0.0)), 1.0)
    G, h = G[keep] / size[keep, np.newaxis], h[keep] / size[keep]
    E = np.vstack([G.T, h])
    goal = np.append(np.zeros(n - 1), 1.0)
    try:
        u, length = nnls(E, goal)
    except RuntimeError:
        return None
    rest = E @ u - goal
    if length < 1e-10 or rest[-1] == 0:
        return None
    return np.asarray(center - basis @ (rest[:-1] / rest[-1]))
