"""What a test of a hypothesis found: statistic, p-value, critical region, estimate and interval.

    p-value = P(T at least as extreme as the observed t | H0)

A test of size `alpha = 1 - level` rejects H0 when `p <= alpha`, which is when t lies in the
critical region. A t test of a mean has the interval of all means that would not be rejected:

    estimate - t_{df, level} SE   to   estimate + t_{df, level} SE

with one end infinite for a one-sided alternative.

Values without any spread have no standard error. Where they all equal H0 there is nothing to test
(statistic 0, p-value 1); where they all equal another number the statistic is infinite and nothing
tells how sure that is: p-value and interval are NaN, and `note` says why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.distributions import StudentT
from novum.evaluation.measures.intervals import Interval, check_level
from novum.numerics import DIFFERENCES, Floats, at_least

Alternative = Literal["two-sided", "less", "greater"]


# --- Results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CriticalRegion:
    """The values of a statistic that reject: at most `low`, or at least `high`.

    A side that never rejects is infinite.

    Examples
    --------
    >>> region = CriticalRegion(-2.0, 2.0)
    >>> 2.5 in region, 0.0 in region
    (True, False)
    >>> print(region)
    at most -2 or at least 2
    """

    low: float
    high: float

    def __contains__(self, statistic: float) -> bool:
        return bool(statistic <= self.low or statistic >= self.high)

    def __str__(self) -> str:
        sides = []
        if self.low > -math.inf:
            sides.append(f"at most {self.low:.4g}")
        if self.high < math.inf:
            sides.append(f"at least {self.high:.4g}")
        return " or ".join(sides) if sides else "empty"


@dataclass(frozen=True, repr=False)
class Outcome:
    """Result of one test.

    Attributes
    ----------
    test : str
        Name of the test.
    statistic, p_value : float
        The p-value is NaN where the values have no spread to judge them by; `note` says so.
    critical_region : CriticalRegion
        Values of the statistic that reject at size `1 - level`.
    alternative : {"two-sided", "less", "greater"}
    level : float
        Confidence, `1 - alpha`.
    degrees_of_freedom : tuple of float
        One for a t, two for an F statistic, none for counts and ranks.
    estimate : float or None
        What the hypothesis is about, such as the mean difference.
    interval : Interval or None
        Confidence interval of it.
    note : str
        What a reader must know besides; empty when there is nothing.
    """

    test: str
    statistic: float
    p_value: float
    critical_region: CriticalRegion
    alternative: Alternative = "two-sided"
    level: float = 0.95
    degrees_of_freedom: tuple[float, ...] = ()
    estimate: float | None = None
    interval: Interval | None = None
    note: str = ""

    @property
    def significant(self) -> bool:
        """Whether H0 is rejected at size `1 - level`."""
        return bool(at_least(1 - self.level, self.p_value))

    def __repr__(self) -> str:
        degrees = ", ".join(f"{value:.4g}" for value in self.degrees_of_freedom)
        lines = [
            f"{self.test}, {self.alternative}",
            f"  statistic        {self.statistic:.4g}" + (f" ({degrees} df)" if degrees else ""),
            f"  p-value          {self.p_value:.3g}",
            f"  critical region  {self.critical_region}, at size {1 - self.level:.3g}",
        ]
        if self.estimate is not None:
            lines.append(f"  estimate         {self.estimate:.4g}")
        if self.interval is not None:
            lines.append(f"  interval         {bracket(self.interval)} at level {self.level:g}")
        if self.note:
            lines.append(f"  note             {self.note}")
        return "\n".join(lines)


def bracket(interval: Interval) -> str:
    """Both ends of an interval as text."""
    return f"[{interval.low:.4g}, {interval.high:.4g}]"


# --- Tests by Student's law -----------------------------------------------------------------------


def t_outcome(
    test: str,
    estimate: float,
    error: float,
    degrees: float,
    *,
    null: float,
    alternative: Alternative,
    level: float,
    note: str = "",
) -> Outcome:
    """The test of `estimate = null` whose standardized distance has Student's law."""
    region = t_region(degrees, alternative, level)
    reach = region.high if alternative != "less" else -region.low
    if error > 0.0:
        statistic = (estimate - null) / error
        p_value, half = t_p_value(statistic, degrees, alternative), reach * error
    elif estimate == null:
        statistic, p_value, half = 0.0, 1.0, 0.0
        note = f"all values equal {null:g}, so there is nothing to test"
    else:
        statistic, p_value = math.copysign(math.inf, estimate - null), math.nan
        half = math.nan
        note = (
            f"all values equal {estimate:.4g}: they have no spread, so nothing tells how sure that "
            "is; the p-value is undefined"
        )
    low = -math.inf if alternative == "less" else estimate - half
    high = math.inf if alternative == "greater" else estimate + half
    return Outcome(
        test,
        float(statistic),
        p_value,
        region,
        alternative,
        level,
        (float(degrees),),
        float(estimate),
        Interval(float(estimate), float(low), float(high), level, test),
        note,
    )


def t_p_value(statistic: float, degrees: float, alternative: Alternative) -> float:
    """Tail of Student's law beyond the statistic, on the side or sides of the alternative."""
    law = StudentT(degrees)
    if alternative == "two-sided":
        return min(1.0, 2 * float(law.cdf(-abs(statistic))))
    return float(law.cdf(statistic if alternative == "less" else -statistic))


def t_region(degrees: float, alternative: Alternative, level: float) -> CriticalRegion:
    """Where a t statistic rejects at size `1 - level`."""
    law = StudentT(degrees)
    if alternative == "two-sided":
        reach = -float(law.quantile((1 - level) / 2))
        return CriticalRegion(-reach, reach)
    reach = -float(law.quantile(1 - level))
    if alternative == "less":
        return CriticalRegion(-reach, math.inf)
    return CriticalRegion(-math.inf, reach)


# --- Checks ---------------------------------------------------------------------------------------


def spread(values: Floats) -> float:
    """Unbiased deviation of differences; exactly 0 when they differ by rounding only."""
    deviation = float(np.std(values, ddof=1))
    return 0.0 if deviation <= DIFFERENCES * float(np.abs(values).max()) else deviation


def checked_values(values: ArrayLike, name: str, at_least: int = 2) -> Floats:
    """A vector of finite numbers, long enough to have a spread."""
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} are numbers, one for each fold; got {values!r:.80}.") from error
    if array.ndim != 1:
        raise InputError(
            f"{name} are a vector, one number for each fold, but have shape {array.shape}. "
            "Pass one row or column of them."
        )
    if array.size < at_least:
        raise InputError(
            f"{name} hold {array.size} number{'' if array.size == 1 else 's'}; the test needs at "
            f"least {at_least}. Use more folds or repeats."
        )
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise InputError(
            f"{name} must be finite, but {bad.size} of {array.size} are not: the first is "
            f"{array[bad[0]]:g} at position {bad[0]}. A score of NaN is a fold that failed; find "
            "out why instead of leaving it out."
        )
    return array


def checked_options(alternative: str, level: float) -> None:
    """The options every test has."""
    known = get_args(Alternative)
    if alternative not in known:
        raise InputError(f"alternative is one of {', '.join(known)}, got {alternative!r}.")
    check_level(level)


def checked_ratio(test_train_ratio: float) -> float:
    """Rows of a test part over rows of its training part."""
    bad = isinstance(test_train_ratio, bool) or not isinstance(test_train_ratio, Real)
    if bad or not 0 <= float(test_train_ratio) < math.inf:
        raise InputError(
            "test_train_ratio is the number of test rows over the number of training rows, such as "
            f"1/9 for ten folds, at least 0; got {test_train_ratio!r}."
        )
    return float(test_train_ratio)


def checked_rope(rope: float) -> float:
    """Half the width of the region of practical equivalence."""
    bad = isinstance(rope, bool) or not isinstance(rope, Real)
    if bad or not 0 <= float(rope) < math.inf:
        raise InputError(
            f"rope is the largest difference that does not matter, a number of at least 0; got "
            f"{rope!r}."
        )
    return float(rope)
