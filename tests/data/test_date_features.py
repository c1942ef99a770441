"""DateFeatures: the calendar by Python's own, containers, odd cells, files and the contracts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError
from novum.core.files import load, save
from novum.core.learners import Case, Check
from novum.core.learners.contracts import (
    check_failed_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.data import DateFeatures

DAYS = [dt.date(2023, 12, 31), dt.date(2024, 2, 29), dt.date(2024, 3, 1), dt.date(2025, 7, 14)]


@parametrize_with_checks([DateFeatures(), DateFeatures(cyclic=True)], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# A missing target is no reason to fail, since none is used.
CONTRACT = [check for check in estimator_checks() if check is not check_failed_fit_changes_nothing]


@pytest.mark.parametrize("check", CONTRACT, ids=check_name)
def test_contract(check: Check) -> None:
    rng = np.random.default_rng(0)
    days = np.datetime64("2020-01-01") + rng.integers(0, 900, 40)
    check(Case(DateFeatures(), pd.DataFrame({"day": days.astype("M8[s]"), "x": rng.random(40)})))


# --- The calendar ---------------------------------------------------------------------------------


def features_of(cells: Any, **settings: Any) -> dict[str, list[Any]]:
    table = pa.table({"d": cells})
    found: dict[str, list[Any]] = DateFeatures(["d"], **settings).fit_transform(table).to_pydict()
    return found


def test_the_calendar_is_that_of_python() -> None:
    found = features_of(pa.array(DAYS))
    assert found["d_year"] == [day.year for day in DAYS]
    assert found["d_month"] == [day.month for day in DAYS]
    assert found["d_day"] == [day.day for day in DAYS]
    assert found["d_weekday"] == [day.weekday() for day in DAYS]
    assert found["d_day_of_year"] == [day.timetuple().tm_yday for day in DAYS]
    assert found["d_elapsed_days"] == [(day - DAYS[0]).days for day in DAYS]
    assert "d_hour" not in found


@given(st.lists(st.datetimes(dt.datetime(1800, 1, 1), dt.datetime(2200, 1, 1)), min_size=1))
def test_any_moment_reads_back(moments: list[dt.datetime]) -> None:
    # Two fixed rows make every feature vary.
    anchors = [dt.datetime(1799, 1, 1, 0, 0), dt.datetime(2201, 12, 30, 23, 59)]
    model = DateFeatures().fit(pa.table({"d": pa.array(anchors, pa.timestamp("us"))}))
    cells = pa.array(moments, pa.timestamp("us"))
    found = model.transform(pa.table({"d": cells})).to_pydict()
    for i, moment in enumerate(moments):
        shown = [found[f"d_{part}"][i] for part in ("year", "month", "day", "hour", "minute")]
        assert shown == [moment.year, moment.month, moment.day, moment.hour, moment.minute]
        assert found["d_weekday"][i] == moment.weekday()
        since = (moment - anchors[0]) / dt.timedelta(days=1)
        assert found["d_elapsed_days"][i] == pytest.approx(since, abs=1e-6)


def test_circles_close() -> None:
    found = features_of(pa.array([dt.date(2024, 1, 1), dt.date(2024, 7, 1)]), cyclic=True)
    assert found["d_month_cos"] == pytest.approx([1.0, -1.0])
    assert found["d_month_sin"] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert "d_month" not in found
    hours = features_of(["2024-01-01 00:00", "2024-01-01 18:00"], cyclic=True)
    assert hours["d_hour_sin"] == pytest.approx([0.0, -1.0])
    assert "d_minute" not in hours


def test_a_zone_has_its_own_clock_and_the_same_time() -> None:
    moments = [dt.datetime(2024, 1, 1, 23, 30), dt.datetime(2024, 1, 2, 12, 0)]
    zoned = pa.array(moments, pa.timestamp("us", tz="UTC")).cast(pa.timestamp("us", "Asia/Tokyo"))
    found = features_of(zoned)
    assert found["d_hour"] == [8, 21]
    assert found["d_elapsed_days"] == pytest.approx([0.0, 12.5 / 24])


def test_times_alone_have_no_calendar() -> None:
    found = features_of(pa.array([dt.time(5, 30), dt.time(17, 45), None]))
    assert found == {"d_hour": [5, 17, None], "d_minute": [30, 45, None]}


# --- Text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["2024-02-29", "2024-3-1"], [29, 1]),
        (["29.2.2024", "1.3.2024"], [29, 1]),
        (["2/29/2024", "3/1/24"], [29, 1]),
        (["29/02/2024", "1/3/24"], [29, 1]),
        (["20240229", "20240301"], [29, 1]),
        (["2024-02-29T10:00:00Z", "2024/03/01 10:00"], [29, 1]),
    ],
)
def test_text_is_read_as_written(texts: list[str], days: list[int]) -> None:
    found = features_of(texts)
    assert found["d_day"] == days
    assert found["d_month"] == [2, 3]


def test_what_training_found_holds_for_new_rows() -> None:
    model = DateFeatures(["d"]).fit(pa.table({"d": ["31/12/2023", "01/02/2024"]}))
    assert model.transform(pa.table({"d": ["03/04/2024"]})).column("d_month").to_pylist() == [4]
    said = DateFeatures(["d"], day_first=True)
    doubtful = pa.table({"d": ["03/04/2024", "05/06/2024"]})
    assert said.fit_transform(doubtful).column("d_month").to_pylist() == [4, 6]
    assert DateFeatures(["d"], day_first=[]).fit_transform(doubtful).column(
        "d_month"
    ).to_pylist() == [3, 5]


def test_a_batch_without_times_has_midnight() -> None:
    model = DateFeatures(["d"]).fit(pa.table({"d": ["2024-01-01 10:30", "2024-01-02 11:45"]}))
    assert model.transform(pa.table({"d": ["2024-01-05"]})).column("d_hour").to_pylist() == [0.0]


# --- Containers and odd input ---------------------------------------------------------------------


def test_frames_stay_frames_and_columns_keep_their_order() -> None:
    frame = pd.DataFrame({"a": [1, 2], "day": pd.to_datetime(DAYS[:2]), "b": ["u", "v"]}, [7, 9])
    out = DateFeatures().fit_transform(frame)
    assert out.columns.tolist()[:3] == ["a", "b", "day_year"]
    assert out.index.tolist() == [7, 9]
    assert out["b"].tolist() == ["u", "v"]
    as_polars = DateFeatures().fit_transform(pl.from_pandas(frame))
    assert isinstance(as_polars, pl.DataFrame)
    assert as_polars.columns == out.columns.tolist()
    names = DateFeatures().fit(frame).get_feature_names_out().tolist()
    assert names == out.columns.tolist()
    arrow = (
        DateFeatures()
        .set_output(transform="pandas")
        .fit_transform(pa.table(frame.reset_index(drop=True)))
    )
    assert isinstance(arrow, pd.DataFrame)


def test_arrays() -> None:
    moments = np.array([["2020-01-01"], ["2021-01-03"]], "M8[D]")
    assert DateFeatures().fit_transform(moments)[:, -1].tolist() == [0.0, 368.0]
    cells = DateFeatures([1]).fit_transform([["a", "2020-01-01"], ["b", "2021-01-01"]])
    assert cells[:, 0].tolist() == ["a", "b"]
    numbers = np.ones((3, 2))
    assert DateFeatures().fit_transform(numbers) is numbers


def test_constants_and_missing_dates() -> None:
    found = features_of(["2024-01-01", None, "2024-01-01"])
    assert found == {}
    empty = DateFeatures(["d"]).fit(
        pa.table({"d": pa.array([None, None], pa.string()), "x": [1, 2]})
    )
    assert empty.get_feature_names_out().tolist() == ["x"]
    later = DateFeatures(["d"]).fit(pa.table({"d": ["2024-01-01", "2024-02-03"]}))
    gone = later.transform(pa.table({"d": pa.array([None], pa.string())})).to_pydict()
    assert all(cells == [None] for cells in gone.values())


def test_columns_that_are_left_out() -> None:
    table = pa.table({"d": ["2024-01-01", "2024-02-03"], "text": ["u v w", "x y z"], "x": [1, 2]})
    model = DateFeatures(["d"], leave_out=["text"]).fit(table)
    assert model.transform(table).column_names[:2] == ["x", "d_month"]
    assert model.schema_.columns[1].levels == ()


def test_rows_of_weight_zero_are_absent() -> None:
    table = pa.table({"d": ["1990-01-01", "2024-01-01", "2024-02-03"]})
    weighted = DateFeatures(["d"]).fit(table, sample_weight=[0.0, 1.0, 2.0])
    alone = DateFeatures(["d"]).fit(table.slice(1))
    assert weighted.first_.tolist() == alone.first_.tolist()


@pytest.mark.parametrize(
    ("table", "columns", "message"),
    [
        ({"d": ["2024-01-01", "tomorrow"]}, ["d"], "'tomorrow' at row 1, which is no date"),
        ({"d": ["2023-02-29", None]}, ["d"], "'2023-02-29' at row 0"),
        ({"d": ["2024-01-01 25:00", None]}, ["d"], "which is no date"),
        ({"d": [1.5, 2.5]}, ["d"], "holds double, which are no dates"),
        ({"d": ["2024-01-01"]}, ["e"], "`columns` names 'e'"),
        (
            {"d": ["2024-01-01", "2025-01-01"], "d_year": [1, 2]},
            ["d"],
            "a column 'd_year' already",
        ),
    ],
)
def test_odd_input_says_what_is_wrong(table: Any, columns: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        DateFeatures(columns).fit(pa.table(table))


def test_files_keep_features(tmp_path: Path) -> None:
    table = pa.table({"d": ["31.12.2023", "1.2.2024 18:30", None], "c": ["u", "v", "u"]})
    model = DateFeatures(["d"], cyclic=True).fit(table)
    save(model, tmp_path / "dates.novum")
    again = load(tmp_path / "dates.novum")
    assert again.transform(table).equals(model.transform(table))
