"""Tables: the same table in every container is the same table, and kinds are as the user says."""

import datetime
from decimal import Decimal
from typing import Any

import dask.array as da
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator

from novum.core.errors import InputError, MemoryLimitError, SchemaError
from novum.core.runtime import memory
from novum.core.tables import MISSING, UNSEEN, Column, Kind, Schema, unmasked
from novum.core.tables.reading import RawTable, read_table

NAN = float("nan")


class Reader(BaseEstimator):
    def __init__(self, categorical_features: Any = "auto") -> None:
        self.categorical_features = categorical_features


class Plain(BaseEstimator):
    """An estimator that knows nothing of categories."""


def read(X: Any, chosen: Any = "auto", schema: Schema | None = None, **options: Any) -> RawTable:
    settings = {"reset": True, "accept_sparse": True, **options}
    return read_table(Reader(chosen), X, schema, **settings)


def kinds(table: RawTable) -> list[str]:
    return [column.kind.value for column in table.schema.columns]


def assert_same(a: RawTable, b: RawTable) -> None:
    assert a.schema.columns == b.schema.columns
    np.testing.assert_array_equal(a.numeric, b.numeric)
    np.testing.assert_array_equal(a.codes, b.codes)


# --- One table, all containers --------------------------------------------------------------------

ROWS: list[list[Any]] = [
    [1.5, 3, "b", True],
    [None, -1, None, False],
    [2.0, None, "a", None],
    [-0.5, 7, "b", True],
]
NAMES = ["x0", "x1", "x2", "x3"]


def as_objects(rows: list[list[Any]]) -> Any:
    table = np.empty((len(rows), len(rows[0])), object)
    table[:] = rows
    return table


def everywhere(rows: list[list[Any]]) -> dict[str, Any]:
    columns = {name: [row[j] for row in rows] for j, name in enumerate(NAMES)}
    mask = [[cell is None for cell in row] for row in rows]
    filled = [[0 if cell is None else cell for cell in row] for row in rows]
    nullable = {"x0": "Float64", "x1": "Int64", "x2": "string", "x3": "boolean"}
    table = pa.table(columns)
    return {
        "list": rows,
        "tuples": tuple(map(tuple, rows)),
        "object": as_objects(rows),
        "fortran": np.asfortranarray(as_objects(rows)),
        "masked": np.ma.masked_array(as_objects(filled), mask=mask),
        "pandas object": pd.DataFrame(columns, dtype=object),
        "pandas nullable": pd.DataFrame(columns).astype(nullable),
        "pandas arrow": table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.DataFrame(columns, strict=False),
        "arrow": table,
        "arrow chunks": pa.concat_tables([table.slice(i, 1) for i in range(len(rows))]),
        "batch": table.to_batches()[0],
    }


@pytest.mark.parametrize("container", list(everywhere(ROWS)))
def test_the_same_table_is_the_same_in_every_container(container: str) -> None:
    table = read(everywhere(ROWS)[container])
    assert table.schema.columns == (
        Column("x0"),
        Column("x1"),
        Column("x2", Kind.NOMINAL, ("a", "b")),
        Column("x3", Kind.NOMINAL, (False, True)),
    )
    np.testing.assert_array_equal(table.numeric, [[1.5, 3], [NAN, -1], [2, NAN], [-0.5, 7]])
    assert table.numeric.dtype == np.float64
    assert table.codes.tolist() == [[1, 1], [MISSING, 0], [0, MISSING], [1, 1]]
    assert table.codes.dtype == np.int32


cells = {
    "x0": st.one_of(st.none(), st.floats(-9, 9)),
    "x1": st.one_of(st.none(), st.integers(-9, 9)),
    "x2": st.one_of(st.none(), st.sampled_from(["", "a", "b", "c", "nan", "ä"])),
    "x3": st.one_of(st.none(), st.booleans()),
}
tables = st.lists(st.tuples(*cells.values()).map(list), min_size=1, max_size=8)


def of_arrow(rows: list[list[Any]]) -> pa.Table:
    types = [pa.float64(), pa.int64(), pa.string(), pa.bool_()]
    columns = [pa.array([row[j] for row in rows], kind) for j, kind in enumerate(types)]
    return pa.table(columns, names=NAMES)


@given(tables)
def test_any_table_is_the_same_in_pandas_polars_and_arrow(rows: list[list[Any]]) -> None:
    table = of_arrow(rows)
    expected = read(table)
    assert_same(read(pl.from_arrow(table)), expected)
    assert_same(read(table.to_pandas(types_mapper=pd.ArrowDtype)), expected)
    for j, column in enumerate(zip(*rows, strict=True)):
        if any(cell is not None for cell in column):
            one = read([[cell] for cell in column]).schema.columns[0]
            assert (one.kind, one.levels) == (
                expected.schema.columns[j].kind,
                expected.schema.columns[j].levels,
            )


@given(tables, tables, st.randoms())
def test_schemas_of_parts_unite_to_that_of_the_whole(
    a: list[list[Any]], b: list[list[Any]], random: Any
) -> None:
    whole = read(of_arrow(a + b)).schema
    parts = [read(of_arrow(rows)).schema for rows in (a, b)]
    assert parts[0].unite(parts[1]) == whole
    assert parts[1].unite(parts[0]) == whole
    shuffled = a + b
    random.shuffle(shuffled)
    assert read(of_arrow(shuffled)).schema == whole


@given(tables, tables)
def test_codes_by_a_schema_say_which_levels_are_unseen(
    a: list[list[Any]], b: list[list[Any]]
) -> None:
    first, second = read(of_arrow(a)), read(of_arrow(b))
    recoded = second.schema.recode(second.codes, first.schema)
    np.testing.assert_array_equal(read(of_arrow(b), schema=first.schema).codes, recoded)


# --- Numeric arrays -------------------------------------------------------------------------------


def frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


NUMBERS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.mark.parametrize(
    "X",
    [
        NUMBERS,
        NUMBERS.tolist(),
        list(NUMBERS),
        NUMBERS.astype(np.float32),
        NUMBERS.astype(np.float16),
        NUMBERS.astype(np.longdouble),
        NUMBERS.astype(np.int8),
        NUMBERS.astype(">f8"),
        NUMBERS.astype(object),
        np.asfortranarray(NUMBERS),
        np.repeat(NUMBERS, 2, axis=0)[::2],
        frozen(NUMBERS.copy()),
        np.ma.masked_array(NUMBERS),
        da.from_array(NUMBERS, chunks=2),
        as_objects([[Decimal(1), 2], [3.0, np.float32(4)], [np.int8(5), 6]]),
    ],
)
def test_numbers_of_every_make_become_floats(X: Any) -> None:
    table = read(X)
    np.testing.assert_array_equal(table.numeric, NUMBERS)
    assert table.numeric.dtype == np.float64
    assert table.schema == Schema.of_array(2)
    assert table.codes.shape == (3, 0)


def test_a_float_array_is_not_copied_and_never_changed() -> None:
    assert np.shares_memory(read(NUMBERS).numeric, NUMBERS)
    masked = np.ma.masked_array(NUMBERS.copy(), mask=NUMBERS > 5)
    read(masked)
    np.testing.assert_array_equal(masked.data, NUMBERS)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_sparse_stays_sparse_in_csr(form: str, kind: str) -> None:
    X = getattr(sparse, f"{form}_{kind}")(np.array([[0, 2.0], [0, 0], [5, 0]]))
    table = read(X)
    assert table.numeric.format == "csr"
    assert table.numeric.dtype == np.float64
    np.testing.assert_array_equal(table.numeric.toarray(), X.toarray())


def test_sparse_is_refused_where_it_is_not_accepted() -> None:
    for chosen in ("auto", "all", [0]):
        with pytest.raises(TypeError, match="Sparse data was passed for X, but dense"):
            read(sparse.csr_array(np.eye(2)), chosen, accept_sparse=False)


def test_sparse_with_named_categories_becomes_dense_within_the_memory_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = read(sparse.csr_array(np.array([[0, 2.0], [5, 0]])), [0])
    assert table.schema.columns[0].levels == (0, 5)
    assert table.codes.ravel().tolist() == [0, 1]
    np.testing.assert_array_equal(table.numeric, [[2.0], [0.0]])
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    with pytest.raises(MemoryLimitError, match="dense copy of sparse X"):
        read(sparse.csr_array((10**7, 10**6)), "all")


# --- Masks and mixed lists ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "mask", "expected"),
    [
        (np.array([[1, 2]]), [[False, True]], [[1.0, NAN]]),
        (np.array([[1.5, 2]], np.float32), [[True, False]], [[NAN, 2.0]]),
        (np.array([["a", "b"]]), [[False, True]], [["a", None]]),
        (np.array([[True, False]]), [[False, True]], [[True, None]]),
        (np.array([["a", 1]], object), [[True, False]], [[None, 1]]),
        (np.array([[1, 2]]), False, [[1, 2]]),
    ],
)
def test_masked_cells_become_missing(array: Any, mask: Any, expected: Any) -> None:
    found = unmasked(np.ma.masked_array(array, mask=mask))
    assert not isinstance(found, np.ma.MaskedArray)
    assert [[None if v != v else v for v in row] for row in found.tolist()] == [
        [None if v != v else v for v in row] for row in expected
    ]


def test_a_masked_table_keeps_the_kinds_of_the_plain_one() -> None:
    flags = np.array([[True, False], [False, True]])
    masked = np.ma.masked_array(flags, mask=[[False, True], [False, False]])
    assert kinds(read(flags)) == kinds(read(masked)) == ["nominal", "nominal"]
    assert read(masked).codes.tolist() == [[1, MISSING], [0, 0]]
    text = np.ma.masked_array([["a"], ["b"], ["?"]], mask=[[False], [True], [False]])
    assert read(text).schema.columns[0].levels == ("?", "a")


def test_masks_inside_lists_are_not_lost() -> None:
    rows = [np.ma.masked_array([1, 2], mask=[False, True]), np.array([3, 4])]
    np.testing.assert_array_equal(read(rows).numeric, [[1, NAN], [3, 4]])
    np.testing.assert_array_equal(read([[1, np.ma.masked], [3, 4]]).numeric, [[1, NAN], [3, 4]])


def test_lists_keep_the_type_of_every_cell() -> None:
    assert kinds(read([["a", 1], ["b", 2]])) == ["nominal", "numeric"]
    assert kinds(read([[True, 1.5], [False, 2.5]])) == ["nominal", "numeric"]
    assert kinds(read([["1", 1], ["2", NAN]])) == ["nominal", "numeric"]
    assert kinds(read([[np.True_, 1], [np.False_, 2]])) == ["nominal", "numeric"]
    np.testing.assert_array_equal(read([["a", NAN], [None, 2]]).numeric, [[NAN], [2]])


def test_text_arrays_of_every_make_are_nominal() -> None:
    text = np.array([["a"], ["b"]])
    for X in (text, text.astype(np.dtypes.StringDType()), text.astype(object), list(text)):
        assert read(X).schema.columns[0].levels == ("a", "b")
        assert read(X).codes.ravel().tolist() == [0, 1]


# --- Which columns are categorical ----------------------------------------------------------------

FRAME = pd.DataFrame({"n": [3, 1, 3], "t": ["b", "a", "b"], "f": [0.5, 1.5, 0.5]})


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("auto", [0, 1, 0]),
        ("all", [1, 1, 1]),
        ([True, True, False], [1, 1, 0]),
        (np.array([False, True, True]), [0, 1, 1]),
        (["t"], [0, 1, 0]),
        (("n", "t"), [1, 1, 0]),
        (np.array(["n", "t"]), [1, 1, 0]),
        ({"t"}, [0, 1, 0]),
        ([1], [0, 1, 0]),
        ([-2, 0], [1, 1, 0]),
        (np.array([0, 1]), [1, 1, 0]),
        (pd.Series([0, 1]), [1, 1, 0]),
        (["t", 0], [1, 1, 0]),
    ],
)
def test_the_user_says_which_columns_are_categorical(chosen: Any, expected: list[int]) -> None:
    found = [int(kind == "nominal") for kind in kinds(read(FRAME, chosen))]
    assert found == expected


def test_none_and_no_choice_make_all_columns_numeric() -> None:
    frame = pd.DataFrame({"b": [True, False], "c": pd.Categorical([2, 1])})
    for chosen in (None, [], [False, False]):
        np.testing.assert_array_equal(read(frame, chosen).numeric, [[1, 2], [0, 1]])
    np.testing.assert_array_equal(read(np.array([[True], [False]]), None).numeric, [[1], [0]])


def test_named_columns_with_an_order_are_ordinal() -> None:
    frame = pd.DataFrame({"s": pd.Categorical(["lo"], ["lo", "hi"], ordered=True)})
    for chosen in ("auto", "all", ["s"]):
        assert read(frame, chosen).schema.columns[0] == Column("s", Kind.ORDINAL, ("lo", "hi"))


def test_numbers_as_categories_are_the_same_levels_in_all_containers() -> None:
    rows = [[3, 0.5], [1, None], [3, -0.0]]
    expected = ((1, 3), (0, 0.5))
    table = pa.table({"a": [3, 1, 3], "b": [0.5, None, -0.0]})
    array = np.array([[3, 0.5], [1, NAN], [3, 0]])
    for X in (rows, as_objects(rows), pd.DataFrame(rows), pl.from_arrow(table), table, array):
        found = read(X, "all")
        assert tuple(column.levels for column in found.schema.columns) == expected
        types = [type(level) for column in found.schema.columns for level in column.levels]
        assert types == [int, int, int, float]
        assert found.codes.tolist() == [[1, 1], [0, MISSING], [1, 0]]


def test_large_integers_stay_apart_as_categories() -> None:
    assert read(np.array([[2**53], [2**53 + 1]]), "all").codes.ravel().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("nominal", r"categorical_features='nominal' is not one of 'auto', 'all', None"),
        (3, r"categorical_features=3 is not one of"),
        ([True, False], r"mask in categorical_features has 2 entries for 3 columns"),
        (["age"], r"names 'age', but X has no such column; it has 3: n, t, f"),
        ([3], r"names 3, but X has no such column"),
        ([-4], r"names -4, but X has no such column"),
        ([0.0], r"names 0.0, but X has no such column"),
        ([True, "t"], r"names True, but X has no such column"),
        ([None], r"names None, but X has no such column"),
        ([0], r"Column 't' is numeric, but holds .*string here, 'b' at row 0.*name it in"),
        (None, r"Column 't' is numeric, but holds .*string here, 'b' at row 0"),
    ],
)
def test_bad_choices_of_columns_are_named(chosen: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(FRAME, chosen)


# --- Names and schemas ----------------------------------------------------------------------------


def test_names_are_kept_where_they_are_text() -> None:
    model = Reader()
    read_table(model, FRAME, None, reset=True, accept_sparse=False)
    assert model.feature_names_in_.tolist() == ["n", "t", "f"]
    assert model.n_features_in_ == 3
    table = read(pd.DataFrame([[1, 2]], columns=[10, 20]))
    assert table.schema.names == ("10", "20")
    assert not table.schema.named
    assert read(pa.record_batch({"a": ["u"]})).schema.names == ("a",)


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.table([[1], [2]], names=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=pd.Index([1, 1])),
    ],
)
def test_duplicated_names_are_refused(X: Any) -> None:
    with pytest.raises(SchemaError, match=r"Column names must differ; '(a|1)' occurs 2 times"):
        read(X)


def test_names_of_mixed_types_are_refused_as_scikit_learn_does() -> None:
    with pytest.raises(TypeError, match="only supported if all input features have string names"):
        read(pd.DataFrame([[1, 2]], columns=["a", 1]))


def test_a_schema_is_held_against_the_names_of_a_frame() -> None:
    schema = read(FRAME).schema
    with pytest.raises(SchemaError, match="Column 0 of X is 't', but the schema has 'n' there"):
        read(FRAME[["t", "n", "f"]], schema=schema)
    with pytest.raises(SchemaError, match="X has 2 features, but 3 are expected: n, t, f"):
        read(FRAME[["n", "t"]], schema=schema)
    assert_same(read(FRAME.to_numpy(), schema=schema), read(FRAME))


def test_messages_use_the_names_of_the_schema_for_arrays() -> None:
    schema = read(FRAME).schema
    with pytest.raises(SchemaError, match="Column 'n' is numeric, but holds string"):
        read([["u", "a", 1.0]], schema=schema)


def test_a_schema_reads_unseen_and_missing_levels() -> None:
    schema = Schema((Column("c", Kind.NOMINAL, ("a", "b")), Column("x")))
    for X in (
        [["b", 1], ["new", 2], [None, 3]],
        pd.DataFrame({"c": ["b", "new", None], "x": [1, 2, 3]}),
        pl.DataFrame({"c": ["b", "new", None], "x": [1, 2, 3]}),
    ):
        assert read(X, schema=schema).codes.ravel().tolist() == [1, UNSEEN, MISSING]


def test_numeric_schemas_take_no_text() -> None:
    schema = Schema.of_array(2)
    for X in ([["a", 1]], np.array([["a", "1"]])):
        with pytest.raises(SchemaError, match="Column 'x0' is numeric, but holds string here, 'a'"):
            read(X, schema=schema)
    with pytest.raises(SchemaError, match="Column 'x1' is numeric, but holds text here, 'u' at ro"):
        read_table(Plain(), [[1, "u"]], None, reset=True, accept_sparse=False)


def test_missing_cells_of_objects_are_missing_without_categories_too() -> None:
    X = as_objects([[1, pd.NA], [None, 2]])
    found = read_table(Plain(), X, None, reset=True, accept_sparse=False)
    np.testing.assert_array_equal(found.numeric, [[1, NAN], [NAN, 2]])


# --- Refusals -------------------------------------------------------------------------------------

DAY = datetime.date(2020, 1, 31)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
        (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (np.empty((0, 3), "U1"), r"0 sample\(s\) \(shape=\(0, 3\)\)"),
        (pd.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pd.DataFrame(index=range(3)), r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        (pl.DataFrame({"a": []}), r"0 sample\(s\)"),
        (pa.table({"a": pa.chunked_array([], pa.int64())}), r"0 sample\(s\)"),
        ([], "Expected 2D array"),
        ([[]], r"0 feature\(s\)"),
        ([1, 2, 3], "Expected 2D array, got 1D"),
        (["a", "b"], r"Expected 2D array, got an array of shape \(2,\) instead"),
        (np.zeros((2, 2, 2)), "dim 3"),
        (np.full((2, 2, 2), "a"), r"Expected 2D array, got an array of shape \(2, 2, 2\)"),
        (pd.Series([1, 2]), "2-dimensional container"),
        (pl.Series([1, 2]), "Expected 2D array"),
        (None, "Expected 2D array, got X of type NoneType"),
        ("abc", "Expected 2D array, got X of type str"),
        ({"a": [1]}, "Expected 2D array, got X of type dict.*Pass an array, a list of rows"),
        ([[1, 2], [3]], r"inhomogeneous shape: row 0 has 2 cells, row 1 has 1\. Give every row"),
        (np.array([[1j, 2]]), "Complex data not supported"),
        (as_objects([[1j, 2]]), r"Column 'x0' holds values of type complex \(1j at row 0\)"),
        (pd.DataFrame({"a": [1j]}), "Column 'a' holds values of type complex"),
        (np.array([["2020-01-31"]], "M8[D]"), "Column 'x0' holds dates or times.*elapsed time"),
        (np.array([[1]], "m8[D]"), "Column 'x0' holds dates or times"),
        ([[DAY, "a"]], "Column 'x0' holds dates or times"),
        (pd.DataFrame({"when": pd.to_datetime(["2020"])}), "Column 'when' holds dates"),
        (pl.DataFrame({"when": [DAY]}), "Column 'when' holds dates or times"),
        (np.zeros(3, [("a", float), ("b", float)]), "X has named fields"),
        ([[1, "a"], ["b", "c"]], r"Column 'x0' mixes number \(1 at row 0\) and str \('b' at ro"),
        (pl.LazyFrame({"a": [1]}), "X is a polars LazyFrame that is not computed yet.*collect"),
        (dd.from_pandas(FRAME, npartitions=1), "X is a dask .*DataFrame that is not computed"),
    ],
)
def test_what_is_no_table_gets_one_clear_message(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(X)


def test_dates_are_refused_however_columns_are_chosen() -> None:
    for chosen in ("auto", "all", None, [0]):
        for X in (np.array([["2020-01-31"]], "M8[D]"), pl.DataFrame({"x0": [DAY]})):
            with pytest.raises(InputError, match="Column 'x0' holds dates or times"):
                read(X, chosen)


def test_a_relation_of_a_database_is_refused() -> None:
    with (
        duckdb.connect() as database,
        pytest.raises(InputError, match="DuckDBPyRelation that is not computed yet"),
    ):
        read(database.sql("select 1 as a"))


def test_complex_numbers_are_refused_as_categories() -> None:
    with pytest.raises(InputError, match="Complex data not supported: X has type complex128"):
        read(np.array([[1j]]), "all")
