"""Errors: a small matrix as a table, the peaks of a large one, one that does not fit."""

from __future__ import annotations

import dataclasses

from novum.apps.report.blocks import Section
from novum.apps.report.sections.errors import error_blocks
from tests.apps.report import sample_records
from tests.apps.report.sections.shown import FULL, figures, row, table, texts


def made(
    counts: list[list[float]], classes: tuple[str, ...], columns: tuple[str, ...] = ()
) -> Section:
    record = sample_records.binary_record()
    assert record.holdout is not None
    task = dataclasses.replace(record.task, classes=classes, actions=())
    holdout = dataclasses.replace(
        record.holdout, confusion=tuple(map(tuple, counts)), confusion_columns=columns
    )
    return Section("k", "T", "T", error_blocks(task, holdout, FULL))


def test_small_matrix_is_a_table_with_shares() -> None:
    shown = table(made([[3, 1], [0, 0]], ("a", "b")), "Rows by true class")
    assert row(shown.rows[0]) == ["a", "3 (75 %)", "1 (25 %)"]
    assert row(shown.rows[1]) == ["b", "0 (–)", "0 (–)"]


def test_peaks_of_a_large_matrix_are_its_errors_in_order() -> None:
    counts = [[50.0 * (i == j) for j in range(8)] for i in range(8)]
    counts[2][5], counts[7][0] = 3.0, 9.0
    shown = table(made(counts, tuple("abcdefgh")), "The most frequent errors")
    assert [row(cells)[:3] for cells in shown.rows] == [["h", "a", "9"], ["c", "f", "3"]]


def test_columns_of_another_order_still_know_what_is_right() -> None:
    names = tuple("abcdefgh")
    counts = [[float(i == 7 - j) for j in range(8)] for i in range(8)]
    assert "No row was taken for another class" in texts(made(counts, names, names[::-1]))


def test_hundreds_of_classes_have_no_picture_and_none_no_block() -> None:
    n = 120
    section = made([[float(i == j)] * n for i in range(n) for j in [0]], tuple(map(str, range(n))))
    assert figures(section) == []
    assert made([], ("a",)).blocks == []


def test_matrix_that_does_not_fit_is_not_drawn() -> None:
    assert "does not fit the classes" in texts(made([[1, 2, 3]], ("a", "b")))
