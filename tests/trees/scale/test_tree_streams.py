"""Trees from chunks as estimators: what they store, how they are pruned, what they refuse."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core.errors import InputError, NotAdditiveError
from novum.numerics import Array
from novum.trees import (
    CostComplexity,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Pessimistic,
    ReducedError,
)
from novum.trees.scale.pass_plan import PassBudget
from tests.strategies.tree_tables import assert_same_tree


def table(n: int = 600, seed: int = 0) -> tuple[pd.DataFrame, Array, Array]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": (2 * rng.normal(30, 9, n)).round() / 2,
            "city": rng.choice(["Ulm", "Bonn", "Kiel", "Jena"], n),
        }
    )
    score = frame["age"] / 20 + (frame["city"] == "Ulm") + rng.normal(size=n)
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame.loc[rng.random(n) < 0.1, "city"] = None
    return frame, np.where(score > 3, "buys", "leaves"), score.to_numpy().round(2)


X, LABELS, NUMBERS = table()
# Which cells are missing says a part of the class.
GAPS = np.where(X.isna().sum(axis=1) > 0, LABELS[::-1], LABELS)


def parts(*arrays: Any, n_parts: int = 4) -> list[tuple[Any, ...]]:
    edges = np.linspace(0, len(X), n_parts + 1).astype(int)
    return [tuple(array[a:b] for array in arrays) for a, b in pairwise(edges)]


def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget of eight nodes, or of 320 rows, under which no table of 600 is fetched at once."""
    budget = PassBudget(8 * 10**6, 10**6, 25_000)
    monkeypatch.setattr(PassBudget, "of", lambda *_: budget)


MODELS: dict[str, tuple[Any, Any]] = {
    "classes": (DecisionTreeClassifier(min_samples_leaf=3), LABELS),
    "entropy, direction": (
        DecisionTreeClassifier(criterion="entropy", missing="direction"),
        LABELS,
    ),
    "missing by gain": (DecisionTreeClassifier(missing="auto", min_samples_leaf=2), GAPS),
    "numbers, missing by gain": (DecisionTreeRegressor(missing="auto", max_depth=6), NUMBERS),
    "balanced": (DecisionTreeClassifier(class_weight="balanced", max_depth=5), LABELS),
    "numbers": (DecisionTreeRegressor(min_samples_leaf=5), NUMBERS),
    "most common": (DecisionTreeRegressor(missing="most_common", max_depth=4), NUMBERS),
    "several targets": (
        DecisionTreeRegressor(max_depth=4),
        np.column_stack([NUMBERS, -2 * NUMBERS]),
    ),
    "best first": (DecisionTreeClassifier(max_leaf_nodes=7), LABELS),
    "few bins": (DecisionTreeClassifier(max_bins=16, max_depth=4), LABELS),
    "pruned": (DecisionTreeClassifier(ccp_alpha=0.004), LABELS),
    "random": (DecisionTreeClassifier(max_features=1, random_state=3, max_depth=4), LABELS),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("limited", [False, True])
def test_chunks_give_the_tree_of_the_table(
    name: str, limited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, y = MODELS[name]
    expected = model.fit(X, y)
    tree, common = expected.tree_, expected.common_values_
    predictions, names = expected.predict(X), set(vars(expected))
    replaced, importances = expected.replaced_, expected.feature_importances_
    if limited:
        small_memory(monkeypatch)
    found = model.fit_stream(parts(X, y))
    passes = found.certificate_.details["passes"]
    assert passes > 2 if limited else passes == 2
    if not (limited and name == "random"):
        assert_same_tree(found.tree_, tree)
        if y.dtype.kind == "f":
            np.testing.assert_allclose(found.predict(X), predictions, rtol=1e-12)
        else:
            np.testing.assert_array_equal(found.predict(X), predictions)
        np.testing.assert_allclose(found.feature_importances_, importances)
    assert found.replaced_ == replaced
    np.testing.assert_array_equal(found.common_values_, common)
    assert set(vars(found)) == names
    assert found.n_features_in_ == 3


def test_weights_count_rows() -> None:
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    found = DecisionTreeClassifier(min_samples_leaf=4).fit_stream(parts(X, LABELS, weight))
    expected = DecisionTreeClassifier(min_samples_leaf=4).fit(X, LABELS, weight)
    assert_same_tree(found.tree_, expected.tree_)
    np.testing.assert_allclose(found.class_prior_, expected.class_prior_)
    assert found.classes_.tolist() == ["buys", "leaves"]


def test_levels_and_classes_may_come_late(monkeypatch: pytest.MonkeyPatch) -> None:
    order = np.lexsort([LABELS, X["city"].fillna("")])
    frame, y = X.iloc[order], LABELS[order]
    expected = DecisionTreeClassifier(max_depth=5).fit(frame, y)
    small_memory(monkeypatch)
    edges = np.linspace(0, len(X), 8).astype(int)
    late = [(frame[a:b], y[a:b]) for a, b in pairwise(edges)]
    found = DecisionTreeClassifier(max_depth=5).fit_stream(lambda: iter(late))
    assert found.schema_ == expected.schema_
    assert_same_tree(found.tree_, expected.tree_)


def test_classes_that_did_not_occur_have_probability_zero() -> None:
    model = DecisionTreeClassifier(max_depth=2).fit_stream(
        parts(X, LABELS), classes=["buys", "leaves", "waits"]
    )
    assert model.classes_.tolist() == ["buys", "leaves", "waits"]
    assert model.predict_proba(X)[:, 2].max() == 0.0


# --- Pruning --------------------------------------------------------------------------------------


def test_given_rows_prune_as_in_memory() -> None:
    other, labels, _ = table(300, seed=9)
    model = DecisionTreeClassifier(pruning=ReducedError(validation=(other, labels)))
    expected = DecisionTreeClassifier(pruning=ReducedError(validation=(other, labels)))
    found = model.fit_stream(parts(X, LABELS))
    assert_same_tree(found.tree_, expected.fit(X, LABELS).tree_)
    assert found.tree_.n_leaves < DecisionTreeClassifier().fit(X, LABELS).tree_.n_leaves


@pytest.mark.parametrize(
    ("pruning", "message"),
    [
        (ReducedError(0.3), r"Pass rows to validate by: ReducedError\(validation=\(X, y\)\)"),
        (CostComplexity("cross_validation"), "looks at the training rows again"),
        (Pessimistic(), "looks at the training rows again"),
    ],
)
def test_pruning_that_needs_rows_is_refused(pruning: Any, message: str) -> None:
    with pytest.raises(NotAdditiveError, match=message):
        DecisionTreeClassifier(pruning=pruning).fit_stream(parts(X, LABELS))


# --- Refusals -------------------------------------------------------------------------------------


def test_a_failed_fit_leaves_the_model_alone() -> None:
    model = DecisionTreeClassifier(max_depth=2).fit(X, LABELS)
    before = dict(vars(model))
    broken = [*parts(X, LABELS), ([[1.0]], ["a"])]
    with pytest.raises(InputError):
        model.fit_stream(broken)
    assert vars(model) == before


def test_wrong_parameters_are_refused_before_anything_is_read() -> None:
    def chunks() -> Any:
        raise AssertionError("read")

    with pytest.raises(ValueError, match="max_depth"):
        DecisionTreeClassifier(max_depth=0).fit_stream(chunks)
    with pytest.raises(NotAdditiveError, match="absolute_error"):
        DecisionTreeRegressor(criterion="absolute_error").fit_stream(chunks)


def test_an_iterator_is_refused() -> None:
    with pytest.raises(InputError, match="DecisionTreeClassifier reads the chunks several times"):
        DecisionTreeClassifier().fit_stream(iter(parts(X, LABELS)))


def test_one_row_and_one_class_are_leaves() -> None:
    single = DecisionTreeRegressor().fit_stream([([[1.0]], [2.0])])
    assert (single.tree_.n_nodes, single.predict([[5.0]]).tolist()) == (1, [2.0])
    one_class = DecisionTreeClassifier().fit_stream([(X, np.full(len(X), "a"))])
    assert one_class.tree_.n_nodes == 1


def test_a_column_without_cells_is_never_asked() -> None:
    rng = np.random.default_rng(0)
    cells = np.column_stack([np.full(80, np.nan), rng.normal(size=80)])
    y = cells[:, 1] > 0
    model = DecisionTreeClassifier().fit_stream([(cells[:40], y[:40]), (cells[40:], y[40:])])
    assert set(model.tree_.column.tolist()) == {1, -1}
    assert (model.predict(cells) == y).all()
