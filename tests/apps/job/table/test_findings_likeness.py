"""Columns that say the same: copies, renamings, and NumPy's correlations."""

from __future__ import annotations

import numpy as np
import pytest

from novum.apps.job.table.findings_likeness import correlated_pairs, likeness_findings
from tests.apps.job.table.findings_of import LABELS, NOISE, N, findings_of

RNG = np.random.default_rng(5)


def test_unlike_columns_give_no_finding() -> None:
    assert findings_of(likeness_findings, other=RNG.normal(size=N)) == {}


def test_copies_and_renamed_levels() -> None:
    c = RNG.choice(["a", "b", "c"], N)
    names = {"a": "z", "b": "u", "c": "v"}
    found = findings_of(
        likeness_findings, again=NOISE, c=c.tolist(), renamed=[names[level] for level in c],
        once_more=NOISE, other=["a", "b"] * (N // 2),
    )  # fmt: skip
    assert "'again' repeats 'x'; 'renamed' repeats 'c'; 'once_more' repeats 'x'" in (
        found["duplicate columns"].text
    )
    # Copies are said once, not once more as correlated.
    assert "correlated columns" not in found


def test_a_glance_is_not_taken_for_the_whole() -> None:
    n = 3000
    x = RNG.normal(size=n)
    late = np.where(np.arange(n) < 2500, x, x + 1)
    labels = LABELS * (n // N)
    assert "duplicate columns" not in findings_of(likeness_findings, x=x, late=late, y=labels)
    found = findings_of(likeness_findings, x=x, copy=x, y=labels)
    assert found["duplicate columns"].columns == ("x", "copy")


def test_missing_cells_are_part_of_a_copy() -> None:
    holed = np.where(np.arange(N) % 9 == 0, np.nan, NOISE)
    found = findings_of(likeness_findings, holed=holed, same=holed)
    assert found["duplicate columns"].columns == ("holed", "same")
    # With x the holed column agrees wherever it is known.
    assert "1.000" in found["correlated columns"].text


def test_correlations_agree_with_numpy() -> None:
    X = RNG.normal(size=(80, 6)) @ RNG.normal(size=(6, 6)) + 1e6
    found = {(i, j): r for i, j, r in correlated_pairs(X, least=0.0)}
    expected = np.corrcoef(X.T)
    assert len(found) == 15
    for (i, j), r in found.items():
        assert r == pytest.approx(expected[i, j], abs=1e-7)


def test_pairs_over_many_blocks_are_found_the_strongest_first() -> None:
    X = RNG.normal(size=(50, 1100))
    X[:, 1050] = -2 * X[:, 3] + 1e-3 * X[:, 4]
    X[:, 700] = X[:, 600]
    found = correlated_pairs(X)
    assert [(i, j) for i, j, _ in found] == [(600, 700), (3, 1050)]
    assert found[1][2] < -0.99


def test_constant_and_nearly_unknown_columns_have_no_correlation() -> None:
    X = np.column_stack([np.full(30, 0.1), np.arange(30.0), np.full(30, np.nan), np.arange(30.0)])
    X[5:, 3] = np.nan
    assert correlated_pairs(X) == []
