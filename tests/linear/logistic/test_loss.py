"""Losses of blocks: compiled and plain agree, derivatives are those of the values."""

from __future__ import annotations

import numpy as np
import pytest

from novum.linear.logistic import loss
from novum.linear.logistic.kernels import log_of_one_plus
from novum.linear.logistic.loss import (
    _compiled_sums,
    _plain_sums,
    class_basis,
    links,
    loss_sums,
    reduced_hessian,
)
from novum.numerics import Floats
from tests.linear.logistic_tables import logistic_table


def block(n: int, d: int, K: int, seed: int = 0) -> tuple[Floats, ...]:
    X, y = logistic_table(n, d, K, seed)
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(1 if K == 2 else K, d + 1))
    return X, y, rng.uniform(0.5, 2.0, n), W, rng.normal(size=d)


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (127, 3), (128, 4), (300, 7)])
def test_compiled_and_plain_sums_agree(n: int, d: int, K: int) -> None:
    X, y, w, W, c = block(max(n, K), d, K)
    a, b = _compiled_sums(X, y, w, W, c, True), _plain_sums(X, y, w, W, c, True)
    assert a.value == pytest.approx(b.value, rel=1e-13)
    # Sums of n terms in another order differ by n units of the last place of their largest term.
    size = float(np.abs(X - c).max()) ** 2 * w.sum() + w.sum()
    for found, expected in ((a.gradient, b.gradient), (a.mixed, b.mixed), (a.hessian, b.hessian)):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15 * n * size)


@pytest.mark.parametrize("K", [2, 4])
def test_without_the_hessian_the_rest_is_the_same(K: int) -> None:
    X, y, w, W, c = block(500, 4, K)
    for sums in (_compiled_sums, _plain_sums):
        whole, part = sums(X, y, w, W, c, True), sums(X, y, w, W, c, False)
        assert part.hessian is None
        assert whole.value == part.value
        np.testing.assert_array_equal(whole.gradient, part.gradient)


@pytest.mark.parametrize("K", [2, 3])
def test_derivatives_are_those_of_the_value(K: int) -> None:
    X, y, w, W, c = block(40, 3, K)
    found = loss_sums(X, y, w, W, c, hessian=True)
    h, m, p = 1e-5, *W.shape
    blocks = dict(zip(zip(*np.triu_indices(m), strict=True), found.hessian, strict=True))
    for k in range(m):
        for j in range(p):
            step = np.zeros_like(W)
            step[k, j] = h
            up = loss_sums(X, y, w, W + step, c, hessian=False)
            down = loss_sums(X, y, w, W - step, c, hessian=False)
            # Central differences are off by h^2 times the third derivative.
            rise = (up.value - down.value) / (2 * h)
            assert rise == pytest.approx(found.gradient[k, j], rel=1e-6)
            slope = (up.gradient - down.gradient) / (2 * h)
            for other in range(k, m):
                np.testing.assert_allclose(slope[other], blocks[k, other][j], rtol=1e-6, atol=1e-6)
    last = np.array([[blocks[min(k, o), max(k, o)][-1, -1] for o in range(m)] for k in range(m)])
    np.testing.assert_allclose(found.mixed, last, rtol=1e-12)


def test_size_alone_chooses_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, w, W, c = block(50, 3, 2)
    plain = loss_sums(X, y, w, W, c, hessian=True)
    monkeypatch.setattr(loss, "PLAIN_WORK", 0)
    compiled = loss_sums(X, y, w, W, c, hessian=True)
    assert compiled.value == pytest.approx(plain.value, rel=1e-13)
    np.testing.assert_array_equal(plain.hessian, _plain_sums(X, y, w, W, c, True).hessian)


def test_logarithms_are_right_to_the_last_place() -> None:
    rng = np.random.default_rng(0)
    for e in (*rng.uniform(0, 1, 500), 0.0, 1.0, 1e-300, 1e-16):
        assert log_of_one_plus(e) == pytest.approx(np.log1p(e), rel=1e-15)


def test_extreme_scores_neither_overflow_nor_turn_to_nan() -> None:
    X, y = np.array([[1e5], [-1e5]]), np.array([0, 1])
    for sums in (_compiled_sums, _plain_sums):
        found = sums(X, y, np.ones(2), np.array([[1.0, 0.0]]), np.zeros(1), True)
        assert found.value == pytest.approx(2e5, rel=1e-15)
        assert np.isfinite(found.hessian).all()
        many = sums(X, y, np.ones(2), np.array([[-1.0, 0], [1, 0], [0, 0]]), np.zeros(1), True)
        assert many.value == pytest.approx(4e5, rel=1e-15)
        assert np.isfinite(many.hessian).all()


def test_links_of_two_classes_are_those_of_softmax() -> None:
    rng = np.random.default_rng(0)
    f, codes = rng.normal(size=(30, 1)) * 5, rng.integers(0, 2, 30)
    loss, share = links(f, codes)
    other, both = links(np.column_stack([np.zeros(30), f]), codes)
    np.testing.assert_allclose(loss, other, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(share[:, 0], both[:, 1], rtol=1e-13)


@pytest.mark.parametrize("K", [2, 3, 6])
def test_the_basis_removes_the_redundancy_and_nothing_else(K: int) -> None:
    Q = class_basis(K)
    if K == 2:
        assert Q.tolist() == [[1.0]]
        return
    np.testing.assert_allclose(Q.T @ Q, np.eye(K - 1), atol=1e-15)
    np.testing.assert_allclose(Q.sum(axis=0), 0, atol=1e-15)


def test_the_reduced_hessian_is_the_product_with_the_basis() -> None:
    X, y, w, W, c = block(50, 2, 4)
    blocks = loss_sums(X, y, w, W, c, hessian=True).hessian
    assert blocks is not None
    Q, p, m = class_basis(4), 3, 4
    whole = np.zeros((m * p, m * p))
    for b, (k, other) in zip(blocks, zip(*np.triu_indices(m), strict=True), strict=True):
        whole[k * p : (k + 1) * p, other * p : (other + 1) * p] = b
        whole[other * p : (other + 1) * p, k * p : (k + 1) * p] = b
    turn = np.kron(Q, np.eye(p))
    np.testing.assert_allclose(reduced_hessian(blocks, Q), turn.T @ whole @ turn, atol=1e-12)
