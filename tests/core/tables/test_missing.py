"""Missing cells: one meaning in every container, and a refusal that says where and what to do."""

import datetime
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import MissingValuesError
from novum.core.tables import learners_for_missing, missing_mask, refuse_missing
from novum.core.tables.missing import is_missing

NAN, NAT = float("nan"), np.datetime64("NaT")
DAY = datetime.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        (np.array([1.0, np.nan, np.inf, -np.inf]), [1]),
        (np.array([1.0, np.nan], dtype=np.float16), [1]),
        (np.array([1 + 1j, complex(0, np.nan)]), [1]),
        (np.array([1, 2]), []),
        (np.array([True, False]), []),
        (np.array(["a", "", "nan", "None"]), []),
        (np.array([b"a", b"nan"]), []),
        (np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), [1]),
        (np.array([1, "NaT"], dtype="timedelta64[s]"), [1]),
        (np.array([None, NAN, pd.NA, pd.NaT, NAT, np.ma.masked, "x", 0], dtype=object), range(6)),
        (np.array([Decimal("NaN"), Decimal("sNaN"), Decimal(1)], dtype=object), [0, 1]),
        (np.array(["a", None], dtype=np.dtypes.StringDType(na_object=None)), [1]),
        (np.array(["a", np.nan], dtype=np.dtypes.StringDType(na_object=np.nan)), [1]),
        (np.ma.masked_array([1, 2, 3], mask=[0, 1, 0]), [1]),
        (np.ma.masked_array([1.0, np.nan, 3.0], mask=[0, 0, 1]), [1, 2]),
        (np.ma.masked_array(["a", "b"]), []),
        (["a", None, NAN], [1, 2]),
        ([], []),
        (pd.Series([1.0, None, np.nan]), [1, 2]),
        (pd.Series([1, None], dtype="Int64"), [1]),
        (pd.Series([0.0, 1.0], dtype="Float64") / pd.Series([0.0, 1.0], dtype="Float64"), [0]),
        (pd.Series([1.5, None, np.nan], dtype="double[pyarrow]"), [1, 2]),
        (pd.Series(["a", None, np.nan, pd.NA], dtype=object), [1, 2, 3]),
        (pd.Series(["a", None]), [1]),
        (pd.Series([pd.Timestamp(DAY), None]), [1]),
        (pd.Series(pd.Categorical(["a", None])), [1]),
        (pl.Series([1.0, None, NAN]), [1, 2]),
        (pl.Series([1, None]), [1]),
        (pl.Series(["a", None]), [1]),
        (pl.Series([None, None]), [0, 1]),
        (pl.Series([DAY, None]), [1]),
        (pl.Series([DAY, None, NAN], dtype=pl.Object), [1, 2]),
        (pa.chunked_array([[1.0, None], [NAN]]), [1, 2]),
        (nw.from_native(pl.Series(["a", None]), series_only=True), [1]),
    ],
    ids=str,
)
def test_one_meaning_in_every_container(values: Any, missing: list[int]) -> None:
    mask = missing_mask(values)
    assert mask.dtype == bool
    assert mask.shape == (len(values),)
    assert np.flatnonzero(mask).tolist() == list(missing)


def test_tables_keep_their_shape() -> None:
    table = np.array([[1.0, np.nan], [None, "a"], [2, 3]], dtype=object)
    assert missing_mask(table).tolist() == [[False, True], [True, False], [False, False]]
    assert missing_mask(np.zeros((0, 3))).shape == (0, 3)


cells = st.one_of(
    st.none(), st.floats(), st.text(max_size=3), st.integers(), st.just(pd.NA), st.just(pd.NaT)
)


@given(st.lists(cells, max_size=8))
def test_objects_agree_with_pandas(values: list[object]) -> None:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    np.testing.assert_array_equal(missing_mask(array), pd.isna(array))
    assert missing_mask(values).tolist() == [is_missing(value) for value in values]


@pytest.mark.parametrize("cell", [[NAN], np.array([NAN]), {}, (NAN,), object(), DAY, np.inf])
def test_containers_and_other_objects_are_values(cell: object) -> None:
    assert not is_missing(cell)


class Stubborn:
    def __ne__(self, other: object) -> bool:
        raise TypeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


def test_an_object_that_cannot_be_compared_is_a_value() -> None:
    assert not is_missing(Stubborn())


# --- Refusal --------------------------------------------------------------------------------------


def test_the_refusal_says_where_how_many_and_what_to_do() -> None:
    mask = np.zeros((5, 3), dtype=bool)
    mask[[2, 4], 0] = mask[1, 2] = True
    with pytest.raises(MissingValuesError) as caught:
        refuse_missing(mask, ["age", "sex", "income"], "LinearRegression", task="regression")
    message = str(caught.value)
    assert message.startswith("Input X contains NaN or other missing cells, 3 in all")
    assert "'age' (2, first at row 2), 'income' (1, first at row 1)" in message
    assert "LinearRegression needs every cell" in message
    assert "RandomForestRegressor" in message
    assert "Classifier" not in message
    assert "'sex'" not in message


def test_many_columns_are_counted_and_a_target_gets_other_advice() -> None:
    with pytest.raises(MissingValuesError, match=r"'c4' \(1, first at row 0\), and 3 more columns"):
        refuse_missing(np.ones((1, 8), bool), [f"c{j}" for j in range(8)], "PCA")
    with pytest.raises(MissingValuesError, match=r"Input y contains NaN.*'y'.*target is known"):
        refuse_missing(np.array([False, True]), ["y"], "Ridge", what="y")


def test_nothing_missing_is_no_error() -> None:
    for n_rows in (3, 0):
        mask = np.zeros((n_rows, 2), bool)
        refuse_missing(mask, ["a", "b"], "Ridge")
        assert not mask.any()


def test_every_learner_named_exists_and_takes_missing_cells() -> None:
    from importlib import import_module

    X = np.array([[1.0], [np.nan], [2.0], [3.0], [2.5], [0.5]])
    labels, numbers = [0, 1, 0, 1, 0, 1], [0.5, 1.5, 2.5, 3.0, 2.0, 1.0]
    for task, target in (("classification", labels), ("regression", numbers)):
        named = learners_for_missing(task).split("(")[1].split(")")[0].split(", ")
        assert named
        for path in named:
            module, _, name = path.rpartition(".")
            learner = getattr(import_module(module), name)()
            assert learner.fit(X, target).predict(X).shape == (6,)
    assert all(name in learners_for_missing() for name in named)
    assert learners_for_missing("clustering") == "Fill in the cells in a step before it."
