"""All splits of one node with their scores, from sums over the distinct values of a column.

The rows of a node enter the impurity through sums (class weights, or weight, sum and sum of squares
of the targets), except that the absolute error needs the rows themselves. With the sums s_v of each
distinct value v of a column,

    threshold between v and v'    branch sums are running sums of s
    two sets of levels            branch sums are sums of s over the sets
    one branch for each level     branch sums are s

    gain = (W I(known rows) - sum_b W_b I(branch b)) / W(all rows).

Rows whose cell is missing gain nothing and count all the same. Where missing cells may have a
branch of their own, the last split of a column gives them one, and the gain is that of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from novum.core.tables import Column, Kind
from novum.numerics import Floats, Mask, Positions, cached_property
from novum.trees.tree import Question

Groups = tuple[tuple[int, ...], ...]

# 511 pairs of sets; each level more doubles them.
EXHAUSTIVE_LEVELS = 10
# Rows for each level from which on `nominal="auto"` trusts sets of levels.
ROWS_FOR_A_SET = 50


@dataclass(frozen=True, eq=False)
class NodeRows:
    """The rows of a node, with what impurities need to know of them.

    Attributes
    ----------
    cells : array of shape (n, number of columns)
    targets : array of shape (n, n_targets), class codes or numbers
    weight : array of shape (n,), fractions of rows included
    n_classes : tuple of int, or None for numbers
    measure : {"gini", "entropy", "squared_error", "absolute_error"}
    """

    cells: Floats
    targets: Floats
    weight: Floats
    n_classes: tuple[int, ...] | None
    measure: str

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    @cached_property
    def sums(self) -> Floats:
        """What adds up, for each row: class weights, or weight, sum and squares of numbers."""
        if self.n_classes is not None:
            hot = [self.targets[:, [t]] == np.arange(k) for t, k in enumerate(self.n_classes)]
            return np.asarray(self.weight[:, None] * np.hstack(hot))
        # Differences of squares keep their digits near the mean.
        center = np.average(self.targets, axis=0, weights=self.weight)
        away = self.targets - center
        return self.weight[:, None] * np.hstack([np.ones((len(away), 1)), away, away**2])

    def impurity_mass(self, sums: Floats) -> Floats:
        """`W I` of groups of rows with these sums (..., n_sums), averaged over the targets."""
        if self.n_classes is not None:
            parts = np.split(sums, np.cumsum(self.n_classes)[:-1], axis=-1)
            return np.asarray(np.mean([_class_mass(part, self.measure) for part in parts], axis=0))
        weight, n_targets = sums[..., :1], self.targets.shape[1]
        first, second = sums[..., 1 : 1 + n_targets], sums[..., 1 + n_targets :]
        spread = second - first**2 / np.where(weight > 0, weight, 1.0)
        return np.asarray(np.maximum(spread, 0.0).mean(axis=-1))


def _class_mass(counts: Floats, measure: str) -> Floats:
    total = counts.sum(axis=-1)
    if measure == "gini":
        return np.asarray(total - (counts**2).sum(axis=-1) / np.where(total > 0, total, 1.0))
    inside = special.xlogy(total, total) - special.xlogy(counts, counts).sum(axis=-1)
    return np.asarray(np.maximum(inside, 0.0) / np.log(2))


@dataclass(frozen=True, eq=False)
class ColumnSplits:
    """All splits of a node on one column, in the order in which ties are resolved.

    Attributes
    ----------
    column : int
    question : Question
    thresholds : array of shape (n_splits,), or empty
    between : array of shape (n_splits, 2)
        The neighboring values that each threshold separates.
    groups : tuple of groups of level codes, or empty
        A group without levels is that of missing cells.
    weights : list of arrays, the known weight of each branch of each split
    gains : array of shape (n_splits,), per unit of the node's weight
    unlisted : int
        Pairs of sets of levels that were not tried, because there are too many.
    """

    column: int
    question: Question
    thresholds: Floats
    between: Floats
    groups: tuple[Groups, ...]
    weights: list[Floats]
    gains: Floats
    unlisted: int = 0

    def __len__(self) -> int:
        return len(self.gains)

    def parts_missing(self, i: int) -> bool:
        """Whether split `i` has a branch for missing cells alone."""
        return self.groups[i][-1] == () if self.groups else bool(np.isinf(self.thresholds[i]))


def column_splits(
    rows: NodeRows,
    column: int,
    kind: Column,
    nominal: str,
    resolution: float = 0.0,
    *,
    missing_alone: bool = False,
) -> ColumnSplits | None:
    """Every split of the node on a column; None where there is none."""
    splits = _known_splits(rows, column, kind, nominal, resolution)
    return _with_missing_alone(splits, rows, column, kind, nominal) if missing_alone else splits


def _with_missing_alone(
    splits: ColumnSplits | None, rows: NodeRows, column: int, kind: Column, nominal: str
) -> ColumnSplits | None:
    """The splits and behind them the one whose last branch is that of missing cells."""
    cells = rows.cells[:, column]
    here = rows.weight > 0
    missing, met = np.isnan(cells) & here, ~np.isnan(cells) & here
    if not (missing.any() and met.any()):
        return splits
    is_nominal, question = kind.kind is Kind.NOMINAL, Question.THRESHOLD
    branches = [met, missing]
    groups: Groups = (tuple(range(kind.n_levels)), ())
    if is_nominal:
        question = Question.MULTIWAY if nominal == "multiway" else Question.SUBSET
    if question is Question.MULTIWAY:
        levels = np.unique(cells[met])
        branches = [*(met & (cells == level) for level in levels), missing]
        groups = (*((int(level),) for level in levels), ())
    whole = np.ones(len(cells), bool)
    if rows.measure == "absolute_error":
        gain = _absolute_gain(rows, whole, branches)
    else:
        parts = sum(rows.impurity_mass(rows.sums[b].sum(axis=0)) for b in branches)
        gain = float(rows.impurity_mass(rows.sums.sum(axis=0)) - parts) / rows.total
    weights = np.array([rows.weight[b].sum() for b in branches])
    known = splits or ColumnSplits(
        column, question, np.empty(0), np.empty((0, 2)), (), [], np.empty(0)
    )
    return replace(
        known,
        thresholds=known.thresholds if is_nominal else np.append(known.thresholds, np.inf),
        between=known.between
        if is_nominal
        else np.vstack([known.between, [cells[met].max(), np.inf]]),
        groups=(*known.groups, groups) if is_nominal else (),
        weights=[*known.weights, weights],
        gains=np.append(known.gains, max(gain, 0.0)),
    )


def _known_splits(
    rows: NodeRows, column: int, kind: Column, nominal: str, resolution: float
) -> ColumnSplits | None:
    cells = rows.cells[:, column]
    known = ~np.isnan(cells) & (cells >= 0 if kind.kind is Kind.NOMINAL else True)
    known &= rows.weight > 0
    values, place = np.unique(cells[known], return_inverse=True)
    if len(values) < 2:
        return None
    table = np.zeros((len(values), rows.sums.shape[1]))
    np.add.at(table, place, rows.sums[known])
    if kind.kind is not Kind.NOMINAL:
        return _thresholds(rows, column, known, values, place, table, resolution)
    groups, unlisted = level_groups(values.astype(int), table, rows, nominal)
    multiway = nominal == "multiway"
    return ColumnSplits(
        column,
        Question.MULTIWAY if multiway else Question.SUBSET,
        np.empty(0),
        np.empty((0, 2)),
        groups,
        *_group_scores(rows, known, values, place, table, groups),
        unlisted,
    )


def _thresholds(
    rows: NodeRows,
    column: int,
    known: Mask,
    values: Floats,
    place: Positions,
    table: Floats,
    resolution: float,
) -> ColumnSplits | None:
    cuts = np.flatnonzero(np.diff(values) > resolution)
    if not cuts.size:
        return None
    low, high = values[cuts], values[cuts + 1]
    middle = low + (high - low) / 2
    thresholds = np.where(middle < high, middle, low)
    below = np.cumsum(table, axis=0)[cuts]
    above = np.cumsum(table[::-1], axis=0)[::-1][cuts + 1]
    if rows.measure == "absolute_error":
        sides = [place <= cut for cut in cuts]
        gains = np.array([_absolute_gain(rows, known, [side, ~side]) for side in sides])
    else:
        parts = rows.impurity_mass(below) + rows.impurity_mass(above)
        gains = (rows.impurity_mass(table.sum(axis=0)) - parts) / rows.total
    weights = _row_weights(rows, known, place, len(values))
    left = np.cumsum(weights)[cuts]
    right = np.cumsum(weights[::-1])[::-1][cuts + 1]
    return ColumnSplits(
        column,
        Question.THRESHOLD,
        thresholds,
        np.column_stack([low, high]),
        (),
        list(np.column_stack([left, right])),
        np.maximum(gains, 0.0),
    )


def _group_scores(
    rows: NodeRows,
    known: Mask,
    values: Floats,
    place: Positions,
    table: Floats,
    groups: tuple[Groups, ...],
) -> tuple[list[Floats], Floats]:
    """Branch weights and gains of ways to group the levels."""
    by_value = _row_weights(rows, known, place, len(values))
    whole = rows.impurity_mass(table.sum(axis=0))
    weights, gains = [], []
    for groups_of_one in groups:
        inside = [np.isin(values, group) for group in groups_of_one]
        weights.append(np.array([by_value[mask].sum() for mask in inside]))
        if rows.measure == "absolute_error":
            gains.append(_absolute_gain(rows, known, [mask[place] for mask in inside]))
            continue
        parts = [rows.impurity_mass(table[mask].sum(axis=0)) for mask in inside]
        gains.append(float(whole - sum(parts)) / rows.total)
    return weights, np.maximum(np.array(gains), 0.0)


def _row_weights(rows: NodeRows, known: Mask, place: Positions, n_values: int) -> Floats:
    return np.bincount(place, rows.weight[known], n_values).astype(np.float64)


# --- Absolute error -------------------------------------------------------------------------------


def _absolute_gain(rows: NodeRows, known: Mask, branches: list[Mask]) -> float:
    targets, weight = rows.targets[known], rows.weight[known]
    parts = sum(absolute_mass(targets[inside], weight[inside]) for inside in branches)
    return (absolute_mass(targets, weight) - parts) / rows.total


def absolute_mass(targets: Floats, weight: Floats) -> float:
    """Sum of `w |y - median|`, averaged over the targets; any median gives the same."""
    total = 0.0
    for y in targets.T:
        order = np.argsort(y, kind="stable")
        running = np.cumsum(weight[order])
        median = y[order][np.searchsorted(running, running[-1] / 2)]
        total += float(weight @ np.abs(y - median))
    return total / targets.shape[1]


# --- Levels ---------------------------------------------------------------------------------------


def level_groups(
    levels: NDArray[np.int_], table: Floats, rows: NodeRows, nominal: str
) -> tuple[tuple[Groups, ...], int]:
    """Ways to group the levels of a node, and how many pairs of sets are not among them.

    Branch 0 holds the lowest level; pairs of sets come in the lexicographic order of branch 0.
    """
    codes = [int(level) for level in levels]
    if nominal == "auto":
        nominal = "subset" if len(rows.weight) >= ROWS_FOR_A_SET * len(codes) else "single"
    if nominal == "multiway":
        return (tuple((code,) for code in codes),), 0
    if nominal == "single":
        lone = [{code} for code in codes[: len(codes) if len(codes) > 2 else 1]]
        return tuple(_pair(one, codes) for one in lone), 0
    if len(codes) <= EXHAUSTIVE_LEVELS:
        rest = codes[1:]
        some = [{codes[0], *c} for size in range(len(codes) - 1) for c in combinations(rest, size)]
        return tuple(_pair(one, codes) for one in sorted(some, key=sorted)), 0
    means = _one_dimension(table, rows)
    if means is None:
        listed = tuple(_pair({code}, codes) for code in codes)
        return listed, 2 ** (len(codes) - 1) - 1 - len(listed)
    # With two classes or one number the best pair of sets is a cut in the order of the means.
    by_mean = [codes[int(i)] for i in np.argsort(means, kind="stable")]
    cuts = tuple(_pair(set(by_mean[:size]), codes) for size in range(1, len(codes)))
    return cuts, 2 ** (len(codes) - 1) - 1 - len(cuts)


def _one_dimension(table: Floats, rows: NodeRows) -> Floats | None:
    """The mean of the target at each level, where one number says all; else None."""
    if rows.targets.shape[1] > 1 or rows.measure == "absolute_error":
        return None
    if rows.n_classes is None:
        return np.asarray(table[:, 1] / table[:, 0])
    met = np.flatnonzero(table.sum(axis=0) > 0)
    return np.asarray(table[:, met[-1]] / table.sum(axis=1)) if met.size <= 2 else None


def _pair(one: set[int], codes: list[int]) -> Groups:
    other = set(codes) - one
    first, second = (one, other) if codes[0] in one else (other, one)
    return tuple(sorted(first)), tuple(sorted(second))
