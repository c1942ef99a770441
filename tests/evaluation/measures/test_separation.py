"""Areas and the equal error rate: pairs, scikit-learn, several classes, DeLong's coverage."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from sklearn import metrics

from novum.core.errors import InputError
from novum.evaluation.measures.reading import read_scored
from novum.evaluation.measures.separation import (
    area_interval,
    average_precision,
    equal_error_rate,
    rank_scores,
    roc_area,
)
from tests.evaluation.measures import definitions

rows = st.lists(
    st.tuples(st.booleans(), st.integers(-3, 3), st.floats(0.1, 4)), min_size=2, max_size=25
).filter(lambda found: 0 < sum(row[0] for row in found) < len(found))


@given(rows)
def test_area_counts_pairs_and_is_scikit_learns(found: Any) -> None:
    y, s, w = (list(column) for column in zip(*found, strict=True))
    mine = roc_area(y, s, sample_weight=w)
    assert mine == pytest.approx(definitions.roc_area(y, s, w), abs=1e-12)
    assert mine == pytest.approx(metrics.roc_auc_score(y, s, sample_weight=w), abs=1e-12)


@given(rows)
def test_average_precision_is_scikit_learns(found: Any) -> None:
    y, s, w = (list(column) for column in zip(*found, strict=True))
    expected = metrics.average_precision_score(y, s, sample_weight=w)
    assert average_precision(y, s, sample_weight=w) == pytest.approx(expected, abs=1e-12)


@given(rows)
def test_equal_error_rate_lies_between_the_thresholds_around_it(found: Any) -> None:
    y, s, w = (list(column) for column in zip(*found, strict=True))
    rate = equal_error_rate(y, s, sample_weight=w)
    points = [
        definitions.accepted_rates(y, s, w, threshold)
        for threshold in [math.inf, *sorted(set(s), reverse=True), -math.inf]
    ]
    before = [(miss, alarm) for miss, alarm in points if miss >= alarm - 1e-12]
    after = [(miss, alarm) for miss, alarm in points if miss <= alarm + 1e-12]
    assert max(alarm for _, alarm in before) - 1e-9 <= rate <= min(m for m, _ in before) + 1e-9
    assert max(miss for miss, _ in after) - 1e-9 <= rate <= min(a for _, a in after) + 1e-9


def test_equal_error_rate_of_normal_scores_is_known() -> None:
    """Means 2 apart: the middle is one deviation from both, P(error) = Phi(-1)."""
    n = 20_000
    quantiles = special.ndtri((np.arange(n) + 0.5) / n)
    y = np.repeat([0, 1], n)
    rate = equal_error_rate(y, np.r_[quantiles, quantiles + 2])
    assert rate == pytest.approx(float(special.ndtr(-1)), abs=1 / n)
    assert roc_area(y, np.r_[quantiles, quantiles + 2]) == pytest.approx(
        float(special.ndtr(math.sqrt(2))), abs=2 / n
    )


def test_several_classes_are_scikit_learns() -> None:
    rng = np.random.default_rng(1)
    y, P, w = rng.integers(0, 4, 80), rng.dirichlet(np.ones(4), 80).round(2), rng.random(80)
    P[:, 0] = 1 - P[:, 1:].sum(axis=1)
    for average in ("macro", "weighted"):
        ovr = {"multi_class": "ovr", "average": average}
        expected = metrics.roc_auc_score(y, P, sample_weight=w, **ovr)
        assert roc_area(y, P, sample_weight=w, **ovr) == pytest.approx(expected, abs=1e-12)
        ovo = {"multi_class": "ovo", "average": average}
        expected = metrics.roc_auc_score(y, P, **ovo)
        assert roc_area(y, P, **ovo) == pytest.approx(expected, abs=1e-12)
        expected = metrics.average_precision_score(y, P, average=average, sample_weight=w)
        found = average_precision(y, P, average=average, sample_weight=w)
        assert found == pytest.approx(expected, abs=1e-12)
    each = [equal_error_rate(y == k, P[:, k]) for k in range(4)]
    assert equal_error_rate(y, P) == pytest.approx(np.mean(each), abs=1e-12)


def test_the_positive_class_may_be_named() -> None:
    y, s = ["ill", "well", "ill", "well"], [3.0, 1.0, 2.0, 2.5]
    assert roc_area(y, s, positive="ill") == 0.75 == 1 - roc_area(y, s)


def test_constant_scores_know_nothing() -> None:
    assert roc_area([0, 1, 1], [5, 5, 5]) == 0.5
    assert equal_error_rate([0, 1, 1], [5, 5, 5]) == 0.5


def test_infinite_scores_are_ranked() -> None:
    assert roc_area([0, 1, 1], [-np.inf, 0.0, np.inf]) == 1.0


def _delong(y: Any, s: Any) -> Any:
    """Placements by all pairs, variances by numpy."""
    positives, negatives = s[y == 1], s[y == 0]
    wins = (positives[:, None] > negatives) + 0.5 * (positives[:, None] == negatives)
    return math.sqrt(
        wins.mean(axis=1).var(ddof=1) / len(positives)
        + wins.mean(axis=0).var(ddof=1) / len(negatives)
    )


def test_the_interval_is_delongs() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 60)
    s = (rng.normal(size=60) + y).round(1)
    found = area_interval(rank_scores(read_scored(y, s)))
    error = _delong(y, s)
    spread = special.logit(found.high) - special.logit(found.low)
    scale = found.estimate * (1 - found.estimate)
    assert spread * scale == pytest.approx(2 * 1.959964 * error, rel=1e-6)
    # Weights are relative: all doubled, the interval stays.
    doubled = area_interval(rank_scores(read_scored(y, s, sample_weight=np.full(60, 2.0))))
    np.testing.assert_allclose([*doubled], [*found], rtol=1e-12)


def test_the_interval_covers_at_its_level() -> None:
    rng = np.random.default_rng(3)
    truth = float(special.ndtr(1 / math.sqrt(2)))
    y = np.repeat([0, 1], [60, 40])
    trials = 1000
    covered = sum(
        area_interval(rank_scores(read_scored(y, rng.normal(size=100) + y))).covers(truth)
        for _ in range(trials)
    )
    # Four standard errors of a share of 1000 trials are 0.028.
    assert abs(covered / trials - 0.95) < 0.028


def test_a_perfect_ranking_has_an_interval_all_the_same() -> None:
    found = area_interval(rank_scores(read_scored([0, 0, 0, 1, 1], [1, 2, 3, 4, 5])))
    assert (found.estimate, found.high) == (1.0, 1.0)
    assert 0.2 < found.low < 0.5
    assert "smaller class" in found.method


@pytest.mark.parametrize(
    ("y", "s", "options", "message"),
    [
        ([0, 1], [0.1, np.nan], {}, "scores has NaN at row 1, 1 such in all"),
        ([1, 1], [0.1, 0.2], {}, "All 2 rows of y are positive .1 is the positive class."),
        ([0, 1, 1], [0.1, 0.2, 0.3], {"sample_weight": [0, 1, 1]}, "All 2 rows of y are positive"),
        ([0, 1, 2], [0.1, 0.2, 0.3], {}, "y has 3 classes .0, 1, 2., but there is one score"),
        ([0, 1], [0.1, 0.2, 0.3], {}, "y has 2 rows, scores 3"),
        ([0, 1], ["a", "b"], {}, "scores holds 'a', which is no number"),
        ([0, 1], [0.1, 0.2], {"positive": "x"}, "positive='x' is none of the classes 0, 1"),
        ([0, 1, 1], np.eye(3), {"classes": [0, 1, 2]}, "No row of y is of class 2"),
        ([0, 1, 1], np.eye(3), {}, "scores has 3 columns for the 2 classes"),
        ([0, 1, 2], np.eye(3), {"average": "micro"}, "average is 'macro' or 'weighted'"),
        ([0, 1, 2], np.eye(3), {"multi_class": "all"}, "multi_class is 'ovr' or 'ovo'"),
        ([0, 1], np.zeros((2, 2, 2)), {}, "scores has shape"),
    ],
)
def test_bad_scores_are_named(y: Any, s: Any, options: Any, message: Any) -> None:
    with pytest.raises(InputError, match=message):
        roc_area(y, s, **options)
