"""Findings about single columns: each is found where it is, and not where it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from novum.apps.job.table.findings_columns import column_findings, lonely
from novum.core.sources import ColumnReport, ReadReport
from novum.core.tables import Kind
from tests.apps.job.table.findings_of import LABELS, NOISE, RNG, N, findings_of
from tests.apps.job.table.tables import numbers


def test_ordinary_columns_give_no_finding() -> None:
    assert findings_of(column_findings, c=["a", "b"] * (N // 2)) == {}


def test_columns_left_out_are_said() -> None:
    found = findings_of(
        column_findings,
        row=np.arange(N),
        one=np.ones(N),
        none=[None] * N,
        day=["2024-01-01", "2024-01-02"] * (N // 2),
        note=[f"long text number {i}" for i in range(N)],
    )
    assert {kind: finding.columns for kind, finding in found.items()} == {
        "identifier": ("row",),
        "constant column": ("one",),
        "empty column": ("none",),
        "dates": ("day",),
        "free text": ("note",),
    }
    assert "leaves it out of the features" in found["identifier"].advice


def test_levels_and_labels_that_differ_in_case_alone() -> None:
    found = findings_of(column_findings, c=["low", "High"] * (N // 2))
    assert "levels alike" not in found
    found = findings_of(column_findings, c=["Low", "low", "high", None] * (N // 4))
    assert (found["levels alike"].severity, found["levels alike"].columns) == ("note", ("c",))
    labels = ["Yes", "no", "yes", "no"] * (N // 4)
    found = findings_of(column_findings, y=labels)
    assert (found["levels alike"].severity, found["levels alike"].columns) == ("warning", ("y",))
    assert "'Yes' and 'yes' of 'y'" in found["levels alike"].text


def test_many_columns_of_a_sort_are_one_finding() -> None:
    found = findings_of(column_findings, **{f"c{i}": np.full(N, i) for i in range(9)})
    assert len(found["constant column"].columns) == 9
    assert "and 4 more columns" in found["constant column"].text


def test_nearly_constant_columns() -> None:
    rare, less_rare = np.zeros(N), np.zeros(N)
    rare[:2], less_rare[:3] = 1, 1
    found = findings_of(column_findings, rare=rare, less=less_rare, word=["a"] * (N - 1) + ["b"])
    assert found["nearly constant column"].columns == ("rare", "word")
    assert "'rare' (99 %)" in found["nearly constant column"].text
    assert found["nearly constant column"].advice.endswith("This run keeps them.")


def test_mostly_missing_columns() -> None:
    half = [None if i % 2 else float(i) for i in range(N)]
    less = [None if i % 3 == 0 else i / 3 for i in range(N)]
    found = findings_of(column_findings, half=half, less=less)
    assert found["mostly missing"].columns == ("half",)
    assert found["mostly missing"].severity == "warning"
    assert "before relying on it. This run keeps it: " in found["mostly missing"].advice


@pytest.mark.parametrize("value", [-999, 9999, -1])
def test_sentinels(value: float) -> None:
    width = RNG.uniform(50, 90, N) if value != -1 else RNG.uniform(10, 15, N)
    width[:5] = value
    found = findings_of(column_findings, width=width)
    assert found["sentinel values"].columns == ("width",)
    assert f"{value:g} stands in 5 cells" in found["sentinel values"].text


def test_values_near_the_others_are_no_sentinels() -> None:
    temperature = np.linspace(-1, 30, N)
    temperature[:5] = -1
    counts = np.arange(N) % 100
    two = np.where(np.arange(N) % 40 == 0, 999.0, NOISE)
    two[two != 999] = 0
    found = findings_of(column_findings, t=temperature, n=counts, two=two)
    assert "sentinel values" not in found
    assert lonely(numbers(1, 2, 3, 99), 99) == 1
    assert lonely(numbers(1, 2, 50, 99), 99) == 0
    assert lonely(numbers(7, 7, 99), 99) == 0


def test_mixed_types_come_from_the_report() -> None:
    report = ReadReport(
        "t.csv",
        "CSV",
        N,
        (
            ColumnReport("x", Kind.NOMINAL, mixed=True, notes=("mixed: 3 numbers and 1 word",)),
            ColumnReport("y", Kind.NOMINAL, notes=("numbers with thousands separators",)),
        ),
    )
    assert findings_of(column_findings, report)["mixed types"].columns == ("y",)
    only = ReadReport("t.csv", "CSV", N, report.columns[:1])
    found = findings_of(column_findings, only)["mixed types"]
    assert "'x' is mixed: 3 numbers and 1 word" in found.text
    assert "--missing-values" not in found.advice
    word = ReadReport("t.csv", "CSV", N, (replace(report.columns[0], lone_word="k. A."),))
    found = findings_of(column_findings, word)["mixed types"]
    assert "If 'k. A.' means missing, --missing-values 'k. A.' says so." in found.advice
    notes = ("numbers as people write them: '5 %' in line 2 is 5; kinds='nominal' keeps the text",)
    amounts = ReadReport("t.csv", "CSV", N, (ColumnReport("x", Kind.NUMERIC, notes=notes),))
    found = findings_of(column_findings, amounts)["amounts"]
    assert found.text.endswith("numbers as people write them: '5 %' in line 2 is 5.")
    assert "--kind x=nominal" in found.advice
    large = ColumnReport("x", Kind.NUMERIC, notes=("numbers beyond 2^53, where float64 ...",))
    assert findings_of(column_findings, ReadReport("t.csv", "CSV", N, (large,))) == {}
    assert findings_of(column_findings, None) == {}


def test_many_levels_and_possible_groups() -> None:
    levels = [f"l{i % 101}" for i in range(N * 2)]
    found = findings_of(
        column_findings, x=np.tile(NOISE, 2), y=LABELS * 2, c=levels, patient_id=levels
    )
    assert found["many levels"].columns == ("c", "patient_id")
    assert found["possible groups"].columns == ("patient_id",)
    assert "--group patient_id" in found["possible groups"].advice
