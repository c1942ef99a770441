"""The judgment on new rows, and its errors."""

from __future__ import annotations

import dataclasses

from novum.apps.report.judgment import error_blocks, judgment_section
from novum.display import Section
from tests.apps.report import sample_parts, sample_records
from tests.apps.report.shown import FULL, LEAST, figures, row, table, texts

# --- Judgment -------------------------------------------------------------------------------------


def test_binary_run_has_all_its_figures_in_order() -> None:
    section = judgment_section(sample_records.binary_record(), FULL)
    assert figures(section) == [
        "What is taken for what",
        "Calibration",
        "Cost of the decision at every threshold",
        "ROC curve",
        "Precision and recall",
        "Detection error trade-off",
        "Cost at every working point",
    ]
    assert "It decided 40 rows wrong." in texts(section)


def test_regression_has_its_own() -> None:
    section = judgment_section(sample_records.regression_record(), FULL)
    assert figures(section) == ["Residuals", "Law of the residuals"]
    assert row(table(section, "Measures").rows[0]) == [
        "root mean squared error",
        "54.1",
        "[48.9, 59.3]",
    ]


def test_worst_rows_and_groups_are_listed() -> None:
    section = judgment_section(sample_records.binary_record(), FULL)
    assert row(table(section, "The worst errors").rows[1]) == [
        *("1,204", "yes", "no", "1", "age of the car 9.25, region north")
    ]
    groups = table(section, "Groups")
    assert row(groups.rows[0]) == ["region: north", "41", "0.34 [0.24, 0.44]", "0.11", "0.004"]
    assert "Of 23 groups of rows that were looked at, 1 is clearly worse" in groups.note
    shares = judgment_section(sample_records.multiclass_record(), FULL)
    assert row(table(shares, "The worst errors").rows[0])[3] == "4 %"
    assert row(table(shares, "Groups").rows[0])[2] == "34 % [24 %, 44 %]"


def test_no_mistakes_and_no_clear_group_are_said() -> None:
    record = sample_records.binary_record()
    assert record.holdout is not None
    assert record.holdout.mistakes is not None
    _, unclear = record.holdout.mistakes.groups
    none = dataclasses.replace(record.holdout.mistakes, n_wrong=0, worst=(), groups=(unclear,))
    holdout = dataclasses.replace(record.holdout, mistakes=none)
    section = judgment_section(dataclasses.replace(record, holdout=holdout), FULL)
    assert "It decided all of them right" in texts(section)
    assert "none is clearly worse" in table(section, "Groups").note


def test_measures_of_classes_stand_in_columns() -> None:
    shown = table(judgment_section(sample_records.binary_record(), FULL), "Measures of each")
    assert [column.title for column in shown.columns] == ["class", "precision", "recall"]
    assert row(shown.rows[1])[1] == "0.706 [0.656, 0.756]"


def test_class_without_a_measure_has_a_dash() -> None:
    record = sample_records.binary_record()
    assert record.holdout is not None
    first, second = record.holdout.class_measures
    holdout = dataclasses.replace(
        record.holdout, class_measures=(first, (second[0], second[1][:1]))
    )
    section = judgment_section(dataclasses.replace(record, holdout=holdout), FULL)
    assert row(table(section, "Measures of each").rows[1])[2] == "–"


def test_unknown_curve_is_drawn_and_a_point_is_not() -> None:
    record = sample_records.binary_record()
    assert record.holdout is not None
    curves = {
        "lift": (sample_parts.curve([0, 1], [1, 2]),),
        "roc": (sample_parts.curve([0], [1]),),
        "empty": (),
    }
    holdout = dataclasses.replace(record.holdout, curves=curves, confusion=())
    section = judgment_section(dataclasses.replace(record, holdout=holdout), FULL)
    assert figures(section) == ["lift"]


def test_no_rows_set_aside_is_said_and_pictures_can_be_left_out() -> None:
    assert "No rows were set aside" in texts(judgment_section(sample_records.tiny_record(), FULL))
    assert figures(judgment_section(sample_records.binary_record(), LEAST)) == []


# --- Errors ---------------------------------------------------------------------------------------


def made(
    counts: list[list[float]], classes: tuple[str, ...], columns: tuple[str, ...] = ()
) -> Section:
    record = sample_records.binary_record()
    assert record.holdout is not None
    task = dataclasses.replace(record.task, classes=classes, actions=())
    holdout = dataclasses.replace(
        record.holdout, confusion=tuple(map(tuple, counts)), confusion_columns=columns
    )
    drawn, blocks = error_blocks(task, holdout, FULL)
    return Section("k", "T", "T", [*drawn, *blocks])


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
