"""What all scalings share: the checks of scikit-learn, the contracts, kinds, containers, files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, ModelFileError
from novum.core.files import load, save
from novum.core.learners import Case, Check
from novum.core.learners.contracts import (
    check_failed_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.core.sums.contracts import (
    check_exact_folds,
    check_exact_leave_one_out,
    statistics_checks,
)
from novum.data.scaling import (
    CenterThenUnitLength,
    Gaussianizer,
    MinMaxScaler,
    StandardScaler,
    Whitener,
)
from novum.numerics import Floats
from tests.data.scaling.tables import (
    SCALINGS,
    all_registered,
    mixed_frame,
    normal_table,
    repeated,
    small_tables,
)

COLUMN_BY_COLUMN = [StandardScaler(), MinMaxScaler(), Gaussianizer(), CenterThenUnitLength()]
INVERTIBLE = [StandardScaler(), MinMaxScaler((-3, 2)), Gaussianizer(), Whitener()]


# --- scikit-learn's checks and the contracts ------------------------------------------------------


@pytest.mark.filterwarnings("ignore::novum.data.scaling.SingularScatterWarning")
@parametrize_with_checks([*SCALINGS, StandardScaler(categorical_features="all")], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# A scaling ignores targets, so a missing one is no reason to fail; see the test of failed fits.
CONTRACT = [check for check in estimator_checks() if check is not check_failed_fit_changes_nothing]


@pytest.mark.parametrize("check", CONTRACT, ids=check_name)
@pytest.mark.parametrize("model", SCALINGS, ids=repr)
def test_contract(model: Any, check: Check) -> None:
    with all_registered():
        check(Case(model, *normal_table()))


# A scaling predicts nothing, so there are no predictions to cross-validate.
SUMS = [
    check
    for check in statistics_checks()
    if check not in (check_exact_folds, check_exact_leave_one_out)
]


@pytest.mark.parametrize("check", SUMS, ids=check_name)
@pytest.mark.parametrize("model", SCALINGS, ids=repr)
def test_contract_of_sums(model: Any, check: Check) -> None:
    check(Case(model, *normal_table()))


@pytest.mark.parametrize("check", SUMS, ids=check_name)
@pytest.mark.parametrize("model", COLUMN_BY_COLUMN, ids=repr)
def test_contract_of_sums_with_missing_cells(model: Any, check: Check) -> None:
    X, y = normal_table()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    check(Case(_FilledIn(model), X, y))


class _FilledIn:
    """A scaling whose missing results are a number, because NaN differs from itself."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        return {"model": self.model}

    def __sklearn_clone__(self) -> _FilledIn:
        return _FilledIn(clone(self.model))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def fit(self, *args: Any) -> _FilledIn:
        self.model.fit(*args)
        return self

    def fit_statistics(self, statistics: Any) -> _FilledIn:
        self.model.fit_statistics(statistics)
        return self

    def fit_stream(self, chunks: Any) -> _FilledIn:
        self.model.fit_stream(chunks)
        return self

    def fit_file(self, path: Any, **options: Any) -> _FilledIn:
        self.model.fit_file(path, **options)
        return self

    def forget(self, *args: Any) -> _FilledIn:
        self.model.forget(*args)
        return self

    def transform(self, X: Any) -> Floats:
        return np.nan_to_num(np.asarray(self.model.transform(X)), nan=-77.0)


# --- Properties -----------------------------------------------------------------------------------


@given(small_tables(), st.data())
@pytest.mark.parametrize("model", COLUMN_BY_COLUMN, ids=repr)
def test_weights_are_repetitions(model: Any, X: Floats, data: st.DataObject) -> None:
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))))
    if not counts.any():
        return
    rows = repeated(X, counts)
    weighted = clone(model).fit(X, sample_weight=counts.astype(float))
    same = clone(model).fit(rows)
    assert weighted.statistics_.isclose(same.statistics_)
    if hasattr(model, "inverse_transform"):
        # Where it has none, the direction of a row at the mean is what rounding makes of it.
        np.testing.assert_allclose(weighted.transform(rows), same.transform(rows), atol=1e-12)


@given(small_tables(), small_tables())
@pytest.mark.parametrize("model", COLUMN_BY_COLUMN, ids=repr)
def test_parts_make_the_whole_and_come_off(model: Any, A: Floats, B: Floats) -> None:
    whole = np.concatenate([A, B])
    merged = clone(model).fit(A).partial_fit(B)
    expected = clone(model).fit(whole)
    assert merged.statistics_.isclose(expected.statistics_)
    if hasattr(model, "inverse_transform"):
        np.testing.assert_allclose(merged.transform(whole), expected.transform(whole), atol=1e-12)
    left, alone = merged.forget(B), clone(model).fit(A)
    if hasattr(model, "inverse_transform"):
        np.testing.assert_allclose(left.transform(A), alone.transform(A), atol=1e-12)
    else:
        # The direction of a row at the mean is what rounding makes of it.
        np.testing.assert_allclose(left.mean_, alone.mean_, atol=1e-15)


@given(small_tables())
@pytest.mark.parametrize("model", INVERTIBLE[:3], ids=repr)
def test_going_back_undoes_going_forth(model: Any, X: Floats) -> None:
    fitted = clone(model).fit(X)
    np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(X)), X, atol=1e-12)


@given(small_tables())
@pytest.mark.parametrize("model", COLUMN_BY_COLUMN, ids=repr)
def test_missing_stays_missing_and_nothing_else_becomes_it(model: Any, X: Floats) -> None:
    found = clone(model).fit_transform(X)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(X))


# --- Kinds and containers -------------------------------------------------------------------------


@pytest.mark.parametrize("model", [*COLUMN_BY_COLUMN, Whitener()], ids=repr)
def test_frames_keep_library_order_index_and_other_columns(model: Any) -> None:
    frame = mixed_frame()
    numbers = frame[["width", "height"]].to_numpy(float)
    expected = clone(model).fit_transform(numbers)
    found = clone(model).fit(frame).transform(frame)
    assert isinstance(found, pd.DataFrame)
    assert found.columns.tolist() == frame.columns.tolist()
    pd.testing.assert_index_equal(found.index, frame.index)
    pd.testing.assert_frame_equal(found[["color", "size"]], frame[["color", "size"]])
    np.testing.assert_allclose(found[["width", "height"]].to_numpy(), expected)
    back = clone(model).fit(frame)
    if hasattr(back, "inverse_transform"):
        undone = back.inverse_transform(found)
        np.testing.assert_allclose(undone[["width", "height"]].to_numpy(), numbers, atol=1e-9)


@pytest.mark.parametrize("library", ["polars", "arrow", "batch"])
def test_other_libraries_have_null_for_missing(library: str) -> None:
    columns = {"a": [1.0, None, 3.0], "b": ["x", "y", None]}
    table = pa.table(columns)
    X: Any = {"polars": pl.DataFrame(columns), "arrow": table, "batch": table.to_batches()[0]}
    found = StandardScaler().fit(X[library]).transform(X[library])
    assert isinstance(found, pl.DataFrame if library == "polars" else pa.Table)
    rows = found.to_dicts() if library == "polars" else found.to_pylist()
    assert [row["a"] for row in rows] == [-1.0, None, 1.0]
    assert [row["b"] for row in rows] == ["x", "y", None]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_is_honored(library: str) -> None:
    wanted = pd.DataFrame if library == "pandas" else pl.DataFrame
    frames: list[Any] = [mixed_frame(), pl.from_pandas(mixed_frame())]
    for frame in frames:
        model = StandardScaler().set_output(transform=library).fit(frame)
        found = model.transform(frame)
        assert isinstance(found, wanted)
        assert list(found.columns) == ["width", "color", "size", "height"]
    rows: Any = [[1.0, "a"], [3.0, "b"]]
    found = StandardScaler().set_output(transform=library).fit(rows).transform(rows)
    assert isinstance(found, wanted)
    assert list(found.columns) == ["x0", "x1"]
    np.testing.assert_allclose(np.asarray(found["x0"], float), [-1.0, 1.0])
    assert list(found["x1"]) == ["a", "b"]
    plain = StandardScaler().set_output(transform=library).fit_transform(np.eye(2))
    assert isinstance(plain, wanted)


def test_arrays_of_objects_keep_what_is_not_a_number() -> None:
    X = np.array([[1.0, "a", True], [3.0, "b", False], [None, None, True]], object)
    found = StandardScaler().fit_transform(X)
    assert found.dtype == object
    assert found[:2].tolist() == [[-1.0, "a", True], [1.0, "b", False]]
    assert np.isnan(found[2, 0])
    assert found[2, 1] is None


def test_columns_can_be_named_nominal_and_lists_of_names_are_no_matter() -> None:
    X = np.array([[1.0, 7.0], [3.0, 8.0]])
    found = MinMaxScaler(categorical_features=[1]).fit_transform(X)
    assert found.tolist() == [[0.0, 7.0], [1.0, 8.0]]
    frame = pd.DataFrame({0: [1.0, 3.0], 1: [2.0, 2.0]})
    assert MinMaxScaler().fit_transform(frame).to_numpy().tolist() == [[0.0, 0.0], [1.0, 0.0]]


def test_unseen_levels_pass_through() -> None:
    model = StandardScaler().fit([[1.0, "a"], [3.0, "b"]])
    assert model.transform([[2.0, "new"]]).tolist() == [[0.0, "new"]]
    assert model.get_feature_names_out().tolist() == ["x0", "x1"]


def test_masked_cells_are_missing() -> None:
    X = np.ma.masked_array([[1.0], [99.0], [3.0]], mask=[[False], [True], [False]])
    found = StandardScaler().fit(X).transform(X)
    np.testing.assert_array_equal(found, [[-1.0], [np.nan], [1.0]])


def test_pipelines_and_names() -> None:
    frame = mixed_frame()
    line = make_pipeline(StandardScaler(), MinMaxScaler()).fit(frame)
    assert line.get_feature_names_out().tolist() == ["width", "color", "size", "height"]
    assert line.transform(frame)["width"].min() == 0.0


# --- Nasty input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", SCALINGS, ids=repr)
def test_infinite_cells_are_named_and_change_nothing(model: Any) -> None:
    X, y = normal_table()
    fitted = clone(model).fit(X, y)
    before = fitted.transform(X)
    broken = X.copy()
    broken[3, 1] = -np.inf
    with pytest.raises(InputError, match=r"infinity: column 'x1' has -inf at row 3"):
        fitted.fit(broken, y)
    with pytest.raises(InputError, match=r"infinity: column 'x1' has -inf at row 3"):
        fitted.transform(broken)
    assert fitted.transform(X).tobytes() == before.tobytes()


@pytest.mark.parametrize("model", COLUMN_BY_COLUMN, ids=repr)
def test_a_column_without_known_cells_has_no_scale(model: Any) -> None:
    X = np.array([[1.0, np.nan], [3.0, np.nan]])
    fitted = clone(model).fit(X)
    assert np.isnan(fitted.transform(X)[:, 1]).all()
    assert np.isfinite(fitted.transform(X)[:, 0]).all()
    assert fitted.certificate_.details["unknown_columns"] == 1
    with pytest.raises(InputError, match=r"'x1' had no known cell in training.*row 0 has 5\.0"):
        fitted.transform([[1.0, 5.0]])


@pytest.mark.parametrize("model", COLUMN_BY_COLUMN, ids=repr)
def test_one_row_and_constant_columns_are_finite(model: Any) -> None:
    for X in (np.array([[4.0, -1e8]]), np.full((5, 2), 1e8)):
        found = clone(model).fit_transform(X)
        assert np.isfinite(found).all()
        assert np.abs(found).max() <= 1.0


@pytest.mark.parametrize("model", [StandardScaler(), Whitener(), Gaussianizer()], ids=repr)
def test_an_offset_of_1e8_costs_no_more_than_the_digits_of_the_cells(model: Any) -> None:
    X, _ = normal_table(400)
    # Multiples of 2^-10 are exact beside 1e8, so nothing is lost in the table itself.
    X = np.round(X * 1024) / 1024
    far = clone(model).fit_transform(X + 1e8)
    # Means at 1e8 are known to 1e-8, a few 1e-9 of the spread.
    np.testing.assert_allclose(far, clone(model).fit_transform(X), atol=1e-7)


def test_unfitted_and_empty() -> None:
    with pytest.raises(NotFittedError):
        StandardScaler().transform([[1.0]])
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        StandardScaler().fit(np.empty((0, 2)))
    with pytest.raises(ValueError, match="unseen at fit time:\n- b"):
        StandardScaler().fit(pd.DataFrame({"a": [1.0]})).transform(pd.DataFrame({"b": [1.0]}))


# --- Files ----------------------------------------------------------------------------------------


def test_files_need_no_target(tmp_path: Path) -> None:
    frame = mixed_frame().reset_index(drop=True)
    path = tmp_path / "table.parquet"
    weight = np.random.default_rng(0).integers(0, 3, len(frame)).astype(float)
    pq.write_table(pa.Table.from_pandas(frame.assign(weight=weight)), path, row_group_size=16)
    model = StandardScaler().fit_file(path, weight="weight", chunk_rows=7)
    expected = StandardScaler().fit(frame, sample_weight=weight)
    np.testing.assert_allclose(model.mean_, expected.mean_, rtol=1e-12)
    np.testing.assert_allclose(model.scale_, expected.scale_, rtol=1e-12)
    some = StandardScaler().fit_file(path, features=["height", "width"])
    assert some.schema_.names == ("height", "width")
    np.testing.assert_allclose(some.mean_, StandardScaler().fit(frame).mean_[::-1], rtol=1e-12)
    with pytest.raises(InputError, match="no column 'mass' to be the weight"):
        StandardScaler().fit_file(path, weight="mass")


def test_damaged_models_are_refused(tmp_path: Path) -> None:
    model = StandardScaler().fit(normal_table()[0])
    model.mean_ = model.mean_[:2]
    with all_registered():
        save(model, tmp_path / "model.novum")
        with pytest.raises(ModelFileError, match="numeric columns"):
            load(tmp_path / "model.novum")


@pytest.mark.parametrize("change", [lambda s: s[:-1], lambda s: s + 0j])
def test_a_scale_of_a_file_fits_its_columns(change: Any, tmp_path: Path) -> None:
    model = StandardScaler().fit([[1.0, 2.0], [3.0, 5.0]])
    model.scale_ = change(model.scale_)
    save(model, tmp_path / "model.novum")
    with pytest.raises(ModelFileError, match="numeric columns"):
        load(tmp_path / "model.novum")
