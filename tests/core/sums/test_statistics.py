"""Statistics: what follows from sums, from memory, streams and files, and what is refused."""

import pickle
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from novum.core.errors import InputError, NotAdditiveError, SchemaError
from novum.core.files.registry import estimator
from novum.core.sums import ChunkStep, Statistics, StatisticsMixin
from novum.core.tables import Column, Kind, Schema
from novum.linear import LinearRegression, Ridge


def table(n: int = 40, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"c": rng.choice(["a", "b", "c"], n), "x": rng.normal(size=n)})
    return frame, rng.normal(size=n) + (frame["c"] == "b") + 2 * frame["x"].to_numpy()


def chunks(X: pd.DataFrame, y: Any, size: int) -> Iterator[tuple[Any, Any]]:
    for start in range(0, len(X), size):
        yield X[start : start + size], y[start : start + size]


def coefficients(model: Any) -> dict[str, float]:
    names = dict(zip(model.coef_names_, model.coef_, strict=True))
    return {**names, "intercept": model.intercept_}


def assert_same_fit(found: Any, expected: Any) -> None:
    a, b = coefficients(found), coefficients(expected)
    assert a.keys() == b.keys()
    np.testing.assert_allclose(list(a.values()), [b[k] for k in a], rtol=1e-9, atol=1e-11)


# --- Sums -----------------------------------------------------------------------------------------


def test_statistics_never_change_the_model() -> None:
    X, y = table()
    for model in (LinearRegression(), LinearRegression().fit(X[:20], y[:20])):
        before = dict(vars(model))
        S = model.statistics(X, y)
        assert vars(model) == before
        assert isinstance(S, Statistics)


def test_statistics_are_immutable() -> None:
    X, y = table()
    S = LinearRegression().statistics(X, y)
    with pytest.raises(AttributeError):
        S.schema = None


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 39), st.integers(0, 99))
def test_parts_add_up_and_come_off(cut: int, seed: int) -> None:
    X, y = table(seed=seed)
    model = LinearRegression()
    a, b = model.statistics(X[:cut], y[:cut]), model.statistics(X[cut:], y[cut:])
    whole = model.statistics(X, y)
    assert (a + b).isclose(whole)
    assert (b + a).isclose(whole)
    assert (a + b).schema == whole.schema
    assert (whole + whole.zero()).isclose(whole)
    assert (2 * whole).isclose(whole + whole)
    assert not whole.isclose(a)
    assert whole.rows == a.rows + b.rows == 40


def test_a_sum_is_fitted_as_the_whole_table_would_be() -> None:
    X, y = table()
    model = LinearRegression()
    found = model.fit_statistics(model.statistics(X[:7], y[:7]) + model.statistics(X[7:], y[7:]))
    assert found is model
    assert_same_fit(model, LinearRegression().fit(X, y))
    assert model.feature_names_in_.tolist() == ["c", "x"]
    assert model.n_features_in_ == 2
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-9)


def test_names_of_an_earlier_fit_do_not_stay() -> None:
    X, y = table()
    model = LinearRegression().fit(X, y)
    model.fit_statistics(model.statistics(np.arange(6.0).reshape(3, 2), [1.0, 2.0, 4.0]))
    assert not hasattr(model, "feature_names_in_")


def test_weights_count_rows() -> None:
    X, y = table()
    model = LinearRegression()
    weight = np.arange(40) % 3
    twice = np.repeat(np.arange(40), weight)
    weighted = clone(model).fit_statistics(model.statistics(X, y, weight))
    assert_same_fit(weighted, LinearRegression().fit(X.iloc[twice], y[twice]))


def test_a_schema_reads_every_part_alike() -> None:
    X, y = table()
    declared = Schema((Column("c", Kind.NOMINAL, ("a", "b", "c", "z")), Column("x")))
    S = LinearRegression().statistics(X[:5], y[:5], schema=declared)
    assert S.schema == declared
    other = pd.DataFrame({"c": ["new"], "x": [1.0]})
    with pytest.raises(SchemaError, match=r"'c' has a level that the schema does not list \(row 0"):
        LinearRegression().statistics(other, [1.0], schema=declared)
    with pytest.raises(SchemaError, match="Column 0 of X is 'x', but the schema has 'c'"):
        LinearRegression().statistics(X[["x", "c"]], y, schema=declared)


# --- Adding and removing --------------------------------------------------------------------------


def test_partial_fits_are_the_fit_to_all_rows() -> None:
    X, y = table()
    model = LinearRegression()
    for part, target in chunks(X, y, 9):
        assert model.partial_fit(part, target) is model
    assert_same_fit(model, LinearRegression().fit(X, y))
    after_fit = LinearRegression().fit(X[:9], y[:9]).partial_fit(X[9:], y[9:])
    assert_same_fit(after_fit, LinearRegression().fit(X, y))


def test_forgotten_rows_have_never_been_there() -> None:
    X, y = table()
    model = LinearRegression().fit(X, y).forget(X[:11], y[:11])
    assert_same_fit(model, LinearRegression().fit(X[11:], y[11:]))
    added = LinearRegression().fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    assert_same_fit(added.forget(X[30:], y[30:]), LinearRegression().fit(X[:30], y[:30]))


def test_all_rows_cannot_be_forgotten() -> None:
    X, y = table()
    model = LinearRegression().fit(X, y)
    before = coefficients(model)
    with pytest.raises(InputError, match=r"hold no rows, .*nothing to fit\. Add some rows first"):
        model.forget(X, y)
    assert coefficients(model) == before


def test_only_a_fitted_model_forgets() -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        LinearRegression().forget([[1.0]], [1.0])


@pytest.mark.parametrize("change", ["partial_fit", "forget"])
def test_other_columns_than_those_of_the_fit_are_refused(change: str) -> None:
    X, y = table()
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="feature names should match those that were passed"):
        getattr(model, change)(X.rename(columns={"x": "z"}), y)
    with pytest.raises(ValueError, match="names must be in the same order"):
        getattr(model, change)(X[["x", "c"]], y)
    numbers = LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="X has 2 features, but LinearRegression is expecting 1"):
        getattr(numbers, change)(np.ones((1, 2)), [1.0])
    with pytest.raises(SchemaError, match="A table of 1 columns does not fit one of 2"):
        getattr(numbers, change)([[1.0, 2.0]], [1.0])


def test_names_may_be_missing_in_later_rows() -> None:
    X, y = table()
    model = LinearRegression().fit(X[:20], y[:20])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.partial_fit(X[20:].to_numpy(), y[20:])
    assert_same_fit(model, LinearRegression().fit(X, y))
    assert model.feature_names_in_.tolist() == ["c", "x"]


# --- What is no sum -------------------------------------------------------------------------------


def test_a_fit_that_is_no_function_of_sums_is_refused_everywhere() -> None:
    X, y = table()
    S = LinearRegression().statistics(X, y)

    class Rowwise(LinearRegression):
        partial_fit = StatisticsMixin.partial_fit

        def _is_additive(self) -> bool:
            return False

    model = Rowwise()
    for call in (
        lambda: model.statistics(X, y),
        lambda: model.fit_statistics(S),
        lambda: model.partial_fit(X, y),
        lambda: model.fit_stream([(X, y)]),
        lambda: model.fit_file("none.csv", target="y"),
    ):
        with pytest.raises(
            NotAdditiveError, match=r"Rowwise\(\) is not fitted from sums, so it has"
        ):
            call()


def test_rows_are_not_added_to_a_model_that_kept_no_sums() -> None:
    X = sparse.random_array((30, 2500), density=0.01, rng=np.random.default_rng(0), format="csr")
    y = np.arange(30.0)
    model = Ridge().fit(X, y)
    assert not hasattr(model, "statistics_")
    for change in (model.partial_fit, model.forget):
        with pytest.raises(NotAdditiveError, match=r"fitted without keeping sums.*fresh model"):
            change(X, y)


@pytest.mark.parametrize("wrong", [None, 3.0, np.ones(3), LinearRegression()])
def test_what_are_no_statistics_is_named(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"Expected statistics, got \w+\. Pass what `Linear"):
        LinearRegression().fit_statistics(wrong)


def test_the_sum_over_no_rows_cannot_be_fitted() -> None:
    X, y = table()
    with pytest.raises(InputError, match="hold no rows"):
        LinearRegression().fit_statistics(LinearRegression().statistics(X, y).zero())


def test_parameters_are_checked_before_a_fit_from_sums() -> None:
    X, y = table()
    with pytest.raises(ValueError, match="'alpha' parameter of Ridge must be"):
        Ridge(alpha=-1.0).fit_statistics(LinearRegression().statistics(X, y))


def test_a_learner_must_say_how_it_reads_sums_and_estimates() -> None:
    class Empty(StatisticsMixin, BaseEstimator):
        pass

    with pytest.raises(TypeError, match=r"abstract class Empty .*_estimate.*_read.*_sum"):
        Empty()  # type: ignore[abstract]


# --- Streams --------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 40))
def test_a_stream_is_fitted_as_the_whole_table(size: int) -> None:
    X, y = table()
    expected = LinearRegression().fit(X, y)
    assert_same_fit(LinearRegression().fit_stream(chunks(X, y, size)), expected)
    assert_same_fit(LinearRegression().fit_stream(lambda: chunks(X, y, size)), expected)


def test_chunks_may_have_weights_and_levels_of_their_own() -> None:
    X, y = table()
    weight = np.arange(40.0) % 3
    parts = [(X[i : i + 10], y[i : i + 10], weight[i : i + 10]) for i in range(0, 40, 10)]
    model = LinearRegression().fit_stream(parts)
    assert_same_fit(model, LinearRegression().fit(X, y, weight))
    mixed = [(X[:20], y[:20]), (pl.from_pandas(X[20:]), y[20:], None)]
    assert_same_fit(LinearRegression().fit_stream(mixed), LinearRegression().fit(X, y))


def test_chunks_without_a_row_that_counts_add_nothing() -> None:
    X, y = table()
    ignored = pd.DataFrame({"c": ["other"], "x": [99.0]})
    parts = [(X[:0], y[:0]), (X[:20], y[:20]), (ignored, [1.0], [0.0]), ([], []), (X[20:], y[20:])]
    model = LinearRegression().fit_stream(parts)
    assert_same_fit(model, LinearRegression().fit(X, y))
    with pytest.raises(InputError, match="no chunks to learn from"):
        LinearRegression().fit_stream([(X[:0], y[:0]), (ignored, [1.0], [0.0])])


def test_a_schema_for_all_chunks() -> None:
    X, y = table()
    schema = LinearRegression().fit(X, y).schema_
    model = LinearRegression().fit_stream(chunks(X, y, 5), schema=schema)
    assert model.schema_ == schema
    narrow = Schema((Column("c", Kind.NOMINAL, ("a", "b")), Column("x")))
    with pytest.raises(SchemaError, match="level that the schema does not list") as caught:
        LinearRegression().fit_stream(chunks(X, y, 20), schema=narrow)
    assert "chunk 0 (counted from 0)" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("stream", "message", "note"),
    [
        ([[[1.0]], [2.0]], r"A chunk is a tuple \(X, y\) or \(X, y, weight\), got list", "chunk 0"),
        (([[1.0]], [2.0]), r"got list\. Yield tuples; a single chunk goes into a list", "chunk 0"),
        ([([[1.0]], [1.0]), (1, 2, 3, 4)], "got tuple", "chunk 1"),
        ([([[1.0]], [1.0]), ()], "got tuple", "chunk 1"),
        ([([[1.0]], [1.0]), ([[1.0, 2.0]], [1.0])], "1 columns does not fit one of 2", "0 to 1"),
        ([([[1.0]], [1.0]), ([["a"]], [1.0])], r"\(numeric\) does not fit column", "0 to 1"),
        ([([[1.0]], [1.0]), ([[2.0]], [np.nan])], "Input y contains NaN", "chunk 1"),
        ([([[1.0]], [1.0]), ([[2.0]], [1.0, 2.0])], "X has 1 rows, but y has 2", "chunk 1"),
        ([([[1.0]], [1.0]), ([[2.0]], [1.0], [0.0, 0.0])], r"has shape \(2,\)", "chunk 1"),
        ([([[1.0]], [1.0]), ([[2.0]], [1.0], [-1.0])], "Negative values in sample_w", "chunk 1"),
    ],
)
def test_bad_chunks_are_named(stream: Any, message: str, note: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        LinearRegression().fit_stream(stream)
    assert note in caught.value.__notes__[-1]


def test_classes_are_for_classifiers() -> None:
    X, y = table()
    with pytest.raises(InputError, match="`classes` is for classifiers; this learner has none"):
        LinearRegression().fit_stream([(X, y)], classes=["a", "b"])

    class Counts:
        def with_classes(self, classes: Any) -> Any:
            return ("all of", classes)

    class Learner(LinearRegression):
        def statistics(self, *_: Any, **__: Any) -> Any:
            return Counts()

        def fit_statistics(self, statistics: Any) -> Any:
            self.seen_ = statistics
            return self

    assert Learner().fit_stream([(X, y)], classes=["a", "b"]).seen_ == ("all of", ["a", "b"])


def test_a_step_is_picklable_and_takes_callables() -> None:
    X, y = table()
    step = pickle.loads(pickle.dumps(ChunkStep(LinearRegression(), None)))
    assert step((X, y)).isclose(LinearRegression().statistics(X, y))
    assert step(lambda: (X, y)).isclose(LinearRegression().statistics(X, y))
    with pytest.raises(InputError, match=r"A chunk is a tuple .* got DataFrame"):
        step(X)


# --- Files ----------------------------------------------------------------------------------------


def test_a_file_is_read_once_in_chunks_by_its_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    seen: dict[str, Any] = {}

    class TableFile:
        schema = LinearRegression().fit(X, y).schema_

        @classmethod
        def open(cls, *arguments: Any) -> "TableFile":
            seen["open"] = arguments
            return cls()

        def rows_at_a_time(self, chunk_rows: int) -> int:
            return chunk_rows

        def chunks(self, chunk_rows: int) -> Iterator[tuple[Any, Any]]:
            seen["rows"] = chunk_rows
            return chunks(X, y, chunk_rows)

    module = SimpleNamespace(TableFile=TableFile)
    monkeypatch.setitem(sys.modules, "novum.core.files.table_file", module)  # type: ignore[arg-type]
    model = LinearRegression().fit_file(
        "t.csv",
        target="y",
        weight="w",
        features=["c", "x"],
        kinds={"c": "nominal"},
        chunk_rows=7,
        memory_limit="1MB",
    )
    assert seen == {
        "open": ("t.csv", "y", "w", ["c", "x"], {"c": "nominal"}, "1MB"),
        "rows": 7,
    }
    assert_same_fit(model, LinearRegression().fit(X, y))


# --- Rows that were never there -------------------------------------------------------------------

_LINE = np.random.default_rng(0).normal(size=60)
# Two columns are one, so that rows leave the plane where they differ.
_TABLE = np.column_stack([_LINE, _LINE, np.random.default_rng(1).normal(size=60)])
_LABELS = np.repeat([0, 1, 2], [40, 17, 3])


@pytest.mark.parametrize(
    "name",
    [
        "GaussianClassifier",
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
        "DiscriminantProjection",
        "PCA",
        "ProbabilisticPCA",
        "Whitener",
        "LinearRegression",
        "Ridge",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_rows_off_the_subspace_of_all_rows_are_refused(name: str) -> None:
    model: Any = estimator(name)().fit(_TABLE, _LABELS)
    with pytest.raises(ValueError, match="in a direction in which"):
        model.forget([[0.5, -0.5, 0.0]], [0])
    model.forget(_TABLE[[3, 50]], _LABELS[[3, 50]])


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("GaussianClassifier", {}),
        ("GaussianNB", {}),
        ("NaiveBayes", {}),
        ("LinearDiscriminantAnalysis", {}),
        ("QuadraticDiscriminantAnalysis", {}),
        ("DiscriminantProjection", {}),
        ("DiscriminantProjection", {"priors": [0.5, 0.3, 0.2]}),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_class_cannot_leave_with_other_rows(name: str, more: dict[str, Any]) -> None:
    model: Any = estimator(name)(**more).fit(_TABLE, _LABELS)
    with pytest.raises(ValueError, match="would be all there are"):
        model.forget(_TABLE[57:] + 0.3, [2, 2, 2])
    if not more:
        assert 2 not in model.forget(_TABLE[57:][::-1], [2, 2, 2]).classes_


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "CategoricalNB", "BernoulliNB"])
def test_counts_that_were_never_there_are_refused(name: str) -> None:
    X = np.array([[1, 0], [0, 1], [1, 1], [0, 2], [0, 0]])
    y = [0, 0, 1, 1, 1]
    model: Any = estimator(name)().fit(X, y)
    # Class 0 has met one cell above zero in each column, and no level 7.
    with pytest.raises(InputError, match="were never added"):
        model.forget([[7, 7], [7, 7]], [0, 0])
    with pytest.raises(InputError, match="were never added"):
        model.forget([[0, 0], [0, 0]], [0, 0])
    assert model.forget(X[:2], y[:2]).classes_.tolist() == [1]
