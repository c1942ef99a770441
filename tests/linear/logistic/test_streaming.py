"""Chunks, files and clusters: the fit of all rows, whatever the partition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from novum.core.errors import InputError
from novum.core.learners import Case, ConvergenceWarning, Verdict
from novum.core.sums.contracts import (
    check_cluster_that_loses_a_worker,
    check_file_larger_than_memory,
    check_files,
)
from novum.linear.logistic import streaming
from novum.linear.logistic.regression import LogisticRegression
from novum.linear.logistic.streaming import FirstPass
from tests.linear.logistic_tables import logistic_table

INF = float("inf")


def parts(X: Any, y: Any, weight: Any = None, k: int = 5) -> list[tuple[Any, ...]]:
    def of(table: Any, rows: Any) -> Any:
        return table.iloc[rows] if isinstance(table, pd.DataFrame) else table[rows]

    rows = np.array_split(np.arange(len(y)), k)
    if weight is None:
        return [(of(X, r), y[r]) for r in rows]
    return [(of(X, r), y[r], weight[r]) for r in rows]


def assert_same(a: LogisticRegression, b: LogisticRegression, rtol: float = 1e-10) -> None:
    size = float(np.abs(b.coef_).max())
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=rtol, atol=rtol * size)
    np.testing.assert_allclose(a.intercept_, b.intercept_, rtol=rtol, atol=rtol * size)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("C", [0.5, INF])
@pytest.mark.parametrize("intercept", [True, False])
def test_chunks_give_the_fit_of_all_rows(K: int, C: float, intercept: bool) -> None:
    X, y = logistic_table(300, 3, K)
    weight = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    options = {"C": C, "fit_intercept": intercept, "class_weight": "balanced"}
    whole = LogisticRegression(**options).fit(X, y, weight)
    chunks = parts(X, y, weight)
    for given in (chunks, lambda: iter(chunks)):
        model = LogisticRegression(**options).fit_stream(given)
        assert_same(model, whole)
        assert model.certificate_.verdict is Verdict.PROVED
        np.testing.assert_allclose(model.class_prior_, whole.class_prior_, rtol=1e-12)
        assert model.summary_.loss == pytest.approx(whole.summary_.loss, rel=1e-12)
    # The information is that of the last pass, a step of 1e-9 before the optimum.
    expected = whole.inference().standard_errors
    np.testing.assert_allclose(model.inference().standard_errors, expected, rtol=1e-7)


def test_levels_and_classes_of_chunks_unite() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": np.repeat(["x", "y", "z"], 30)})
    y = np.where(rng.random(90) < 0.5, np.repeat(["p", "q", "p"], 30), "r")
    whole = LogisticRegression().fit(frame, y)
    model = LogisticRegression().fit_stream(parts(frame, y, k=6))
    assert model.classes_.tolist() == ["p", "q", "r"]
    assert model.coef_names_ == whole.coef_names_
    assert_same(model, whole)
    np.testing.assert_array_equal(model.predict(frame), whole.predict(frame))


def test_sparse_chunks() -> None:
    X, y = logistic_table(200, 4)
    X[np.abs(X) < 0.5] = 0.0
    model = LogisticRegression().fit_stream([(sparse.csr_array(a), b) for a, b in parts(X, y)])
    assert_same(model, LogisticRegression().fit(X, y))


@pytest.mark.parametrize("C", [1.0, INF])
def test_files(C: float) -> None:
    X, y = logistic_table(200, 3)
    check_files(Case(LogisticRegression(C=C), X, y))
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "u", "v")})
    check_files(Case(LogisticRegression(C=C), frame, y))


def test_a_file_with_weights(tmp_path: Path) -> None:
    X, y = logistic_table(120, 2)
    weight = np.random.default_rng(0).uniform(0.5, 2, 120)
    path = tmp_path / "rows.csv"
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y, "w": weight}).to_csv(path, index=False)
    model = LogisticRegression().fit_file(path, target="y", weight="w", chunk_rows=50)
    assert_same(model, LogisticRegression().fit(X, y, weight), rtol=1e-9)
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_dask_collections() -> None:
    da = pytest.importorskip("dask.array")
    X, y = logistic_table(150, 2, 3)
    model = LogisticRegression().fit_stream(
        (da.from_array(X, chunks=(40, 2)), da.from_array(y, chunks=40))
    )
    assert_same(model, LogisticRegression().fit(X, y))


def test_dependent_columns_and_separation_are_seen() -> None:
    X, y = logistic_table(200, 2)
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(200)])
    whole = LogisticRegression(C=INF).fit(X, y)
    model = LogisticRegression(C=INF).fit_stream(parts(X, y))
    assert_same(model, whole, rtol=1e-8)
    assert model.certificate_.details["independent_columns"] == 2
    apart = X[:, :1] + 10 * y[:, np.newaxis]
    with pytest.warns(ConvergenceWarning, match="completely separated"):
        lost = LogisticRegression(C=INF).fit_stream(parts(apart, y))
    assert lost.certificate_.verdict is Verdict.UNBOUNDED
    rare = np.where(np.arange(200) % 50 == 7, 1.0, 0.0)
    y[rare > 0] = 1
    with pytest.warns(ConvergenceWarning, match="quasi-completely separated"):
        lost = LogisticRegression(C=INF).fit_stream(parts(np.column_stack([X, rare]), y))
    assert lost.separation_ is not None
    assert lost.separation_.separated == 4


def test_the_first_pass_adds_up() -> None:
    X, y = logistic_table(100, 3, 3)
    weight = np.random.default_rng(0).uniform(0.5, 2, 100)
    read = LogisticRegression()._read
    whole = FirstPass.of(read(X, y, weight, None))
    merged = FirstPass.of(read(X[:30], y[:30], weight[:30], None)) + FirstPass.of(
        read(X[30:], y[30:], weight[30:], None)
    )
    for name in ("class_weights", "lightest", "mean", "scatter", "low", "high"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-12)


def test_what_cannot_be_read_twice_is_refused() -> None:
    X, y = logistic_table(40, 2)
    with pytest.raises(InputError, match="may be used up after"):
        LogisticRegression().fit_stream(iter(parts(X, y)))
    turns = [parts(X, y), parts(X, y + 1)]
    with pytest.raises(InputError, match="did not occur in the first pass"):
        LogisticRegression().fit_stream(lambda: turns.pop(0))


def test_impossible_chunks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = logistic_table(40, 2)
    with pytest.raises(InputError, match="only one class: 0"):
        LogisticRegression().fit_stream(parts(X, np.zeros(40, int)))
    with pytest.raises(InputError, match="A class without rows cannot be learned"):
        LogisticRegression().fit_stream(parts(X, y), classes=[0, 1, 2])
    assert LogisticRegression().fit_stream(parts(X, y), classes=[0, 1]).classes_.tolist() == [0, 1]
    with pytest.raises(InputError, match="different types"):
        LogisticRegression().fit_stream([(X, y), (X, np.where(y == 1, "a", "b"))])
    monkeypatch.setattr(streaming, "WIDEST_HESSIAN", 2)
    with pytest.raises(InputError, match="Hessian of all 3 parameters"):
        LogisticRegression().fit_stream(parts(X, y))


def test_a_failed_stream_changes_nothing() -> None:
    X, y = logistic_table(40, 2)
    model = LogisticRegression().fit(X, y)
    before = model.coef_
    with pytest.raises(InputError):
        model.fit_stream(parts(X, np.zeros(40, int)))
    assert model.coef_ is before


@pytest.mark.slow
def test_a_file_larger_than_memory(tmp_path: Path) -> None:
    check_file_larger_than_memory(
        "novum.linear.logistic.regression:LogisticRegression", tmp_path, target="classes"
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the cluster complains about the worker that is killed
def test_a_cluster_that_loses_a_worker(client: Any) -> None:
    X, y = logistic_table(120, 2)
    check_cluster_that_loses_a_worker(Case(LogisticRegression(), X, y), client)
