"""Fisher scoring: weighted least squares, again and again.

    minimize  sum_i w_i d(y_i, m_i) / (2 W) + alpha |b|^2 / 2,        g(m_i) = b0 + x_i'b + offset_i

With `D = m'(score)` a step solves the normal equations of `X'WX`, `W = w D^2 / V(m)`; it is halved
until means are possible and the objective does not grow. At the optimum the gradient is zero, and
the last step, whose length nobody sees any more, is taken all the same. Without a penalty, where
numbers of inference are read, steps go four digits further than `tol` if they can. Columns are
taken from their means, so offsets cost no digits; of coefficients that are not determined those of
smallest norm are given.

Of many rows a part, every k-th, is fitted first: what it finds is within its standard errors of the
optimum, and its information tells the way from there. While steps make the expected gain ten times
less, the information is not computed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.learners import Certificate, Stopwatch, Verdict
from novum.core.runtime import check_memory
from novum.core.tables import Coding, Sample, treatment_rows
from novum.linear.column_range import check_range
from novum.linear.generalized.laws import Link
from novum.numerics import EPSILON, Floats

_HALVINGS = 60
# Rows of the part that is fitted first, at least, and of a block that stays in cache.
_PART = 10_000
_BLOCK = 2048
_SIDE = 32
# How much smaller than `tol` the last steps are without a penalty.
_FURTHER = 1e-4
# A fit that has reached its optimum moves scores by much less, one without optimum by about 1.
_MOVING = 0.1


def blocks(n: int) -> Iterator[slice]:
    """Rows that stay in cache together."""
    for first in range(0, n, _BLOCK):
        yield slice(first, first + _BLOCK)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a fit.

    Attributes
    ----------
    X : array (n, p)
        Centered where there is an intercept.
    center : array (p,)
    y, weight, offset : arrays (n,)
    """

    X: Floats
    center: Floats
    y: Floats
    weight: Floats
    offset: Floats

    @classmethod
    def of(cls, sample: Sample, target: Floats, offset: Floats, is_centered: bool) -> Rows:
        """The rows of a sample, read block by block."""
        n, names = sample.n_rows, Coding(sample.schema).names
        check_memory(
            3 * 8 * n * (len(names) + 1),
            f"The design of {n} rows and {len(names)} columns",
            "Select columns, or use PenalizedRegression or LogisticRegression.",
        )
        design = np.asarray(treatment_rows(sample, 0, n), np.float64)
        weight, center = sample.weights, np.zeros(len(names))
        least, most = np.full(len(names), np.inf), np.full(len(names), -np.inf)
        for rows in blocks(n):
            # Several rows side by side: reductions over few columns are slow.
            block = design[rows]
            side = _SIDE if len(block) % _SIDE == 0 else 1
            wide = block.reshape(len(block) // side, side * len(names))
            for extreme, end in ((np.minimum, least), (np.maximum, most)):
                ends = extreme.reduce(wide, axis=0).reshape(side, len(names))
                extreme(end, extreme.reduce(ends, axis=0), out=end)
            if is_centered:
                center += weight[rows] @ (design[rows] - design[0])
        if is_centered:
            center = design[0] + center / weight.sum()
            constant = least == most
            center[constant] = design[0, constant]
        X = np.empty(design.shape)
        for rows in blocks(n):
            np.subtract(design[rows], center, out=X[rows])
        spread = np.maximum(np.abs(least - center), np.abs(most - center))
        check_range(center, spread, lambda: names)
        return cls(X, center, target, weight, offset)

    def every(self, step: int) -> Rows:
        """Every `step`-th row."""
        chosen = slice(None, None, step)
        X = np.ascontiguousarray(self.X[chosen])
        return Rows(X, self.center, self.y[chosen], self.weight[chosen], self.offset[chosen])

    def scores(self, b: Floats, fit_intercept: bool) -> Floats:
        """`Z b` and the offset, with the intercept last in `b`."""
        if not fit_intercept:
            return np.asarray(self.X @ b + self.offset)
        return np.asarray(self.X @ b[:-1] + (self.offset + b[-1]))

    def products(self, r: Floats, fit_intercept: bool) -> Floats:
        """`Z'r`."""
        products = r @ self.X
        return np.append(products, r.sum()) if fit_intercept else products

    def information(self, weight: Floats, fit_intercept: bool) -> Floats:
        """`Z'WZ`, block by block."""
        p = self.X.shape[1]
        matrix = np.zeros((p + fit_intercept, p + fit_intercept))
        root = np.sqrt(weight)
        for rows in blocks(len(weight)):
            scaled = self.X[rows] * root[rows, np.newaxis]
            matrix[:p, :p] += scaled.T @ scaled
            if fit_intercept:
                matrix[:p, p] += root[rows] @ scaled
        if fit_intercept:
            matrix[p, :p], matrix[p, p] = matrix[:p, p], weight.sum()
        return matrix


@dataclass(frozen=True, eq=False)
class Scoring:
    """What scoring found.

    Attributes
    ----------
    intercept : float
        In the centered columns.
    coef : array (p,)
    mean : array (n,)
    information : array (p + 1, p + 1)
        `Z'WZ` of `Z = [X, 1]`, or without the last where there is no intercept.
    value, decrement : float
        The objective, and the expected gain of a further step.
    steps : int
    stopped_by : str
    trace : tuple of float
    last_move : float
        The largest change of a score that the last step asked for. Near an optimum it is tiny;
        where likelihood grows for ever, scores of bounded means move by about one in every step.
    has_flattened : bool
        Whether the information has lost rank on the way, as it does there in the end.
    """

    intercept: float
    coef: Floats
    mean: Floats
    information: Floats
    value: float
    decrement: float
    steps: int
    stopped_by: str
    trace: tuple[float, ...]
    last_move: float
    has_flattened: bool

    def certified(self, link: Link, tol: float, watch: Stopwatch) -> Certificate:
        """The decrement, and whether there is an optimum at all."""
        verdict = Verdict.WITHIN_TOLERANCE
        endless = self.has_flattened or self.last_move > _MOVING
        if link.name in ("log", "logit", "probit") and endless:
            verdict = Verdict.UNBOUNDED
        elif self.stopped_by != "tol":
            verdict = Verdict.STOPPED_EARLY
        return Certificate(
            objective="mean deviance / 2 + penalty",
            verdict=verdict,
            value=self.value,
            residual=float(np.sqrt(self.decrement)),
            iterations=self.steps,
            trace=self.trace,
            details={"solver": "fisher scoring", "tol": tol, "stopped_by": self.stopped_by},
            seconds=watch.seconds,
        )


def score_rows(
    rows: Rows,
    law: Any,
    link: Link,
    *,
    alpha: float,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    start: Floats | None = None,
) -> Scoring:
    """Minimizes the objective of the module; `start` holds coefficients and intercept."""
    n, p = rows.X.shape
    options: dict[str, Any] = {"alpha": alpha, "fit_intercept": fit_intercept, "max_iter": max_iter}
    information: Floats | None = None
    step_of_part = n // max(_PART, 50 * p)
    if start is None and step_of_part >= 4:
        some = rows.every(step_of_part)
        if some.weight.sum() > 0:
            near = score_rows(some, law, link, tol=1e-3, **options)
            start = np.append(near.coef, near.intercept)[: p + fit_intercept]
            information = near.information * (rows.weight.sum() / some.weight.sum())
    is_of_part = information is not None
    total = float(rows.weight.sum())
    penalty = np.full(p + fit_intercept, alpha * total)
    if fit_intercept:
        penalty[-1] = 0.0
    b, eta = _start(rows, law, link, fit_intercept, start)
    mean = link.mean(eta)
    value = _value(rows, law, mean, penalty, b)
    smallest, tiny = EPSILON * _scale(rows, law), 1e-30 * min(1.0, _unit(rows, law))
    trace, stopped_by, steps = [value / total], "max_iter", 0
    decrement, highest, move = np.inf, 0, 0.0
    while True:
        slope = link.slope(eta)
        variance = np.maximum(law.variance(mean), 1e-300)
        weight = rows.weight * slope**2 / variance
        if information is None:
            information = rows.information(weight, fit_intercept)
        residual = rows.weight * (rows.y - mean) * slope / variance
        gradient = rows.products(residual, fit_intercept) - penalty * b
        step, rank = _solved(information + np.diag(penalty), gradient)
        highest = max(highest, rank)
        before, decrement = decrement, max(float(gradient @ step), 0.0) / total
        size = max(abs(value) / total, smallest)
        # Steps go on while they gain, since tests and intervals are read to all their digits.
        ends = alpha > 0 or decrement <= (_FURTHER * tol) ** 2 * size or decrement > 0.5 * before
        if (decrement <= tol**2 * size and ends) or decrement <= tiny:
            stopped_by = "tol"
        elif steps >= max_iter:
            break
        length, moved = 1.0, False
        for _ in range(_HALVINGS):
            trial = b + length * step
            there = rows.scores(trial, fit_intercept)
            mean_there = link.mean(there)
            if length == 1.0:
                with np.errstate(invalid="ignore"):
                    move = float(np.abs(there - eta).max(initial=0.0))
            if law.is_inside(mean_there):
                scoring = _value(rows, law, mean_there, penalty, trial)
                if scoring <= value + 1e-12 * abs(value) + 1e-300:
                    b, eta, mean, value, moved = trial, there, mean_there, scoring, True
                    break
            length *= 0.5
        if length < 1.0 or decrement > 0.1 * before or (is_of_part and decrement < 1e-4 * size):
            information, is_of_part = None, False
        steps += 1
        trace.append(value / total)
        if stopped_by == "tol" or not moved:
            stopped_by = "tol" if stopped_by == "tol" else "precision"
            break
    # Standard errors, which ask for the information at the optimum, hold without a penalty only.
    if alpha == 0 or information is None:
        weight = rows.weight * link.slope(eta) ** 2 / np.maximum(law.variance(mean), 1e-300)
        information = rows.information(weight, fit_intercept)
    coef = b[:-1] if fit_intercept else b
    return Scoring(
        float(b[-1]) if fit_intercept else 0.0,
        coef,
        mean,
        information,
        value / total,
        decrement,
        steps,
        stopped_by,
        tuple(trace),
        move,
        rank < highest,
    )


def _start(
    rows: Rows, law: Any, link: Link, fit_intercept: bool, start: Floats | None
) -> tuple[Floats, Floats]:
    b: Floats = np.zeros(rows.X.shape[1] + fit_intercept)
    if start is not None and start.shape == b.shape:
        eta = rows.scores(start, fit_intercept)
        if law.is_inside(link.mean(eta)):
            return start.copy(), eta
    average = float(rows.weight @ rows.y) / float(rows.weight.sum())
    if fit_intercept:
        spread = float(np.ptp(rows.y)) or 1.0
        mean = average if np.isinf(law.lowest) else max(average, 1e-3 * spread)
        if law.name == "bernoulli":
            mean = min(max(average, 1e-3), 1 - 1e-3)
        with np.errstate(over="ignore"):
            b[-1] = float(link.score(np.array(mean)) - np.average(rows.offset, weights=rows.weight))
    eta = rows.scores(b, fit_intercept)
    if not law.is_inside(link.mean(eta)) and link.name in ("identity", "inverse"):
        # Least squares of the links of targets that are moved inside.
        Z = np.column_stack([rows.X, np.ones(len(rows.y))]) if fit_intercept else rows.X
        inside = np.where(law.allows(rows.y) & (rows.y > 0), rows.y, max(average, 1e-3))
        b = np.asarray(
            np.linalg.lstsq(Z, link.score(0.5 * (inside + average)) - rows.offset, rcond=None)[0],
            np.float64,
        )
        eta = rows.scores(b, fit_intercept)
    return b, eta


def _scale(rows: Rows, law: Any) -> float:
    """The size of the objective of a constant model."""
    average = float(rows.weight @ rows.y) / float(rows.weight.sum())
    mean = np.full_like(rows.y, average)
    if not law.is_inside(mean):
        return 1.0
    return float(np.average(law.deviance(rows.y, mean), weights=rows.weight))


def _unit(rows: Rows, law: Any) -> float:
    """The deviance of a mean that misses the targets by their own size, `m^2 / V(m)`."""
    size = float(rows.weight @ np.abs(rows.y)) / float(rows.weight.sum())
    variance = float(law.variance(np.array(size)))
    return size * (size / variance) if variance > 0 else 1.0


def _value(rows: Rows, law: Any, mean: Floats, penalty: Floats, b: Floats) -> float:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        deviance = float(rows.weight @ law.deviance(rows.y, mean))
    return 0.5 * deviance + 0.5 * float((penalty * b) @ b)


def _solved(H: Floats, gradient: Floats) -> tuple[Floats, int]:
    """`H^+ g` of smallest norm, columns brought to one size first, and the rank."""
    size = np.sqrt(np.maximum(np.diagonal(H), 0.0))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    values, vectors = np.linalg.eigh(H * scale * scale[:, np.newaxis])
    kept = values > 1e-12 * len(H) * max(values.max(initial=0.0), 1e-300)
    turned = vectors[:, kept].T @ (scale * gradient)
    return np.asarray(scale * (vectors[:, kept] @ (turned / values[kept]))), int(kept.sum())
