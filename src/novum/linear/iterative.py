"""Least squares by iteration: gradient descent on the factor, and LSQR on the rows.

*Gradient descent* minimizes `|R_y - R_x B|^2 + alpha |B|^2` with the step `2 / (L + mu)` that the
extreme curvatures allow; every step's decrease is checked. It works on the factor, so a step costs
the square of the width whatever the number of rows. It is here to be looked at: its trace is in
the certificate.

*LSQR* (Paige and Saunders 1982) needs only products with `X` and `X'`. It serves sparse tables too
wide for a factor. Centering is done inside the products, so `X` stays sparse.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsqr

from novum.core.certificate import Certificate, Stopwatch, Verdict
from novum.core.coding import Coding
from novum.core.errors import InputError
from novum.core.validation import Sample
from novum.linear.certification import LEAST_SQUARES, RIDGE, certify
from novum.linear.solution import Design, Floats, Solution, solve

GRADIENT_STEPS = 10_000


# --- Gradient descent -----------------------------------------------------------------------------


def descend(
    design: Design, alpha: Floats, tol: float, max_iter: int | None, positive: bool
) -> tuple[Solution, Certificate]:
    """Gradient descent from zero, in coordinates scaled by powers of two."""
    from novum.numerics.optimize import gradient_descent

    if positive:
        raise InputError("solver='gradient' cannot keep coefficients positive. Use solver='auto'.")
    watch = Stopwatch()
    exact = solve(design, alpha)
    scale, n_targets = exact.scale[:, np.newaxis], design.y.shape[1]
    x = design.x * exact.scale
    curvature = np.linalg.svd(x, compute_uv=False)
    slack = float(alpha.max()) * float(exact.scale.max(initial=0.0)) ** 2
    floor = float(alpha.min()) * float(exact.scale.min(initial=np.inf)) ** 2
    largest = 2 * (float(curvature[0]) ** 2 + slack) if curvature.size else 1.0
    smallest = 2 * (float(curvature[exact.rank - 1]) ** 2 + floor) if exact.rank else None

    def value_and_gradient(flat: Floats) -> tuple[float, Floats]:
        inner = flat.reshape(-1, n_targets)
        residual, penalty = design.y - x @ inner, alpha * scale**2 * inner
        gradient = -2 * (x.T @ residual - penalty)
        return float((residual**2).sum() + (penalty * inner).sum()), gradient.ravel()

    outcome = gradient_descent(
        value_and_gradient,
        np.zeros(x.shape[1] * n_targets),
        lipschitz=max(largest, np.finfo(float).tiny),
        strong_convexity=smallest if exact.rank == x.shape[1] else None,
        tol=tol,
        max_iter=GRADIENT_STEPS if max_iter is None else max_iter,
    )
    coef = scale * outcome.params.reshape(-1, n_targets)
    intercept = design.y_mean - design.x_mean @ coef
    solution = replace(exact, coef=coef, intercept=intercept)
    return solution, _descent_certificate(design, solution, outcome, watch)


def _descent_certificate(
    design: Design, solution: Solution, outcome: Any, watch: Stopwatch
) -> Certificate:
    proof = certify(design, solution, watch.seconds)
    done = outcome.stopped_by in ("tol", "rounding")
    return Certificate(
        objective=proof.objective,
        verdict=Verdict.WITHIN_TOLERANCE if done else Verdict.STOPPED_EARLY,
        value=proof.value,
        lower_bound=proof.lower_bound,
        distance_bound=proof.distance_bound,
        residual=proof.residual,
        iterations=outcome.iterations,
        trace=outcome.trace,
        details={**proof.details, "stopped_by": outcome.stopped_by},
        seconds=watch.seconds,
    )


# --- LSQR -----------------------------------------------------------------------------------------


class RowSolution(NamedTuple):
    coef: Floats
    intercept: Floats
    certificate: Certificate


def solve_rows(
    sample: Sample,
    alpha: Floats,
    fit_intercept: bool,
    tol: float,
    max_iter: int | None,
    watch: Stopwatch,
) -> RowSolution:
    """Ridge or least squares by LSQR on the (sparse) rows themselves."""
    if not sample.schema.is_numeric:
        raise InputError(
            "solver='lsqr' takes numeric columns only; categorical ones need solver='auto'."
        )
    rows = _CenteredRows(sample, fit_intercept)
    targets = sample.target.reshape(sample.n_rows, -1)
    coef, gradients, steps, done = [], [], 0, True
    limit = 20 * max(rows.operator.shape) if max_iter is None else max_iter
    for target, penalty in zip(targets.T, alpha, strict=True):
        y = rows.root * (target - rows.mean_of(target))
        found, reason, iterations, *_ = lsqr(
            rows.operator,
            y,
            damp=np.sqrt(penalty),
            atol=tol * 1e-4,
            btol=tol * 1e-4,
            iter_lim=limit,
        )
        coef.append(found)
        gradients.append(rows.operator.rmatvec(y - rows.operator.matvec(found)) - penalty * found)
        steps, done = max(steps, iterations), done and reason in (0, 1, 2, 4, 5)
    solution = np.column_stack(coef)
    intercept = np.array([rows.mean_of(target) for target in targets.T]) - rows.mean @ solution
    residuals = targets - intercept - np.asarray(sample.numeric @ solution)
    value = float((rows.weight[:, np.newaxis] * residuals**2).sum() + (alpha * solution**2).sum())
    certificate = _row_certificate(value, np.column_stack(gradients), alpha, steps, done, watch)
    return RowSolution(solution, intercept, certificate)


class _CenteredRows:
    """`W^(1/2) (X - mean)` as an operator that never leaves the sparse format."""

    def __init__(self, sample: Sample, fit_intercept: bool) -> None:
        self.weight = np.ones(sample.n_rows) if sample.weight is None else sample.weight
        self.root = np.sqrt(self.weight)
        self.fit_intercept = fit_intercept
        X = sample.numeric
        self.mean = (
            np.asarray(self.weight @ X).ravel() / self.weight.sum()
            if fit_intercept
            else np.zeros(Coding(sample.schema).full_width)
        )
        self.operator = LinearOperator(
            X.shape,
            matvec=lambda v: self.root * (X @ v - self.mean @ v),
            rmatvec=lambda u: X.T @ (self.root * u) - self.mean * (self.root @ u),
            dtype=np.float64,
        )

    def mean_of(self, target: Floats) -> float:
        return float(self.weight @ target / self.weight.sum()) if self.fit_intercept else 0.0


def _row_certificate(
    value: float, gradient: Floats, alpha: Floats, steps: int, done: bool, watch: Stopwatch
) -> Certificate:
    steepness, curvature = float(np.linalg.norm(gradient)), float(alpha.min())
    bounded = curvature > 0
    return Certificate(
        objective=RIDGE if alpha.any() else LEAST_SQUARES,
        verdict=Verdict.WITHIN_TOLERANCE if done else Verdict.STOPPED_EARLY,
        value=value,
        lower_bound=max(0.0, value - steepness**2 / curvature) if bounded else 0.0,
        distance_bound=steepness / curvature if bounded else None,
        residual=steepness,
        iterations=steps,
        details={"solver": "lsqr"},
        seconds=watch.seconds,
    )
