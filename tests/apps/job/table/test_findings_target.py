"""Findings about the target: rare and small classes, and SciPy's tests for missing cells."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from novum.apps.job.table.findings import target_findings, two_means, two_rows
from tests.apps.job.table.findings_of import LABELS, NOISE, N, findings_of

RNG = np.random.default_rng(3)


def test_balanced_classes_give_no_finding() -> None:
    assert findings_of(target_findings) == {}
    assert findings_of(target_findings, y=NOISE) == {}
    assert findings_of(target_findings, y=[f"c{i % 25}" for i in range(N)]) == {}


def test_rare_and_small_classes() -> None:
    found = findings_of(target_findings, y=["rare"] * 4 + ["usual"] * (N - 4))
    assert "'rare' 4 (2 %); always naming 'usual' is right in 98 %" in found["imbalance"].text
    assert "'rare' (4)" in found["small class"].text
    found = findings_of(target_findings, y=["rare"] * 19 + ["usual"] * (N - 19))
    assert set(found) == {"imbalance"}
    assert findings_of(target_findings, y=["less"] * 20 + ["usual"] * (N - 20)) == {}


def test_missing_cells_that_go_with_a_class() -> None:
    gone = [None if label == "yes" and i % 2 else 1.5 * i for i, label in enumerate(LABELS)]
    by_chance = [None if i % 7 == 0 else 1.5 * i for i in range(N)]
    found = findings_of(target_findings, gone=gone, chance=by_chance)
    assert found["missing with the target"].columns == ("gone",)
    assert "of the rows of 'yes', in 0 % of 'no'" in found["missing with the target"].text


def test_missing_cells_that_go_with_a_number() -> None:
    y = RNG.normal(10, 1, N)
    gone = [None if value > 10.5 else 0.5 * i for i, value in enumerate(y)]
    found = findings_of(target_findings, gone=gone, y=y)
    assert found["missing with the target"].columns == ("gone",)
    assert f"{y[y > 10.5].mean():.4g} where missing" in found["missing with the target"].text


def test_statistics_agree_with_scipy() -> None:
    codes, gone = RNG.integers(0, 3, 300), RNG.random(300) < 0.3
    table = np.stack([np.bincount(codes[gone]), np.bincount(codes[~gone])])
    expected = stats.chi2_contingency(table, correction=False)
    strength, p_value = two_rows(codes, gone, 3)
    assert p_value == pytest.approx(expected.pvalue, rel=1e-10)
    assert strength == pytest.approx(stats.contingency.association(table), rel=1e-10)
    y = RNG.normal(size=300) + 0.3 * gone
    strength, p_value = two_means(y, gone)
    pearson = stats.pearsonr(y, gone)
    assert p_value == pytest.approx(stats.ttest_ind(y[gone], y[~gone]).pvalue, rel=1e-9)
    assert strength == pytest.approx(abs(pearson.statistic), rel=1e-10)


def test_degenerate_statistics() -> None:
    gone = np.array([True, False, True])
    assert two_means(np.ones(3), gone) == (0.0, 1.0)
    assert two_means(gone * 1.0, gone) == (1.0, 0.0)
    assert two_rows(np.zeros(3, int), gone, 2)[1] == 1.0
