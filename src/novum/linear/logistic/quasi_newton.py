"""L-BFGS with the Hessian of a subsample as its first guess.

Where the Hessian of all rows is too dear, that of a few thousand rows, scaled up, is close to it:
with m rows for P parameters its eigenvalues relative to the true Hessian lie within about
`(1 +- sqrt(P / m))^2`. L-BFGS (Nocedal and Wright 2006, algorithm 7.4) started from its Cholesky
factor needs about one pass over the rows per digit, and each pass sums a gradient alone. The
subsample's own optimum, from which the fit starts, is found in the same way, with the Hessian of
the model without columns,

    A (x) sum_i w_i z_i z_i',        A = Q'(diag(pi) - pi pi')Q,

as the guess: a Kronecker product, whose factor is two small ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from novum.linear.logistic.newton import ROUNDING, STUCK, Minimum, Watch, never
from novum.linear.logistic.objective import Factor, PenalizedLoss, Shape
from novum.numerics import Floats, backtracking, gradient_descent, unit_scale

MEMORY = 20
# Rows of the subsample for each parameter.
SKETCH_ROWS = 8
# Steps after which the guess is made anew.
ROUND = 30

Solve = Callable[[Floats], Floats]


def sketched(
    loss: PenalizedLoss, start: Floats, *, tol: float, max_iter: int, watch: Watch = never
) -> Minimum:
    """Minimizes from `start`; see the module's text."""
    stride = max(1, loss.rows.n_rows // (SKETCH_ROWS * loss.shape.size))
    part = loss.strided(stride) if stride > 1 else loss
    if part.rows.class_weights.all():
        rough = lbfgs(
            part,
            start,
            kronecker_solve(part),
            goal=0.3 * np.sqrt(loss.shape.size),
            tol=0.0,
            max_iter=min(60, max_iter),
        )
        start = rough.vector
    trace: list[float] = []
    hessian = _hessian(part, start)
    while True:
        left = max_iter - max(0, len(trace) - 1)
        minimum = lbfgs(
            loss, start, Factor(hessian).solve, tol=tol, max_iter=min(left, ROUND), watch=watch
        )
        trace += minimum.trace if not trace else minimum.trace[1:]
        start, minimum.trace = minimum.vector, trace
        # The guess is that of the round's start: only the Hessian of its end can say it is done.
        hessian = _hessian(part, start)
        minimum.decrement = Factor(hessian).norm(minimum.evaluation.gradient)
        done = minimum.decrement <= 2 * tol * loss.size(minimum.evaluation.value)
        if done or minimum.stopped_by == "callback" or len(trace) > max_iter:
            break
        if minimum.stopped_by == "rounding":
            break
        minimum.stopped_by = "max_iter"
    if done:
        minimum.stopped_by = "tol"
    return _with_lower_hessian(minimum, hessian, part.shape, stride)


def _with_lower_hessian(minimum: Minimum, hessian: Floats, shape: Shape, stride: int) -> Minimum:
    """Adds a factor for the certificate: rows only add curvature, so that of some is a bound."""
    penalties = np.diag(shape.penalties)
    lower = (hessian - penalties) / stride + penalties
    minimum.factor = Factor(lower)
    minimum.hessian = lower if stride == 1 else None
    return minimum


def _hessian(loss: PenalizedLoss, vector: Floats) -> Floats:
    hessian = loss.evaluate(vector, hessian=True).hessian
    assert hessian is not None
    return hessian


def lbfgs(
    loss: PenalizedLoss,
    start: Floats,
    guess: Solve,
    *,
    tol: float,
    max_iter: int,
    goal: float = 0.0,
    watch: Watch = never,
) -> Minimum:
    """Minimizes from `start`; `guess` applies an approximate inverse Hessian.

    It stops when `sqrt(g' guess(g))`, which estimates Newton's decrement, is at most `goal`, or
    `tol` times the root of the objective.
    """
    vector, now = start, loss.evaluate(start)
    trace = [now.value]
    pairs: list[tuple[Floats, Floats, float]] = []
    while True:
        decrement = float(np.sqrt(max(0.0, float(now.gradient @ guess(now.gradient)))))
        minimum = Minimum(vector, now, "", trace, decrement)
        if decrement <= max(goal, tol * loss.size(now.value)):
            minimum.stopped_by = "tol"
        elif len(trace) > max_iter:
            minimum.stopped_by = "max_iter"
        elif len(trace) > STUCK and trace[-1 - STUCK] - trace[-1] <= ROUNDING * trace[-1]:
            minimum.stopped_by = "rounding"
        if minimum.stopped_by:
            return minimum
        direction = -_two_loops(now.gradient, pairs, guess)
        if not float(direction @ now.gradient) < 0:
            pairs, direction = [], -guess(now.gradient)
        step = backtracking(loss.value_and_gradient, vector, now.value, now.gradient, direction)
        if step is None:
            minimum.stopped_by = "rounding"
            return minimum
        _remember(pairs, step.params - vector, step.gradient - now.gradient)
        # The step that is accepted is the one that was looked at last.
        assert loss.latest is not None
        vector, now = step.params, loss.latest
        trace.append(now.value)
        if watch(now):
            return Minimum(vector, now, "callback", trace, decrement)


def steepest(
    loss: PenalizedLoss, start: Floats, *, tol: float, max_iter: int, watch: Watch = never
) -> Minimum:
    """Gradient descent with the step that the largest curvature allows; here to be looked at."""
    p = loss.shape.width
    largest = float(np.linalg.eigvalsh(_gram(loss))[-1]) if p else 0.0
    bound = 0.25 if loss.shape.n_classes == 2 else 0.5
    outcome = gradient_descent(
        loss.value_and_gradient,
        start,
        lipschitz=max(bound * largest + loss.shape.penalty, np.finfo(float).tiny),
        tol=tol,
        max_iter=max_iter,
        callback=lambda _step, _value: loss.latest is not None and watch(loss.latest),
    )
    now = loss.evaluate(np.array(outcome.params))
    decrement = float(np.linalg.norm(now.gradient)) / np.sqrt(max(bound * largest, 1e-300))
    return Minimum(
        np.array(outcome.params), now, outcome.stopped_by, list(outcome.trace), decrement
    )


def _remember(pairs: list[tuple[Floats, Floats, float]], s: Floats, y: Floats) -> None:
    product = float(s @ y)
    # The loss is convex, so only rounding makes this product small or negative.
    if product > 1e-14 * float(np.linalg.norm(s) * np.linalg.norm(y)):
        pairs.append((s, y, 1.0 / product))
        del pairs[:-MEMORY]


def _two_loops(gradient: Floats, pairs: list[tuple[Floats, Floats, float]], guess: Solve) -> Floats:
    """The quasi-Newton direction, without its sign."""
    q, shares = gradient.copy(), []
    for s, y, rho in reversed(pairs):
        share = rho * float(s @ q)
        q -= share * y
        shares.append(share)
    r = guess(q)
    for (s, y, rho), share in zip(pairs, reversed(shares), strict=True):
        r = r + (share - rho * float(y @ r)) * s
    return r


def kronecker_solve(loss: PenalizedLoss) -> Solve:
    """The inverse of the Hessian at the model without columns, penalty included."""
    shape, rows = loss.shape, loss.rows
    pi = rows.class_weights / rows.class_weights.sum()
    A = np.array([[pi[0] * pi[1]]])
    if shape.n_classes > 2:
        A = shape.basis.T @ (np.diag(pi) - np.outer(pi, pi)) @ shape.basis
    G = _gram(loss)
    scale = unit_scale(np.sqrt(np.diagonal(G)))
    a_values, a_vectors = linalg.eigh(A)
    penalty = shape.penalties[: shape.width]
    factors = []
    for value in a_values:
        factors.append(Factor(value * G + np.diag(penalty) + np.diag(1e-12 * value / scale**2)))

    def solve(vector: Floats) -> Floats:
        turned = a_vectors.T @ vector.reshape(-1, shape.width)
        solved = np.array([f.solve(row) for f, row in zip(factors, turned, strict=True)])
        return np.ascontiguousarray(a_vectors @ solved).ravel()

    return solve


def _gram(loss: PenalizedLoss) -> Floats:
    """`sum_i w_i z_i z_i'` of the centered design, intercept last where there is one."""
    rows, p = loss.rows, loss.shape.width
    total = np.zeros((p, p))
    for chosen, X in rows.blocks():
        Z = X - rows.center
        if loss.shape.fit_intercept:
            Z = np.column_stack([Z, np.ones(len(Z))])
        total += Z.T @ (Z * rows.weight[chosen, np.newaxis])
    return total
