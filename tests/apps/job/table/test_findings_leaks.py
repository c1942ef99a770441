"""Leaks: copies, renamings and near-perfect predictors are found, good features are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.apps.job.record import Finding
from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.evidence import Evidence
from novum.apps.job.table.findings_leaks import cross_errors, explained, leak_findings
from novum.core.tables import Column
from tests.apps.job.table.findings_of import LABELS, NOISE, N, findings_of
from tests.apps.job.table.tables import words

RNG = np.random.default_rng(4)
IS_YES = np.array(LABELS) == "yes"
Y = RNG.normal(size=N)


def leaks(**columns: Any) -> dict[str, Finding]:
    def search(evidence: Evidence) -> list[Finding]:
        return list(leak_findings(evidence))

    return findings_of(search, **columns)


@pytest.mark.parametrize(
    "copy",
    [LABELS, IS_YES.tolist(), IS_YES * 7.0, np.where(IS_YES, "1", "0").tolist()],
    ids=["copy", "truth", "numbers", "renamed"],
)
def test_the_target_under_another_name(copy: Any) -> None:
    found = leaks(copy=copy)["leak"]
    assert found.severity == "danger"
    assert found.columns == ("copy",)
    assert "under another name" in found.text


@pytest.mark.parametrize(
    "knows",
    [
        IS_YES + RNG.uniform(0, 0.9, N),
        [f"{label}{i % 3}" for i, label in enumerate(LABELS)],
        np.where(IS_YES, np.nan, NOISE),
        np.where(IS_YES, RNG.uniform(-1, 1, N), RNG.choice([-1, 1], N) * RNG.uniform(2, 3, N)),
    ],
    ids=["threshold", "levels", "missing where yes", "inside an interval"],
)
def test_columns_that_predict_classes(knows: Any) -> None:
    found = leaks(knows=knows)["leak"]
    assert found.columns == ("knows",)
    assert "of the rows right" in found.text


def test_good_features_are_no_leaks() -> None:
    good = IS_YES * 3.0 + NOISE
    assert leaks(good=good) == {}
    assert leaks(good=np.where(np.arange(N) % 20 == 0, ~IS_YES, IS_YES).tolist()) == {}
    assert leaks(y=Y, good=Y + 0.2 * NOISE) == {}


@pytest.mark.parametrize(
    ("leak", "text"),
    [
        (Y, "under another name"),
        (3 - 2 * Y, "100 % of the variance"),
        (np.exp(Y), "100 % of the variance"),
        (Y + 0.01 * NOISE, "of the variance"),
    ],
    ids=["copy", "line", "curve", "nearly"],
)
def test_columns_that_predict_numbers(leak: Any, text: str) -> None:
    found = leaks(y=Y, leak=leak)["leak"]
    assert found.columns == ("leak",)
    assert text in found.text


def test_levels_that_predict_numbers() -> None:
    codes = RNG.integers(0, 4, N)
    y = codes * 10 + 0.01 * NOISE
    assert leaks(y=y, c=[f"l{c}" for c in codes])["leak"].columns == ("c",)


def test_tiny_tables_give_no_verdict() -> None:
    assert leaks(x=range(10), y=["a", "b"] * 5, copy=["a", "b"] * 5) == {}


def test_errors_are_those_of_two_fold_nearest_values() -> None:
    x, y = RNG.normal(size=60), RNG.integers(0, 2, 60)
    found = cross_errors(Cells(Column("x"), x), y, 2)
    half = np.arange(60) % 2 == 0
    errors = 0
    for learn in (half, ~half):
        nearest = np.abs(x[~learn][:, None] - x[learn][None, :]).argmin(axis=1)
        errors += int((y[learn][nearest] != y[~learn]).sum())
    assert found == errors


def test_columns_known_in_few_rows_explain_few() -> None:
    x = np.where(np.arange(N) < 30, Y, np.nan)
    assert explained(Cells(Column("x"), x), Y) == 0.0
    assert explained(words(*["a", "b"] * (N // 2)), Y) < 0.1
