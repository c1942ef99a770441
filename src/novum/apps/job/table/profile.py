"""The profile of a table: every column in brief, missing cells, repeated rows.

Columns are read one after the other, all rows of each: one pass, and the memory of one column
beside the table. Quantiles, counts and repeated rows are exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from novum.apps.job.record import OF_NUMBERS, ColumnRecord, ProfileRecord, TaskKind
from novum.apps.job.table.column_cells import Cells, cells_of
from novum.apps.job.table.column_natures import nature_of
from novum.apps.job.table.target_column import look_at_target
from novum.core.tables import Schema
from novum.numerics import Array, Bytes, Floats, Integers, Mask, Words

# --- Association with the target ------------------------------------------------------------------
# How much of the target one column alone explains.
#
#     classes:  [ I(B; Y) - (b - 1)(k - 1) / (2 n) ] / H(Y)          share of the entropy
#     numbers:  1 - (SSW / (n - b)) / (SST / (n - 1))                share of the variance
#
# of n rows, where B is the column cut into b bins: quantiles of numbers, the most frequent levels,
# missing cells a bin of their own. The terms in b are the bias of chance: a column without any
# relation has an expected share of about zero, however many levels it has. Shares are cut to [0,
# 1].
#
# References
# ----------
# Miller (1955) on the bias of entropies; Kelley (1935), epsilon squared, for numbers.

# Bins of a column at most, and rows for each of them at least.
MOST_BINS = 32
ROWS_PER_BIN = 10


@dataclass(frozen=True, eq=False)
class TargetValues:
    """The target of the rows that have one.

    Attributes
    ----------
    rows : bool array (n,)
        Which rows of the table have a target.
    values : array (number of such rows,)
        Codes of classes, or numbers.
    n_classes : int
        0 for numbers.
    """

    rows: Mask
    values: Array
    n_classes: int


def bins_of(cells: Cells, most: int = MOST_BINS) -> tuple[Integers, int]:
    """A bin for every row, and the number of bins.

    Examples
    --------
    >>> from novum.core.tables import Column
    >>> codes, count = bins_of(Cells(Column("x"), np.array([1.0, 2.0, np.nan, 9.0])), most=3)
    >>> codes.tolist(), count
    ([0, 1, 2, 1], 3)
    """
    n_known = len(cells.values) - cells.n_missing
    room = max(2, min(most - 1, n_known // ROWS_PER_BIN))
    if not cells.is_numeric:
        codes, count = _frequent_levels(cells, room)
    elif n_known == 0:
        codes, count = np.zeros(len(cells.values), np.int64), 0
    else:
        edges = quantile_edges(cells.values[cells.known], room)
        codes, count = np.searchsorted(edges, cells.values, side="right"), len(edges) + 1
    if cells.n_missing:
        codes = np.where(cells.known, codes, count)
        count += 1
    return codes.astype(np.int64, copy=False), count


def quantile_edges(known: Floats, n_bins: int) -> Floats:
    """Values that cut numbers into bins of about equal size; a value is never divided."""
    order = np.linspace(0, len(known) - 1, n_bins + 1)[1:-1].round().astype(np.int64)
    edges = np.unique(np.partition(known, np.unique(order))[order])
    # The least value cannot be a bin's lower edge: nothing lies below it.
    return np.asarray(edges[edges > known.min()])


def _frequent_levels(cells: Cells, room: int) -> tuple[Integers, int]:
    """The most frequent levels on their own, all others together."""
    counts = cells.level_counts
    kept = np.argsort(-counts, kind="stable")[:room]
    kept = kept[counts[kept] > 0]
    table = np.full(len(counts) + 1, len(kept), np.int64)
    table[kept] = np.arange(len(kept))
    others = bool(counts.sum() > counts[kept].sum())
    return table[cells.values], len(kept) + others


def association(cells: Cells, target: TargetValues) -> float | None:
    """The share of the target that the column explains; None where the target does not vary."""
    if target.values.size < 2:
        return None
    codes, n_bins = bins_of(cells)
    binned = codes[target.rows]
    if target.n_classes:
        return _share_of_entropy(binned, n_bins, target)
    return _share_of_variance(binned, n_bins, np.asarray(target.values, float))


def _share_of_entropy(codes: Integers, n_bins: int, target: TargetValues) -> float | None:
    joint = np.bincount(
        codes * target.n_classes + target.values, minlength=n_bins * target.n_classes
    ).reshape(n_bins, target.n_classes)
    return entropy_share(joint)


def entropy_share(joint: Integers) -> float | None:
    """The corrected share of entropy of a table of counts (bins, classes).

    Examples
    --------
    >>> entropy_share(np.array([[50, 0], [0, 50]]))  # 1 - (1 / 200) / log 2
    0.99278...
    """
    total = joint.sum()
    rows, classes = joint.sum(axis=1), joint.sum(axis=0)
    whole = _entropy(classes, total)
    if whole <= 0:
        return None
    information = _entropy(rows, total) + whole - _entropy(joint.ravel(), total)
    chance = (np.count_nonzero(rows) - 1) * (np.count_nonzero(classes) - 1) / (2 * total)
    return float(np.clip((information - chance) / whole, 0.0, 1.0))


def _entropy(counts: Integers, total: float) -> float:
    shares = counts[counts > 0] / total
    return float(-(shares * np.log(shares)).sum())


def _share_of_variance(codes: Integers, n_bins: int, y: Floats) -> float | None:
    centered = y - y.mean()
    # Units near one, so that squares can neither overflow nor vanish.
    size = float(np.abs(centered).max())
    if size == 0:
        return None
    centered = centered / size
    whole = float(centered @ centered)
    counts = np.bincount(codes, minlength=n_bins)
    sums = np.bincount(codes, centered, minlength=n_bins)
    met = counts > 0
    n, b = len(y), int(met.sum())
    if n <= b:
        return 0.0
    within = whole - float((sums[met] ** 2 / counts[met]).sum())
    return float(np.clip(1.0 - (within / (n - b)) / (whole / (n - 1)), 0.0, 1.0))


# --- Repeated rows --------------------------------------------------------------------------------
# Fingerprints of rows: 64 bits for each row, equal for rows with equal cells.
#
#     f_i = sum_j  mix(cell_ij + salt_j)      modulo 2^64
#
# with Stafford's mixing function, so rows are compared by sorting one array however many columns
# there are. Rows that differ have equal fingerprints with probability 2^-64 a pair.

_GOLDEN = 0x9E3779B97F4A7C15
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def fingerprints(columns: Iterable[Cells], n_rows: int) -> Words:
    """One fingerprint for each row of the columns.

    Examples
    --------
    >>> from novum.core.tables import Column
    >>> a, b, c = fingerprints([Cells(Column("x"), np.array([1.0, 1.0, 2.0]))], 3)
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    total = np.zeros(n_rows, np.uint64)
    for number, cells in enumerate(columns):
        total += column_part(cells, number)
    return total


def column_part(cells: Cells, number: int) -> Words:
    """What the column of that number adds to the fingerprints of its rows."""
    return mixed(words_of(cells) + salt(number))


def salt(number: int) -> np.uint64:
    """A word for each column, so that equal cells in two columns do not count alike."""
    return np.uint64((number + 1) * _GOLDEN % 2**64)


def words_of(cells: Cells) -> Words:
    """Cells as words: equal cells, and all missing ones, give equal words."""
    if not cells.is_numeric:
        return cells.values.astype(np.int64).view(np.uint64)
    # Adding zero turns -0.0 into 0.0, and NaN comes in many patterns of bits.
    numbers = np.where(cells.known, cells.values + 0.0, np.nan)
    return np.ascontiguousarray(numbers, np.float64).view(np.uint64)


def mixed(words: Words) -> Words:
    """Stafford's variant 13 of the finalizer of MurmurHash3: a permutation of 64-bit words."""
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return np.asarray(words ^ (words >> np.uint64(31)))


def n_repeated(prints: Words) -> int:
    """How many rows repeat an earlier one."""
    ordered = np.sort(prints)
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


# --- Columns --------------------------------------------------------------------------------------
# One column in brief: its nature, missing cells, quantiles or most frequent levels, histogram.

MOST_LEVELS = 10
MOST_BARS = 20


def column_record(
    cells: Cells, target: TargetValues | None, kind: str | None = None
) -> ColumnRecord:
    """A column in brief, with its association to a target where one is given.

    `kind` is that of the column where it is settled; otherwise its cells tell.

    Examples
    --------
    >>> from novum.core.tables import Column
    >>> found = column_record(Cells(Column("x"), np.array([1.0, 2.0, 4.0, np.nan])), None)
    >>> found.n_missing, found.n_distinct, found.quantiles
    (1, 3, (1.0, 1.5, 2.0, 3.0, 4.0))
    """
    share = None if target is None else association(cells, target)
    return _of_numbers(cells, share) if cells.is_numeric else _of_levels(cells, share, kind)


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
    quantiles = ordered[low] * (1 - part) + ordered[high] * part
    return tuple(float(value) for value in quantiles)


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


def _of_levels(cells: Cells, share: float | None, kind: str | None) -> ColumnRecord:
    counts = cells.level_counts
    met = np.flatnonzero(counts)
    if cells.column.kind.value == "ordinal" and len(met) <= MOST_LEVELS:
        shown = met
    else:
        shown = met[np.argsort(-counts[met], kind="stable")[:MOST_LEVELS]]
    nature = nature_of(cells).name if kind is None else kind
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


# Sets of columns missing together that are listed.
MOST_PATTERNS = 10


def profile_table(
    table: pa.Table,
    schema: Schema,
    target: str | None = None,
    kind: TaskKind | None = None,
    kinds: tuple[tuple[str, str, str], ...] = (),
) -> ProfileRecord:
    """A table in brief.

    Parameters
    ----------
    table : pyarrow.Table
    schema : Schema
        Of all its columns.
    target : str, optional
        Column whose association with the others is measured; it stands apart in the result.
    kind : {"binary", "multiclass", "regression", "counts"}, optional
        What the target is; by default found by the rule of `target_column`.
    kinds : tuple of (column, kind, reason)
        Kinds as a task has them, where they are settled.

    Examples
    --------
    >>> from novum.data import load
    >>> iris = load("iris")
    >>> found = profile_table(iris.table, iris.schema, iris.target)
    >>> [(column.name, round(column.association, 2)) for column in found.columns[2:]]
    [('petal_length', 0.81), ('petal_width', 0.83)]
    """
    n_rows = int(table.num_rows)
    aim = None
    if target is not None:
        place = schema.names.index(target)
        aim = target_values(cells_of(table.column(place), schema.columns[place]), kind)
    settled = {name: one for name, one, _ in kinds}
    rows = _RowPass(n_rows)
    records: dict[str, ColumnRecord] = {}
    for place, column in enumerate(schema.columns):
        cells = cells_of(table.column(place), column)
        rows.add(cells)
        goal = None if column.name == target else aim
        records[column.name] = column_record(cells, goal, settled.get(column.name))
    return ProfileRecord(
        n_rows=n_rows,
        columns=tuple(record for name, record in records.items() if name != target),
        target=None if target is None else records[target],
        n_duplicate_rows=n_repeated(rows.prints),
        n_complete_rows=int(np.count_nonzero(rows.n_missing == 0)),
        missing_patterns=rows.patterns(),
        seen_rows=n_rows,
    )


def target_values(cells: Cells, kind: TaskKind | None = None) -> TargetValues:
    """The known targets, as codes of classes or as numbers."""
    is_classes = look_at_target(cells).is_classes if kind is None else kind not in OF_NUMBERS
    known = cells.values[cells.known]
    if not is_classes:
        finite = cells.known & np.isfinite(cells.values)
        return TargetValues(finite, cells.values[finite], 0)
    met, codes = np.unique(known, return_inverse=True)
    return TargetValues(cells.known, codes.astype(np.int64), len(met))


class _RowPass:
    """What is summed over the columns for every row."""

    def __init__(self, n_rows: int) -> None:
        self.prints = np.zeros(n_rows, np.uint64)
        self.n_missing = np.zeros(n_rows, np.int32)
        self.missing_prints = np.zeros(n_rows, np.uint64)
        self.masks: dict[str, Bytes] = {}
        self.n_columns = 0

    def add(self, cells: Cells) -> None:
        self.prints += column_part(cells, self.n_columns)
        if cells.n_missing:
            gone = ~cells.known
            self.n_missing += gone
            self.missing_prints[gone] += mixed(np.array([salt(self.n_columns)]))
            # Packed, because a wide table may miss cells in every column.
            self.masks[cells.name] = np.packbits(gone)
        self.n_columns += 1

    def patterns(self) -> tuple[tuple[tuple[str, ...], int], ...]:
        """Sets of columns missing together with their rows, the most frequent first."""
        if not self.masks:
            return ()
        _, first, counts = np.unique(self.missing_prints, return_index=True, return_counts=True)
        some = self.n_missing[first] > 0
        first, counts = first[some], counts[some]
        order = np.lexsort((first, -counts))[:MOST_PATTERNS]
        return tuple((self._columns(int(first[i])), int(counts[i])) for i in order)

    def _columns(self, row: int) -> tuple[str, ...]:
        byte, bit = row >> 3, 7 - (row & 7)
        return tuple(name for name, mask in self.masks.items() if mask[byte] >> bit & 1)
