"""Results of tests: critical regions agree with p-values, notes, checks."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.evaluation.comparison.pairs.outcome import (
    Alternative,
    CriticalRegion,
    checked_ratio,
    checked_rope,
    checked_values,
    spread,
    t_outcome,
    t_p_value,
    t_region,
)

ALTERNATIVES: list[Alternative] = ["two-sided", "less", "greater"]


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("degrees", [1.0, 4.5, 99.0])
@pytest.mark.parametrize("statistic", [-40.0, -2.0, 0.0, 0.3, 2.5])
def test_tails_are_scipys(alternative: Alternative, degrees: float, statistic: float) -> None:
    law = stats.t(degrees)
    expected = {
        "two-sided": 2 * law.sf(abs(statistic)),
        "less": law.cdf(statistic),
        "greater": law.sf(statistic),
    }
    found = t_p_value(statistic, degrees, alternative)
    assert found == pytest.approx(expected[alternative], rel=1e-10)


@given(
    st.sampled_from(ALTERNATIVES),
    st.floats(-8, 8),
    st.integers(1, 60),
    st.sampled_from([0.8, 0.95, 0.999]),
)
def test_the_critical_region_rejects_when_the_p_value_does(
    alternative: Alternative, statistic: float, degrees: int, level: float
) -> None:
    region = t_region(degrees, alternative, level)
    edge = min(abs(statistic - end) for end in (region.low, region.high))
    if edge > 1e-9:
        rejected = t_p_value(statistic, degrees, alternative) <= 1 - level
        assert (statistic in region) == rejected


@given(st.floats(-5, 5), st.floats(0.01, 3), st.floats(-5, 5), st.integers(1, 40))
def test_the_interval_holds_exactly_what_is_not_rejected(
    estimate: float, error: float, null: float, degrees: int
) -> None:
    found = t_outcome(
        "a test", estimate, error, degrees, null=null, alternative="two-sided", level=0.95
    )
    assert found.interval is not None
    if min(abs(null - end) for end in found.interval) > 1e-9:
        assert found.interval.covers(null) == (not found.significant)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_no_spread_leaves_the_p_value_undefined_and_says_so(alternative: Alternative) -> None:
    found = t_outcome("a test", 2.0, 0.0, 3, null=0.0, alternative=alternative, level=0.95)
    assert found.statistic == math.inf
    assert math.isnan(found.p_value)
    assert not found.significant
    assert "no spread" in found.note
    assert "p-value is undefined" in repr(found)
    assert found.interval is not None
    assert found.interval.estimate == 2.0
    assert math.isnan(found.interval.half_width)


def test_nothing_to_test_says_so() -> None:
    found = t_outcome("a test", 0.0, 0.0, 3, null=0.0, alternative="two-sided", level=0.95)
    assert (found.statistic, found.p_value, found.significant) == (0.0, 1.0, False)
    assert "nothing to test" in found.note


def test_regions_in_words() -> None:
    assert str(CriticalRegion(-math.inf, 2.5)) == "at least 2.5"
    assert str(CriticalRegion(-1.5, math.inf)) == "at most -1.5"
    assert str(CriticalRegion(-math.inf, math.inf)) == "empty"


def test_outcomes_are_values() -> None:
    found = t_outcome("a test", 1.0, 0.5, 9, null=0.0, alternative="two-sided", level=0.95)
    assert pickle.loads(pickle.dumps(found)) == found


def test_rounding_is_no_spread() -> None:
    values = np.array([0.1, 0.1 + 1e-17, 0.3 - 0.2])
    assert spread(values) == 0.0
    assert spread(np.array([0.1, 0.2])) == pytest.approx(np.std([0.1, 0.2], ddof=1))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0], r"hold 1 number; the test needs at least 2"),
        ([[1.0, 2.0]], r"a vector.*shape \(1, 2\)"),
        ([1.0, np.nan, 2.0], r"1 of 3 are not: the first is nan at position 1"),
        ([1.0, np.inf], r"first is inf at position 1"),
        (["a", "b"], "are numbers"),
    ],
)
def test_bad_values_are_named(values: list[object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_values(values, "The values")


@pytest.mark.parametrize("bad", [-0.1, np.nan, np.inf, "0.1", True, None])
def test_bad_sizes_are_named(bad: object) -> None:
    with pytest.raises(ValueError, match="rope is the largest difference"):
        checked_rope(bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="test_train_ratio is the number"):
        checked_ratio(bad)  # type: ignore[arg-type]
