"""Rows in blocks that lie column by column, as kernels of mixtures read them.

Cells (B, d, ROWS) of block b are those of the rows from `b * ROWS`: loops along the rows of a
column become vector instructions, and a pass reads its rows without turning them first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from novum.numerics import Floats

ROWS = 128


def in_blocks(X: Floats) -> Floats:
    """Cells (B, d, ROWS) of rows (n, d); the last block is filled up with zeros.

    >>> in_blocks(np.array([[1.0, 2.0], [3.0, 4.0]]))[0, :, :3].tolist()
    [[1.0, 3.0, 0.0], [2.0, 4.0, 0.0]]
    """
    n, d = X.shape
    full = n // ROWS
    blocks = np.zeros((-(-n // ROWS), d, ROWS))
    blocks[:full] = X[: full * ROWS].reshape(full, ROWS, d).transpose(0, 2, 1)
    blocks[full:, :, : n - full * ROWS] = X[full * ROWS :].T
    return blocks


def calls(n_rows: int, most_rows: float) -> Iterator[tuple[slice, slice]]:
    """Rows, and blocks, of calls of a kernel, each of about as many rows and not of very few."""
    height = max(8, int(most_rows) // ROWS)
    for block in range(0, -(-n_rows // ROWS), height):
        blocks = slice(block, block + height)
        yield slice(block * ROWS, min((block + height) * ROWS, n_rows)), blocks
