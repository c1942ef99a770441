"""Log-likelihood ratios: known densities, priors that cancel, the best monotone calibration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB as TheirNB
from sklearn.svm import LinearSVC

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.evaluation.decisions.ratios import (
    log_likelihood_ratios,
    optimal_log_likelihood_ratios,
    ratios_of_posteriors,
)
from tests.evaluation.decisions.definitions import cllr

rng = np.random.default_rng(0)
X = np.r_[rng.normal(0, 1, (80, 2)), rng.normal(1, 2, (40, 2)), rng.normal(-2, 1, (30, 2))]
y = np.repeat(["a", "b", "c"], [80, 40, 30])
cases = st.lists(st.tuples(st.booleans(), st.integers(-5, 5)), max_size=20).map(
    lambda more: [(True, 1), (False, 0), *more]
)


def log_densities(model: Any, rows: Any) -> Any:
    return np.stack(
        [
            stats.norm(mean, np.sqrt(variance)).logpdf(rows).sum(axis=1)
            for mean, variance in zip(model.theta_, model.var_, strict=True)
        ],
        axis=1,
    )


def test_two_classes_are_the_ratio_of_densities() -> None:
    two = y != "c"
    model = TheirNB().fit(X[two], y[two])
    logs = log_densities(model, X)
    np.testing.assert_allclose(log_likelihood_ratios(model, X), logs[:, 1] - logs[:, 0], rtol=1e-8)


def test_more_classes_are_each_against_the_mixture_of_the_others() -> None:
    model = TheirNB().fit(X, y)
    densities, priors = np.exp(log_densities(model, X)), model.class_prior_
    found = log_likelihood_ratios(model, X)
    for c in range(3):
        rest = np.delete(priors, c) / np.delete(priors, c).sum()
        expected = np.log(densities[:, c] / (np.delete(densities, c, axis=1) @ rest))
        np.testing.assert_allclose(found[:, c], expected, rtol=1e-6, atol=1e-8)


def test_training_priors_cancel() -> None:
    two = y != "c"
    plain = GaussianNB().fit(X[two], y[two])
    other = GaussianNB(priors=[0.05, 0.95]).fit(X[two], y[two])
    np.testing.assert_allclose(
        log_likelihood_ratios(plain, X), log_likelihood_ratios(other, X), rtol=1e-8, atol=1e-10
    )


def test_priors_may_be_given() -> None:
    two = y != "c"
    model = LogisticRegression().fit(X[two], y[two])
    found = log_likelihood_ratios(model, X, training_priors=[2 / 3, 1 / 3])
    np.testing.assert_allclose(found, model.decision_function(X) + np.log(2), rtol=1e-9)
    with pytest.raises(InputError, match="does not say which priors"):
        log_likelihood_ratios(model, X)
    with pytest.raises(InputError, match="not to 1"):
        log_likelihood_ratios(model, X, training_priors=[0.5, 0.6])
    with pytest.raises(InputError, match="has training prior"):
        log_likelihood_ratios(model, X, training_priors=[1.0, 0.0])


def test_impossible_classes_have_infinite_ratios() -> None:
    logs = np.log(
        [[1.0, 0.0, 0.0]], where=np.array([[True, False, False]]), out=np.full((1, 3), -np.inf)
    )
    assert ratios_of_posteriors(logs, [0.2, 0.3, 0.5])[0].tolist() == [np.inf, -np.inf, -np.inf]


def test_models_without_posteriors_are_refused() -> None:
    with pytest.raises(InputError, match="Calibrate"):
        log_likelihood_ratios(LinearSVC().fit(X, y), X)


# --- The best monotone calibration ----------------------------------------------------------------


@given(cases, st.lists(st.floats(0, 3), min_size=11, max_size=11), st.floats(-3, 3))
def test_no_monotone_map_has_a_lower_cllr(rows: Any, steps: list[float], start: float) -> None:
    positive, scores = zip(*rows, strict=True)
    best = cllr(positive, optimal_log_likelihood_ratios(positive, scores))
    levels = start - 6 + np.cumsum(steps)
    mapped = [levels[score + 5] for score in scores]
    assert best <= cllr(positive, mapped) + 1e-9


@given(cases)
def test_only_the_order_matters_and_it_stays(rows: Any) -> None:
    positive, scores = (np.array(column) for column in zip(*rows, strict=True))
    found = optimal_log_likelihood_ratios(positive, scores)
    np.testing.assert_array_equal(
        found, optimal_log_likelihood_ratios(positive, np.exp(scores / 2.0))
    )
    order = np.argsort(scores, kind="stable")
    finite = np.clip(found[order], -1e9, 1e9)
    assert (np.diff(finite) >= -1e-9).all()


def test_weights_mean_repetition() -> None:
    labels, scores, weight = [0, 1, 0, 1, 1], [1.0, 2.0, 3.0, 3.0, 0.0], np.array([1, 2, 1, 0, 1])
    one = optimal_log_likelihood_ratios(labels, scores, sample_weight=weight)
    two = optimal_log_likelihood_ratios(np.repeat(labels, weight), np.repeat(scores, weight))
    np.testing.assert_allclose(np.repeat(one, weight), two)
