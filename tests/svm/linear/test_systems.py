"""Newton's systems: both forms give the dense solution, however rows come and go."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from novum.svm.linear.newton import ColumnSystem, RowSystem, system_of
from tests.svm.linear_tables import design, overlapping, with_constant


@pytest.mark.parametrize("system", [ColumnSystem, RowSystem])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_solutions_follow_the_free_rows(system: type, make: object) -> None:
    X, _ = overlapping(30, 5)
    Z, rng = with_constant(X), np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, 30)
    solver = system(design(make(X)), weight)  # type: ignore[operator]
    vector = rng.standard_normal(6)
    free = rng.random(30) < 0.5
    for changes in (0, 1, 3, 15, 30):
        free = free.copy()
        free[rng.permutation(30)[:changes]] ^= True
        H = np.eye(6) + (Z[free] * weight[free, None]).T @ Z[free] / 0.3
        found = solver.solve(free, 0.3, vector)
        np.testing.assert_allclose(H @ found, vector, atol=1e-10)
    np.testing.assert_allclose(solver.solve(np.zeros(30, bool), 0.3, vector), vector, atol=1e-12)


def test_the_smaller_system_is_chosen() -> None:
    assert isinstance(system_of(design(np.ones((9, 3))), np.ones(9)), ColumnSystem)
    assert isinstance(system_of(design(np.ones((3, 9))), np.ones(3)), RowSystem)
