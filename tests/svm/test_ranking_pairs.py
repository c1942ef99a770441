"""Pairs by two loops, differences by vectors, accuracy by Kendall's tau."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from novum.core.errors import MemoryLimitError
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.polynomial import Polynomial
from novum.numerics import Floats, Integers
from novum.svm.ranking_pairs import (
    PairNumbers,
    PairRows,
    Pairs,
    of_objects,
    ordered_pairs,
    pairwise_accuracy,
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Floats, Integers]:
    n = draw(st.integers(1, 14))
    target = draw(hnp.arrays(float, (n,), elements=st.integers(0, 4).map(float)))
    return target, draw(hnp.arrays(np.int64, (n,), elements=st.integers(0, 2)))


def by_two_loops(target: Floats, groups: Integers) -> set[tuple[int, int]]:
    rows = range(len(target))
    return {(i, j) for i in rows for j in rows if groups[i] == groups[j] and target[i] > target[j]}


@given(tables())
def test_all_pairs_are_those_of_two_loops(table: tuple[Floats, Integers]) -> None:
    found = ordered_pairs(*table)
    listed = list(zip(found.above.tolist(), found.below.tolist(), strict=True))
    assert len(listed) == len(set(listed)) == found.n_all
    assert set(listed) == by_two_loops(*table)


@given(tables(), st.integers(1, 6), st.integers(0, 9))
def test_drawn_pairs_are_some_of_all(table: tuple[Floats, Integers], limit: int, seed: int) -> None:
    found = ordered_pairs(*table, max_pairs=limit, random_state=seed)
    everything = by_two_loops(*table)
    listed = set(zip(found.above.tolist(), found.below.tolist(), strict=True))
    assert len(listed) == len(found) == min(limit, len(everything))
    assert listed <= everything
    assert found.n_all == len(everything)


def test_draws_have_equal_chances() -> None:
    target, groups = np.array([3.0, 2.0, 1.0, 0.0]), np.zeros(4, int)
    counts = np.zeros((4, 4))
    for seed in range(1200):
        found = ordered_pairs(target, groups, 2, seed)
        counts[found.above, found.below] += 1
    # Each of six pairs is drawn with chance 1/3: 400 times, standard error below 17.
    drawn = counts[counts > 0]
    assert len(drawn) == 6
    assert np.abs(drawn - 400).max() < 5 * 17


def test_more_pairs_than_memory_are_counted_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    target, groups = np.arange(200_000.0), np.zeros(200_000, int)
    assert PairNumbers(target, groups).count == 200_000 * 199_999 // 2
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1GB")
    with pytest.raises(MemoryLimitError, match=r"19,999,900,000 pairs of 200,000 rows.*max_pairs"):
        ordered_pairs(target, groups)
    some = ordered_pairs(target, groups, max_pairs=1000)
    assert (some.above > some.below).all()
    assert some.n_all == 19_999_900_000


# --- Differences ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 1.0), Gaussian(1.0)], ids=str)
def test_inner_products_are_those_of_the_feature_space(kernel: Linear) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 2))
    above, below = rng.integers(0, 9, 13), rng.integers(0, 9, 13)
    rows = PairRows(kernel.prepare(X), above, below)
    D = np.zeros((13, 9))
    D[np.arange(13), above] += 1
    D[np.arange(13), below] -= 1
    expected = D @ kernel.gram(X) @ D.T
    np.testing.assert_allclose(rows.gram(), expected, atol=1e-12)
    np.testing.assert_allclose(rows.diagonal(), np.diagonal(expected), atol=1e-12)
    np.testing.assert_array_equal(rows.gram(), rows.gram().T)
    part = rows.take(slice(2, 5))
    np.testing.assert_allclose(part.cross(rows), expected[2:5], atol=1e-12)
    np.testing.assert_allclose(rows.cross(part, np.float32), expected[:, 2:5], atol=1e-5)
    assert rows.cross(part, np.float32).dtype == np.float32
    assert part.cross(rows).flags.c_contiguous
    assert len(rows.take(above > 4)) == int((above > 4).sum())


def test_many_rows_have_their_diagonal_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3))
    found = ordered_pairs(rng.integers(0, 5, 50).astype(float), np.arange(50) % 4)
    rows = PairRows(Linear().prepare(X), found.above, found.below)
    expected = ((X[found.above] - X[found.below]) ** 2).sum(axis=1)
    np.testing.assert_allclose(rows.diagonal(), expected, atol=1e-10)
    monkeypatch.setattr("novum.svm.ranking_pairs._BLOCK_ENTRIES", 200)
    np.testing.assert_allclose(rows.diagonal(), expected, atol=1e-10)


def test_coefficients_of_pairs_become_those_of_objects() -> None:
    rng = np.random.default_rng(2)
    X, b = rng.normal(size=(6, 2)), rng.uniform(size=8)
    pairs = Pairs(rng.integers(0, 6, 8), rng.integers(0, 6, 8), 8)
    w = b @ (X[pairs.above] - X[pairs.below])
    np.testing.assert_allclose(of_objects(pairs, b, 6) @ X, w, atol=1e-12)


# --- Accuracy -------------------------------------------------------------------------------------


@given(st.integers(2, 15), st.integers(0, 10**6))
def test_accuracy_is_kendalls_tau(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, target = rng.permutation(n).astype(float), rng.permutation(n).astype(float)
    tau = stats.kendalltau(scores, target).statistic
    assert pairwise_accuracy(scores, target, np.zeros(n, int)) == pytest.approx((1 + tau) / 2)


@given(tables(), st.integers(0, 10**6))
def test_accuracy_by_two_loops(table: tuple[Floats, Integers], seed: int) -> None:
    target, groups = table
    rng = np.random.default_rng(seed)
    scores, weight = rng.integers(0, 3, len(target)).astype(float), rng.integers(1, 4, len(target))
    right = total = 0.0
    for i, j in by_two_loops(target, groups):
        w = float(weight[i] * weight[j])
        total += w
        right += w * (1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0)
    found = pairwise_accuracy(scores, target, groups, weight.astype(float))
    if total == 0:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(right / total)


def test_many_pairs_are_counted_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    scores, target = rng.normal(size=40), rng.normal(size=40)
    groups = np.arange(40) % 3
    whole = pairwise_accuracy(scores, target, groups)
    monkeypatch.setattr("novum.svm.ranking_pairs._BLOCK_ENTRIES", 7)
    assert pairwise_accuracy(scores, target, groups) == pytest.approx(whole)
