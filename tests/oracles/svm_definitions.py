"""The quadratic program of `problem` solved by the book, as oracles for the fast solver.

    textbook_smo      sequential minimal optimization on a full Gram matrix: take the pair of one
                      group that violates optimality most, minimize along it, repeat
    interior_point    a generic method for convex quadratic programs with bounds and sums: Newton
                      steps on the conditions

                          K b + p - A' r - s + t = 0,   A b = totals,
                          s (b - lower) = t (upper - b) = mu,

                      with `mu` driven to zero (Mehrotra's predictor and corrector)

Both hold everything in dense matrices and serve problems of a few hundred variables. They share
nothing with `solver` but the statement of the problem.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novum.numerics import Floats, Mask
from novum.svm.solver.problem import UNGROUPED, QuadraticProblem

# What curvature a pair of equal objects is given, so that its step is finite; see LIBSVM.
_LEAST_CURVATURE = 1e-12


class Optimum(NamedTuple):
    """Where an oracle ended: coefficients, the objective there, a multiplier for each group."""

    coefficients: Floats
    value: float
    multipliers: Floats


def objective(K: Floats, problem: QuadraticProblem, coefficients: Floats) -> float:
    """`b'Kb / 2 + p'b`, over the Gram matrix `K` of the objects."""
    Q = K[np.ix_(problem.rows, problem.rows)]
    return float(coefficients @ Q @ coefficients / 2 + problem.linear @ coefficients)


# --- Sequential minimal optimization --------------------------------------------------------------


def textbook_smo(
    K: Floats, problem: QuadraticProblem, start: Floats, tol: float = 1e-10, max_steps: int = 10**5
) -> Optimum:
    """Minimize along the most violating pair until no pair violates by more than `tol`.

    Parameters
    ----------
    K : array of shape (n_objects, n_objects)
    problem : QuadraticProblem
    start : array of shape (n_variables,)
        A feasible point.
    tol : float
        Of the gradient, in units of the objective per unit of a coefficient.
    max_steps : int

    Examples
    --------
    Two points with labels 1 and -1 at distance 2 on a line: both have coefficient 1/2.

    >>> two = QuadraticProblem(np.arange(2), np.array([-1.0, 1.0]), np.array([0.0, -9.0]),
    ...                        np.array([9.0, 0.0]), np.zeros(2, int), np.zeros(1))
    >>> textbook_smo(np.array([[1.0, -1.0], [-1.0, 1.0]]), two, np.zeros(2)).coefficients
    array([ 0.5, -0.5])
    """
    Q = K[np.ix_(problem.rows, problem.rows)]
    b, lower, upper = np.array(start, float), problem.lower, problem.upper
    g = Q @ b + problem.linear
    for _ in range(max_steps):
        i, j, violation = _most_violating_pair(problem, b, g)
        if violation <= tol:
            break
        room = upper[i] - b[i]
        if i != j:
            curvature = max(Q[i, i] + Q[j, j] - 2 * Q[i, j], _LEAST_CURVATURE)
            step = min(violation / curvature, room, b[j] - lower[j])
            b[j] -= step
            g -= step * Q[:, j]
        else:
            step = np.clip(-g[i] / max(Q[i, i], _LEAST_CURVATURE), lower[i] - b[i], room)
        b[i] += step
        g += step * Q[:, i]
    values = np.zeros(len(problem.totals))
    for group in range(len(values)):
        values[group] = _middle(g, b, lower, upper, problem.groups == group)
    return Optimum(b, float(b @ Q @ b / 2 + problem.linear @ b), values)


def _most_violating_pair(problem: QuadraticProblem, b: Floats, g: Floats) -> tuple[int, int, float]:
    """Who rises, who falls (the same variable where no sums are prescribed), and the violation."""
    rising, falling = b < problem.upper, b > problem.lower
    if (problem.groups == UNGROUPED).all():
        violation = np.maximum(np.where(rising, -g, 0), np.where(falling, g, 0))
        i = int(np.argmax(violation))
        return i, i, float(violation[i])
    best = (0, 0, -np.inf)
    for group in range(len(problem.totals)):
        inside = problem.groups == group
        if not (inside & rising).any() or not (inside & falling).any():
            continue
        i = int(np.argmin(np.where(inside & rising, g, np.inf)))
        j = int(np.argmax(np.where(inside & falling, g, -np.inf)))
        if g[j] - g[i] > best[2]:
            best = (i, j, float(g[j] - g[i]))
    return best


def _middle(g: Floats, b: Floats, lower: Floats, upper: Floats, inside: Mask) -> float:
    """The middle of the interval in which the multiplier of a group must lie."""
    least = g[inside & (b > lower)].max(initial=-np.inf)
    largest = g[inside & (b < upper)].min(initial=np.inf)
    if np.isinf(least) and np.isinf(largest):
        return 0.0
    if np.isinf(least) or np.isinf(largest):
        return float(largest if np.isinf(least) else least)
    return float((least + largest) / 2)


# --- Interior points ------------------------------------------------------------------------------


def interior_point(
    K: Floats, problem: QuadraticProblem, tol: float = 1e-13, max_steps: int = 100
) -> Optimum:
    """The program as any convex one, by Mehrotra's primal-dual interior-point method.

    Parameters
    ----------
    K : array of shape (n_objects, n_objects)
        Positive semi-definite.
    problem : QuadraticProblem
    tol : float
        Of the complementarity and the residuals, relative to the objective.
    max_steps : int
        Newton steps; some twenty suffice.

    Examples
    --------
    The point of a segment that is nearest to the origin, for ends 1 and -3 on a line:

    >>> ends = QuadraticProblem(np.arange(2), np.zeros(2), np.zeros(2), np.ones(2),
    ...                         np.zeros(2, int), np.ones(1))
    >>> interior_point(np.array([[1.0, -3.0], [-3.0, 9.0]]), ends).coefficients.round(8)
    array([0.75, 0.25])
    """
    open_ = problem.lower < problem.upper
    fixed = np.where(open_, 0.0, problem.lower)
    Q = K[np.ix_(problem.rows, problem.rows)]
    n_groups = len(problem.totals)
    A = (problem.groups[None, :] == np.arange(n_groups)[:, None]).astype(float)
    totals = problem.totals - A @ fixed
    b, multipliers = fixed.copy(), np.zeros(n_groups)
    if open_.any():
        inner = _Interior(
            Q[np.ix_(open_, open_)],
            (problem.linear + Q @ fixed)[open_],
            A[:, open_],
            totals,
            problem.lower[open_],
            problem.upper[open_],
        )
        b[open_], multipliers = inner.solve(tol, max_steps)
    return Optimum(b, float(b @ Q @ b / 2 + problem.linear @ b), multipliers)


class _Interior:
    """Newton steps for `min x'Qx / 2 + p'x, Ax = totals, lower <= x <= upper`."""

    def __init__(
        self, Q: Floats, p: Floats, A: Floats, totals: Floats, lower: Floats, upper: Floats
    ) -> None:
        self.Q, self.p, self.A, self.totals = Q, p, A, totals
        self.lower, self.upper = lower, upper
        self.below, self.above = np.isfinite(lower), np.isfinite(upper)
        middle = np.where(self.below, lower + 1, np.where(self.above, upper - 1, 0.0))
        self.x = np.where(self.below & self.above, (lower + upper) / 2, middle)
        self.r = np.zeros(len(totals))
        scale = max(1.0, float(np.abs(Q @ self.x + p).max()))
        self.s, self.t = scale * self.below, scale * self.above

    def solve(self, tol: float, max_steps: int) -> tuple[Floats, Floats]:
        count = max(1, int(self.below.sum() + self.above.sum()))
        for _ in range(max_steps):
            down, up = self._rooms()
            mean = float(self.s @ down + self.t @ up) / count
            dual = self.Q @ self.x + self.p - self.A.T @ self.r - self.s + self.t
            primal = self.A @ self.x - self.totals
            value = float(self.x @ (self.Q @ self.x) / 2 + self.p @ self.x)
            error = max(mean * count, float(np.abs(dual) @ np.abs(self.x)))
            narrow = min(down.min(), up.min()) < 1e-200
            if narrow or (error <= tol * (1 + abs(value)) and np.abs(primal).max(initial=0) < tol):
                break
            guess = self._direction(dual, primal, self.s * down, self.t * up)
            reach = self._reach(guess)
            after = (self.s + reach * guess[2]) @ (down + reach * guess[0] * self.below)
            after += (self.t + reach * guess[3]) @ (up - reach * guess[0] * self.above)
            target = mean * (float(after) / count / mean) ** 3 if mean > 0 else 0.0
            low = (self.s * down + guess[0] * guess[2] - target) * self.below
            high = (self.t * up - guess[0] * guess[3] - target) * self.above
            step = self._direction(dual, primal, low, high)
            reach = 0.99995 * self._reach(step)
            self.x = self.x + reach * step[0]
            self.r = self.r + reach * step[1]
            self.s, self.t = self.s + reach * step[2], self.t + reach * step[3]
        return np.clip(self.x, self.lower, self.upper), self.r

    def _rooms(self) -> tuple[Floats, Floats]:
        down = np.where(self.below, self.x - np.where(self.below, self.lower, 0), 1.0)
        up = np.where(self.above, np.where(self.above, self.upper, 0) - self.x, 1.0)
        return np.maximum(down, 1e-300), np.maximum(up, 1e-300)

    def _direction(
        self, dual: Floats, primal: Floats, low: Floats, high: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        down, up = self._rooms()
        curved = self.Q + np.diag(self.s / down + self.t / up)
        right = -dual - low / down + high / up
        # Near the optimum the diagonal spans many orders; scaled to ones it stays well-conditioned.
        size = np.sqrt(np.maximum(np.diag(curved), 1e-300))
        scaled = curved / np.outer(size, size) + 1e-15 * np.eye(len(size))
        columns = np.column_stack([right / size, (self.A / size).T])
        solved = np.linalg.solve(scaled, columns) / size[:, None]
        free, answers = solved[:, 0], solved[:, 1:]
        r = np.linalg.lstsq(self.A @ answers, -primal - self.A @ free, rcond=1e-15)[0]
        x = free + answers @ r
        s = (-low - self.s * x) / down * self.below
        t = (-high + self.t * x) / up * self.above
        return x, np.asarray(r, float), s, t

    def _reach(self, step: tuple[Floats, Floats, Floats, Floats]) -> float:
        """The largest share of a step, at most 1, that keeps everything positive."""
        down, up = self._rooms()
        share = 1.0
        for room, change, there in (
            (down, step[0], self.below),
            (up, -step[0], self.above),
            (self.s, step[2], self.below),
            (self.t, step[3], self.above),
        ):
            shrinking = there & (change < 0)
            if shrinking.any():
                share = min(share, float((-room[shrinking] / change[shrinking]).min()))
        return share
