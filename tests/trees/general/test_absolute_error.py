"""Absolute error: medians by definition, the compiled search against direct costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.tables import Schema
from novum.trees.general.absolute_error import DeviationScores, sorted_cost, sorted_median
from novum.trees.general.growing import grow_general
from novum.trees.general.rules import GeneralRules
from tests.trees.definitions import absolute_error, weighted_median

values = st.integers(-40, 40).map(lambda k: k / 8)
weights = st.integers(1, 24).map(lambda k: k / 8)
samples = st.lists(st.tuples(values, weights), min_size=1, max_size=25)


@given(samples)
def test_medians_and_costs_are_the_definitions(sample: list[tuple[float, float]]) -> None:
    y, w = np.array(sorted(sample)).T
    assert sorted_median(y, w) == pytest.approx(weighted_median(y.tolist(), w.tolist()))
    expected = absolute_error(y.tolist(), w.tolist()) * w.sum()
    assert sorted_cost(y, w) == pytest.approx(expected, abs=1e-9)


def test_no_values_cost_nothing() -> None:
    assert sorted_cost(np.empty(0), np.empty(0)) == 0.0


@given(st.lists(st.tuples(values, values, weights), min_size=2, max_size=40))
def test_no_threshold_is_better_than_the_one_found(
    rows: list[tuple[float, float, float]],
) -> None:
    x, y, w = np.array(rows).T
    rules = GeneralRules("absolute_error", max_depth=1, min_samples_split=0.0, min_samples_leaf=0.0)
    tree = grow_general(x[:, np.newaxis], y, w, Schema.of_array(1), None, rules)

    def cost(chosen: np.ndarray) -> float:
        order = np.argsort(y[chosen], kind="stable")
        return sorted_cost(y[chosen][order], w[chosen][order])

    gains = [cost(x == x) - cost(x <= t) - cost(x > t) for t in np.unique(x)[:-1]]
    if gains and len(set(y)) > 1:
        assert tree.gain[0] == pytest.approx(max(gains), abs=1e-9)
    else:
        assert tree.n_nodes == 1
    assert tree.value[0, 0] == pytest.approx(weighted_median(y.tolist(), w.tolist()))


def test_a_large_sample_agrees_with_direct_medians() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(400, 1)), rng.standard_cauchy(400)
    rules = GeneralRules("absolute_error", max_depth=1)
    tree = grow_general(x, y, np.ones(400), Schema.of_array(1), None, rules)
    costs = []
    middles = np.sort(x[:, 0])
    for threshold in (middles[1:] + middles[:-1]) / 2:
        low, high = y[x[:, 0] <= threshold], y[x[:, 0] > threshold]
        costs.append(sum(np.abs(part - np.median(part)).sum() for part in (low, high)))
    whole = np.abs(y - np.median(y)).sum()
    assert tree.gain[0] == pytest.approx(whole - min(costs), rel=1e-9)
    assert math.isclose(tree.threshold[0], middles[np.argmin(costs)], abs_tol=0.1)


@given(
    st.lists(st.tuples(values, weights, st.integers(0, 3)), min_size=1, max_size=20),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_groups_of_levels_cost_what_their_rows_do(
    rows: list[tuple[float, float, int]], group: list[bool]
) -> None:
    rows = sorted(rows)
    y, w, level = (np.array(part) for part in zip(*rows, strict=True))
    scores = DeviationScores(y[np.newaxis], w[np.newaxis], level[np.newaxis], 3)
    chosen = np.array(group)[level]
    expected = sorted_cost(y[chosen], w[chosen])
    assert scores.scores(np.array([group]))[0] == pytest.approx(-expected, abs=1e-9)
    np.testing.assert_allclose(scores.weight, np.bincount(level, w, 4))
    codes = np.unique(level)
    medians = [weighted_median(y[level == c].tolist(), w[level == c].tolist()) for c in codes]
    np.testing.assert_allclose(scores.axis(codes), medians)
