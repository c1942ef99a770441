"""Passes over chunks: lists, callables and clusters give the same sums, again and again."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.validation import Sample
from novum.decomposition.probabilistic_pca import ProbabilisticPCA
from novum.decomposition.row_passes import RowPasses
from tests.decomposition.component_tables import Floats, low_rank_table


def squares(sample: Sample) -> Floats:
    return np.asarray(sample.weights @ sample.numeric**2)


def test_a_pass_is_the_sum_over_all_chunks() -> None:
    X = low_rank_table(30, 3, 2)
    chunks = [(X[:10],), (X[10:], None, np.full(20, 2.0))]
    expected = np.sum(X[:10] ** 2, axis=0) + 2 * np.sum(X[10:] ** 2, axis=0)
    for source in (chunks, tuple(chunks), lambda: iter(chunks)):
        passes = RowPasses(ProbabilisticPCA(), None, source)
        for _ in range(2):
            np.testing.assert_allclose(passes(squares), expected)


def test_delayed_chunks_are_summed_on_a_cluster() -> None:
    dask = pytest.importorskip("dask")
    X = low_rank_table(30, 3, 2)
    chunks = [dask.delayed((X[:10],)), dask.delayed((X[10:],))]
    found = RowPasses(ProbabilisticPCA(), None, chunks)(squares)
    np.testing.assert_allclose(found, np.sum(X**2, axis=0))


def test_an_iterator_is_refused_because_it_passes_once() -> None:
    with pytest.raises(InputError, match="ProbabilisticPCA must read the chunks several times"):
        RowPasses(ProbabilisticPCA(), None, iter([]))
