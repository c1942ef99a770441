"""The Gaussian kernel: definition, scikit-learn, digits that are hard to keep, and refusals."""

from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from novum.core.errors import InputError
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.vectors import gaussian
from novum.kernels.vectors.gaussian import (
    EXACT,
    Gaussian,
    rounding_of_distances,
    single_limit,
)
from novum.numerics import Floats
from tests.oracles import kernel_definitions as definitions
from tests.strategies.vector_kernels import assert_prepared_rows_agree, matrices

widths = st.sampled_from([0.1, 0.7, 1.0, 30.0])


def exact(X: Floats, Z: Floats, width: float) -> Floats:
    """The definition with exact distances: only the last step, `exp`, rounds."""
    two = 2 * Fraction(width) ** 2

    def similarity(x: list[float], z: list[float]) -> float:
        pairs = zip(x, z, strict=True)
        t = sum(((Fraction(a) - Fraction(b)) ** 2 for a, b in pairs), Fraction(0)) / two
        return exp(-float(t)) if t < 1000 else 0.0

    return np.array([[similarity(x, z) for z in Z.tolist()] for x in X.tolist()])


# --- Values ---------------------------------------------------------------------------------------


@given(widths, matrices(), matrices())
def test_similarities_are_the_definition(width: float, X: Floats, Z: Floats) -> None:
    K = Gaussian(width).cross(X, Z)
    rows = Gaussian(width).prepare(X)
    sums = rows.lengths[:, np.newaxis] + Gaussian(width).prepare(Z, rows).lengths
    # What is promised: t by products, or EXACT; a share of t is that share of the similarity.
    off = np.minimum(rounding_of_distances(X.shape[1]) * sums, EXACT)
    truth = exact(X, Z, width)
    assert (np.abs(K - truth) <= truth * np.expm1(off) + 1e-15).all()
    # The definition in floating point, and theirs, round t itself: at most 1e-14 of t exp(-t).
    np.testing.assert_allclose(
        K, definitions.cross(definitions.gaussian(width), X, Z), rtol=0, atol=1e-14 + off.max()
    )
    theirs = rbf_kernel(X, Z, gamma=1 / (2 * width**2))
    spread = sums + (np.square(X).sum(1)[:, None] + np.square(Z).sum(1)) / (2 * width**2)
    reach = 2 * rounding_of_distances(X.shape[1]) * spread.max()
    np.testing.assert_allclose(K, theirs, rtol=0, atol=1e-14 + reach)


@given(widths, matrices(), matrices())
def test_prepared_rows_agree(width: float, X: Floats, Z: Floats) -> None:
    for form in (np.asarray, sparse.csr_array):
        assert_prepared_rows_agree(Gaussian(width), form(X), form(Z))


@given(widths, matrices())
def test_gram_matrices_are_positive_semi_definite(width: float, X: Floats) -> None:
    K = Gaussian(width).gram(X)
    assert Gaussian(width).is_psd_by_construction
    # Entries that are off by e move no eigenvalue by more than n e.
    longest = 2 * Gaussian(width).prepare(X).lengths.max()
    off = min(rounding_of_distances(X.shape[1]) * longest, EXACT)
    assert np.linalg.eigvalsh(K)[0] >= -(1e-14 + off) * len(K)
    assert (np.diagonal(K) == 1.0).all()


def test_gamma_and_width_are_two_words_for_one_thing() -> None:
    assert Gaussian.from_gamma(0.5) == Gaussian(1.0)
    assert Gaussian.from_gamma(0.3).gamma == pytest.approx(0.3, rel=1e-15)
    assert Gaussian(2.0).feature_map is None


@given(matrices(), st.sampled_from([1e3, 1e8, -1e12]))
def test_a_shift_changes_nothing(X: Floats, shift: float) -> None:
    # Multiples of a half stay exact up to 1e15.
    K = Gaussian(1.5).gram(X)
    np.testing.assert_allclose(Gaussian(1.5).gram(X + shift), K, rtol=0, atol=1e-12)
    rows, moved = (Gaussian(1.5).prepare(rows) for rows in (X, X + shift))
    assert rows.single_is_enough == moved.single_is_enough
    np.testing.assert_allclose(moved.cross(moved, np.float32), K, rtol=0, atol=1e-5)


# --- Digits ---------------------------------------------------------------------------------------


def hard_rows(case: str) -> Floats:
    rng = np.random.default_rng(0)
    near = rng.normal(size=(6, 3))
    if case == "near duplicates far from the center":
        return np.vstack([near * 1e-3 + 1e6, near * 1e-3 - 1e6])
    if case == "two clusters":
        return np.vstack([near + 1e9, near - 1e9])
    if case == "many scales":
        return near * 10.0 ** np.arange(-4, 8, 2)[:, np.newaxis]
    return np.vstack([near * 1e200, near * 1e200])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("width", [1e-3, 1.0])
@pytest.mark.parametrize(
    "case", ["near duplicates far from the center", "two clusters", "many scales", "overflow"]
)
def test_no_entry_is_off_by_more_than_promised(case: str, width: float, form: Any) -> None:
    X = hard_rows(case)
    expected = exact(X, X, width)
    rows = Gaussian(width).prepare(form(X))
    for K in (rows.gram(), rows.cross(rows), rows.take(slice(0, 4)).cross(rows)):
        np.testing.assert_allclose(K, expected[: len(K)], rtol=0, atol=EXACT)
    # These rows are too long for single precision; storing in it costs half a unit of 2^-24.
    assert not rows.single_is_enough
    np.testing.assert_allclose(rows.cross(rows, np.float32), expected, rtol=0, atol=1e-7)


def test_plain_products_would_not_do() -> None:
    """The tests above can fail: without a second look the digits are gone."""
    X = hard_rows("two clusters")
    naive = rbf_kernel(X, gamma=0.5)
    assert np.abs(naive - exact(X, X, 1.0)).max() > 0.1


@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0003, 0.03, 0.99]),
    st.sampled_from([1, 5, 27, 200, 2000]),
)
def test_single_precision_keeps_its_word(seed: int, share: float, n_columns: int) -> None:
    """`|u|^2` up to the limit: entries are right to 1e-5, however far new rows lie."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, n_columns))
    X -= X.mean(axis=0)
    longest = share * single_limit(n_columns)
    X *= np.sqrt(2 * longest / np.max(np.sum(X * X, axis=1)))
    Z = np.vstack([X[:5] + 1e-3, X[:5] * 2.0, X[:5] * 1e3, X[:5] * 1e18])
    rows = Gaussian(1.0).prepare(X)
    assert rows.single_is_enough
    new = Gaussian(1.0).prepare(Z, rows)
    for left, right in ((rows, rows), (new, rows), (rows, new)):
        np.testing.assert_allclose(
            left.cross(right, np.float32), left.cross(right), rtol=0, atol=1e-5
        )


def test_precision_does_not_depend_on_which_rows_are_asked_for() -> None:
    rng = np.random.default_rng(1)
    rows = Gaussian(1.0).prepare(rng.normal(size=(40, 3)))
    near, far = rng.normal(size=(2, 3)), np.full((1, 3), 1e6)
    alone = Gaussian(1.0).prepare(near, rows).cross(rows, np.float32)
    both = Gaussian(1.0).prepare(np.vstack([near, far]), rows).cross(rows, np.float32)
    np.testing.assert_allclose(both[:2], alone, rtol=0, atol=1e-6)
    assert (both[2] == 0).all()


def test_exact_distances_are_computed_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    X = hard_rows("two clusters")
    whole = Gaussian(1.0).gram(X)
    monkeypatch.setattr(gaussian, "BLOCK_CELLS", 7)
    monkeypatch.setattr(gaussian, "BLOCK_ROWS", 5)
    np.testing.assert_array_equal(Gaussian(1.0).gram(X), whole)


@pytest.mark.parametrize("width", [1e-300, 1e-160, 1e160, 1e300])
def test_extreme_widths_neither_overflow_nor_turn_to_nan(width: float) -> None:
    K = Gaussian(width).gram([[0.0], [1.0], [1.0], [1e10]])
    far = 0.0 if width < 1 else 1.0
    np.testing.assert_array_equal(
        K, [[1, far, far, far], [far, 1, 1, far], [far, 1, 1, far], [far, far, far, 1]]
    )


# --- Prepared rows --------------------------------------------------------------------------------


def test_rows_prepared_apart_are_brought_together() -> None:
    X, Z = np.array([[0.0], [1.0]]), np.array([[5.0], [6.0]])
    kernel = Gaussian(2.0)
    apart = kernel.prepare(X).cross(kernel.prepare(Z))
    np.testing.assert_allclose(apart, kernel.cross(X, Z), rtol=1e-14)
    mixed = kernel.prepare(X).cross(kernel.prepare(sparse.csr_array(Z)))
    np.testing.assert_allclose(mixed, apart, rtol=1e-14)


# --- Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [0, 0.0, -1.0, float("nan"), float("inf"), "1", None, True])
def test_widths_that_are_none_are_refused(width: Any) -> None:
    with pytest.raises(InputError, match="Gaussian's width must be a finite number above 0, got"):
        Gaussian(width)


@pytest.mark.parametrize("gamma", [0.0, -0.1, float("nan")])
def test_gammas_that_are_none_are_refused(gamma: float) -> None:
    with pytest.raises(InputError, match="gamma of a Gaussian kernel must be a finite number abo"):
        Gaussian.from_gamma(gamma)


def test_the_contract_is_kept() -> None:
    X = np.random.default_rng(0).normal(size=(8, 3))
    X[3], X[5] = X[4], 0.0
    for form in (np.asarray, sparse.csr_array):
        check_kernel_contract(Gaussian(2.0), form(X))
