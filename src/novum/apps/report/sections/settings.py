"""Settings and versions: what is needed to run this again."""

from __future__ import annotations

import json
from typing import Any

from novum.apps.job.record import RunRecord
from novum.apps.report.blocks import Block, Column, Section, Table
from novum.apps.report.detail import Detail, first_of
from novum.apps.report.names import LONGEST_NAME, text
from novum.apps.report.numbers import number

_LONGEST_VALUE = 300


def settings_section(record: RunRecord, detail: Detail) -> Section:
    """The request, the data's fingerprint, and the versions."""
    request, rest = first_of(list(record.settings.items()), detail.rows, "settings")
    versions, more = first_of(list(record.versions.items()), detail.rows, "versions")
    data = [
        ("table", record.data.name),
        ("SHA-256", record.data.sha256 or "–"),
        ("rows and columns", f"{number(record.data.n_rows)} × {number(record.data.n_columns)}"),
        ("seed", number(record.plan.seed)),
    ]
    heads = (Column("setting"), Column("value"))
    blocks: list[Block] = [
        Table("Identity of the data", (Column("what"), Column("value")), data),
        Table("Settings of the run", heads, [(name, _words(v)) for name, v in request], note=rest),
        Table("Versions", (Column("package"), Column("version")), versions, note=more),
    ]
    return Section("settings", "Settings and versions", "Settings", blocks)


def _words(value: Any) -> str:
    """A setting as text; nested ones as JSON."""
    if value is None:
        return "not given"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return number(value, 6)
    if not value:
        return "none"
    return text(json.dumps(value, default=lambda v: text(str(v), LONGEST_NAME)), _LONGEST_VALUE)
