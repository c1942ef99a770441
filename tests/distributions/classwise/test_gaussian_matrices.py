"""Matrix densities: scipy's laws, marginals by quadrature, and the pruned search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from novum.core.errors import InputError
from novum.distributions.classwise.gaussian_matrices import (
    MatrixDensities,
    likeliest,
    missing_patterns,
    whitener,
    whiteners,
)
from novum.numerics import Floats
from tests.bayes.normal_classes import with_holes

PRESENT = np.ones(3, bool)


def covariances(n: int, d: int, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    roots = np.eye(d) + 0.5 * rng.normal(size=(n, d, d))
    return roots @ roots.transpose(0, 2, 1)


def laws(degrees: float = np.inf, shared: bool = False, d: int = 3) -> MatrixDensities:
    rng = np.random.default_rng(1)
    matrices = covariances(1 if shared else 3, d)
    factor = np.array([1.0, 2.0, 0.5])
    return MatrixDensities(
        rng.normal(size=(3, d)), matrices, whiteners(matrices), factor, np.full(3, degrees), PRESENT
    )


def scipy_log_density(law: MatrixDensities, X: Floats) -> Floats:
    found = []
    for k in range(3):
        matrix = law.matrices[k if len(law.matrices) > 1 else 0] * law.factor[k]
        if np.isinf(law.degrees[k]):
            found.append(stats.multivariate_normal(law.location[k], matrix).logpdf(X))
        else:
            t = stats.multivariate_t(law.location[k], matrix, df=law.degrees[k])
            found.append(t.logpdf(X))
    return np.array(found).T


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("degrees", [np.inf, 3.0])
def test_densities_are_those_of_scipy(degrees: float, shared: bool) -> None:
    X = np.random.default_rng(2).normal(size=(7, 3))
    law = laws(degrees, shared)
    np.testing.assert_allclose(law.log_density(X), scipy_log_density(law, X), rtol=1e-10)


@pytest.mark.parametrize("degrees", [np.inf, 4.0])
def test_a_missing_cell_is_integrated_out(degrees: float) -> None:
    law = laws(degrees, d=2)
    found = law.log_density(np.array([[0.7, np.nan], [np.nan, -0.3]]))
    for k in range(3):

        def joint(a: float, b: float, k: int = k) -> float:
            return float(np.exp(law.log_density(np.array([[a, b]]))[0, k]))

        first, _ = integrate.quad(lambda b, f=joint: f(0.7, b), -np.inf, np.inf, epsabs=1e-13)
        second, _ = integrate.quad(lambda a, f=joint: f(a, -0.3), -np.inf, np.inf, epsabs=1e-13)
        np.testing.assert_allclose(np.exp(found[:, k]), [first, second], rtol=1e-8)


def test_rows_of_all_patterns_keep_their_places() -> None:
    X = with_holes(np.random.default_rng(3).normal(size=(60, 3)), 0.4)
    law = laws()
    found = law.log_density(X)
    for i, row in enumerate(X):
        known = ~np.isnan(row)
        expected = law.marginal(known).log_density(row[None, known]) if known.any() else 0.0
        np.testing.assert_allclose(found[i : i + 1], expected, rtol=1e-11, atol=1e-12)


def test_patterns_cover_every_row_once() -> None:
    X = with_holes(np.zeros((200, 11)), 0.3)
    seen = np.zeros(200, int)
    for rows, columns in missing_patterns(X):
        seen[rows] += 1
        known = np.ones(11, bool)
        if columns is not None:
            known[np.setdiff1d(np.arange(11), columns)] = False
        assert (np.isnan(X[rows]) == ~known).all()
    assert (seen == 1).all()
    assert next(missing_patterns(np.array([[1e308], [1e308]])))[1] is None


def test_a_class_without_rows_has_no_density() -> None:
    law = laws()
    some = MatrixDensities(
        law.location,
        law.matrices,
        law.roots,
        law.factor,
        law.degrees,
        np.array([True, False, True]),
    )
    found = some.log_density(np.zeros((2, 3)))
    assert np.isneginf(found[:, 1]).all()
    assert np.isfinite(found[:, [0, 2]]).all()


# --- The likeliest class --------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 6.0), st.integers(3, 9), st.integers(1, 6))
def test_pruning_finds_the_likeliest_class(seed: int, apart: float, K: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    location = apart * rng.normal(size=(K, d))
    law = MatrixDensities.normal(location, covariances(K, d, seed), np.ones(K, bool))
    X = location[rng.integers(0, K, 100)] + rng.normal(size=(100, d))
    log_prior = np.log(rng.dirichlet(np.ones(K)))
    expected = (law.log_density(X) + log_prior).argmax(axis=1)
    np.testing.assert_array_equal(law.best(X, log_prior), expected)


def test_linear_scores_are_posteriors_up_to_a_shared_term() -> None:
    law = MatrixDensities.normal(laws().location, covariances(1, 3)[0], PRESENT)
    X = np.random.default_rng(4).normal(size=(50, 3))
    log_prior = np.log([0.2, 0.3, 0.5])
    assert law.linear_scores_are_safe
    scores, full = law.linear_scores(X, log_prior), law.log_density(X) + log_prior
    np.testing.assert_allclose(scores - scores[:, :1], full - full[:, :1], rtol=1e-10, atol=1e-11)
    np.testing.assert_array_equal(law.best(X, log_prior), full.argmax(axis=1))


def test_two_close_classes_far_from_a_third_keep_their_digits() -> None:
    location = np.array([[0.0, 0.0], [1.0, 0.0], [1e7, 1e7]])
    law = MatrixDensities.normal(location, np.eye(2), PRESENT)
    assert not law.linear_scores_are_safe
    X = np.array([[0.5 - 1e-6, 0.0], [0.5 + 1e-6, 0.0]])
    assert law.best(X, np.zeros(3)).tolist() == [0, 1]


def test_whiteners_survive_units() -> None:
    C = covariances(1, 3)[0]
    scale = 2.0 ** np.array([300, 0, -300])
    A, log_det = whitener(C)
    B, other = whitener(C * np.outer(scale, scale))
    np.testing.assert_array_equal(B * scale[:, None], A)
    assert other == pytest.approx(log_det, abs=1e-10)
    with pytest.raises(np.linalg.LinAlgError, match="pivot 1 is not positive"):
        whitener(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_scores_without_a_finite_one_are_refused() -> None:
    assert likeliest(np.array([[1.0, 1.0]])).tolist() == [0]
    with pytest.raises(InputError, match=r"Row 1 lies so far .* \(1 such rows\)"):
        likeliest(np.array([[0.0, 1.0], [-np.inf, -np.inf]]))


def test_arrays_that_are_no_laws_are_refused() -> None:
    good = laws()
    good.check()
    bad = {
        "factor": np.array([1.0, -1.0, 1.0]),
        "matrices": np.zeros((2, 3, 3)),
        "location": np.full((3, 3), np.inf),
        "roots": (np.zeros((1, 3, 3)), np.zeros(1)),
    }
    for name, value in bad.items():
        broken = laws()
        object.__setattr__(broken, name, value)
        with pytest.raises(ValueError, match=r"must|shape"):
            broken.check()
