"""Passes over chunks: lists, callables and clusters give the same sums, again and again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.sums import ChunkPasses
from novum.core.tables import Sample
from novum.decomposition.probabilistic_pca import ProbabilisticPCA
from novum.numerics import Floats
from tests.decomposition.component_tables import low_rank_table


def squares(sample: Sample) -> Floats:
    return np.asarray(sample.weights @ sample.numeric**2)


def test_a_pass_is_the_sum_over_all_chunks() -> None:
    X = low_rank_table(30, 3, 2)
    chunks = [(X[:10],), (X[10:], None, np.full(20, 2.0))]
    expected = np.sum(X[:10] ** 2, axis=0) + 2 * np.sum(X[10:] ** 2, axis=0)
    for source in (chunks, tuple(chunks), lambda: iter(chunks)):
        passes = ChunkPasses.over(source, ProbabilisticPCA())
        for _ in range(2):
            np.testing.assert_allclose(passes(squares), expected)


def test_delayed_chunks_are_summed_on_a_cluster() -> None:
    dask = pytest.importorskip("dask")
    X = low_rank_table(30, 3, 2)
    chunks = [dask.delayed((X[:10],)), dask.delayed((X[10:],))]
    found = ChunkPasses.over(chunks, ProbabilisticPCA())(squares)
    np.testing.assert_allclose(found, np.sum(X**2, axis=0))


def test_an_iterator_is_refused_because_it_passes_once() -> None:
    with pytest.raises(InputError, match="Holes: ProbabilisticPCA reads the chunks several times"):
        ChunkPasses.over(iter([]), ProbabilisticPCA(), reason="Holes")


def test_a_file_is_read_anew_in_every_pass(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b,y\n1,2,0\n3,4,0\n5,6,0\n")
    passes = ChunkPasses.over_file(path, ProbabilisticPCA(), target="y", chunk_rows=2)
    for _ in range(2):
        assert passes(squares).tolist() == [35.0, 56.0]
