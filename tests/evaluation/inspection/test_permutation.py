"""Permutation importance: scikit-learn's bits, coverage, folds, groups, frames, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.inspection import permutation_importance as theirs
from sklearn.linear_model import LogisticRegression

from novum.bayes import NaiveBayes
from novum.core.errors import InputError
from novum.evaluation.inspection.permutation import column_units, permutation_importance, row_blocks
from novum.linear import LinearRegression

rng = np.random.default_rng(0)
X = rng.normal(size=(160, 3))
Y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=160) > 0).astype(int)
MODEL = LogisticRegression().fit(X, Y)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"n_repeats": 3, "scoring": "neg_log_loss"},
        {"max_samples": 0.5},
        {"max_samples": 30, "n_jobs": 2},
        {"sample_weight": np.arange(160.0)},
    ],
    ids=str,
)
def test_importances_are_scikit_learns(more: dict[str, Any]) -> None:
    ours = permutation_importance(MODEL, X, Y, random_state=7, **more)
    other = theirs(MODEL, X, Y, random_state=7, **more)
    # Scores of Novum and of scikit-learn agree up to rounding, permutations to the bit.
    for key in ("importances", "importances_mean", "importances_std"):
        np.testing.assert_allclose(ours[key], other[key], atol=1e-12)


def test_several_scores_and_frames_are_scikit_learns() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = LogisticRegression().fit(frame, Y)
    scoring = ["accuracy", "roc_auc"]
    ours = permutation_importance(model, frame, Y, scoring=scoring, random_state=1)
    other = theirs(model, frame, Y, scoring=scoring, random_state=1)
    for name in scoring:
        np.testing.assert_allclose(ours[name].importances, other[name].importances, atol=1e-12)
        assert ours[name].measure == name


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_categories_and_missing_cells(library: str) -> None:
    color = np.where(rng.random(160) < 0.8, np.array(["red", "blue"])[Y], "green").astype(object)
    color[::9] = None
    size = X[:, 0].copy()
    size[::11] = np.nan
    frame = pd.DataFrame({"size": size, "color": pd.Categorical(color), "noise": X[:, 2]})
    table = {"pandas": lambda f: f, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}[
        library
    ](frame)
    model = NaiveBayes().fit(table, Y)
    found = permutation_importance(model, table, Y, random_state=0)
    assert found.ranking()[0] == "color"
    assert found.names == ("size", "color", "noise")
    same = permutation_importance(NaiveBayes().fit(frame, Y), frame, Y, random_state=0)
    np.testing.assert_allclose(found.importances, same.importances, atol=1e-12)


def test_columns_that_stand_for_each_other_show_together() -> None:
    twins = np.column_stack([X[:, 0], X[:, 0], X[:, 2]])
    y = (X[:, 0] > 0).astype(int)
    model = LogisticRegression().fit(twins, y)
    alone = permutation_importance(model, twins, y, random_state=0)
    both = permutation_importance(model, twins, y, random_state=0, columns=[(0, 1), 2])
    assert both.names == ("x0 + x1", "x2")
    assert both.importances_mean[0] > alone.importances_mean[:2].max() + 0.1
    named = permutation_importance(model, twins, y, columns={"twins": [0, 1]}, random_state=0)
    np.testing.assert_array_equal(named.importances[0], both.importances[0])


class _Known(RegressorMixin, BaseEstimator):
    """Predicts its first column; nothing is learned."""

    def fit(self, X: Any, y: Any) -> Any:
        del X, y
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return X[:, 0]


def test_intervals_cover_the_population_importance() -> None:
    """y = x + e: the squared error rises by 2 Var x = 2. Coverage of 90 % in 200 samples of 200."""
    draw = np.random.default_rng(3)
    model = _Known().fit(None, None)
    hits = []
    for run in range(200):
        x = draw.normal(size=(200, 1))
        y = x[:, 0] + draw.normal(size=200)
        found = permutation_importance(
            model, x, y, scoring="neg_mean_squared_error", random_state=run, level=0.9, n_repeats=3
        )
        hits.append(found.intervals[0].covers(2.0))
    assert abs(np.mean(hits) - 0.9) < 4 * np.sqrt(0.9 * 0.1 / 200)


def test_out_of_fold_importances() -> None:
    folds: dict[str, Any] = {"cv": "2x4", "random_state": 0, "n_repeats": 2}
    found = permutation_importance(LogisticRegression(), X, Y, **folds)
    assert found.importances.shape == (3, 8 * 2)
    assert found.reach == "models trained on such tables"
    assert found.intervals[0].low > 0
    assert found.intervals[2].low < 0.02
    again = permutation_importance(LogisticRegression(), X, Y, n_jobs=3, **folds)
    np.testing.assert_array_equal(again.importances, found.importances)


def test_noise_is_important_to_a_model_that_learned_it_by_heart() -> None:
    from sklearn.tree import DecisionTreeClassifier

    y = rng.integers(0, 2, 160)
    tree = DecisionTreeClassifier(random_state=0)
    seen = permutation_importance(tree.fit(X, y), X, y, random_state=0)
    unseen = permutation_importance(tree, X, y, random_state=0, cv=5)
    assert seen.importances_mean.min() > 0.2
    assert np.abs(unseen.importances_mean).max() < 0.1


def test_blocks_hold_all_classes() -> None:
    blocks = row_blocks(Y, 160, MODEL, 0)
    assert len(blocks) == 6
    assert sorted(np.concatenate(blocks).tolist()) == list(range(160))
    shares = [Y[block].mean() for block in blocks]
    assert max(shares) - min(shares) < 0.1
    assert row_blocks(Y[:40], 40, MODEL, 0) == []
    few = permutation_importance(MODEL, X[:40], Y[:40], random_state=0)
    assert np.isnan(few.intervals[0].low)
    assert "50 rows" in few.intervals[0].method


def test_text_mapping_and_picture() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    found = permutation_importance(MODEL, X, Y, random_state=0)
    assert sorted(found) == ["importances", "importances_mean", "importances_std"]
    assert repr(found).splitlines()[1].startswith("x0")
    with pytest.raises(KeyError):
        found["names"]
    ax = found.plot(most=2)
    assert len(ax.get_yticks()) == 2
    plt.close(ax.figure)


@pytest.mark.parametrize("state", [np.random.default_rng(0), np.random.RandomState(0), None])
def test_random_states(state: Any) -> None:
    assert permutation_importance(MODEL, X, Y, random_state=state).importances.shape == (3, 5)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"columns": ["nothing"]}, "`columns` names 'nothing', but X has no such column"),
        ({"columns": []}, "names no column"),
        ({"columns": [()]}, "empty group"),
        ({"n_repeats": 0}, "at least 1"),
        ({"max_samples": 500}, "max_samples must be <= n_samples"),
        ({"max_samples": -1}, "max_samples is a number of rows"),
        ({"level": 1.5}, "level"),
        ({"scoring": lambda *_: {"a": 1.0, "b": 2.0}}, "several scores at once: a, b"),
    ],
)
def test_refusals(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        permutation_importance(MODEL, X, Y, random_state=0, **more)


def test_sparse_tables_and_unfitted_models() -> None:
    with pytest.raises(InputError, match="dense"):
        permutation_importance(MODEL, sparse.csr_array(X), Y)
    with pytest.raises(ValueError, match="not fitted"):
        permutation_importance(LogisticRegression(), X, Y)


def test_units() -> None:
    assert column_units("b", ["a", "b"]) == {"b": [1]}
    assert column_units(1, ["a", "b"]) == {"b": [1]}


def test_losses_are_shown_as_they_are() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = 3 * X[:, 0] + rng.normal(size=200)
    model = LinearRegression().fit(X, y)
    found = permutation_importance(model, X, y, scoring="rmse", random_state=0)
    assert found.score < 0 < found.importances_mean[0]
    assert "rise of rmse" in repr(found)
    assert f"rmse {-found.score:.4g} with all columns" in repr(found)
    assert found.plot().get_xlabel() == "rise of rmse without the column"
