"""All findings: bundled tables, order, sameness, wide tables, hostile names."""

from __future__ import annotations

import numpy as np
import pytest

from novum.apps.job.record import Finding
from novum.apps.job.request import Request
from novum.apps.job.table.findings import find
from novum.apps.job.table.formalizing import formalize
from novum.apps.job.table.profile import profile_table
from novum.apps.job.table.reading import LoadedTable, read
from novum.data import available
from tests.apps.job.table.tables import loaded

GRAVITY = ("danger", "warning", "note")


def found_in(table: LoadedTable, target: str = "y") -> tuple[Finding, ...]:
    task = formalize(table, Request(table.name, target))
    profile = profile_table(table.table, table.schema, target, task.kind)
    return find(task, profile, table.report)


@pytest.mark.parametrize("name", available())
def test_bundled_tables_have_no_leaks(name: str) -> None:
    table = read(Request(name))
    found = found_in(table, table.target)
    assert "leak" not in {finding.kind for finding in found}
    gravity = [GRAVITY.index(finding.severity) for finding in found]
    assert gravity == sorted(gravity)
    assert all(finding.text.endswith(".") and "This run" in finding.advice for finding in found)
    assert found == found_in(table, table.target)


def test_a_table_with_every_fault() -> None:
    rng = np.random.default_rng(0)
    n = 300
    y = rng.random(n) < 0.08
    x = rng.normal(size=n)
    width = rng.uniform(1, 2, n)
    width[:9] = -999
    table = loaded(
        "y", row=np.arange(n), x=x, twin=x, near=x + 0.01 * rng.normal(size=n), width=width,
        leak=y * 2 + rng.random(n), one=np.ones(n), rare=[1.0] + [0.0] * (n - 1),
        hole=np.where(rng.random(n) < 0.7, np.nan, x), y=np.where(y, "ill", "well").tolist(),
    )  # fmt: skip
    kinds = [finding.kind for finding in found_in(table)]
    assert kinds[0] == "leak"
    assert set(kinds) >= {
        "identifier",
        "imbalance",
        "mostly missing",
        "sentinel values",
        "constant column",
        "nearly constant column",
        "duplicate columns",
        "correlated columns",
    }


def test_wide_tables_give_few_findings() -> None:
    rng = np.random.default_rng(0)
    columns = {f"c{i}": rng.normal(size=30) for i in range(400)}
    columns |= {f"k{i}": np.full(30, i) for i in range(400)}
    found = found_in(loaded("y", y=["a", "b"] * 15, **columns))
    assert len(found) <= 3
    constant = next(finding for finding in found if finding.kind == "constant column")
    assert len(constant.columns) == 400
    assert len(constant.text) < 400


def test_hostile_names_are_shown_by_their_codes() -> None:
    hostile = "a\x1b[2J\u202eb"
    table = loaded("y", x=np.arange(40) / 3, y=["a", "b"] * 20, **{hostile: np.ones(40)})
    found = found_in(table)
    assert found[0].columns == (hostile,)
    assert all(mark not in finding.text for finding in found for mark in ("\x1b", "\u202e"))
