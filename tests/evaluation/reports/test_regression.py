"""RegressionReport: scikit-learn and scipy, coverage, diagnostics, text, HTML, picture, errors."""

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from novum.core.errors import InputError
from novum.evaluation.measures.catalog import measure
from novum.evaluation.reports.regression import RegressionReport


def _sample(n: int = 200, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    p = rng.normal(size=n)
    return p + 0.5 * rng.normal(size=n), p, rng.random(n) + 0.1


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_are_the_measures(weighted: Any) -> None:
    y, p, w = _sample()
    w = w if weighted else None
    report = RegressionReport(y, p, sample_weight=w, n_resamples=20)
    for name in ("rmse", "mae", "r2", "explained_variance", "pearson", "spearman"):
        expected = measure(name)(y, p, sample_weight=w)
        assert report[name].estimate == pytest.approx(expected, rel=1e-9)
    assert report["bias"].estimate == pytest.approx(np.average(y - p, weights=w))


def test_pearson_is_scipys_with_fishers_interval() -> None:
    y, p, _ = _sample()
    theirs = stats.pearsonr(y, p)
    report = RegressionReport(y, p, n_resamples=20)
    assert [*report["pearson"]] == pytest.approx([*theirs.confidence_interval()], rel=1e-9)
    assert report["pearson"].method == "Fisher z"


def test_shifted_units_change_nothing_but_the_units() -> None:
    y, p, _ = _sample()
    plain = RegressionReport(y, p, n_resamples=50)
    moved = RegressionReport(1e3 * y + 1e9, 1e3 * p + 1e9, n_resamples=50)
    # Numbers near 1e9 carry seven digits behind the point.
    assert moved["r2"].estimate == pytest.approx(plain["r2"].estimate, abs=1e-8)
    assert moved["rmse"].high == pytest.approx(1e3 * plain["rmse"].high, rel=1e-6)


@pytest.mark.slow
def test_intervals_of_rmse_and_r2_cover() -> None:
    rng = np.random.default_rng(1)
    covered, trials = np.zeros(2), 200
    for _ in range(trials):
        p = rng.normal(size=100)
        y = p + 0.5 * rng.normal(size=100)
        report = RegressionReport(y, p, n_resamples=200, random_state=rng)
        covered += [report["rmse"].covers(0.5), report["r2"].covers(0.8)]
    # Four standard errors of a share of 200 trials are 0.06.
    assert (np.abs(covered / trials - 0.95) < 0.06).all()


def test_largest_residuals_are_named() -> None:
    y, p = np.zeros(20), np.zeros(20)
    y[7], p[3] = 5.0, 2.0
    report = RegressionReport(y, p, n_largest=2, n_resamples=10)
    assert [(row.row, row.residual) for row in report.largest] == [(7, 5.0), (3, -2.0)]


def test_plain_data_and_frames() -> None:
    y, p, _ = _sample()
    report = RegressionReport(y, p, n_resamples=20)
    assert json.loads(json.dumps(report.to_dict()))["n_rows"] == 200
    assert report.to_frame("pandas").measure.tolist()[:3] == ["rmse", "mae", "r2"]


def test_text_html_page_and_picture(tmp_path: Any) -> None:
    y, p, w = _sample()
    report = RegressionReport(y, p, sample_weight=w, n_resamples=20)
    for part in ("rmse", "heteroscedasticity", "Largest residuals", "Note: Diagnostics"):
        assert part in repr(report)
        assert part.replace("Note: ", "") in report._repr_html_()
    assert len(report.plot().axes) == 4
    report.save(tmp_path / "report.html")
    assert "<svg role=" in (tmp_path / "report.html").read_text("utf-8")


def test_constants_are_told_and_not_divided_by() -> None:
    report = RegressionReport([2.0] * 10, np.arange(10.0), n_resamples=20)
    assert "y is constant" in report.notes[0]
    assert np.isnan(report["r2"].estimate)
    assert np.isnan(report["pearson"].estimate)
    assert "nan" in repr(report)
    report.plot()
    perfect = RegressionReport([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], n_resamples=20)
    assert perfect["rmse"].estimate == 0.0
    assert perfect["r2"].estimate == metrics.r2_score([1, 2, 3], [1, 2, 3])
    perfect.plot()
    flat = RegressionReport([1.0, 2.0, 3.0], [2.0, 2.0, 2.0], n_resamples=20)
    assert "predictions are constant" in flat.notes[0]


@pytest.mark.parametrize(
    ("y", "p", "options", "message"),
    [
        ([1, 2], [1, np.nan], {}, "predictions"),
        ([1, 2], [1], {}, "y has 2 rows, predictions 1"),
        ([1], [1], {}, "at least two rows, got 1"),
        ([[1, 2], [3, 4]], [[1, 2], [3, 4]], {}, "about one target, y has 2"),
        (["a", "b"], [1, 2], {}, "y holds 'a' at row 0"),
        ([1, 2], [1, 2], {"level": 0}, "level is the confidence"),
        ([1, 2], [1, 2], {"sample_weight": [1, np.nan]}, "sample_weight"),
    ],
)
def test_bad_input_is_named(y: Any, p: Any, options: Any, message: Any) -> None:
    with pytest.raises(InputError, match=message):
        RegressionReport(y, p, **options)


def test_unknown_numbers_are_named() -> None:
    with pytest.raises(InputError, match="no 'mape'; it has rmse"):
        RegressionReport([1, 2], [1, 2], n_resamples=5)["mape"]


def test_errors_of_few_rows_are_told() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    errors = rng.normal(size=200)
    errors[:2] = 40.0
    far = RegressionReport(y, y + errors, n_resamples=20)
    assert "rest on about 2 rows" in " ".join(far.notes)
    assert not RegressionReport(y, y + errors.clip(-3, 3), n_resamples=20).notes


@pytest.mark.parametrize("unit", [2.0**-700, 2.0**900])
def test_the_unit_of_the_target_changes_nothing_but_units(unit: float) -> None:
    y, p = np.arange(1.0, 21.0), np.arange(1.0, 21.0) + np.tile([0.5, -1.0], 10)
    plain = RegressionReport(y, p, n_resamples=20)
    scaled = RegressionReport(y * unit, p * unit, n_resamples=20)
    for name, interval in plain.overall.items():
        factor = unit if name in ("rmse", "mae", "bias") else 1.0
        assert tuple(scaled[name]) == pytest.approx([factor * end for end in interval])
    for ours, theirs in zip(scaled.diagnostics, plain.diagnostics, strict=True):
        assert (ours.statistic, ours.p_value) == (theirs.statistic, theirs.p_value)
    assert scaled.largest[0].standardized == plain.largest[0].standardized
