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
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, lsqr

from novum.core.errors import InputError
from novum.core.learners import Certificate, Stopwatch, Verdict
from novum.core.tables import Coding, Sample
from novum.linear.column_range import check_target_range
from novum.linear.least_squares.certification import LEAST_SQUARES, RIDGE, certify
from novum.linear.least_squares.solution import Design, Solution, check_coefficients
from novum.numerics import Floats, unit_scale

GRADIENT_STEPS = 10_000

# Up to this ratio of column sizes LSQR loses at most three digits to units.
LIKE_SIZE = 1000.0


# --- Gradient descent -----------------------------------------------------------------------------


def descend(
    design: Design, exact: Solution, tol: float, max_iter: int | None
) -> tuple[Solution, Certificate]:
    """Gradient descent from zero, in the coordinates of the exact solution."""
    from novum.numerics import gradient_descent

    watch = Stopwatch()
    scale, n_targets, alpha = design.scale[:, np.newaxis], design.y.shape[1], exact.alpha
    # Powers of two: squares of targets in any unit are doubles, and the steps are the same.
    x, unit = design.x * design.scale, float(unit_scale(np.abs(design.y).max(initial=0.0)))
    y = unit * design.y
    curvature = np.linalg.svd(x, compute_uv=False)
    slack = float(np.sqrt(alpha.max())) * float(design.scale.max(initial=0.0))
    floor = float(np.sqrt(alpha.min())) * float(design.scale.min(initial=1.0))
    largest = 2 * (float(curvature[0]) ** 2 + slack * slack) if curvature.size else 1.0
    smallest = 2 * (float(curvature[design.rank - 1]) ** 2 + floor * floor) if design.rank else None

    def value_and_gradient(flat: Floats) -> tuple[float, Floats]:
        inner = flat.reshape(-1, n_targets)
        residual, penalty = y - x @ inner, (np.sqrt(alpha) * scale) ** 2 * inner
        gradient = -2 * (x.T @ residual - penalty)
        return float((residual**2).sum() + (penalty * inner).sum()), gradient.ravel()

    outcome = gradient_descent(
        value_and_gradient,
        np.zeros(x.shape[1] * n_targets),
        lipschitz=max(largest, np.finfo(float).tiny),
        strong_convexity=smallest if design.rank == x.shape[1] else None,
        tol=tol,
        max_iter=GRADIENT_STEPS if max_iter is None else max_iter,
    )
    coef = scale * outcome.params.reshape(-1, n_targets) / unit
    intercept = design.y_mean - design.x_mean @ coef
    solution = replace(exact, coef=coef, intercept=intercept)
    outcome = replace(outcome, trace=tuple(value / unit / unit for value in outcome.trace))
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
    """Coefficients (p, t), intercept (t,) and certificate of a fit that kept no statistics."""

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
    rows, targets = _CenteredRows(sample, fit_intercept), sample.targets
    check_target_range(targets, least=0.0)
    limit = 20 * max(rows.operator.shape) if max_iter is None else max_iter
    # Coefficients that overflow are refused by the name of their column.
    with np.errstate(over="ignore", invalid="ignore"):
        solutions = [
            _solve_target(rows, target, float(penalty), tol, limit)
            for target, penalty in zip(targets.T, alpha, strict=True)
        ]
    coef = np.column_stack([each.coef for each in solutions])
    if not alpha.all():
        check_coefficients(coef, rows.reach, lambda: sample.schema.names)
    intercept = np.array([rows.mean_of(target) for target in targets.T]) - rows.mean @ coef
    residuals = targets - intercept - np.asarray(sample.numeric @ coef)
    value = float(
        (rows.weight[:, np.newaxis] * residuals**2).sum() + ((np.sqrt(alpha) * coef) ** 2).sum()
    )
    gradient = np.column_stack([each.gradient for each in solutions])
    steps, done = max(each.steps for each in solutions), all(each.done for each in solutions)
    certificate = _row_certificate(value, gradient, alpha, steps, done, watch)
    return RowSolution(coef, intercept, certificate)


class _TargetSolution(NamedTuple):
    coef: Floats
    gradient: Floats
    steps: int
    done: bool


def _solve_target(
    rows: _CenteredRows, target: Floats, penalty: float, tol: float, limit: int
) -> _TargetSolution:
    """LSQR on `[A; sqrt(alpha) I] S z`, where `S` brings columns of very unequal size together."""
    A, y = rows.operator, rows.root * (target - rows.mean_of(target))
    # SciPy's limits of progress are absolute: targets near one size have one course.
    unit = unit_scale(np.abs(y).max(initial=0.0))
    n, p = A.shape
    scale, root = rows.scale(penalty), np.sqrt(penalty)
    stacked = LinearOperator(
        (n + p, p),
        matvec=lambda z: np.concatenate([A.matvec(scale * z), root * scale * z]),
        rmatvec=lambda u: scale * (A.rmatvec(u[:n]) + root * u[n:]),
        dtype=np.float64,
    )
    right = np.concatenate([unit * y, np.zeros(p)])
    solution, reason, steps, *_ = lsqr(
        stacked, right, atol=tol * 1e-4, btol=tol * 1e-4, iter_lim=limit
    )
    coef = scale * solution / unit
    gradient = A.rmatvec(y - A.matvec(coef)) - penalty * coef
    return _TargetSolution(coef, gradient, steps, reason in (0, 1, 2, 4, 5))


class _CenteredRows:
    """`W^(1/2) (X - mean)` as an operator that never leaves the sparse format."""

    def __init__(self, sample: Sample, fit_intercept: bool) -> None:
        self.weight = sample.weights
        self.root = np.sqrt(self.weight)
        self.fit_intercept = fit_intercept
        X = sample.numeric
        self.mean = (
            np.asarray(self.weight @ X).ravel() / self.weight.sum()
            if fit_intercept
            else np.zeros(Coding(sample.schema).full_width)
        )
        highest, lowest = _extremes(X)
        self.reach = np.maximum(np.abs(highest - self.mean), np.abs(lowest - self.mean))
        if fit_intercept:
            # The rounding of a constant column's mean is no spread.
            self.reach[highest == lowest] = 0.0
        self.operator = LinearOperator(
            X.shape,
            matvec=lambda v: self.root * (X @ v - self.mean @ v),
            rmatvec=lambda u: X.T @ (self.root * u) - self.mean * (self.root @ u),
            dtype=np.float64,
        )

    def scale(self, penalty: float) -> Floats:
        """Powers of two that bring the columns near one size; one for all where that will do.

        LSQR judges its progress by the largest column, so that a column in much smaller units would
        be left unsolved. Scaling changes which of many solutions has the smallest norm, so columns
        of like size share their factor, and so do those of wide tables without a penalty.
        """
        n, p = self.operator.shape
        sizes = np.hypot(np.sqrt(self.weight.sum()) * self.reach, np.sqrt(penalty))
        present = sizes[sizes > 0]
        if not present.size:
            return np.ones_like(sizes)
        like = present.max() <= LIKE_SIZE * present.min()
        if like or (penalty == 0 and p >= n):
            return np.broadcast_to(unit_scale(present.max()), (p,))
        return unit_scale(sizes)

    def mean_of(self, target: Floats) -> float:
        """Weighted mean of a target; zero without an intercept."""
        return float(self.weight @ target / self.weight.sum()) if self.fit_intercept else 0.0


def _extremes(X: Any) -> tuple[Floats, Floats]:
    """The largest and the smallest cell of each column."""
    ends = X.max(axis=0), X.min(axis=0)
    highest, lowest = (np.ravel(end.toarray() if issparse(end) else end) for end in ends)
    return highest, lowest


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
