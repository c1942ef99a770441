"""GaussianNB: scikit-learn to 1e-10, marginalization by quadrature, units, degenerate classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from sklearn.naive_bayes import GaussianNB as OtherNB

from novum.bayes import GaussianNB
from tests.bayes.naive_bayes_tables import numbers


@pytest.mark.parametrize("smoothing", [0.0, 1e-9, 0.1])
@pytest.mark.parametrize(("n", "d"), [(80, 3), (9000, 40)])
def test_agreement_with_scikit_learn(smoothing: float, n: int, d: int) -> None:
    X, y = numbers(n, d)
    ours, theirs = GaussianNB(var_smoothing=smoothing).fit(X, y), OtherNB(var_smoothing=smoothing)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.theta_, theirs.theta_, rtol=1e-10)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-10)
    assert ours.epsilon_ == pytest.approx(theirs.epsilon_, rel=1e-10)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-10
    )
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)
    assert (ours.predict(X) == theirs.predict(X)).all()
    # By default nothing is added, and no variance here is near its floor.
    plain = OtherNB(var_smoothing=0.0).fit(X, y)
    np.testing.assert_allclose(GaussianNB().fit(X, y).var_, plain.var_, rtol=1e-10)


def test_density_is_the_formula_at_known_parameters() -> None:
    model = GaussianNB().fit([[170.0], [180.0], [160.0], [170.0]], [1, 1, 0, 0])
    expected = np.exp(-((174 - 175) ** 2) / 50) / np.sqrt(2 * np.pi * 25)
    assert np.exp(model.log_likelihood([[174.0]])[0, 1]) == pytest.approx(expected, rel=1e-13)


def test_a_missing_cell_is_integrated_out() -> None:
    X, y = numbers(40, 2)
    model = GaussianNB().fit(X, y)
    found = np.exp(model.predict_joint_log_proba([[0.3, np.nan]])[0])
    for k in range(3):
        whole, _ = integrate.quad(
            lambda x, k=k: np.exp(model.predict_joint_log_proba([[0.3, x]])[0, k]), -20, 20
        )
        assert found[k] == pytest.approx(whole, rel=1e-8)


def test_missing_cells_are_skipped_in_the_fit() -> None:
    X, y = numbers(60, 2)
    X[::3, 0] = np.nan
    model = GaussianNB().fit(X, y)
    for k in range(3):
        assert model.theta_[k, 0] == pytest.approx(np.nanmean(X[y == k, 0]), rel=1e-13)
        assert model.var_[k, 0] == pytest.approx(np.nanvar(X[y == k, 0]), rel=1e-12)
    np.testing.assert_allclose(
        model.theta_[:, 1], [X[y == k, 1].mean() for k in range(3)], rtol=1e-13
    )


def test_units_that_drown_scikit_learn_do_not_matter_here() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    small = 1e-8 * (rng.normal(size=200) + 3 * y)
    X = np.column_stack([1e6 * rng.normal(size=200), small])
    assert OtherNB().fit(X, y).score(X, y) < 0.7
    assert GaussianNB().fit(X, y).score(X, y) > 0.9


def test_degenerate_classes_and_columns() -> None:
    X = np.array([[1.0, 5.0, np.nan], [2.0, 5.0, np.nan], [9.0, 5.0, np.nan]])
    model = GaussianNB().fit(X, ["a", "a", "one row"])
    assert np.isfinite(model.predict_log_proba([[1.5, 5.0, 7.0], [1e9, -3.0, np.nan]])).all()
    assert model.predict([[9.0, 5.0, 0.0]]).tolist() == ["one row"]
    assert model.predict([[1.5, 5.0, 0.0]]).tolist() == ["a"]
    # With scikit-learn's smoothing off, its variance of zero gives NaN; ours has the floor.
    off = GaussianNB(var_smoothing=0.0).fit(X, ["a", "a", "one row"])
    assert np.isfinite(off.predict_log_proba(X)).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40))
def test_weights_are_repetitions(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
    weight = rng.integers(1, 4, n)
    times = np.repeat(np.arange(n), weight)
    a = GaussianNB().fit(X, y, weight)
    b = GaussianNB().fit(X[times], y[times])
    np.testing.assert_allclose(a.theta_, b.theta_, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(a.var_, b.var_, rtol=1e-10)


def test_parameters_are_recovered_within_four_standard_errors() -> None:
    rng = np.random.default_rng(5)
    n = 20_000
    y = rng.integers(0, 2, n)
    X = rng.normal(np.where(y == 0, -1.0, 2.0), np.where(y == 0, 1.0, 3.0))[:, np.newaxis]
    model = GaussianNB().fit(X, y)
    counts = model.class_count_
    for k, (mean, sd) in enumerate([(-1.0, 1.0), (2.0, 3.0)]):
        assert abs(model.theta_[k, 0] - mean) < 4 * sd / np.sqrt(counts[k])
        assert abs(model.var_[k, 0] - sd**2) < 4 * sd**2 * np.sqrt(2 / counts[k])
