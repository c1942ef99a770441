"""Maximum likelihood of the multivariate Student t law by the EM algorithm.

A Student t vector is a normal one whose precision is multiplied by an unseen gamma variable u.
Given a row at squared distance q, `E[u] = (v + d) / (v + q)`: far rows count less. One step is

    m = sum w u x / sum w u,    S = sum w u (x - m)(x - m)' / sum w u,    v of largest likelihood

The denominator `sum w u` instead of `sum w` is the parameter-expanded step, and v is chosen for the
likelihood itself (ECME): both raise the likelihood in every step and need far fewer of them. For
`v -> inf` the law is normal; that limit is among the candidates. The likelihood of location and
shape has one maximum for known `v >= 1`; with v unknown the result is a stationary point.

References
----------
Liu and Rubin, "ML estimation of the t distribution using EM and its extensions", 1995.
Kent, Tyler and Vardi, "A curious likelihood identity for the multivariate t-distribution", 1994.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.learners import Certificate
from novum.core.sums import Additive, StopRule, SumProblem, fit_sums
from novum.distributions.multivariate.completion import completed, moments_with
from novum.distributions.multivariate.coordinates import checked_table
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.multivariate.multivariate_student_t import (
    MultivariateStudentT,
    log_constant,
    tail_term,
)
from novum.distributions.multivariate.positive_definite import DefiniteRoot, definite_root
from novum.distributions.univariate.gamma import shape_of_gap
from novum.distributions.univariate.log_gamma import log_minus_digamma, ratio_deviance
from novum.numerics import Floats, Moments, Positions, moments_of

# Between these the degrees of freedom are searched; beyond, the law is normal to eight digits.
_LEAST, _MOST = 1e-2, 1e8


@dataclass(frozen=True, eq=False)
class _Rows:
    """What one pass finds: squared distances of the rows and the log-likelihood."""

    squares: Floats
    value: float


class StudentTProblem(SumProblem[MultivariateStudentT, _Rows]):
    """The EM algorithm as the driver of `core.sums.expectation` runs it.

    Parameters
    ----------
    rows : array (n, d)
    weights : array (n,)
    degrees_of_freedom : float or None
        If known.
    """

    objective_name = "log-likelihood"
    direction = "maximize"

    def __init__(self, rows: Floats, weights: Floats, degrees_of_freedom: float | None) -> None:
        self.rows, self.weights, self.known = rows, weights, degrees_of_freedom
        self.weight = float(weights.sum())

    def start(self, _rng: np.random.Generator, /) -> MultivariateStudentT:
        normal = MultivariateNormal.fit(self.rows, self.weights)
        return MultivariateStudentT(self.known or 4.0, normal.mean, normal.covariance)

    def step(self, params: MultivariateStudentT, chunk: Floats, /) -> _Rows:
        squares = params.root.squared_lengths(chunk - params.location)
        return _Rows(squares, self._likelihood(params, squares))

    def objective(self, _params: MultivariateStudentT, statistics: _Rows, /) -> float:
        return statistics.value

    def scale(self, _params: MultivariateStudentT, _statistics: _Rows, /) -> float:
        return self.weight

    def update(self, params: MultivariateStudentT, statistics: _Rows, /) -> MultivariateStudentT:
        moments = moments_of(self.rows, self.weights * self._shares(params, statistics.squares))
        location, shape = moments.mean, moments.covariance()
        moved = MultivariateStudentT(params.degrees_of_freedom, location, shape)
        if self.known is not None:
            return moved
        squares = moved.root.squared_lengths(self.rows - location)
        degrees = self._best_degrees(moved, squares)
        return MultivariateStudentT(degrees, location, shape)

    def residual(self, params: MultivariateStudentT, statistics: _Rows, /) -> float:
        """Largest part of the gradient of the mean log-likelihood, in units of the shape."""
        shares = self.weights * self._shares(params, statistics.squares) / self.weight
        white = params.root.whitened(self.rows - params.location)
        by_location = np.abs(shares @ white).max()
        by_shape = np.abs((white * shares[:, None]).T @ white - np.eye(white.shape[1])).max()
        return float(max(by_location, 0.5 * by_shape, abs(self._slope(params, statistics.squares))))

    # Parts

    def _shares(self, params: MultivariateStudentT, squares: Floats) -> Floats:
        """`E[u]` of each row."""
        v = params.degrees_of_freedom
        if np.isinf(v):
            return np.ones_like(squares)
        return (v + self.rows.shape[1]) / (v + squares)

    def _likelihood(self, params: MultivariateStudentT, squares: Floats) -> float:
        v, d = params.degrees_of_freedom, self.rows.shape[1]
        tails = float(self.weights @ tail_term(np.sqrt(squares), v, d))
        return self.weight * log_constant(v, params.root) - tails

    def _best_degrees(self, law: MultivariateStudentT, squares: Floats) -> float:
        """The degrees of freedom of largest likelihood; never worse than those of the law."""
        from scipy.optimize import minimize_scalar

        def cost(log_degrees: float) -> float:
            v = float(np.exp(log_degrees))
            trial = log_constant(v, law.root) - tail_mean(v)
            return -trial

        def tail_mean(v: float) -> float:
            tails = tail_term(np.sqrt(squares), v, self.rows.shape[1])
            return float(self.weights @ tails) / self.weight

        minimum = minimize_scalar(
            cost, bounds=(np.log(_LEAST), np.log(_MOST)), method="bounded", options={"xatol": 1e-10}
        )
        now = law.degrees_of_freedom
        candidates = [now, float(np.exp(minimum.x)), np.inf]
        return max(candidates, key=lambda v: log_constant(v, law.root) - tail_mean(v))

    def _slope(self, params: MultivariateStudentT, squares: Floats) -> float:
        """Derivative of the mean log-likelihood by `log v`; zero where v is known or infinite."""
        v, d = params.degrees_of_freedom, self.rows.shape[1]
        if self.known is not None or np.isinf(v):
            return 0.0
        shares = (v + d) / (v + squares)
        terms = np.log(shares) - shares
        mean = float(self.weights @ terms) / self.weight
        ends = special.digamma((v + d) / 2) - np.log((v + d) / 2)
        return float(v / 2 * (1 + mean + ends - special.digamma(v / 2) + np.log(v / 2)))


# --- As a component of a hidden model -------------------------------------------------------------

# Where a climb starts: tails that are heavy enough to be moved either way.
_FIRST_DEGREES = 8.0


@dataclass(frozen=True, eq=False)
class ScaleSums(Additive):
    """Expected sums of weighted rows, whose scales u are hidden.

    Parameters
    ----------
    weight : float
        Of all rows.
    scaled : float
        Of the rows whose scale is hidden; others have the scale 1.
    moments : Moments
        Of the rows, counted by their weights times `E[u]`.
    bend : float
        Sum of `E[u] - E[log u] - 1` over hidden scales, at least 0.
    """

    weight: float
    scaled: float
    moments: Moments
    bend: float


def first_student_t(
    x: ArrayLike, weight: ArrayLike, degrees_of_freedom: float | None
) -> MultivariateStudentT:
    """The sample's mean and covariance, with the known or some degrees of freedom."""
    has_gaps = bool(np.isnan(np.asarray(x, np.float64)).any())
    make = MultivariateNormal.completed_statistics if has_gaps else MultivariateNormal.statistics
    normal = MultivariateNormal.from_statistics(make(x, weight))
    v = degrees_of_freedom or _FIRST_DEGREES
    shrink = (v - 2) / v if 2 < v < np.inf else 1.0
    return MultivariateStudentT(v, normal.mean, normal.covariance * shrink)


def expected_scales(
    law: MultivariateStudentT, x: ArrayLike, weight: ArrayLike, prior: ArrayLike | None
) -> ScaleSums:
    """The sums of rows under a law: far rows have small scales, and count less.

    Rows of `prior` have the scale 1: seen in advance, they hold location and shape as those of a
    normal law.
    """
    rows, weights = np.asarray(x, np.float64), np.asarray(weight, np.float64)
    further = np.zeros(len(rows)) if prior is None else np.asarray(prior, np.float64)
    v, d = law.degrees_of_freedom, rows.shape[1]
    rest = np.zeros((d, d))
    if np.isnan(rows).any():
        # Given its scale a missing cell has the conditional covariance over u, so that its square
        # times u adds the conditional shape, whatever the scale.
        squares, sizes = np.zeros(len(rows)), np.zeros(len(rows))

        def measure(chosen: Positions, root: DefiniteRoot, away: Floats) -> None:
            squares[chosen], sizes[chosen] = root.squared_lengths(away), root.size

        rows, rest = completed(rows, weights + further, law.location, law.shape, measure)
    else:
        squares = law.root.squared_lengths(rows - law.location)
        sizes = np.full(len(rows), float(d))
    u, bend = np.ones(len(rows)), 0.0
    if np.isfinite(v):
        u = (v + sizes) / (v + squares)
        # E[log u] = digamma((v + d)/2) - log((v + d)/2) + log E[u]: nothing large is subtracted.
        bend = float(weights @ (ratio_deviance(u) + log_minus_digamma((v + sizes) / 2)))
    rows, counted = checked_table(rows, weights * u + further, "MultivariateStudentT")
    own = float(weights.sum())
    moments = moments_with(rows, counted, rest)
    return ScaleSums(own + float(further.sum()), own, moments, bend)


def likeliest_student_t(sums: ScaleSums, degrees_of_freedom: float | None) -> MultivariateStudentT:
    """Location and shape in closed form; `log(v/2) - digamma(v/2)` is the mean bend."""
    if not sums.weight > 0:
        raise InputError("MultivariateStudentT cannot be estimated from no data.")
    v = degrees_of_freedom
    if v is None:
        gap = sums.bend / sums.scaled if sums.scaled > 0 else 0.0
        v = 2 * shape_of_gap(gap) if gap > 1 / _MOST else np.inf
        v = max(v, _LEAST)
    shape = sums.moments.scatter / sums.weight
    definite_root(shape, "The shape of a component")
    return MultivariateStudentT(v, sums.moments.mean, shape)


# --- Fits -----------------------------------------------------------------------------------------


def fit_student_t(
    x: ArrayLike,
    weight: ArrayLike | None,
    degrees_of_freedom: float | None,
    tol: float,
    max_iter: int,
) -> tuple[MultivariateStudentT, Certificate]:
    """The law of largest likelihood and the certificate of the fit."""
    if degrees_of_freedom is not None and not degrees_of_freedom > 0:
        raise InputError(f"Degrees of freedom must be above 0, got {degrees_of_freedom!r}.")
    rows, weights = _checked_sample(x, weight)
    problem = StudentTProblem(rows, weights, degrees_of_freedom)
    # Half of the digits of the likelihood's change: near a maximum it falls with the square.
    stop = StopRule(tol=tol, residual_tol=max(np.sqrt(tol), 1e-7), max_iter=max_iter)
    fitted = fit_sums(problem, lambda step: step(rows), stop=stop, random_state=0)
    return fitted.params, fitted.certificate


def match_moments(x: ArrayLike, weight: ArrayLike | None) -> MultivariateStudentT:
    """The law with the sample's mean, covariance and kurtosis."""
    rows, weights = _checked_sample(x, weight)
    normal = MultivariateNormal.fit(rows, weights)
    d = rows.shape[1]
    squares = normal.root.squared_lengths(rows - normal.mean)
    ratio = float(weights @ squares**2) / float(weights.sum()) / (d * (d + 2))
    if ratio <= 1:
        return MultivariateStudentT(np.inf, normal.mean, normal.covariance)
    degrees = (4 * ratio - 2) / (ratio - 1)
    return MultivariateStudentT(degrees, normal.mean, normal.covariance * (1 - 2 / degrees))


def _checked_sample(x: ArrayLike, weight: ArrayLike | None) -> tuple[Floats, Floats]:
    """Rows whose covariance is definite: a likelihood on a flat has no maximum."""
    rows, weights = checked_table(x, weight, "MultivariateStudentT")
    normal = MultivariateNormal.fit(rows, weights)
    definite_root(normal.covariance, "The covariance of the sample")
    return rows, weights
