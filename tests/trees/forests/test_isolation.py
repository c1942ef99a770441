"""Isolation forests: depths by walking the trees, scores by their formula, detection, manners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest as TheirForest
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError
from novum.core.files import load, save
from novum.core.learners import Case
from novum.core.learners.contracts import check_files_keep_predictions, check_threads_agree
from novum.trees import IsolationForest, Tree
from tests.trees.forest_tables import mixed_table

RESAMPLED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "draws depend on the number of rows"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [IsolationForest(n_estimators=5, random_state=0)],
    legacy=True,
    expected_failed_checks=lambda _: RESAMPLED,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def depth_of(tree: Tree, row: Any) -> tuple[int, float]:
    """Depth of the leaf of a complete row of numbers, and the training rows there."""
    node, depth = 0, 0
    while tree.first_child[node] > 0:
        right = row[tree.column[node]] > tree.threshold[node]
        node, depth = int(tree.first_child[node]) + int(right), depth + 1
    return depth, float(tree.weight[node])


def test_scores_are_those_of_walks() -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = IsolationForest(n_estimators=7, max_samples=64, random_state=1).fit(X)
    usual = 2 * sum(1 / i for i in range(1, 64)) - 2 * 63 / 64
    for row, score in zip(X[:20], model.score_samples(X[:20]), strict=True):
        depths = []
        for tree in model.forest_.trees:
            depth, n = depth_of(tree, row)
            rest = 2 * sum(1 / i for i in range(1, round(n))) - 2 * (n - 1) / n
            depths.append(depth + rest)
            assert depth <= 6
        assert score == pytest.approx(-(2 ** (-np.mean(depths) / usual)), rel=1e-9)
    assert model.max_samples_ == 64
    assert [round(float(tree.weight[0])) for tree in model.forest_.trees] == [64] * 7


@pytest.mark.slow
def test_it_detects_as_well_as_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(400, 4)), rng.uniform(-5, 5, size=(40, 4))])
    novel = np.arange(440) >= 400
    ours, theirs = (
        [roc_auc_score(novel, -make(random_state=s).fit(X).score_samples(X)) for s in range(8)]
        for make in (IsolationForest, TheirForest)
    )
    error = np.hypot(np.std(ours), np.std(theirs)) / np.sqrt(8)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * error + 0.005


def test_a_row_without_a_cell_is_between_rows_that_have_it() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    model = IsolationForest(random_state=0).fit(X)
    usual, odd, open_ = model.score_samples([[0.0, 0.0], [0.0, 9.0], [0.0, np.nan]])
    assert odd < open_ <= usual + 0.02


def test_mixed_tables_and_contributions() -> None:
    table = mixed_table(150)
    model = IsolationForest(n_estimators=30, random_state=0).fit(table)
    found = model.contributions(table[:10])
    depth = -np.log2(-model.score_samples(table[:10]))
    np.testing.assert_allclose(found.predictions / found.predictions[0], depth / depth[0])
    X = np.zeros((100, 3))
    X[:, :] = np.random.default_rng(0).normal(size=(100, 3))
    X[0, 1] = 12.0
    reasons = IsolationForest(random_state=0).fit(X).contributions(X[:1]).values[0]
    assert reasons.argmin() == 1


def test_offsets_weights_and_warm_start() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    model = IsolationForest(contamination=0.1, random_state=0).fit(X)
    assert (model.predict(X) == -1).sum() == 20
    weight = np.r_[np.zeros(100), np.ones(100)]
    X[:100] += 50.0
    alone = IsolationForest(random_state=0).fit(X, sample_weight=weight)
    assert alone.predict(X[:5]).tolist() == [-1] * 5
    # Twice the weight is the row twice, in law: the same mean score over many trees.
    Z, twice = rng.normal(size=(60, 2)), np.r_[np.full(30, 2.0), np.ones(30)]
    options: dict[str, Any] = {"n_estimators": 400, "max_samples": 32, "bootstrap": True}
    one = IsolationForest(**options, random_state=0).fit(Z, sample_weight=twice).score_samples(Z)
    both = IsolationForest(**options, random_state=1).fit(np.vstack([Z, Z[:30]])).score_samples(Z)
    np.testing.assert_allclose(one, both, atol=0.03)
    grown = IsolationForest(n_estimators=4, random_state=3, warm_start=True).fit(X)
    grown.set_params(n_estimators=9).fit(X)
    whole = IsolationForest(n_estimators=9, random_state=3).fit(X)
    np.testing.assert_array_equal(grown.score_samples(X), whole.score_samples(X))
    few = IsolationForest(max_features=1, n_estimators=20, random_state=0).fit(X)
    assert all(len(set(tree.column[tree.column >= 0])) <= 1 for tree in few.forest_.trees)


def test_files_threads_and_units(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(120, 3))
    model = IsolationForest(n_estimators=10, random_state=0).fit(X)
    save(model, tmp_path / "forest.novum")
    np.testing.assert_array_equal(
        load(tmp_path / "forest.novum").score_samples(X), model.score_samples(X)
    )
    case = Case(IsolationForest(n_estimators=10, random_state=0), X)
    check_files_keep_predictions(case)
    check_threads_agree(case)
    two = IsolationForest(n_estimators=10, random_state=0, n_jobs=2).fit(X)
    np.testing.assert_array_equal(two.score_samples(X), model.score_samples(X))
    scaled = IsolationForest(n_estimators=10, random_state=0).fit(X * 2.0**20)
    np.testing.assert_allclose(scaled.score_samples(X * 2.0**20), model.score_samples(X))


def test_degenerate_tables_and_bad_input() -> None:
    same = IsolationForest(n_estimators=5, random_state=0).fit(np.ones((10, 2)))
    assert np.ptp(same.score_samples(np.ones((3, 2)))) == 0
    one = IsolationForest(n_estimators=3, random_state=0).fit([[1.0, 2.0]])
    assert one.score_samples([[1.0, 2.0]]).tolist() == [-0.5]
    frame = pd.DataFrame({"a": ["x", "y", "x", "x"], "b": [1.0, 2.0, None, 4.0]})
    assert IsolationForest(n_estimators=5, random_state=0).fit(frame).predict(frame).shape == (4,)
    with pytest.warns(UserWarning, match="max_samples will be set to n_samples"):
        IsolationForest(max_samples=100, n_estimators=2).fit(np.ones((10, 2)))
    fewer = IsolationForest(n_estimators=5, warm_start=True).fit(np.ones((4, 1)))
    with pytest.raises(InputError, match="must be larger or equal to 5"):
        fewer.set_params(n_estimators=2).fit(np.ones((4, 1)))
