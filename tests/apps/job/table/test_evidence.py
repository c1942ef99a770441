"""Evidence: samples that are said and repeat, and wording."""

from __future__ import annotations

import numpy as np
import pytest

from novum.apps.job.request import Request
from novum.apps.job.table.evidence import SAMPLE_ROWS, Evidence, percent, quoted
from novum.apps.job.table.formalizing import formalize
from novum.apps.job.table.profile import profile_table
from tests.apps.job.table.tables import loaded


def evidence(n: int) -> Evidence:
    rng = np.random.default_rng(0)
    table = loaded("y", x=rng.normal(size=n), y=rng.normal(size=n))
    task = formalize(table, Request("t.csv", "y"))
    return Evidence(task, profile_table(table.table, table.schema, "y"), None, 5)


def test_small_tables_are_looked_at_whole() -> None:
    found = evidence(50)
    assert sorted(found.sample.tolist()) == list(range(50))
    assert found.sampled == ""
    assert found.sample_cells(0).values.tolist() == (
        found.task.feature("x").values[found.sample].tolist()
    )


def test_large_tables_are_sampled_and_it_is_said() -> None:
    found = evidence(SAMPLE_ROWS + 5)
    assert len(set(found.sample.tolist())) == SAMPLE_ROWS
    assert found.sampled == " (in a sample of 20,000 rows)"
    assert evidence(SAMPLE_ROWS + 5).sample.tolist() == found.sample.tolist()


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.5, "50 %"), (0.0123, "1 %"), (0.004, "0.4 %")],
)
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text


def test_names_are_safe_to_print() -> None:
    assert quoted(["a\x1b[2J"]) == "'a\\\\x1b[2J'"
    assert quoted(["a", "b", "c"]) == "'a', 'b' and 'c'"
