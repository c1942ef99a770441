"""Columns that say the same: copies of each other, and highly correlated pairs of numbers.

Correlations are those of the rows where both cells are known, about the means of the columns, for
blocks of columns at a time, so that 5,000 columns take the memory of a few hundred.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from novum.apps.job.record import Finding
from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.evidence import Evidence, quoted
from novum.core.text import printable
from novum.numerics import Floats, one_blas_thread

CORRELATED = 0.95
_FEWEST_ROWS = 10
_BLOCK = 512
# Rows for correlations, and rows whose equality makes two columns worth comparing in full.
_MOST_ROWS = 4000
_GLANCE = 2000


def likeness_findings(evidence: Evidence) -> Iterator[Finding]:
    """Findings about pairs of columns."""
    copies = _copies(evidence)
    if copies:
        shown = "; ".join(f"{quoted([b])} repeats {quoted([a])}" for a, b in copies[:5])
        more = f"; and {len(copies) - 5} more" if len(copies) > 5 else ""
        yield Finding(
            "duplicate columns",
            "note",
            tuple(dict.fromkeys(name for pair in copies for name in pair)),
            f"Columns that say the same in every row: {shown}{more}.",
            "Remove one of each pair: copies share importances and double a vote. This run keeps "
            "them.",
        )
    yield from _correlated(evidence, {b for _, b in copies})


# --- Copies ---------------------------------------------------------------------------------------


def _copies(evidence: Evidence) -> list[tuple[str, str]]:
    """Pairs of a column and a later one with the same cells, or with its levels renamed."""
    task = evidence.task
    glance = np.arange(min(task.n_rows, _GLANCE))
    seen: dict[bytes, list[int]] = {}
    copies: list[tuple[str, str]] = []
    # Texts and dates that all differ would look like copies of each other.
    apart = {*task.columns.dates, *task.columns.texts}
    for place in range(task.schema.n_columns):
        if task.features[place] in apart:
            continue
        digest = hashlib.sha256(canonical(task.cells_at(place, glance)).tobytes()).digest()
        earlier = seen.setdefault(digest, [])
        for other in earlier:
            if task.n_rows <= _GLANCE or _same(evidence, place, other):
                copies.append((task.features[other], task.features[place]))
                break
        else:
            earlier.append(place)
    return copies


def _same(evidence: Evidence, first: int, second: int) -> bool:
    every = np.arange(evidence.task.n_rows)
    a, b = (canonical(evidence.task.cells_at(place, every)) for place in (first, second))
    return bool(np.array_equal(a, b))


def canonical(cells: Cells) -> Floats:
    """Numbers as they are, levels by the order in which they first occur; missing is NaN.

    Examples
    --------
    >>> from novum.core.tables import Column, Kind
    >>> canonical(Cells(Column("c", Kind.NOMINAL, ("a", "b")), np.array([1, -1, 0], np.int32)))
    array([ 0., nan,  1.])
    """
    if cells.is_numeric:
        return np.where(cells.known, cells.values + 0.0, np.nan)
    met, first = np.unique(cells.values[cells.known], return_index=True)
    order = np.full(cells.column.n_levels + 1, np.nan)
    order[met[np.argsort(first)]] = np.arange(len(met))
    return order[cells.values]


# --- Correlations ---------------------------------------------------------------------------------


def _correlated(evidence: Evidence, skipped: set[str]) -> Iterator[Finding]:
    task = evidence.task
    places = [
        place
        for place in task.schema.numeric.tolist()
        if task.schema.columns[place].name not in skipped
    ]
    rows = evidence.sample[:_MOST_ROWS]
    if len(places) < 2 or len(rows) < _FEWEST_ROWS:
        return
    X = np.column_stack([task.cells_at(place, rows).values for place in places])
    pairs = correlated_pairs(X)
    if not pairs:
        return
    names = [task.schema.columns[place].name for place in places]
    shown = ", ".join(
        f"{printable(names[i], 60)!r} and {printable(names[j], 60)!r} ({r:.3f})"
        for i, j, r in pairs[:5]
    )
    more = f" and {len(pairs) - 5:,} more" if len(pairs) > 5 else ""
    looked = "" if len(rows) == len(task.labeled) else f" (in a sample of {len(rows):,} rows)"
    yield Finding(
        "correlated columns",
        "note",
        tuple(dict.fromkeys(names[k] for i, j, _ in pairs[:50] for k in (i, j))),
        f"{len(pairs):,} pairs of numeric columns have a correlation beyond {CORRELATED}{looked}: "
        f"{shown}{more}."
        if len(pairs) > 1
        else f"Numeric columns with a correlation beyond {CORRELATED}{looked}: {shown}.",
        "Coefficients and importances of such columns share what they explain. This run keeps "
        "them.",
    )


def correlated_pairs(X: Floats, least: float = CORRELATED) -> list[tuple[int, int, float]]:
    """Pairs of columns with an absolute correlation of at least `least`, the strongest first."""
    known = ~np.isnan(X)
    counts = np.maximum(known.sum(axis=0), 1)
    size = np.nanmax(np.where(known, np.abs(X), 0.0), axis=0)
    Z = np.where(known, X / np.where(size > 0, size, 1.0), 0.0)
    Z = np.where(known, Z - Z.sum(axis=0) / counts, 0.0)
    # A column whose spread is rounding has no correlation.
    spread = np.sqrt(np.square(Z).sum(axis=0) / counts)
    Z[:, spread < 1e-12] = 0.0
    masks = None if known.all() else known.astype(float)
    pairs: list[tuple[int, int, float]] = []
    with one_blas_thread():
        for start in range(0, Z.shape[1], _BLOCK):
            block = slice(start, start + _BLOCK)
            r = _correlations(Z, masks, block)
            first, second = np.nonzero(np.abs(r) >= least)
            pairs += [
                (start + int(i), int(j), float(r[i, j]))
                for i, j in zip(first, second, strict=True)
                if start + i < j
            ]
    return sorted(pairs, key=lambda pair: (-round(abs(pair[2]), 9), pair[0], pair[1]))


def _correlations(Z: Floats, masks: Floats | None, block: slice) -> Floats:
    """Of a block of columns with all columns, each over the rows where both are known."""
    products = Z[:, block].T @ Z
    if masks is None:
        squares = np.square(Z).sum(axis=0)
        scale = np.outer(squares[block], squares)
    else:
        both = masks[:, block].T @ masks
        scale = (np.square(Z[:, block]).T @ masks) * (masks[:, block].T @ np.square(Z))
        scale = np.where(both >= _FEWEST_ROWS, scale, 0.0)
    safe = np.where(scale > 0, scale, 1.0)
    return np.where(scale > 0, products / np.sqrt(safe), 0.0)
