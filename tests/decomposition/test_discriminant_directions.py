"""Directions: SciPy's generalized eigenproblem, high precision, and singular scatters."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg

from novum.decomposition.discriminant_directions import Directions, certify, directions_of
from novum.numerics import Floats


def problem(d: int, K: int, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """A regular covariance, means and shares."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(d, d + 2))
    return root @ root.T, rng.normal(size=(K, d)) * 3, rng.dirichlet(np.ones(K))


def between(means: Floats, shares: Floats) -> Floats:
    about = means - shares @ means
    return np.asarray((about * shares[:, None]).T @ about)


def check_definition(found: Directions, W: Floats, B: Floats) -> None:
    """Both matrices are diagonal along the directions, with the ratios that are stated."""
    S = found.scalings
    finite = np.isfinite(found.ratios)
    inner, outer = S.T @ W @ S, S.T @ B @ S
    np.testing.assert_allclose(inner, np.diag(finite.astype(float)), atol=1e-9)
    np.testing.assert_allclose(outer, np.diag(found.between), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.between[finite], found.ratios[finite])
    assert (np.diff(found.ratios[finite]) <= 1e-9).all()
    assert finite[found.n_infinite :].all()


@given(st.integers(1, 6), st.integers(2, 6), st.integers(0, 10_000))
def test_another_solver_agrees(d: int, K: int, seed: int) -> None:
    W, means, shares = problem(d, K, seed)
    B = between(means, shares)
    found = directions_of(W, means, shares)
    check_definition(found, W, B)
    values = linalg.eigh(B, W, eigvals_only=True)[::-1]
    count = min(K - 1, d)
    assert found.ratios.shape == (count,)
    np.testing.assert_allclose(found.ratios, values[:count], rtol=1e-6)
    assert found.rank_within == d


def exact_ratios(W: Floats, means: Floats, shares: list[Fraction]) -> list[float]:
    """Eigenvalues of `W^-1 B` of two columns: a quadratic equation, in 60 digits."""
    w = [[Fraction(cell) for cell in row] for row in W.tolist()]
    m = [[Fraction(cell) for cell in row] for row in means.tolist()]
    middle = [sum(p * row[j] for p, row in zip(shares, m, strict=True)) for j in range(2)]
    b = [
        [
            sum(
                p * (row[i] - middle[i]) * (row[j] - middle[j])
                for p, row in zip(shares, m, strict=True)
            )
            for j in range(2)
        ]
        for i in range(2)
    ]
    det = w[0][0] * w[1][1] - w[0][1] * w[1][0]
    trace = (w[1][1] * b[0][0] - 2 * w[0][1] * b[0][1] + w[0][0] * b[1][1]) / det
    product = (b[0][0] * b[1][1] - b[0][1] * b[1][0]) / det
    with localcontext() as context:
        context.prec = 60
        half = Decimal(trace.numerator) / Decimal(trace.denominator) / 2
        last = Decimal(product.numerator) / Decimal(product.denominator)
        root = (half * half - last).sqrt()
        return [float(half + root), float(half - root)]


@given(st.integers(0, 10_000))
def test_high_precision_agrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.integers(-9, 10, (2, 5)).astype(float)
    W = root @ root.T + np.eye(2)
    means = rng.integers(-20, 20, (4, 2)).astype(float)
    exact = exact_ratios(W, means, [Fraction(1, 4)] * 4)
    if exact[1] < 1e-6:
        return
    found = directions_of(W, means, np.full(4, 0.25))
    np.testing.assert_allclose(found.ratios, exact, rtol=1e-10)
    # The residual bounds the distance of each ratio from an eigenvalue, up to rounding.
    assert found.residual < 1e-12 * exact[0]


@given(st.integers(2, 5), st.integers(0, 1000))
def test_no_other_direction_is_better(d: int, seed: int) -> None:
    W, means, shares = problem(d, 3, seed)
    B = between(means, shares)
    best = directions_of(W, means, shares).ratios[0]
    for w in np.random.default_rng(seed).normal(size=(20, d)):
        assert (w @ B @ w) / (w @ W @ w) <= best * (1 + 1e-9)


# --- Singular scatter -----------------------------------------------------------------------------


@given(st.integers(2, 5), st.integers(1, 3), st.integers(2, 5), st.integers(0, 1000))
def test_directions_without_spread_come_first(d: int, flat: int, K: int, seed: int) -> None:
    """The first columns spread, the last do not; then all are mixed by a regular matrix."""
    rng = np.random.default_rng(seed)
    W = np.zeros((d + flat, d + flat))
    W[:d, :d], means, shares = problem(d, K, seed)
    means = np.hstack([means, rng.normal(size=(K, flat))])
    mix = np.linalg.qr(rng.normal(size=(d + flat, d + flat)))[0]
    W, means = mix @ W @ mix.T, means @ mix.T
    B = between(means, shares)
    found = directions_of(W, means, shares)
    check_definition(found, W, B)
    assert found.n_infinite == min(flat, K - 1)
    assert found.rank_within == d
    # One direction for each dimension of the means.
    assert found.scalings.shape[1] == np.linalg.matrix_rank(B, tol=1e-9) == min(K - 1, d + flat)


def test_collinear_columns_change_nothing_but_the_coordinates() -> None:
    W, means, shares = problem(3, 3)
    mix = np.column_stack([np.eye(3), [1.0, -2.0, 0.5], [0.0, 3.0, 0.0]])
    plain = directions_of(W, means, shares)
    found = directions_of(mix.T @ W @ mix, means @ mix, shares)
    np.testing.assert_allclose(found.ratios, plain.ratios, rtol=1e-9)
    assert found.rank_within == 3
    seen, expected = means @ mix @ found.scalings, means @ plain.scalings
    seen, expected = seen - seen[0], expected - expected[0]
    np.testing.assert_allclose(np.abs(seen), np.abs(expected), rtol=1e-8)


def test_no_spread_at_all() -> None:
    means = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    found = directions_of(np.zeros((2, 2)), means, np.full(3, 1 / 3))
    assert np.isinf(found.ratios).tolist() == [True, True]
    check_definition(found, np.zeros((2, 2)), between(means, np.full(3, 1 / 3)))
    assert found.residual == 0.0
    assert certify(found, 2, 0.0).details["infinite_ratios"] == 2


def test_rounding_is_no_difference_of_means() -> None:
    means = np.full((3, 2), 1e8)
    means[1] = np.nextafter(means[1], np.inf)
    found = directions_of(np.eye(2), means, np.full(3, 1 / 3))
    assert found.scalings.shape == (2, 0)
    # A column twice at a large offset: the difference of the two is rounding, within and between.
    W = np.ones((2, 2))
    twice = np.array([[1e8, 1e8], [1e8 + 4, np.nextafter(1e8 + 4, np.inf)]])
    found = directions_of(W, twice, np.array([0.5, 0.5]))
    assert found.n_infinite == 0
    np.testing.assert_allclose(found.ratios, [4.0], rtol=1e-6)


# --- Reconstruction, signs, certificate -----------------------------------------------------------


def test_reconstruction_is_the_nearest_point_with_those_coordinates() -> None:
    W, means, shares = problem(4, 3)
    found = directions_of(W, means, shares)
    z = np.array([1.5, -0.5])
    x = z @ found.reconstruction
    np.testing.assert_allclose(x @ found.scalings, z, rtol=1e-10)
    total = W + between(means, shares)
    # Points with the same coordinates differ by what the directions do not see.
    for unseen in linalg.null_space(found.scalings.T).T:
        for metric in (total, W):
            assert abs(x @ np.linalg.solve(metric, unseen)) < 1e-10


def test_signs_and_units() -> None:
    W, means, shares = problem(4, 4)
    found = directions_of(W, means, shares)
    unit = np.array([1e6, 3e-7, 7.0, 1.0])
    scaled = directions_of(W * np.outer(unit, unit), means * unit, shares)
    np.testing.assert_allclose(scaled.scalings * unit[:, None], found.scalings, rtol=1e-10)
    turned = directions_of(W, -means, shares)
    np.testing.assert_allclose(turned.scalings, found.scalings, rtol=1e-9)
    entries = found.scalings * np.sqrt(np.diagonal(W))[:, None]
    largest = np.abs(entries).argmax(axis=0)
    assert (entries[largest, np.arange(3)] > 0).all()


def test_a_class_of_no_share_has_no_say() -> None:
    W, means, shares = problem(3, 3)
    more = np.vstack([means, [[1e9, 0, 0]]])
    found = directions_of(W, more, np.r_[shares, 0.0])
    np.testing.assert_allclose(found.scalings, directions_of(W, means, shares).scalings)


def test_certificate_states_ratios_and_doubts() -> None:
    found = directions_of(*problem(3, 3))
    certificate = certify(found, 1, 0.5)
    assert certificate.converged
    assert certificate.value == pytest.approx(found.ratios[0])
    assert certificate.details["rank_within"] == 3
    wrong = Directions(
        found.scalings, found.ratios, found.between, found.reconstruction, 3, residual=1.0
    )
    assert not certify(wrong, 1, 0.5).converged
