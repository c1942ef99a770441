"""Independence: exact on tables, and the tests on samples against scipy and their own law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.independence import (
    SmallCountsWarning,
    check_independence,
    independence_test,
)
from novum.distributions.information import mutual_information
from novum.distributions.joint_table import JointTable

YES = (True, False)


@pytest.fixture
def dentist() -> JointTable:
    cells = [[[0.108, 0.012], [0.072, 0.008]], [[0.016, 0.064], [0.144, 0.576]]]
    return JointTable(cells, ["cavity", "toothache", "catch"], [YES] * 3)


# --- Exact ----------------------------------------------------------------------------------------


def test_toothache_and_catch_are_independent_given_cavity_only(dentist: JointTable) -> None:
    assert check_independence(dentist, "toothache", "catch", given="cavity").holds
    marginal = check_independence(dentist, "toothache", "catch")
    assert not marginal
    # P(toothache, catch) = 0.124, P(toothache) P(catch) = 0.2 * 0.34.
    assert marginal.violation == pytest.approx(0.124 - 0.2 * 0.34, abs=1e-15)
    assert marginal.joint == pytest.approx(0.124, abs=1e-15)
    assert marginal.product == pytest.approx(0.068, abs=1e-15)
    assert "dependent: the largest violation is 0.056" in str(marginal)


def test_weather_is_independent_of_all_three(dentist: JointTable) -> None:
    weather = JointTable([0.6, 0.1, 0.29, 0.01], ["weather"], [("sun", "rain", "cloud", "snow")])
    joint = weather * dentist
    assert check_independence(joint, "weather", ["cavity", "toothache", "catch"])
    assert "independent" in str(check_independence(joint, "weather", "cavity"))


def test_pairwise_independence_is_not_mutual() -> None:
    # Two fair coins and whether they agree.
    table = JointTable.from_function(
        lambda a, b, same: 0.25 if same == (a == b) else 0.0, {"a": YES, "b": YES, "same": YES}
    )
    assert check_independence(table, "a", "b")
    assert check_independence(table, "a", "same")
    assert check_independence(table, "b", "same")
    mutual = check_independence(table, "a", "b", "same")
    assert not mutual
    assert mutual.violation == pytest.approx(0.125)


def test_impossible_contexts_say_nothing() -> None:
    cells = np.zeros((2, 2, 2))
    cells[0] = 0.25
    table = JointTable(cells, ["c", "a", "b"], [(0, 1)] * 3)
    report = check_independence(table, "a", "b", given="c")
    assert report
    assert report.at["c"] == 0


@given(st.lists(st.floats(1e-3, 1), min_size=3, max_size=3), st.floats(0.01, 0.99))
def test_products_are_independent(weights: list[float], p: float) -> None:
    shares = np.array(weights) / sum(weights)
    table = JointTable(shares, ["x"], [range(3)]) * JointTable([p, 1 - p], ["y"], [(0, 1)])
    assert check_independence(table, "x", "y").violation < 1e-15


def test_rare_contexts_are_judged_like_common_ones() -> None:
    tiny = 1e-200
    dependent = np.array([[0.5, 0.0], [0.0, 0.5]])
    table = JointTable([np.full((2, 2), 0.25), tiny * dependent], ["c", "a", "b"], [(0, 1)] * 3)
    report = check_independence(table, "a", "b", given="c")
    assert not report
    assert report.violation == pytest.approx(0.25)
    assert report.at["c"] == 1


# --- On samples -----------------------------------------------------------------------------------


counts_2d = st.lists(
    st.lists(st.integers(5, 60), min_size=3, max_size=3), min_size=2, max_size=4
).map(np.array)


@given(counts_2d)
@pytest.mark.filterwarnings("ignore::novum.distributions.independence.SmallCountsWarning")
def test_statistics_agree_with_scipy(counts: Any) -> None:
    table = JointTable.from_counts(counts, ["a", "b"], [range(k) for k in counts.shape])
    for name, power in (("pearson", 1), ("likelihood_ratio", 0)):
        ours = independence_test(table, "a", "b", statistic=name)
        theirs = stats.chi2_contingency(counts, correction=False, lambda_=power)
        assert ours.value == pytest.approx(theirs.statistic, rel=1e-10, abs=1e-10)
        assert ours.degrees_of_freedom == theirs.dof
        assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-8, abs=1e-12)
        assert ours.smallest_expected == pytest.approx(theirs.expected_freq.min())
        assert ours.sample_size == counts.sum()
        cramer = stats.contingency.association(counts, method="cramer")
        assert ours.effect == pytest.approx(cramer, abs=1e-9)


def test_g_is_twice_the_information_in_nats() -> None:
    rng = np.random.default_rng(0)
    table = JointTable.from_counts(
        rng.integers(10, 50, (3, 2, 4)), ["c", "a", "b"], [range(3), range(2), range(4)]
    )
    test = independence_test(table, "a", "b", given="c")
    nats = mutual_information(table, "a", "b", given="c", base=np.e)
    assert table.sample_size is not None
    assert test.value == pytest.approx(2 * table.sample_size * nats, rel=1e-10)
    assert test.degrees_of_freedom == 3 * (1 * 3)


def test_strata_add_up() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(10, 40, (2, 3, 3))
    whole = JointTable.from_counts(counts, ["c", "a", "b"], [range(2), range(3), range(3)])
    test = independence_test(whole, "a", "b", given="c", statistic="pearson")
    parts = [stats.chi2_contingency(part, correction=False) for part in counts]
    assert test.value == pytest.approx(sum(part.statistic for part in parts), rel=1e-10)
    assert test.degrees_of_freedom == sum(part.dof for part in parts)


def test_states_that_do_not_occur_with_a_context_take_no_freedom() -> None:
    counts = np.array([[[20, 30], [25, 15]], [[40, 0], [35, 0]]])
    table = JointTable.from_counts(counts, ["c", "a", "b"], [(0, 1)] * 3)
    assert independence_test(table, "a", "b", given="c").degrees_of_freedom == 1


def test_p_values_of_independent_columns_are_uniform() -> None:
    rng = np.random.default_rng(7)
    values = []
    for _ in range(400):
        columns = {"a": rng.integers(0, 3, 300), "b": rng.integers(0, 3, 300)}
        values.append(independence_test(columns, "a", "b").p_value)
    # One true null in a thousand fails this; the seed is fixed.
    assert stats.kstest(values, "uniform").pvalue > 1e-3


def test_a_strong_link_is_found_and_measured() -> None:
    columns = {"a": [0] * 50 + [1] * 50, "b": ["x"] * 50 + ["y"] * 50}
    test = independence_test(columns, "a", "b", statistic="pearson")
    assert test.value == pytest.approx(100)
    assert test.effect == 1.0
    assert test.p_value < 1e-20
    assert "Cramer's V = 1" in str(test)


def test_a_constant_column_has_no_freedom() -> None:
    test = independence_test({"a": [0, 1, 0, 1], "b": ["x"] * 4}, "a", "b")
    assert (test.degrees_of_freedom, test.p_value, test.effect, test.value) == (0, 1.0, 0.0, 0.0)


def test_small_expected_counts_are_said() -> None:
    table = JointTable.from_counts([[3, 1], [1, 3]], ["a", "b"], [(0, 1), (0, 1)])
    with pytest.warns(SmallCountsWarning, match="4 of 4 expected counts are below 5"):
        independence_test(table, "a", "b")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: check_independence(t, "cavity"), "at least two variables"),
        (lambda t: check_independence(t, "cavity", []), "at least two variables"),
        (lambda t: check_independence(t, "cavity", "cavity"), "named twice"),
        (lambda t: check_independence(t, "cavity", "catch", given="catch"), "named twice"),
        (lambda t: independence_test(t, "cavity", "catch"), "not counted from a sample"),
        (lambda t: independence_test(t, "a", "b", statistic="chi"), "got 'chi'"),
        (lambda _: independence_test({"a": [1, 2]}, "a", "b"), "no column 'b'"),
    ],
)
def test_wrong_questions_are_refused(dentist: JointTable, make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(dentist)
