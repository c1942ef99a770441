"""Power: integration of the definition, simulation, the floor that repeats cannot pass."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.evaluation.comparison.pairs.power import (
    corrected_power,
    detectable_effect,
    repeats_needed,
)
from novum.evaluation.comparison.pairs.t_tests import corrected_t_test
from tests.evaluation.comparison.definitions import t_test_power


@pytest.mark.parametrize("effect", [0.0, 0.01, 0.05, 0.2])
@pytest.mark.parametrize("n_folds", [2, 10, 100])
def test_power_is_the_definition_integrated(effect: float, n_folds: int) -> None:
    deviation, ratio = 0.05, 1 / 9
    center = effect / (deviation * math.sqrt(1 / n_folds + ratio))
    critical = stats.t.isf(0.025, n_folds - 1)
    expected = t_test_power(center, critical, n_folds - 1)
    found = corrected_power(effect, deviation, n_folds, ratio)
    assert found == pytest.approx(expected, abs=1e-7)


@pytest.mark.slow
def test_power_is_how_often_the_test_rejects() -> None:
    # 4000 draws of equally correlated differences; four standard errors of at most 0.008.
    rng = np.random.default_rng(11)
    n, ratio, effect = 30, 0.2, 0.9
    correlation = ratio / (1 + ratio)
    shared, own = rng.normal(size=(4000, 1)), rng.normal(size=(4000, n))
    draws = effect + math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own
    rate = np.mean([corrected_t_test(row, ratio).significant for row in draws])
    # The sample deviation estimates the deviation within an experiment, sqrt(1 - correlation).
    power = corrected_power(effect, math.sqrt(1 - correlation), n, ratio)
    assert 0.3 < power < 0.9
    assert abs(rate - power) < 4 * 0.008


@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_no_effect_is_found_as_often_as_the_size_says(level: float) -> None:
    assert corrected_power(0.0, 1.0, 25, 0.1, level=level) == pytest.approx(1 - level, rel=1e-6)


@pytest.mark.parametrize(("alternative", "sign"), [("greater", 1), ("less", -1)])
def test_one_sided_power(alternative: str, sign: int) -> None:
    two = corrected_power(0.05, 0.05, 20, 0.1)
    one = corrected_power(sign * 0.05, 0.05, 20, 0.1, alternative=alternative)  # type: ignore[arg-type]
    wrong = corrected_power(-sign * 0.05, 0.05, 20, 0.1, alternative=alternative)  # type: ignore[arg-type]
    assert one > two > 0.05 > wrong


@given(st.floats(0.01, 2), st.integers(2, 200), st.floats(0, 1), st.floats(0.1, 0.99))
def test_the_detectable_effect_has_that_power(
    deviation: float, n_folds: int, ratio: float, power: float
) -> None:
    effect = detectable_effect(deviation, n_folds, ratio, power=power)
    assert corrected_power(effect, deviation, n_folds, ratio) == pytest.approx(power, abs=1e-6)


def test_tails_without_a_value_in_scipy() -> None:
    # stats.nct.cdf is NaN just beside these, and a root was found where the power is 0.495.
    effect = detectable_effect(1.0, 2, 0.0, power=0.5)
    assert corrected_power(effect, 1.0, 2, 0.0) == pytest.approx(0.5, abs=1e-8)


def test_the_number_of_repeats_is_the_smallest() -> None:
    found = repeats_needed(0.04, 0.04, 10, 1 / 9)
    assert found.repeats is not None
    enough = corrected_power(0.04, 0.04, 10 * found.repeats, 1 / 9)
    one_less = corrected_power(0.04, 0.04, 10 * (found.repeats - 1), 1 / 9)
    assert one_less < 0.8 <= enough
    assert f"{found.repeats} repeats find a difference of 0.04" in str(found)


def test_repeats_cannot_pass_the_floor() -> None:
    found = repeats_needed(0.02, 0.04, 10, 1 / 9)
    assert found.repeats is None
    floor = 0.04 * math.sqrt(1 / 9)
    limit = stats.norm.sf(1.959963984540054 - 0.02 / floor) + stats.norm.cdf(
        -1.959963984540054 - 0.02 / floor
    )
    assert found.best_power == pytest.approx(limit)
    # A million folds come close to the limit and stay below it.
    assert corrected_power(0.02, 0.04, 10**6, 1 / 9) == pytest.approx(limit, abs=1e-4)
    assert "no number of repeats" in str(found)
    assert "share their rows" in str(found)


def test_the_smallest_effect_parts_the_possible_from_the_impossible() -> None:
    floor = repeats_needed(0.02, 0.04, 10, 1 / 9).smallest_effect
    assert repeats_needed(1.01 * floor, 0.04, 10, 1 / 9).repeats is not None
    assert repeats_needed(0.99 * floor, 0.04, 10, 1 / 9).repeats is None


def test_without_overlap_any_effect_can_be_found() -> None:
    found = repeats_needed(0.001, 0.04, 10, 0.0)
    assert found.best_power == 1.0
    assert found.repeats is not None
    # The textbook number for a normal test: (1.96 + 0.84)^2 (deviation / effect)^2 folds.
    expected = (1.959964 + 0.841621) ** 2 * 40**2 / 10
    assert found.repeats == pytest.approx(expected, rel=0.01)


def test_no_spread_divides_by_nothing() -> None:
    with np.errstate(all="raise"):
        assert corrected_power(0.1, 0.0, 10, 0.1) == 1.0
        assert corrected_power(0.0, 0.0, 10, 0.1) == 0.0
        assert detectable_effect(0.0, 10, 0.1) == 0.0
        assert repeats_needed(0.1, 0.0, 10, 0.1).repeats == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: corrected_power(np.nan, 1.0, 10, 0.1), "effect is a finite number"),
        (lambda: corrected_power(0.1, -1.0, 10, 0.1), "deviation is at least 0"),
        (lambda: corrected_power(0.1, 1.0, 1, 0.1), "n_folds is a whole number of at least 2"),
        (lambda: repeats_needed(0.0, 1.0, 10, 0.1), "0 is none"),
        (lambda: repeats_needed(0.1, 1.0, 10, 0.1, power=0.01), "above the size 0.05"),
        (lambda: detectable_effect(1.0, 10, 0.1, power=1.0), "below 1, got 1.0"),
    ],
)
def test_bad_input_is_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
