"""One column in brief: its nature, missing cells, quantiles or most frequent levels, histogram."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novum.apps.job.record import ColumnRecord
from novum.apps.job.table.association import TargetValues, association
from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.column_natures import nature_of

Floats = NDArray[np.float64]

MOST_LEVELS = 10
MOST_BARS = 20


def column_record(cells: Cells, target: TargetValues | None) -> ColumnRecord:
    """A column in brief, with its association to a target where one is given.

    Examples
    --------
    >>> from novum.core.schema import Column
    >>> found = column_record(Cells(Column("x"), np.array([1.0, 2.0, 4.0, np.nan])), None)
    >>> found.n_missing, found.n_distinct, found.quantiles
    (1, 3, (1.0, 1.5, 2.0, 3.0, 4.0))
    """
    share = None if target is None else association(cells, target)
    return _of_numbers(cells, share) if cells.is_numeric else _of_levels(cells, share)


# --- Numbers --------------------------------------------------------------------------------------


def _of_numbers(cells: Cells, share: float | None) -> ColumnRecord:
    ordered = np.sort(cells.values[cells.known])
    finite = ordered[np.isfinite(ordered)]
    n_distinct = int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (ordered.size > 0)
    mean, deviation = _moments(finite)
    edges, counts = _histogram(finite, n_distinct)
    return ColumnRecord(
        name=cells.name,
        kind="numeric",
        n_missing=cells.n_missing,
        n_distinct=n_distinct,
        quantiles=_quantiles(finite),
        mean=mean,
        deviation=deviation,
        histogram_edges=edges,
        histogram_counts=counts,
        levels=(),
        n_other_levels=0,
        n_other_rows=0,
        association=share,
    )


def _quantiles(ordered: Floats) -> tuple[float, ...]:
    """Least, quartiles (linear between neighbors) and largest of sorted numbers."""
    if not ordered.size:
        return ()
    places = np.linspace(0, ordered.size - 1, 5)
    low = np.floor(places).astype(np.int64)
    high = np.ceil(places).astype(np.int64)
    part = places - low
    # Weighted, not by the difference, which may overflow.
    found = ordered[low] * (1 - part) + ordered[high] * part
    return tuple(float(value) for value in found)


def _moments(finite: Floats) -> tuple[float | None, float | None]:
    """Mean and standard deviation (divided by n - 1); None where they do not exist."""
    if not finite.size:
        return None, None
    size = float(max(abs(finite[0]), abs(finite[-1]))) or 1.0
    near_one = finite / size
    mean = float(near_one.mean())
    if finite.size < 2:
        return mean * size, None
    deviation = float(np.sqrt(np.square(near_one - mean).sum() / (finite.size - 1)))
    return mean * size, deviation * size


def _histogram(ordered: Floats, n_distinct: int) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Counts in bars of equal width; whole numbers in a short range have a bar each."""
    if not ordered.size:
        return (), ()
    low, high = float(ordered[0]), float(ordered[-1])
    if low == high:
        return (low, high), (ordered.size,)
    is_whole = bool((ordered == np.floor(ordered)).all())
    if is_whole and high - low < MOST_BARS:
        edges = np.arange(low, high + 2) - 0.5
    else:
        n_bars = int(np.clip(np.ceil(np.sqrt(min(n_distinct, ordered.size))), 2, MOST_BARS))
        steps = np.linspace(0.0, 1.0, n_bars + 1)
        edges = low * (1 - steps) + high * steps
    inner = np.searchsorted(ordered, edges[1:-1], side="left")
    counts = np.diff([0, *inner, ordered.size])
    return tuple(edges.tolist()), tuple(counts.tolist())


# --- Levels ---------------------------------------------------------------------------------------


def _of_levels(cells: Cells, share: float | None) -> ColumnRecord:
    counts = cells.level_counts
    met = np.flatnonzero(counts)
    if cells.column.kind.value == "ordinal" and len(met) <= MOST_LEVELS:
        shown = met
    else:
        shown = met[np.argsort(-counts[met], kind="stable")[:MOST_LEVELS]]
    nature = nature_of(cells).name
    kind = nature if nature in ("text", "date") else cells.column.kind.value
    return ColumnRecord(
        name=cells.name,
        kind=kind,
        n_missing=cells.n_missing,
        n_distinct=len(met),
        quantiles=(),
        mean=None,
        deviation=None,
        histogram_edges=(),
        histogram_counts=(),
        levels=tuple((str(cells.level(int(code))), int(counts[code])) for code in shown),
        n_other_levels=len(met) - len(shown),
        n_other_rows=int(counts.sum() - counts[shown].sum()),
        association=share,
    )
