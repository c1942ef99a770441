"""Curves: scikit-learn's points, areas, bands that cover, several classes, sameness."""

from typing import Any

import numpy as np
import pytest
from scipy import special
from sklearn import metrics

from novum.core.errors import InputError
from novum.evaluation.measures.curves import (
    curves,
    det_curve,
    precision_recall_curve,
    roc_curve,
    several_curves,
)
from novum.evaluation.measures.reading import read_class_scores, read_scored
from novum.evaluation.measures.separation import one_vs_rest_rows


def _sample(n: int = 80, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, (rng.normal(size=n) + y).round(1), rng.random(n)


@pytest.mark.parametrize("weighted", [False, True])
def test_points_are_scikit_learns(weighted: Any) -> None:
    y, s, w = _sample()
    w = w if weighted else None
    found = curves(y, s, sample_weight=w, n_resamples=0)
    fpr, tpr, _ = metrics.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    np.testing.assert_allclose(found.roc.false_positive_rate, fpr, atol=1e-12)
    np.testing.assert_allclose(found.roc.true_positive_rate, tpr, atol=1e-12)
    precision, recall, _ = metrics.precision_recall_curve(y, s, sample_weight=w)
    np.testing.assert_allclose(found.precision_recall.precision, precision[:-1][::-1], atol=1e-12)
    np.testing.assert_allclose(found.precision_recall.recall, recall[:-1][::-1], atol=1e-12)
    np.testing.assert_allclose(found.det.false_negative_rate, 1 - tpr, atol=1e-12)


def test_thresholds_decide_as_their_points_say() -> None:
    y, s, _ = _sample()
    found = roc_curve(y, s, n_resamples=0)
    for threshold, alarm in zip(found.thresholds, found.false_positive_rate, strict=True):
        assert alarm == pytest.approx(np.mean(s[y == 0] > threshold), abs=1e-12)


def test_areas_are_those_under_the_curves() -> None:
    y, s, w = _sample()
    found = curves(y, s, sample_weight=w, n_resamples=0)
    roc, pr = found.roc, found.precision_recall
    area = np.trapezoid(roc.true_positive_rate, roc.false_positive_rate)
    assert roc.area.estimate == pytest.approx(area, abs=1e-12)
    assert found.det.area.estimate == pytest.approx(1 - area, abs=1e-12)
    assert [*found.det.area] == pytest.approx([1 - roc.area.high, 1 - roc.area.low])
    steps = np.sum(np.diff(np.r_[0, pr.recall]) * pr.precision)
    assert pr.area.estimate == pytest.approx(steps, abs=1e-12)
    assert pr.prevalence == pytest.approx(np.average(y, weights=w))


def test_no_resamples_means_no_bands() -> None:
    y, s, _ = _sample()
    found = curves(y, s, n_resamples=0)
    assert found.roc.band is None
    assert found.precision_recall.area.low < found.precision_recall.area.estimate


def test_bands_hold_the_curve_and_lie_in_range() -> None:
    y, s, _ = _sample(200)
    found = curves(y, s, n_resamples=200)
    for band in (found.roc.band, found.precision_recall.band, found.det.band):
        assert (band.low <= band.high).all()
        assert band.low.min() >= 0
        assert band.high.max() <= 1
    curve = np.interp(found.roc.band.x, found.roc.false_positive_rate, found.roc.true_positive_rate)
    inside = (curve >= found.roc.band.low - 0.02) & (curve <= found.roc.band.high + 0.02)
    assert inside.mean() > 0.95


@pytest.mark.slow
def test_the_band_covers_the_true_curve_at_its_level() -> None:
    """Normal scores 1 apart: at a false positive rate f the true curve is Phi(1 + Phi^-1(f))."""
    rng = np.random.default_rng(1)
    places = np.array([10, 30, 50])
    y = np.repeat([0, 1], 100)
    covered, trials = 0.0, 150
    for _ in range(trials):
        band = roc_curve(y, rng.normal(size=200) + y, n_resamples=200, random_state=rng).band
        rows = np.searchsorted(band.x, places / 100)
        truth = special.ndtr(1 + special.ndtri(places / 100))
        covered += np.mean((band.low[rows] <= truth) & (truth <= band.high[rows]))
    # 3 correlated points in 150 trials: four standard errors are at most 0.07.
    assert abs(covered / trials - 0.95) < 0.07


@pytest.mark.slow
def test_intervals_of_average_precision_cover() -> None:
    rng = np.random.default_rng(2)
    y_all = rng.random(200_000) < 0.3
    truth = metrics.average_precision_score(y_all, rng.normal(size=y_all.size) + y_all)
    trials = 150
    y = np.repeat([0, 1], [140, 60])
    hits = sum(
        precision_recall_curve(
            y, rng.normal(size=200) + y, n_resamples=200, random_state=rng
        ).area.covers(truth)
        for _ in range(trials)
    )
    # Four standard errors of a share of 150 trials are 0.07.
    assert abs(hits / trials - 0.95) < 0.07


def test_several_classes_share_one_bootstrap() -> None:
    rng = np.random.default_rng(3)
    y, S = rng.integers(0, 3, 90), rng.normal(size=(90, 3))
    table = read_class_scores(y, S)
    rows = [one_vs_rest_rows(table, place) for place in range(3)]
    found, means = several_curves(rows, y, 0.95, 100, np.random.default_rng(0))
    areas = [one.roc.area.estimate for one in found]
    expected = metrics.roc_auc_score(y, special.softmax(S, axis=1), multi_class="ovr")
    each = [metrics.roc_auc_score(y == k, S[:, k]) for k in range(3)]
    np.testing.assert_allclose(areas, each, atol=1e-12)
    assert means["roc_auc"].estimate == pytest.approx(np.mean(each), abs=1e-12)
    assert means["roc_auc"].covers(means["roc_auc"].estimate)
    assert 0 < expected < 1


def test_the_same_seed_gives_the_same_bits() -> None:
    y, s, _ = _sample()
    first, second = (curves(y, s, n_resamples=50, random_state=5) for _ in range(2))
    assert first.precision_recall.area == second.precision_recall.area
    np.testing.assert_array_equal(first.roc.band.low, second.roc.band.low)


def test_constant_scores_give_the_diagonal() -> None:
    found = curves([0, 1, 1, 0], [2, 2, 2, 2], n_resamples=50)
    assert found.roc.false_positive_rate.tolist() == [0, 1]
    assert found.roc.area.estimate == 0.5
    assert found.precision_recall.precision.tolist() == [0.5]


def test_a_first_row_of_no_weight_has_no_precision() -> None:
    found = curves([1, 0, 1], [3, 2, 1], sample_weight=[0, 1, 1], n_resamples=0)
    assert found.precision_recall.precision.tolist() == [0.0, 0.5]


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="scores has NaN at row 1"):
        det_curve([0, 1], [1.0, np.nan])
    with pytest.raises(InputError, match="level is the confidence"):
        roc_curve([0, 1], [1.0, 2.0], level=1.5)
    with pytest.raises(InputError, match="All 2 rows of y are positive"):
        read_scored([1, 1], [1.0, 2.0])


def test_one_positive_has_curves_and_wide_intervals() -> None:
    found = curves([0, 0, 0, 1], [0.1, 0.2, 0.3, 0.25], n_resamples=20)
    assert found.roc.area.estimate == pytest.approx(2 / 3)
    assert found.roc.area.half_width > 0.3
    assert found.precision_recall.area.method.endswith("1 row of a class says little")
    assert np.isfinite(found.roc.band.low).all()
