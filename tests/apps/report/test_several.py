"""The page of several targets: headline, sections, and hostile names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from novum.apps.report.page import render
from tests.apps.report.page_parts import assert_harmless, parsed
from tests.apps.report.several_records import labels_record, several_record


@pytest.mark.parametrize("record", [several_record(), labels_record()])
def test_every_identifier_occurs_once_and_every_link_has_its_place(record: object) -> None:
    page = render(record)  # type: ignore[arg-type]
    ids = [part.split('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))
    links = {part.split('"')[0] for part in page.split('href="#')[1:]}
    assert links <= set(ids)
    assert "could not be made" not in page.split("What was not done")[0]


def test_names_of_targets_are_text() -> None:
    record = several_record()
    name = "<script>alert(1)</script>"
    first = record.runs[0]
    hostile = replace(first, task=replace(first.task, target=name))
    page = render(
        replace(record, targets=(name, *record.targets[1:]), runs=(hostile, *record.runs[1:]))
    )
    assert_harmless(parsed(page))


def test_the_smallest_page_has_no_figures() -> None:
    assert "<figure" not in render(several_record(), largest=1)
