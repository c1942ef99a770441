"""Triangular factors: rational cross-products, merging, removing with an honest count of digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import linalg

from novum.numerics import (
    Floats,
    TriangularFactor,
    empty_factor,
    factor_of_gram,
    factor_of_rows,
    merge,
    remove,
    triangular,
)
from novum.numerics.triangular import factor_of
from tests.oracles.rational_least_squares import cross_products

cells = st.integers(-50, 50).map(float)
tables = st.integers(1, 9).flatmap(lambda n: hnp.arrays(np.float64, (n, 2), elements=cells))


@pytest.fixture(params=["extended", "blocked"])
def _precision(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to a factor, whatever the size of the table."""
    if request.param == "blocked":
        monkeypatch.setattr(triangular, "_SMALL_CELLS", 0)


def normal(n: int, k: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=(n, k))


def assert_products(factor: TriangularFactor, Z: Floats, weight: Floats | None = None) -> None:
    """`R'R` is the rational `[1 Z-c]'W[1 Z-c]`, to 1e-13 of the columns' sizes."""
    center = [Fraction(cell) for cell in factor.center.tolist()]
    rows = [
        [Fraction(1), *(Fraction(cell) - c for cell, c in zip(row, center, strict=True))]
        for row in Z.tolist()
    ]
    w = np.ones(len(Z)) if weight is None else weight
    products = cross_products(rows, rows, [Fraction(value) for value in w.tolist()])
    truth = np.array([[float(cell) for cell in row] for row in products])
    size = np.sqrt(np.diag(truth)) + 1e-100
    error = (factor.factor.T @ factor.factor - truth) / np.outer(size, size)
    assert np.abs(error).max() < 1e-13


# --- Building -------------------------------------------------------------------------------------


@given(tables, st.booleans(), st.data())
def test_squares_are_the_rational_cross_products(
    Z: Floats, blocked: bool, data: st.DataObject
) -> None:
    weight = data.draw(hnp.arrays(np.float64, len(Z), elements=st.integers(1, 5).map(float)))
    with pytest.MonkeyPatch.context() as patch:
        if blocked:
            patch.setattr(triangular, "_SMALL_CELLS", 0)
        assert_products(factor_of(Z), Z)
        assert_products(factor_of(Z, weight), Z, weight)


@pytest.mark.usefixtures("_precision")
def test_it_is_triangular_with_a_diagonal_of_at_least_zero() -> None:
    factor = factor_of(normal(40, 4)).factor
    assert np.tril(factor, -1).any() == 0
    assert (np.diagonal(factor) >= 0).all()
    assert factor.shape == (5, 5)


def test_blocks_are_folded_in_order_and_give_the_factor_of_the_whole() -> None:
    Z = normal(5000, 3) + 7.0
    factor = factor_of(Z)
    whole = np.column_stack([np.ones(len(Z)), Z - factor.center])
    expected = linalg.qr(whole, mode="r")[0][:4]
    expected *= np.sign(np.diagonal(expected))[:, np.newaxis]
    # Householder's error is a small multiple of eps times the length of a column.
    np.testing.assert_allclose(factor.factor, expected, atol=1e-13 * np.sqrt(len(Z)))


def test_the_two_precisions_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    Z, weight = normal(60, 3) * [1.0, 1e6, 1e-6], np.arange(1.0, 61.0)
    small = factor_of(Z, weight)
    monkeypatch.setattr(triangular, "_SMALL_CELLS", 0)
    assert small.isclose(factor_of(Z, weight), rtol=1e-14)


def test_fill_gets_every_row_once_and_in_order() -> None:
    Z, seen = normal(2500, 2), []

    def fill(start: int, stop: int, out: Floats) -> None:
        seen.append((start, stop))
        out[...] = Z[start:stop]

    factor = factor_of_rows(2500, 2, fill)
    assert seen == [(0, 1024), (1024, 2048), (2048, 2500)]
    assert factor.isclose(factor_of(Z))


def test_means_and_views() -> None:
    Z = np.array([[1.0, 10.0], [2.0, 20.0], [6.0, 60.0]])
    factor = factor_of(Z, np.array([1.0, 1.0, 2.0]))
    np.testing.assert_allclose(factor.mean, [3.75, 37.5], rtol=1e-15)
    whole = factor.uncentered
    np.testing.assert_allclose(whole.T @ whole, [[77.0, 770.0], [770.0, 7700.0]], rtol=1e-14)
    centered = factor.centered
    np.testing.assert_allclose((centered.T @ centered)[0, 0], 77.0 - 4 * 3.75**2, rtol=1e-13)
    assert (factor.weight, factor.rows) == (4.0, 3.0)


@pytest.mark.usefixtures("_precision")
def test_condition_number_is_not_squared() -> None:
    """Läuchli's matrix: cross-products would round its smallest singular value to zero."""
    Z = np.vstack([np.ones((1, 2)), 1e-9 * np.eye(2)])
    whole = factor_of(Z).uncentered
    assert linalg.svdvals(whole)[-1] == pytest.approx(1e-9, rel=1e-6)
    assert linalg.eigvalsh(Z.T @ Z)[0] < 1e-17


@pytest.mark.usefixtures("_precision")
def test_rows_of_weight_zero_are_absent() -> None:
    Z, weight = normal(30, 2), np.r_[np.zeros(10), np.ones(20)]
    factor = factor_of(Z, weight)
    assert factor.isclose(factor_of(Z[10:]), rtol=1e-14)
    assert (factor.weight, factor.rows) == (20.0, 20.0)


def test_first_block_of_weight_zero_does_no_harm() -> None:
    Z, weight = normal(3000, 2) + 100.0, np.r_[np.zeros(1500), np.ones(1500)]
    assert factor_of(Z, weight).isclose(factor_of(Z[1500:]), rtol=1e-12)


@pytest.mark.usefixtures("_precision")
@pytest.mark.parametrize("size", [1e150, 1e-150])
def test_cells_of_extreme_size(size: float) -> None:
    Z = normal(20, 3)
    factor, plain = factor_of(Z * size), factor_of(Z)
    np.testing.assert_allclose(factor.centered / size, plain.centered, atol=1e-14)


@pytest.mark.usefixtures("_precision")
def test_offsets_cost_no_digits_in_the_spread() -> None:
    Z = np.array([[1.0, 2.0], [2.0, 1.0], [4.0, 0.0], [3.0, 7.0]])
    np.testing.assert_allclose(factor_of(Z + 2.0**40).centered, factor_of(Z).centered, rtol=1e-14)


def test_one_row_and_no_row() -> None:
    one, none = factor_of([[3.0, 4.0]]), factor_of(np.empty((0, 2)))
    assert one.factor.tolist() == [[1.0, 0.0, 0.0]]
    assert one.mean.tolist() == [3.0, 4.0]
    assert one.centered.shape == (0, 2)
    assert (none.rows, none.weight, none.n_columns) == (0.0, 0.0, 2)
    assert none.mean.tolist() == [0.0, 0.0]


def test_cholesky_gives_the_same_factor_where_it_can() -> None:
    Z = normal(50, 3)
    factor = factor_of(Z)
    rows = np.column_stack([np.ones(50), Z - factor.center])
    other = factor_of_gram(rows.T @ rows, factor.center, 50.0, 50.0)
    np.testing.assert_allclose(other.factor, factor.factor, atol=1e-12)
    with pytest.raises(linalg.LinAlgError):
        factor_of_gram(np.ones((2, 2)), np.zeros(1), 2.0, 2.0)


# --- Moving, scaling, selecting -------------------------------------------------------------------


@given(tables, st.integers(-30, 30), st.integers(-30, 30))
def test_center_does_not_matter(Z: Floats, a: int, b: int) -> None:
    factor = factor_of(Z)
    moved = factor.recentered(np.array([float(a), float(b)]))
    assert moved.center.tolist() == [a, b]
    assert factor.isclose(moved, rtol=1e-12)
    np.testing.assert_allclose(moved.mean, factor.mean, atol=1e-13)


@given(tables, st.integers(1, 4))
def test_scaling_is_repetition(Z: Floats, times: int) -> None:
    repeated = factor_of(np.repeat(Z, times, axis=0))
    scaled = factor_of(Z).scaled(times)
    assert scaled.isclose(repeated, rtol=1e-13)
    assert (scaled.weight, scaled.rows) == (repeated.weight, repeated.rows)
    assert factor_of(Z, np.full(len(Z), float(times))).isclose(repeated, rtol=1e-13)


def test_scaling_by_zero_is_no_row_and_by_less_is_refused() -> None:
    assert factor_of(normal(5, 2)).scaled(0.0).rows == 0
    for factor in (-1.0, np.nan):
        with pytest.raises(ValueError, match="at least 0, got"):
            factor_of(normal(5, 2)).scaled(factor)


@given(tables, st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=4))
def test_selected_columns(Z: Floats, order: list[int]) -> None:
    padded = np.column_stack([Z, np.zeros(len(Z))])
    assert factor_of(Z).columns(order).isclose(factor_of(padded[:, order]), rtol=1e-13)


def test_isclose_sees_differences() -> None:
    Z = normal(20, 2)
    factor = factor_of(Z)
    assert not factor.isclose(factor_of(Z[:, :1]))
    assert not factor.isclose(factor_of(Z[:-1]))
    assert not factor.isclose(factor_of(Z * [1.0, 1 + 1e-8]))
    assert factor.isclose(factor_of(Z * [1.0, 1 + 1e-13]))
    assert not factor.isclose(factor_of(Z + np.array([0.0, 1e-7])))


# --- Merging --------------------------------------------------------------------------------------


@given(tables, tables, tables)
def test_merging_in_any_grouping_is_stacking(A: Floats, B: Floats, C: Floats) -> None:
    a, b, c = factor_of(A), factor_of(B), factor_of(C)
    whole = factor_of(np.vstack([A, B, C]))
    for merged in (merge(merge(a, b), c), merge(a, merge(b, c)), merge(merge(c, a), b)):
        assert merged.isclose(whole, rtol=1e-12)
        assert (merged.weight, merged.rows) == (whole.weight, whole.rows)


@given(tables)
def test_no_rows_is_the_zero_of_merging(Z: Floats) -> None:
    factor = factor_of(Z)
    assert merge(factor, empty_factor(2)) is factor
    assert merge(empty_factor(2), factor) is factor


def test_wide_factors_merge_in_double_precision() -> None:
    Z = normal(200, 60)
    merged = merge(factor_of(Z[:90]), factor_of(Z[90:]))
    assert not triangular.is_small(2 * 61, 60)
    assert merged.isclose(factor_of(Z), rtol=1e-13)


def test_parts_far_apart_merge_without_loss() -> None:
    """Two columns equal up to 1 in 2^30, in parts 2^30 apart: cross-products would round 1 away."""
    first = np.array([0.0, 1.0, 2.0**30, 2.0**30 + 1])
    Z = np.column_stack([first, first + np.array([0.0, 1.0, 1.0, 0.0])])
    merged = merge(factor_of(Z[:2]), factor_of(Z[2:]))
    # The pattern 0 1 1 0 is uncorrelated with the first column, and its sum of squares is 1.
    # Rounding an entry of 2^30 costs 2^30 eps.
    assert merged.centered[1, 1] == pytest.approx(1.0, abs=2.0**30 * 2e-16 * 4)
    assert (Z.T @ Z)[0, 0] * 2.2e-16 > 200


def test_other_widths_do_not_fit() -> None:
    with pytest.raises(ValueError, match="2 and 3 columns do not fit together"):
        merge(empty_factor(2), empty_factor(3))
    with pytest.raises(ValueError, match="2 and 3 columns do not fit"):
        remove(empty_factor(2), empty_factor(3))


# --- Removing -------------------------------------------------------------------------------------


@given(st.integers(4, 30), st.integers(1, 3), st.integers(0, 1000))
def test_what_is_left_is_the_factor_of_the_rest(n: int, gone: int, seed: int) -> None:
    Z = normal(n + 4, 2, seed)
    left, lost = remove(factor_of(Z), factor_of(Z[:gone]))
    assert left.isclose(factor_of(Z[gone:]), rtol=1e-15 * 10 ** (lost + 1.5))
    assert left.rows == n + 4 - gone
    assert left.weight == n + 4 - gone


@given(tables, tables)
def test_adding_and_removing_is_nothing(A: Floats, B: Floats) -> None:
    a = factor_of(A)
    left, lost = remove(merge(a, factor_of(B)), factor_of(B))
    # Beyond 15 digits a direction is gone, which here is the exact truth.
    assert left.isclose(a, rtol=1e-13 * 10 ** (lost if lost < 15 else 1.0))


def test_digits_are_counted_by_what_the_removed_rows_outweigh() -> None:
    Z = normal(50, 2)
    for size in (1e2, 1e4):
        outlier = np.array([[size, 0.0]])
        whole = factor_of(np.vstack([outlier, Z]))
        left, lost = remove(whole, factor_of(outlier))
        # One row holds all but 50 / size^2 of the squares of its column.
        assert lost == pytest.approx(2 * np.log10(size) - np.log10(50), abs=0.3)
        assert left.isclose(factor_of(Z), rtol=1e-15 * 10 ** (lost + 1))


def test_rows_that_outweigh_the_rest_beyond_rounding_cost_all_digits() -> None:
    outlier, Z = np.array([[1e9, 0.0]]), normal(50, 2)
    lost = remove(factor_of(np.vstack([outlier, Z])), factor_of(outlier))[1]
    assert lost > 15


def test_a_category_that_only_removed_rows_had_costs_nothing() -> None:
    Z = np.column_stack([np.r_[1.0, np.zeros(19)], normal(20, 1)])
    left, lost = remove(factor_of(Z), factor_of(Z[:1]), discrete=[0])
    assert lost < 1
    assert left.isclose(factor_of(Z[1:]))
    assert not left.centered[:, 0].any()
    # The same numbers measured on a scale might hide cells of 1e-8.
    assert remove(factor_of(Z), factor_of(Z[:1]))[1] > 15


def test_few_rows_left_cost_nothing() -> None:
    Z = normal(20, 4)
    left, lost = remove(factor_of(Z), factor_of(Z[:18]))
    assert lost < 5
    assert left.isclose(factor_of(Z[18:]), rtol=1e-10)


def test_removing_everything_leaves_nothing() -> None:
    factor = factor_of(normal(7, 2))
    left, lost = remove(factor, factor)
    assert (left.rows, left.weight, lost) == (0.0, 0.0, 0.0)
    assert remove(factor, empty_factor(2)) == (factor, 0.0)


def test_a_part_of_a_weight_can_be_removed() -> None:
    Z = normal(7, 2)
    once = factor_of(Z)
    left, _ = remove(factor_of(Z, np.full(7, 3.0)), once)
    assert left.isclose(once.scaled(2.0), rtol=1e-13)
    assert left.rows > 0
    again, _ = remove(left, once)
    assert again.isclose(once, rtol=1e-13)


def test_rows_never_added_are_refused() -> None:
    Z = normal(20, 2)
    with pytest.raises(ValueError, match=r"never added.*Remove the very rows"):
        remove(factor_of(Z), factor_of(Z[:1] + 30.0))
    flat = np.column_stack([Z, Z[:, 0], np.full(20, 7.0)])
    for change in ([0.0, 0.0, 1e-6, 0.0], [0.0, 0.0, 0.0, 1e-6]):
        with pytest.raises(ValueError, match=r"never added: they differ in a direction in which"):
            remove(factor_of(flat), factor_of(flat[:3] + np.array(change)))
    left, _ = remove(factor_of(flat), factor_of(flat[:3]))
    assert left.isclose(factor_of(flat[3:]), rtol=1e-12)
    with pytest.raises(ValueError, match=r"Cannot remove 21 rows of weight 21 from 20 rows"):
        remove(factor_of(Z), factor_of(normal(21, 2)))


# --- The value itself -----------------------------------------------------------------------------


def test_malformed_factors_are_refused() -> None:
    with pytest.raises(ValueError, match="one center for each column"):
        TriangularFactor(np.eye(3), np.zeros(3), 1.0, 1.0)
    with pytest.raises(ValueError, match="must be upper triangular"):
        TriangularFactor(np.ones((2, 2)), np.zeros(1), 1.0, 1.0)
    with pytest.raises(ValueError, match="must be upper triangular"):
        TriangularFactor(np.zeros((3, 2)), np.zeros(1), 1.0, 1.0)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="range of double precision"):
            TriangularFactor(np.array([[1.0, bad]]), np.zeros(1), 1.0, 1.0)


@pytest.mark.usefixtures("_precision")
def test_sums_that_overflow_say_what_to_do() -> None:
    with pytest.raises(ValueError, match="Divide the columns beyond 1e150"):
        factor_of(np.full((20, 1), 1.5e308))


def test_factors_cannot_be_written_to() -> None:
    factor = factor_of(normal(5, 2))
    for array in (factor.factor, factor.center):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
