"""Variance of the mean: the definition, SciPy's t interval, and what is refused."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.evaluation import (
    GridSearchCV,
    complexity_curve,
    cross_validate,
    learning_curve,
    resolve_scoring,
)
from novum.evaluation.measures.scorers import score_limits
from novum.evaluation.validation.certainty import corrected_interval, variance_of_mean

scores = st.lists(st.integers(-1000, 1000), min_size=2, max_size=20)


@given(scores)
def test_variance_is_the_definition(values: list[int]) -> None:
    k = len(values)
    mean = Fraction(sum(values), k)
    exact = sum((Fraction(v) - mean) ** 2 for v in values) / (k * (k - 1))
    assert variance_of_mean(values) == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


@given(scores, st.floats(0.01, 1.0))
def test_the_correction_adds_the_ratio(values: list[int], ratio: float) -> None:
    expected = (1 / len(values) + ratio) * float(np.var(values, ddof=1))
    assert variance_of_mean(values, ratio) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert variance_of_mean(values, ratio) >= variance_of_mean(values)


def test_interval_without_correction_is_student_s() -> None:
    values = [0.7, 0.8, 0.75, 0.9]
    found = corrected_interval(values, None, level=0.9)
    low, high = stats.t.interval(0.9, 3, np.mean(values), stats.sem(values))
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-12)
    assert found.method == "t"
    wider = corrected_interval(values, 1 / 3, level=0.9)
    assert wider.method == "corrected t"
    # Four folds: 1/4 + 1/3 in place of 1/4.
    assert wider.half_width / found.half_width == pytest.approx(np.sqrt(7 / 3), rel=1e-12)


@pytest.mark.parametrize(
    ("values", "ratio", "message"),
    [
        ([1.0], None, "at least 2 folds"),
        ([[1.0, 2.0]], None, r"shape \(1, 2\)"),
        ([1.0, np.nan, np.nan], None, r"fold 1 \(counted from 0\) is nan, 2 such in all"),
        ([1.0, 2.0], 0.0, "a number above 0, got 0.0"),
        ([1.0, 2.0], np.inf, "a number above 0, got inf"),
    ],
)
def test_what_has_no_variance_is_refused(values: object, ratio: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        variance_of_mean(values, ratio)  # type: ignore[arg-type]


def test_levels_are_probabilities() -> None:
    with pytest.raises(InputError, match="level"):
        corrected_interval([1.0, 2.0], None, level=95)


def test_no_interval_of_a_score_leaves_its_range() -> None:
    """Two rows a fold make a wide interval; costs are at least 0, shares at most 1."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 2)), np.arange(24) % 2
    X[:, 0] += 2 * y
    for scoring in (None, "accuracy", "log_loss", "neg_brier_score", "matthews", "f1"):
        given: Any = {"cv": 4, "scoring": scoring}
        low, high = score_limits(resolve_scoring(GaussianNB(), scoring).popitem()[1])
        result = cross_validate(GaussianNB(), X, y, **given)
        search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, **given).fit(X, y)
        curve = learning_curve(GaussianNB(), X, y, train_sizes=[4, 18], **given)
        more = complexity_curve(
            GaussianNB(), X, y, param_name="var_smoothing", param_range=[1e-9, 1.0], **given
        )
        for interval in (
            result.interval(level=0.9999),
            *search.intervals(level=0.9999),
            *curve.intervals(0.9999),
            *more.intervals(0.9999),
        ):
            assert low <= interval.low <= interval.estimate <= interval.high <= high
        assert (search.cv_results_["low_test_score"] >= low).all()
        assert (search.cv_results_["high_test_score"] <= high).all()
    assert score_limits(resolve_scoring(None, lambda *_: 3.0)["<lambda>"]) == (-np.inf, np.inf)
    assert score_limits(resolve_scoring(make_pipeline(Ridge()))["score"]) == (-np.inf, 1.0)
    # A score that was filled in for a failed fold is shown as it is.
    assert corrected_interval([-9.0, -9.0], 1.0, limits=(0.0, 1.0)).low == -9.0
