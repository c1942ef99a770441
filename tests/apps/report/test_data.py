"""Task, rows, findings and columns."""

from __future__ import annotations

import dataclasses

from novum.apps.report.data import column_blocks, data_section
from novum.display import Cell, Notice, Paragraph, Section, Table
from tests.apps.report import sample_records
from tests.apps.report.shown import FULL, LEAST, SIMPLE, figures, flat, row, table, texts

# --- Data -----------------------------------------------------------------------------------------


def test_dangers_come_first() -> None:
    section = data_section(sample_records.binary_record(), FULL)
    notices = [block for block in flat(section.blocks) if isinstance(block, Notice)]
    assert [notice.severity for notice in notices] == ["danger", "warning", "note"]
    assert notices[0].title == "Leak: payout"
    # Mere notes are behind a fold.
    assert [b.severity for b in section.blocks if isinstance(b, Notice)] == ["danger", "warning"]


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
    notices = [block for block in flat(section.blocks) if isinstance(block, Notice)]
    assert len(notices) == 100
    assert notices[0].title == "Imbalance: a, b, c, d, e, f and 2 more"
    assert "The first 100 of 150 findings" in texts(section)


# --- Columns --------------------------------------------------------------------------------------


PROFILE = sample_records.binary_record().profile


def made(profile: sample_records.ProfileRecord = PROFILE) -> Section:
    return Section("k", "T", "T", column_blocks(profile, FULL))


def test_lines_of_numbers_and_of_levels() -> None:
    rows = [row(cells) for cells in table(made(), "Columns").rows]
    assert rows[3][:4] == ["region", "nominal", "3.8 %", "4"]
    assert rows[3][5] == "north 520, south 410, east 240, and 1 more"
    assert rows[0][5].startswith("0.402 to 37.3, median")
    assert rows[0][6] == "21.4 %"


def test_pictures_are_left_out_at_the_least_level() -> None:
    for detail, has_pictures in ((FULL, True), (LEAST, False)):
        tables = [b for b in column_blocks(PROFILE, detail) if isinstance(b, Table)]
        cells = [c for cells in tables[0].rows for c in cells if isinstance(c, Cell)]
        assert any(cell.picture for cell in cells) == has_pictures


def test_most_telling_of_many_columns_are_listed() -> None:
    columns = tuple(
        dataclasses.replace(PROFILE.columns[0], name=f"c{k}", association=k / 100 or None)
        for k in range(50)
    )
    profile = dataclasses.replace(PROFILE, columns=columns)
    shown = next(b for b in column_blocks(profile, SIMPLE) if isinstance(b, Table))
    assert [row(cells)[0] for cells in shown.rows] == [f"c{k}" for k in range(49, 29, -1)]
    assert "The 20 of 50 columns that tell most are listed" in shown.note


def test_patterns_and_samples_are_said() -> None:
    assert row(table(made(), "Cells").rows[1])[:2] == ["region, fuel", "3"]
    seen = dataclasses.replace(PROFILE, seen_rows=1000)
    words = [b.text for b in column_blocks(seen, FULL) if isinstance(b, Paragraph)]
    assert "The profile was made from 1,000 rows." in words[0]
