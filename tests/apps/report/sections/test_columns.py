"""The profile: one line for each column, the telling ones of many, patterns of missing cells."""

from __future__ import annotations

import dataclasses

from novum.apps.report.blocks import Cell, Section, Table, Text
from novum.apps.report.sections.columns import column_blocks
from tests.apps.report import sample_records
from tests.apps.report.sections.shown import FULL, LEAST, SIMPLE, row, table

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
    words = [b.text for b in column_blocks(seen, FULL) if isinstance(b, Text)]
    assert "The profile was made from 1,000 rows." in words[0]
