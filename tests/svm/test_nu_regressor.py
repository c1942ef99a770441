"""NuSVR: what nu promises, the width that it finds, and its SVR."""

from __future__ import annotations

import numpy as np
import pytest

from novum.kernels.vectors.gaussian import Gaussian
from novum.svm.regression import SVR, NuSVR
from novum.svm.solver import problems
from tests.oracles.svm_definitions import interior_point
from tests.svm.machine_tables import wave


@pytest.mark.parametrize("nu", [0.13, 0.41, 0.83])
def test_nu_is_between_rows_outside_and_support(nu: float) -> None:
    X, y = wave(100)
    model = NuSVR(nu=nu, tol=1e-9).fit(X, y)
    assert (model.xi_ > 1e-6).mean() <= nu + 1e-9
    assert len(model.support_) / 100 >= nu - 1e-9


def test_it_is_the_regression_of_the_width_it_finds() -> None:
    X, y = wave()
    model = NuSVR(nu=0.37, tol=1e-10).fit(X, y)
    same = SVR(epsilon=model.epsilon_, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.predict(X), same.predict(X), atol=1e-4)


def test_a_generic_solver_agrees() -> None:
    X, y = wave(30)
    kernel = Gaussian(1.0)
    model = NuSVR(nu=0.37, C=2.0, kernel=kernel, tol=1e-9).fit(X, y)
    exact = interior_point(kernel.gram(X), problems.nu_regression(y, np.full(30, 2.0), 0.37))
    assert model.certificate_.dual == pytest.approx(-exact.value, rel=1e-6)


def test_a_share_of_one_leaves_no_tube() -> None:
    X, y = wave(30)
    model = NuSVR(nu=1.0, tol=1e-9).fit(X, y)
    assert model.epsilon_ == pytest.approx(0.0, abs=1e-4)


def test_an_infinite_price_is_refused() -> None:
    with pytest.raises(ValueError, match="'C' parameter of NuSVR"):
        NuSVR(C=np.inf).fit(*wave(10))
