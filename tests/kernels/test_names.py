"""Names of kernels: each means what it means in scikit-learn, on the same data."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.metrics.pairwise import pairwise_kernels

from novum.core.errors import InputError
from novum.kernels.callables import FromCallable
from novum.kernels.names import resolve_gamma, resolve_kernel
from novum.kernels.precomputed import Precomputed
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.polynomial import Polynomial

X = np.random.default_rng(0).normal(2.0, 3.0, size=(12, 4))


@pytest.mark.parametrize("name", ["linear", "poly", "polynomial", "rbf", "sigmoid", "cosine"])
def test_names_mean_what_they_mean_in_scikit_learn(name: str) -> None:
    settings = {"gamma": 0.02, "degree": 3, "coef0": 0.5}
    kernel = resolve_kernel(name, gamma=0.02, degree=3, coef0=0.5)
    expected = pairwise_kernels(X, metric=name, filter_params=True, **settings)
    np.testing.assert_allclose(kernel.gram(X), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_gamma_is_that_of_scikit_learn(gamma: Any, form: Any) -> None:
    theirs = svm.SVC(gamma=gamma).fit(form(X), np.arange(12) % 2)
    assert resolve_gamma(gamma, form(X)) == pytest.approx(theirs._gamma, rel=1e-12)


def test_cells_that_are_not_stored_count() -> None:
    holes = np.where(X > 2.0, X, 0.0)
    expected = 1.0 / (4 * holes.var())
    assert resolve_gamma("scale", sparse.csr_array(holes)) == pytest.approx(expected, rel=1e-12)


def test_rows_without_spread_have_gamma_one() -> None:
    assert resolve_gamma("scale", np.ones((3, 2))) == 1.0
    assert resolve_gamma("scale", sparse.csr_array((3, 2))) == 1.0
    assert resolve_gamma(None, X) == 0.25


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [1e-155, 1e-250, 1e200])
def test_a_spread_beyond_double_precision_is_refused(form: Any, scale: float) -> None:
    cells = scale * np.array([[0.0, 1.0], [2.0, 5.0], [3.0, 0.0]])
    size = "large" if scale > 1 else "small"
    with pytest.raises(InputError, match=f"Cells of X are so {size} that their variance"):
        resolve_gamma("scale", form(cells))


def test_kernels_and_functions_pass() -> None:
    kernel = Gaussian(3.0) + Linear()
    assert resolve_kernel(kernel) is kernel
    assert resolve_kernel(np.dot) == FromCallable(np.dot)
    assert resolve_kernel(np.dot, callable_form="pair") == FromCallable(np.dot, "pair")
    assert resolve_kernel("precomputed") == Precomputed()
    assert resolve_kernel("poly", gamma=1, degree=2, coef0=1) == Polynomial(2, 1.0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "gauss"}, "kernel='gauss' is not one of 'linear', 'poly'"),
        ({"kernel": 3}, "kernel=3 is no kernel"),
        ({"kernel": Gaussian}, r"kernel=Gaussian is a class; .* as in kernel=Gaussian\(...\)"),
        ({"kernel": "rbf", "gamma": 0.0}, "gamma must be a finite number above 0, got 0.0"),
        ({"kernel": "rbf", "gamma": -1}, "gamma must be a finite number above 0, got -1"),
        ({"kernel": "rbf", "gamma": "none"}, "gamma='none' is not 'scale', 'auto' or a number"),
        ({"kernel": "rbf"}, "gamma='scale' is computed from training rows"),
        ({"kernel": "poly", "gamma": np.nan}, "gamma must be a finite number, got nan"),
        ({"kernel": "poly", "gamma": 1.0, "degree": 2.5}, "degree must be a whole number"),
        ({"kernel": "sigmoid", "gamma": 1.0, "coef0": "1"}, "coef0 must be a finite number"),
    ],
)
def test_wrong_words_and_numbers_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve_kernel(**arguments)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_cells_without_a_variance_are_said_to_be_too_large(form: Any) -> None:
    with pytest.raises(InputError, match=r"so large .* Scale the columns"):
        resolve_kernel("rbf", X=form(1e200 * X))
