"""Gaussian classes: textbook errors, SciPy's integration, simulation, missing cells."""

import numpy as np
import pytest
from scipy import integrate, stats

from novum.core.errors import InputError
from novum.data.synthetic import gaussian
from novum.data.synthetic.gaussian import GaussianClasses, gaussian_error

UNEQUAL = np.array([[[1.0, 0.3], [0.3, 0.5]], [[2.0, -0.4], [-0.4, 1.0]], [[0.4, 0.0], [0.0, 3.0]]])


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("prior", [0.5, 0.2])
def test_two_classes_of_equal_covariance_are_the_textbook_formula(d: int, prior: float) -> None:
    rng = np.random.default_rng(d)
    root = rng.normal(size=(d, d))
    covariance = root @ root.T + np.eye(d)
    means = rng.normal(size=(2, d))
    gap = means[1] - means[0]
    D = np.sqrt(gap @ np.linalg.solve(covariance, gap))
    shift = np.log(prior / (1 - prior)) / D
    expected = prior * stats.norm.cdf(-D / 2 - shift) + (1 - prior) * stats.norm.cdf(-D / 2 + shift)
    error, accuracy = GaussianClasses(means, covariance, [prior, 1 - prior]).error()
    assert error == pytest.approx(expected, rel=1e-10)
    assert accuracy < 1e-12


def test_tiny_errors_keep_their_digits() -> None:
    error, _ = GaussianClasses([[0.0], [30.0]]).error()
    assert error == pytest.approx(stats.norm.sf(15), rel=1e-10)


def test_unequal_variances_on_a_line_agree_with_quadrature() -> None:
    law = GaussianClasses([[0.0], [0.5], [3.0]], [[[1.0]], [[9.0]], [[0.2]]], [0.5, 0.3, 0.2])
    x = np.linspace(-40, 40, 400_001)[:, None]
    joint = np.exp(law.log_joint(x))
    expected = integrate.simpson(joint.sum(axis=1) - joint.max(axis=1), x=x[:, 0])
    assert law.error()[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
def test_the_plane_agrees_with_a_fine_grid() -> None:
    law = GaussianClasses([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]], UNEQUAL, [0.2, 0.5, 0.3])
    axis = np.linspace(-14, 14, 1401)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    joint = np.exp(law.log_joint(grid))
    expected = (joint.sum(axis=1) - joint.max(axis=1)).sum() * (axis[1] - axis[0]) ** 2
    error, accuracy = law.error()
    # The grid's own error is of second order at the kinks: about 1e-5 here.
    assert error == pytest.approx(expected, abs=2e-5)
    assert accuracy < 1e-6


def test_the_stated_accuracy_of_three_dimensions_holds() -> None:
    means, covariances = np.zeros((2, 3)), np.broadcast_to(np.eye(3), (2, 3, 3))
    means[1] = 1.0
    error, accuracy = gaussian._space_error(means, covariances, np.array([0.5, 0.5]))
    assert 0 < accuracy < 1e-3
    assert abs(error - stats.norm.cdf(-np.sqrt(3) / 2)) <= accuracy


def test_columns_that_tell_nothing_change_nothing() -> None:
    flat = GaussianClasses([[0.0], [1.0], [2.5]])
    wide = GaussianClasses([[0.0, 7.0], [1.0, 7.0], [2.5, 7.0]], [[1.0, 0.0], [0.0, 4.0]])
    assert wide.error()[0] == pytest.approx(flat.error()[0], abs=1e-8)
    same, _ = gaussian_error(np.zeros((2, 2)), UNEQUAL[[0, 0]], np.array([0.3, 0.7]))
    assert same == pytest.approx(0.3)


LAWS = [
    GaussianClasses([[0.0, 0.0], [2.0, 0.0]]),
    GaussianClasses([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]], UNEQUAL, [0.2, 0.5, 0.3]),
    GaussianClasses(np.eye(3), [np.eye(3), 2 * np.eye(3), np.diag([1.0, 2.0, 0.5])]),
]


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_simulation_meets_the_stated_error(law: GaussianClasses, missing: float) -> None:
    sample = law.sample(20_000, random_state=5, missing=missing)
    wrong = np.mean(sample.bayes_predict(sample.X) != sample.y)
    spread = np.sqrt(sample.bayes_error * (1 - sample.bayes_error) / 20_000)
    assert abs(wrong - sample.bayes_error) < 4 * spread + sample.bayes_accuracy


def test_same_seed_same_bits() -> None:
    a, b = (LAWS[1].sample(50, random_state=3, missing=0.2) for _ in range(2))
    np.testing.assert_array_equal(a.X, b.X)
    np.testing.assert_array_equal(a.y, b.y)
    assert not np.array_equal(a.y, LAWS[1].sample(50, random_state=4).y)


def test_moments_of_the_sample_are_those_of_the_law() -> None:
    sample = LAWS[1].sample(30_000, random_state=0)
    for c in range(3):
        rows = sample.X[sample.y == c]
        errors = np.sqrt(np.diag(UNEQUAL[c]) / len(rows))
        assert (np.abs(rows.mean(axis=0) - LAWS[1].means[c]) < 4 * errors).all()
        # Standard errors of covariances are at most sqrt(2) times the larger variance over root n.
        bound = 4 * np.sqrt(2 / len(rows)) * np.diag(UNEQUAL[c]).max()
        assert (np.abs(np.cov(rows.T) - UNEQUAL[c]) < bound).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.0, 1.0]],), "at least two classes"),
        (([[0.0], [1.0]], np.eye(2)), r"needs shape \(1, 1\) or \(2, 1, 1\)"),
        (([[0.0], [1.0]], [[-1.0]]), "not positive definite"),
        (([[0.0, 0.0], [1.0, 1.0]], [[1.0, 0.5], [0.0, 1.0]]), "not symmetric"),
    ],
)
def test_impossible_laws_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GaussianClasses(*arguments)
