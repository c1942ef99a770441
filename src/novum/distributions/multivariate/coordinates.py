"""Points with d coordinates, and the choice of some of them.

A joint law of d coordinates answers questions about a part of them: `marginal` keeps a part,
`condition` fixes a part and keeps the others. Coordinates are numbered from 0, and the answer has
them in the order in which they were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.numerics import Floats, Mask, Positions, checked_weights


def checked_points(x: ArrayLike, n_coordinates: int, name: str) -> Floats:
    """Points as float64 `(..., d)`."""
    points = np.asarray(x, np.float64)
    if points.ndim < 1 or points.shape[-1] != n_coordinates:
        raise InputError(
            f"This {name} has {n_coordinates} coordinates, so its points have shape "
            f"(..., {n_coordinates}); got {points.shape}."
        )
    return points


def checked_table(
    x: ArrayLike, weight: ArrayLike | None, name: str, *, cell_axes: int = 1
) -> tuple[Floats, Floats]:
    """A sample of shape `(n, ...)` and its weights, without what has weight zero.

    Parameters
    ----------
    x : array (n, d), or (n, d, d) with `cell_axes=2`
    weight : array (n,), optional
    name : str
        The law, for messages.
    cell_axes : int
        Number of axes of one value.
    """
    rows = np.asarray(x, np.float64)
    if rows.ndim != cell_axes + 1:
        shape = "(n, d)" if cell_axes == 1 else "(n, d, d)"
        raise InputError(
            f"{name} is estimated from an array of shape {shape}, one row per value; "
            f"got shape {rows.shape}."
        )
    weights = sample_weights(weight, len(rows))
    keep = weights > 0
    return (rows, weights) if keep.all() else (rows[keep], weights[keep])


def sample_weights(weight: ArrayLike | None, n: int) -> Floats:
    """One weight for each row, 1 where none are given."""
    if weight is None:
        return np.ones(n)
    try:
        return checked_weights(weight, n)
    except ValueError as error:
        raise InputError(str(error)) from None


def chosen_and_others(indices: ArrayLike, n_coordinates: int) -> tuple[Positions, Positions]:
    """The coordinates asked for, in that order, and all others, in theirs.

    Parameters
    ----------
    indices : int, array of int, or boolean mask (d,)

    Examples
    --------
    >>> chosen, others = chosen_and_others([2, 0], 4)
    >>> chosen.tolist(), others.tolist()
    ([2, 0], [1, 3])
    """
    asked = np.atleast_1d(np.asarray(indices))
    if asked.dtype == bool and asked.shape == (n_coordinates,):
        asked = np.flatnonzero(asked)
    if asked.ndim != 1 or not asked.size or asked.dtype.kind not in "iu":
        raise InputError(
            f"Coordinates are chosen by at least one whole number from 0 to {n_coordinates - 1} or "
            f"by a mask of {n_coordinates} booleans, got {indices!r}."
        )
    if asked.min() < 0 or asked.max() >= n_coordinates or len(set(asked.tolist())) < asked.size:
        raise InputError(
            f"Chosen coordinates are different numbers from 0 to {n_coordinates - 1}, "
            f"got {asked.tolist()}."
        )
    chosen = asked.astype(np.intp)
    return chosen, np.setdiff1d(np.arange(n_coordinates), chosen)


def fixed_and_free(
    indices: ArrayLike, values: ArrayLike, n_coordinates: int
) -> tuple[Positions, Positions, Floats]:
    """The coordinates that are fixed, those left, and the finite values of the fixed ones."""
    fixed, free = chosen_and_others(indices, n_coordinates)
    given = np.atleast_1d(np.asarray(values, np.float64))
    if given.shape != fixed.shape or not np.all(np.isfinite(given)):
        raise InputError(
            f"{fixed.size} fixed coordinates need as many finite values, got {values!r}."
        )
    if not free.size:
        raise InputError(
            f"All {n_coordinates} coordinates are fixed, so no law is left. "
            "Fix fewer, or evaluate log_density."
        )
    return fixed, free, given


def log_density_by_pattern(
    points: Floats, log_density_of: Callable[[Positions], Callable[[Floats], Floats]]
) -> Floats:
    """Log-densities of the present coordinates of points `(..., d)`; NaN is missing.

    `log_density_of(present)` is the log-density of the marginal law of these coordinates. It is
    asked for once for all points of equal pattern; a point without any coordinate has 0.
    """
    rows = points.reshape(-1, points.shape[-1])
    result = np.zeros(len(rows))
    for chosen, present in rows_by_pattern(np.isnan(rows)):
        if present.size:
            result[chosen] = log_density_of(present)(rows[np.ix_(chosen, present)])
    return result.reshape(points.shape[:-1])


def rows_by_pattern(missing: Mask) -> Iterator[tuple[Positions, Positions]]:
    """Rows that miss the same cells, with the coordinates they have.

    Parameters
    ----------
    missing : boolean array (n, d)

    Yields
    ------
    rows : array of row numbers
    present : array of coordinates that these rows have; may be empty

    Examples
    --------
    >>> mask = np.array([[False, True], [False, False], [False, True]])
    >>> [(rows.tolist(), present.tolist()) for rows, present in rows_by_pattern(mask)]
    [([1], [0, 1]), ([0, 2], [0])]
    """
    if not missing.size:
        return
    packed = np.packbits(missing, axis=1)
    # One opaque value per row: sorting those is far quicker than sorting rows of bits.
    keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    for number, rows in enumerate(np.split(order, np.cumsum(np.bincount(codes))[:-1])):
        yield rows, np.flatnonzero(~missing[first[number]])


def refuse_cells(name: str, wanted: str, rows: Floats, good: Mask, remedy: str) -> None:
    """Raises and names the first cell that is not good."""
    places = np.argwhere(~good)
    if len(places):
        first = tuple(int(place) for place in places[0])
        raise InputError(
            f"{name} is estimated from {wanted}; {len(places)} of {good.size} cells are not, the "
            f"first is {rows[first]:g} at row {first[0]}, column {first[1]}. {remedy}"
        )
