"""Graphs as counts: products with factors, between vocabularies, and of parts of the rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novum.core.errors import InputError
from novum.kernels.count_rows import CountRows
from novum.kernels.graphs.graph_kernel import GraphRows, counted
from novum.kernels.graphs.graph_sample import read_sample
from novum.kernels.graphs.refinement import refine
from novum.kernels.graphs.vocabulary import Vocabulary
from tests.kernels.graphs.graph_examples import compile_everything, compile_nothing

REFINED = refine(read_sample([]), 0)


def vocabulary(
    sizes: tuple[int, ...], repeats: int = 1, parent: Vocabulary | None = None
) -> Vocabulary:
    return Vocabulary(None, {}, {}, REFINED, (), sizes, repeats, parent)


def rows_in(X: Any, features: Vocabulary) -> GraphRows:
    return GraphRows(features, CountRows(sparse.csr_array(np.asarray(X, np.int64))))


def rows_of(X: Any, sizes: tuple[int, ...], repeats: int = 1) -> GraphRows:
    return rows_in(X, vocabulary(sizes, repeats))


def random_counts(n: int, width: int, seed: int = 0) -> Any:
    """Features from almost everywhere to almost nowhere."""
    rng = np.random.default_rng(seed)
    return rng.poisson(1.0 / (1 + np.arange(width)), (n, width))


@pytest.fixture(params=[compile_everything, compile_nothing], ids=["compiled", "plain"])
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    request.param(monkeypatch)


@pytest.mark.usefixtures("_both_ways")
@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_are_exact(repeats: int, dtype: Any) -> None:
    X = random_counts(30, 12)
    factors = np.where(np.arange(12) >= 8, repeats, 1)
    expected = (X * factors) @ X.T
    rows = rows_of(X, (8, 4), repeats)
    chosen = np.array([3, 3, 29, 0, -1])
    for K, truth in (
        (rows.gram(dtype), expected),
        (rows.cross(rows, dtype), expected),
        (rows.take(chosen).cross(rows, dtype), expected[chosen]),
        (rows.cross(rows.take(chosen), dtype), expected[:, chosen]),
        (rows.take(slice(4, 20)).gram(dtype), expected[4:20, 4:20]),
        (rows.take(X[:, 0] > 0).take([0, 2]).cross(rows, dtype), expected[X[:, 0] > 0][[0, 2]]),
    ):
        assert K.dtype == dtype
        assert K.flags.c_contiguous
        assert K.flags.writeable
        assert np.array_equal(K, truth)
    assert np.array_equal(rows.diagonal(), np.diag(expected))
    assert np.array_equal(rows.take(chosen).diagonal(), np.diag(expected)[chosen])


@pytest.mark.usefixtures("_both_ways")
def test_products_between_a_vocabulary_and_its_extension() -> None:
    # Two blocks, the last for two iterations, against three, the last for one; the second and the
    # third block of the extension both meet the last block of its parent.
    parent = vocabulary((2, 3), 2)
    child = vocabulary((3, 3, 4), 1, parent)
    X, Z = random_counts(6, 5), random_counts(8, 10, seed=1)
    expected = X[:, :2] @ Z[:, :2].T + X[:, 2:] @ (Z[:, 3:6] + Z[:, 6:9]).T
    rows, others = rows_in(X, parent), rows_in(Z, child)
    assert np.array_equal(rows.cross(others), expected)
    assert np.array_equal(others.cross(rows), expected.T)


@pytest.mark.usefixtures("_both_ways")
@given(st.lists(st.integers(0, 5), max_size=6), st.integers(0, 100))
def test_counts_of_codes(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    blocks = tuple(rng.integers(0, width, starts[-1]).astype(np.int32) for width in (2, 4))
    found = counted(blocks, starts, vocabulary((2, 4))).counts.matrix.toarray()
    for g, (first, last) in enumerate(pairwise(starts)):
        expected = [
            np.bincount(codes[first:last], minlength=width)
            for codes, width in zip(blocks, (2, 4), strict=True)
        ]
        assert np.array_equal(found[g], np.concatenate(expected))


def test_the_diagonal_is_a_copy() -> None:
    rows = rows_of([[1, 2]], (2,))
    rows.diagonal()[:] = 0
    assert rows.diagonal().tolist() == [5.0]


def test_no_rows() -> None:
    none, some = rows_of(np.zeros((0, 3)), (3,)), rows_of([[1, 0, 2]], (3,))
    assert none.gram().shape == (0, 0)
    assert none.diagonal().shape == (0,)
    assert some.take([]).cross(some).shape == (0, 1)
    assert some.cross(some.take([])).shape == (1, 0)


def test_samples_prepared_apart_are_refused() -> None:
    with pytest.raises(InputError, match=r"prepared apart.*kernel\.prepare\(Z, like=X\)"):
        rows_of([[1]], (1,)).cross(rows_of([[1]], (1,)))
