"""Affine maps of scores: scipy's minimizer, linear programming for separation, units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

from novum.numerics import fit_affine_softmax, is_separated

rng = np.random.default_rng(0)


def loss(params: Any, z: Any, T: Any, w: Any, c: Any) -> float:
    scores = params[0] * z + np.r_[0.0, params[1:]] + c
    return float(-(w / w.sum()) @ (T * special.log_softmax(scores, axis=1)).sum(axis=1))


@pytest.mark.parametrize("K", [2, 3, 4])
def test_fit_is_that_of_a_general_minimizer(K: int) -> None:
    z = rng.normal(size=(60, K))
    T = np.eye(K)[(z + rng.gumbel(size=z.shape)).argmax(axis=1)]
    w, c = rng.random(60) + 0.1, np.log(rng.dirichlet(np.ones(K)))
    found = fit_affine_softmax(z, T, w, c)
    best = optimize.minimize(
        loss, np.r_[1.0, np.zeros(K - 1)], (z, T, w, c), method="BFGS", tol=1e-9
    )
    np.testing.assert_allclose([found.slope, *found.offset[1:]], best.x, atol=1e-5)
    assert found.loss <= best.fun + 1e-12
    assert found.loss == pytest.approx(loss([found.slope, *found.offset[1:]], z, T, w, c))
    assert found.converged
    assert found.residual < 1e-9


def test_units_and_offsets_do_not_matter() -> None:
    z = rng.normal(size=(50, 3))
    T = np.eye(3)[np.arange(50) % 3]
    one = fit_affine_softmax(z, T, np.ones(50))
    moved = 2.0**40 * (z + np.array([1e3, -5.0, 7.0])) + rng.normal(size=(50, 1)) * 1e12
    two = fit_affine_softmax(moved, T, np.ones(50))
    # The shift of 1e12 in units of 2^40 leaves about ten digits of the scores.
    np.testing.assert_allclose(
        special.softmax(one.log_odds(z), axis=1),
        special.softmax(two.log_odds(moved), axis=1),
        atol=1e-8,
    )


def test_equal_scores_leave_the_shares() -> None:
    T = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = fit_affine_softmax(np.full((3, 2), 7.0), T, np.ones(3))
    assert found.slope == 0.0
    np.testing.assert_allclose(special.softmax(found.offset), [2 / 3, 1 / 3])


def test_a_class_without_share_is_refused() -> None:
    with pytest.raises(ValueError, match="positive share"):
        fit_affine_softmax([[0.0, 1.0]], [[1.0, 0.0]], [1.0])


@given(
    st.lists(st.tuples(*[st.integers(-3, 3)] * 3, st.integers(0, 2)), max_size=6),
    st.sampled_from([2, 3]),
)
def test_separation_is_that_of_linear_programming(rows: Any, K: int) -> None:
    made = [(*range(3), k) for k in range(K)] + [row for row in rows if row[3] < K]
    z = np.array([row[:K] for row in made], float)
    codes = np.array([row[3] for row in made])
    assert is_separated(z, codes) == any(feasible(sign, z, codes) for sign in (1, -1))


def feasible(sign: int, z: Any, codes: Any) -> bool:
    K = z.shape[1]
    A, b = [], []
    for row, y in zip(sign * z, codes, strict=True):
        for k in range(K):
            if k != y:
                line = np.zeros(K)
                line[k], line[y] = 1.0, -1.0
                A.append(line)
                b.append(row[y] - row[k])
    found = optimize.linprog(np.zeros(K), A_ub=A, b_ub=b, bounds=[(None, None)] * K)
    return bool(found.status == 0)
