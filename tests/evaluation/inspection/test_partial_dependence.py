"""Partial dependence: scikit-learn's numbers, the definition, kinds, weights, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import partial_dependence as theirs
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from novum.bayes import NaiveBayes
from novum.core.errors import InputError
from novum.evaluation.inspection.partial_dependence import partial_dependence

rng = np.random.default_rng(0)
X = np.column_stack([rng.normal(size=(80, 2)), rng.integers(0, 4, 80)]).astype(float)
Y = (X[:, 0] + X[:, 2] + rng.normal(size=80) > 1).astype(int)
THREE = (X[:, 2] % 3).astype(int)
MODELS: dict[str, Any] = {
    "two classes": RandomForestClassifier(8, random_state=0).fit(X, Y),
    "three classes": RandomForestClassifier(8, random_state=0).fit(X, THREE),
    "scores": LinearSVC().fit(X, Y),
    "numbers": RandomForestRegressor(8, random_state=0).fit(X, X[:, 0] * X[:, 1]),
    "two targets": LinearRegression().fit(X, X[:, :2] * 2),
}


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("features", [[0], [0, 1], [2], [1, 2]], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_are_scikit_learns(name: str, features: list[int], weighted: bool) -> None:
    more: dict[str, Any] = {"kind": "both", "grid_resolution": 7}
    if weighted:
        more["sample_weight"] = rng.uniform(0.1, 2, 80)
    ours = partial_dependence(MODELS[name], X, features, **more)
    other = theirs(MODELS[name], X, features, method="brute", **more)
    np.testing.assert_allclose(ours.average, other.average, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.individual, other.individual, rtol=1e-10, atol=1e-12)
    for mine, their in zip(ours.grid_values, other.grid_values, strict=True):
        np.testing.assert_allclose(mine.astype(float), their)


def test_average_is_the_definition() -> None:
    model = MODELS["numbers"]
    found = partial_dependence(model, X, 1, custom_values={1: [-1.0, 0.5]})
    for j, value in enumerate((-1.0, 0.5)):
        by_hand = np.mean([model.predict([[row[0], value, row[2]]])[0] for row in X])
        assert found.average[0, j] == pytest.approx(by_hand, rel=1e-12)


# --- Kinds ----------------------------------------------------------------------------------------


def frame() -> pd.DataFrame:
    color = np.array(["red", "blue", "green"], object)[(X[:, 2] % 3).astype(int)]
    color[::10] = None
    size = X[:, 0].copy()
    size[::7] = np.nan
    return pd.DataFrame(
        {"size": size, "color": pd.Categorical(color), "count": X[:, 2].astype(int)}
    )


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_levels_and_missing_cells(library: str) -> None:
    table = {"pandas": lambda f: f, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}[
        library
    ](frame())
    model = NaiveBayes().fit(table, Y)
    found = partial_dependence(model, table, "color", kind="both")
    assert found.grid_values[0].tolist() == ["blue", "green", "red"]
    assert found.axes[0].n_missing == 8
    filled = frame().assign(color=pd.Categorical(["green"] * 80, ["blue", "green", "red"]))
    expected = NaiveBayes().fit(frame(), Y).predict_proba(filled)[:, 1]
    np.testing.assert_allclose(found.individual[0, :, 1], expected, rtol=1e-9)
    both = partial_dependence(model, table, ["size", "color"], grid_resolution=5)
    assert both.average.shape == (1, 5, 3)
    assert "missing cells" in repr(both)
    assert "green" in repr(found)


def test_whole_numbers_are_not_rounded() -> None:
    table = rng.integers(0, 30, (40, 2))
    model = LinearRegression().fit(table, table[:, 0])
    found = partial_dependence(model, table, 0, grid_resolution=5)
    np.testing.assert_allclose(found.average[0], found.grid_values[0], atol=1e-9)
    counts = partial_dependence(NaiveBayes().fit(frame(), Y), frame(), "count")
    assert counts.grid_values[0].tolist() == [0, 1, 2, 3]


def test_numbers_that_are_codes() -> None:
    found = partial_dependence(MODELS["numbers"], X, 2, categorical_features=[2], grid_resolution=2)
    assert found.grid_values[0].tolist() == [0, 1, 2, 3]
    names = partial_dependence(MODELS["numbers"], X, "b", feature_names=["a", "b", "c"])
    np.testing.assert_array_equal(
        names.average, partial_dependence(MODELS["numbers"], X, 1).average
    )


def test_only_what_was_asked_for() -> None:
    found = partial_dependence(MODELS["numbers"], X, 0)
    assert sorted(found) == ["average", "grid_values"]
    assert len(found) == 2
    with pytest.raises(AttributeError, match="ask for 'individual'"):
        _ = found.individual
    with pytest.raises(KeyError):
        found["individual"]


def test_outputs_have_names() -> None:
    model = LogisticRegression().fit(X, np.array(["no", "yes"])[Y])
    assert partial_dependence(model, X, 0).outputs == ("yes",)
    assert partial_dependence(MODELS["three classes"], X, 0).outputs == (0, 1, 2)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"features": "z"}, "`features` names 'z', but X has no such column"),
        ({"features": [0, 1, 2]}, "one column or two"),
        ({"features": [0, 0]}, "one column or two"),
        ({"percentiles": (0.9, 0.1)}, "percentiles are two shares"),
        ({"percentiles": 0.5}, "percentiles are two shares"),
        ({"percentiles": (0.5, 0.5000001), "grid_resolution": 3, "features": 2,
          "constant": True}, "too close to each other"),
        ({"grid_resolution": 1}, "at least 2"),
        ({"method": "recursion"}, "by definition"),
        ({"kind": "all"}, "'average', 'individual' or 'both'"),
        ({"response_method": "predict_proba"}, "must be 'auto' for regressors"),
        ({"response_method": "predict"}, "response_method is"),
        ({"custom_values": {0: ["a"]}}, "numbers"),
        ({"categorical_features": [True]}, "mask"),
    ],
)  # fmt: skip
def test_refusals(more: dict[str, Any], message: str) -> None:
    table = X.copy()
    if more.pop("constant", False):
        table[:, 2] = np.r_[np.zeros(77), 1, 2, 3]
    features = more.pop("features", 0)
    with pytest.raises(InputError, match=message):
        partial_dependence(MODELS["numbers"], table, features, **more)


def test_other_refusals() -> None:
    from sklearn.cluster import KMeans

    with pytest.raises(InputError, match="regressor or classifier"):
        partial_dependence(KMeans(2, n_init=1).fit(X), X, 0)
    with pytest.raises(InputError, match="dense"):
        partial_dependence(MODELS["numbers"], sparse.csr_array(X), 0)
    with pytest.raises(InputError, match="no predict_proba"):
        partial_dependence(MODELS["scores"], X, 0, response_method="predict_proba")
    gone = frame().assign(size=np.nan)
    with pytest.raises(InputError, match="missing in all rows"):
        partial_dependence(NaiveBayes().fit(frame(), Y), gone, "size")
    with pytest.raises(InputError, match="'pink' for column 'color'"):
        partial_dependence(
            NaiveBayes().fit(frame(), Y), frame(), "color", custom_values={"color": ["pink"]}
        )
