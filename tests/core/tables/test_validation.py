"""The one entrance: targets, weights and cells are checked, and messages say where and what."""

import datetime
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning

from novum.core.errors import InputError, MissingValuesError, UnseenLevelWarning
from novum.core.tables import (
    MISSING,
    UNSEEN,
    Column,
    Kind,
    Sample,
    Schema,
    check_classes,
    check_features,
    check_sample,
    with_checked_weight,
)
from novum.linear import LinearRegression

NAN, INF = float("nan"), float("inf")


class Reader(BaseEstimator):
    def __init__(self, categorical_features: Any = "auto") -> None:
        self.categorical_features = categorical_features


def check(X: Any, y: Any = None, weight: Any = None, **options: Any) -> Sample:
    target = options.pop("target", "none" if y is None else "numbers")
    reader = Reader(options.pop("chosen", "auto"))
    return check_sample(reader, X, y, weight, target=target, **options)


def rows(n: int) -> Any:
    return np.arange(float(n)).reshape(n, 1)


# --- Cells ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, 2.0], [3.0, INF]], r"column 'x1' has inf at row 1 \(1 such cells in all\)"),
        ([[1.0, -INF], [INF, 2.0]], r"column 'x1' has -inf at row 0 \(2 such cells in all\)"),
        (pd.DataFrame({"a": ["u", "v"], "b": [1, INF]}), "column 'b' has inf at row 1"),
        (pl.DataFrame({"a": ["u", "v"], "b": [1.0, -INF]}), "column 'b' has -inf at row 1"),
        (sparse.csr_array([[0.0, 0.0], [0.0, INF]]), "column 'x1' has inf at row 1"),
        (np.array([[np.longdouble("1e4000")]]), "column 'x0' has inf at row 0"),
        ([[2**2000, "a"]], "column 'x0' has inf at row 0"),
    ],
)
def test_infinity_is_named_with_column_and_row(X: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"Input X contains infinity: {message}.*Replace"):
        check(X, allow_missing=True, accept_sparse=True)


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"age": [1, NAN, NAN, 2], "color": ["a", "b", None, "a"]}),
        pl.DataFrame({"age": [1.0, None, NAN, 2.0], "color": ["a", "b", None, "a"]}),
        pa.table({"age": [1, None, NAN, 2], "color": ["a", "b", None, "a"]}),
    ],
)
def test_missing_cells_are_named_counted_and_remedied(X: Any) -> None:
    with pytest.raises(MissingValuesError) as caught:
        check(X)
    text = str(caught.value)
    assert "Input X contains NaN" in text
    assert "3 in all" in text
    assert "'age' (2, first at row 1), 'color' (1, first at row 2)" in text
    assert "Reader needs every cell" in text
    assert "treats missing as missing" in text
    sample = check(X, allow_missing=True)
    np.testing.assert_array_equal(sample.numeric.ravel(), [1, NAN, NAN, 2])
    assert sample.codes.ravel().tolist() == [0, 1, MISSING, 0]


def test_learners_of_the_same_task_are_named_for_missing_cells() -> None:
    class Classifier(ClassifierMixin, BaseEstimator):
        pass

    for learner, task in ((LinearRegression(), "Regressor"), (Classifier(), "Classifier")):
        with pytest.raises(MissingValuesError) as caught:
            check_sample(learner, [[NAN], [1.0]], target="none")
        other = {"Regressor": "Classifier", "Classifier": "Regressor"}[task]
        advice = str(caught.value).split("Use a learner")[1]
        assert f"RandomForest{task}" in advice
        assert other not in advice


def test_missing_in_sparse_and_masked_tables_is_found() -> None:
    with pytest.raises(MissingValuesError, match=r"'x1' \(1, first at row 0\)"):
        check(sparse.csr_array([[0.0, NAN], [1.0, 0.0]]), accept_sparse=True)
    masked = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, False], [True, False]])
    with pytest.raises(MissingValuesError, match=r"'x0' \(1, first at row 1\)"):
        check(masked)


@pytest.mark.parametrize("scale", [1e-150, 1e150, 1e308, 5e-324])
def test_extreme_numbers_are_numbers(scale: float) -> None:
    X = scale * np.ones((50, 3))
    np.testing.assert_array_equal(check(X).numeric, X)
    # The sum of these overflows, and must not be taken for an infinite cell.
    np.testing.assert_array_equal(check(-X).numeric, -X)


def test_a_sum_that_cancels_does_not_hide_infinity() -> None:
    with pytest.raises(InputError, match=r"has inf at row 0 \(2 such"):
        check([[INF, -INF]])


# --- Targets that are numbers ---------------------------------------------------------------------

Y = [1.0, 2.5, -3.0]


@pytest.mark.parametrize(
    "y",
    [
        Y,
        tuple(Y),
        np.array(Y),
        np.array(Y, np.float32),
        np.array(Y, object),
        np.array([0.0, *Y])[1:],
        np.ma.masked_array(Y),
        pd.Series(Y, index=[7, 8, 9]),
        pd.Series(Y, dtype="Float64"),
        pd.Series([Decimal(v) for v in Y]),
        pl.Series(Y),
        pa.array(Y),
        pa.chunked_array([Y[:1], Y[1:]]),
        pa.array([Decimal(v) for v in Y]),
        [Decimal("1"), 2.5, np.float32(-3)],
    ],
)
def test_targets_of_every_container_are_floats(y: Any) -> None:
    target = check(rows(3), y).target
    assert target.tolist() == Y
    assert target.dtype == np.float64
    assert target.shape == (3,)


@pytest.mark.parametrize(
    "y",
    [
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]]),
        pd.DataFrame({"u": [1, 3], "v": [2, 4]}),
        pl.DataFrame({"u": [1, 3], "v": [2, 4]}),
        pa.table({"u": [1, 3], "v": [2, 4]}),
    ],
)
def test_several_targets_keep_their_columns(y: Any) -> None:
    np.testing.assert_array_equal(check(rows(2), y).target, [[1, 2], [3, 4]])


def test_one_column_of_targets_stays_a_column_and_truth_counts_as_one() -> None:
    assert check(rows(2), [[1], [2]]).target.shape == (2, 1)
    assert check(rows(2), [True, False]).target.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, NAN], r"Input y contains NaN.* 1 in all, in 'y' \(1, first at row 1\).*Select the ro"),
        ([1, None], r"'y' \(1, first at row 1\)"),
        (np.ma.masked_array([1, 2], mask=[True, False]), r"'y' \(1, first at row 0\)"),
        (pd.Series([pd.NA, 2], dtype="Int64"), r"'y' \(1, first at row 0\)"),
        (pl.Series([1, None]), r"'y' \(1, first at row 1\)"),
        (pa.array([None, 1]), r"'y' \(1, first at row 0\)"),
        ([[1, 2], [3, NAN]], r"'y1' \(1, first at row 1\)"),
        ([1, INF], r"Input y contains infinity.* It has inf at row 1, 1 such in all\. Select the"),
        ([[1, 2], [-INF, 3]], r"It has -inf at row 1 of target 0, 1 such"),
        ([2**2000, 1], r"Input y contains infinity.* It has inf at row 0"),
        (["a", "b"], r"Reader predicts numbers, but y holds .*'a'.* at row 0.*use a classifier"),
        (["1", "2"], r"y holds .*'1'.* at row 0\. Convert y to numbers"),
        ([1.5, "b"], r"y holds 'b' at row 1"),
        (np.array([[1, "b"], [2, 3]], object), r"y holds 'b' at row 0"),
        ([1j, 2], r"Complex data not supported: y has type complex128"),
        (np.array(["2020", "2021"], "M8[Y]"), r"predicts numbers, but y holds .*2020"),
        ([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], r"y holds datetime.date"),
        (np.zeros((2, 2, 2)), r"y should be a 1d array .* got an array of shape \(2, 2, 2\)"),
        (3.0, r"y should be a 1d array .* shape \(\)"),
        ([], r"y should be a 1d array .* shape \(0,\)"),
        ([[1], [2, 3]], r"rows of y have an inhomogeneous shape"),
        (sparse.csr_array([[1.0], [2.0]]), r"Sparse data was passed for y"),
        ([1, 2, 3], r"X has 2 rows, but y has 3: .* inconsistent numbers of samples"),
        ([[1, 2]], r"X has 2 rows, but y has 1"),
    ],
)
def test_impossible_targets_are_named(y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check(rows(2), y)


def test_a_target_is_required_where_it_is_used() -> None:
    with pytest.raises(InputError, match="Reader requires y to be passed, but the target y is N"):
        check_sample(Reader(), rows(2))
    assert check(rows(2)).target is None


# --- Targets that are classes ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], object),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series(pd.Categorical(["b", "a", "b"], ["c", "b", "a"], ordered=True)),
        pd.Series(["b", "a", "b"], dtype="string"),
        pl.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"], dtype=pl.Enum(["b", "a"])),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pa.array(["b", "a", "b"]),
        pa.array(["b", "a", "b"]).dictionary_encode(),
        pa.chunked_array([["b"], ["a", "b"]]),
    ],
)
def test_text_labels_of_every_container_have_the_same_codes(y: Any) -> None:
    classes, codes = check_classes(y, "Learner")
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]
    assert codes.dtype == np.int64


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([3, 1, 3], [1, 3]),
        (np.array([3, 1, 3], np.uint8), [1, 3]),
        ([3.0, 1.0, 3.0], [1.0, 3.0]),
        (np.array([3, 1, 3], object), [1, 3]),
        (pd.Series([3, 1, 3], dtype="Int64"), [1, 3]),
        ([True, False, True], [False, True]),
        (pd.Series([True, False, True], dtype="boolean"), [False, True]),
        (pd.Series([True, False, True], dtype=object), [False, True]),
        (pl.Series([True, False, True]), [False, True]),
    ],
)
def test_numbers_and_truth_are_labels_too(y: Any, classes: list[Any]) -> None:
    found, codes = check_classes(y, "Learner")
    assert [(type(v), v) for v in found.tolist()] == [(type(v), v) for v in classes]
    assert codes.tolist() == [1, 0, 1]


@given(st.lists(st.sampled_from(["a", "B", "", "zz", "ä"]), min_size=1, max_size=20))
def test_codes_point_to_the_labels(y: list[str]) -> None:
    classes, codes = check_classes(y, "Learner")
    assert classes.tolist() == sorted(set(y))
    assert classes[codes].tolist() == y


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            ["a", 1],
            r"y mixes text \('a' at row 0\) and numbers \(1 at row 1\)\. Convert all",
        ),
        ([1, "a"], r"y mixes numbers \(1 at row 0\) and text \('a' at row 1\)"),
        (np.array([True, 2], object), r"y mixes true/false \(True at row 0\) and numbers"),
        (["a", NAN], r"Input y contains NaN.*'y' \(1, first at row 1\)"),
        (["a", None], r"'y' \(1, first at row 1\)"),
        ([1.0, NAN], r"'y' \(1, first at row 1\)"),
        (pd.Series([True, None], dtype="boolean"), r"'y' \(1, first at row 1\)"),
        (pl.Series(["a", None]), r"'y' \(1, first at row 1\)"),
        (pa.array(["a", None]), r"'y' \(1, first at row 1\)"),
        (np.ma.masked_array(["a", "b"], mask=[True, False]), r"'y' \(1, first at row 0\)"),
        ([0.5, 1.5], "Unknown label type: continuous"),
        ([["a", "b"], ["c", "d"]], r"y should be a 1d array"),
        ("spam", "y should be a 1d array"),
    ],
)
def test_impossible_labels_are_named(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_classes(y, "Learner")


def test_a_column_of_labels_is_flattened_with_scikit_learns_warning() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        assert check_classes([["b"], ["a"]], "Learner")[1].tolist() == [1, 0]


# --- Weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weight",
    [
        [1, 2, 0.5],
        np.array([1, 2, 0.5], np.float32),
        pd.Series([1, 2, 0.5], index=[5, 6, 7]),
        pd.Series([1, 2, 0.5], dtype="Float64"),
        pl.Series([1.0, 2.0, 0.5]),
        pa.array([1, 2, 0.5]),
        [Decimal(1), 2, 0.5],
    ],
)
def test_weights_of_every_container(weight: Any) -> None:
    found = check(rows(3), Y, weight).weight
    assert found is not None
    assert found.tolist() == [1, 2, 0.5]
    assert found.dtype == np.float64


def test_one_weight_is_for_all_rows_and_none_for_no_weights() -> None:
    assert check(rows(2), None, 3).weight.tolist() == [3.0, 3.0]  # type: ignore[union-attr]
    assert check(rows(2), None, 1e150).weight.tolist() == [1e150, 1e150]  # type: ignore[union-attr]
    assert check(rows(2)).weight is None


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -2, -3], r"Negative values in sample_weight: -2\.0 at row 1, 2 such in all"),
        ([1, 2, NAN], r"No number in sample_weight: nan at row 2, 1 such in all.*finite numbers"),
        ([1, INF, 2], r"sample_weight: inf at row 1"),
        (-INF, r"Negative values in sample_weight: -inf at row 0"),
        (NAN, r"sample_weight: nan at row 0"),
        ([1, None, 2], r"sample_weight: nan at row 1"),
        (pd.Series([1, pd.NA, 2], dtype="Int64"), r"sample_weight: nan at row 1"),
        (pl.Series([1, None, 2]), r"sample_weight: nan at row 1"),
        (np.ma.masked_array([1, 2, 3], mask=[0, 1, 0]), r"sample_weight: nan at row 1"),
        ([0, 0, 0], r"All 3 weights are zero.*at least one row a positive weight"),
        ([1, 2], r"sample_weight has shape \(2,\), but X has 3 rows"),
        ([[1], [2], [3]], r"sample_weight has shape \(3, 1\), but X has 3 rows"),
        (["a", "b", "c"], r"sample_weight holds .*'a'.*which is no number"),
        ([1, 2, "c"], r"sample_weight holds .*no number"),
        ([1, 1.5e308, 1e308], r"reach 1.5e\+308 at row 1, .*Divide all weights by a power of ten"),
        ([1j, 2, 3], r"sample_weight holds .*no number"),
    ],
)
def test_impossible_weights_are_named(weight: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check(rows(3), Y, weight)


def same(a: Sample, b: Sample) -> None:
    assert a.schema == b.schema
    np.testing.assert_array_equal(a.numeric, b.numeric)
    np.testing.assert_array_equal(a.codes, b.codes)
    np.testing.assert_array_equal(a.target, b.target)
    np.testing.assert_array_equal(a.weight, b.weight)
    assert a.classes is b.classes is None or a.classes.tolist() == b.classes.tolist()  # type: ignore[union-attr]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c"]),
            st.sampled_from(["u", "v", "w"]),
            st.floats(-9, 9),
            st.sampled_from([0.0, 0.0, 1.0, 2.5]),
        ),
        min_size=1,
        max_size=8,
    ).filter(lambda table: any(row[3] for row in table))
)
def test_a_row_of_weight_zero_is_absent(table: list[tuple[str, str, float, float]]) -> None:
    def sample(part: list[tuple[str, str, float, float]]) -> Sample:
        text, label, number, weight = zip(*part, strict=True)
        frame = pd.DataFrame(
            {
                "plain": list(text),
                "declared": pd.Categorical(text, ["z", "a", "b", "c"]),
                "ordered": pd.Categorical(text, ["c", "b", "a"], ordered=True),
                "x": number,
            }
        )
        return check(frame, list(label), weight, target="classes")

    same(sample(table), sample([row for row in table if row[3] > 0]))


def test_levels_of_a_given_schema_stay_whatever_the_weights() -> None:
    schema = Schema((Column("c", Kind.NOMINAL, ("a", "b", "c")),))
    sample = check([["a"], ["c"]], None, [0, 1], schema=schema)
    assert sample.schema == schema
    assert sample.codes.tolist() == [[2]]


def test_sparse_rows_of_weight_zero_are_absent() -> None:
    sample = check(sparse.csr_array(np.eye(3)), Y, [1, 0, 2], accept_sparse=True)
    np.testing.assert_array_equal(sample.numeric.toarray(), np.eye(3)[[0, 2]])
    assert sample.target.tolist() == [1.0, -3.0]


# --- Samples --------------------------------------------------------------------------------------


def test_rows_of_a_sample() -> None:
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": ["a", "b", "a"]})
    sample = check(X, Y, [1, 2, 3])
    part = sample.rows(np.array([2, 0]))
    assert (part.n_rows, part.is_sparse) == (2, False)
    assert part.numeric.ravel().tolist() == [3, 1]
    assert part.codes.ravel().tolist() == [0, 0]
    assert part.target.tolist() == [-3, 1]
    assert part.weight.tolist() == [3, 1]  # type: ignore[union-attr]
    assert part.weights is part.weight
    assert replace(part, weight=None).weights.tolist() == [1, 1]
    assert part.targets.tolist() == [[-3], [1]]
    several = np.arange(4.0).reshape(2, 2)
    assert replace(part, target=several).targets is several
    assert sample.rows(slice(1, 2)).schema == sample.schema
    assert check(sparse.csr_array(np.eye(3)), accept_sparse=True).is_sparse


# --- Prediction -----------------------------------------------------------------------------------


def fitted(X: Any, chosen: Any = "auto") -> LinearRegression:
    return LinearRegression(categorical_features=chosen).fit(X, np.arange(float(len(X))))


def test_rows_to_predict_are_read_by_the_schema_of_the_fit() -> None:
    model = fitted(pd.DataFrame({"c": ["b", "a", "b"], "x": [1.0, 2.0, 4.0]}))
    new = pl.DataFrame({"c": ["new", "b"], "x": [1, 2]})
    sample = check_features(model, new, tell_unseen=False)
    assert sample.codes.ravel().tolist() == [UNSEEN, 1]
    with pytest.warns(UnseenLevelWarning, match=r"Column 'c' has 1 cells .* first at row 0\."):
        check_features(model, new)
    assert sample.schema == model.schema_
    with pytest.warns(UnseenLevelWarning, match="Column 'c' has 1 cells .* first at row 0"):
        model.predict(new)
    with pytest.raises(MissingValuesError, match=r"'c' \(1, first at row 0\)"):
        check_features(model, pl.DataFrame({"c": [None, "b"], "x": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="feature names should match those"):
        check_features(model, pd.DataFrame({"x": [1.0], "c": ["a"]}))


def test_plain_arrays_take_the_short_way_and_get_the_same_checks() -> None:
    model = fitted(np.arange(6.0).reshape(3, 2))
    X = np.array([[1.0, 2.0]])
    assert check_features(model, X).numeric is X
    np.testing.assert_array_equal(check_features(model, np.asfortranarray(X)).numeric, X)
    np.testing.assert_array_equal(check_features(model, X.astype(np.float32)).numeric, X)
    with pytest.raises(InputError, match="column 'x1' has inf at row 0"):
        check_features(model, np.array([[1.0, INF]]))
    with pytest.raises(MissingValuesError, match=r"'x0' \(1, first at row 0\)"):
        check_features(model, np.array([[NAN, 1.0]]))
    with pytest.raises(ValueError, match="X has 3 features, but LinearRegression is expecting 2"):
        check_features(model, np.ones((1, 3)))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        check_features(model, np.empty((0, 2)))
    with pytest.raises(ValueError, match="Expected 2D array"):
        check_features(model, np.ones(2))


def test_a_model_of_named_columns_warns_about_arrays_without_names() -> None:
    model = fitted(pd.DataFrame({"x": [1.0, 2.0, 4.0]}))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        check_features(model, np.ones((1, 1)))


@pytest.mark.parametrize(
    "X",
    [
        np.asfortranarray(np.arange(12.0).reshape(6, 2)),
        np.arange(24.0).reshape(6, 4)[:, ::2],
        np.arange(12).reshape(6, 2).astype(np.int16),
    ],
)
def test_layout_and_width_of_numbers_do_not_matter(X: Any) -> None:
    plain = np.ascontiguousarray(X, np.float64)
    X.flags.writeable = False
    np.testing.assert_array_equal(fitted(X).predict(X), fitted(plain).predict(plain))


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [["a", 1.0]], pd.DataFrame({"a": ["u"]})])
def test_one_row_is_a_sample(X: Any) -> None:
    assert check(X, [1.0]).n_rows == 1


def test_weights_among_arguments_are_checked_and_none_is_no_weight() -> None:
    assert with_checked_weight({"sample_weight": None, "other": 3}, 2) == {"other": 3}
    assert with_checked_weight({"sample_weight": 2.0}, 2)["sample_weight"].tolist() == [2.0, 2.0]
    with pytest.raises(InputError, match=r"sample_weight has shape \(1,\), but X has 2 rows"):
        with_checked_weight({"sample_weight": [1.0]}, 2)
