"""Boosting of chunks, files and cluster partitions: the model of the table in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core.errors import NotAdditiveError
from novum.ensemble import EarlyStopping, GradientBoostingClassifier, GradientBoostingRegressor
from tests.trees.forest_tables import mixed_labels, mixed_numbers, mixed_table

TABLE = mixed_table(400)
LABELS, NUMBERS = mixed_labels(TABLE), mixed_numbers(TABLE)
CASES = [
    (GradientBoostingRegressor(n_estimators=12), NUMBERS),
    (GradientBoostingRegressor("quantile", n_estimators=5), NUMBERS),
    (GradientBoostingClassifier(n_estimators=6), LABELS),
    (
        GradientBoostingClassifier(
            n_estimators=20,
            subsample=0.7,
            early_stopping=EarlyStopping(0.2),
            class_weight="balanced",
            random_state=0,
        ),
        LABELS,
    ),
]


def chunks(X: pd.DataFrame, y: Any, size: int = 90) -> list[tuple[Any, Any]]:
    return [(X[start : start + size], y[start : start + size]) for start in range(0, len(X), size)]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_chunks_grow_the_trees_of_the_table(case: int) -> None:
    model, y = CASES[case]
    y = np.asarray(y)
    whole = model.fit(TABLE, y)
    expected = [forest.step.tolist() for forest in whole.forests_], whole.predict(TABLE)
    schema = whole.schema_
    streamed = model.fit_stream(chunks(TABLE, y), schema=schema)
    assert [forest.step.tolist() for forest in streamed.forests_] == expected[0]
    np.testing.assert_array_equal(streamed.predict(TABLE), expected[1])


def test_weights_of_chunks_and_new_levels() -> None:
    weight = np.random.default_rng(0).integers(0, 3, len(TABLE))
    y = np.asarray(NUMBERS)
    whole = GradientBoostingRegressor(n_estimators=5).fit(TABLE, y, sample_weight=weight)
    expected = whole.predict(TABLE)
    parts = [
        (X, part, w)
        for (X, part), (w, _) in zip(
            chunks(TABLE, y),
            chunks(weight, weight),
            strict=True,  # type: ignore[arg-type]
        )
    ]
    streamed = GradientBoostingRegressor(n_estimators=5).fit_stream(lambda: iter(parts))
    np.testing.assert_allclose(streamed.predict(TABLE), expected, rtol=1e-12)


def test_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=300), "level": rng.choice(list("abc"), 300)})
    frame["y"] = frame["x"] ** 2 + (frame["level"] == "b")
    frame.to_csv(tmp_path / "table.csv", index=False)
    model = GradientBoostingRegressor(n_estimators=10)
    found = model.fit_file(tmp_path / "table.csv", target="y", chunk_rows=64).predict(
        frame[["x", "level"]]
    )
    expected = model.fit(frame[["x", "level"]], frame["y"]).predict(frame[["x", "level"]])
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.usefixtures("client")
def test_partitions_of_a_cluster() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(400, 3)), rng.normal(size=400)
    y = y + X[:, 0]
    dask_array = pytest.importorskip("dask.array")
    expected = GradientBoostingRegressor(n_estimators=5).fit(X, y).predict(X)
    parts = dask_array.from_array(X, chunks=(100, 3)), dask_array.from_array(y, chunks=100)
    model = GradientBoostingRegressor(n_estimators=5).fit_stream(parts)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_chunks_do_not_go_on_from_a_fit() -> None:
    model = GradientBoostingRegressor(n_estimators=3, warm_start=True).fit(TABLE, NUMBERS)
    with pytest.raises(NotAdditiveError, match="warm_start=False"):
        model.fit_stream(chunks(TABLE, np.asarray(NUMBERS)))
