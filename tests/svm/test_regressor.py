"""SVR: closed forms, a generic solver, weights and prices."""

from __future__ import annotations

import numpy as np
import pytest

from novum.kernels.vectors.gaussian import Gaussian
from novum.svm.regression import SVR
from novum.svm.solver import problems
from tests.oracles.svm_definitions import interior_point
from tests.svm.machine_tables import wave


def test_two_points_by_hand() -> None:
    # The flattest line within 1/2 of (0, 0) and (2, 3) has slope 1 and passes (0, 1/2).
    model = SVR(kernel="linear", C=100.0, epsilon=0.5, tol=1e-10).fit([[0.0], [2.0]], [0.0, 3.0])
    np.testing.assert_allclose(model.predict([[0.0], [2.0]]), [0.5, 2.5], atol=1e-6)
    assert model.certificate_.primal == pytest.approx(0.5)
    assert model.unbound_.tolist() == [0, 1]


@pytest.mark.parametrize(("price", "epsilon"), [(0.1, 0.1), (1.0, 0.0), (50.0, 0.2)])
def test_a_generic_solver_agrees(price: float, epsilon: float) -> None:
    X, y = wave(30)
    kernel = Gaussian(1.0)
    model = SVR(kernel=kernel, C=price, epsilon=epsilon, tol=1e-9).fit(X, y)
    exact = interior_point(kernel.gram(X), problems.regression(y, np.full(30, price), epsilon))
    assert model.certificate_.dual == pytest.approx(-exact.value, rel=1e-6)
    assert model.certificate_.relative_gap <= 1e-9


def test_targets_within_the_tube_need_nothing() -> None:
    model = SVR(epsilon=2.0).fit([[0.0], [1.0]], [1.0, 3.0])
    assert model.support_.size == 0
    assert model.support_vectors_.shape == (0, 1)
    np.testing.assert_allclose(model.predict([[0.3], [100.0]]), 2.0)


def test_an_infinite_price_is_refused() -> None:
    with pytest.raises(ValueError, match="'C' parameter of SVR"):
        SVR(C=np.inf).fit(*wave(10))


def test_weight_moves_the_function_towards_its_row() -> None:
    X, y = np.zeros((2, 1)), np.array([0.0, 10.0])
    model = SVR(kernel="linear", epsilon=0.0).fit(X, y, sample_weight=[1.0, 2.0])
    assert model.predict([[0.0]])[0] == pytest.approx(10.0)


def test_in_units_of_the_spread_the_target_can_be_in_dollars_or_cents() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] * X[:, 1] + rng.normal(size=60)
    dollars = SVR(units="spread", tol=1e-9).fit(X, y)
    cents = SVR(units="spread", tol=1e-9).fit(X, 100 * y)
    np.testing.assert_allclose(cents.predict(X), 100 * dollars.predict(X), rtol=1e-5)
    assert dollars.epsilon_ == pytest.approx(0.1 * y.std(), rel=1e-12)
    plain = SVR(C=float(y.std()), epsilon=0.1 * float(y.std()), tol=1e-9).fit(X, y)
    np.testing.assert_allclose(plain.predict(X), dollars.predict(X), rtol=1e-6)
    # A constant target has no spread.
    assert SVR(units="spread").fit(X, np.full(60, 7.0)).predict(X[:2]).tolist() == [7.0, 7.0]


@pytest.mark.parametrize("seed", range(8))
def test_where_all_coefficients_are_at_bounds_the_bias_is_the_middle_of_its_interval(
    seed: int,
) -> None:
    # Wild targets at a small price: rounding in the sum of the coefficients leaves one of them an
    # ulp inside its bounds, and the bias was then that end of the interval which it is at.
    rng = np.random.default_rng(seed)
    n = 18
    X, y = rng.normal(scale=0.05, size=(n, 4)), rng.normal(100.0, 50.0, n)
    model = SVR(C=1.0, epsilon=0.1, kernel="rbf", gamma=1.0).fit(X, y)
    assert np.abs(model.dual_coef_) == pytest.approx(1.0, rel=1e-12)
    left = y - (model.predict(X) - model.intercept_)
    # Half of the rows lie above the function, half below: any bias between the halves is optimal.
    middle = np.sort(left)[[n // 2 - 1, n // 2]].mean()
    assert model.intercept_[0] == pytest.approx(middle, rel=1e-9)
