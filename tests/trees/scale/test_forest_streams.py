"""Forests from chunks: those of the table where nothing is drawn, and as good where rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError, NotAdditiveError
from novum.trees.forests.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from novum.trees.forests.forest_value import Forest
from novum.trees.tree import Tree
from tests.strategies.tree_tables import assert_same_tree
from tests.trees.scale.test_tree_streams import LABELS, NUMBERS, X, parts, small_memory


def bits(forest: Forest) -> bytes:
    arrays = [value for value in vars(forest).values() if isinstance(value, np.ndarray)]
    return b"".join(array.tobytes() for array in arrays)


def assert_same_forest(found: Forest, expected: Forest) -> None:
    pairs: zip[tuple[Tree, Tree]] = zip(found.trees, expected.trees, strict=True)
    for a, b in pairs:
        assert_same_tree(a, b)


WITHOUT_DRAWS: dict[str, tuple[Any, Any]] = {
    "classes": (RandomForestClassifier(4, bootstrap=False, random_state=1), LABELS),
    "numbers": (RandomForestRegressor(4, bootstrap=False, max_features=2, random_state=1), NUMBERS),
    "extra classes": (ExtraTreesClassifier(4, random_state=1, max_depth=6), LABELS),
    "extra numbers": (ExtraTreesRegressor(4, random_state=1, min_samples_leaf=4), NUMBERS),
    "pruned": (ExtraTreesClassifier(3, random_state=1, ccp_alpha=0.002), LABELS),
    "balanced": (
        RandomForestClassifier(3, bootstrap=False, random_state=1, class_weight="balanced"),
        LABELS,
    ),
}


@pytest.mark.parametrize("name", WITHOUT_DRAWS)
def test_without_draws_of_rows_chunks_give_the_forest_of_the_table(name: str) -> None:
    model, y = WITHOUT_DRAWS[name]
    expected = model.fit(X, y).forest_
    found = model.fit_stream(parts(X, y))
    assert_same_forest(found.forest_, expected)
    assert found.certificate_.details["passes"] == 2
    assert len(found.estimators_) == len(found) == found.n_estimators


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_the_same_chunks_give_the_same_bits_for_any_jobs(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    y = LABELS if kind is RandomForestClassifier else NUMBERS
    small_memory(monkeypatch)
    fits = [
        kind(5, random_state=2, n_jobs=n_jobs).fit_stream(chunks)
        for n_jobs, chunks in ((1, parts(X, y)), (2, lambda: iter(parts(X, y))))
    ]
    assert fits[0].certificate_.details["passes"] > 3
    assert bits(fits[0].forest_) == bits(fits[1].forest_)
    other = kind(5, random_state=3).fit_stream(parts(X, y))
    assert bits(other.forest_) != bits(fits[0].forest_)


@pytest.mark.parametrize("limited", [False, True])
def test_a_forest_of_drawn_rows_is_as_good_as_that_of_the_table(
    limited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if limited:
        small_memory(monkeypatch)
    train, test = slice(0, 400), slice(400, 600)
    options: dict[str, Any] = {"min_samples_leaf": 3, "random_state": 0}
    found = RandomForestRegressor(30, **options).fit_stream(
        [(X[:150], NUMBERS[:150]), (X[150:400], NUMBERS[150:400])]
    )
    expected = RandomForestRegressor(30, **options).fit(X[train], NUMBERS[train])
    errors = [
        float(np.mean((model.predict(X[test]) - NUMBERS[test]) ** 2)) for model in (found, expected)
    ]
    # Two forests of the same law: their errors on 200 rows differ by a few percent.
    assert errors[0] < 1.15 * errors[1]
    assert errors[0] < 0.8 * NUMBERS[test].var()


def test_samples_have_the_size_that_was_asked_for() -> None:
    sizes = {}
    for max_samples in (None, 0.5, 60):
        model = RandomForestClassifier(20, max_samples=max_samples, random_state=0)
        forest = model.fit_stream(parts(X, LABELS)).forest_
        sizes[max_samples] = forest.weight[forest.tree_start[:-1]]
    for max_samples, expected in ((None, 600), (0.5, 300), (60, 60)):
        # The mean of 20 Poisson numbers, within five standard errors.
        assert sizes[max_samples].mean() == pytest.approx(expected, abs=5 * np.sqrt(expected / 20))
        assert len(set(sizes[max_samples].tolist())) > 1


def test_a_heavy_row_is_drawn_more_often() -> None:
    weight = np.ones(len(X))
    weight[0] = 600.0
    y = np.zeros(len(X))
    y[0] = 1.0
    model = RandomForestRegressor(40, max_depth=1, random_state=0)
    model.fit_stream(parts(X, y, weight))
    forest = model.forest_
    mean = forest.value[forest.tree_start[:-1], 0].mean()
    # Half of all weight is its own.
    assert mean == pytest.approx(0.5, abs=0.02)


def test_a_small_table_gives_every_tree_a_row() -> None:
    model = RandomForestRegressor(50, random_state=0).fit_stream([([[1.0]], [2.0])])
    assert model.predict([[3.0]]).tolist() == [2.0]


# --- Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RandomForestClassifier(2, oob_score=True), "Set oob_score=False and score on rows"),
        (
            RandomForestClassifier(2, class_weight="balanced_subsample"),
            "Use class_weight='balanced'",
        ),
        (RandomForestClassifier(2, criterion="gain_ratio"), "Use criterion='entropy'"),
        (RandomForestClassifier(2, nominal="multiway"), "Use nominal='subset'"),
    ],
)
def test_what_needs_rows_is_refused(model: Any, message: str) -> None:
    with pytest.raises(NotAdditiveError, match=message):
        model.fit_stream(parts(X, LABELS))


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(InputError, match="`max_samples` cannot be set if `bootstrap=False`"):
        ExtraTreesClassifier(2, max_samples=0.5).fit_stream(parts(X, LABELS))


def test_rows_of_a_tree_are_not_known_afterwards() -> None:
    model = RandomForestClassifier(2, random_state=0).fit_stream(parts(X, LABELS))
    with pytest.raises(NotAdditiveError, match="The forest was grown from chunks"):
        _ = model.estimators_samples_


def test_a_fitted_forest_is_not_added_to() -> None:
    model = RandomForestClassifier(2, random_state=0, warm_start=True).fit_stream(parts(X, LABELS))
    model.set_params(n_estimators=4)
    with pytest.raises(NotAdditiveError, match="warm_start cannot add trees from chunks"):
        model.fit_stream(parts(X, LABELS))


def test_drawing_by_class_weights_needs_one_target() -> None:
    y = np.column_stack([LABELS, LABELS])
    model = RandomForestClassifier(2, class_weight="balanced")
    with pytest.raises(NotAdditiveError, match="several targets"):
        model.fit_stream(parts(X, y))
