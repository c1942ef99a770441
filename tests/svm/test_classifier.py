"""SVC: closed forms, LIBSVM's objective, budgets, paths, hard margins."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import svm
from sklearn.exceptions import NotFittedError

from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning, Verdict
from novum.kernels.vectors.gaussian import Gaussian
from novum.svm import SVC, SVR, NuSVC, OneClassSVM
from tests.svm.machine_tables import blobs, strings


def dual_of(model: svm.SVC, K: np.ndarray) -> float:
    b = model.dual_coef_[0]
    support = K[np.ix_(model.support_, model.support_)]
    return float(np.abs(b).sum() - b @ support @ b / 2)


@pytest.mark.parametrize("price", [0.1, 1.0, 100.0])
def test_dual_objective_is_libsvms_within_the_certified_gap(price: float) -> None:
    X, y = blobs(80)
    kernel = Gaussian(1.0)
    ours = SVC(C=price, kernel=kernel, tol=1e-7).fit(X, y).certificate_
    theirs = dual_of(svm.SVC(C=price, gamma=0.5, tol=1e-10).fit(X, y), kernel.gram(X))
    assert ours.relative_gap <= 1e-7
    assert ours.dual - 1e-9 * abs(theirs) <= theirs + ours.gap + 1e-6 * abs(theirs)
    assert theirs <= ours.primal + 1e-9 * abs(theirs)


def test_four_points_by_hand() -> None:
    # The margin is the strip between (1, 1) and (2, 2): w = (1, 1), b = -3.
    X = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [4.0, 2.0]]
    model = SVC(C=np.inf, kernel="linear", tol=1e-9).fit(X, ["a", "a", "b", "b"])
    np.testing.assert_allclose(model.coef_, [[1.0, 1.0]], atol=1e-6)
    assert model.intercept_[0] == pytest.approx(-3.0)
    assert model.margin_ == pytest.approx(np.sqrt(0.5))
    np.testing.assert_allclose(model.xi_, 0.0, atol=1e-6)
    assert model.bound_.size == 0
    assert model.margin_error_bound_.margin_errors == 0.0


def test_hard_margins_of_pairs_name_the_pair() -> None:
    X, y = [[0.0], [1.0], [5.0], [5.0]], ["a", "b", "c", "d"]
    with pytest.raises(InputError, match="separates classes 'c' and 'd'"):
        SVC(C=np.inf, kernel="linear").fit(X, y)


@pytest.mark.parametrize(
    ("budget", "reason"), [({"max_iter": 3}, "max_iter"), ({"max_seconds": 1e-9}, "max_seconds")]
)
def test_a_budget_that_is_spent_leaves_an_honest_certificate(budget: dict, reason: str) -> None:
    X, y = blobs(80)
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        model = SVC(C=100.0, tol=1e-9, **budget).fit(X, y)
    certificate = model.certificate_
    assert certificate.verdict is Verdict.STOPPED_EARLY
    assert certificate.details["stopped_by"] == reason
    assert model.fit_status_ == 1
    best = SVC(C=100.0, tol=1e-9).fit(X, y).certificate_
    assert certificate.dual <= best.primal + 1e-9
    assert certificate.primal >= best.dual - 1e-9


def test_a_path_gives_the_models_of_its_prices() -> None:
    X, y = blobs(60, 3)
    prices = [0.1, 1.0, 10.0]
    path = SVC(tol=1e-9).path(X, y, prices)
    for price, model in zip(prices, path, strict=True):
        alone = SVC(C=price, tol=1e-9).fit(X, y)
        assert price == model.C
        np.testing.assert_allclose(
            model.decision_function(X), alone.decision_function(X), atol=1e-3
        )
        np.testing.assert_array_equal(model.predict(X), alone.predict(X))
        assert model.certificate_.dual == pytest.approx(alone.certificate_.dual, rel=1e-7)
    # A warm start is nearer: most of the work is done.
    assert path[1].n_iter_.sum() < SVC(C=1.0, tol=1e-9).fit(X, y).n_iter_.sum() * 2


def test_a_path_of_falling_and_infinite_prices() -> None:
    X, y = blobs(40, spread=0.2)
    path = SVC(kernel="linear", tol=1e-9).path(X, y, [10.0, np.inf, 0.01])
    np.testing.assert_allclose(
        path[1].coef_, SVC(C=np.inf, kernel="linear", tol=1e-9).fit(X, y).coef_, atol=1e-5
    )
    np.testing.assert_allclose(
        path[2].coef_, SVC(C=0.01, kernel="linear", tol=1e-9).fit(X, y).coef_, atol=1e-5
    )
    with pytest.raises(ValueError, match="'C' parameter"):
        SVC().path(X, y, [-1.0])


def test_a_path_over_strings() -> None:
    from novum.kernels.strings.spectrum import Spectrum

    words, y = strings()
    models = SVC(kernel=Spectrum(2)).path(words, y, [0.01, 1.0])
    assert models[1].score(words, y) == 1.0


def test_tight_tolerances_are_reached_beyond_the_plain_code() -> None:
    X, y = blobs(700)
    model = SVC(C=1.0, tol=1e-7).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-7
    theirs = svm.SVC(tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("learner", [SVC, NuSVC, SVR, OneClassSVM])
def test_no_steps_are_no_iterations(learner: type) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match="after 0 iterations"):
        model = learner(max_iter=0).fit(X, y)
    assert np.max(model.n_iter_) == 0


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("n", [80, 600])
def test_decision_values_at_the_default_tolerance_are_no_worse_than_libsvms(
    kernel: str, C: float, n: int
) -> None:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 6))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0).astype(int)
    exact = SVC(kernel=kernel, C=C, tol=1e-10).fit(X, y).decision_function(X)
    ours = SVC(kernel=kernel, C=C).fit(X, y).decision_function(X)
    libsvm = svm.SVC(kernel=kernel, C=C).fit(X, y).decision_function(X)
    error = np.abs(ours - exact).max()
    # Below this a difference is one of chance: both are far within the tolerance of 1e-3.
    assert error <= max(np.abs(libsvm - exact).max(), 3e-4)


def test_a_gap_that_is_met_is_enough_where_steps_run_out() -> None:
    X, y = blobs(80)
    steps = int(SVC(kernel="linear", C=10.0, tol=0.3).fit(X, y).n_iter_[0])
    model = SVC(kernel="linear", C=10.0, tol=0.3, max_iter=steps).fit(X, y)
    assert model.certificate_.converged


def test_probabilities_asked_for_after_the_fit_are_refused_with_the_remedy() -> None:
    X, y = blobs(40)
    model = SVC().fit(X, y).set_params(probability=True)
    for method in (model.predict_proba, model.predict_log_proba):
        with pytest.raises(NotFittedError, match="Fit it again with probability=True"):
            method(X)
    with pytest.raises(AttributeError, match="after a fit with probability=True"):
        _ = model.probA_
