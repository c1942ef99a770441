"""svmlight files: scikit-learn's reader as witness, messages with lines, random bytes."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from novum.core.errors import FileFormatError, InputError, MemoryLimitError
from novum.core.sources import Limits
from novum.data.svmlight import LAST_COLUMN, SvmlightTable, read_svmlight


def written(folder: Path, text: str | bytes, name: str = "t.svmlight") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def assert_same_cells(table: SvmlightTable, expected: Any) -> None:
    assert table.X.shape == expected.shape
    np.testing.assert_array_equal(table.X.indptr, expected.indptr)
    np.testing.assert_array_equal(table.X.indices, expected.indices)
    np.testing.assert_array_equal(table.X.data, expected.data)


# --- Against scikit-learn -------------------------------------------------------------------------

VALID = {
    "one-based": "1 1:0.5 3:-2e3\n-1 2:1\n",
    "zero-based": "1 0:0.5 3:-2e3\n-1 2:1\n",
    "comments and blanks": "# head\n\n1 1:2 # tail 9:9\n   \n0 1:3\t2:4\r\n",
    "rows without cells": "3\n4 5:1\n5\n",
    "no cells at all": "3\n4\n",
    "stored zeros and missing cells": "0 1:0 2:nan\n1 1:-0.0 2:inf\n",
    "no newline at the end": "1 1:1\n2 2:2",
    "signs and exponents": "+1 1:+.5 2:1E-300\n-0 3:123456789012345678\n",
}


@pytest.mark.parametrize("case", sorted(VALID))
def test_valid_files_read_as_scikit_learn_reads_them(tmp_path: Path, case: str) -> None:
    path = written(tmp_path, VALID[case])
    X, y = load_svmlight_file(str(path))
    table = read_svmlight(path)
    assert_same_cells(table, X)
    np.testing.assert_array_equal(table.y, y)
    assert table.groups is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_what_scikit_learn_writes_is_read_to_the_last_bit(
    tmp_path: Path, seed: int, zero_based: bool, with_groups: bool
) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 12)), int(rng.integers(1, 9))
    X = sparse.random(n, d, 0.4, "csr", random_state=seed, data_rvs=rng.standard_normal)
    y, groups = rng.normal(size=n), np.sort(rng.integers(0, 4, n))
    path = str(tmp_path / "t.svmlight")
    query = groups if with_groups else None
    dump_svmlight_file(X, y, path, zero_based=zero_based, query_id=query)
    table = read_svmlight(path, n_features=d, zero_based=zero_based)
    assert_same_cells(table, load_svmlight_file(path, n_features=d, zero_based=zero_based)[0])
    np.testing.assert_allclose(table.X.toarray(), X.toarray(), rtol=1e-15)
    assert (table.groups is None) if not with_groups else table.groups.tolist() == groups.tolist()


def test_packed_and_plain_files_are_equal_and_blocks_join(tmp_path: Path) -> None:
    # Three megabytes: the lines are cut into blocks, and a row must not notice.
    rng = np.random.default_rng(0)
    lines = [f"{i} {i % 7 + 1}:{v:.17g} 9:{i}" for i, v in enumerate(rng.normal(size=90_000))]
    text = ("\n".join(lines) + "\n").encode()
    plain = written(tmp_path, text)
    packed = written(tmp_path, gzip.compress(text), "t.svmlight.gz")
    first, second = read_svmlight(plain), read_svmlight(packed)
    X, y = load_svmlight_file(str(plain))
    for table in (first, second):
        assert_same_cells(table, X)
        np.testing.assert_array_equal(table.y, y)


def test_label_sets_are_those_of_scikit_learn(tmp_path: Path) -> None:
    path = written(tmp_path, "3,1 1:1\n2 2:1\n1:5\n")
    _, expected = load_svmlight_file(str(path), multilabel=True)
    assert read_svmlight(path).y == tuple(expected) == ((1.0, 3.0), (2.0,), ())
    path = written(tmp_path, "2 2:1\n1:5\n")
    assert read_svmlight(path, targets="label_sets").y == ((2.0,), ())


# --- What is decided, and said --------------------------------------------------------------------


def test_the_first_column_is_explained(tmp_path: Path) -> None:
    one, zero = written(tmp_path, "1 1:1\n", "one"), written(tmp_path, "1 1:1\n0 0:3\n", "zero")
    assert read_svmlight(one).first_column == 1
    assert read_svmlight(one).note == "columns counted from 1, as no line names a column 0"
    assert read_svmlight(zero).note == "columns counted from 0, as line 2 names a column 0"
    assert read_svmlight(one, zero_based=True).X.shape == (1, 2)
    assert repr(read_svmlight(zero)).startswith("2 rows, 2 columns, 2 stored cells; ")


def test_text_of_sixteen_bits_and_marks_are_read(tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        path = written(tmp_path, "1 1:2.5 # ü\n".encode(encoding))
        assert read_svmlight(path).X.toarray().tolist() == [[2.5]]


def test_the_arguments_are_not_changed_and_the_value_unpacks(tmp_path: Path) -> None:
    X, y = read_svmlight(written(tmp_path, "1 1:2\n"), n_features=4)
    assert X.shape == (1, 4)
    assert y.tolist() == [1.0]


# --- Broken and hostile files ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1 1:1\n2 2:x\n", 2, r"the value of column '2' is 'x', which is no number"),
        ("1 1:1 2\n", 1, r"'2' is no cell\. Write <column>:<value>"),
        ("1 1:1 2:3:4\n", 1, r"'2:3:4' is no cell"),
        ("1 1: 1\n", 1, r"the value of column '1' is ''"),
        ("1 a:1\n", 1, r"'a' is no column number"),
        ("1 1.5:1\n", 1, r"'1\.5' is no column number"),
        ("1 1_0:1\n", 1, r"'1_0' is no column number"),
        ("1 1:1_0\n", 1, r"is '1_0', which is no number"),
        ("# c\n\n1 3:1 2:1\n", 3, r"column 2 stands behind column 3.*must increase"),
        ("1 3:1 3:1\n", 1, r"column 3 stands behind column 3"),
        ("1 -1:2\n", 1, r"there is a column -1"),
        (f"1 {LAST_COLUMN + 1}:2\n", 1, r"there is a column 2147483647.*up to 2,147,483,646"),
        ("1 " + "9" * 30 + ":2\n", 1, r"is no column number"),
        ("spam 1:2\n", 1, r"the target is 'spam', which is no number"),
        ("1 1:2\n1:2 2:3\n", 2, r"no target before the first cell"),
        ("1,2 1:1\n1,,2 1:1\n", 2, r"the label is ''"),
        ("1 qid:1 1:2\n2 1:2\n", 2, r"no qid, but line 1 has one"),
        ("1 1:2\n2 qid:1 1:2\n", 1, r"no qid, but line 2 has one"),
        ("1 qid:a 1:2\n", 1, r"'a' is no qid"),
        ("1 qid:" + "9" * 19 + " 1:2\n", 1, r"is no qid"),
        ("1 1:\x1b[2J\n", 1, r"'\\\\x1b\[2J', which is no number"),
        ("1 1:1\x00\n", 1, r"zero byte"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as problem:
        read_svmlight(written(tmp_path, text))
    assert problem.value.line == line
    assert f"line {line}:" in str(problem.value)


def test_sizes_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "1 1:1\n2 7:1\n")
    with pytest.raises(FileFormatError, match=r"line 2: it names column 7, which is beyond n_feat"):
        read_svmlight(path, n_features=6)
    with pytest.raises(FileFormatError, match=r"line 1: it names a column 0, but zero_based=False"):
        read_svmlight(written(tmp_path, "1 0:1\n"), zero_based=False)
    long = written(tmp_path, "1 " + " ".join(f"{i}:1" for i in range(20_000)) + "\n")
    with pytest.raises(MemoryLimitError, match=r"20,000 stored cells so far needs 480"):
        read_svmlight(long, memory_limit=100_000)
    with pytest.raises(FileFormatError, match="longer than"):
        read_svmlight(
            written(tmp_path, b"1 " + b"1" * (3 << 20)), limits=Limits(record_bytes=1 << 20)
        )
    bomb = written(tmp_path, gzip.compress(b"1 1:1\n" * 400_000), "b.gz")
    with pytest.raises(FileFormatError, match="unpacks to more than 250 times"):
        read_svmlight(bomb, limits=Limits(expansion_floor=1 << 20))


def test_a_far_column_costs_no_memory(tmp_path: Path) -> None:
    table = read_svmlight(written(tmp_path, f"1 {LAST_COLUMN}:1\n"))
    assert table.X.shape == (1, LAST_COLUMN)
    assert table.X.nnz == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"zero_based": "yes"}, "zero_based is True, False or 'auto', got 'yes'"),
        ({"targets": "classes"}, "targets is 'auto', 'numbers' or 'label_sets'"),
        ({"n_features": 0}, "n_features is a number of columns"),
    ],
)
def test_unknown_options_are_named(tmp_path: Path, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_svmlight(written(tmp_path, "1 1:1\n"), **options)


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_files_without_rows_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileFormatError, match="has no rows"):
        read_svmlight(written(tmp_path, text))


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_svmlight(tmp_path / "absent.svmlight")
    with pytest.raises(InputError, match="is a folder"):
        read_svmlight(tmp_path)


# --- Random bytes ---------------------------------------------------------------------------------

PIECES = [b"1", b"2", b"-1", b"0.5", b":", b" ", b"\n", b"#", b"qid:", b",", b"e", b"nan", b"\t"]


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join),
        st.binary(max_size=60),
        st.lists(st.sampled_from([*PIECES, b"\xff", b"\r", b"\x0b"]), max_size=30).map(b"".join),
    )
)
def test_any_bytes_give_a_table_or_a_message_and_agree_with_scikit_learn(
    tmp_path: Path, data: bytes
) -> None:
    path = written(tmp_path, data)
    try:
        table = read_svmlight(path, targets="numbers")
    except FileFormatError:
        return
    assert table.X.has_sorted_indices
    assert len(table.y) == table.X.shape[0]
    # A lone return ends a line for us and is a blank for scikit-learn; marks only we know.
    if b"\r" in data or data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return
    X, y, groups = load_svmlight_file(str(path), query_id=True)
    assert_same_cells(table, X)
    np.testing.assert_array_equal(table.y, y)
    assert groups.tolist() == ([] if table.groups is None else table.groups.tolist())
