"""Rows of a node: their sums, their parting among children, and their copies."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.trees.growth.growing_columns import ENTROPY, GINI, SQUARED_ERROR
from novum.trees.growth.growing_kernels import copy_rows, partition, sum_rows
from tests.trees import definitions
from tests.trees import node_sums as by_hand

seeds = st.integers(0, 10**6)
MISSING = 255


# --- Sums -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", [GINI, ENTROPY])
@given(seed=seeds, n_targets=st.integers(1, 2))
def test_sums_and_impurity_of_classes(criterion: int, seed: int, n_targets: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = (3, 2)[:n_targets]
    starts = by_hand.starts_of(criterion, sizes)
    labels = np.column_stack(
        [starts[t] + rng.integers(0, size, 20) for t, size in enumerate(sizes)]
    ).astype(np.int32)
    rows, weight = rng.permutation(20).astype(np.int32), rng.integers(1, 9, 20) / 8.0
    out = np.full(sum(sizes), 9.0)
    table = (np.empty((20, 0), np.uint8), labels, np.empty((20, 0)))
    found = sum_rows(table, (rows, weight), 3, 15, starts, criterion, out)
    expected = np.zeros(sum(sizes))
    np.add.at(expected, labels[rows[3:15]], weight[3:15, None])
    np.testing.assert_allclose(out, expected, rtol=1e-14)
    measure = definitions.gini if criterion == GINI else definitions.entropy
    parts = np.split(expected, starts[1:-1])
    assert found == pytest.approx(np.mean([measure(p.tolist()) for p in parts]), abs=1e-12)


@given(seed=seeds, n_targets=st.integers(1, 2))
def test_sums_and_impurity_of_numbers(seed: int, n_targets: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(20, n_targets))
    rows, weight = rng.permutation(20).astype(np.int32), rng.random(20) + 0.1
    out = np.empty(1 + n_targets)
    labels, starts = np.empty((20, 0), np.int32), np.zeros(n_targets + 1, np.int64)
    table = (np.empty((20, 0), np.uint8), labels, y)
    found = sum_rows(table, (rows, weight), 0, 12, starts, SQUARED_ERROR, out)
    here, w = y[rows[:12]], weight[:12]
    np.testing.assert_allclose(out, [w.sum(), *(w @ here)], rtol=1e-12)
    variances = np.average((here - np.average(here, axis=0, weights=w)) ** 2, axis=0, weights=w)
    assert found == pytest.approx(variances.mean(), rel=1e-10)


@pytest.mark.parametrize("criterion", [GINI, ENTROPY, SQUARED_ERROR])
def test_rows_that_are_alike_have_no_impurity_at_all(criterion: int) -> None:
    """Exactly zero, though sums of 0.1 are not exact."""
    n = 10
    labels = np.full((n, 1), 1, np.int32)
    numbers = np.full((n, 1), 0.1)
    starts = by_hand.starts_of(criterion, (2,) if criterion != SQUARED_ERROR else (1,))
    rows = np.arange(n, dtype=np.int32)
    out = np.empty(2)
    table = (np.empty((n, 0), np.uint8), labels, numbers)
    assert sum_rows(table, (rows, np.full(n, 0.1)), 0, n, starts, criterion, out) == 0.0


# --- Parting --------------------------------------------------------------------------------------


class Parted:
    """The entries of both children, as lists (row, weight)."""

    def __init__(
        self,
        codes: np.ndarray,
        weight: np.ndarray,
        *,
        base: int,
        question: int,
        code: int,
        branch: np.ndarray,
        missing_branch: int,
    ) -> None:
        n = len(codes)
        room = 3 * n + base
        rows, weights = np.full(room, -9, np.int32), np.full(room, -9.0)
        rows[2 : 2 + n], weights[2 : 2 + n] = np.arange(n), weight
        self.before = rows[:2].copy()
        spare = np.empty((2, n), np.int32), np.empty((2, n))
        self.shares = np.empty(2)
        middle, end = partition(
            codes[:, None],
            (rows, weights),
            2,
            2 + n,
            base,
            (question, 0, code, branch),
            MISSING,
            missing_branch,
            (*spare, self.shares),
        )
        self.right = list(zip(rows[base:middle], weights[base:middle], strict=True))
        self.left = list(zip(rows[middle:end], weights[middle:end], strict=True))


def expected_sides(
    codes: np.ndarray, weight: np.ndarray, side: np.ndarray, missing_branch: int
) -> tuple[list[dict[int, Fraction]], list[Fraction]]:
    """Entries of both sides and the shares, exactly."""
    exact = [Fraction(float(w)) for w in weight]
    totals = [
        sum((w for w, s in zip(exact, side, strict=True) if s == b), Fraction()) for b in (0, 1)
    ]
    shares = [total / sum(totals) for total in totals]
    sides: list[dict[int, Fraction]] = [{}, {}]
    for row in range(len(codes)):
        if side[row] >= 0:
            sides[side[row]][row] = exact[row]
        elif missing_branch >= 0:
            sides[missing_branch][row] = exact[row]
        else:
            for b in (0, 1):
                sides[b][row] = exact[row] * shares[b]
    return sides, shares


@pytest.mark.parametrize("question", [1, 2])
@given(seed=seeds, missing_branch=st.sampled_from([-1, 0, 1]), behind=st.booleans())
def test_parting(question: int, seed: int, missing_branch: int, behind: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 12
    codes = rng.choice([0, 1, 2, 3, MISSING], n).astype(np.uint8)
    codes[:2] = [0, 3]
    weight = rng.integers(1, 9, n) / 4.0
    branch = np.array([0, 1, 0, 1], np.int8)
    known = codes != MISSING
    answers = (codes > 1).astype(int) if question == 1 else branch[codes % 4].astype(int)
    side = np.where(known, answers, -1)
    found = Parted(
        codes,
        weight,
        base=2 + n if behind else 2,
        question=question,
        code=1,
        branch=branch,
        missing_branch=missing_branch,
    )
    sides, shares = expected_sides(codes, weight, side, missing_branch)
    for entries, wanted in zip((found.left, found.right), sides, strict=True):
        assert sorted(row for row, _ in entries) == sorted(wanted)
        for row, w in entries:
            assert w == pytest.approx(float(wanted[row]), rel=1e-14)
    np.testing.assert_allclose(found.shares, [float(s) for s in shares], rtol=1e-14)


@given(seed=seeds)
def test_entries_keep_their_order_and_nothing_before_them_is_touched(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, 15).astype(np.uint8)
    codes[:2] = [0, 5]
    weight = rng.random(15) + 0.1
    no_sets = np.zeros(1, np.int8)
    found = Parted(codes, weight, base=2, question=1, code=2, branch=no_sets, missing_branch=-1)
    entries = list(enumerate(weight))
    assert found.left == [entry for entry in entries if codes[entry[0]] <= 2]
    assert found.right == [entry for entry in entries if codes[entry[0]] > 2]
    assert (found.before == -9).all()


def test_copies_are_numbered_by_their_place() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 9, (10, 3)).astype(np.uint8)
    labels = rng.integers(0, 4, (10, 2)).astype(np.int32)
    numbers = rng.normal(size=(10, 0))
    rows = np.array([7, 7, 3, 9, 0, 1], np.int32)
    out = (np.empty((4, 3), np.uint8), np.empty((4, 2), np.int32), np.empty((4, 0)))
    copy_rows((codes, labels, numbers), rows, 1, 5, out)
    np.testing.assert_array_equal(out[0], codes[[7, 3, 9, 0]])
    np.testing.assert_array_equal(out[1], labels[[7, 3, 9, 0]])
    assert rows.tolist() == [7, 0, 1, 2, 3, 1]
