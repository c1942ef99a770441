"""FillMissing: another implementation, the checks and contracts, containers, kinds and files."""

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
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
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
from novum.core.tables import missing_mask
from novum.data.filling import FillMissing
from novum.data.scaling import StandardScaler
from novum.linear import LinearRegression
from tests.data.filling.tables import FILLINGS, holed_frame, holed_table

# --- scikit-learn's checks and the contracts ------------------------------------------------------


@parametrize_with_checks([*FILLINGS, FillMissing(categorical_features="all")], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# Filling ignores targets, so a missing one is no reason to fail; see the test of infinite cells.
CONTRACT = [check for check in estimator_checks() if check is not check_failed_fit_changes_nothing]
# Nothing is predicted, so there are no predictions to cross-validate.
SUMS = [
    check
    for check in statistics_checks()
    if check not in (check_exact_folds, check_exact_leave_one_out)
]


@pytest.mark.parametrize("check", CONTRACT, ids=check_name)
@pytest.mark.parametrize("model", FILLINGS, ids=repr)
def test_contract(model: Any, check: Check) -> None:
    check(Case(model, *holed_table()))


@pytest.mark.parametrize("check", SUMS, ids=check_name)
@pytest.mark.parametrize("model", FILLINGS, ids=repr)
def test_contract_of_sums(model: Any, check: Check) -> None:
    check(Case(model, *holed_table()))


# --- Values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["mean", "median", "constant"])
def test_numbers_agree_with_another_implementation(way: str) -> None:
    X, _ = holed_table()
    ours = FillMissing(way, fill_value=7.5).fit(X)
    theirs = SimpleImputer(strategy=way, fill_value=7.5, add_indicator=True).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-14)
    fresh, _ = holed_table(seed=5)
    np.testing.assert_allclose(ours.transform(fresh), theirs.transform(fresh), rtol=1e-14)
    assert ours.filled_.tolist() == np.isnan(X).sum(axis=0).tolist()
    assert ours.count_missing(fresh).tolist() == np.isnan(fresh).sum(axis=0).tolist()
    assert ours.certificate_.value == np.isnan(X).sum()


def test_most_frequent_levels_agree_with_another_implementation() -> None:
    X = np.array([["b"], ["a"], [None], ["a"], ["b"], ["c"], [None]], object)
    ours = FillMissing(nominal="most_frequent", indicators=False).fit(X)
    theirs = SimpleImputer(strategy="most_frequent", missing_values=None).fit(X)
    assert ours.transform(X).tolist() == theirs.transform(X).tolist()
    assert ours.fill_levels_ == ("a",)


def test_weights_count_repetitions() -> None:
    X = np.array([[1.0], [5.0], [9.0], [np.nan]])
    weight = np.array([2.0, 1.0, 0.0, 3.0])
    for way in ("mean", "median"):
        weighted = FillMissing(way).fit(X, sample_weight=weight)
        repeated = FillMissing(way).fit(np.repeat(X, weight.astype(int), axis=0))
        np.testing.assert_allclose(weighted.fill_numbers_, repeated.fill_numbers_)
        assert weighted.filled_.tolist() == repeated.filled_.tolist() == [3.0]


def test_each_kind_is_filled_in_its_own_way() -> None:
    frame = holed_frame()
    model = FillMissing().fit(frame)
    found = model.transform(frame)
    assert not missing_mask(found.to_numpy()).any()
    assert model.fill_levels_ == ("missing", "middle", "missing", True)
    added = ["width_is_missing", "size_is_missing", "truth_is_missing"]
    assert found.columns.tolist() == [*frame.columns, *added]
    assert found.columns.tolist() == model.get_feature_names_out().tolist()
    pd.testing.assert_index_equal(found.index, frame.index)
    for name in ("width", "size", "truth"):
        gone = frame[name].isna().to_numpy()
        assert found[f"{name}_is_missing"].tolist() == gone.astype(float).tolist()
    assert found["size"].cat.ordered
    assert found["color"].cat.categories.tolist() == ["blue", "red", "missing"]
    for name in frame.columns:
        known = frame[name].notna()
        assert found.loc[known, name].tolist() == frame.loc[known, name].tolist()


def test_the_input_is_not_changed() -> None:
    for frame in (holed_frame(), holed_frame().to_numpy(object)):
        before = frame.copy()
        FillMissing().fit(frame).transform(frame)
        same = before.equals(frame) if isinstance(frame, pd.DataFrame) else True
        assert same
        assert (
            missing_mask(np.asarray(frame, object)).sum()
            == missing_mask(np.asarray(before, object)).sum()
        )


def test_ordinal_levels_can_be_the_most_frequent() -> None:
    column = pd.Categorical(["low"] * 3 + ["mid"] * 2 + ["high"] * 2 + [None], ordered=True)
    column = column.set_categories(["low", "mid", "high"])
    frame = pd.DataFrame({"size": column})
    assert FillMissing().fit(frame).fill_levels_ == ("mid",)
    assert FillMissing(ordinal="most_frequent").fit(frame).fill_levels_ == ("low",)


def test_numbers_as_levels_get_a_number_as_level() -> None:
    X = np.array([[3.0, 1.0], [np.nan, 2.0], [5.0, np.nan]])
    model = FillMissing(categorical_features=[0]).fit(X)
    assert model.fill_levels_ == (2,)
    assert model.transform(X).tolist() == [[3, 1, 0], [2, 2, 0], [5, 1.5, 1]]


def test_a_level_of_the_same_name_is_not_joined() -> None:
    model = FillMissing().fit(np.array([["missing"], [None]], object))
    assert model.fill_levels_ == ("missing_2",)
    renamed = FillMissing(level="unknown").fit(np.array([["missing"], [None]], object))
    assert renamed.transform(np.array([[None]], object)).tolist() == [["unknown"]]


def test_columns_never_known_get_the_constant_and_are_counted() -> None:
    X = np.array([[np.nan, 1.0], [np.nan, 3.0]])
    model = FillMissing(fill_value=-4.0).fit(X)
    assert model.transform(X).tolist() == [[-4, 1, 1], [-4, 3, 1]]
    assert model.certificate_.details["unknown_columns"] == 1
    words = FillMissing(nominal="most_frequent").fit(
        pd.DataFrame({"a": pd.Categorical([None] * 2)})
    )
    assert words.fill_levels_ == ("missing",)


def test_columns_complete_in_training_are_filled_without_an_indicator() -> None:
    model = FillMissing().fit([[1.0, 1.0], [3.0, np.nan]])
    assert model.transform([[np.nan, np.nan]]).tolist() == [[2.0, 1.0, 1.0]]
    assert model.indicator_features_.tolist() == [1]
    assert model.count_missing([[np.nan, np.nan]]).tolist() == [1, 1]


def test_unseen_levels_pass_through() -> None:
    model = FillMissing().fit([["a", 1.0], [None, 2.0]])
    assert model.transform([["new", 3.0]]).tolist() == [["new", 3.0]]


# --- Containers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["polars", "arrow"])
def test_other_libraries_hold_the_same_cells(library: str) -> None:
    frame = holed_frame().reset_index(drop=True)
    expected = FillMissing().fit(frame).transform(frame)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    X = table
    if library == "polars":
        X = pl.from_arrow(table).with_columns(
            pl.col("size").cast(pl.String).cast(pl.Enum(["small", "middle", "large"]))
        )
    found = FillMissing().fit(X).transform(X)
    assert type(found) is type(X)
    rows = found.to_dicts() if library == "polars" else found.to_pylist()
    assert rows == expected.astype(object).to_dict("records")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_is_honored(library: str) -> None:
    wanted = pd.DataFrame if library == "pandas" else pl.DataFrame
    inputs: list[Any] = [holed_frame(), [[1.0, "a"], [np.nan, "b"]], holed_table()[0]]
    for X in inputs:
        model = FillMissing().set_output(transform=library).fit(X)
        found = model.transform(X)
        assert isinstance(found, wanted)
        assert list(found.columns) == model.get_feature_names_out().tolist()
        assert not missing_mask(np.asarray(found.to_numpy(), object)).any()


def test_pipelines_learn_from_filled_tables() -> None:
    X, y = holed_table()
    with pytest.raises(InputError, match="fill in the cells in a step before"):
        LinearRegression().fit(X, y)
    line = make_pipeline(FillMissing(), StandardScaler(), LinearRegression()).fit(X, y)
    assert line[:-1].get_feature_names_out().tolist()[3:] == [f"x{i}_is_missing" for i in range(3)]
    assert np.isfinite(line.predict(X)).all()


# --- Sums, files, damage --------------------------------------------------------------------------


def test_parts_of_every_kind_make_the_whole_and_come_off() -> None:
    frame = holed_frame()
    first, second = frame.iloc[:15], frame.iloc[15:]
    for model in (FillMissing(), FillMissing("median", "most_frequent")):
        whole = clone(model).fit(frame)
        merged = clone(model).fit(first).partial_fit(second)
        pd.testing.assert_frame_equal(merged.transform(frame), whole.transform(frame))
        left = merged.forget(second)
        pd.testing.assert_frame_equal(
            left.transform(first), clone(model).fit(first).transform(first)
        )
        assert left.filled_.tolist() == first.isna().sum().tolist()


def test_files_need_no_target(tmp_path: Path) -> None:
    frame = holed_frame().reset_index(drop=True)
    path = tmp_path / "table.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=16)
    found = FillMissing().fit_file(path, chunk_rows=7)
    expected = FillMissing().fit(frame)
    np.testing.assert_allclose(found.fill_numbers_, expected.fill_numbers_, rtol=1e-14)
    assert found.fill_levels_ == expected.fill_levels_
    assert found.filled_.tolist() == expected.filled_.tolist()


def test_saved_and_loaded_it_fills_alike(tmp_path: Path) -> None:
    frame = holed_frame()
    for model in FILLINGS:
        fitted = clone(model).fit(frame)
        save(fitted, tmp_path / "model.novum")
        again = load(tmp_path / "model.novum")
        pd.testing.assert_frame_equal(again.transform(frame), fitted.transform(frame))


def test_damaged_models_are_refused(tmp_path: Path) -> None:
    model = FillMissing().fit(holed_frame())
    model.indicator_features_ = np.array([77])
    save(model, tmp_path / "model.novum")
    with pytest.raises(ModelFileError, match="do not fit its columns"):
        load(tmp_path / "model.novum")


# --- Nasty input ----------------------------------------------------------------------------------


def test_infinite_cells_are_named_and_change_nothing() -> None:
    X, _ = holed_table()
    fitted = FillMissing().fit(X)
    before = fitted.transform(X)
    broken = np.nan_to_num(X)
    broken[3, 1] = np.inf
    with pytest.raises(InputError, match=r"infinity: column 'x1' has inf at row 3"):
        fitted.fit(broken)
    assert fitted.transform(X).tobytes() == before.tobytes()


def test_a_name_that_an_indicator_needs_is_refused() -> None:
    frame = pd.DataFrame({"a": [1.0, np.nan], "a_is_missing": [0.0, 1.0]})
    with pytest.raises(InputError, match=r"column 'a_is_missing' already.*Rename"):
        FillMissing().fit(frame)
    assert FillMissing(indicators=False).fit(frame).transform(frame)["a"].tolist() == [1.0, 1.0]


def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match="numeric"):
        FillMissing("mode").fit([[1.0]])
    with pytest.raises(ValueError, match="fill_value"):
        FillMissing(fill_value=np.nan).fit([[1.0]])
    with pytest.raises(NotFittedError):
        FillMissing().transform([[1.0]])
