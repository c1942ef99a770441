"""What every statistic of weighted rows starts with: checked rows, weights and blocks.

Rows of weight zero are taken away before anything is computed, whatever they hold. The size of a
block depends on the number of columns only, so the partition is a function of the input's shape.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from novum.numerics.types import Floats

# One megabyte: a block and its centered copy stay in a second-level cache.
BLOCK_CELLS = 2**17

_TINY = float(np.finfo(np.float64).tiny)


def blocks_of_rows(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    """Bounds of consecutive blocks of about `BLOCK_CELLS` cells.

    >>> list(blocks_of_rows(5000, 64))
    [(0, 2048), (2048, 4096), (4096, 5000)]
    """
    height = max(64, BLOCK_CELLS // max(1, n_columns))
    for start in range(0, n_rows, height):
        yield start, min(start + height, n_rows)


def checked_rows(X: ArrayLike, weight: ArrayLike | None) -> tuple[Floats, Floats | None]:
    """Rows as float64 (n, d) and their weights, without the rows of weight zero."""
    rows = np.asarray(X, float)
    if rows.ndim != 2:
        raise ValueError(
            f"Rows must form a table of shape (n, d), got shape {rows.shape}. "
            "Use X.reshape(-1, 1) for one column."
        )
    if weight is None:
        return rows, None
    weights = checked_weights(weight, len(rows))
    if weights.all():
        return rows, weights
    keep = weights > 0
    return rows[keep], weights[keep]


def checked_weights(weight: ArrayLike, n_rows: int) -> Floats:
    """Weights as float64 (n,): one per row, finite, not negative."""
    weights = np.asarray(weight, float)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"Weights must be one number per row: expected shape ({n_rows},), got {weights.shape}."
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise ValueError(
            f"Weights must be finite and not negative; {bad.size} of {n_rows} are not, the first "
            f"is {weights[bad[0]]} at row {bad[0]}. Give such rows weight 0 or drop them."
        )
    return weights


def unusable_cell(rows: Floats, purpose: str) -> ValueError:
    """The error for rows whose squares came out as NaN or infinity: says where and why."""
    for test, word, remedy in (
        (np.isnan, "missing (NaN)", "column_moments_of takes missing cells."),
        (np.isinf, "infinite", "Drop the row or clip the value."),
    ):
        places = np.argwhere(test(rows))
        if len(places):
            row, column = places[0]
            return ValueError(
                f"The {purpose} need finite cells; {len(places)} are {word}, the first at row "
                f"{row}, column {column}. {remedy}"
            )
    largest = np.abs(rows).max(axis=0)
    column = int(np.argmax(largest))
    return ValueError(
        f"The squares of column {column} overflow: it has values as large as "
        f"{largest[column]:.3g}. Divide the column by a power of two, such as "
        f"2**{int(np.log2(largest[column]))}, and scale the result back."
    )


def check_underflow(squares: Floats, rows: Floats) -> None:
    """Refuse columns that vary, but by so little that their squares have lost their digits.

    A product that underflows is off by at most 2^-1075, so a sum of n of them above n 2^-1022 is
    as exact as any other; below, digits are missing.
    """
    small = squares < max(1, len(rows)) * _TINY
    if not small.any():
        return
    for column in np.flatnonzero(small):
        present = rows[:, column][~np.isnan(rows[:, column])]
        if present.size and present.min() != present.max():
            spread = present.max() - present.min()
            raise ValueError(
                f"The squares of column {column} underflow: it spreads over {spread:.3g} only. "
                f"Multiply the column by a power of two, such as "
                f"2**{int(-np.log2(spread))}, and scale the result back."
            )
