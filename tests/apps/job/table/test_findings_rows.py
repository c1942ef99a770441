"""Findings about rows: copies and contradictions, counted by hand."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from novum.apps.job.table.findings import row_findings
from tests.apps.job.table.findings_of import LABELS, NOISE, N, findings_of


def test_different_rows_give_no_finding() -> None:
    assert findings_of(row_findings) == {}


def test_copies_and_contradictions_are_counted() -> None:
    rng = np.random.default_rng(0)
    x, c = rng.integers(0, 8, N), rng.choice(["a", "b"], N).tolist()
    found = findings_of(row_findings, x=x, c=c)
    rows = list(zip(x.tolist(), c, LABELS, strict=True))
    copies = len(rows) - len(set(rows))
    by_features: dict[object, Counter[str]] = defaultdict(Counter)
    for *features, label in rows:
        by_features[tuple(features)][label] += 1
    torn = [counts for counts in by_features.values() if len(counts) > 1]
    wrong = sum(counts.total() - max(counts.values()) for counts in torn)
    assert found["duplicate rows"].text.startswith(f"{copies} rows repeat")
    assert found["contradicting rows"].text.startswith(f"{sum(t.total() for t in torn)} rows")
    assert f"at least {wrong} of them" in found["contradicting rows"].text


def test_few_copies_are_a_note_and_identifiers_do_not_hide_them() -> None:
    x, y = [*NOISE[:-1], NOISE[0]], [*LABELS[:-1], LABELS[0]]
    found = findings_of(row_findings, row=np.arange(N), x=x, y=y)
    assert found["duplicate rows"].severity == "note"
    assert found["duplicate rows"].text.startswith("1 row repeats")


def test_numbers_do_not_contradict() -> None:
    found = findings_of(row_findings, x=np.repeat(NOISE[: N // 2], 2), y=np.arange(N) / 3)
    assert found == {}


def test_rows_without_a_target_are_counted_and_compared_with_none() -> None:
    y = [None, *LABELS[1:]]
    found = findings_of(row_findings, x=[NOISE[1], *NOISE[1:]], y=y)
    assert set(found) == {"rows without a target"}
    assert found["rows without a target"].text.startswith("1 row of 200")
