"""Conjugate Bayesian estimation: prior and data give a posterior of the prior's own family.

    posterior    p(t | D) = p(D | t) p(t) / p(D)
    predictive   p(x | D) = integral p(x | t) p(t | D) dt
    evidence     p(D)     = integral p(D | t) p(t) dt

For the pairs in `PAIRS` all three are closed forms in the sums that the likelihood's own statistics
hold. So the data may come in batches, `posterior(posterior(p, L, A), L, B)` being that of both, or
as statistics that were added up elsewhere.

A posterior has two estimates, with two names: its mean, `mean_estimate` (for counts `(N + a) /
sum(N + a)`), and its mode, `map_estimate` (`(N + a - 1) / sum(N + a - 1)`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.distributions.conjugacy_counts import (
    BetaBernoulli,
    BetaBinomialTrials,
    DirichletCategorical,
    DirichletMultinomialTrials,
)
from novum.distributions.conjugacy_knowns import (
    KnownCovariance,
    KnownLevels,
    KnownTrials,
    KnownVariance,
)
from novum.distributions.conjugacy_normals import (
    NormalGammaNormal,
    NormalKnownCovariance,
    NormalKnownVariance,
    NormalWishartNormal,
)
from novum.distributions.multivariate.dirichlet import Dirichlet
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.multivariate.normal_gamma import NormalGamma
from novum.distributions.multivariate.normal_wishart import NormalWishart
from novum.distributions.univariate.bernoulli import Bernoulli
from novum.distributions.univariate.beta import Beta
from novum.distributions.univariate.categorical import Categorical
from novum.distributions.univariate.normal import Normal

# What is unknown, how it is observed, and the formulas of the two together.
PAIRS: Mapping[tuple[type, type], Any] = {
    (Beta, Bernoulli): BetaBernoulli,
    (Beta, KnownTrials): BetaBinomialTrials,
    (Dirichlet, Categorical): DirichletCategorical,
    (Dirichlet, KnownLevels): DirichletCategorical,
    (Dirichlet, KnownTrials): DirichletMultinomialTrials,
    (Normal, KnownVariance): NormalKnownVariance,
    (MultivariateNormal, KnownCovariance): NormalKnownCovariance,
    (NormalGamma, Normal): NormalGammaNormal,
    (NormalWishart, MultivariateNormal): NormalWishartNormal,
}


def posterior(prior: Any, likelihood: Any, data: Any, weight: ArrayLike | None = None) -> Any:
    """The law of the unknown parameters after the data, of the prior's family.

    Parameters
    ----------
    prior : law of the unknown parameters
    likelihood : class of laws, or `KnownTrials`, `KnownLevels`, `KnownVariance`, `KnownCovariance`
    data : observations, or their statistics
        As `statistics` of the likelihood's law takes or gives them.
    weight : array, optional
        Repetitions of each observation.

    Examples
    --------
    >>> posterior(Beta(1, 1), Bernoulli, [1, 1, 1])
    Beta(a=4.0, b=1.0)
    >>> posterior(Normal(0.0, 1.0), KnownVariance(2.0), [1.0, 3.0])
    Normal(mean=1.0, variance=0.5)
    """
    pair = _pair(prior, likelihood)
    return pair.update(_statistics(pair, data, weight))


def predictive(law: Any, likelihood: Any) -> Any:
    """The law of one more observation, when the parameters have the given law.

    Examples
    --------
    >>> predictive(posterior(Beta(1, 1), Bernoulli, [1, 1, 1]), Bernoulli)
    Bernoulli(probability=0.8)
    >>> predictive(NormalGamma(0.0, 1.0, 2.0, 1.0), Normal)
    StudentT(degrees_of_freedom=4.0, location=0.0, scale=1.0)
    """
    return _pair(law, likelihood).predict()


def log_evidence(prior: Any, likelihood: Any, data: Any, weight: ArrayLike | None = None) -> float:
    """Logarithm of the probability (density) of the data before they were seen.

    Differences between models compare them; the prior must be proper. Statistics are taken in place
    of data except for counts of several trials, whose coefficients the sums do not hold.

    Examples
    --------
    >>> import math
    >>> round(math.exp(log_evidence(Beta(1, 1), Bernoulli, [1, 0, 1])), 6)  # 2! 1! / 4!
    0.083333
    """
    pair = _pair(prior, likelihood)
    evidence = float(pair.log_evidence(_statistics(pair, data, weight)))
    if not isinstance(likelihood, KnownTrials):
        return evidence
    if _is_statistics(data):
        raise InputError(
            "The evidence of counts needs the coefficient of every observation, which statistics "
            "do not hold. Pass the observations."
        )
    return evidence + float(pair.log_coefficients(data, weight))


def map_estimate(law: Any, likelihood: Any = None) -> Any:
    """The most probable parameters: the mode of the posterior.

    Parameters
    ----------
    law : posterior
    likelihood : as in `posterior`, optional
        Gives the law of the observations with those parameters instead of the parameters.

    Examples
    --------
    >>> map_estimate(Beta(5.0, 3.0)) == 4 / 6
    True
    >>> map_estimate(NormalGamma(1.0, 2.0, 2.5, 8.0), Normal)
    Normal(mean=1.0, variance=4.0)
    """
    return _estimate(law, likelihood, law.mode)


def mean_estimate(law: Any, likelihood: Any = None) -> Any:
    """The expected parameters: the mean of the posterior.

    Examples
    --------
    >>> mean_estimate(Beta(5.0, 3.0))
    0.625
    >>> mean_estimate(Dirichlet([2.0, 1.0, 1.0]), Categorical).probabilities.tolist()
    [0.5, 0.25, 0.25]
    """
    if isinstance(law, NormalGamma):
        parameter: Any = (law.mean, law.shape / law.rate)
    elif isinstance(law, NormalWishart):
        parameter = (law.mean, law.degrees_of_freedom * law.scale)
    else:
        parameter = law.mean
    return _estimate(law, likelihood, parameter)


# --- Dispatch -------------------------------------------------------------------------------------


def _pair(law: Any, likelihood: Any) -> Any:
    kind = likelihood if isinstance(likelihood, type) else type(likelihood)
    pair = PAIRS.get((type(law), kind))
    # A class stands for unknown parameters, a value for known ones; neither can be the other.
    is_value = kind.__name__.startswith("Known")
    if pair is None or isinstance(likelihood, type) == is_value:
        known = "; ".join(f"{p.__name__} with {k.__name__}" for p, k in PAIRS)
        shown = likelihood.__name__ if isinstance(likelihood, type) else repr(likelihood)
        raise InputError(
            f"There is no conjugate pair {type(law).__name__} with {shown[:80]}. The pairs are: "
            f"{known}. Known.. are values, such as KnownVariance(2.0); the others are classes."
        )
    return pair(law, likelihood)


def _statistics(pair: Any, data: Any, weight: ArrayLike | None) -> Any:
    if not _is_statistics(data):
        return pair.statistics(data, weight)
    if weight is not None:
        raise InputError("Statistics hold their weights already. Pass weights with observations.")
    if not isinstance(data, pair.sums):
        raise InputError(
            f"This pair learns from {pair.sums.__name__}, got {type(data).__name__}. Use the "
            "statistics of the likelihood's law."
        )
    return data


def _is_statistics(data: Any) -> bool:
    return hasattr(data, "weight") and hasattr(data, "isclose")


def _estimate(law: Any, likelihood: Any, parameter: Any) -> Any:
    return parameter if likelihood is None else _pair(law, likelihood).law(parameter)


# --- Credible intervals ---------------------------------------------------------------------------
#
# Credible intervals: where an unknown number lies with a given probability.
#
#     equal-tailed     [q((1 - c)/2), q((1 + c)/2)]             the same risk on both sides
#     highest density  the shortest [l, u] with P(l <= x <= u) = c
#
# The shortest interval of a law with one peak has equal densities at both ends, or ends where the
# support does. With `t` the probability below it, its length `q(t + c) - q(t)` is minimized over
# `0 <= t <= 1 - c`. A law with two peaks at the ends (a beta law with both shapes below one) has no
# such interval, and is refused.


class Interval(NamedTuple):
    """Lower and upper end."""

    low: float
    high: float


def credible_interval(law: Any, level: float = 0.95, kind: str = "equal_tailed") -> Interval:
    """Interval that holds the unknown number with probability `level`.

    Parameters
    ----------
    law : continuous law of one number
        Such as a posterior, or a marginal of one.
    level : float
        Between 0 and 1.
    kind : {"equal_tailed", "highest_density"}

    Examples
    --------
    >>> from novum.distributions.univariate.beta import Beta
    >>> low, high = credible_interval(Beta(1.0, 3.0), 0.5, "highest_density")
    >>> low, round(high, 6)  # the density falls from 0 on: 1 - 0.5^(1/3)
    (0.0, 0.206299)
    """
    if not 0 < level < 1:
        raise InputError(f"The level of an interval is between 0 and 1, got {level!r}.")
    if not hasattr(law, "quantile") or law.discrete:
        raise InputError(
            f"{type(law).__name__} is no continuous law of one number. Take a marginal first, such "
            "as `posterior.marginal(...)`."
        )
    if kind == "equal_tailed":
        rest = (1 - level) / 2
        return Interval(float(law.quantile(rest)), float(law.quantile(1 - rest)))
    if kind == "highest_density":
        return _shortest(law, level)
    raise InputError(f"The kind is 'equal_tailed' or 'highest_density', got {kind!r}.")


def _shortest(law: Any, level: float) -> Interval:
    room = 1 - level

    def ends(below: float) -> Interval:
        return Interval(float(law.quantile(below)), float(law.quantile(min(1.0, below + level))))

    def slope(below: float) -> float:
        """Sign of the derivative of the length: 1/density at the upper end less at the lower."""
        low, high = ends(below)
        left, right = float(law.log_density(low)), float(law.log_density(high))
        return 0.0 if left == right else left - right

    _check_one_peak(law)
    if slope(0.0) >= 0:
        return ends(0.0)
    if slope(room) <= 0:
        return ends(room)
    return ends(_root(slope, 0.0, room))


def _root(slope: Any, low: float, high: float) -> float:
    """Bisection: at the ends densities may be zero or infinite, where secants are of no use."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if slope(middle) < 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _check_one_peak(law: Any) -> None:
    left, right = (float(law.log_density(end)) for end in law.support)
    if left == math.inf and right == math.inf:
        raise InputError(
            f"{law!r} has peaks at both ends of its support, so its region of highest density is "
            "no interval. Take the equal-tailed one."
        )
