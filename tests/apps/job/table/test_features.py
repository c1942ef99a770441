"""Kinds of columns: what is guessed and why, what options change, and each misuse in a sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.apps.job.request import Request
from novum.apps.job.table.features import MOST_WHOLE
from novum.apps.job.table.findings import find
from novum.apps.job.table.formalizing import formalize
from novum.apps.job.table.profile import profile_table
from novum.apps.job.table.reading import read
from novum.apps.job.table.task import Task
from novum.core.errors import InputError
from novum.core.tables import Kind
from tests.apps.job.runs import write_csv

N = 120
RNG = np.random.default_rng(4)
COLUMNS: dict[str, Any] = {
    "code": [f"{i:03d}" for i in range(N)],
    "size": RNG.choice(["small", "medium", "large"], N).tolist(),
    "grade": RNG.integers(1, 6, N).tolist(),
    "flag": RNG.integers(0, 2, N).tolist(),
    "day": [f"{1 + i % 28}.{1 + i % 12}.202{i % 4}" for i in range(N)],
    "number": [20240100 + 1 + i % 28 for i in range(N)],
    "note": [f"he said number {i} of many" for i in range(N)],
    "price": [-9.0 if i % 10 == 0 else float(i) / 7 for i in range(N)],
    "y": ["no", "yes"] * (N // 2),
}


def task_of(path: Path, **settings: Any) -> Task:
    request = replace(Request(write_csv(path / "t.csv", COLUMNS), "y"), **settings)
    return formalize(read(request), request)


def kinds_of(task: Task) -> dict[str, tuple[str, str]]:
    return {name: (kind, why) for name, kind, why in task.kinds}


def test_guessed_kinds_have_reasons(tmp_path: Path) -> None:
    task = task_of(tmp_path)
    kinds = kinds_of(task)
    assert {name: kind for name, (kind, _) in kinds.items()} == {
        "code": "id",
        "size": "nominal",
        "grade": "numeric",
        "flag": "numeric",
        "day": "date",
        "number": "numeric",
        "note": "text",
        "price": "numeric",
        "y": "nominal",
    }
    assert kinds["size"][1] == "3 levels of text that repeat"
    assert kinds["day"][1].startswith("dates such as ")
    assert kinds["note"][1].startswith("free text: 120 different texts of 6.0 words")
    assert kinds["y"][1] == "the target"
    assert all(why for _, why in kinds.values())
    columns = task.columns
    assert columns.dates == columns.day_first == ("day",)
    assert columns.texts == ("note",)
    assert columns.levels == ("size",)
    assert columns.whole == (("grade", 5), ("flag", 2))
    assert not columns.are_texts_alone
    assert [column.name for column in task.plain_schema.columns] == [
        *("size", "grade", "flag", "number", "price"),
    ]


def test_options_change_kinds(tmp_path: Path) -> None:
    task = task_of(
        tmp_path,
        kind=(
            ("code", "nominal"),
            ("grade", "ordinal"),
            ("number", "date"),
            ("note", "drop"),
            ("day", "id"),
            ("flag", "nominal"),
        ),
        levels=(("size", ("small", "medium", "large")),),
        missing_values=("-9.0",),
    )
    assert task.features == ("code", "size", "grade", "flag", "number", "price")
    assert task.columns.dates == ("number",)
    size = task.feature("size").column
    assert (size.kind, size.levels) == (Kind.ORDINAL, ("small", "medium", "large"))
    assert task.feature("grade").column.levels == ("1", "2", "3", "4", "5")
    assert task.feature("price").n_missing == N // 10
    assert task.columns.whole == ()
    assert kinds_of(task)["size"] == ("ordinal", "as --levels says")
    assert kinds_of(task)["flag"] == ("nominal", "as --kind says")
    assert {c.name: c.reason for c in task.left_out}["note"] == "left out, as --kind says"


def test_text_is_what_the_user_says(tmp_path: Path) -> None:
    assert task_of(tmp_path, kind=(("size", "text"),)).columns.texts == ("size", "note")
    assert task_of(tmp_path, kind=(("note", "nominal"),)).columns.texts == ()


def test_names_of_rows_are_kept_as_written(tmp_path: Path) -> None:
    task = task_of(tmp_path, id="code")
    assert task.ids is not None
    assert task.ids[:2].tolist() == ["000", "001"]
    assert "code" not in task.features
    assert {c.name: c.nature for c in task.left_out}["code"] == "id"
    numbers = task_of(tmp_path, id="number")
    assert numbers.ids is not None
    assert numbers.ids[0] == "20240101"


def test_bundled_tables_take_kinds_too() -> None:
    request = Request("iris", kind=(("sepal_length", "drop"), ("petal_width", "nominal")))
    task = formalize(read(request), request)
    assert task.features == ("sepal_width", "petal_length", "petal_width")
    assert task.feature("petal_width").column.kind is Kind.NOMINAL
    assert task.kind == "multiclass"


def test_a_date_column_may_be_the_time(tmp_path: Path) -> None:
    task = task_of(tmp_path, time="day")
    assert task.order is not None
    first = np.flatnonzero(task.order == 0)
    assert {COLUMNS["day"][i] for i in first} == {"1.1.2020"}


def test_doubtful_dates_and_times_of_the_day(tmp_path: Path) -> None:
    columns = {
        "day": [f"{1 + i % 12}/{1 + i % 9}/2024" for i in range(N)],
        "clock": [f"{i % 24}:{i % 60:02d}" for i in range(N)],
        "two words": [f"he said number {i} of many" for i in range(N)],
        "y": COLUMNS["y"],
    }
    request = Request(write_csv(tmp_path / "t.csv", columns), "y")
    loaded = read(request)
    task = formalize(loaded, request)
    assert task.columns.dates == ("day", "clock")
    assert task.columns.day_first == ()
    assert kinds_of(task)["day"][1].endswith(", read with the month before the day")
    profile = profile_table(loaded.table, loaded.schema, "y", task.kind, task.kinds)
    found = {finding.kind: finding for finding in find(task, profile)}
    assert "say --kind day=nominal, or --kind day=drop." in found["dates"].advice
    assert "--kind 'two words=drop'" in found["free text"].advice


def test_few_whole_numbers_are_hinted_at(tmp_path: Path) -> None:
    task = task_of(tmp_path)
    loaded = read(Request(str(tmp_path / "t.csv"), "y"))
    profile = profile_table(loaded.table, loaded.schema, "y", task.kind, task.kinds)
    found = {finding.kind: finding for finding in find(task, profile)}
    assert found["numbers or levels"].columns == ("grade",)
    assert "--kind grade=nominal" in found["numbers or levels"].advice
    assert found["two values"].columns == ("flag",)
    assert {column.name: column.kind for column in profile.columns}["day"] == "date"


def test_many_whole_numbers_are_amounts(tmp_path: Path) -> None:
    many = {**COLUMNS, "grade": [i % (MOST_WHOLE + 1) for i in range(N)]}
    request = Request(write_csv(tmp_path / "t.csv", many), "y")
    assert "grade" not in dict(formalize(read(request), request).columns.whole)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": (("pric", "text"),)}, "--kind names the column 'pric', .* Did you mean 'price'"),
        ({"levels": (("siez", ("a", "b")),)}, "--levels names the column 'siez'.*'size'"),
        ({"id": "cod"}, "'cod'.*Did you mean 'code'"),
        ({"kind": (("size", "nominl"),)}, "size=nominl is no kind. Did you mean nominal"),
        ({"kind": (("size", "zebra"),)}, "Kinds are numeric, nominal, ordinal, text, date"),
        ({"kind": (("size", "numeric"),)}, "--kind declares column 'size' numeric, but it holds"),
        ({"kind": (("size", "ordinal"),)}, "Give its levels from low to high with --levels"),
        ({"kind": (("size", "date"),)}, "--kind size=date does not fit.*which is no date"),
        ({"levels": (("size", ("small", "large")),)}, "none of the levels that --levels lists"),
        ({"kind": (("size", "text"), ("size", "drop"))}, "--kind names the column 'size' twice"),
        (
            {"kind": (("size", "text"),), "levels": (("size", ("small", "medium", "large")),)},
            "--levels names the column 'size' too, as --kind does",
        ),
        ({"kind": (("code", "text"),), "id": "code"}, "--id names the column 'code' too"),
        ({"kind": (("y", "drop"),)}, "--kind y=drop does not go with the target"),
        ({"id": "y"}, "cannot be the target and the id"),
    ],
)
def test_misuse_is_one_sentence(tmp_path: Path, settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        task_of(tmp_path, **settings)
    assert "`" not in str(caught.value)
    assert "\n" not in str(caught.value)
