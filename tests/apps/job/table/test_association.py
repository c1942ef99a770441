"""Shares that a column explains: closed forms, chance, other implementations, bins by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import mutual_info_score

from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.profile import (
    TargetValues,
    association,
    bins_of,
    entropy_share,
    quantile_edges,
)
from novum.core.tables import Column
from tests.apps.job.table.tables import numbers, words

RNG = np.random.default_rng(0)


def classes(codes: np.ndarray) -> TargetValues:
    return TargetValues(np.ones(len(codes), bool), codes, int(codes.max()) + 1)


def amounts(values: np.ndarray) -> TargetValues:
    return TargetValues(np.ones(len(values), bool), values, 0)


@given(st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=2, max_size=4))
def test_entropy_shares_agree_with_another_implementation(rows: list[list[int]]) -> None:
    joint = np.array(rows)
    found = entropy_share(joint) if joint.sum() else None
    n_classes = np.count_nonzero(joint.sum(axis=0))
    if n_classes < 2:
        assert found is None
        return
    information = mutual_info_score(None, None, contingency=joint)
    n_rows = np.count_nonzero(joint.sum(axis=1))
    shares = joint.sum(axis=0)[joint.sum(axis=0) > 0] / joint.sum()
    whole = stats.entropy(shares)
    chance = (n_rows - 1) * (n_classes - 1) / (2 * joint.sum())
    assert found == pytest.approx(min(max((information - chance) / whole, 0), 1), abs=1e-12)


def test_a_copy_of_the_target_explains_all_but_the_bias() -> None:
    codes = np.repeat([0, 1], 500)
    found = association(words(*["no", "yes"] * 500), classes(np.tile([0, 1], 500)))
    assert found == pytest.approx(1 - 1 / (2 * 1000 * math.log(2)))
    assert association(Cells(Column("x"), codes * 7.0), classes(codes)) == pytest.approx(found)


@pytest.mark.parametrize("levels", [2, 20])
def test_chance_explains_nothing(levels: int) -> None:
    codes = RNG.integers(0, levels, 4000)
    cells = words(*[f"l{c:02d}" for c in codes])
    for target in (classes(RNG.integers(0, 3, 4000)), amounts(RNG.normal(size=4000))):
        found = association(cells, target)
        assert found is not None
        # Twenty levels would explain 0.5 % by chance alone without the correction.
        assert found < 0.004


def test_shares_of_variance_follow_the_analysis_of_variance() -> None:
    codes = RNG.integers(0, 4, 300)
    y = codes + RNG.normal(size=300)
    found = association(words(*[f"l{c}" for c in codes]), amounts(y))
    groups = [y[codes == level] for level in range(4)]
    f = stats.f_oneway(*groups).statistic
    # Epsilon squared as a function of F.
    expected = 3 * (f - 1) / (3 * f + 296)
    assert found == pytest.approx(expected, rel=1e-10)


def test_missing_cells_say_something_too() -> None:
    y = np.repeat([0, 1], 100)
    x = np.where(y == 1, np.nan, 5.0)
    found = association(Cells(Column("x"), x), classes(y))
    assert found is not None
    assert found > 0.99


def test_targets_without_variation_have_no_share() -> None:
    cells = numbers(1, 2, 3, 4)
    assert association(cells, amounts(np.full(4, 2.5))) is None
    assert association(cells, TargetValues(np.ones(4, bool), np.zeros(4, int), 1)) is None
    assert association(cells, TargetValues(np.zeros(4, bool), np.zeros(0), 0)) is None


def test_huge_numbers_do_not_overflow() -> None:
    y = np.tile([-1e300, 1e300], 50)
    found = association(Cells(Column("x"), y), amounts(y))
    assert found == pytest.approx(1.0)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=60), st.integers(2, 8))
def test_bins_never_divide_a_value_and_all_are_met(values: list[int], n_bins: int) -> None:
    x = np.array(values, float)
    edges = quantile_edges(x, n_bins)
    codes = np.searchsorted(edges, x, side="right")
    assert len(edges) < n_bins
    assert set(codes) == set(range(len(edges) + 1))


def test_rare_levels_share_a_bin() -> None:
    cells = words(*["a"] * 20, *["b"] * 10, "c", "d", None)
    codes, count = bins_of(cells, most=3)
    assert count == 4
    assert codes.tolist() == [0] * 20 + [1] * 10 + [2, 2, 3]
