"""Columns: every container gives the same numbers, codes and levels, or one clear message."""

import datetime
import uuid
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, SchemaError
from novum.core.tables import (
    MISSING,
    UNSEEN,
    Column,
    Kind,
    arrow_column,
    codes_of,
    frame_column,
    kind_of,
    levels_of,
    numbers_of,
)

NAN = float("nan")


def column(values: Any) -> pa.Array:
    return arrow_column(values, "c")


def of_frame(frame: Any) -> pa.Array:
    return column(frame_column(nw.from_native(frame, eager_only=True), 0))


def objects(*cells: Any) -> Any:
    array = np.empty(len(cells), object)
    array[:] = cells
    return array


def containers(cells: list[Any]) -> dict[str, pa.Array]:
    """One column in every container that takes its cells."""
    return {
        "object": column(objects(*cells)),
        "pandas object": of_frame(pd.DataFrame({"c": pd.Series(cells, dtype=object)})),
        "polars": of_frame(pl.DataFrame({"c": cells})),
        "arrow": of_frame(pa.table({"c": cells})),
        "chunks": of_frame(pa.table({"c": pa.chunked_array([[v] for v in cells])}))
        if cells[0] is not None
        else column(objects(*cells)),
    }


def coded(array: pa.Array) -> tuple[tuple[Any, ...], list[int]]:
    kind = kind_of(array, "c")
    learned = Column("c", kind, levels_of(array, "c"))
    return learned.levels, codes_of(array, learned).tolist()


# --- The same in every container ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "levels", "codes"),
    [
        (["b", None, "a", "b"], ("a", "b"), [1, MISSING, 0, 1]),
        ([True, None, False], (False, True), [1, MISSING, 0]),
        (["", "nan", None, "None"], ("", "None", "nan"), [0, 2, MISSING, 1]),
    ],
)
def test_categories_have_the_same_codes_everywhere(
    cells: list[Any], levels: tuple[Any, ...], codes: list[int]
) -> None:
    for name, array in containers(cells).items():
        assert kind_of(array, "c") is Kind.NOMINAL, name
        assert coded(array) == (levels, codes), name


@pytest.mark.parametrize("cells", [[1, None, 3], [1.5, None, -2.0], [2**53, None, -(2**40)]])
def test_numbers_are_the_same_everywhere(cells: list[Any]) -> None:
    expected = np.array([NAN if cell is None else float(cell) for cell in cells])
    for name, array in containers(cells).items():
        assert kind_of(array, "c") is Kind.NUMERIC, name
        np.testing.assert_array_equal(numbers_of(array, "c"), expected, err_msg=name)


@given(st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=1, max_size=12))
def test_text_is_coded_by_its_sorted_set(cells: list[str | None]) -> None:
    known = sorted({cell for cell in cells if cell is not None})
    expected = [MISSING if cell is None else known.index(cell) for cell in cells]
    for name, array in {
        "object": column(objects(*cells)),
        "pandas": of_frame(pd.DataFrame({"c": pd.Series(cells, dtype="string")})),
        "polars": of_frame(pl.DataFrame({"c": pl.Series(cells, dtype=pl.String)})),
        "arrow": of_frame(pa.table({"c": pa.array(cells, pa.large_string())})),
        "view": of_frame(pa.table({"c": pa.array(cells, pa.string_view())})),
    }.items():
        learned = Column("c", Kind.NOMINAL, levels_of(array, "c"))
        assert learned.levels == tuple(known), name
        assert codes_of(array, learned).tolist() == expected, name


@pytest.mark.parametrize(
    "missing",
    [None, NAN, pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN"), np.ma.masked],
)
def test_every_kind_of_missing_is_missing(missing: Any) -> None:
    text, numbers, flags = ("a", missing, "b"), (1.5, missing, 2), (True, missing, False)
    assert coded(column(objects(*text))) == (("a", "b"), [0, MISSING, 1])
    np.testing.assert_array_equal(numbers_of(column(objects(*numbers)), "c"), [1.5, NAN, 2])
    assert coded(column(objects(*flags))) == ((False, True), [1, MISSING, 0])
    assert np.isnan(numbers_of(column(objects(missing, missing)), "c")).all()


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (pd.array([1, None, 3], "Int64"), [1, NAN, 3]),
        (pd.array([1.5, None], "Float64"), [1.5, NAN]),
        (pd.array([1, None], pd.ArrowDtype(pa.int8())), [1, NAN]),
        (pd.arrays.SparseArray([0.0, 2.0, NAN]), [0, 2, NAN]),
        (np.array([1, NAN], np.float32), [1, NAN]),
        (np.array([1, 2], np.float16), [1, 2]),
        (np.array([2**64 - 1], np.uint64), [2.0**64]),
        ([Decimal("1.25"), None, Decimal("3")], [1.25, NAN, 3]),
        ([None, None], [NAN, NAN]),
    ],
)
def test_pandas_numbers(series: Any, expected: list[float]) -> None:
    array = of_frame(pd.DataFrame({"c": series}))
    assert kind_of(array, "c") is Kind.NUMERIC
    np.testing.assert_array_equal(numbers_of(array, "c"), expected)


@pytest.mark.parametrize("dtype", ["string", "string[python]", "string[pyarrow]", "str", object])
def test_pandas_text_of_every_make(dtype: Any) -> None:
    array = of_frame(pd.DataFrame({"c": pd.Series(["b", None, "a"], dtype=dtype)}))
    assert coded(array) == (("a", "b"), [1, MISSING, 0])


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([Decimal("1.5"), None]), [1.5, NAN]),
        (pa.array([Decimal("1.5"), None], pa.decimal256(40, 2)), [1.5, NAN]),
        (pa.nulls(2), [NAN, NAN]),
        (pa.array([1.5, None, NAN]), [1.5, NAN, NAN]),
        (pa.chunked_array([[1], [None, 3]]), [1, NAN, 3]),
        (pa.chunked_array([], pa.int64()), []),
        (pa.array([1, 2, None, 4]).slice(1, 2), [2, NAN]),
        (pa.DictionaryArray.from_arrays([1, None, 0], [1.5, 2.5]), [2.5, NAN, 1.5]),
        (pa.RunEndEncodedArray.from_arrays([1, 3], [7.0, 8.0]), [7, 8, 8]),
    ],
)
def test_arrow_numbers(array: Any, expected: list[float]) -> None:
    np.testing.assert_array_equal(numbers_of(column(array), "c"), expected)


def test_numbers_of_several_types_in_one_object_column() -> None:
    cells = objects(1, 2.5, Decimal("0.5"), np.float32(3), np.int8(4), 2**70, None)
    expected = [1, 2.5, 0.5, 3, 4, 2.0**70, NAN]
    np.testing.assert_array_equal(numbers_of(column(cells), "c"), expected)
    assert numbers_of(column(objects(2**2000, -(2**2000))), "c").tolist() == [np.inf, -np.inf]


def test_polars_columns_that_arrow_does_not_know() -> None:
    wide = of_frame(pl.DataFrame({"c": pl.Series([2**100, None], dtype=pl.Int128)}))
    np.testing.assert_array_equal(numbers_of(wide, "c"), [2.0**100, NAN])
    plain = of_frame(pl.DataFrame({"c": pl.Series(["b", None, "a"], dtype=pl.Object)}))
    assert coded(plain) == (("a", "b"), [1, MISSING, 0])


# --- Declared levels ------------------------------------------------------------------------------


def test_declared_levels_are_kept_used_or_not() -> None:
    cells, declared = ["b", None, "a"], ["c", "b", "a"]
    ordered = {
        "pandas": of_frame(pd.DataFrame({"c": pd.Categorical(cells, declared, ordered=True)})),
        "polars": of_frame(pl.DataFrame({"c": pl.Series(cells, dtype=pl.Enum(declared))})),
        "arrow": column(pa.DictionaryArray.from_arrays([1, None, 2], declared, ordered=True)),
    }
    for name, array in ordered.items():
        assert kind_of(array, "c") is Kind.ORDINAL, name
        assert coded(array) == (("c", "b", "a"), [1, MISSING, 2]), name
    unordered = {
        "pandas": of_frame(pd.DataFrame({"c": pd.Categorical(cells, declared)})),
        "arrow": column(pa.DictionaryArray.from_arrays([1, None, 2], declared)),
    }
    for name, array in unordered.items():
        assert kind_of(array, "c") is Kind.NOMINAL, name
        assert coded(array) == (("a", "b", "c"), [1, MISSING, 0]), name


def test_polars_categoricals_are_nominal() -> None:
    array = of_frame(pl.DataFrame({"c": pl.Series(["lo", None, "hi"], dtype=pl.Categorical)}))
    assert kind_of(array, "c") is Kind.NOMINAL
    levels, codes = coded(array)
    assert [levels[code] if code >= 0 else None for code in codes] == ["lo", None, "hi"]


def test_an_enum_in_chunks_and_with_nothing_in_it() -> None:
    enum = pl.Enum(["lo", "mid", "hi"])
    frame = pl.concat([pl.DataFrame({"c": pl.Series([v], dtype=enum)}) for v in ("hi", None, "lo")])
    assert frame["c"].n_chunks() == 3
    assert coded(of_frame(frame)) == (("lo", "mid", "hi"), [2, MISSING, 0])
    nothing = of_frame(pl.DataFrame({"c": pl.Series([None], dtype=enum)}))
    assert coded(nothing) == (("lo", "mid", "hi"), [MISSING])


def test_chunks_with_dictionaries_of_their_own_are_unified() -> None:
    parts = [pa.array(["p", "q"]).dictionary_encode(), pa.array(["q", "r"]).dictionary_encode()]
    assert coded(column(pa.chunked_array(parts))) == (("p", "q", "r"), [0, 1, 1, 2])


def test_chunks_that_declare_orders_must_make_one() -> None:
    def chunk(cells: list[Any], *levels: str) -> pa.Array:
        codes = [None if cell is None else levels.index(cell) for cell in cells]
        return pa.DictionaryArray.from_arrays(codes, pa.array(levels), ordered=True)

    parts = [chunk(["hi", None], "lo", "hi"), chunk(["mid", "hi"], "lo", "mid", "hi")]
    found = column(pa.chunked_array(parts))
    assert kind_of(found, "c") is Kind.ORDINAL
    assert coded(found) == (("lo", "mid", "hi"), [2, MISSING, 1, 2])
    for other in (chunk(["mid"], "mid", "hi"), chunk(["lo"], "hi", "lo")):
        with pytest.raises(SchemaError, match="Ordinal column 'c' has its levels in two orders"):
            column(pa.chunked_array([parts[0], other]))


def test_dictionaries_with_repeated_or_missing_levels() -> None:
    twice = pa.DictionaryArray.from_arrays([2, 1, 0], ["x", "y", "x"])
    assert coded(column(twice)) == (("x", "y"), [0, 1, 0])
    null = pa.DictionaryArray.from_arrays([2, 1, 0], ["x", "y", None])
    assert coded(column(null)) == (("x", "y"), [MISSING, 1, 0])
    nan = pa.DictionaryArray.from_arrays([2, 1, 0], [1.5, 2.5, NAN])
    assert coded(column(nan)) == ((1.5, 2.5), [MISSING, 1, 0])


@pytest.mark.parametrize("index", [pa.int8(), pa.uint8(), pa.int64(), pa.uint64()])
def test_dictionaries_with_indices_of_any_type(index: pa.DataType) -> None:
    levels = [f"l{i:03}" for i in range(100)]
    indices = pa.array([99, None, 0], index)
    assert coded(column(pa.DictionaryArray.from_arrays(indices, levels)))[1] == [99, MISSING, 0]


# --- Numbers as levels ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, 1, 3]),
        np.array([3.0, 1.0, 3.0]),
        np.array([3, 1, 3], np.uint8),
        objects(Decimal("3.0"), Decimal(1), Decimal(3)),
        objects(3.0, 1, np.float32(3)),
    ],
)
def test_a_whole_number_is_one_level_in_every_type(values: Any) -> None:
    array = column(values)
    learned = Column("c", Kind.NOMINAL, levels_of(array, "c"))
    assert [(type(level), level) for level in learned.levels] == [(int, 1), (int, 3)]
    assert codes_of(array, learned).tolist() == [1, 0, 1]


def test_zero_has_one_sign_and_large_integers_stay_apart() -> None:
    assert levels_of(column(np.array([0.0, -0.0, NAN])), "c") == (0,)
    assert levels_of(column(np.array([2**53, 2**53 + 1])), "c") == (2**53, 2**53 + 1)
    assert levels_of(column(np.array([1e300])), "c") == (1e300,)


def test_decimals_that_floats_cannot_tell_apart_are_refused_as_levels() -> None:
    fine = column(objects(Decimal("0.1"), Decimal("0.2")))
    assert levels_of(fine, "c") == (0.1, 0.2)
    close = column(objects(Decimal("1.00000000000000000001"), Decimal("1.00000000000000000002")))
    with pytest.raises(InputError, match=r"Column 'c' .* beyond 16 digits.*Convert .* to text"):
        levels_of(close, "c")


def test_true_is_not_the_level_one_nor_the_other_way_round() -> None:
    numbers, flags = column(np.array([0, 1])), column(np.array([False, True]))
    of_numbers = Column("c", Kind.NOMINAL, (0, 1))
    of_flags = Column("c", Kind.NOMINAL, (False, True))
    of_both = Column("c", Kind.NOMINAL, (True, 1, "yes"))
    assert codes_of(flags, of_numbers).tolist() == [UNSEEN, UNSEEN]
    assert codes_of(numbers, of_flags).tolist() == [UNSEEN, UNSEEN]
    assert codes_of(numbers, of_both).tolist() == [UNSEEN, 1]
    assert codes_of(flags, of_both).tolist() == [UNSEEN, 0]
    assert codes_of(column(objects("yes", "no")), of_both).tolist() == [2, UNSEEN]


def test_levels_not_met_in_training_are_unseen_in_every_container() -> None:
    known = Column("c", Kind.NOMINAL, ("a", "b"))
    for name, array in containers(["b", None, "new", "a"]).items():
        assert codes_of(array, known).tolist() == [1, MISSING, UNSEEN, 0], name
    declared = pd.DataFrame({"c": pd.Categorical(["a"], ["new", "a"])})
    assert codes_of(of_frame(declared), known).tolist() == [0]


# --- Refusals -------------------------------------------------------------------------------------

DATE = datetime.date(2020, 1, 31)


@pytest.mark.parametrize(
    "array",
    [
        column(objects(None, DATE)),
        column(objects(None, datetime.datetime(2020, 1, 31))),
        column(objects(None, datetime.time(12))),
        column(objects(None, datetime.timedelta(1))),
        column(np.array(["NaT", "2020-01-31"], "M8[D]")),
        of_frame(pd.DataFrame({"c": pd.to_datetime([None, "2020-01-31"])})),
        of_frame(pd.DataFrame({"c": pd.to_datetime([None, "2020-01-31"]).tz_localize("UTC")})),
        of_frame(pd.DataFrame({"c": pd.PeriodIndex([None, "2020-01"], freq="M")})),
        of_frame(pd.DataFrame({"c": pd.Categorical([None, pd.Timestamp("2020-01-31")])})),
        of_frame(pl.DataFrame({"c": [None, DATE]})),
        of_frame(pl.DataFrame({"c": [None, datetime.timedelta(1)]})),
        of_frame(pa.table({"c": [None, DATE]})),
    ],
)
def test_dates_are_refused_with_what_to_derive(array: pa.Array) -> None:
    message = r"Column 'when' holds dates or times .*at row 1.*elapsed time, the month, the day of"
    for read in (kind_of, levels_of, numbers_of):
        with pytest.raises(InputError, match=message):
            read(array, "when")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (column(objects(b"x")), r"type binary, b'x' at row 0"),
        (column(objects([1], [2])), r"type list<.*>, \[1\] at row 0"),
        (column(objects({"x": 1})), r"type struct<.*>, {'x': 1} at row 0"),
        (column(objects(uuid.UUID(int=1))), r"type extension<arrow.uuid>"),
        (of_frame(pl.DataFrame({"c": [[1]]})), r"type large_list<.*>, \[1\] at row 0"),
        (of_frame(pd.DataFrame({"c": pd.interval_range(0, 2)})), "type extension<pandas.interval"),
        (column(pa.array([], pa.binary())), "type binary, which"),
    ],
)
def test_strange_types_are_named_with_a_sample(array: pa.Array, message: str) -> None:
    for read in (kind_of, levels_of, numbers_of):
        with pytest.raises(InputError, match=f"Column 'c' has {message}.*neither numbers nor cat"):
            read(array, "c")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("a", 1), r"mixes str \('a' at row 0\) and number \(1 at row 1\).*`astype\(str\)`"),
        ((None, 1, NAN, "a"), r"mixes number \(1 at row 1\) and str \('a' at row 3\)"),
        ((True, 2), r"mixes bool \(True at row 0\) and number \(2 at row 1\)"),
        ((1.5, True), r"mixes number \(1.5 at row 0\) and bool \(True at row 1\)"),
        ((1, np.True_), r"mixes number \(1 at row 0\) and bool \(np.True_ at row 1\)"),
        (("a", DATE), r"mixes str .* and date \(datetime.date\(2020, 1, 31\) at row 1\)"),
        ((1j,), r"holds values of type complex \(1j at row 0\), which are neither"),
        ((object(),), r"holds values of type object \(<object object at"),
        (("x" * 999, 1), r"mixes str \('xxxx+\.\.\. at row 0\)"),
    ],
)
def test_mixed_cells_are_named_with_their_rows(cells: tuple[Any, ...], message: str) -> None:
    for make in (lambda: column(objects(*cells)), lambda: column(pd.Series(cells, dtype=object))):
        with pytest.raises(InputError, match=f"Column 'c' {message}") as caught:
            make()
        assert len(str(caught.value)) < 300


def test_categories_of_mixed_types_are_refused() -> None:
    with pytest.raises(InputError, match=r"Column 'c' mixes number \(3 at row 0\) and str"):
        of_frame(pd.DataFrame({"c": pd.Categorical([3, "x"], categories=[3, "x"])}))


def test_categories_that_are_intervals_are_refused() -> None:
    with pytest.raises(InputError, match="Column 'c' "):
        kind_of(of_frame(pd.DataFrame({"c": pd.cut([1, 2, 3], 2)})), "c")


def test_infinity_is_no_level() -> None:
    array = column(np.array([1.5, np.inf, -np.inf]))
    with pytest.raises(InputError, match="infinity: categorical column 'c' has inf at row 1"):
        levels_of(array, "c")
    with pytest.raises(InputError, match="infinity: categorical column 'c' has inf at row 1"):
        codes_of(array, Column("c", Kind.NOMINAL, (1.5,)))


def test_text_where_numbers_are_expected_is_named_with_the_first_cell() -> None:
    message = r"Column 'c' is numeric, but holds string here, 'x' at row 1\. Convert it to numbers"
    with pytest.raises(SchemaError, match=message):
        numbers_of(column(objects(None, "x")), "c")
    with pytest.raises(SchemaError, match="holds string here, 'x' at row 0"):
        numbers_of(column(pa.array(["x"]).dictionary_encode()), "c")
