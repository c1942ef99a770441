"""The report of measured against promised coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.evaluation.conformal.classifier import ConformalClassifier
from novum.evaluation.conformal.coverage import coverage_report
from novum.evaluation.conformal.regressor import ConformalRegressor
from novum.evaluation.measures.intervals import proportion_interval
from novum.linear import Ridge
from tests.evaluation.conformal.conformal_tables import line, three_classes


def fitted_numbers() -> tuple[Any, Any, Any]:
    X, y = line(300, np.random.default_rng(0))
    return ConformalRegressor(Ridge(), cv=3).fit(X[:200], y[:200]), X[200:], y[200:]


def test_counts_widths_and_exact_intervals() -> None:
    model, X, y = fitted_numbers()
    report = coverage_report(model, X, y)
    limits = model.predict_interval(X)
    hits = int(((limits[:, 0] <= y) & (y <= limits[:, 1])).sum())
    assert report.measured == proportion_interval(hits, 100, method="Clopper-Pearson")
    assert report["all"].size == pytest.approx(np.diff(limits, axis=1).mean())
    assert report.is_kept
    assert "Proved for 'cross' is 0.8" in report.notes[0]


def test_groups_are_measured_apart() -> None:
    model, X, y = fitted_numbers()
    groups = np.where(np.arange(100) < 30, "a", "b")
    report = coverage_report(model, X, y, groups)
    assert [part.rows for part in report.parts] == ["all", "group a", "group b"]
    assert [part.n_rows for part in report.parts] == [100, 30, 70]
    assert report.to_frame().column("group").to_pylist() == ["all", "group a", "group b"]


def test_classes_are_measured_apart_and_strange_ones_not_covered() -> None:
    X, y = three_classes(300, np.random.default_rng(0))
    groups = np.arange(300) % 2
    model = ConformalClassifier(GaussianNB(), cv=3).fit(X[:200], y[:200], groups=groups[:200])
    truth = y[200:].astype(object)
    truth[:4] = "new"
    report = coverage_report(model, X[200:], truth, groups[200:], coverage=0.8)
    assert report.promised == 0.8
    assert [part.rows for part in report.parts][1:] == [
        *("class a", "class b", "class c", "class new"),
        *("group 0", "group 1"),
    ]
    assert report["class new"].coverage.estimate == 0
    assert report["class new"].verdict(0.8) == "too low"
    assert report.size_of == "mean classes"


def test_a_broken_promise_is_said() -> None:
    X, y = line(400, np.random.default_rng(0))
    model = ConformalRegressor(FrozenEstimator(Ridge().fit(X, y)), method="split").fit(X, y)
    report = coverage_report(model, X, 3 * y)
    assert not report.is_kept
    assert "too low" in str(report)
    html = report._repr_html_()
    assert "<table" in html
    assert "too low" in html


def test_names_of_groups_are_escaped() -> None:
    model, X, y = fitted_numbers()
    html = coverage_report(model, X, y, ["<script>"] * 100)._repr_html_()
    assert "<script>" not in html


def test_odd_input() -> None:
    model, X, y = fitted_numbers()
    with pytest.raises(InputError, match="Ridge gives no intervals or sets"):
        coverage_report(Ridge().fit(X, y), X, y)
    with pytest.raises(InputError, match="X has 100 rows, but y has 3"):
        coverage_report(model, X, y[:3])
    with pytest.raises(InputError, match="no part 'group z'; it has all"):
        coverage_report(model, X, y)["group z"]
    with pytest.raises(InputError, match="between 0 and 1"):
        coverage_report(model, X, y, coverage=2)
