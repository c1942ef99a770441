"""Logistic regression over chunks, files and clusters: Newton's method by passes.

A first pass finds levels, classes, their weights and the size of the columns. Every further pass
sums loss, gradient and Hessian of the chunks at the present coefficients (`loss`), which
is all that a Newton step needs; `core.sums.expectation` drives the steps and checks that none makes
the objective worse. Without a penalty one pass more sums the triangular factor of the columns,
which knows their rank, and separation is looked for by passes too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Stopwatch
from novum.core.runtime import SILENT, Progress
from novum.core.sums import ChunkPasses, Fitted, StopRule, SumProblem, fit_sums
from novum.core.tables import Coding, Sample, Schema, treatment_rows
from novum.core.text import label_text, listed
from novum.linear.column_range import check_range
from novum.linear.least_squares.statistics import LeastSquaresStatistics
from novum.linear.logistic.certificate import Table, certify, proved_bounds
from novum.linear.logistic.fit import (
    PATIENCE,
    WIDEST_HESSIAN,
    Independent,
    LogisticFit,
    as_fit,
    independent_of,
    moments_of,
    search,
    search_scale,
    triangle,
    unbounded,
    widened,
)
from novum.linear.logistic.loss import LossSums, loss_sums
from novum.linear.logistic.newton import FINISH, Minimum
from novum.linear.logistic.objective import Factor, Shape
from novum.linear.logistic.separation import Margins, Separation, margins
from novum.numerics import Array, Floats, Integers, Positions


@dataclass(frozen=True, eq=False)
class FirstPass:
    """What the first pass learns of a table.

    Attributes
    ----------
    schema : Schema
    classes : array (K,)
    class_weights : array (K,)
    lightest : float
        Smallest weight of a row.
    mean, scatter, low, high : arrays (numeric columns,)
        Weighted mean, sum of squares about it, and extremes.
    """

    schema: Schema
    classes: Array
    class_weights: Floats
    lightest: float
    mean: Floats
    scatter: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, sample: Sample) -> FirstPass:
        """The summary of one chunk."""
        assert sample.classes is not None
        X = sample.numeric.toarray() if sample.is_sparse else sample.numeric
        w, low, high = sample.weights, X.min(axis=0), X.max(axis=0)
        check_range(
            np.maximum(np.abs(low), np.abs(high)),
            np.zeros(len(low)),
            lambda: [sample.schema.names[i] for i in sample.schema.numeric],
        )
        mean = X[0] + w @ (X - X[0]) / w.sum()
        return cls(
            sample.schema,
            sample.classes,
            np.bincount(sample.target, w, len(sample.classes)).astype(np.float64),
            float(w.min()),
            mean,
            w @ (X - mean) ** 2,
            low,
            high,
        )

    def __add__(self, other: FirstPass) -> FirstPass:
        _check_same_kind(self.classes, other.classes)
        classes = np.union1d(self.classes, other.classes)
        weights = np.zeros(len(classes))
        weights[np.searchsorted(classes, self.classes)] += self.class_weights
        weights[np.searchsorted(classes, other.classes)] += other.class_weights
        a, b = float(self.class_weights.sum()), float(other.class_weights.sum())
        away = other.mean - self.mean
        return FirstPass(
            self.schema.unite(other.schema),
            classes,
            weights,
            min(self.lightest, other.lightest),
            self.mean + b / (a + b) * away,
            self.scatter + other.scatter + a * b / (a + b) * away**2,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def columns(self, *, centered: bool) -> tuple[Floats, Floats, Floats]:
        """Center, spread and reach of the columns of the treatment design."""
        coding = Coding(self.schema)
        center, spread, reach = (np.full(coding.full_width, v) for v in (0.0, 0.5, 1.0))
        at = coding.starts[self.schema.numeric]
        center[at] = self.mean if centered else 0.0
        total = float(self.class_weights.sum())
        spread[at] = np.sqrt(self.scatter / total + (0.0 if centered else self.mean**2))
        reach[at] = np.maximum(np.abs(self.high - center[at]), np.abs(self.low - center[at]))
        kept = coding.treatment
        return center[kept], spread[kept], reach[kept]


# --- Steps, which travel to workers ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ChunkReader:
    """Turns a sample into design, class codes and effective weights.

    Attributes
    ----------
    classes : array (K,)
    factors : array (K,)
        Of `class_labels`.
    kept : array or None
        The independent columns.
    """

    classes: Array
    factors: Floats
    kept: Positions | None = None

    def __call__(self, chunk: Sample) -> tuple[Floats, Integers, Floats]:
        codes = self.codes(chunk)
        X = treatment_rows(chunk, 0, chunk.n_rows)
        if self.kept is not None:
            X = X[:, self.kept]
        return X, codes, chunk.weights * self.factors[codes]

    def codes(self, chunk: Sample) -> Integers:
        """Places of the classes of the rows."""
        assert chunk.classes is not None
        _check_same_kind(self.classes, chunk.classes)
        places = np.minimum(np.searchsorted(self.classes, chunk.classes), len(self.classes) - 1)
        strange = np.flatnonzero(self.classes[places] != chunk.classes)
        if strange.size:
            raise InputError(
                f"Label {label_text(chunk.classes[strange[0]])} did not occur in the first pass "
                "over the chunks. A callable must return the same chunks every time."
            )
        return np.asarray(places[chunk.target], np.int64)


@dataclass(frozen=True, eq=False)
class _TriangleStep:
    reader: ChunkReader

    def __call__(self, chunk: Sample) -> LeastSquaresStatistics:
        codes = self.reader.codes(chunk)
        weight = chunk.weights * self.reader.factors[codes]
        return triangle(replace(chunk, target=codes, weight=weight))


@dataclass(frozen=True, eq=False)
class _MarginStep:
    reader: ChunkReader
    center: Floats
    scale: Floats
    shape: Shape
    direction: Floats
    level: float

    def __call__(self, chunk: Sample) -> Margins:
        X, codes, _ = self.reader(chunk)
        Z = np.column_stack([X - self.center, np.ones(len(X))])[:, : self.shape.width]
        return margins(Z * self.scale, codes, self.direction, self.shape, self.level)


class _NoGain(Exception):  # noqa: N818  (an outcome, not a fault)
    """Steps gain so little that separation must be looked for."""

    def __init__(self, vector: Floats, sums: LossSums, trace: list[float]) -> None:
        super().__init__()
        self.vector, self.sums, self.trace = vector, sums, trace


class LogisticSums(SumProblem[Floats, LossSums]):
    """The penalized log loss as a problem of sums; parameters are the vector of `Shape`."""

    objective_name = "sum of log losses"
    direction = "minimize"
    convex = True

    def __init__(self, reader: ChunkReader, center: Floats, shape: Shape, first: Floats) -> None:
        self.reader, self.center, self.shape, self.first = reader, center, shape, first
        self.lightest, self.patience = 0.0, False
        self.tol = 0.0
        self._trace: list[float] = []
        self._slow, self._last, self._rate = 0, np.inf, 0.0

    def start(self, rng: np.random.Generator, /) -> Floats:  # noqa: ARG002
        return self.first

    def step(self, params: Floats, chunk: Sample, /) -> LossSums:
        X, codes, weight = self.reader(chunk)
        W = self.shape.coefficients(params)
        return loss_sums(X, codes, weight, W, self.center, hessian=True)

    def objective(self, params: Floats, statistics: LossSums, /) -> float:
        return self.shape.evaluation(replace(statistics, hessian=None), params).value

    def update(self, params: Floats, statistics: LossSums, /) -> Floats:
        here = self.shape.evaluation(statistics, params)
        assert here.hessian is not None
        step = Factor(here.hessian).solve(here.gradient)
        decrement = float(np.sqrt(max(0.0, float(here.gradient @ step))))
        self._trace.append(here.value)
        self._rate, self._last = decrement / self._last, decrement
        self._slow = self._slow + 1 if self._rate > 0.45 else 0
        if self.patience and (self._slow >= PATIENCE or here.value < 0.5 * self.lightest):
            raise _NoGain(params, statistics, self._trace)
        return params - step

    def retreat(self, params: Floats, proposal: Floats, /) -> Floats | None:
        return 0.5 * (params + proposal)

    def residual(self, params: Floats, statistics: LossSums, /) -> float | None:
        """Newton's decrement as a share of the root of the objective."""
        here = self.shape.evaluation(statistics, params)
        assert here.hessian is not None
        decrement = Factor(here.hessian).norm(here.gradient)
        share = decrement / float(np.sqrt(here.value)) if here.value > 0 else 0.0
        # Within the tolerance, a decrement that no longer falls is rounding.
        return FINISH * share if self._rate > 0.3 and share <= self.tol else share


# --- The fit --------------------------------------------------------------------------------------


def fit_passes(
    passes: ChunkPasses,
    known: FirstPass,
    factors: Floats,
    *,
    penalty: float,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    progress: Progress = SILENT,
) -> LogisticFit:
    """Fits chunks that can be read again and again."""
    clock = Stopwatch()
    center, spread, reach = known.columns(centered=fit_intercept)
    whole, shape = center, Shape(len(known.classes), len(center), fit_intercept, penalty)
    _check_width(shape)
    # Squares of tiny cells vanish from the spread, but not from the reach.
    seen = np.where(spread > 0, spread, reach)
    check_range(center, seen, lambda: Coding(known.schema).names)
    reader = ChunkReader(known.classes, factors)
    independent, moments = None, None
    if penalty == 0:
        columns = passes(_TriangleStep(reader))
        independent = independent_of(columns, fit_intercept=fit_intercept)
        moments = moments_of(columns)
    if independent is not None:
        kept = independent.kept
        center, spread, reach = center[kept], spread[kept], reach[kept]
        reader, shape = replace(reader, kept=kept), replace(shape, n_columns=len(kept))
    weights = known.class_weights * factors
    problem = LogisticSums(reader, center, shape, shape.null_vector(weights))
    problem.lightest = known.lightest * float(factors.min())
    table = Table(center, spread, float(weights.sum()), lambda s: float(np.linalg.norm(s * reach)))
    minimum, separation = _solved(passes, problem, table, tol, max_iter, progress)
    details: dict[str, Any] = {"solver": "newton-cholesky", "parameters": shape.size}
    if independent is not None:
        details["independent_columns"] = len(independent.kept)
    if separation is None:
        certificate = certify(
            minimum, shape, table, tol=tol, seconds=clock.seconds, details=details
        )
    else:
        separation = _whole(separation, independent, center, whole)
        certificate = unbounded(minimum, separation, clock.seconds, details)
    return as_fit(minimum, certificate, separation, shape, whole, independent, moments)


def _whole(
    separation: Separation, independent: Independent | None, center: Floats, whole: Floats
) -> Separation:
    return separation if independent is None else widened(separation, independent, center, whole)


def _solved(
    passes: ChunkPasses,
    problem: LogisticSums,
    table: Table,
    tol: float,
    max_iter: int,
    progress: Progress,
) -> tuple[Minimum, Separation | None]:
    rule = StopRule(tol=None, residual_tol=FINISH * tol, max_iter=max_iter)
    problem.patience, problem.tol = problem.shape.penalty == 0, tol
    try:
        minimum = _minimum(problem, fit_sums(problem, passes, stop=rule, progress=progress))
    except _NoGain as reached:
        here = problem.shape.evaluation(reached.sums, reached.vector)
        minimum = Minimum(reached.vector, here, "slow", reached.trace, np.inf)
    if problem.shape.penalty > 0 or (
        minimum.converged and proved_bounds(minimum, problem.shape, table) is not None
    ):
        return minimum, None
    scale = search_scale(table.spread, problem.shape)

    def look(direction: Floats, level: float) -> Margins:
        step = _MarginStep(problem.reader, table.center, scale, problem.shape, direction, level)
        seen: Margins = passes(step)
        return seen

    separation = search(look, minimum.vector, scale, table.center, problem.shape)
    if separation is None and minimum.stopped_by == "slow":
        problem.patience, problem.first = False, minimum.vector
        minimum = _minimum(problem, fit_sums(problem, passes, stop=rule, progress=progress))
    return minimum, separation


def _minimum(problem: LogisticSums, fitted: Fitted[Floats, LossSums]) -> Minimum:
    here = problem.shape.evaluation(fitted.statistics, fitted.params)
    assert here.hessian is not None
    factor = Factor(here.hessian)
    stopped_by = str(fitted.certificate.details["stopped_by"])
    if stopped_by == "stalled":
        stopped_by = "rounding"
    trace = list(fitted.certificate.trace or (here.value,))
    step = -factor.solve(here.gradient)
    # As in memory: the last step costs nothing.
    taken = step if stopped_by == "tol" else np.zeros_like(step)
    return Minimum(
        fitted.params + taken,
        here,
        stopped_by,
        trace,
        factor.norm(here.gradient),
        taken,
        factor,
        here.hessian,
    )


def _check_width(shape: Shape) -> None:
    if shape.size > WIDEST_HESSIAN:
        raise InputError(
            f"A fit over chunks sums the Hessian of all {shape.size} parameters, more than "
            f"{WIDEST_HESSIAN}. Use `fit` with a sparse matrix, or select columns."
        )


def _check_same_kind(a: Array, b: Array) -> None:
    """Refuses labels of different types, which have no common order."""

    def is_text(labels: Array) -> bool:
        return labels.dtype.kind in "UOST"

    if a.size and b.size and is_text(a) != is_text(b):
        raise InputError(
            f"Labels {listed(a.tolist(), 5)} and {listed(b.tolist(), 5)} are of different "
            "types. Convert all labels to one type, such as text."
        )
