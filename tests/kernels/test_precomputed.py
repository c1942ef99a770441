"""Precomputed similarities: blocks of the matrix by position, and all that is not known."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novum.core.errors import InputError, MissingValuesError
from novum.kernels import precomputed
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.precomputed import Precomputed, check_symmetric

K = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]])
NEW = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])


def test_training_objects_are_positions() -> None:
    rows = Precomputed().prepare(K)
    assert len(rows) == 3
    np.testing.assert_array_equal(rows.gram(), K)
    np.testing.assert_array_equal(rows.diagonal(), [4.0, 5.0, 6.0])


@given(st.lists(st.integers(0, 2), max_size=5), st.lists(st.integers(0, 2), max_size=5))
def test_parts_are_blocks(left: list[int], right: list[int]) -> None:
    rows = Precomputed().prepare(K)
    i, j = np.array(left, int), np.array(right, int)
    block = rows.take(i).cross(rows.take(j))
    np.testing.assert_array_equal(block, K[np.ix_(i, j)])
    assert block.flags.c_contiguous
    assert rows.take(i).cross(rows, np.float32).dtype == np.float32


def test_new_objects_on_either_side() -> None:
    rows = Precomputed().prepare(K)
    new = Precomputed().prepare(NEW, rows)
    part = rows.take([2, 0])
    np.testing.assert_array_equal(new.cross(part), NEW[:, [2, 0]])
    np.testing.assert_array_equal(part.cross(new), NEW[:, [2, 0]].T)
    np.testing.assert_array_equal(new.take([1]).cross(rows), NEW[[1]])
    np.testing.assert_array_equal(rows.cross(new.take([1])), NEW[[1]].T)
    assert part.cross(new).flags.c_contiguous


def test_positions_are_enough_to_predict() -> None:
    support = Precomputed.positions([2, 0], 3)
    new = Precomputed().prepare(NEW, support)
    np.testing.assert_array_equal(new.cross(support), NEW[:, [2, 0]])
    for unknown in (support.diagonal, lambda: support.cross(support)):
        with pytest.raises(InputError, match="no similarities of new objects among each other"):
            unknown()


def test_new_objects_among_each_other_are_not_known() -> None:
    new = Precomputed().prepare(NEW, Precomputed().prepare(K))
    for unknown in (new.diagonal, new.gram, lambda: new.cross(new)):
        with pytest.raises(InputError, match="no similarities of new objects among each other"):
            unknown()


def test_results_may_be_overwritten() -> None:
    rows = Precomputed().prepare(K.copy())
    rows.cross(rows)[...] = 0.0
    rows.take([0, 1]).cross(rows)[...] = 0.0
    np.testing.assert_array_equal(rows.gram(), K)


def test_sparse_matrices_are_taken() -> None:
    np.testing.assert_array_equal(Precomputed().gram(sparse.csr_array(K)), K)


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (NEW, InputError, r"has shape \(2, 3\): X should be a square kernel matrix in fit"),
        (
            [[1.0, 2.0], [0.0, 1.0]],
            InputError,
            r"not symmetric: entry \(0, 1\) is 2 and",
        ),
        ([[1.0, np.nan], [np.nan, 1.0]], MissingValuesError, "Precomputed needs every cell"),
        ([[np.inf]], InputError, "infinity"),
    ],
)
def test_matrices_that_are_none_are_refused(matrix: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        Precomputed().prepare(matrix)


def test_one_column_for_each_training_object() -> None:
    with pytest.raises(InputError, match=r"has 2 columns, but the training had 3 objects"):
        Precomputed().prepare(NEW[:, :2], Precomputed().prepare(K))


def test_rounding_is_no_asymmetry(monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    noisy = (A @ A.T).astype(np.float64) + 1e-6 * np.random.default_rng(1).random((40, 40))
    check_symmetric(noisy, "K")
    assert (Precomputed().gram(noisy) == Precomputed().gram(noisy).T).all()
    noisy[30, 7] += 1e-3
    monkeypatch.setattr(precomputed, "BLOCK", 8)
    with pytest.raises(InputError, match=r"entry \((30, 7|7, 30)\)"):
        check_symmetric(noisy, "K")


def test_nothing_is_promised() -> None:
    assert not Precomputed().is_psd_by_construction
    assert Precomputed() == Precomputed()


def test_the_contract_is_kept() -> None:
    A = np.random.default_rng(0).normal(size=(6, 3))
    check_kernel_contract(Precomputed(), A @ A.T)
