"""Noise on features: quadrature over the true feature, simulation, missing cells, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import integrate, stats

from novum.bayes.gaussian import GaussianClassifier
from novum.bayes.noise import checked_noise, noisy_log_density
from novum.core.errors import InputError
from tests.bayes.normal_classes import normal_classes, with_holes

PRESENT = np.ones(2, bool)
LOCATION = np.array([[0.0, 1.0], [1.0, -1.0]])
MATRICES = np.array([[[1.0, 0.5], [0.5, 2.0]], [[0.6, -0.2], [-0.2, 0.4]]])


def test_the_true_features_are_integrated_out() -> None:
    """Two columns, two classes, quadrature over both true features."""
    x = np.array([[0.3, -0.4], [1.2, 0.1]])
    noise = np.array([[[0.5, 0.2], [0.2, 0.3]], [[0.1, 0.0], [0.0, 0.9]]])
    found = np.exp(noisy_log_density(x, LOCATION, MATRICES, PRESENT, noise))
    # The rule of equal steps is exact to rounding for analytic functions that vanish at the ends.
    grid = np.linspace(-12, 12, 481)
    points = np.array(np.meshgrid(grid, grid)).reshape(2, -1).T
    for i in range(2):
        for k in range(2):
            density = stats.multivariate_normal(LOCATION[k], MATRICES[k]).pdf(points)
            density *= stats.multivariate_normal(np.zeros(2), noise[i]).pdf(x[i] - points)
            assert found[i, k] == pytest.approx(density.sum() * 0.05**2, rel=1e-10)


def test_one_column_by_adaptive_quadrature() -> None:
    model = GaussianClassifier().fit([[0.0], [1.0], [4.0], [7.0]], [0, 0, 1, 1])
    joint = []
    for k in range(2):
        law = stats.norm(model.means_[k, 0], np.sqrt(model.covariances_[k, 0, 0]))
        value, _ = integrate.quad(
            lambda t, law=law: law.pdf(t) * stats.norm(t, 0.7).pdf(2.0), -20, 30, epsabs=1e-14
        )
        joint.append(0.5 * value)
    found = model.predict_proba([[2.0]], noise=0.49)
    np.testing.assert_allclose(found[0], np.array(joint) / sum(joint), rtol=1e-8)
    assert model.predict([[2.0]], noise=0.49) == np.argmax(joint)
    np.testing.assert_allclose(
        model.log_likelihood([[2.0]], noise=0.49)[0], np.log(np.array(joint) / 0.5), rtol=1e-8
    )


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_all_ways_to_say_the_same_noise_agree(covariance: str) -> None:
    X, y = normal_classes(3, 2, 15)
    model = GaussianClassifier(covariance).fit(X, y)
    v = np.array([0.3, 1.2])
    ways: list[ArrayLike] = [
        v,
        np.tile(v, (len(X), 1)),
        np.diag(v)[None],
        np.tile(np.diag(v), (len(X), 1, 1)),
    ]
    found = [model.predict_proba(X, noise=way) for way in ways]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-10, atol=1e-13)
    none = model.predict_proba(X, noise=0.0)
    np.testing.assert_allclose(none, model.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_a_missing_cell_is_noise_without_bound() -> None:
    X, y = normal_classes(2, 3, 20)
    model = GaussianClassifier().fit(X, y)
    holes = with_holes(X, 0.3)
    rng = np.random.default_rng(0)
    noise = rng.uniform(0.1, 0.5, X.shape)
    found = model.predict_log_proba(holes, noise=noise)
    huge = np.where(np.isnan(holes), 1e12, noise)
    filled = np.where(np.isnan(holes), 0.0, holes)
    np.testing.assert_allclose(found, model.predict_log_proba(filled, noise=huge), atol=1e-6)
    # What a missing cell's noise is said to be does not matter.
    unknown = np.where(np.isnan(holes), np.nan, noise)
    np.testing.assert_array_equal(model.predict_log_proba(holes, noise=unknown), found)
    shared = model.predict_proba(holes, noise=noise[0])
    each = model.predict_proba(holes, noise=np.tile(noise[0], (len(X), 1)))
    np.testing.assert_allclose(shared, each, rtol=1e-9, atol=1e-13)


def test_classes_of_noisy_rows_are_calibrated() -> None:
    """Rows drawn from the model with noise: their mean posterior is their share."""
    model = GaussianClassifier().fit(*normal_classes(2, 2, 40))
    X, labels = model.sample(20_000, random_state=0)
    rng = np.random.default_rng(1)
    noise = rng.uniform(0.1, 4.0, X.shape)
    seen = X + np.sqrt(noise) * rng.normal(size=X.shape)
    p = model.predict_proba(seen, noise=noise)[:, 1]
    # Four standard errors of the sum of independent Bernoulli outcomes.
    assert abs((labels - p).sum()) < 4 * np.sqrt((p * (1 - p)).sum())
    # Their variance too: the posterior that ignores noise is far too sure.
    sure = model.predict_proba(seen)[:, 1]
    assert ((labels - sure) ** 2).mean() > ((labels - p) ** 2).mean() + 0.005


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (np.ones(3), r"noise of shape \(3,\) fits neither"),
        (np.ones((3, 2)), r"noise of shape \(3, 2\)"),
        (-1.0, "at least 0; that of row 0, column 0 is -1.0"),
        ([[0.1, 0.2], [0.1, np.nan]], "row 1, column 1 is nan"),
        ([[[1.0, 0.5], [0.0, 1.0]]], "finite and symmetric; that of row 0"),
        ([[[1.0, 2.0], [2.0, 1.0]]], "eigenvalue -1"),
    ],
)
def test_impossible_noise_is_named(noise: ArrayLike, message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_noise(noise, np.zeros((2, 2)))


def test_student_laws_have_no_closed_form_with_noise() -> None:
    model = GaussianClassifier(estimate="predictive").fit(*normal_classes(2, 2, 10))
    with pytest.raises(InputError, match="estimate='maximum_likelihood'"):
        model.predict_proba([[0.0, 0.0]], noise=1.0)


def test_classes_without_rows_stay_impossible() -> None:
    present = np.array([True, False])
    noise = checked_noise(np.ones((1, 2)), np.zeros((1, 2)))
    found = noisy_log_density(np.zeros((1, 2)), LOCATION, MATRICES, present, noise)
    assert np.isneginf(found[0, 1])
    assert np.isfinite(found[0, 0])
