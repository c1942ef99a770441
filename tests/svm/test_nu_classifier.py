"""NuSVC: what nu promises, what is feasible, and what weights of classes may do."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning
from novum.svm.classifier import SVC, NuSVC, ReducedShareWarning
from novum.svm.solver.vanishing import VanishingMarginWarning
from tests.svm.machine_tables import blobs


@pytest.mark.parametrize("nu", [0.2, 0.4, 0.7])
def test_nu_is_between_margin_errors_and_support(nu: float) -> None:
    X, y = blobs(100)
    model = NuSVC(nu=nu, tol=1e-9).fit(X, y)
    assert model.margin_error_bound_.margin_errors <= nu + 1e-9
    assert len(model.support_) / 100 >= nu - 1e-9


def test_infeasible_shares_are_refused_with_the_largest() -> None:
    X, y = blobs(40)
    chosen = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:5]]
    with pytest.raises(InputError, match=r"nu=0\.5 .* class 1 .* at most 0\.4\b"):
        NuSVC(nu=0.5).fit(X[chosen], y[chosen])
    assert NuSVC(nu=0.4).fit(X[chosen], y[chosen]).certificate_.converged


def test_infeasible_pairs_are_named() -> None:
    X, y = blobs(60, 3)
    weight = np.where(y == 2, 0.1, 1.0)
    with pytest.raises(InputError, match="classes 0 and 2"):
        NuSVC(nu=0.5).fit(X, y, sample_weight=weight)


def test_weights_of_classes_reduce_the_share_with_a_warning() -> None:
    X, y = blobs(60)
    with pytest.warns(ReducedShareWarning, match="no nu above"):
        model = NuSVC(class_weight={0: 1.0, 1: 1e-4}).fit(X, y)
    # The best of the lighter class is on the border.
    assert model.decision_function(X).max() == pytest.approx(0.0, abs=1e-9)


def test_mild_weights_move_the_decision() -> None:
    X, y = blobs(100)
    plain, tilted = NuSVC(nu=0.3).fit(X, y), NuSVC(nu=0.3, class_weight={1: 3.0}).fit(X, y)
    assert (tilted.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_the_price_that_a_share_stands_for() -> None:
    X, y = blobs(60)
    model = NuSVC(nu=0.4, tol=1e-10).fit(X, y)
    price = float(np.abs(model.dual_coef_).max())
    same = SVC(C=price, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-3)


def test_probabilities_where_folds_allow_a_smaller_share_only() -> None:
    X, y = blobs(41)
    largest = 2 * min(np.bincount(y)) / 41
    p = NuSVC(nu=largest, probability=True).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_a_fit_that_was_stopped_at_once_does_not_blame_nu() -> None:
    X, y = blobs(40)
    with pytest.warns(ConvergenceWarning) as caught:
        NuSVC(max_iter=0).fit(X, y)
    assert not [w for w in caught if issubclass(w.category, VanishingMarginWarning)]


@pytest.mark.parametrize("model", [SVC(), NuSVC(nu=0.3)])
@pytest.mark.parametrize("weight", [None, 2.0])
def test_cells_without_a_variance_are_refused_and_not_nu(
    model: SVC | NuSVC, weight: float | None
) -> None:
    X, y = blobs(20)
    with pytest.raises(InputError, match=r"Cells of X are so small .*gamma='scale'"):
        model.fit(1e-290 * X, y, None if weight is None else np.full(len(y), weight))
