"""The data: findings by severity, no row without a place, columns left out, working point."""

from __future__ import annotations

import dataclasses

from novum.apps.report.blocks import Notice
from novum.apps.report.sections.data import data_section
from tests.apps.report import sample_records
from tests.apps.report.sections.shown import FULL, LEAST, figures, row, table, texts


def test_dangers_come_first() -> None:
    section = data_section(sample_records.binary_record(), FULL)
    notices = [block for block in section.blocks if isinstance(block, Notice)]
    assert [notice.severity for notice in notices] == ["danger", "warning", "note"]
    assert notices[0].title == "Leak: payout"


def test_every_row_has_a_place() -> None:
    record = sample_records.binary_record()
    rows = [row(cells) for cells in table(data_section(record, FULL), "1,400 rows").rows]
    assert [cells[1] for cells in rows] == ["1,106", "276", "18"]
    fewer = dataclasses.replace(record, data=dataclasses.replace(record.data, n_train=1100))
    rows = [row(cells) for cells in table(data_section(fewer, FULL), "1,400 rows").rows]
    assert rows[-1][:2] == ["not used; the notes of this run say why", "6"]


def test_columns_left_out_and_working_point() -> None:
    section = data_section(sample_records.binary_record(), FULL)
    assert row(table(section, "Columns that no").rows[0])[0] == "policy number"
    point = table(section, "Working point")
    assert [column.title for column in point.columns][2:] == ["cost of “no”", "cost of “yes”"]
    assert row(point.rows[1]) == ["yes", "20 %", "5", "0"]


def test_nothing_to_say_is_said_and_pictures_can_be_left_out() -> None:
    section = data_section(sample_records.minimal_record(), FULL)
    assert "Nothing about the table calls for a warning" in texts(section)
    assert figures(data_section(sample_records.binary_record(), LEAST)) == []
    assert figures(data_section(sample_records.binary_record(), FULL)) == [
        "What is to be predicted"
    ]


def test_long_lists_of_columns_and_findings_are_counted() -> None:
    record = sample_records.binary_record()
    finding = dataclasses.replace(record.findings[0], columns=tuple("abcdefgh"))
    section = data_section(dataclasses.replace(record, findings=(finding,) * 150), FULL)
    notices = [block for block in section.blocks if isinstance(block, Notice)]
    assert len(notices) == 100
    assert notices[0].title == "Imbalance: a, b, c, d, e, f and 2 more"
    assert "The first 100 of 150 findings" in texts(section)
