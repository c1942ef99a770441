"""The model: drawing, rules, terms, and what is too large or no drawing."""

from __future__ import annotations

import dataclasses

from novum.apps.report.blocks import Lines
from novum.apps.report.sections.model import model_section
from tests.apps.report import sample_records
from tests.apps.report.sections.shown import FULL, LEAST, figures, flat, row, table, texts


def with_drawing(svg: str) -> sample_records.RunRecord:
    record = sample_records.binary_record()
    explanation = dataclasses.replace(record.chosen.explanation, svg=svg)
    return dataclasses.replace(
        record, chosen=dataclasses.replace(record.chosen, explanation=explanation)
    )


def test_tree_is_drawn_with_its_rules() -> None:
    section = model_section(sample_records.binary_record(), FULL)
    assert figures(section) == ["The model drawn", "Importance of the columns"]
    lines = [block for block in flat(section.blocks) if isinstance(block, Lines)]
    assert lines[0].items[0] == "no if age of the car <= 41.5"
    assert "fitted again to all rows" in texts(section)


def test_coefficients_are_drawn_and_listed() -> None:
    section = model_section(sample_records.regression_record(), FULL)
    assert figures(section)[0] == "Coefficient"
    assert row(table(section, "Coefficient").rows[0]) == ["bmi", "520", "[287, 754]"]


def test_drawing_that_is_none_is_refused_in_words() -> None:
    section = model_section(with_drawing("<svg><broken></svg>"), FULL)
    assert "The drawing of the model is not shown. The drawing is not well-formed" in texts(section)
    assert "The model drawn" not in figures(section)


def test_drawing_that_is_too_large_is_left_out_in_words() -> None:
    large = "<svg>" + "<path d='M0 0'/>" * 60_000 + "</svg>"
    assert "too large for this page" in texts(model_section(with_drawing(large), FULL))


def test_model_without_words_says_so_and_tables_replace_pictures() -> None:
    section = model_section(sample_records.minimal_record(), FULL)
    assert "no rules or coefficients" in texts(section)
    least = model_section(sample_records.regression_record(), LEAST)
    assert figures(least) == []
    assert len(table(least, "Coefficient").rows) == 10


def test_judged_model_that_is_kept_is_said_to_be() -> None:
    record = sample_records.binary_record()
    kept = dataclasses.replace(record.chosen, refitted_on_all=False)
    section = model_section(dataclasses.replace(record, chosen=kept), FULL)
    assert "it never saw the rows set aside" in texts(section)
    assert "compared on" in texts(model_section(sample_records.tiny_record(), FULL))
