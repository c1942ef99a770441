"""Leaving one row out: the formula against refitting, where it must give up, and weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut

from novum.bayes.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from novum.bayes.gaussian import GaussianClassifier
from novum.bayes.gaussian_covariance import STRUCTURES, estimate
from novum.bayes.gaussian_leave_one_out import leave_one_out, refitted_without
from novum.core.errors import NotAdditiveError
from novum.core.sums import exact_cross_val_predict
from novum.numerics import Array, Floats
from tests.bayes.normal_classes import normal_classes, with_holes

quick = settings(max_examples=15, deadline=None)


def refitted_log_density(model: GaussianClassifier, X: Floats, y: Array, w: Floats) -> Floats:
    """Log densities by fitting to the other rows, one row after the other."""
    found = []
    for i in range(len(y)):
        weight = w.copy()
        weight[i] = 0.0
        found.append(clone(model).fit(X, y, weight).log_likelihood(X[[i]])[0])
    return np.array(found)


@pytest.mark.parametrize("structure", STRUCTURES)
@quick
@given(st.integers(0, 10**6), st.booleans())
def test_the_formula_is_refitting(structure: str, seed: int, weighted: bool) -> None:
    X, y = normal_classes(2, 2, 9, seed)
    rng = np.random.default_rng(seed)
    w = rng.integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    model = GaussianClassifier(structure)
    fitted = clone(model).fit(X, y, w)
    sample = model._read(X, y, w, None)
    found = estimate(fitted.statistics_, structure, 1e-9)
    known = fitted.log_likelihood(X)
    left = leave_one_out(sample, y, fitted.statistics_, found, known, 1e-9)
    safe = left.remainder >= 1e-4
    assert safe.any()
    expected = refitted_log_density(model, X, y, w)
    np.testing.assert_allclose(left.log_density[safe], expected[safe], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_rows_that_carry_a_direction_alone_are_left_to_refitting(structure: str) -> None:
    X, y = normal_classes(2, 2, 8)
    # Without its first row class 0 has no spread in column 0.
    X[y == 0, 0] = 1.0
    X[0, 0] = 50.0
    if structure == "spherical":
        X[y == 0, 1] = 1.0
    model = GaussianClassifier(structure)
    fitted = clone(model).fit(X, y)
    found = estimate(fitted.statistics_, structure, 1e-9)
    sample = model._read(X, y, None, None)
    left = leave_one_out(sample, y, fitted.statistics_, found, fitted.log_likelihood(X), 1e-9)
    if structure != "tied":
        assert left.remainder[0] < 1e-4
    assert (left.remainder[1:] > 0).all()


@pytest.mark.parametrize(
    "model",
    [
        GaussianClassifier(estimate="predictive"),
        GaussianClassifier("evidence"),
        GaussianClassifier("tied", class_prior=[0.7, 0.3]),
        LinearDiscriminantAnalysis("lsqr", priors=[0.7, 0.3]),
        LinearDiscriminantAnalysis(priors=[0.7, 0.3]),
        QuadraticDiscriminantAnalysis(reg_param=0.2),
    ],
    ids=repr,
)
def test_models_without_a_formula_are_estimated_from_sums(model: GaussianClassifier) -> None:
    X, y = normal_classes(2, 2, 12)
    found = exact_cross_val_predict(model, X, y, LeaveOneOut())
    expected = [
        clone(model).fit(np.delete(X, i, axis=0), np.delete(y, i)).predict(X[[i]])[0]
        for i in range(len(y))
    ]
    assert found.tolist() == expected


def test_a_row_that_is_its_class_is_refitted_without_the_class() -> None:
    X, y = normal_classes(2, 2, 12)
    X, y = np.vstack([X, X.mean(axis=0)]), np.append(y, 5)
    model = GaussianClassifier("tied")
    found = exact_cross_val_predict(model, X, y, LeaveOneOut())
    assert found[-1] in (0, 1)
    sums = model.statistics(X, y)
    labels, left = refitted_without(clone(model), model._read(X, y, None, None), sums)
    assert left[-1] == 0
    assert labels[:-1].tolist() == found[:-1].tolist()


def test_rows_of_weight_zero_are_predicted_by_all_others() -> None:
    X, y = normal_classes(2, 2, 15)
    weight = np.ones(len(y))
    weight[::5] = 0.0
    model = GaussianClassifier()
    found = exact_cross_val_predict(model, X, y, LeaveOneOut(), sample_weight=weight)
    expected = model.fit(X, y, weight).predict(X[::5])
    assert found[::5].tolist() == expected.tolist()


def test_missing_cells_leave_uncorrelated_columns_additive() -> None:
    X, y = normal_classes(2, 3, 15)
    X = with_holes(X, 0.2)
    model = GaussianClassifier("diagonal")
    found = exact_cross_val_predict(model, X, y, LeaveOneOut())
    expected = [
        clone(model).fit(np.delete(X, i, axis=0), np.delete(y, i)).predict(X[[i]])[0]
        for i in range(len(y))
    ]
    assert found.tolist() == expected
    with pytest.raises(NotAdditiveError):
        exact_cross_val_predict(GaussianClassifier(), X, y, LeaveOneOut())
