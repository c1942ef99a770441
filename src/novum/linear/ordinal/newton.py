"""Newton's method for ordinal regression, over sums, with a proof of how close it came.

    minimize  f = -sum_i w_i log P(class_i | x_i) + alpha |b|^2 / 2

over thresholds `theta_1 < ... < theta_K-1` and coefficients `b`. f is convex where the thresholds
are in order and infinite elsewhere, so halving a step that leads nowhere keeps them in order. Each
pass sums value, gradient g and Hessian H.

For the logit link third derivatives are bounded by second ones: along any direction d in the local
norm `|d|^2 = d'Hd`, curvature shrinks at most by `exp(-rho |d|)` with

    rho = max(max_i |(1, z_i)|, sqrt(2) coth(delta / 4)) / sqrt(smallest eigenvalue of H),

delta the narrowest interval between thresholds. With the Newton decrement `L^2 = g'H^-1 g` the
optimum then lies within `r = -log(1 - rho L) / rho` in that norm, and `f - f* <= L r` (Bach 2010,
propositions 1 and 2; the second term is ours, and holds as long as r keeps delta half its size).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from scipy import linalg

from novum.core.learners import Certificate, Verdict
from novum.core.sums import Additive, Fitted, StopRule, SumProblem, fit_sums
from novum.linear.ordinal.links import Link
from novum.linear.ordinal.rows import Coordinates, OrdinalRows, Passes
from novum.numerics import Floats

# First to this decrement, by when a step that is still long says that the optimum is at infinity.
_COARSE = 1e-5
_LONG_STEP = 1e-2
# A direction counts as separating if it takes no row further back than this share of the largest.
_STANDSTILL = 1e-6
_ROUNDING = 64 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class NewtonSums(Additive):
    """Value, gradient and Hessian of the likelihood, total weight, and the longest row squared."""

    value: float
    gradient: Floats
    hessian: Floats
    weight: float
    reach: float

    _combined: ClassVar = {"reach": max}


@dataclass(frozen=True, eq=False)
class OrdinalLikelihood(SumProblem[Floats, NewtonSums]):
    """The problem for `core.sums.expectation`; parameters are thresholds, then coordinates g.

    Attributes
    ----------
    link : Link
    coordinates : Coordinates
    alpha : float
    first : array of shape (m + rank,)
        Where to start.
    """

    objective_name: ClassVar[str] = "negative log-likelihood"
    direction: ClassVar[Literal["minimize", "maximize"]] = "minimize"
    convex: ClassVar[bool] = True

    link: Link
    coordinates: Coordinates
    alpha: float
    first: Floats

    def start(self, rng: np.random.Generator, /) -> Floats:  # noqa: ARG002
        return self.first

    def step(self, params: Floats, chunk: OrdinalRows, /) -> NewtonSums:
        return newton_sums(self.link, params, chunk, self.coordinates.n_thresholds)

    def objective(self, params: Floats, statistics: NewtonSums, /) -> float:
        b = self.coordinates.basis @ params[self.coordinates.n_thresholds :]
        return statistics.value + 0.5 * self.alpha * float(b @ b)

    def update(self, params: Floats, statistics: NewtonSums, /) -> Floats:
        return params + newton_step(*self.derivatives(params, statistics))

    def retreat(self, params: Floats, proposal: Floats, /) -> Floats | None:
        return 0.5 * (params + proposal)

    def scale(self, params: Floats, statistics: NewtonSums, /) -> float:  # noqa: ARG002
        return statistics.weight

    def residual(self, params: Floats, statistics: NewtonSums, /) -> float:
        """The Newton decrement as a share of the root of the weight."""
        return self.decrement(params, statistics) / float(np.sqrt(statistics.weight))

    def bound(self, params: Floats, statistics: NewtonSums, /) -> float | None:
        known = self.distance(params, statistics)
        if known is None:
            return None
        size, away = known
        return self.objective(params, statistics) - size * away

    def to_vector(self, params: Floats, /) -> Floats:
        return params

    # What the proof needs

    def derivatives(self, params: Floats, statistics: NewtonSums) -> tuple[Floats, Floats]:
        """Gradient and Hessian with the penalty."""
        m, basis = self.coordinates.n_thresholds, self.coordinates.basis
        gradient, hessian = statistics.gradient.copy(), statistics.hessian.copy()
        gradient[m:] += self.alpha * (basis.T @ (basis @ params[m:]))
        hessian[m:, m:] += self.alpha * (basis.T @ basis)
        return gradient, hessian

    def decrement(self, params: Floats, statistics: NewtonSums) -> float:
        gradient, hessian = self.derivatives(params, statistics)
        return float(np.sqrt(max(0.0, -float(gradient @ newton_step(gradient, hessian)))))

    def distance(self, params: Floats, statistics: NewtonSums) -> tuple[float, float] | None:
        """The decrement, and a bound of the distance to the optimum in the norm of the Hessian."""
        if self.link.name != "logit":
            return None
        smallest = float(linalg.eigvalsh(self.derivatives(params, statistics)[1])[0])
        if not smallest > 0:
            return None
        narrowest = self._narrowest(params)
        width = np.sqrt(2) / np.tanh(narrowest / 4)
        rho = max(float(np.sqrt(1 + statistics.reach)), float(width)) / np.sqrt(smallest)
        slack = self._slack(statistics, narrowest) / np.sqrt(smallest)
        size = self.decrement(params, statistics) + slack
        if not rho * size < 1:
            return None
        away = -np.log1p(-rho * size) / rho
        # The intervals must stay at least half as wide all the way.
        wide = away * np.sqrt(2 / smallest) <= narrowest / 2
        return (float(size), float(away)) if wide else None

    def _narrowest(self, params: Floats) -> float:
        m = self.coordinates.n_thresholds
        return float(np.diff(params[:m]).min()) if m > 1 else np.inf

    def _slack(self, statistics: NewtonSums, narrowest: float) -> float:
        """Rounding of the gradient: a few units of the sum of the sizes of its terms."""
        terms = np.sqrt(len(statistics.gradient) * (1 + statistics.reach)) * (1 + 1 / narrowest)
        return float(_ROUNDING * terms * statistics.weight)


# --- Sums -----------------------------------------------------------------------------------------


def interval_ends(params: Floats, rows: OrdinalRows, m: int) -> tuple[Floats, Floats]:
    """Upper and lower end of every row's interval, `u` and `l`."""
    theta = np.concatenate([[-np.inf], params[:m], [np.inf]])
    score = rows.z @ params[m:]
    return theta[rows.codes + 1] - score, theta[rows.codes] - score


def newton_sums(link: Link, params: Floats, rows: OrdinalRows, m: int) -> NewtonSums:
    """Value, gradient and Hessian of the negative log-likelihood of some rows."""
    z, codes, weight = rows
    reach = float(np.einsum("ij,ij->i", z, z).max(initial=0.0))
    size = m + z.shape[1]
    if not (np.diff(params[:m]) > 0).all():
        nothing = np.zeros((size, size))
        return NewtonSums(np.inf, nothing[0], nothing, float(weight.sum()), reach)
    slopes = link.slopes(*interval_ends(params, rows, m))
    upper, lower = weight * slopes.upper, weight * slopes.lower
    bend_upper = weight * (slopes.upper_upper + slopes.upper_lower)
    bend_lower = weight * (slopes.lower_lower + slopes.upper_lower)
    gradient, hessian = np.zeros(size), np.zeros((size, size))
    by_class = {name: np.bincount(codes, values, m + 1) for name, values in (
        ("upper", upper), ("lower", lower),
        ("upper_upper", weight * slopes.upper_upper), ("lower_lower", weight * slopes.lower_lower),
        ("upper_lower", weight * slopes.upper_lower),
    )}  # fmt: skip
    gradient[:m] = -by_class["upper"][:m] - by_class["lower"][1:]
    gradient[m:] = (upper + lower) @ z
    diagonal = np.arange(m)
    hessian[diagonal, diagonal] = -by_class["upper_upper"][:m] - by_class["lower_lower"][1:]
    hessian[diagonal[:-1], diagonal[1:]] = -by_class["upper_lower"][1:m]
    hessian[diagonal[1:], diagonal[:-1]] = -by_class["upper_lower"][1:m]
    cross = np.zeros((len(z), m + 2))
    places = np.arange(len(z))
    cross[places, codes + 1] = bend_upper
    cross[places, codes] += bend_lower
    hessian[:m, m:] = cross[:, 1:-1].T @ z
    hessian[m:, :m] = hessian[:m, m:].T
    hessian[m:, m:] = (z * -(bend_upper + bend_lower)[:, np.newaxis]).T @ z
    value = -float(weight @ slopes.value)
    return NewtonSums(value, gradient, hessian, float(weight.sum()), reach)


def newton_step(gradient: Floats, hessian: Floats) -> Floats:
    """`-H^-1 g`; where H has lost its digits in a direction, the step there is held finite."""
    try:
        step = -linalg.cho_solve(linalg.cho_factor(hessian), gradient)
        if np.isfinite(step).all():
            return np.asarray(step)
    except (linalg.LinAlgError, ValueError):
        pass
    values, vectors = linalg.eigh(np.nan_to_num(hessian))
    if not values[-1] > 0:
        return -gradient
    floor = np.maximum(values, 1e-15 * float(values[-1]))
    return np.asarray(-vectors @ ((vectors.T @ gradient) / floor))


# --- Separation -----------------------------------------------------------------------------------


class Separation(NamedTuple):
    """A direction along which the likelihood grows for ever.

    Attributes
    ----------
    direction : array of shape (m + rank,)
    complete : bool
        Whether every row gains, or some stand still (quasi-complete).
    """

    direction: Floats
    complete: bool


@dataclass(frozen=True)
class _Extremes(Additive):
    lowest: float
    highest: float

    _combined: ClassVar = {"lowest": min, "highest": max}


@dataclass(frozen=True, eq=False)
class _Movement:
    """How far a direction moves the ends of rows away from them; a step over chunks."""

    direction: Floats
    m: int

    def __call__(self, rows: OrdinalRows) -> _Extremes:
        upper, lower = interval_ends(self.direction, rows, self.m)
        moved = np.concatenate([upper[np.isfinite(upper)], -lower[np.isfinite(lower)]])
        if not moved.size:
            return _Extremes(np.inf, 0.0)
        return _Extremes(float(moved.min()), float(np.abs(moved).max()))


def separation(direction: Floats, passes: Passes, m: int) -> Separation | None:
    """Whether a direction moves no row's class away from it, proved by a pass over the rows."""
    direction_sums = passes(_Movement(direction, m))
    if (
        not direction_sums.highest > 0
        or direction_sums.lowest < -_STANDSTILL * direction_sums.highest
    ):
        return None
    return Separation(
        direction / direction_sums.highest,
        bool(direction_sums.lowest > _STANDSTILL * direction_sums.highest),
    )


# --- The fit --------------------------------------------------------------------------------------


class OrdinalFit(NamedTuple):
    """The parameters reached, the sums there, the certificate, and a separation if there is one."""

    problem: OrdinalLikelihood
    params: Floats
    sums: NewtonSums
    certificate: Certificate
    separated: Separation | None


def fit_ordinal(
    problem: OrdinalLikelihood, passes: Passes, tol: float, max_iter: int
) -> OrdinalFit:
    """Coarse steps, a look for separation, then steps to the end."""
    rule = StopRule(tol=None, residual_tol=max(tol, _COARSE), max_iter=max_iter)
    coarse = fit_sums(problem, passes, stop=rule)
    if problem.alpha == 0:
        m = problem.coordinates.n_thresholds
        step = newton_step(*problem.derivatives(coarse.params, coarse.statistics))
        if np.abs(step).max(initial=0.0) > _LONG_STEP:
            separated = separation(step, passes, m)
            if separated is not None:
                return _ended(problem, coarse, _unbounded(coarse.certificate), separated)
    if not coarse.certificate.converged or tol >= _COARSE:
        return _ended(problem, coarse, coarse.certificate, None)
    done = coarse.certificate.iterations or 0
    rule = StopRule(tol=None, residual_tol=tol, max_iter=max(1, max_iter - done))
    fine = fit_sums(replace(problem, first=coarse.params), passes, stop=rule)
    joined = _joined(coarse.certificate, fine.certificate)
    return _polished(_ended(problem, fine, joined, None), passes, tol)


def _ended(
    problem: OrdinalLikelihood,
    fitted: Fitted[Floats, NewtonSums],
    certificate: Certificate,
    separation: Separation | None,
) -> OrdinalFit:
    return OrdinalFit(problem, fitted.params, fitted.statistics, certificate, separation)


def _polished(fit: OrdinalFit, passes: Passes, tol: float) -> OrdinalFit:
    """One more step where the best value, equal to its neighbors by rounding, is not the end."""
    problem, certificate = fit.problem, fit.certificate
    reached = certificate.residual or 0.0
    if not certificate.converged or reached <= tol:
        return fit
    params = problem.update(fit.params, fit.sums)
    sums = passes(partial(problem.step, params))
    value, residual = problem.objective(params, sums), problem.residual(params, sums)
    if not (np.isfinite(value) and residual < reached):
        return fit
    bound = problem.bound(params, sums)
    better = replace(
        certificate,
        value=value,
        residual=residual,
        lower_bound=bound,
        gap=None,
        relative_gap=None,
        iterations=(certificate.iterations or 0) + 1,
        trace=(*(certificate.trace or ()), value),
    )
    return OrdinalFit(problem, params, sums, better, None)


def _joined(first: Certificate, second: Certificate) -> Certificate:
    """The certificate of the second stage with the trace and the cost of both."""
    return replace(
        second,
        iterations=(first.iterations or 0) + (second.iterations or 0),
        trace=(*(first.trace or ()), *(second.trace or ())[1:]),
        seconds=(first.seconds or 0.0) + (second.seconds or 0.0),
        details={
            **second.details,
            "evaluations": first.details["evaluations"] + second.details["evaluations"],
        },
    )


def _unbounded(certificate: Certificate) -> Certificate:
    return Certificate(
        objective=certificate.objective,
        verdict=Verdict.UNBOUNDED,
        value=certificate.value,
        residual=certificate.residual,
        iterations=certificate.iterations,
        trace=certificate.trace,
        details={**certificate.details, "stopped_by": "separation"},
        seconds=certificate.seconds,
    )
