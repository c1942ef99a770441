"""Areas and the equal error rate: pairs, scikit-learn, several classes, intervals and coverage."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from sklearn import metrics

from novum.core.errors import InputError
from novum.evaluation.measures.intervals import Interval, proportion_interval
from novum.evaluation.measures.reading import read_scored
from novum.evaluation.measures.separation import (
    average_precision,
    equal_error_rate,
    rank_scores,
    roc_area,
)
from novum.evaluation.measures.separation_intervals import (
    area_interval,
    average_precision_interval,
    equal_error_interval,
    mean_of_intervals,
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


def _delong(y: Any, s: Any, area: float) -> Any:
    """Placements by all pairs, each class with three rows more of Hanley and McNeil's variance."""
    law = max(area / (2 - area), 2 * area**2 / (1 + area)) - area**2
    positives, negatives = s[y == 1], s[y == 0]
    wins = (positives[:, None] > negatives) + 0.5 * (positives[:, None] == negatives)
    return math.sqrt(
        sum(
            (placements.var() * n + 3 * law) / (n + 2) / n
            for placements, n in (
                (wins.mean(axis=1), len(positives)),
                (wins.mean(axis=0), len(negatives)),
            )
        )
    )


def test_the_interval_is_delongs() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 60)
    s = (rng.normal(size=60) + y).round(1)
    found = area_interval(rank_scores(read_scored(y, s)))
    error = _delong(y, s, found.estimate)
    spread = special.logit(found.high) - special.logit(found.low)
    scale = found.estimate * (1 - found.estimate)
    assert spread * scale == pytest.approx(2 * 1.959964 * error, rel=1e-6)


INTERVALS = [area_interval, average_precision_interval, equal_error_interval]


@pytest.mark.parametrize("interval", INTERVALS)
def test_weights_are_relative_and_zeros_are_absent(interval: Any) -> None:
    rng = np.random.default_rng(6)
    y, s, w = rng.integers(0, 2, 50), rng.normal(size=50).round(1), rng.integers(0, 3, 50) * 1.0
    found = interval(rank_scores(read_scored(y, s + y, sample_weight=w)))
    doubled = interval(rank_scores(read_scored(y, s + y, sample_weight=2 * w)))
    fewer = interval(rank_scores(read_scored(y[w > 0], (s + y)[w > 0], sample_weight=w[w > 0])))
    assert tuple(doubled) == pytest.approx(tuple(found), rel=1e-9)
    assert tuple(fewer) == pytest.approx(tuple(found), rel=1e-3)
    assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_the_average_precision_is_worth_as_many_trials_as_its_influences_say() -> None:
    """Few negatives make it vary more than its positives would; influences by differences."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [3, 60])
    s = rng.normal(size=63) + 1.5 * y
    average, step, variance = average_precision(y, s), 1e-6, 0.0
    for label in (0, 1):
        rows = np.flatnonzero(y == label)
        slopes = []
        for row in rows:
            weight = np.ones(63)
            weight[row] += step
            slopes.append((average_precision(y, s, sample_weight=weight) - average) / step)
        n = len(rows)
        variance += np.sum((np.array(slopes) - np.mean(slopes)) ** 2) * n / (n - 1)
    size = average * (1 - average) / variance
    assert size < 60
    order = np.argsort(-s)
    hits = np.cumsum(y[order]) - 0.5
    middle = (hits / (hits + np.cumsum(1 - y[order])))[y[order] == 1].mean()
    found = average_precision_interval(rank_scores(read_scored(y, s)))
    wilson = proportion_interval(middle * size, size)
    assert tuple(found) == pytest.approx(tuple(wilson), rel=1e-4)


def test_the_equal_error_rates_kept_are_those_no_score_test_refuses() -> None:
    """By brute force: every rate of a grid against every point of the curve."""
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], [30, 12])
    s = (rng.normal(size=42) + y).round()
    found = equal_error_interval(rank_scores(read_scored(y, s)))
    alarm, hit, _ = metrics.roc_curve(y, s, drop_intermediate=False)
    places = np.linspace(0, len(hit) - 1, 20_001)
    miss = 1 - np.interp(places, range(len(hit)), hit)
    alarm = np.interp(places, range(len(hit)), alarm)
    kept = [
        e
        for e in np.linspace(1e-4, 0.9999, 2000)
        if (12 * (miss - e) ** 2 + 30 * (alarm - e) ** 2).min() <= 1.96**2 * e * (1 - e)
    ]
    assert tuple(found) == pytest.approx((min(kept), max(kept)), abs=1e-3)


@pytest.mark.parametrize("interval", INTERVALS)
def test_an_interval_holds_its_estimate_where_all_rows_are_ranked_wrong(interval: Any) -> None:
    for n in range(1, 40):
        found = interval(rank_scores(read_scored([1] + [0] * n, range(n + 1))))
        assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_few_rows_of_a_class_are_told() -> None:
    y, s = [0] * 30 + [1] * 3, [*list(range(30)), 12, 25, 40]
    for interval in INTERVALS:
        assert interval(rank_scores(read_scored(y, s))).method.endswith(
            "3 rows of a class say little"
        )
    many = area_interval(rank_scores(read_scored([0, 1] * 10, list(range(20)))))
    assert many.method == "DeLong, log-odds scale"


def test_the_interval_of_a_mean_is_that_of_independent_and_of_equal_parts() -> None:
    """Standard errors: of K equal parts that of one, of independent ones that over root K."""
    one = Interval(0.5, 0.3, 0.6, 0.95, "Wilson")
    rng = np.random.default_rng(0)
    same = np.repeat(rng.normal(size=(100, 1)), 2, axis=1)
    assert tuple(mean_of_intervals([one, one], same, 0.95)) == pytest.approx((0.3, 0.6))
    opposite = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    expected = (0.5 - 0.2 / math.sqrt(2), 0.5 + 0.1 / math.sqrt(2))
    assert tuple(mean_of_intervals([one, one], opposite, 0.95)) == pytest.approx(expected)


def _law(name: str, rng: np.random.Generator, n: int, positive: bool) -> Any:
    if name == "t":
        return rng.standard_t(2, n) + 2 * positive
    if name == "ties":
        return np.round(rng.normal(size=n) / 2 + 0.75 * positive)
    shift, scale = {"normal": (1, 1), "wide": (1, 2), "far": (3, 1)}[name]
    return rng.normal(shift, scale, n) if positive else rng.normal(size=n)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "n_positive", "n_negative"),
    [
        ("normal", 5, 95),
        ("normal", 10, 90),
        ("normal", 95, 5),
        ("normal", 100, 300),
        ("far", 20, 20),
        ("t", 20, 20),
        ("t", 10, 90),
        ("wide", 10, 90),
        ("ties", 20, 180),
    ],
)
def test_intervals_cover_at_their_level_with_few_positives(
    law: str, n_positive: int, n_negative: int
) -> None:
    rng, trials, many = np.random.default_rng(3), 400, 400_000
    y = np.repeat([0, 1], [n_negative, n_positive])
    scores = np.concatenate([_law(law, rng, many, False), _law(law, rng, many, True)])
    whole, weight = np.repeat([0, 1], many), np.repeat([n_negative, n_positive], many)
    truths = [
        float(measure(whole, scores, sample_weight=weight * 1.0))
        for measure in (roc_area, average_precision, equal_error_rate)
    ]
    covered = np.zeros(3)
    for _ in range(trials):
        s = np.concatenate([_law(law, rng, n_negative, False), _law(law, rng, n_positive, True)])
        ranked = rank_scores(read_scored(y, s))
        covered += [f(ranked).covers(t) for f, t in zip(INTERVALS, truths, strict=True)]
    # Two standard errors of a share of 400 trials are 0.022, the least of the page's is 0.935.
    assert covered.min() / trials > 0.91


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
