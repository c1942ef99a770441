"""Sums about class means: rational arithmetic, both paths, offsets, drift, constant columns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.data.scaling import class_sums
from novum.data.scaling.class_sums import pooled_scatter, scatter_of_classes
from novum.numerics import Floats
from tests.data.scaling.tables import small_tables


def definition(X: Floats, codes: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Weights, means and scatters of all classes in rational arithmetic."""
    K, d = int(codes.max()) + 1, X.shape[1]
    total, mean, scatter = np.zeros(K), np.zeros((K, d)), np.zeros((K, d, d))
    for k in range(K):
        rows = [[Fraction(v) for v in row] for row in X[codes == k].tolist()]
        w = [Fraction(v) for v in weight[codes == k].tolist()]
        if not rows:
            continue
        m = [sum(a * r[j] for a, r in zip(w, rows, strict=True)) / sum(w) for j in range(d)]
        total[k], mean[k] = float(sum(w)), np.array([float(v) for v in m])
        for i in range(d):
            for j in range(d):
                terms = (a * (r[i] - m[i]) * (r[j] - m[j]) for a, r in zip(w, rows, strict=True))
                scatter[k, i, j] = float(sum(terms))
    return total, mean, scatter


@given(small_tables(missing=False), st.data())
def test_both_are_their_definition(X: Floats, data: st.DataObject) -> None:
    n = len(X)
    codes = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weight = np.array(data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    total, mean, scatter = definition(X, codes, weight)
    K = len(total)
    for found in (
        pooled_scatter(X, codes, weight, K),
        scatter_of_classes(X, codes, weight, K),
    ):
        np.testing.assert_allclose(found[0][0], total, rtol=1e-14)
        np.testing.assert_allclose(found[1][0], mean, atol=1e-14)
        np.testing.assert_allclose(found[2][0].sum(axis=0), scatter.sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_the_compiled_path_agrees_with_the_plain_one(
    weighted: bool, offset: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    n, d, K = 3000, 7, 5
    codes = rng.integers(0, K, n)
    # Multiples of 2^-10 stay exact beside the offset.
    X = np.round(1024 * (rng.normal(size=(n, d)) + 9 * codes[:, None])) / 1024
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    plain = pooled_scatter(X, codes, weight, K)
    monkeypatch.setattr(class_sums, "COMPILED_FROM_CELLS", 0)
    compiled = pooled_scatter(X + offset, codes, weight, K)
    np.testing.assert_allclose(compiled[0][0], plain[0][0], rtol=1e-14)
    np.testing.assert_allclose(compiled[1][0] - offset, plain[1][0], atol=1e-7 if offset else 1e-12)
    spread = np.sqrt(np.diagonal(plain[2][0][0]))
    unit = np.outer(spread, spread)
    assert (np.abs(compiled[2][0][0] - plain[2][0][0]) <= 1e-12 * unit).all()


@pytest.mark.parametrize("compiled", [True, False])
def test_a_center_far_off_is_put_right(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that drift: the first rows of each class say little about its mean."""
    if compiled:
        monkeypatch.setattr(class_sums, "COMPILED_FROM_CELLS", 0)
    n = 4000
    codes = np.arange(n) % 2
    drift = np.where(np.arange(n) < 200, 1e7, 0.0)
    X = (np.random.default_rng(0).integers(-8, 9, n) + drift)[:, None].astype(float)
    X[:200] = 1e7
    found = pooled_scatter(X, codes, None, 2)[2][0][0, 0, 0]
    exact = sum(
        sum((Fraction(v) - Fraction(int(X[codes == k].sum()), n // 2)) ** 2 for v in column)
        for k in (0, 1)
        for column in [X[codes == k, 0].tolist()]
    )
    assert found == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("compiled", [True, False])
def test_columns_constant_within_classes_have_no_scatter_at_all(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compiled:
        monkeypatch.setattr(class_sums, "COMPILED_FROM_CELLS", 0)
    codes = np.arange(300) % 3
    X = np.column_stack([np.array([0.1, 1e8 + 0.3, -7.7])[codes], np.arange(300.0)])
    weight, mean, scatter = pooled_scatter(X, codes, np.linspace(0.1, 1, 300), 3)
    assert scatter[0][0, 0, 0] == 0.0
    assert mean[0][:, 0].tolist() == [0.1, 1e8 + 0.3, -7.7]
    assert weight[0].sum() == pytest.approx(165.0)


def test_a_class_without_rows_is_empty() -> None:
    weight, mean, scatter = pooled_scatter(np.ones((2, 1)), np.array([0, 2]), None, 4)
    assert weight[0].tolist() == [1.0, 0.0, 1.0, 0.0]
    assert mean[0].ravel().tolist() == [1.0, 0.0, 1.0, 0.0]
    assert scatter[0].shape == (1, 1, 1)
    assert scatter_of_classes(np.ones((2, 1)), np.array([0, 2]), None, 4)[2][0].shape == (4, 1, 1)


def test_squares_that_overflow_or_vanish_are_refused() -> None:
    codes = np.array([0, 1, 0])
    with pytest.raises(ValueError, match="squares of column 0 overflow"):
        pooled_scatter(np.array([[1e200], [0.0], [-1e200]]), codes, None, 2)
    with pytest.raises(ValueError, match="squares of column 0 underflow"):
        pooled_scatter(np.array([[1e-200], [0.0], [-1e-200]]), codes, None, 2)
    # No spread within classes is fine where there is some between them.
    found = pooled_scatter(np.array([[5.0], [0.0], [5.0]]), codes, None, 2)
    assert found[2][0].tolist() == [[[0.0]]]
