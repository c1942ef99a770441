"""Passes: every chunk with its number, on every engine, again and again."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

from novum.core.errors import InputError
from novum.trees.scale.chunks import Passes


def described(numbered: tuple[int, Any]) -> str:
    number, chunk = numbered
    values = chunk() if callable(chunk) else chunk
    return f"{number}:{np.asarray(values[0]).ravel().astype(int).tolist()} "


CHUNKS = [(np.array([[1.0], [2.0]]), [1, 2]), (np.array([[3.0]]), [3]), (np.array([[4.0]]), [4])]
EXPECTED = "0:[1, 2] 1:[3] 2:[4] "


@pytest.mark.parametrize("chunks", [CHUNKS, tuple(CHUNKS), lambda: iter(CHUNKS)])
def test_chunks_are_numbered_in_every_pass(chunks: Any) -> None:
    passes = Passes.over(chunks, "Learner")
    assert passes.total(described) == passes.total(described) == EXPECTED


def test_partitions_of_collections_are_numbered() -> None:
    X = da.from_array(np.array([[1.0], [2.0], [3.0], [4.0]]), chunks=((2, 1, 1), 1))
    y = da.from_array(np.arange(4.0), chunks=((2, 1, 1),))
    with dask.config.set(scheduler="synchronous"):
        assert Passes.over((X, y), "Learner").total(described) == EXPECTED


def test_delayed_chunks_and_tuples_of_delayed_parts_are_numbered() -> None:
    delayed = [dask.delayed(chunk, pure=False) for chunk in CHUNKS]
    pairs = [(dask.delayed(X), dask.delayed(y)) for X, y in CHUNKS]
    with dask.config.set(scheduler="synchronous"):
        assert Passes.over(delayed, "Learner").total(described) == EXPECTED
        assert Passes.over(pairs, "Learner").total(described) == EXPECTED


def test_an_iterator_is_refused_before_it_is_touched() -> None:
    chunks = iter(CHUNKS)
    with pytest.raises(InputError, match=r"Every level.*: Forest reads .* several times.*callable"):
        Passes.over(chunks, "Forest")
    assert next(chunks) is CHUNKS[0]


def test_what_is_no_iterable_and_no_chunks_at_all() -> None:
    with pytest.raises(InputError, match="Chunks are an iterable"):
        Passes(lambda: 3).total(described)
    with pytest.raises(InputError, match="There are no chunks to learn from"):
        Passes([]).total(described)
