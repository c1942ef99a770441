"""Leaks: columns that alone predict the target nearly perfectly, or are the target by another name.

Half of the sampled rows learn a rule from one column, the other half tests it, and back again:

    classes:  the most frequent class of the nearest known value, or of the level
    numbers:  the mean of the level; for numeric columns the squared rank correlation

A column is named where the rule makes at most 2 % of the errors that always naming the most
frequent class makes, or explains 99.5 % of the variance.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

from novum.apps.job.record import Finding
from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.evidence import Evidence, percent, quoted, them
from novum.numerics import Array, Floats, Integers, Mask

ERRORS_LEFT = 0.02
VARIANCE_EXPLAINED = 0.995
_FEWEST_ERRORS = 10
_FEWEST_ROWS = 20
# Cells of a table of values against classes, above which values are joined first.
_MOST_CELLS = 4_000_000


def leak_findings(evidence: Evidence) -> Iterator[Finding]:
    """Findings about columns that know too much."""
    copies: list[str] = []
    knowing: list[tuple[str, str]] = []
    texts = evidence.task.columns.texts
    for place, column in enumerate(evidence.task.schema.columns):
        if column.name in texts:
            continue
        if _renames(evidence, place):
            copies.append(column.name)
        elif said := _knows(evidence, place):
            knowing.append((column.name, said))
    keeps = "This run keeps {}, and its scores mean nothing if that is a leak."
    if copies:
        yield Finding(
            "leak",
            "danger",
            tuple(copies),
            f"{quoted(copies)} hold{'s' if len(copies) == 1 else ''} the target under another "
            f"name: value for value the same{evidence.sampled}.",
            f"Remove {them(copies)} from the table. {keeps.format(them(copies))}",
        )
    if knowing:
        shown = "; ".join(f"{quoted([name])} {said}" for name, said in knowing[:5])
        more = f"; and {len(knowing) - 5} more columns" if len(knowing) > 5 else ""
        yield Finding(
            "leak",
            "danger",
            tuple(name for name, _ in knowing),
            f"Alone nearly as good as knowing the target: {shown}{more}{evidence.sampled}.",
            "If it is recorded after the target, or derived from it, remove it from the table. "
            f"{keeps.format(them(knowing))}",
        )


# --- The target under another name ----------------------------------------------------------------


def _renames(evidence: Evidence, place: int) -> bool:
    """Whether values and targets correspond one to one, in all rows looked at."""
    task = evidence.task
    record = evidence.columns[task.schema.columns[place].name]
    if task.classes is not None and record.n_distinct != len(task.classes):
        return False
    if task.classes is None and record.kind != "numeric":
        return False
    cells, target = evidence.sample_cells(place), evidence.sample_target
    if cells.n_missing or len(target) < _FEWEST_ROWS:
        return False
    if task.classes is None:
        return bool((cells.values == target).all())
    values, codes = np.unique(cells.values, return_inverse=True)
    pairs = np.unique(codes * len(task.classes) + target)
    return len(pairs) == len(values) == len(np.unique(target))


# --- Rules of one column --------------------------------------------------------------------------


def _knows(evidence: Evidence, place: int) -> str:
    """What to say of a column that predicts nearly perfectly; empty for others."""
    cells, target = evidence.sample_cells(place), evidence.sample_target
    if len(target) < _FEWEST_ROWS:
        return ""
    classes = evidence.task.classes
    if classes is not None:
        base = len(target) - int(np.bincount(target).max())
        if base < _FEWEST_ERRORS:
            return ""
        errors = cross_errors(cells, target, len(classes))
        right = percent(1 - errors / len(target))
        return f"({right} of the rows right)" if errors <= ERRORS_LEFT * base else ""
    share = explained(cells, np.asarray(target, float))
    return f"({percent(share)} of the variance)" if share >= VARIANCE_EXPLAINED else ""


def cross_errors(cells: Cells, target: Array, n_classes: int) -> int:
    """Errors of the rule of one half in the other, both ways.

    Examples
    --------
    >>> from novum.core.tables import Column
    >>> x = np.array([1.0, 1.0, 2.0, 2.0, 9.0, 9.0])
    >>> cross_errors(Cells(Column("x"), x), np.array([0, 0, 1, 1, 0, 0]), 2)
    0
    >>> cross_errors(Cells(Column("x"), x), np.array([0, 1, 0, 1, 0, 1]), 2)
    6
    """
    half = np.arange(len(target)) % 2 == 0
    errors = 0
    for learn in (half, ~half):
        places, n_places = _places(cells, learn, n_classes)
        table = np.bincount(
            places[learn] * n_classes + target[learn], minlength=n_places * n_classes
        ).reshape(n_places, n_classes)
        usual = int(table.sum(axis=0).argmax())
        rule = np.where(table.any(axis=1), table.argmax(axis=1), usual)
        errors += int(np.count_nonzero(rule[places[~learn]] != target[~learn]))
    return errors


def _places(cells: Cells, learn: Mask, n_classes: int) -> tuple[Integers, int]:
    """For every row the nearest value of the learning half, or the level; missing is one more."""
    if not cells.is_numeric:
        n_levels = cells.column.n_levels
        return np.where(cells.known, cells.values, n_levels).astype(np.int64), n_levels + 1
    values = np.unique(cells.values[learn & cells.known])
    most = max(2, _MOST_CELLS // n_classes)
    if len(values) > most:
        values = values[np.linspace(0, len(values) - 1, most).astype(np.int64)]
    middles = values[:-1] / 2 + values[1:] / 2
    cell = np.searchsorted(middles, cells.values, side="right")
    n_places = max(len(values), 1)
    return np.where(cells.known, cell, n_places).astype(np.int64), n_places + 1


def explained(cells: Cells, y: Floats) -> float:
    """Share of the variance that a column explains: by rank, or by the means of its levels."""
    known = cells.known
    n_known = int(np.count_nonzero(known))
    # A column that is known in few rows explains few, whatever it says in those.
    if n_known < max(_FEWEST_ROWS, len(y) // 2) or (y[known] == y[known][0]).all():
        return 0.0
    if cells.is_numeric:
        x = cells.values[known]
        if (x == x[0]).all():
            return 0.0
        return float(stats.spearmanr(x, y[known]).statistic ** 2)
    codes, target = cells.values[known], y[known]
    half = np.arange(n_known) % 2 == 0
    residual = np.empty(n_known)
    for learn in (half, ~half):
        counts = np.bincount(codes[learn], minlength=cells.column.n_levels)
        sums = np.bincount(codes[learn], target[learn], minlength=cells.column.n_levels)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), target[learn].mean())
        residual[~learn] = target[~learn] - means[codes[~learn]]
    return float(
        max(0.0, 1.0 - np.square(residual).sum() / np.square(target - target.mean()).sum())
    )
