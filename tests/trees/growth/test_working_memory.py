"""Working memory: the same bytes for the next tree, larger ones when they do not suffice."""

from __future__ import annotations

import numpy as np

from novum.trees.growth.growing import WorkingMemory


def test_memory_is_kept_by_name_and_type() -> None:
    memory = WorkingMemory()
    first = memory.array("sums", (10, 3))
    assert first.shape == (10, 3)
    assert first.dtype == np.float64
    assert np.shares_memory(first, memory.array("sums", (5, 6)))
    assert not np.shares_memory(first, memory.array("other", (10, 3)))
    assert not np.shares_memory(first, memory.array("sums", (5, 6), np.int64))


def test_memory_grows_where_it_must() -> None:
    memory = WorkingMemory()
    small = memory.array("rows", (4,), np.int32)
    large = memory.array("rows", (5,), np.int32)
    assert not np.shares_memory(small, large)
    replacement = np.arange(12.0).reshape(4, 3)
    memory.keep("sums", replacement)
    assert np.shares_memory(memory.array("sums", (12,)), replacement)
