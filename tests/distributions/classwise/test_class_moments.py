"""Moments by class: the compiled pass against exact fractions and against each class alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.classwise import class_moments as module
from novum.distributions.classwise.class_moments import class_moments, pooled
from novum.numerics import column_moments_of


def exact(cells: list[float]) -> tuple[float, float]:
    """Mean and scatter by rational arithmetic."""
    values = [Fraction(cell) for cell in cells]
    mean = sum(values) / len(values)
    return float(mean), float(sum((value - mean) ** 2 for value in values))


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables through the kernel as well."""
    monkeypatch.setattr(module, "COMPILED_FROM_CELLS", 0)


@pytest.mark.parametrize("offset", [0.0, 1e8, -3e12])
@pytest.mark.usefixtures("compiled")
def test_kernel_reaches_the_digits_of_fractions(offset: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)) + offset, rng.integers(0, 3, 300)
    found = class_moments(X, y, 3)
    for k in range(3):
        for j in range(2):
            mean, scatter = exact(X[y == k, j].tolist())
            assert found.mean[2 * k + j] == pytest.approx(mean, rel=1e-15)
            assert found.scatter[2 * k + j] == pytest.approx(scatter, rel=1e-12)


@pytest.mark.usefixtures("compiled")
def test_first_rows_far_from_the_rest_cost_no_digits() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5000, 1))
    X[:64] += 1e9
    found = class_moments(X, np.zeros(5000, np.int64), 1)
    mean, scatter = exact(X.ravel().tolist())
    # A plain sum of 5,000 terms: n eps = 1e-12 at worst.
    assert found.mean[0] == pytest.approx(mean, rel=1e-12)
    assert found.scatter[0] == pytest.approx(scatter, rel=1e-12)


@given(st.data())
def test_both_paths_agree_with_every_class_alone(data: st.DataObject) -> None:
    n, d, n_classes = data.draw(st.tuples(st.integers(1, 30), st.integers(1, 4), st.integers(1, 4)))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d)
    X[rng.random((n, d)) < data.draw(st.sampled_from([0.0, 0.3, 1.0]))] = np.nan
    y, weight = rng.integers(0, n_classes, n), rng.integers(1, 4, n).astype(float)
    before = module.COMPILED_FROM_CELLS
    try:
        for limit in (0, 2**60):
            module.COMPILED_FROM_CELLS = limit
            found = class_moments(X, y, n_classes, weight)
            for k in range(n_classes):
                alone = column_moments_of(X[y == k], weight[y == k])
                part = slice(k * d, (k + 1) * d)
                np.testing.assert_allclose(found.weight[part], alone.weight)
                np.testing.assert_allclose(found.mean[part], alone.mean, rtol=1e-12, atol=1e-15)
                scale = np.nanmax(np.abs(X), initial=1e-3) ** 2
                np.testing.assert_allclose(
                    found.scatter[part], alone.scatter, rtol=1e-10, atol=1e-13 * scale
                )
    finally:
        module.COMPILED_FROM_CELLS = before


def test_pooled_moments_are_those_of_all_rows() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(5, 2, (50, 3)), rng.integers(0, 4, 50)
    X[3, 1] = np.nan
    assert pooled(class_moments(X, y, 4), 4).isclose(column_moments_of(X))


def test_a_constant_column_is_exactly_constant() -> None:
    X = np.full((40, 1), 0.1)
    for limit in (0, 2**60):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "COMPILED_FROM_CELLS", limit)
            found = class_moments(X, np.arange(40) % 2, 2)
        assert found.scatter.max() <= 1e-32
        assert pooled(found, 2).scatter[0] <= 1e-31


@pytest.mark.parametrize("limit", [0, 2**60])
def test_squares_that_underflow_are_refused(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMPILED_FROM_CELLS", limit)
    with pytest.raises(InputError, match="squares of column 0 underflow"):
        class_moments(np.array([[1e-200], [2e-200]]), np.zeros(2, np.int64), 1)


@pytest.mark.parametrize("limit", [0, 2**60])
def test_squares_that_overflow_are_refused(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMPILED_FROM_CELLS", limit)
    X = np.array([[1e200, 1.0], [-1e200, 2.0], [0.0, 3.0]])
    with pytest.raises(InputError, match="squares of column 0 overflow"):
        class_moments(X, np.zeros(3, np.int64), 1)
