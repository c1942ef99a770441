"""Categorical: exact frequencies, order of levels, union of levels, enumeration."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.univariate.categorical import Categorical, CategoricalStatistics

samples = st.lists(st.sampled_from("abcd"), min_size=1, max_size=40)
COLORS = Categorical([0.2, 0.5, 0.3], ("red", "green", "blue"))


@given(samples)
def test_estimate_is_the_relative_frequency(x: list[str]) -> None:
    law, counts = Categorical.fit(x), Counter(x)
    assert law.levels == tuple(sorted(counts))
    expected = [counts[level] / len(x) for level in law.levels]
    np.testing.assert_allclose(law.probabilities, expected, rtol=1e-15)


@given(samples, samples)
def test_statistics_unite_levels_by_name(a: list[str], b: list[str]) -> None:
    both = Categorical.statistics(a) + Categorical.statistics(b)
    counts = Counter(a + b)
    assert {level: both.count(level) for level in both.levels} == dict(counts)
    assert (both - Categorical.statistics(b)).isclose(Categorical.statistics(a))
    assert both.isclose(Categorical.statistics(a + b))
    assert (2.0 * both).weight == 2 * both.weight
    assert both.zero().weight == 0


def test_agrees_with_scipy_on_codes() -> None:
    p = np.array([0.1, 0.0, 0.6, 0.3])
    law, other = Categorical(p), stats.rv_discrete(values=(np.arange(4), p))
    np.testing.assert_allclose(law.density([0, 1, 2, 3, 4]), other.pmf([0, 1, 2, 3, 4]))
    np.testing.assert_allclose(law.cdf([0, 1, 2, 3]), other.cdf([0, 1, 2, 3]))
    assert law.entropy == pytest.approx(stats.entropy(p))
    assert law.expectation(np.arange(4)) == pytest.approx(other.mean())
    levels = [0.05, 0.1, 0.11, 0.5, 0.71, 1.0]
    np.testing.assert_array_equal(law.quantile(levels), other.ppf(levels))


def test_kl_agrees_with_scipy() -> None:
    p, q = [0.2, 0.5, 0.3], [0.4, 0.4, 0.2]
    assert Categorical(p).kl(Categorical(q)) == pytest.approx(stats.entropy(p, q), rel=1e-13)


def test_kl_goes_by_name() -> None:
    shuffled = Categorical([0.3, 0.2, 0.5], ("blue", "red", "green"))
    assert COLORS.kl(shuffled) == pytest.approx(0, abs=1e-15)
    wider = Categorical([0.1, 0.25, 0.15, 0.5], ("red", "green", "blue", "black"))
    assert COLORS.kl(wider) == pytest.approx(np.log(2), rel=1e-13)
    assert wider.kl(COLORS) == np.inf


def test_order_is_that_of_the_levels() -> None:
    np.testing.assert_allclose(COLORS.cdf(["red", "green", "blue"]), [0.2, 0.7, 1.0])
    assert COLORS.quantile([0.0, 0.2, 0.21, 1.0]).tolist() == ["red", "red", "green", "blue"]
    assert float(COLORS.probability("green", "blue")) == pytest.approx(0.8)
    with pytest.raises(InputError, match="'blue' comes after 'red'"):
        COLORS.probability("blue", "red")
    never = Categorical([0.5, 0.0, 0.5])
    with pytest.raises(InputError, match="1 comes after 0"):
        never.probability(1, 0)
    assert float(never.probability(1, 1)) == 0
    with pytest.raises(InputError, match="Only levels have a place"):
        COLORS.cdf("black")


def test_quantile_skips_impossible_levels() -> None:
    law = Categorical([0.0, 1.0, 0.0], ("a", "b", "c"))
    assert law.quantile([0.0, 0.5, 1.0]).tolist() == ["b", "b", "b"]
    assert set(law.sample(100, random_state=0)) == {"b"}


def test_moments_are_those_of_the_indicators() -> None:
    p = COLORS.probabilities
    np.testing.assert_allclose(COLORS.mean, p)
    np.testing.assert_allclose(COLORS.covariance, np.diag(p) - np.outer(p, p))
    # The indicators sum to one, so the covariance has no row that does not cancel.
    np.testing.assert_allclose(COLORS.covariance.sum(axis=1), 0, atol=1e-16)
    assert COLORS.mode == "green"


def test_missing_and_unknown_labels_differ() -> None:
    np.testing.assert_array_equal(COLORS.density(["black", None]), [0, np.nan])
    assert COLORS.log_density("black") == -np.inf
    assert np.isnan(COLORS.cdf([None]))
    assert np.isnan(COLORS.probability("red", None))
    assert Categorical([1.0], ("only",)).density(["only", "other"]).tolist() == [1, 0]


def test_samples_keep_shape_and_type() -> None:
    drawn = COLORS.sample((3, 4), random_state=1)
    assert drawn.shape == (3, 4)
    assert drawn.dtype.kind == "U"
    assert Categorical([0.5, 0.5]).sample(3, random_state=0).dtype.kind == "i"


def test_given_levels_are_kept_also_without_data() -> None:
    law = Categorical.fit(["b"], levels=("a", "b"))
    assert law == Categorical([0.0, 1.0], ("a", "b"))
    widened = Categorical.statistics(["b"]).with_levels(("c", "b"))
    assert widened.counts.tolist() == [0, 1]
    with pytest.raises(InputError, match="'b' occurred but is not among"):
        widened.with_levels(("c",))


def test_weight_zero_hides_missing_and_unknown_labels() -> None:
    law = Categorical.fit(["a", None, "z"], [2, 0, 0], levels=("a", "b"))
    assert law.probabilities.tolist() == [1, 0]
    assert Categorical.fit(["a", "b"], [1, 0]).levels == ("a",)


def test_equality_and_hash_go_by_value() -> None:
    assert Categorical([0.5, 0.5]) == Categorical([0.5, 0.5], (0, 1))
    assert hash(Categorical([0.5, 0.5])) == hash(Categorical([0.5, 0.5], (0, 1)))
    assert Categorical([0.5, 0.5]) != Categorical([0.5, 0.5], ("a", "b"))
    assert Categorical([0.5, 0.5]) != 3


def test_the_callers_array_is_not_kept() -> None:
    p = np.array([0.5, 0.5])
    law = Categorical(p)
    p[0] = 9
    assert law.probabilities.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        law.probabilities[0] = 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.6],), r"sum to 1; they sum to 1\.1\. Divide"),
        (([1.5, -0.5],), "from 0 to 1, got 1.5 at position 0"),
        (([],), "list of probabilities"),
        (([0.5, np.nan],), "got nan at position 1"),
        (([0.5, 0.5], ("a",)), "1 levels and 2 probabilities"),
    ],
)
def test_bad_parameters_are_named(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Categorical(*arguments)


@pytest.mark.parametrize(
    ("x", "known", "message"),
    [
        (["a", None], {}, "1 of 2 values are missing or unknown, the first is None at position 1"),
        (["a", "z"], {"levels": ("a",)}, "the first is 'z'|the first is np.str_"),
        ([], {}, "no data"),
    ],
)
def test_bad_samples_are_named(x: list[Any], known: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Categorical.fit(x, **known)


def test_bad_counts_are_named() -> None:
    with pytest.raises(InputError, match="that of 'b' is -1"):
        CategoricalStatistics(("a", "b"), np.array([1.0, -1.0]))
    with pytest.raises(InputError, match=r"shape \(2,\), got \(3,\)"):
        CategoricalStatistics(("a", "b"), np.ones(3))
    with pytest.raises(InputError, match="Remove only what was added"):
        Categorical.statistics(["a"]) - Categorical.statistics(["b"])
    with pytest.raises(InputError, match="one number per level"):
        COLORS.expectation([1, 2])
    with pytest.raises(InputError, match="no data"):
        Categorical.from_statistics(COLORS.statistics(["red"]).zero())
    with pytest.raises(InputError, match="missing probability"):
        COLORS.quantile([np.nan])
