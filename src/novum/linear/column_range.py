"""Columns and targets whose squares are no doubles, refused by name.

Second derivatives hold products of two columns. Where cells are beyond 1e120, or differ by less
than 1e-120, such products overflow or vanish; units have to be chosen closer to one. Errors are
measured by their squares, and a target whose squares vanish would have none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.numerics import Array, Floats

# Asked for only where a column is refused: a wide table has many names.
Names = Callable[[], Sequence[str]]

_LARGEST = 1e120
# Numbers whose square is multiplied by nothing but weights.
LARGEST_SQUARED = 1e152


def check_range(
    center: Floats,
    spread: Floats,
    names: Names,
    *,
    largest: float = _LARGEST,
    least: float = 1 / _LARGEST,
) -> None:
    """Refuses columns (d,) by their centers and spreads; a constant column has no spread.

    Examples
    --------
    >>> check_range(np.zeros(1), np.array([1e130]), lambda: ["mass"])
    Traceback (most recent call last):
        ...
    novum.core.errors.InputError: Column 'mass' has a size of 1e+130 and a spread of 1e+130, whose \
squares leave the range of double precision. Rescale it by a power of ten.
    """
    size = np.maximum(np.abs(center), spread)
    wrong = np.flatnonzero(~(size <= largest) | ((spread > 0) & (spread < least)))
    if wrong.size:
        j = int(wrong[0])
        raise InputError(
            f"Column {label_text(names()[j])} has a size of {size[j]:.3g} and a spread of "
            f"{spread[j]:.3g}, whose squares leave the range of double precision. Rescale it by a "
            "power of ten."
        )


def check_sparse_range(X: Any, names: Names) -> None:
    """Refuses columns of a sparse matrix by their largest cells.

    Examples
    --------
    >>> from scipy import sparse
    >>> check_sparse_range(sparse.csr_matrix([[0.0, 2.0], [0.0, 1e-200]]), lambda: ["a", "b"])
    """
    cells = np.abs(X.data)
    if cells.size and not (cells.max() <= _LARGEST and cells.min() >= 1 / _LARGEST):
        size = abs(X).max(axis=0).toarray().ravel()
        check_range(np.zeros_like(size), size, names)


def check_target_range(target: Array, *, power: float = 2.0, least: float | None = None) -> None:
    """Refuses targets (n,) or (n, t) of which the `power` overflows or vanishes.

    Targets that are all zero are welcome, and so are those from `least` on where it is given.

    Examples
    --------
    >>> check_target_range(np.array([1e-200, -3e-200]))
    Traceback (most recent call last):
        ...
    novum.core.errors.InputError: The target has no value larger than 3e-200 in size, whose square \
leaves the range of double precision. Rescale y by a power of ten.
    """
    sizes = np.abs(np.asarray(target, np.float64).reshape(len(target), -1))
    limit = LARGEST_SQUARED ** (2.0 / power)
    largest = sizes.max(axis=0, initial=0.0)
    what = "square" if power == 2 else f"power of {power:g}"
    if (largest > limit).any():
        value = f"a value of size {largest.max():.3g}"
    else:
        small = largest[(largest > 0) & (largest < (1 / limit if least is None else least))]
        if not small.size:
            return
        value = f"no value larger than {small[0]:.3g} in size"
    raise InputError(
        f"The target has {value}, whose {what} leaves the range of double precision. Rescale y by "
        "a power of ten."
    )
