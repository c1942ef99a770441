"""From rows to a logistic fit: which solver, is there an optimum, what is proved.

The solver is the one of least estimated cost. A pass over the rows costs, per row and in
nanoseconds, about `g = (1.2 + 0.16 m) cells` for the gradient (m scores) and `h = P^2 / 40` more
for the Hessian of P parameters; with n rows

    newton-cholesky   n (4 g + 1.3 h) if n >= 800 P (it starts on subsamples), else 7 n (g + h)
    lbfgs             12 n g + 8 P (h + 60 g), a subsample's Hessian as the first guess
    newton-cg         80 n g, 250 n g without a penalty

and above 5000 parameters newton-cg alone. All minimize the same function to the same tolerance.

Columns that say nothing new are found before an unpenalized fit: coefficients along directions in
which the rows do not differ (a constant column beside the intercept, a column that is the sum of
two others) are not determined. A largest set of independent columns is fitted alone; of all
coefficients with the same scores on the rows the solution of smallest norm is then given, as least
squares does (`least_squares.solution`):

    b <- b - N N'b,        N an orthonormal basis of {v : (x - c)'v = 0 for all rows}.

Most tables have no such columns, and their cross-products show it. Only where these leave a doubt
is the triangular factor computed, which decides with all digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg

from novum.core.learners import Certificate, Stopwatch, Verdict, later
from novum.core.runtime import SILENT, Progress, check_memory
from novum.core.sums import sum_blocks
from novum.core.tables import Sample
from novum.linear.least_squares.solution import Design
from novum.linear.least_squares.statistics import LeastSquaresStatistics
from novum.linear.logistic.certificate import LOSS, Table, certify, proved_bounds
from novum.linear.logistic.newton import Minimum, newton_conjugate, newton_from_subsamples
from novum.linear.logistic.objective import Evaluation, PenalizedLoss, Shape
from novum.linear.logistic.quasi_newton import SKETCH_ROWS, lbfgs, sketched, steepest
from novum.linear.logistic.rows import Rows
from novum.linear.logistic.separation import (
    WIDEST,
    Look,
    Margins,
    Separation,
    as_separation,
    find_direction,
    margins,
)
from novum.numerics import Floats, Positions, column_norms, unit_scale

# Parameters up to which a Hessian is formed, and columns up to which their rank is examined.
WIDEST_HESSIAN = 5000
WIDEST_RANK = 2000
# The information matrix is kept in the model up to this many parameters.
KEPT_INFORMATION = 500
# Factor and Hessian of so many are kept for a certificate that nobody has looked at.
_FEW_PARAMETERS = 100
# Full Newton steps in a row that hardly gain, before separation is looked for.
PATIENCE = 6


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """The result of a fit, in the user's columns.

    Attributes
    ----------
    coef : array (m, d)
    intercept : array (m,)
    minimum : Minimum
    certificate : Certificate, or the call that makes it
    separation : Separation or None
    information : array (P, P) or None
        Hessian of the loss without the penalty, in the centered and independent columns.
    center : array (d,)
    independent : Independent or None
    moments : array (3, d) or None
        Of an unpenalized fit, by which it is known whether another was made on the same rows.
    """

    coef: Floats
    intercept: Floats
    minimum: Minimum
    certificate: Certificate
    separation: Separation | None
    information: Floats | None
    center: Floats
    independent: Independent | None
    moments: Floats | None = None


def choose_solver(rows: Rows, shape: Shape) -> str:
    """The solver of least estimated cost; see the module's text."""
    n, size = rows.n_rows, float(shape.size)
    if size > WIDEST_HESSIAN:
        return "newton-cg"
    gradient = (1.2 + 0.16 * rows.n_scores) * rows.cells
    hessian = size**2 / 40 + rows.n_columns
    many = n >= 800 * size
    newton = n * (4 * gradient + 1.3 * hessian) if many else 7 * n * (gradient + hessian)
    part = min(n, SKETCH_ROWS * size)
    costs = {
        "newton-cholesky": newton,
        "lbfgs": 12 * n * gradient + part * (hessian + 60 * gradient),
        "newton-cg": (80 if shape.penalty else 250) * n * gradient,
    }
    return min(costs, key=lambda name: costs[name])


def fit_rows(
    rows: Rows,
    sample: Sample,
    shape: Shape,
    *,
    solver: str,
    tol: float,
    max_iter: int,
    start: Floats | None = None,
    progress: Progress = SILENT,
    watch: Stopwatch | None = None,
) -> LogisticFit:
    """Fits rows in memory.

    Parameters
    ----------
    rows, sample
        The rows, and the sample they were read from.
    shape : Shape
    solver : str
        "auto" or one of `choose_solver`, "gradient".
    tol, max_iter
    start : array (m, d + 1), optional
        Coefficients and intercepts of an earlier fit, in the user's columns.
    """
    clock = watch or Stopwatch()
    whole, independent = rows.center, None
    moments = rows.moments() if shape.penalty == 0 else None
    if shape.penalty == 0 and shape.n_columns <= WIDEST_RANK:
        independent = independent_columns(rows, sample, fit_intercept=shape.fit_intercept)
    if independent is not None:
        rows = rows.with_columns(independent.kept)
        shape = replace(shape, n_columns=rows.n_columns)
        start = None
    loss = PenalizedLoss(rows, shape)
    first = loss.start() if start is None else _centered_start(start, rows, shape)
    name = choose_solver(rows, shape) if solver == "auto" else solver
    _check_size(shape, name)
    minimum = _minimize(loss, first, name, tol, max_iter, progress)
    minimum, separation = _examined(loss, minimum, tol, max_iter, progress)
    details = {"solver": name, "parameters": shape.size, "passes": loss.passes}
    if independent is not None:
        details["independent_columns"] = len(independent.kept)
    if separation is not None:
        if independent is not None:
            separation = widened(separation, independent, rows.center, whole)
        certificate = unbounded(minimum, separation, clock.seconds, details)
    else:
        # The bounds wait until somebody looks; a fit that has converged needs no warning.
        table = Table.of(rows).without_rows(minimum, shape)
        prove = partial(certify, minimum, shape, table, tol=tol, seconds=clock.seconds)
        waits = minimum.converged and shape.size <= _FEW_PARAMETERS
        certificate = later(prove, details=details) if waits else prove(details=details)
    return as_fit(minimum, certificate, separation, shape, whole, independent, moments)


# --- Solvers --------------------------------------------------------------------------------------


def _minimize(
    loss: PenalizedLoss, start: Floats, name: str, tol: float, max_iter: int, progress: Progress
) -> Minimum:
    unpenalized = loss.shape.penalty == 0
    lightest = float(loss.rows.weight.min())

    def watch(now: Evaluation) -> bool:
        stop = progress.advance(note=f"loss {now.value:.6g}")
        # Every row's loss is then below log 2: all are on their own side.
        return stop or (unpenalized and now.value < 0.5 * lightest)

    options: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "watch": watch}
    if name == "newton-cholesky":
        patience = PATIENCE if unpenalized else None
        return newton_from_subsamples(loss, start, patience=patience, **options)
    if name == "lbfgs" and loss.shape.size <= WIDEST_HESSIAN:
        return sketched(loss, start, **options)
    if name == "lbfgs":
        diagonal = loss.local(start)[1].diagonal()
        weights = np.where(diagonal > 0, diagonal, 1.0)
        return lbfgs(loss, start, lambda v: v / weights, **options)
    if name == "gradient":
        return steepest(loss, start, **options)
    return newton_conjugate(loss, start, **options)


def _check_size(shape: Shape, name: str) -> None:
    if name == "newton-cholesky" or (name == "lbfgs" and shape.size <= WIDEST_HESSIAN):
        what = f"The Hessian of {shape.size} parameters"
        check_memory(4 * 8 * shape.size**2, what, "Use solver='newton-cg'.")


def _centered_start(start: Floats, rows: Rows, shape: Shape) -> Floats:
    W = start.copy()
    W[:, -1] += W[:, :-1] @ rows.center
    return shape.vector(W)


# --- Separation -----------------------------------------------------------------------------------


def _examined(
    loss: PenalizedLoss, minimum: Minimum, tol: float, max_iter: int, progress: Progress
) -> tuple[Minimum, Separation | None]:
    """Looks for separation where nothing proves an optimum; goes on if there is none."""
    rows, shape = loss.rows, loss.shape
    if shape.penalty > 0:
        return minimum, None
    if minimum.stopped_by == "tol" and proved_bounds(minimum, shape, Table.of(rows)) is not None:
        return minimum, None
    scale = search_scale(rows.spread, shape)

    def look(direction: Floats, level: float) -> Margins:
        seen = None
        for chosen, X in rows.blocks():
            Z = np.column_stack([X - rows.center, np.ones(len(X))])[:, : shape.width] * scale
            part = margins(Z, rows.codes[chosen], direction, shape, level)
            seen = part if seen is None else seen + part
        assert seen is not None
        return seen

    separation = search(look, minimum.vector, scale, rows.center, shape)
    if separation is None and minimum.stopped_by == "slow":
        left = max(1, max_iter - minimum.iterations)
        minimum = newton_from_subsamples(
            loss, minimum.vector, tol=tol, max_iter=left, watch=lambda _: progress.advance()
        )
    return minimum, separation


def search_scale(spread: Floats, shape: Shape) -> Floats:
    """Powers of two that bring columns to one size, (p,)."""
    return np.append(unit_scale(spread), 1.0)[: shape.width]


def search(
    look: Look, vector: Floats, scale: Floats, center: Floats, shape: Shape
) -> Separation | None:
    """Looks at where the fit stopped, then for any direction that separates."""
    start = (vector.reshape(-1, shape.width) / scale).ravel()
    if shape.size > WIDEST:
        seen = look(start, 0.0)
        known = None if seen.depths.size or not seen.touched else (start, seen)
    else:
        known = find_direction(look, shape.size, start)
    return None if known is None else as_separation(*known, scale, center, shape)


def widened(
    separation: Separation, independent: Independent, center: Floats, whole: Floats
) -> Separation:
    """The direction with coefficients for all columns."""
    coef = independent.smallest(separation.coef)
    intercept = separation.intercept + separation.coef @ center - coef @ whole
    return replace(separation, coef=coef, intercept=intercept)


def unbounded(
    minimum: Minimum, separation: Separation, seconds: float, details: dict[str, Any]
) -> Certificate:
    """The certificate of a fit whose optimum is at infinity."""
    complete = separation.kind == "complete"
    return Certificate(
        objective=LOSS,
        verdict=Verdict.UNBOUNDED,
        value=minimum.evaluation.value,
        lower_bound=0.0 if complete else None,
        residual=float(np.linalg.norm(minimum.evaluation.gradient)),
        iterations=minimum.iterations,
        trace=minimum.trace,
        details={
            **details,
            "stopped_by": "separation",
            "separation": separation.kind,
            "separated_rows": separation.separated,
            "direction": separation.coef,
            "direction_intercept": separation.intercept,
        },
        seconds=seconds,
    )


def as_fit(
    minimum: Minimum,
    certificate: Certificate,
    separation: Separation | None,
    shape: Shape,
    center: Floats,
    independent: Independent | None,
    moments: Floats | None,
) -> LogisticFit:
    """The result in the user's columns; `center` is that of all of them."""
    W = shape.coefficients(minimum.vector)
    coef = W[:, :-1] if independent is None else independent.smallest(W[:, :-1])
    # The center is a mean of rows, where both sets of coefficients give the same scores.
    intercept = W[:, -1] - coef @ center
    information = None
    if minimum.hessian is not None and minimum.moved == 0 and shape.size <= KEPT_INFORMATION:
        information = minimum.hessian - np.diag(shape.penalties)
    return LogisticFit(
        np.ascontiguousarray(coef),
        intercept if shape.fit_intercept else np.zeros_like(intercept),
        minimum,
        certificate,
        separation,
        information,
        center,
        independent,
        moments,
    )


# Cross-products have lost half of the digits below this ratio of eigenvalues.
_DOUBT = 1e-7


@dataclass(frozen=True, eq=False)
class Independent:
    """A largest independent set of the columns, and the directions the rows leave open.

    Attributes
    ----------
    kept : integer array (rank,)
    null_space : array (d, d - rank)
    """

    kept: Positions
    null_space: Floats

    def smallest(self, coef: Floats) -> Floats:
        """Coefficients (m, d) of smallest norm with the scores of `coef` (m, rank)."""
        whole = np.zeros((len(coef), len(self.null_space)))
        whole[:, self.kept] = coef
        whole -= (whole @ self.null_space) @ self.null_space.T
        # A column that is constant on the rows is left open by itself: exactly zero.
        whole[:, np.linalg.norm(self.null_space, axis=1) > 1 - 1e-12] = 0.0
        return whole


def independent_columns(rows: Rows, sample: Sample, *, fit_intercept: bool) -> Independent | None:
    """The independent columns, or None where all are."""
    if not _doubtful(rows):
        return None
    return independent_of(sum_blocks(triangle, sample), fit_intercept=fit_intercept)


def triangle(sample: Sample) -> LeastSquaresStatistics:
    """The triangular factor of the rows with the class's number as their target."""
    target = np.asarray(sample.target, np.float64)
    return LeastSquaresStatistics.of(replace(sample, target=target, classes=None))


def moments_of(sums: LeastSquaresStatistics) -> Floats:
    """Mean and deviation of each column, and its covariance with the class's number, (3, d)."""
    design = Design.of(sums, fit_intercept=True)
    deviation = column_norms(design.x) / np.sqrt(sums.weight)
    covariance = design.x.T @ design.y[:, 0] / sums.weight
    return np.array([design.x_mean, deviation, covariance])


def independent_of(sums: LeastSquaresStatistics, *, fit_intercept: bool) -> Independent | None:
    """The independent columns of rows known by their triangular factor."""
    design = Design.of(sums, fit_intercept)
    if design.rank == design.x.shape[1]:
        return None
    pivots = linalg.qr(design.x * design.scale, mode="r", pivoting=True)[1]
    return Independent(np.sort(pivots[: design.rank]).astype(np.intp), design.null_space)


def _doubtful(rows: Rows) -> bool:
    """Whether cross-products leave the rank open."""
    d = rows.n_columns
    gram = np.zeros((d, d))
    for _, X in rows.blocks():
        Z = X - rows.center
        gram += Z.T @ Z
    # A constant column has nothing but the rounding of its center.
    size = np.sqrt(np.diagonal(gram))
    if (size <= 1e-7 * np.sqrt(rows.n_rows) * np.abs(rows.center)).any() or not size.all():
        return True
    scale = unit_scale(size)
    values = linalg.eigvalsh(gram * scale * scale[:, np.newaxis])
    return bool(values[0] <= _DOUBT * values[-1])
