"""Prior shift: Bayes' rule, recovery with coverage, the black box in closed form, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning
from novum.evaluation.decisions.prior_shift import (
    estimate_priors,
    estimate_priors_from_labels,
    retarget_posteriors,
)

MEANS = np.array([-1.0, 1.0])


def posteriors(x: np.ndarray, priors: np.ndarray) -> np.ndarray:
    joint = priors * stats.norm.pdf(x[:, None], MEANS)
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def test_known_priors_give_the_posteriors_of_a_model_trained_there() -> None:
    x = np.linspace(-3, 3, 9)
    old, new = np.array([0.5, 0.5]), np.array([0.9, 0.1])
    np.testing.assert_allclose(
        retarget_posteriors(posteriors(x, old), old, new), posteriors(x, new), rtol=1e-12
    )


def test_intervals_cover_and_estimates_recover() -> None:
    rng = np.random.default_rng(0)
    truth, trained = np.array([0.8, 0.2]), np.array([0.5, 0.5])
    hits, found = 0, []
    for _ in range(200):
        x = rng.normal(MEANS[(rng.random(150) < truth[1]).astype(int)], 1)
        estimate = estimate_priors(posteriors(x, trained), trained)
        assert estimate.low is not None
        assert estimate.high is not None
        hits += bool(estimate.low[1] <= truth[1] <= estimate.high[1])
        found.append(estimate.priors[1])
    # Four standard errors of a mean over 200 runs, and of a share of 0.95.
    assert abs(np.mean(found) - 0.2) < 4 * np.std(found) / np.sqrt(200)
    assert hits >= 190 - 4 * np.sqrt(200 * 0.95 * 0.05)


def test_the_fixed_point_is_that_of_saerens() -> None:
    rng = np.random.default_rng(1)
    P = rng.dirichlet([1, 1, 1], 60)
    trained = np.array([0.2, 0.3, 0.5])
    estimate = estimate_priors(P, trained, classes=["a", "b", "c"], level=None)
    moved = retarget_posteriors(P, trained, estimate.priors)
    np.testing.assert_allclose(moved.mean(axis=0), estimate.priors, atol=1e-5)
    assert estimate.certificate.converged
    assert (estimate.low, estimate.high, estimate.level) == (None, None, None)
    assert "'a'" in repr(estimate)


def test_weights_mean_repetition() -> None:
    P, weight = np.array([[0.9, 0.1], [0.3, 0.7], [0.5, 0.5]]), np.array([3, 2, 0])
    one = estimate_priors(P, [0.5, 0.5], sample_weight=weight)
    two = estimate_priors(np.repeat(P, weight, axis=0), [0.5, 0.5])
    np.testing.assert_allclose(one.priors, two.priors, atol=1e-7)
    np.testing.assert_allclose(one.high, two.high, atol=1e-5)  # type: ignore[arg-type]


def test_black_box_solves_the_confusion_matrix() -> None:
    rng = np.random.default_rng(2)
    rates = np.array([[0.8, 0.1, 0.1], [0.15, 0.7, 0.2], [0.05, 0.2, 0.7]])
    counts = (1000 * rates).round().astype(int)
    y = np.repeat([0, 1, 2], counts.sum(axis=0))
    predicted = np.concatenate([np.repeat([0, 1, 2], counts[:, c]) for c in range(3)])
    new = rng.choice(3, 500, p=rates @ [0.2, 0.5, 0.3])
    estimate = estimate_priors_from_labels(y, predicted, new)
    shares = np.bincount(new, minlength=3) / 500
    np.testing.assert_allclose(estimate.priors, np.linalg.solve(rates, shares), atol=1e-6)
    assert estimate.classes == (0, 1, 2)
    assert (estimate.low <= estimate.priors).all()  # type: ignore[operator]


def test_black_box_stays_a_probability() -> None:
    # Fewer called b than mistakes alone would make: the solution has a negative entry.
    estimate = estimate_priors_from_labels(
        ["a"] * 10 + ["b"] * 10, ["a"] * 8 + ["b"] * 2 + ["b"] * 10, ["a"] * 95 + ["b"] * 5
    )
    np.testing.assert_allclose(estimate.priors, [1.0, 0.0], atol=1e-4)


def test_bad_input_is_named() -> None:
    P = [[0.5, 0.5]]
    with pytest.raises(InputError, match="training prior 0"):
        estimate_priors([[1.0, 0.0]], [1.0, 0.0])
    with pytest.raises(InputError, match="one column for each of the 3 classes"):
        estimate_priors(P, [0.2, 0.3, 0.5])
    with pytest.raises(InputError, match="level is a probability"):
        estimate_priors(P, [0.5, 0.5], level=95)
    with pytest.raises(InputError, match="no cases"):
        estimate_priors(np.empty((0, 2)), [0.5, 0.5])
    with pytest.raises(InputError, match="cannot tell the classes apart"):
        estimate_priors_from_labels([0, 0, 1, 1], [0, 1, 0, 1], [0, 1])
    with pytest.raises(InputError, match="never predicted for the held-out"):
        estimate_priors_from_labels([0, 1, 2], [0, 1, 0], [2, 2], classes=[0, 1, 2])
    with pytest.raises(InputError, match="label 7 at row 0"):
        estimate_priors_from_labels([0, 1], [0, 1], [7])
    rng = np.random.default_rng(0)
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        estimate_priors(rng.dirichlet([9, 9], 50), [0.5, 0.5], max_iter=1, level=None)
