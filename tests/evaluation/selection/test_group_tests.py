"""Tests of one column: scipy's, the definitions, and what cannot be tested."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.distributions import JointTable, independence_test
from novum.evaluation.selection.group_tests import (
    UNTESTABLE,
    anova,
    contingency,
    correlation,
    count_test,
    kruskal_wallis,
    rank_correlation,
)
from tests.evaluation.selection import definitions

rng = np.random.default_rng(0)
GROUPS = rng.integers(0, 3, 60)
VALUES = rng.normal(size=60) + 0.5 * GROUPS
TIED = np.round(VALUES)


@pytest.mark.parametrize("values", [VALUES, TIED, VALUES * 1e200, VALUES * 1e-200, VALUES + 1e6])
def test_group_means_are_scipys(values: np.ndarray) -> None:
    parts = [values[g == GROUPS] for g in range(3)]
    scale = np.abs(values).max()
    f = stats.f_oneway(*[part / scale for part in parts])
    found = anova(values, GROUPS)
    # An offset of 1e6 costs six of sixteen digits in either computation.
    assert found.value == pytest.approx(f.statistic, rel=1e-7)
    assert found.value == pytest.approx(
        definitions.anova_f([list(part / scale) for part in parts]), rel=1e-7
    )
    assert found.p_value == pytest.approx(f.pvalue, rel=1e-6)
    h = stats.kruskal(*parts)
    assert kruskal_wallis(values, GROUPS).value == pytest.approx(h.statistic, rel=1e-10)
    assert kruskal_wallis(values, GROUPS).p_value == pytest.approx(h.pvalue, rel=1e-9)


def test_correlations_are_scipys() -> None:
    y = VALUES + rng.normal(size=60)
    r, p = stats.pearsonr(VALUES, y)
    assert correlation(VALUES, y).value == pytest.approx(r**2 / (1 - r**2) * 58, rel=1e-10)
    assert correlation(VALUES, y).p_value == pytest.approx(p, rel=1e-8)
    assert rank_correlation(TIED, y).p_value == pytest.approx(
        stats.spearmanr(TIED, y).pvalue, rel=1e-8
    )


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=8, max_size=60))
@pytest.mark.filterwarnings("ignore:.*expected counts:UserWarning")
def test_contingency_is_the_one_of_tables(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs).T
    table = JointTable.from_frame({"a": a.tolist(), "b": b.tolist()})
    expected = independence_test(table, "a", "b", statistic="pearson")
    found = contingency(a, b)
    assert found.value == pytest.approx(expected.value, abs=1e-9)
    assert found.p_value == pytest.approx(expected.p_value, abs=1e-9)


def test_perfect_groups_are_infinitely_clear() -> None:
    found = anova(np.array([0.1, 0.1, 0.3, 0.3]), np.array([0, 0, 1, 1]))
    assert found.value == np.inf
    assert found.p_value == 0
    assert correlation(np.array([1.0, 2, 3, 4]), np.array([2.0, 4, 6, 8])).p_value < 1e-12


@pytest.mark.parametrize(
    "found",
    [
        anova(np.ones(4), np.array([0, 0, 1, 1])),
        anova(np.array([1.0, 2, 3]), np.zeros(3, int)),
        anova(np.array([1.0, 2]), np.array([0, 1])),
        kruskal_wallis(np.ones(4), np.array([0, 0, 1, 1])),
        correlation(np.ones(4), np.arange(4.0)),
        correlation(np.arange(2.0), np.arange(2.0)),
        contingency(np.zeros(4, int), np.array([0, 0, 1, 1])),
        contingency(np.array([], int), np.array([], int)),
        count_test(np.zeros(4), np.array([0, 0, 1, 1])),
    ],
)
def test_what_cannot_be_tested_has_p_value_one(found: object) -> None:
    assert found == UNTESTABLE


def test_levels_hold_where_nothing_is_associated() -> None:
    """Share of p-values below 0.05 in 400 runs: 0.05 with an error of 0.011."""
    draw = np.random.default_rng(7)
    groups, levels = np.arange(90) % 3, np.arange(90) % 2
    tests = {
        "anova": lambda: anova(draw.normal(size=90), groups),
        "kruskal": lambda: kruskal_wallis(draw.standard_cauchy(90), groups),
        "correlation": lambda: correlation(draw.normal(size=90), draw.normal(size=90)),
        "contingency": lambda: contingency(draw.permutation(levels), groups),
    }
    for name, run in tests.items():
        share = np.mean([run().p_value < 0.05 for _ in range(400)])
        assert abs(share - 0.05) < 4 * 0.011, name
