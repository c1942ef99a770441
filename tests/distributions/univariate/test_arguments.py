"""Checked arguments: what is wrong, where, and what to do."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.univariate import arguments


def test_good_values_pass_as_floats() -> None:
    assert arguments.positive("Law", shape=2, rate=np.float32(0.5)) == (2.0, 0.5)
    assert arguments.finite("Law", mean=-3) == (-3.0,)
    assert arguments.share("Law", "probability", True) == 1.0


@pytest.mark.parametrize("bad", [0, -1.0, np.inf, np.nan, "2", None])
def test_parameters_that_are_not_positive_are_named(bad: object) -> None:
    with pytest.raises(InputError, match="Law needs a finite rate above 0, got"):
        arguments.positive("Law", shape=1.0, rate=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [np.inf, np.nan, "2"])
def test_parameters_that_are_not_finite_are_named(bad: object) -> None:
    with pytest.raises(InputError, match="Law needs a finite mean, got"):
        arguments.finite("Law", mean=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-0.1, 1.5, np.nan, "half"])
def test_shares_lie_between_zero_and_one(bad: object) -> None:
    with pytest.raises(InputError, match="Law needs a p from 0 to 1, got"):
        arguments.share("Law", "p", bad)  # type: ignore[arg-type]


def test_points_must_be_numbers() -> None:
    assert np.isnan(arguments.points("Law", [1, None])[1])
    with pytest.raises(InputError, match="Law is a law of numbers and has none for 'a'"):
        arguments.points("Law", "a")


def test_levels_are_probabilities() -> None:
    assert arguments.levels("Law", [0, 1]).tolist() == [0, 1]
    assert np.isnan(arguments.levels("Law", np.nan))
    with pytest.raises(InputError, match=r"1 of 2 are outside, the first is 5\. Write 5 %"):
        arguments.levels("Law", [0.5, 5])


def test_intervals_are_in_order() -> None:
    low, high = arguments.interval("Law", 0, [1, 2])
    assert low.tolist() == [0, 0]
    assert high.tolist() == [1, 2]
    with pytest.raises(InputError, match=r"got a=3 and b=2\. Swap them"):
        arguments.interval("Law", [0, 3], [1, 2])


def test_samples_lose_values_of_weight_zero_whatever_they_hold() -> None:
    values, weights = arguments.sample("Law", [[1.0, np.nan], [3.0, np.inf]], [[1, 0], [2, 0]])
    assert values.tolist() == [1, 3]
    assert weights is not None
    assert weights.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("x", "weight", "message"),
    [
        ([1.0, np.nan], None, "Law is estimated from finite numbers; 1 of 2 are not, the first is "
         "nan at position 1. Drop missing values or give them weight 0"),
        ([1.0, 2.0], [1.0], "2 values and 1 weights"),
        ([1.0, 2.0], [1.0, -3.0], "the first is -3 at position 1"),
        ([1.0, 2.0], [np.nan, 1.0], "the first is nan at position 0"),
    ],
)  # fmt: skip
def test_bad_samples_are_named(x: list[float], weight: list[float] | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        arguments.sample("Law", x, weight)


def test_no_data_is_said() -> None:
    with pytest.raises(InputError, match="Law cannot be estimated from no data"):
        arguments.refuse_no_data("Law", 0.0)


def test_missing_arguments_stay_missing() -> None:
    kept = arguments.keep_missing(np.zeros(3), np.array([0, np.nan, 0]), np.array([0, 0, np.nan]))
    np.testing.assert_array_equal(kept, [0, np.nan, np.nan])
