"""Closed classes and stationary shares, against the equation they solve."""

from __future__ import annotations

import numpy as np

from novum.numerics import communicating_classes, is_closed, stationary_of


def test_shares_solve_their_equation() -> None:
    rng = np.random.default_rng(0)
    transition = rng.random((6, 6))
    transition /= transition.sum(axis=1, keepdims=True)
    shares = stationary_of(transition, range(6))
    np.testing.assert_allclose(shares @ transition, shares, rtol=1e-13)
    np.testing.assert_allclose(shares.sum(), 1.0, rtol=1e-14)


def test_a_class_that_is_left_is_not_closed() -> None:
    transition = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.1, 0.0, 0.9]])
    assert communicating_classes(transition) == [[0, 1], [2]]
    assert is_closed(transition, [0, 1])
    assert not is_closed(transition, [2])
