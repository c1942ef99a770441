"""The contract of probability laws, as executable checks.

Every law of Novum runs these, and a new one should: make a `LawCase` and call the checks.

    for check in law_checks():
        check(LawCase(Gamma(3.0, 2.0), other=Gamma(2.0, 2.0)))

A check raises `AssertionError` with what differed. What a law does not have (a cdf, statistics, a
divergence) is not checked. Comparisons with samples allow five standard errors: a right law fails
one of them in two million, and never twice for the same seed.
"""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novum.distributions.protocol import RealLaw
from novum.numerics import Floats

_STANDARD_ERRORS = 5.0
_LEVELS = np.array([1e-6, 1e-3, 0.05, 0.25, 0.5, 0.7, 0.95, 0.999, 1 - 1e-6])
_EXTREMES = np.array([0.0, 1e-300, 1e-150, 1e-16, 0.5, 1.0, 1e16, 1e150, 1e300, np.inf])


@dataclass(frozen=True, eq=False)
class LawCase:
    """A law and what its checks need to know.

    Parameters
    ----------
    law : law
    other : law, optional
        Another of the same family, for divergences.
    known : mapping
        Keywords of `statistics` and `fit` that a sample does not tell, such as `{"trials": 10}`.
    rule : pair of arrays, optional
        Points and weights that integrate (or sum) the density to one. Laws of numbers need none.
    size : int
        Values in a sample.
    tolerance : float
        Relative error of `rule`, or of the quadrature for laws of numbers.
    """

    law: Any
    other: Any = None
    known: Mapping[str, Any] = field(default_factory=dict)
    rule: tuple[Any, Floats] | None = None
    size: int = 20_000
    tolerance: float = 1e-8

    def sample(self, size: int | None = None, seed: int = 0) -> Any:
        """Values of the law, the same ones at every call."""
        return self.law.sample(size or self.size, random_state=seed)


LawCheck = Callable[[LawCase], None]


def law_checks() -> list[LawCheck]:
    """All checks, in the order of the sections of a law."""
    return [
        check_immutable,
        check_density,
        check_normalization,
        check_support,
        check_extreme_arguments,
        check_cdf_and_quantile,
        check_slope_of_cdf,
        check_interval_probability,
        check_moments,
        check_entropy,
        check_sampling,
        check_sums_of_parts,
        check_weights,
        check_fit,
        check_divergence,
    ]


# --- Values and densities -------------------------------------------------------------------------


def check_immutable(case: LawCase) -> None:
    """Parameters cannot be changed, and arrays among them are not the caller's own."""
    name = dataclasses.fields(case.law)[0].name
    try:
        setattr(case.law, name, getattr(case.law, name))
    except dataclasses.FrozenInstanceError:
        pass
    else:
        raise AssertionError(f"{name} can be changed")
    for parameter in dataclasses.fields(case.law):
        value = getattr(case.law, parameter.name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, f"the array {parameter.name} can be written to"
    assert same_parameters(case.law, case.law)


def check_density(case: LawCase) -> None:
    """`density` is `exp(log_density)`, one number per point, never negative."""
    values = case.sample(50)
    logs, plain = log_density_at(case.law, values), _call(case.law.density, values)
    assert logs.shape == (50,), f"50 points gave densities of shape {logs.shape}"
    assert np.all(plain > 0), "a sampled value has density zero"
    np.testing.assert_allclose(np.exp(logs), plain, rtol=1e-12)


def check_normalization(case: LawCase) -> None:
    """The density sums or integrates to one."""
    if case.rule is not None:
        points, weights = case.rule
        total = float(np.sum(weights * np.exp(log_density_at(case.law, points))))
    elif not isinstance(case.law, RealLaw):
        raise AssertionError("a law that is not of numbers needs a rule of points and weights")
    elif case.law.discrete:
        total = float(case.law.density(_whole_numbers(case.law)).sum())
    else:
        total = _integral(case.law)
    assert abs(total - 1) <= case.tolerance, f"the density adds up to {total!r}"


def check_support(case: LawCase) -> None:
    """Samples lie inside the support, and there is no density outside."""
    if not isinstance(case.law, RealLaw):
        return
    low, high = case.law.support
    values = case.sample()
    assert low <= values.min(), f"{values.min()} was drawn, below the support"
    assert values.max() <= high, f"{values.max()} was drawn, above the support"
    outside = np.array([np.nextafter(low, -np.inf), low - 1, np.nextafter(high, np.inf), high + 1])
    outside = outside[(outside < low) | (outside > high)]
    assert np.all(case.law.log_density(outside) == -np.inf), "there is density outside the support"
    assert np.isnan(case.law.log_density([np.nan])).all(), "a missing value got a density"
    assert np.isnan(case.law.cdf([np.nan])).all(), "a missing value got a probability"
    if case.law.discrete:
        assert np.all(values == np.floor(values)), "a discrete law drew a fraction"
        assert np.all(case.law.density(values[:9] + 0.5) == 0), "fractions have probability"


def check_extreme_arguments(case: LawCase) -> None:
    """Arguments from 1e-300 to infinity neither warn nor give NaN."""
    if not isinstance(case.law, RealLaw):
        return
    ends = np.concatenate([-_EXTREMES[::-1], _EXTREMES])
    with warnings.catch_warnings(), np.errstate(over="warn", invalid="warn", divide="warn"):
        warnings.simplefilter("error")
        for points in (ends, case.law.quantile(0.5) + ends):
            logs, chances = case.law.log_density(points), case.law.cdf(points)
            assert not np.isnan(logs).any(), f"log_density is NaN at {points[np.isnan(logs)]}"
            assert not np.isnan(chances).any(), f"cdf is NaN at {points[np.isnan(chances)]}"
            assert np.all(np.diff(chances) >= 0), "the cdf falls"
            assert not np.isnan(case.law.density(points)).any()
        tiny = case.law.quantile(_EXTREMES[:4])
        assert not np.isnan(tiny).any()
        assert np.all(np.diff(tiny) >= 0), "the quantile falls"


# --- Distribution function ------------------------------------------------------------------------


def check_cdf_and_quantile(case: LawCase) -> None:
    """Both rise, run between the ends of the support, and are inverse to each other."""
    law = case.law
    if not isinstance(law, RealLaw):
        return
    low, high = law.support
    assert law.cdf(-np.inf) == 0, "the cdf does not start at 0"
    assert law.cdf(np.inf) == 1, "the cdf does not end at 1"
    assert law.cdf(high) == 1, "there is mass above the support"
    assert law.quantile(0.0) == low, "the quantile of 0 is not the lower end"
    assert law.quantile(1.0) == high, "the quantile of 1 is not the upper end"
    points = law.quantile(_LEVELS)
    assert np.all(np.diff(points) >= 0), "the quantile falls"
    if law.discrete:
        assert np.all(law.cdf(points) >= _LEVELS), "a quantile does not reach its level"
        below = law.cdf(points - 1)
        assert np.all((below < _LEVELS) | (points == low)), "a quantile is not the smallest"
    else:
        # A point is known to the last digit, and its probability to what that digit holds.
        off = np.abs(law.cdf(points) - _LEVELS)
        assert np.all(off <= 1e-9 * _LEVELS + law.density(points) * np.spacing(np.abs(points))), (
            f"the cdf of quantiles differs from their levels by {off}"
        )
    for bad in (-0.1, 1.1):
        _assert_refused(law.quantile, bad)


def check_slope_of_cdf(case: LawCase) -> None:
    """The density is the step of the cdf, or its derivative by central differences."""
    law = case.law
    if not isinstance(law, RealLaw):
        return
    points = np.unique(law.quantile(np.linspace(0.1, 0.9, 17)))
    if law.discrete:
        slope = law.cdf(points) - law.cdf(points - 1)
        np.testing.assert_allclose(slope, law.density(points), rtol=1e-9, atol=1e-13)
        return
    # The cube root of the precision balances rounding against the third derivative.
    width = 6e-6 * (law.quantile(0.75) - law.quantile(0.25))
    width = np.minimum(width, 1e-4 * np.minimum(points - law.support[0], law.support[1] - points))
    left, right = points - width, points + width
    slope = (law.cdf(right) - law.cdf(left)) / (right - left)
    np.testing.assert_allclose(slope, law.density(points), rtol=1e-6)


def check_interval_probability(case: LawCase) -> None:
    """`P(a <= X <= b)` adds up, includes both ends and refuses ends in the wrong order."""
    law = case.law
    methods = [getattr(law, name, None) for name in ("probability", "interval_probability")]
    between = next((method for method in methods if callable(method)), None)
    if not isinstance(law, RealLaw) or between is None:
        return
    ends = law.quantile([0.01, 0.3, 0.6, 0.999])
    before = ends - 1 if law.discrete else ends
    expected = law.cdf(ends[1:]) - law.cdf(before[:-1])
    np.testing.assert_allclose(between(ends[:-1], ends[1:]), expected, rtol=1e-9, atol=1e-13)
    whole = float(between(-np.inf, np.inf))
    assert abs(whole - 1) < 1e-15, f"all values together have probability {whole!r}"
    point = law.density(ends) if law.discrete else np.zeros(4)
    np.testing.assert_allclose(between(ends, ends), point, rtol=1e-9, atol=1e-13)
    _assert_refused(between, 1.0, 0.0)


# --- Moments and sampling -------------------------------------------------------------------------


def check_moments(case: LawCase) -> None:
    """Mean and variance (or covariance) are those of a sample; of indicators for labels."""
    values = case.sample()
    if isinstance(values, tuple):
        return
    if hasattr(case.law, "levels"):
        values = np.array([values == level for level in case.law.levels], float).T
    if hasattr(case.law, "mean"):
        _assert_mean(values, np.asarray(case.law.mean), "mean")
    if hasattr(case.law, "covariance") and values.ndim == 2:
        centered = values - np.asarray(case.law.mean)
        products = centered[:, :, None] * centered[:, None, :]
        _assert_mean(products, np.asarray(case.law.covariance), "covariance")
    if hasattr(case.law, "variance"):
        _assert_mean((values - case.law.mean) ** 2, np.asarray(case.law.variance), "variance")


def check_entropy(case: LawCase) -> None:
    """The entropy is the mean of `-log_density` over a sample."""
    if not hasattr(case.law, "entropy"):
        return
    surprise = -log_density_at(case.law, case.sample())
    _assert_mean(surprise, np.asarray(case.law.entropy), "entropy")


def check_sampling(case: LawCase) -> None:
    """A seed gives the same values again, another seed others, and `size` may be a shape."""
    for again, first in zip(_parts(case.sample(20)), _parts(case.sample(20)), strict=True):
        np.testing.assert_array_equal(again, first)
    pairs = zip(_parts(case.sample(40)), _parts(case.sample(40, seed=1)), strict=True)
    assert any(np.any(one != two) for one, two in pairs), "two seeds gave the same values"
    for one, many in zip(
        _parts(case.law.sample(1, random_state=0)),
        _parts(case.law.sample((3, 2), random_state=0)),
        strict=True,
    ):
        assert many.shape == (3, 2, *one.shape[1:]), f"a sample of (3, 2) has shape {many.shape}"


# --- Estimation -----------------------------------------------------------------------------------


def check_sums_of_parts(case: LawCase) -> None:
    """`S(A) + S(B) = S(A and B)`, rows come off again, and no rows change nothing."""
    if not hasattr(case.law, "statistics"):
        return
    values = _parts(case.sample(60))
    first, second, whole = (
        case.law.statistics(*(part[rows] for part in values), **case.known)
        for rows in (slice(25), slice(25, None), slice(None))
    )
    assert whole.isclose(first + second), "the sum of the parts is not that of all rows"
    assert whole.isclose(second + first), "the order of the parts matters"
    assert first.isclose(whole - second), "rows that are taken away leave a trace"
    assert whole.isclose(whole + 0.0 * second), "adding no rows changed the sum"
    assert (whole + whole).isclose(2.0 * whole), "twice the sum is not the sum with itself"
    assert not whole.isclose(first), "`isclose` does not tell different sums apart"


def check_weights(case: LawCase) -> None:
    """Weight 2 is the row twice, weight 0 the row absent."""
    if not hasattr(case.law, "fit"):
        return
    values = _parts(case.sample(200))
    weight = np.arange(200) % 3
    repeated = tuple(np.repeat(part, weight, axis=0) for part in values)
    weighted = case.law.fit(*values, weight=weight, **case.known)
    expected = case.law.fit(*repeated, **case.known)
    logs = log_density_at(weighted, repeated), log_density_at(expected, repeated)
    np.testing.assert_allclose(logs[0].sum(), logs[1].sum(), rtol=1e-9, atol=1e-9)


def check_fit(case: LawCase) -> None:
    """A fit is that of the statistics, is likelier than the truth, and close to it.

    Twice the log-likelihood that a fit gains over the truth is chi-square with one degree per free
    parameter, which it exceeds by six standard deviations never in practice.
    """
    if not hasattr(case.law, "fit"):
        return
    values = case.sample()
    fitted = case.law.fit(*_parts(values), **case.known)
    if hasattr(case.law, "statistics"):
        again = case.law.from_statistics(case.law.statistics(*_parts(values), **case.known))
        assert same_parameters(again, fitted), "fit is not from_statistics(statistics)"
    gains = log_density_at(fitted, values) - log_density_at(case.law, values)
    gain = 2 * float(gains.sum())
    numbers = sum(np.size(getattr(case.law, part.name)) for part in dataclasses.fields(case.law))
    assert gain > -1e-6, f"the truth is likelier than the fit, by {-gain / 2:.3g}"
    limit = numbers + 6 * np.sqrt(2 * numbers) + 12
    assert gain < limit, f"the fit is far from the truth: it gained {gain:.3g}, above {limit:.3g}"


# --- Relations ------------------------------------------------------------------------------------


def check_divergence(case: LawCase) -> None:
    """`kl` is 0 to the law itself, positive to others, and the mean of a difference of logs."""
    if case.other is None or not hasattr(case.law, "kl"):
        return
    itself = case.law.kl(case.law)
    assert abs(itself) < 1e-12, f"the divergence of a law from itself is {itself!r}"
    divergence = case.law.kl(case.other)
    assert divergence > 0, f"the divergence of different laws is {divergence!r}"
    values = case.sample()
    gaps = log_density_at(case.law, values) - log_density_at(case.other, values)
    _assert_mean(gaps, np.asarray(divergence), "divergence")


# --- Comparing ------------------------------------------------------------------------------------


def log_density_at(law: Any, values: Any) -> Floats:
    """Log-densities of sampled values; those of a pair are two arguments."""
    return np.asarray(_call(law.log_density, values), float)


def same_parameters(a: Any, b: Any) -> bool:
    """Whether two laws have the same class and the same parameters, bit by bit."""
    return type(a) is type(b) and all(
        np.array_equal(getattr(a, part.name), getattr(b, part.name))
        for part in dataclasses.fields(a)
    )


def _call(function: Callable[..., Any], values: Any) -> Any:
    return function(*_parts(values))


def _parts(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)


def _assert_mean(values: Floats, expected: Floats, what: str) -> None:
    """The mean over the first axis is as expected, within five standard errors."""
    assert values.shape[1:] == expected.shape, f"the {what} has shape {expected.shape}"
    # In units of the largest value, so that squares stay in the range of numbers.
    unit = float(np.abs(values).max()) or 1.0
    scaled = values / unit
    mean, error = scaled.mean(axis=0), scaled.std(axis=0) / np.sqrt(len(values))
    # A constant has no standard error, only rounding.
    off = np.abs(mean - expected / unit)
    assert np.all(off <= _STANDARD_ERRORS * error + 1e-9), (
        f"the {what} is {expected}, in a sample {mean * unit} +- {error * unit}"
    )


def _assert_refused(function: Callable[..., Any], *arguments: float) -> None:
    try:
        function(*arguments)
    except ValueError:
        return
    raise AssertionError(f"{function.__name__}{arguments} was not refused")


def _whole_numbers(law: Any) -> Floats:
    """The support, cut where less than 1e-15 is left."""
    low, high = law.quantile(1e-16) - 1, law.quantile(1 - 1e-16) + 20
    return np.arange(max(low, law.support[0]), min(high, law.support[1]) + 1)


def _integral(law: Any) -> float:
    """The integral of the density, by adaptive quadrature between quantiles."""
    from scipy import integrate

    low, high = law.support
    levels = [1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-3, 1 - 1e-6, 1 - 1e-12]
    edges = np.concatenate([[low], law.quantile(levels), [high]])
    total = 0.0
    with warnings.catch_warnings():
        # The error estimate is nervous far out; what counts is the total.
        warnings.simplefilter("ignore", integrate.IntegrationWarning)
        for place, (a, b) in enumerate(itertools.pairwise(edges)):
            if a < b:
                function, left, right = _piece(law, low if place < 5 else high, a, b)
                total += integrate.quad(function, left, right, epsabs=1e-12)[0]
    return total


def _piece(
    law: Any, end: float, a: float, b: float
) -> tuple[Callable[[float], float], float, float]:
    """An integral from a to b, in the logarithm of the distance from a finite end of the support.

    The density may be infinite at the end, and its quantiles may be many powers of ten apart.
    """
    if np.isinf(end):
        return lambda x: float(law.density(x)), a, b
    sign = 1.0 if end <= a else -1.0
    # No number is closer to the end than this.
    closest = max(float(np.spacing(end)), float(np.finfo(float).tiny))
    limits = sorted(np.log(max(abs(x - end), closest)) for x in (a, b))

    def integrand(log_distance: float) -> float:
        distance = np.exp(log_distance)
        return float(distance * law.density(end + sign * distance))

    return integrand, limits[0], limits[1]
