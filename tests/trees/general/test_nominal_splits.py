"""Groups of levels: scores by definition, all pairs of sets, and the orders that replace them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.numerics import Floats
from novum.trees.general.nominal_splits import (
    SumScores,
    every_level,
    every_level_gains,
    random_groups,
    scores_of,
    single_groups,
    subset_groups,
    two_sets,
)
from tests.trees.definitions import entropy, gini


@st.composite
def level_sums(draw: st.DrawFn, most_levels: int = 6, n_classes: int | None = None) -> SumScores:
    """Class counts by level, some levels and classes empty, missing cells last."""
    n_levels = draw(st.integers(2, most_levels))
    k = n_classes or draw(st.integers(2, 4))
    counts = draw(
        st.lists(
            st.lists(st.integers(0, 5), min_size=k, max_size=k),
            min_size=n_levels + 1,
            max_size=n_levels + 1,
        )
    )
    sums = np.array(counts, float)
    return SumScores(sums, sums.sum(axis=1), 1, draw(st.booleans()))


def impurity(masses: Floats, bits: bool) -> float:
    """Weight times impurity, by definition."""
    if masses.sum() == 0:
        return 0.0
    return float(masses.sum()) * (entropy if bits else gini)(masses.tolist())


def removed(levels: SumScores, branches: list[list[int]]) -> float:
    """What a split into these groups of rows of the table gains, by definition."""
    parts = [levels.sums[rows].sum(axis=0) for rows in branches]
    whole = impurity(np.sum(parts, axis=0), levels.bits)
    return whole - sum(impurity(part, levels.bits) for part in parts)


def present(levels: SumScores) -> list[int]:
    return np.flatnonzero(levels.weight[:-1] > 0).tolist()


@given(level_sums())
def test_a_score_is_what_impurity_lacks(levels: SumScores) -> None:
    found = scores_of(levels.sums, levels.weight, 1, levels.bits)
    constant = 0.0 if levels.bits else levels.weight
    expected = [impurity(row, levels.bits) for row in levels.sums]
    np.testing.assert_allclose(constant - found, expected, atol=1e-9)


@given(level_sums(), st.booleans())
def test_two_sets_are_the_best_of_all_pairs(levels: SumScores, directed: bool) -> None:
    codes = present(levels)
    last = len(levels.weight) - 1
    missing = directed and levels.weight[last] > 0
    best = -np.inf
    for size in range(1, len(codes)):
        for chosen in combinations(codes, size):
            rest = [code for code in codes if code not in chosen]
            best = max(best, removed(levels, [[*chosen, last] if missing else [*chosen], rest]))
    groups = subset_groups(levels)
    found = two_sets(levels, groups, 0.0, 1e-9, directed) if len(groups) else None
    if len(codes) < 2:
        assert found is None
        return
    assert found is not None
    assert found.gain == pytest.approx(best, abs=1e-9)
    assert (found.branch == -1).tolist() == (levels.weight[:-1] == 0).tolist()
    assert found.branch[codes[0]] == 0
    assert (found.missing_branch >= 0) == missing


@given(level_sums(most_levels=12, n_classes=2))
def test_with_two_classes_the_order_of_the_means_loses_nothing(levels: SumScores) -> None:
    codes = present(levels)
    if len(codes) < 2:
        return
    in_order = [codes[i] for i in np.argsort(levels.axis(np.array(codes)), kind="stable")]
    cuts = [removed(levels, [in_order[:cut], in_order[cut:]]) for cut in range(1, len(codes))]
    pairs = [
        removed(levels, [[codes[0], *some], [c for c in codes[1:] if c not in some]])
        for size in range(len(codes) - 1)
        for some in combinations(codes[1:], size)
    ]
    assert max(cuts) == pytest.approx(max(pairs), abs=1e-9)


def test_many_levels_of_many_classes_are_cut_along_their_principal_axis() -> None:
    # Three classes, whose shares move along one line: the cut in its middle is the best.
    position = np.random.default_rng(1).permutation(14) / 13
    sums = np.vstack([np.column_stack([1 - position, position, np.ones(14)]) * 100, np.zeros(3)])
    levels = SumScores(sums, sums.sum(axis=1), 1, True)
    groups = subset_groups(levels)
    assert len(groups) == 13
    found = two_sets(levels, groups, 0.0, 1e-9, False)
    assert found is not None
    low = found.branch == found.branch[int(np.argmin(position))]
    assert (low == (position < 0.5)).all()


@given(level_sums(), st.booleans(), st.sampled_from((0.0, 3.0)), st.sampled_from((None, 2)))
def test_every_level_is_a_branch(
    levels: SumScores, directed: bool, least: float, enough: int | None
) -> None:
    codes = present(levels)
    found = every_level(levels, least, enough, directed)
    last = len(levels.weight) - 1
    joins = [-1] if not (directed and levels.weight[last] > 0) else list(range(len(codes)))
    best = -np.inf
    for join in joins:
        branches = [[code, last] if at == join else [code] for at, code in enumerate(codes)]
        heavy = sum(levels.weight[rows].sum() >= least for rows in branches)
        if len(codes) >= 2 and heavy >= (len(codes) if enough is None else enough):
            best = max(best, removed(levels, branches))
    if found is None:
        assert best == -np.inf
        return
    assert found.gain == pytest.approx(best, abs=1e-9)
    assert found.branch[codes].tolist() == list(range(len(codes)))
    assert found.n_branches == len(codes)


@given(st.lists(level_sums(n_classes=3), min_size=1, max_size=4), st.sampled_from((None, 2)))
def test_many_columns_at_once_are_one_after_the_other(
    columns: list[SumScores], enough: int | None
) -> None:
    how = columns[0]
    table = np.vstack([np.column_stack([c.sums, c.weight]) for c in columns])
    starts = np.cumsum([0, *(len(c.weight) for c in columns)])
    found = every_level_gains(table, starts, 2.0, enough, how)
    for column, each in zip(columns, found, strict=True):
        alone = every_level(
            SumScores(column.sums, column.weight, 1, how.bits), 2.0, enough, directed=False
        )
        if alone is None:
            assert np.isnan(each)
        else:
            assert each == pytest.approx(alone.gain, abs=1e-9)


@given(level_sums())
def test_single_levels_are_set_apart(levels: SumScores) -> None:
    codes = present(levels)
    groups = single_groups(levels)
    assert len(groups) == (len(codes) if len(codes) > 2 else max(len(codes) - 1, 0))
    for group in groups:
        chosen = np.flatnonzero(group).tolist()
        assert codes[0] in chosen
        assert len(chosen) in (1, len(codes) - 1)


@given(level_sums(), st.sampled_from(("single", "subset")), st.integers(0, 1000))
def test_random_groups_leave_no_side_empty(levels: SumScores, nominal: str, seed: int) -> None:
    codes = present(levels)
    groups = random_groups(levels, nominal, np.random.default_rng(seed))
    assert len(groups) == (len(codes) >= 2)
    for group in groups:
        chosen = np.flatnonzero(group).tolist()
        assert codes[0] in chosen
        assert set(chosen) < set(codes)
        if nominal == "single":
            assert len(chosen) in (1, len(codes) - 1)


def test_sides_that_are_too_light_are_no_split() -> None:
    sums = np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    levels = SumScores(sums, sums.sum(axis=1), 1, True)
    groups = subset_groups(levels)
    assert two_sets(levels, groups, 2.0, 0.0, False) is None
    assert two_sets(levels, groups, 1.0, 0.0, False) is not None
