"""The judgment: measures, figures by task, curves that are unknown, no hold-out."""

from __future__ import annotations

import dataclasses

from novum.apps.report.sections.judgment import judgment_section
from tests.apps.report import sample_parts, sample_records
from tests.apps.report.sections.shown import FULL, LEAST, figures, row, table, texts


def test_binary_run_has_all_its_figures_in_order() -> None:
    assert figures(judgment_section(sample_records.binary_record(), FULL)) == [
        "Confusion matrix",
        "Cost of the decision at every threshold",
        "Cost at every working point",
        "Calibration",
        "ROC curve",
        "Precision and recall",
        "Detection error trade-off",
    ]


def test_regression_has_its_own() -> None:
    section = judgment_section(sample_records.regression_record(), FULL)
    assert figures(section) == ["Observed against predicted", "Residuals", "Law of the residuals"]
    assert row(table(section, "Measures").rows[0]) == [
        "root mean squared error",
        "54.1",
        "[48.9, 59.3]",
    ]


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
