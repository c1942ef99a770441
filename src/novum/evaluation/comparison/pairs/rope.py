"""Bayesian correlated t test: how probable is each model better, and how probable no matter.

For differences on overlapping folds with correlation `rho = n_test / (n_test + n_train)` and the
prior `p(mean, variance) ~ 1 / variance`, the posterior of the mean difference is (Corani and
Benavoli 2015)

    mean | d  ~  Student_{n-1}(mean d, s^2 (1/n + rho / (1 - rho))),   rho / (1 - rho) = ratio,

so its quantiles are the corrected resampled t test's. Its use lies in the region of practical
equivalence (ROPE) around zero: three probabilities, of the second model better by more than the
region, of neither, and of the first. Unlike a p-value they can also say that two models are equal
for all practical purposes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from novum.distributions import StudentT
from novum.evaluation.comparison.pairs.outcome import (
    bracket,
    checked_options,
    checked_ratio,
    checked_rope,
    checked_values,
    spread,
)
from novum.evaluation.measures.intervals import Interval
from novum.numerics import merge_differences


@dataclass(frozen=True, repr=False)
class RopePosterior:
    """Posterior of a mean difference, `first - second`, split by a region of equivalence.

    Attributes
    ----------
    left : float
        Probability that the difference is below `-rope`: the second is better.
    inside : float
        Probability that it lies within the region.
    right : float
        Probability that it is above `rope`: the first is better.
    rope : float
    interval : Interval
        Central, and so shortest, interval that holds the difference with probability `level`.
    law : StudentT or None
        The posterior; None when the differences have no spread and all mass is on their value.
    note : str
    """

    left: float
    inside: float
    right: float
    rope: float
    interval: Interval
    law: StudentT | None
    note: str = ""

    @property
    def probabilities(self) -> tuple[float, float, float]:
        """Left, inside, right."""
        return self.left, self.inside, self.right

    def __repr__(self) -> str:
        lines = [
            "Bayesian correlated t test",
            f"  P(difference < {-self.rope:g})   {self.left:.4f}",
            f"  P(within {self.rope:g})         {self.inside:.4f}",
            f"  P(difference > {self.rope:g})    {self.right:.4f}",
            f"  {self.interval.level:.0%} interval  {bracket(self.interval)}",
        ]
        return "\n".join([*lines, f"  note  {self.note}"] if self.note else lines)


def bayesian_correlated_t_test(
    differences: ArrayLike,
    test_train_ratio: float,
    *,
    rope: float = 0.01,
    level: float = 0.95,
) -> RopePosterior:
    """Posterior probabilities that the first model is worse, equivalent, or better.

    Parameters
    ----------
    differences : array-like of shape (n_folds,)
        Score of the first model minus score of the second, fold by fold, over all repeats.
    test_train_ratio : float
        Rows of a test part over rows of its training part: `1 / (k - 1)` for k folds.
    rope : float
        Differences up to this size do not matter, in units of the score. Zero has no region.
    level : float
        Probability of the interval.

    Returns
    -------
    RopePosterior

    References
    ----------
    Benavoli, Corani, Demsar and Zaffalon (2017), Time for a change, JMLR 18.

    Examples
    --------
    >>> found = bayesian_correlated_t_test([0.02, 0.05, 0.01, 0.04], 1 / 3, rope=0.01)
    >>> [round(p, 3) for p in found.probabilities]
    [0.032, 0.091, 0.877]
    """
    checked_options("two-sided", level)
    ratio, rope = checked_ratio(test_train_ratio), checked_rope(rope)
    values = checked_values(differences, "The differences")
    deviation = spread(values)
    if deviation == 0.0:
        return _point_mass(float(values[0]), rope, level)
    scale = deviation * math.sqrt(1 / values.size + ratio)
    law = StudentT(float(values.size - 1), float(values.mean()), scale)
    low, high = (float(law.quantile(p)) for p in ((1 - level) / 2, (1 + level) / 2))
    mirrored = StudentT(law.degrees_of_freedom, -law.location, scale)
    return RopePosterior(
        float(law.cdf(-rope)),
        float(law.probability(-rope, rope)),
        # The law of the opposite difference: its lower tail keeps digits that 1 - cdf loses.
        float(mirrored.cdf(-rope)),
        rope,
        Interval(law.location, low, high, level, "Bayesian correlated t"),
        law,
    )


def _point_mass(value: float, rope: float, level: float) -> RopePosterior:
    value = float(merge_differences(value, rope))
    inside = float(abs(value) <= rope)
    return RopePosterior(
        float(value < -rope),
        inside,
        float(value > rope),
        rope,
        Interval(value, value, value, level, "Bayesian correlated t"),
        None,
        f"all differences equal {value:.4g}: without spread the probabilities are limits",
    )
