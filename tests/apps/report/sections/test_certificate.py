"""The certificate: its lines, counted where there are many, and none."""

from __future__ import annotations

import dataclasses

from novum.apps.report.blocks import Lines
from novum.apps.report.sections.certificate import certificate_section
from tests.apps.report import sample_records
from tests.apps.report.sections.shown import FULL, texts


def test_lines_are_shown_as_they_are() -> None:
    record = sample_records.binary_record()
    block = certificate_section(record, FULL).blocks[1]
    assert isinstance(block, Lines)
    assert tuple(block.items) == record.chosen.certificate


def test_many_lines_are_counted_and_none_is_said() -> None:
    record = sample_records.binary_record()
    long = dataclasses.replace(record.chosen, certificate=("line",) * 500)
    section = certificate_section(dataclasses.replace(record, chosen=long), FULL)
    assert "The first 100 of 500 lines" in texts(section)
    assert "carries no certificate" in texts(
        certificate_section(sample_records.minimal_record(), FULL)
    )
