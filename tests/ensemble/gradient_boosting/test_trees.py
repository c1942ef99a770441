"""Trees on gradients: equal to the definition, their leaves Newton's, their limits kept."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from novum.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    LogisticLoss,
    PoissonLoss,
    SoftmaxLoss,
    SquaredLoss,
)
from novum.ensemble.gradient_boosting.losses import Loss
from novum.ensemble.gradient_boosting.tree_kernels import draw_rows
from novum.trees import Question
from tests.oracles.boosting_definitions import Boosting


def table(seed: int, n: int = 120) -> tuple[pd.DataFrame, Any, Any]:
    """A mixed table with missing cells, its cells as numbers, and a signal in them."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 5, n)
    cells = np.column_stack([rng.normal(size=n), rng.integers(0, 9, n), levels]).astype(float)
    signal = cells[:, 0] + np.sin(cells[:, 1]) + 2.0 * np.isin(levels, [1, 3])
    signal += rng.normal(scale=0.3, size=n)
    cells[rng.random(n) < 0.15, 0] = np.nan
    cells[rng.random(n) < 0.1, 2] = np.nan
    names = np.array(list("abcde"), object)
    level = [None if np.isnan(x) else names[int(x)] for x in cells[:, 2]]
    frame = pd.DataFrame({"x": cells[:, 0], "k": cells[:, 1], "level": level})
    return frame, cells, signal


CASES = [
    (SquaredLoss(), lambda s: s),
    (PoissonLoss(), lambda s: np.floor(np.exp(np.clip(s, None, 3.0)))),
    (LogisticLoss(), lambda s: (s > np.median(s)).astype(float)),
    (SoftmaxLoss(), lambda s: np.digitize(s, np.quantile(s, [0.3, 0.7])).astype(float)),
]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("case", range(len(CASES)))
def test_boosting_equals_the_definition(case: int, seed: int) -> None:
    loss, targets = CASES[case]
    frame, cells, signal = table(seed)
    y = targets(signal)
    weight = np.ones(len(y)) if seed % 2 else np.random.default_rng(seed).integers(1, 4, len(y))
    penalty = 0.5 * (seed % 3)
    limits = {"max_leaf_nodes": 8, "min_samples_leaf": 5, "l2_regularization": penalty}
    kind: Any = GradientBoostingRegressor if case < 2 else GradientBoostingClassifier
    model = kind(loss, n_estimators=4, **limits).fit(frame, y, sample_weight=weight)
    nominal = (False, False, True)
    plain = Boosting(cells, nominal, weight.astype(float), rounds=4, penalty=penalty)
    expected = plain.fitted(loss, y)
    np.testing.assert_allclose(model._scores(frame), expected, atol=1e-10)


def test_leaves_are_newton_steps() -> None:
    frame, _, signal = table(0)
    y = (signal > 0).astype(int)
    model = GradientBoostingClassifier(n_estimators=1, l2_regularization=2.0).fit(frame, y)
    forest = model.forests_[0]
    share = y.mean()
    g, h = share - y, np.full(len(y), share * (1 - share))
    said = model._scores(frame)[0] - model.starts_[0]
    assert forest.is_leaf.sum() > 1
    for value in np.unique(said):
        rows = said == value
        assert value == pytest.approx(-0.1 * g[rows].sum() / (h[rows].sum() + 2.0), rel=1e-10)


def test_weight_two_is_the_row_twice() -> None:
    frame, _, signal = table(1)
    often = np.random.default_rng(0).integers(0, 3, len(frame))
    kept = np.flatnonzero(often)
    twice = np.repeat(np.arange(len(frame)), often)
    model = GradientBoostingRegressor(min_samples_leaf=7)
    one = model.fit(frame, signal, sample_weight=often).predict(frame.iloc[kept])
    two = model.fit(frame.iloc[twice], signal[twice]).predict(frame.iloc[kept])
    np.testing.assert_allclose(one, two, rtol=1e-10)
    assert np.ptp(one) > 1


def test_weights_in_parts_count_in_parts() -> None:
    frame, _, signal = table(1)
    # Penalties, also those of levels, are in the unit of the weights.
    frame = frame.drop(columns="level")
    weight = np.random.default_rng(0).integers(1, 5, len(frame))
    model = GradientBoostingRegressor(min_samples_leaf=8, l2_regularization=0.0)
    whole = model.fit(frame, signal, sample_weight=weight).predict(frame)
    halves = model.set_params(min_samples_leaf=4).fit(frame, signal, sample_weight=weight / 2)
    np.testing.assert_allclose(halves.predict(frame), whole, rtol=1e-9)


def test_the_order_of_rows_does_not_matter() -> None:
    frame, _, signal = table(2, 400)
    order = np.random.default_rng(1).permutation(len(frame))
    one = GradientBoostingRegressor().fit(frame, signal)
    other = GradientBoostingRegressor().fit(frame.iloc[order], signal[order])
    np.testing.assert_allclose(one.predict(frame), other.predict(frame), rtol=1e-10)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("loss", [SquaredLoss(), PoissonLoss()])
def test_monotone_columns_are_monotone_everywhere(sign: int, loss: Loss) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, size=(800, 3))
    y = np.exp(np.sin(3 * X[:, 0]) + 0.5 * sign * X[:, 0] + X[:, 1] * X[:, 0])
    model = GradientBoostingRegressor(loss, monotonic_cst=[sign, 0, 0], min_samples_leaf=5)
    model.fit(X, y)
    free = GradientBoostingRegressor(loss, min_samples_leaf=5).fit(X, y)
    grid = np.linspace(-2.2, 2.2, 60)
    violated = False
    for row in X[:40]:
        rows = np.tile(row, (60, 1))
        rows[:, 0] = grid
        assert (sign * np.diff(model.predict(rows)) >= -1e-12).all()
        violated |= bool((sign * np.diff(free.predict(rows)) < -1e-6).any())
    assert violated


def test_columns_meet_only_within_their_groups() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 4))
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 0] * X[:, 2]
    model = GradientBoostingRegressor(interaction_cst=[[0, 1]]).fit(X, y)
    met = set()
    for tree in model.forests_[0].trees:
        ways: dict[int, frozenset[int]] = {0: frozenset()}
        for node in np.flatnonzero(tree.question != Question.LEAF):
            way = ways[node] | {int(tree.column[node])}
            met.add(way)
            ways[int(tree.first_child[node])] = ways[int(tree.first_child[node]) + 1] = way
    assert all(way <= {0, 1} or way <= {2, 3} for way in met)
    assert {frozenset({0, 1}), frozenset({2, 3})} <= met
    alone = GradientBoostingRegressor(interaction_cst="no_interactions").fit(X, y)
    for tree in alone.forests_[0].trees:
        assert len(set(tree.column[tree.question != Question.LEAF].tolist())) <= 1


def test_limits_of_trees() -> None:
    frame, _, signal = table(5, 500)
    for settings in ({"max_leaf_nodes": 5}, {"max_leaf_nodes": None, "max_depth": 3}):
        model = GradientBoostingRegressor(n_estimators=5, **settings).fit(frame, signal)
        for tree in model.forests_[0].trees:
            assert tree.n_leaves <= (settings["max_leaf_nodes"] or 8)
            assert tree.rows[tree.question == Question.LEAF].min() >= 20
    deep = GradientBoostingRegressor(n_estimators=1, max_leaf_nodes=None, min_samples_leaf=1)
    wide = GradientBoostingRegressor(n_estimators=1, max_leaf_nodes=500, min_samples_leaf=1)
    one, other = (model.fit(frame, signal).predict(frame) for model in (deep, wide))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_few_histograms_grow_the_same_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, _, signal = table(6, 600)
    expected = GradientBoostingRegressor(n_estimators=5).fit(frame, signal).predict(frame)
    monkeypatch.setattr("novum.ensemble.gradient_boosting.growing._HISTOGRAM_BYTES", 1)
    found = GradientBoostingRegressor(n_estimators=5).fit(frame, signal).predict(frame)
    np.testing.assert_array_equal(found, expected)


def test_coarse_rounding_has_no_bias() -> None:
    from novum.ensemble.gradient_boosting.tree_kernels import round_gradients

    n = 10_000
    g, words = np.full(n, 0.1), np.empty(n, np.int64)
    round_gradients((g, np.empty(0), np.empty(0)), False, 1.0, 1.0, 20, True, words)
    assert (words >> 20).sum() == pytest.approx(0.1 * n, abs=2)
    round_gradients((g, np.empty(0), np.empty(0)), False, 1.0, 1.0, 20, False, words)
    assert (words >> 20).sum() == 0


def test_more_levels_than_a_byte() -> None:
    rng = np.random.default_rng(7)
    level = rng.integers(0, 400, 4000)
    frame = pd.DataFrame({"level": level.astype(str), "x": rng.normal(size=4000)})
    y = (level % 2) * 3.0 + frame["x"].to_numpy()
    model = GradientBoostingRegressor().fit(frame, y)
    assert model.forests_[0].coding is None
    assert model.score(frame, y) > 0.5
    few = frame.assign(level=(level % 200).astype(str))
    assert GradientBoostingRegressor().fit(few, y).score(few, y) > 0.9


def test_unseen_levels_and_new_gaps_go_both_ways() -> None:
    frame = pd.DataFrame({"level": ["a"] * 30 + ["b"] * 10})
    y = np.r_[np.zeros(30), np.full(10, 4.0)]
    settings = {"n_estimators": 200, "min_samples_leaf": 5}
    model = GradientBoostingRegressor(**settings).fit(frame, y)
    known = model.predict(pd.DataFrame({"level": ["a", "b"]}))
    with pytest.warns(UserWarning, match="level"):
        unseen = model.predict(pd.DataFrame({"level": ["c"]}))
    missing = model.predict(pd.DataFrame({"level": pd.Series([None], dtype=object)}))
    np.testing.assert_allclose([*unseen, *missing], known @ [0.75, 0.25], rtol=1e-9)


def test_every_set_of_rows_is_drawn_as_often() -> None:
    rows, key, counts = np.arange(3, 15, 2, dtype=np.int32), np.uint64(7), dict[Any, int]()
    for number in range(4000):
        drawn = np.empty(3, np.int32)
        draw_rows(key, number, rows, drawn)
        assert (np.diff(drawn) > 0).all()
        counts[tuple(drawn)] = counts.get(tuple(drawn), 0) + 1
    assert counts.keys() == set(combinations(rows, 3))
    assert stats.chisquare(list(counts.values())).pvalue > 0.001
