"""Arrays that one tree after the other works in.

New memory costs time when it is first touched, a tenth of the time of a tree in a forest. A worker
that grows many trees keeps their arrays here. What an array holds at first is whatever was left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class WorkingMemory:
    """Arrays by name; for one thread at a time.

    Examples
    --------
    >>> memory = WorkingMemory()
    >>> first = memory.array("rows", (100,), np.int32)
    >>> np.shares_memory(first, memory.array("rows", (40,), np.int32))
    True
    """

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(
        self, name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64
    ) -> NDArray[Any]:
        """An array of that shape and type, with the memory that the name had before if it fits."""
        size = int(np.prod(shape))
        kept = self._arrays.get(name)
        if kept is None or kept.size < size or kept.dtype != np.dtype(dtype):
            kept = np.empty(size, dtype)
            self._arrays[name] = kept
        return kept[:size].reshape(shape)

    def keep(self, name: str, array: NDArray[Any]) -> None:
        """Replaces the memory of a name by a larger array."""
        self._arrays[name] = array.reshape(-1)
