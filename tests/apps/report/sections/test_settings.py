"""Settings: every value in words, nested ones as JSON, long ones cut."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from novum.apps.report.sections.settings import settings_section
from tests.apps.report import sample_records
from tests.apps.report.sections.shown import FULL, row, table


def shown(value: Any) -> str:
    record = dataclasses.replace(sample_records.binary_record(), settings={"name": value})
    return row(table(settings_section(record, FULL), "Settings").rows[0])[1]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "not given"),
        (True, "yes"),
        (False, "no"),
        ((), "none"),
        ("text", "text"),
        (120.0, "120"),
        (0.25, "0.25"),
        (("a", 1), '["a", 1]'),
        ({"a": {"b": None}}, '{"a": {"b": null}}'),
    ],
)
def test_values_in_words(value: Any, words: str) -> None:
    assert shown(value) == words


def test_long_values_are_cut() -> None:
    assert len(shown(tuple(range(10_000)))) == 300


def test_data_and_versions_are_identified() -> None:
    section = settings_section(sample_records.binary_record(), FULL)
    identity = dict(map(tuple, (row(c) for c in table(section, "Identity").rows)))  # type: ignore[arg-type]
    assert identity["SHA-256"] == "9f2c" * 16
    assert identity["rows and columns"] == "1,400 × 7"
    assert row(table(section, "Versions").rows[0]) == ["novum", "0.1.0"]
