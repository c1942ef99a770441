"""Weights of a saddle point: linear programs, grids, and bounds that hold at every step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from novum.numerics import Floats
from novum.svm.combination.weights import (
    Bundle,
    Evaluation,
    Limits,
    find_weights,
    nearest_point,
)


class Pieces:
    """`J(d) = max_t c_t - q_t d`, evaluated exactly: the minimum is a linear program for p = 1."""

    def __init__(self, c: Floats, q: Floats) -> None:
        self.c, self.q = c, q
        self.points: list[Floats] = []

    def __call__(self, d: Floats) -> Evaluation:
        self.points.append(d)
        values = self.c - self.q @ d
        t = int(np.argmax(values))
        return Evaluation(float(self.c[t]), self.q[t], float(values[t]))

    def minimum(self) -> float:
        k = self.q.shape[1]
        found = optimize.linprog(
            np.append(np.zeros(k), 1.0),
            A_ub=np.column_stack([-self.q, -np.ones(len(self.c))]),
            b_ub=-self.c,
            A_eq=np.append(np.ones(k), 0.0)[np.newaxis],
            b_eq=[1.0],
            bounds=[(0, None)] * k + [(None, None)],
        )
        return float(found.fun)


def random_pieces(k: int, t: int, seed: int) -> Pieces:
    rng = np.random.default_rng(seed)
    return Pieces(10 + rng.normal(size=t), rng.uniform(0, 3, (t, k)))


@given(st.integers(1, 6), st.integers(1, 12), st.integers(0, 10**6))
def test_the_minimum_on_the_simplex_is_bracketed(k: int, t: int, seed: int) -> None:
    pieces = random_pieces(k, t, seed)
    found = find_weights(pieces, k, 1.0, Limits(1e-7, 500))
    best = pieces.minimum()
    assert found.stopped_by is None
    assert found.lower <= best + 1e-9
    assert best <= found.upper + 1e-9
    assert found.upper - found.lower <= 1e-7 * abs(found.upper)
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1.0)
    for point in pieces.points:
        assert point.min() >= 0
        assert point.sum() == pytest.approx(1.0)
    assert all(np.diff(found.trace) <= 0)


@given(st.integers(1, 4), st.integers(1, 8), st.floats(1.0, 6.0), st.integers(0, 10**6))
def test_the_lower_bound_never_lies_above_a_value(k: int, t: int, p: float, seed: int) -> None:
    """For every norm, and for any weights in the ball."""
    rng = np.random.default_rng(seed)
    pieces, bundle = random_pieces(k, t, seed), Bundle(k, p)
    for _ in range(6):
        d = rng.uniform(size=k)
        bundle.add(pieces(d / np.linalg.norm(d, p)))
        lower = bundle.lower_bound()
    for _ in range(30):
        d = rng.uniform(size=k)
        d /= np.linalg.norm(d, p)
        assert lower <= float((pieces.c - pieces.q @ d).max()) + 1e-9


def smooth(d: Floats) -> Evaluation:
    """`J(d) = max_b b - b^2 (1 + 3 d_1 + d_2) / 4 = 1 / (1 + 3 d_1 + d_2)`."""
    b = 2 / (1 + 3 * d[0] + d[1])
    return Evaluation(b - b * b / 4, b * b / 4 * np.array([3.0, 1.0]), b / 2)


@pytest.mark.parametrize("p", [1.0, 1.2, 2.0, 5.0, np.inf])
def test_smooth_values_have_their_minimum_by_duality_of_norms(p: float) -> None:
    # The largest 3 d_1 + d_2 in the ball is the dual norm of (3, 1).
    dual = np.inf if p == 1 else 1.0 if np.isinf(p) else p / (p - 1)
    best = 1 / (1 + float(np.linalg.norm([3.0, 1.0], dual)))
    found = find_weights(smooth, 2, p, Limits(1e-8, 1000))
    assert found.upper == pytest.approx(best, rel=1e-6)
    assert found.lower <= best + 1e-12
    assert np.linalg.norm(found.weights, p) == pytest.approx(1.0)


def test_budgets_stop_with_honest_bounds() -> None:
    pieces = random_pieces(5, 12, 1)
    found = find_weights(pieces, 5, 1.0, Limits(1e-12, 2))
    assert found.stopped_by == "max_iter"
    assert found.lower <= pieces.minimum() <= found.upper
    slow = find_weights(pieces, 5, 1.0, Limits(1e-12, 100, max_seconds=0.0))
    assert slow.stopped_by == "max_seconds"
    assert slow.iterations == 1


def test_kernels_that_say_nothing_keep_their_weights() -> None:
    flat = find_weights(lambda _: Evaluation(2.0, np.zeros(3), 2.0), 3, 2.0, Limits(1e-9, 5))
    assert flat.upper == flat.lower == 2.0
    uneven = Bundle(3, 2.0)
    start = np.full(3, 3**-0.5)
    found = Evaluation(2.0, np.zeros(3), 2.0)
    np.testing.assert_array_equal(uneven.next_point(start, found, 2.0), start)


def test_old_cuts_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("novum.svm.combination.weights._CUTS", 3)
    bundle = Bundle(2, 1.0)
    for c in range(5):
        bundle.add(Evaluation(float(c), np.ones(2), float(c)))
    assert bundle.linear == [2.0, 3.0, 4.0]


# --- The nearest point ----------------------------------------------------------------------------


@given(st.integers(2, 5), st.integers(1, 4), st.integers(0, 10**6))
def test_the_nearest_point_is_that_of_a_general_solver(k: int, t: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    center, inside = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k))
    normals = rng.normal(size=(t, k))
    offsets = normals @ inside - 0.01
    found = nearest_point(center, normals, offsets)
    assert found is not None
    assert found.sum() == pytest.approx(1.0)
    assert found.min() >= -1e-9
    assert (normals @ found - offsets).min() >= -1e-8
    reference = optimize.minimize(
        lambda x: ((x - center) ** 2).sum(),
        inside,
        jac=lambda x: 2 * (x - center),
        bounds=[(0, 1)] * k,
        constraints=[
            {"type": "eq", "fun": lambda x: x.sum() - 1},
            {"type": "ineq", "fun": lambda x: normals @ x - offsets},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert ((found - center) ** 2).sum() <= reference.fun + 1e-7


def test_an_impossible_level_has_no_nearest_point() -> None:
    center = np.array([0.5, 0.5])
    assert nearest_point(center, np.array([[1.0, 0.0]]), np.array([2.0])) is None
