"""Measures of probabilities: scikit-learn, the definitions, properness, bad probabilities."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from novum.core.errors import InputError
from novum.evaluation.measures.probability_scores import (
    brier_score,
    calibration_error,
    cllr,
    log_loss,
)
from tests.evaluation.measures import definitions

two_classes = st.lists(
    st.tuples(st.booleans(), st.floats(0, 1), st.floats(0.1, 3)), min_size=2, max_size=25
).filter(lambda found: 0 < sum(row[0] for row in found) < len(found))


@given(two_classes)
def test_two_classes_are_scikit_learns(found: Any) -> None:
    y, p, w = (np.array(column) for column in zip(*found, strict=True))
    assert log_loss(y, p, sample_weight=w) == pytest.approx(
        metrics.log_loss(y, p, sample_weight=w), rel=1e-9, abs=1e-12
    )
    assert brier_score(y, p, sample_weight=w) == pytest.approx(
        metrics.brier_score_loss(y, p, sample_weight=w), abs=1e-12
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_several_classes_are_scikit_learns(weighted: Any) -> None:
    rng = np.random.default_rng(0)
    y, P = rng.integers(0, 4, 60), rng.dirichlet(np.ones(4), 60)
    w = rng.random(60) if weighted else None
    assert log_loss(y, P, sample_weight=w) == pytest.approx(
        metrics.log_loss(y, P, sample_weight=w), rel=1e-12
    )
    for half in (True, False, "auto"):
        assert brier_score(y, P, sample_weight=w, scale_by_half=half) == pytest.approx(
            metrics.brier_score_loss(y, P, sample_weight=w, scale_by_half=half), rel=1e-12
        )


@given(two_classes)
def test_calibration_error_is_the_definition(found: Any) -> None:
    y, p, w = (list(column) for column in zip(*found, strict=True))
    for n_bins in (1, 4, 10):
        mine = calibration_error(y, p, sample_weight=w, n_bins=n_bins)
        assert mine == pytest.approx(definitions.calibration_error(y, p, w, n_bins), abs=1e-12)


def test_calibration_error_of_several_classes_is_about_the_predicted_one() -> None:
    P = [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
    found = calibration_error([0, 1, 0], P, n_bins=1, classes=[0, 1, 2])
    assert found == pytest.approx(abs((0.8 + 0.6 + 0.6) / 3 - 2 / 3))


@given(
    st.lists(
        st.tuples(st.booleans(), st.floats(-30, 30), st.floats(0.1, 3)), min_size=2, max_size=20
    ).filter(lambda found: 0 < sum(row[0] for row in found) < len(found))
)
def test_cllr_is_the_definition(found: Any) -> None:
    y, s, w = (list(column) for column in zip(*found, strict=True))
    expected = definitions.cllr(y, s, w)
    assert cllr(y, s, sample_weight=w) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_cllr_is_the_log_loss_at_equal_priors() -> None:
    rng = np.random.default_rng(1)
    y, s = np.repeat([0, 1], 50), rng.normal(size=100)
    p = 1 / (1 + np.exp(-s))
    assert cllr(y, s) == pytest.approx(log_loss(y, p) / math.log(2), rel=1e-12)


@given(st.floats(0.02, 0.98), st.floats(0.02, 0.98))
def test_the_true_probability_is_expected_to_do_best(truth: Any, other: Any) -> None:
    weight = [1 - truth, truth]
    for loss in (log_loss, brier_score):
        best = loss([0, 1], [truth, truth], sample_weight=weight)
        assert best <= loss([0, 1], [other, other], sample_weight=weight) + 1e-12


def test_huge_ratios_neither_overflow_nor_turn_to_nan() -> None:
    assert cllr([0, 1], [1e308, 1e308]) > 1e307
    assert cllr([0, 1], [-np.inf, np.inf]) == 0.0


def test_a_single_column_may_belong_to_the_first_class() -> None:
    first = log_loss(["ill", "well"], [0.9, 0.2], positive="ill")
    assert first == pytest.approx(-(math.log(0.9) + math.log(0.8)) / 2)


@pytest.mark.parametrize(
    ("y", "p", "options", "message"),
    [
        ([0, 1], [[0.5, 0.4], [0.5, 0.5]], {}, "those of row 0 sum to 0.9, 1 such rows in all"),
        ([0, 1], [0.5, 1.2], {}, "row 1 has -0.2 in column 0"),
        ([0, 1], [0.5, np.nan], {}, "probabilities has NaN at row 1"),
        ([0, 1, 2], [0.5, 0.5, 0.5], {}, "one column for the 3 classes 0, 1, 2"),
        ([0, 1], np.full((2, 3), 1 / 3), {}, "3 columns for the 2 classes 0, 1"),
        ([0, 3], np.full((2, 2), 0.5), {"classes": [0, 1]}, "y holds 3 at row 1"),
        ([0, 1], [0.5, 0.5, 0.5], {}, "y has 2 rows, probabilities 3"),
        ([1, 1], [0.5, 0.5], {}, "pass|Pass a column for each class, and all of them"),
    ],
)
def test_bad_probabilities_are_named(y: Any, p: Any, options: Any, message: Any) -> None:
    with pytest.raises(InputError, match=message):
        log_loss(y, p, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"n_bins": 0}, "n_bins is a number of bins"), ({"strategy": "even"}, "strategy is")],
)
def test_bad_bins_are_named(options: Any, message: Any) -> None:
    with pytest.raises(InputError, match=message):
        calibration_error([0, 1], [0.5, 0.5], **options)
    with pytest.raises(InputError, match="scale_by_half is"):
        brier_score([0, 1], [0.5, 0.5], scale_by_half="never")
