"""Trees of boxes and screening find what the definition finds, bit for bit, in any unit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.numerics import KDTree, ScreenedRows
from tests.oracles import distance_definitions as defined


def test_trees_of_many_leaves_and_rows_that_are_all_equal() -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(5000, 3)), rng.normal(size=(400, 3))
    _, places = defined.nearest(((Z[:, None] - X) ** 2).sum(axis=2), 9)
    found = KDTree.of(X).nearest(Z, 9)
    assert np.array_equal(found[1], places)
    same = np.ones((700, 2))
    for index in (KDTree.of(same), ScreenedRows.of(same)):
        distances, rows = index.nearest(same[:3], 5)
        assert (distances == 0).all()
        assert (rows == np.arange(5)).all()


@pytest.mark.parametrize("scale", [1e-150, 1e150, 1e-6])
def test_screening_is_exact_in_any_unit(scale: float) -> None:
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(300, 6)), np.vstack([rng.normal(size=(20, 6)), np.full((1, 6), 1e3)])
    expected = KDTree.of(X * scale).nearest(Z * scale, 4)
    found = ScreenedRows.of(X * scale).nearest(Z * scale, 4)
    assert np.array_equal(found[1], expected[1])
    assert np.array_equal(found[0], expected[0])
    far = ScreenedRows.of(X).nearest(np.full((1, 6), 1e200), 2)
    assert np.array_equal(far[1], [[0, 1]])


@pytest.mark.parametrize("power", [1.0, 2.0, 3.0, np.inf])
@pytest.mark.parametrize("scale", [1e-160, 1e-90, 1.0, 1e90, 1e150])
@pytest.mark.parametrize("outlier", [0.0, 1e9])
def test_trees_are_exact_in_any_unit(power: float, scale: float, outlier: float) -> None:
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(size=(1500, 3)), np.round(rng.normal(size=(500, 3)))]) + 1e4
    Z = np.vstack([X[::100], rng.normal(size=(20, 3)) + 1e4, np.full((1, 3), 1e7)])
    X[0] += outlier
    X, Z, own = X * scale, Z * scale, np.append(np.arange(0, 2000, 100), np.full(21, -1))
    with np.errstate(over="ignore", under="ignore"):
        apart = np.abs(Z[:, None] - X)
        terms = apart * apart if power == 2.0 else apart**power
        powers = apart.max(axis=2) if np.isinf(power) else terms[:, :, 0] + terms[:, :, 1]
        powers = powers if np.isinf(power) else powers + terms[:, :, 2]
    for k in (1, 7, 40, 600):
        distances, rows = KDTree.of(X).nearest(Z, k, power, own)
        kept = np.where(np.arange(2000) == own[:, None], np.inf, powers)
        order = np.argsort(kept, axis=1, kind="stable")[:, :k]
        found = np.take_along_axis(powers, rows, axis=1)
        if power == 3.0:
            # NumPy's powers are rounded in another way than those of the kernels.
            np.testing.assert_allclose(
                distances, np.take_along_axis(kept, order, axis=1), rtol=1e-13, atol=1e-300
            )
            continue
        assert np.array_equal(distances, found)
        finite = np.isfinite(np.take_along_axis(kept, order, axis=1))
        assert np.array_equal(rows[finite], order[finite])


@given(
    st.integers(0, 10_000),
    st.integers(1, 700),
    st.integers(1, 4),
    st.sampled_from([1.0, 2.0, 3.0, np.inf]),
    st.booleans(),
)
def test_rows_within_a_radius(seed: int, n: int, p: int, power: float, grid: bool) -> None:
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(n, p)), rng.normal(size=(9, p))
    if grid:
        X, Z = np.round(2 * X), np.round(2 * Z)
    apart = np.abs(Z[:, None] - X)
    powers = apart.max(axis=2) if np.isinf(power) else (apart**power).sum(axis=2)
    radius = float(np.quantile(powers, 0.3)) * (1 + 1e-12)
    counts, rows, _ = KDTree.of(X).within(Z, radius, power)
    assert counts.tolist() == (powers <= radius).sum(axis=1).tolist()
    for line, near in zip(powers, np.split(rows, np.cumsum(counts)[:-1]), strict=True):
        assert np.array_equal(np.sort(near), np.flatnonzero(line <= radius))


def test_few_rows_and_none() -> None:
    tree = KDTree.of(np.zeros((1, 2)))
    assert tree.nearest(np.ones((1, 2)), 1) == (np.array([[2.0]]), np.array([[0]]))
    counts, rows, powers = tree.within(np.empty((0, 2)), 1.0)
    assert len(counts) == len(rows) == len(powers) == 0
