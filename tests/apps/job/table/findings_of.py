"""Findings of small tables, for the tests of each sort of finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from novum.apps.job.record import Finding
from novum.apps.job.request import Request
from novum.apps.job.table.evidence import Evidence
from novum.apps.job.table.formalizing import formalize
from novum.apps.job.table.profile import profile_table
from tests.apps.job.table.tables import loaded

N = 200
RNG = np.random.default_rng(0)
NOISE = np.random.default_rng(1).normal(size=N)
LABELS = np.where(np.random.default_rng(2).random(N) < 0.5, "yes", "no").tolist()


def findings_of(
    search: Callable[[Evidence], Iterable[Finding]], report: Any = None, **columns: Any
) -> dict[str, Finding]:
    """Findings by kind; `x` is noise and `y` are balanced labels unless given."""
    table = loaded("y", **{"x": NOISE, "y": LABELS, **columns})
    task = formalize(table, Request("t.csv", "y"))
    profile = profile_table(table.table, table.schema, "y", task.kind)
    found = list(search(Evidence(task, profile, report, 5)))
    assert all("This run" in finding.advice for finding in found), "says not what the run does"
    assert all(set(finding.columns) <= set(table.schema.names) for finding in found)
    return {finding.kind: finding for finding in found}
