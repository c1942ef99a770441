"""Reading the table of a run: what is read, its checksum, one clear sentence for every fault."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from novum.apps.job.request import Request
from novum.apps.job.table.findings import find
from novum.apps.job.table.formalizing import formalize, formalize_like
from novum.apps.job.table.profile import profile_table
from novum.apps.job.table.reading import read, read_like
from novum.core.errors import FileFormatError, InputError
from novum.core.tables import Kind
from novum.data import available
from tests.apps.job.table.tables import csv, read_text

TABLE = "age,city,y\n31,Ulm,yes\n?,Bonn,no\n40,Ulm,yes\n"


def test_a_file_with_its_checksum_and_report(tmp_path: Path) -> None:
    found = read_text(tmp_path, TABLE)
    assert (found.name, found.n_rows, found.n_columns) == ("t.csv", 3, 3)
    assert found.sha256 == hashlib.sha256(TABLE.encode()).hexdigest()
    assert found.table.column("age").to_pylist() == [31.0, None, 40.0]
    assert found.column("city").levels == ("Bonn", "Ulm")
    assert found.report.missing_cells == 1
    assert found.task is None


def test_parquet_and_arff(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": ["a", "b"]}), path)
    assert read(Request(str(path), "y")).n_rows == 2
    arff = "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n1,a\n2,b\n"
    assert read(Request(csv(tmp_path, arff, "t.arff"), "y")).schema.names == ("x", "y")


@pytest.mark.parametrize("name", available())
def test_bundled_tables_know_their_target(name: str) -> None:
    found = read(Request(name))
    assert found.target in found.schema.names
    assert found.task in ("classification", "regression")
    assert len(found.sha256) == 64
    assert found.report.rows == found.n_rows
    assert found.report.missing_cells == sum(c.null_count for c in found.table.columns)


def test_another_target_of_a_bundled_table_has_no_known_task() -> None:
    found = read(Request("iris", "petal_width"))
    assert (found.target, found.task) == ("petal_width", None)


def test_mixed_columns_are_in_the_report_and_not_a_warning(tmp_path: Path) -> None:
    found = read_text(tmp_path, "x,y\n1,a\n2,b\n3,a\nnone,b\n")
    assert found.report.mixed_columns == ("x",)
    assert found.column("x").kind is Kind.NOMINAL


@pytest.mark.slow
def test_five_thousand_columns(tmp_path: Path) -> None:
    head = ",".join([f"c{i}" for i in range(4999)] + ["y"])
    rows = "\n".join(",".join([str(i)] * 4999 + ["ab"[i % 2]]) for i in range(4))
    assert read_text(tmp_path, f"{head}\n{rows}\n").n_columns == 5000


# --- Faults ---------------------------------------------------------------------------------------


def test_a_wrong_target_suggests_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t\.csv has no column 'City' to be the target. Did you "
                                         r"mean 'city'\?"):  # fmt: skip
        read_text(tmp_path, TABLE, "City")
    with pytest.raises(InputError, match=r"no column 'qqq'.*Its columns are 'age', 'city', 'y'\."):
        read_text(tmp_path, TABLE, "qqq")
    with pytest.raises(InputError, match=r"no column 'agee' to be the weight. Did you mean 'age'"):
        read_text(tmp_path, TABLE, weight="agee")


def test_no_target_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Which column of t\.csv.*--target.*'age', 'city', 'y'"):
        read(Request(csv(tmp_path, TABLE)))


def test_one_column_has_one_role(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'y' cannot be the target and the group.*--group"):
        read_text(tmp_path, TABLE, group="y")


def test_wrong_paths_suggest_what_is_there(tmp_path: Path) -> None:
    csv(tmp_path, TABLE, "patients.csv")
    with pytest.raises(InputError, match=r"There is no file .*Did you mean 'patients\.csv'\?"):
        read(Request(str(tmp_path / "patient.csv"), "y"))
    with pytest.raises(InputError, match="Did you mean 'iris'"):
        read(Request(str(tmp_path / "irris"), "y"))
    with pytest.raises(InputError, match="There is no folder"):
        read(Request(str(tmp_path / "nowhere" / "t.csv"), "y"))
    with pytest.raises(InputError, match="bundled table: auto_mpg"):
        read(Request(str(tmp_path / "zzzzzzzzzz.csv"), "y"))
    with pytest.raises(InputError, match="is a folder without Parquet files"):
        read(Request(str(tmp_path), "y"))
    with pytest.raises(InputError, match="cannot be read: embedded null byte"):
        read(Request("a\0b.csv", "y"))


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_files_that_may_not_be_read(tmp_path: Path) -> None:
    path = Path(csv(tmp_path, TABLE))
    path.chmod(0)
    with pytest.raises(InputError, match=r"permission is denied\. Allow reading"):
        read(Request(str(path), "y"))


def test_ragged_rows_are_named_by_line(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"t\.csv, line 3") as caught:
        read_text(tmp_path, "a,b,y\n1,2,x\n1,2\n3,4,z\n")
    assert caught.value.line == 3


def test_empty_files_and_files_without_rows(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"t\.csv is empty. A table needs a header"):
        read_text(tmp_path, "")
    with pytest.raises(FileFormatError, match="a header but no rows"):
        read_text(tmp_path, "a,b,y\n")


def test_encodings_that_are_none_are_named(tmp_path: Path) -> None:
    found = read(Request(csv(tmp_path, "name,y\nJürgen,a\nMax,b\n", encoding="cp1252"), "y"))
    assert found.column("name").levels == ("Jürgen", "Max")
    path = tmp_path / "bad.csv"
    path.write_bytes("name,y\nJürgen,a\n".encode() + b"M\xffx,b\n")
    with pytest.raises(FileFormatError, match=r"bad\.csv, line 3: byte 0xff.*, such as UTF-8\.$"):
        read(Request(str(path), "y"))


# --- Cells that another type would change ---------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "kept"),
    [
        (("TRUE", "FALSE"), ("FALSE", "TRUE")),
        (("no", "yes"), ("no", "yes")),
        (("007", "010"), ("007", "010")),
        (("1", "2"), (1, 2)),
        # Truth values in several writings are truth values all the same.
        (("true", "True", "false"), (False, True)),
    ],
)
def test_labels_stay_as_the_file_writes_them(
    tmp_path: Path, labels: tuple[str, ...], kept: tuple[Any, ...]
) -> None:
    rows = "".join(f"{k % 7},{labels[k % len(labels)]}\n" for k in range(30))
    found = read_text(tmp_path, f"x,y\n{rows}")
    classes = formalize(found, Request("t.csv", "y")).classes
    assert classes is not None
    assert tuple(classes.tolist()) == kept


def test_truth_values_of_another_file_may_be_written_in_another_case(tmp_path: Path) -> None:
    rows = "x,y\n" + "1,true\n2,false\n" * 8
    table = read_text(tmp_path, rows)
    task = formalize(table, Request("t.csv", "y"))
    other = read_like(csv(tmp_path, rows.upper().replace("X,Y", "x,y"), "o.csv"), table, ("x", "y"))
    again = formalize_like(other, task, Request("o.csv", "y"))
    assert again.coded.tolist() == task.coded.tolist()


def test_whole_numbers_that_would_merge_keep_their_digits(tmp_path: Path) -> None:
    base = 1234567890123456000
    rows = "".join(f"{base + k % 4},{2**60 + 1024 * k},{k}.5e20,{k}\n" for k in range(24))
    found = read_text(tmp_path, f"account,far,amount,y\n{rows}")
    assert found.as_text == ("account",)
    assert set(found.column("account").levels) == {str(base + k) for k in range(4)}
    assert found.column("far").kind is found.column("amount").kind is Kind.NUMERIC
    task = formalize(found, Request("t.csv", "y"))
    profile = profile_table(found.table, found.schema, "y", task.kind)
    (said,) = [f for f in find(task, profile, found.report) if f.kind == "long whole numbers"]
    assert said.columns == ("account",)
    assert "4 different texts, which would be 1 otherwise" in said.text
    request = Request(str(tmp_path / "t.csv"), "y", kind=(("account", "numeric"),))
    assert read(request).column("account").kind is Kind.NUMERIC


# --- A file to judge on ---------------------------------------------------------------------------


def test_another_file_is_read_by_the_same_schema(tmp_path: Path) -> None:
    table = read_text(tmp_path, "zip,size,t,y\n01,s,true,a\n02,m,false,b\nx,s,true,a\n")
    other = csv(tmp_path, "extra,t,size,zip,y\n9,true,m,3,b\n9,false,new,4,a\n", "test.csv")
    found = read_like(other, table, ("zip", "size", "t", "y"))
    assert found.schema.names == ("zip", "size", "t", "y")
    # Alone these would be numbers.
    assert found.column("zip").levels == ("3", "4")
    assert found.column("size").levels == ("m", "new")
    assert found.column("t").levels == (False, True)


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    table = read_text(tmp_path, "x,c,t,y\n1,a,true,u\n2,b,false,v\n")
    needed = ("x", "c", "t", "y")
    absent = csv(tmp_path, "X2,c,t,y\n1,a,true,u\n", "absent.csv")
    with pytest.raises(InputError, match=r"absent\.csv lacks the column 'x'.*Did you mean 'X2'"):
        read_like(absent, table, needed)
    wordy = csv(tmp_path, "x,c,t,y\nmany,a,true,u\n", "wordy.csv")
    with pytest.raises(FileFormatError, match=r"wordy\.csv does not fit t\.csv.*line 2.*'many'"):
        read_like(wordy, table, needed)
    truth = csv(tmp_path, "x,c,t,y\n1,a,perhaps,u\n", "truth.csv")
    with pytest.raises(InputError, match=r"'t' of truth\.csv does not.*'perhaps' here, .*False"):
        read_like(truth, table, needed)
    with pytest.raises(InputError, match="There is no file"):
        read_like(str(tmp_path / "no.csv"), table, needed)
