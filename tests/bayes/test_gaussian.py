"""GaussianClassifier: its own methods, numbers by hand, and offsets and units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from novum.bayes.discriminants import BoundaryKind
from novum.bayes.gaussian import GaussianClassifier, choose_covariance
from novum.bayes.gaussian_predictive import WeakPrior
from novum.core.errors import InputError
from tests.bayes.normal_classes import normal_classes

STRUCTURES = ["full", "tied", "diagonal", "spherical"]


def test_heights_by_hand() -> None:
    """A density of 174 cm under N(174, 54.7) and N(161, 49.9): posteriors by Bayes' rule."""
    X = [[168.0], [180.0], [155.0], [167.0]]
    model = GaussianClassifier().fit(X, ["m", "m", "f", "f"])
    assert model.means_.ravel().tolist() == [161.0, 174.0]
    assert model.covariances_.ravel().tolist() == [36.0, 36.0]
    densities = [stats.norm(161, 6).pdf(170), stats.norm(174, 6).pdf(170)]
    np.testing.assert_allclose(np.exp(model.log_likelihood([[170.0]]))[0], densities, rtol=1e-12)
    expected = np.array(densities) / sum(densities)
    np.testing.assert_allclose(model.predict_proba([[170.0]])[0], expected, rtol=1e-12)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_boundaries_are_where_the_posteriors_are_equal(structure: str) -> None:
    X, y = normal_classes(3, 2, 40)
    model = GaussianClassifier(structure, class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    logs = model.predict_log_proba(X)
    quadric = model.boundary(0, 2)
    np.testing.assert_allclose(quadric.values(X), logs[:, 0] - logs[:, 2], rtol=1e-8, atol=1e-8)
    if structure == "tied":
        plane = model.hyperplane(0, 2)
        np.testing.assert_allclose(plane.values(X), quadric.values(X), rtol=1e-8, atol=1e-8)
        assert model.boundary_kind(0, 2) is BoundaryKind.HYPERPLANE
    else:
        with pytest.raises(InputError, match="different covariances"):
            model.hyperplane(0, 2)
    if structure == "spherical":
        assert model.boundary_kind(0, 2) is BoundaryKind.SPHERE


def test_boundaries_that_do_not_exist_are_refused() -> None:
    X, y = normal_classes(2, 2, 20)
    model = GaussianClassifier("tied", class_prior=[1.0, 0.0]).fit(X, y)
    with pytest.raises(InputError, match="Class 1 has prior 0"):
        model.hyperplane(0, 1)
    with pytest.raises(InputError, match="two different classes"):
        model.boundary(0, 0)
    with pytest.raises(InputError, match="5 is not one of the classes"):
        model.boundary(0, 5)
    student = GaussianClassifier("tied", estimate="predictive").fit(X, y)
    with pytest.raises(InputError, match="for normal laws"):
        student.boundary_kind(0, 1)


def test_error_probability_of_a_tied_fit_is_in_closed_form() -> None:
    X, y = normal_classes(2, 3, 40)
    model = GaussianClassifier("tied").fit(X, y)
    away = model.means_[0] - model.means_[1]
    distance = np.sqrt(away @ np.linalg.solve(model.covariances_, away))
    found = model.error_probability()
    assert found.value == pytest.approx(stats.norm.cdf(-distance / 2), rel=1e-10)
    assert found.method == "closed form"


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(STRUCTURES),
    st.sampled_from(["maximum_likelihood", "predictive"]),
    st.integers(-20, 20),
    st.integers(0, 10**6),
)
def test_posteriors_do_not_depend_on_units(
    structure: str, estimate: str, power: int, seed: int
) -> None:
    X, y = normal_classes(2, 2, 12, seed)
    scale = 2.0**power if structure == "spherical" else 2.0 ** np.array([power, -power])
    model = GaussianClassifier(structure, estimate=estimate)
    a = model.fit(X, y).predict_log_proba(X)
    b = model.fit(X * scale, y).predict_log_proba(X * scale)
    np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)


def test_invariances_are_declared_by_structure() -> None:
    assert "column_scale" in GaussianClassifier("full").invariances
    assert "column_scale" not in GaussianClassifier("spherical").invariances
    assert "common_scale" in GaussianClassifier("spherical").invariances


def test_one_class_is_certain() -> None:
    X, _ = normal_classes(1, 2, 10)
    model = GaussianClassifier().fit(X, np.full(10, "only"))
    assert model.predict_proba(X).tolist() == [[1.0]] * 10
    assert model.error_probability().value == 0


def test_the_choice_by_evidence_takes_weights_and_a_prior() -> None:
    X, y = normal_classes(2, 2, 30)
    twice = choose_covariance(X, y, np.full(len(y), 2.0))
    repeated = choose_covariance(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    np.testing.assert_allclose(twice.log_evidence, repeated.log_evidence, rtol=1e-10)
    other = choose_covariance(X, y, parameter_prior=WeakPrior(covariance_rows=10.0))
    assert (other.log_evidence != choose_covariance(X, y).log_evidence).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"covariance": "banded"},
        {"estimate": "map"},
        {"floor": -1.0},
        {"floor": 1.0},
        {"max_iter": 0},
        {"parameter_prior": 1.0},
    ],
    ids=str,
)
def test_wrong_parameters_are_refused_by_name(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter"):
        GaussianClassifier(**wrong).fit([[0.0], [1.0]], [0, 1])  # type: ignore[arg-type]
