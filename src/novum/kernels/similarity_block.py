"""Memory for a block of similarities, which is refused where it would not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from novum.core.memory import check_memory


def empty_block(n: int, m: int, dtype: DTypeLike) -> NDArray[Any]:
    """A matrix of n times m numbers that are still to be filled in.

    Examples
    --------
    >>> empty_block(2, 3, np.float32).shape
    (2, 3)
    """
    check_memory(
        n * m * np.dtype(dtype).itemsize,
        f"A matrix of {n * m:,} similarities",
        "Ask for a part of the rows at a time (take), or use single precision.",
    )
    return np.empty((n, m), dtype)
