"""What a logistic fit can prove: distance to the optimum, and that there is one.

The third derivative of the logistic loss is at most its second times the change of the scores, so
Hessians at two points differ by no more than a factor: with `R` the largest change of a score (or
difference of two scores) per unit of `|v|_H`,

    exp(-R |v|_H) H  <=  H(at v from here)  <=  exp(R |v|_H) H.

With the decrement `nu = |g|_{H^-1}` and `a = R nu < 1` it follows that an optimum exists and that

    |v - v*|_H <= -log(1 - a) / R,        F - F* <= (a + (1 - a) log(1 - a)) / R^2,

about `nu` and `nu^2 / 2` near the optimum: strong convexity with the modulus that holds here, not
the one that holds everywhere (Bach 2010, "Self-concordant analysis for logistic regression",
proposition 2, solved for its constants). For `H` any smaller matrix may stand in. Where the Hessian
itself is too large that is `diag(penalty I, S)`, in the coordinates in which intercepts (with
Hessian `S`) and slopes are uncoupled; with penalized parameters alone it is `penalty I`, and no `R`
is needed. Sums are rounded: allowances for that are part of `g` and of the lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from novum.core.learners import Certificate, Verdict
from novum.linear.logistic.newton import Minimum
from novum.linear.logistic.objective import Factor, Shape
from novum.linear.logistic.rows import Rows
from novum.numerics import EPSILON, Floats

LOSS = "sum of log losses"
PENALIZED = "sum of log losses + |coef|^2 / (2 C)"

# A relative gap of this size is rounding.
_ROUNDING = 1e-11
# An inverse of more parameters would cost more than the fit.
_WIDEST_INVERSE = 2000


@dataclass(frozen=True)
class Bounds:
    """Proved bounds of the gap and of the distance (coefficients and intercepts) to the optimum."""

    gap: float
    distance: float


@dataclass(frozen=True, eq=False)
class Table:
    """What the bounds need to know of the rows.

    Attributes
    ----------
    center, spread : arrays (d,)
    weight : float
        Sum of the effective weights.
    largest_norm : callable
        A bound of the largest `|(x - center) scale|` for a scale (d,).
    """

    center: Floats
    spread: Floats
    weight: float
    largest_norm: Callable[[Floats], float]

    @classmethod
    def of(cls, rows: Rows) -> Table:
        return cls(rows.center, rows.spread, float(rows.weight.sum()), rows.largest_norm)

    def without_rows(self, minimum: Minimum, shape: Shape) -> Table:
        """The same with the one norm that the bounds of this minimum ask for."""
        scale = np.ones(shape.n_columns)
        if _has_inverse(minimum, shape):
            assert minimum.factor is not None
            scale = _column_scale(minimum.factor, shape)[: shape.n_columns]
        return replace(self, largest_norm=partial(_known_norm, self.largest_norm(scale)))


def _known_norm(norm: float, _scale: Floats) -> float:
    return norm


def _has_inverse(minimum: Minimum, shape: Shape) -> bool:
    return minimum.factor is not None and shape.size <= _WIDEST_INVERSE


def _column_scale(factor: Factor, shape: Shape) -> Floats:
    """The largest scale of each column over the classes, intercept last."""
    return np.asarray(factor.scale.reshape(-1, shape.width).max(axis=0))


def certify(
    minimum: Minimum,
    shape: Shape,
    table: Table,
    *,
    tol: float,
    seconds: float | None = None,
    details: dict[str, Any] | None = None,
) -> Certificate:
    """The certificate of a fit that has an optimum, or may have one."""
    bounds = proved_bounds(minimum, shape, table)
    value = minimum.evaluation.value
    expected = 0.5 * minimum.decrement**2
    verdict = Verdict.STOPPED_EARLY
    if bounds is not None and bounds.gap <= _ROUNDING * value:
        verdict = Verdict.PROVED
    elif minimum.converged:
        verdict = Verdict.WITHIN_TOLERANCE
    known: dict[str, Any] = {"stopped_by": minimum.stopped_by, "expected_gap": expected}
    if bounds is not None and bounds.gap <= tol**2 * value:
        known["relative_tol"] = tol**2
    lower = None
    if bounds is not None:
        lower = max(0.0, value - bounds.gap - _rounding_of_value(minimum, shape, table))
    if bounds is None and verdict is Verdict.STOPPED_EARLY:
        # Weak, but true: no loss is negative.
        lower = 0.0
    return Certificate(
        objective=PENALIZED if shape.penalty else LOSS,
        verdict=verdict,
        value=value,
        lower_bound=lower,
        distance_bound=None if bounds is None else bounds.distance,
        residual=float(np.linalg.norm(minimum.evaluation.gradient)),
        iterations=minimum.iterations,
        trace=minimum.trace,
        details={**known, **(details or {})},
        seconds=seconds,
    )


def proved_bounds(minimum: Minimum, shape: Shape, table: Table) -> Bounds | None:
    """Bounds from the Hessian where there is one, else from the penalty; None if neither serves."""
    allowance = _rounding_of_gradient(minimum, shape, table)
    if _has_inverse(minimum, shape):
        assert minimum.factor is not None
        return _from_factor(minimum, minimum.factor, allowance, shape, table)
    if shape.penalty > 0:
        return _from_penalty(minimum, allowance, shape, table)
    return None


def gap_and_reach(decrement: float, rate: float) -> tuple[float, float] | None:
    """Bounds of the gap and of `|v - v*|_H`, from `nu` and `R`; None where `R nu >= 1`.

    >>> gap, reach = gap_and_reach(1e-3, 1.0)
    >>> round(gap * 1e6, 2), round(reach * 1e3, 2)
    (0.5, 1.0)
    """
    a = rate * decrement
    if not a < 1.0:
        return None
    if a < 1e-3:
        # The first terms of the series, rounded up: differences of logarithms have no digits here.
        return 0.5 * decrement**2 * (1 + a), decrement * (1 + a)
    rest = math.log1p(-a)
    return (a + (1 - a) * rest) / rate**2, -rest / rate


def _from_factor(
    minimum: Minimum, factor: Factor, allowance: Floats, shape: Shape, table: Table
) -> Bounds | None:
    """Bounds by the Hessian at a point `moved` away, whose norm is off by a known factor."""
    inverse = factor.scaled_inverse
    # The largest column sum bounds the largest eigenvalue; a ridge makes the inverse too small.
    largest = float(np.abs(inverse).sum(axis=0).max()) * (1.0 + EPSILON * inverse.shape[0])
    if factor.ridge > 0 or not np.isfinite(largest) or largest > 1e12:
        return None
    rounding = math.sqrt(largest) * float(np.linalg.norm(factor.scale * allowance))
    decrement = factor.norm(minimum.evaluation.gradient) + rounding
    rate = math.sqrt(largest) * _largest_row(factor, shape, table)
    drift = math.exp(min(700.0, 0.5 * rate * minimum.moved))
    known = gap_and_reach(decrement * drift, rate * drift)
    if known is None:
        return None
    gap, reach = known[0], known[1] * drift
    if minimum.last_step.any():
        reach = min(reach + decrement, _after_step(reach, rate, minimum.moved, rounding, largest))
    return Bounds(gap, reach * _user_root(factor, shape, table.center))


def _after_step(reach: float, rate: float, moved: float, rounding: float, inverse: float) -> float:
    """Bound of the distance after a step `-H^-1 g`, from a point within `reach` of the optimum.

    On the way to the optimum the Hessian differs from the factor's by at most the exponent of the
    rate times the distance, and so does the step from the right one.
    """
    between = min(700.0, rate * (moved + reach))
    solving = 100 * EPSILON * inverse
    return (math.expm1(between) + solving) * reach + rounding


def _largest_row(factor: Factor, shape: Shape, table: Table) -> float:
    """Bound of the largest `|S (q_k - q_l) (x) z|` over rows and pairs of classes."""
    by_column = _column_scale(factor, shape)
    size = table.largest_norm(by_column[: shape.n_columns])
    if shape.fit_intercept:
        size = math.hypot(size, float(by_column[-1]))
    return size * _pair_length(shape)


def _pair_length(shape: Shape) -> float:
    """Length of `q_k - q_l`; two classes have one score, which is their difference already."""
    return 1.0 if shape.n_classes == 2 else math.sqrt(2.0)


def _user_root(factor: Factor, shape: Shape, center: Floats) -> float:
    """Bound of the length of the coefficients' change per unit of `|v|_H`.

    It is the root of the trace of the covariance of coefficients and intercepts.
    """
    inverse = factor.inverse
    total = float(np.trace(inverse))
    if shape.fit_intercept:
        p, d = shape.width, shape.n_columns
        blocks = inverse.reshape(-1, p, shape.basis.shape[1], p)
        for k in range(shape.basis.shape[1]):
            block = blocks[k, :, k, :]
            # Var(b0 - c'b) in place of Var(b0).
            total += float(center @ block[:d, :d] @ center - 2 * center @ block[:d, d])
    return math.sqrt(max(total, 0.0))


def _from_penalty(minimum: Minimum, allowance: Floats, shape: Shape, table: Table) -> Bounds | None:
    """Bounds by the penalty, which curves everything but the intercepts."""
    gradient = np.abs(minimum.evaluation.gradient) + allowance
    if not shape.fit_intercept:
        size = float(np.linalg.norm(gradient))
        return Bounds(size**2 / (2 * shape.penalty), size / shape.penalty)
    by_class = gradient.reshape(-1, shape.width)
    slopes, offsets = (float(np.linalg.norm(g)) for g in (by_class[:, :-1], by_class[:, -1]))
    S = shape.intercept_hessian(minimum.evaluation.mixed)
    least, trace = float(np.linalg.eigvalsh(S)[0]), float(np.trace(S))
    if not least > 1e-9 * trace > 0:
        return None
    row = table.largest_norm(np.ones(shape.n_columns))
    # Norm of H_wb S^-1, by Cauchy and Schwarz.
    coupling = row * math.sqrt(trace / least)
    decrement = math.hypot((slopes + coupling * offsets) / math.sqrt(shape.penalty),
                           offsets / math.sqrt(least))  # fmt: skip
    pair = _pair_length(shape)
    rate = pair * math.hypot((row + coupling) / math.sqrt(shape.penalty), 1 / math.sqrt(least))
    known = gap_and_reach(decrement, rate)
    if known is None:
        return None
    gap, reach = known
    away = reach / math.sqrt(shape.penalty)
    offset = reach / math.sqrt(least) + (coupling + float(np.linalg.norm(table.center))) * away
    return Bounds(gap, math.hypot(away, offset))


def _rounding_of_gradient(minimum: Minimum, shape: Shape, table: Table) -> Floats:
    """Size of the rounding errors of the gradient, (P,).

    Residuals `r` are right to a few units of their last place, and so are scores. The sum of
    `w r z_j` is then off by about `eps sqrt(sum w r^2 sum w z_j^2)`, where `r^2 <= loss`.
    """
    size = np.append(table.spread, 1.0)[: shape.width]
    unit = 16 * EPSILON * _size_of_scores(minimum, shape, table)
    unit *= math.sqrt(table.weight * max(minimum.evaluation.value, 1e-300))
    penalized = 4 * EPSILON * np.abs(shape.penalties * minimum.vector)
    return np.tile(unit * size, minimum.vector.size // shape.width) + penalized


def _rounding_of_value(minimum: Minimum, shape: Shape, table: Table) -> float:
    """Size of the rounding errors of the objective.

    A score that is off by `e` changes a loss by no more than `2 e (1 - p)`, where `1 - p <= loss`.
    """
    return 4 * EPSILON * _size_of_scores(minimum, shape, table) * minimum.evaluation.value


def _size_of_scores(minimum: Minimum, shape: Shape, table: Table) -> float:
    """One, and the sum of the absolute products that make a score of an ordinary row."""
    size = np.append(table.spread, 1.0)[: shape.width]
    V = np.abs(minimum.vector.reshape(-1, shape.width))
    return 1.0 + float((V @ size).max(initial=0.0))
