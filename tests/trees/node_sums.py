"""Random nodes as the kernels of the engine see them, and all their splits by the definition.

A node is a table of sums, one row for each code of a column: class weights of all targets side by
side, or weight and moments of numbers. Gains follow from the formulas

    q = sum_k s_k^2 / w   (Gini)      sum_k s_k log2(s_k / w)   (entropy)      sum_t m_t^2 / w,

averaged over targets: gain = q(one side) + q(other side) - q(both).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from novum.numerics import Floats, Integers
from novum.trees.growth.growing_columns import ENTROPY, GINI, SQUARED_ERROR

CRITERIA = (GINI, ENTROPY, SQUARED_ERROR)
# What kernels may take for equal.
TIE = 1e-10


def starts_of(criterion: int, sizes: tuple[int, ...]) -> Integers:
    """Where the classes of each target begin; zeros for numbers."""
    if criterion == SQUARED_ERROR:
        return np.zeros(len(sizes) + 1, np.int64)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def weight_of(sums: Floats, criterion: int, starts: Integers) -> float:
    return float(sums[0] if criterion == SQUARED_ERROR else sums[: starts[1]].sum())


def score(sums: Floats, criterion: int, starts: Integers) -> float:
    """q of a set of rows, by the formulas above."""
    weight = weight_of(sums, criterion, starts)
    if weight == 0:
        return 0.0
    n_targets = len(starts) - 1
    if criterion == SQUARED_ERROR:
        return float((sums[1:] ** 2).sum() / weight) / n_targets
    if criterion == GINI:
        return float((sums**2).sum() / weight) / n_targets
    present = sums[sums > 0]
    return float((present * np.log2(present / weight)).sum()) / n_targets


def gain(
    head: Floats, whole: Floats, criterion: int, starts: Integers, least: float = 0.0
) -> float | None:
    """Gain of a set against the rest; None where a side is lighter than `least`, or empty."""
    tail = whole - head
    lighter = min(weight_of(part, criterion, starts) for part in (head, tail))
    if lighter < least or lighter <= 0:
        return None
    parts = [score(part, criterion, starts) for part in (head, tail, whole)]
    return parts[0] + parts[1] - parts[2]


def cuts(
    table: Floats,
    order: Integers,
    criterion: int,
    starts: Integers,
    *,
    least: float = 0.0,
    begin: Floats | None = None,
    whole: Floats | None = None,
) -> list[float | None]:
    """Gain of the cut after each code of `order` but the last."""
    begin = np.zeros(table.shape[1]) if begin is None else begin
    whole = begin + table[order].sum(axis=0) if whole is None else whole
    heads = begin + np.cumsum(table[order[:-1]], axis=0)
    return [gain(head, whole, criterion, starts, least) for head in heads]


def divisions(
    table: Floats, levels: Integers, criterion: int, starts: Integers, *, single: bool
) -> dict[frozenset[int], float]:
    """Gain of every set of levels against the others, named by the set with the lowest level."""
    whole = table[levels].sum(axis=0)
    found: dict[frozenset[int], float] = {}
    for size in range(1, len(levels)):
        for chosen in combinations(levels.tolist(), size):
            if single and size not in (1, len(levels) - 1):
                continue
            if levels[0] in chosen:
                value = gain(table[list(chosen)].sum(axis=0), whole, criterion, starts)
                assert value is not None
                found[frozenset(chosen)] = value
    return found


def first_best(gains: list[float | None]) -> tuple[float, int]:
    """The largest gain and its first place; (-1, -1) without any."""
    known = [value for value in gains if value is not None]
    if not known:
        return -1.0, -1
    best = max(known)
    near = 1e-9 * (1 + abs(best))
    return best, next(i for i, v in enumerate(gains) if v is not None and v >= best - near)


def random_table(
    rng: np.random.Generator,
    n_codes: int,
    criterion: int,
    sizes: tuple[int, ...],
    *,
    n_rows: int = 30,
    empty: bool = True,
) -> Floats:
    """Sums of random rows by code; some codes have none unless `empty` is false."""
    codes = rng.integers(0, n_codes, n_rows)
    if not empty:
        codes[:n_codes] = np.arange(n_codes)
    weight = rng.integers(1, 5, n_rows) / 2.0
    starts = starts_of(criterion, sizes)
    n_stats = 1 + len(sizes) if criterion == SQUARED_ERROR else int(starts[-1])
    table = np.zeros((n_codes, n_stats))
    if criterion == SQUARED_ERROR:
        y = rng.integers(-6, 7, (n_rows, len(sizes))) / 4.0
        np.add.at(table, codes, weight[:, None] * np.column_stack([np.ones(n_rows), y]))
    else:
        for t, size in enumerate(sizes):
            label = starts[t] + rng.integers(0, size, n_rows)
            np.add.at(table, (codes, label), weight)
    return table


def present_codes(table: Floats, criterion: int, starts: Integers) -> Integers:
    weights = np.array([weight_of(row, criterion, starts) for row in table])
    return np.flatnonzero(weights > 0).astype(np.int64)
