"""Splits of a node by their definitions, term by term: slow and easy to check by eye.

A node is a list of entries (row, weight); a row with a missing cell reaches several nodes, with a
part of its weight in each. With the masses p_k of the classes, or the targets y_i,

    entropy = -sum_k p_k log2 p_k                     gini = 1 - sum_k p_k^2
    squared error = sum_i w_i (y_i - mean)^2 / W      absolute error = sum_i w_i |y_i - median| / W

averaged over the targets when there are several. The gain of a split is taken over the entries
whose cell is known,

    gain = W I(node) - sum_b W_b I(branch b),

and not divided by anything, so that a column known for half of the node can gain half as much.
Splits whose gains differ by less than 1e-10 of the node's `W I` are ties, and the first of them in
the order of `candidate_splits` is taken: lowest column, lowest threshold. Growth of whole trees by
these definitions is in `definitions_growth`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from novum.core.tables import Kind, Schema
from novum.numerics import Array, Floats
from novum.trees.tree import Question

Entries = list[tuple[int, float]]

TIE = 1e-10


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Rows to learn from.

    Attributes
    ----------
    schema : Schema
    cells : float64 array (n, n_columns)
        Numbers, or codes of levels; NaN where missing.
    targets : array (n, n_targets)
        Numbers, or codes into `classes`.
    weight : float64 array (n,)
    classes : tuple of label arrays, one for each target, or None for numbers
    """

    schema: Schema
    cells: Floats
    targets: Array
    weight: Floats
    classes: tuple[Array, ...] | None

    @property
    def n_classes(self) -> tuple[int, ...] | None:
        return None if self.classes is None else tuple(len(labels) for labels in self.classes)

    def entries(self) -> Entries:
        """All rows with their weights: the root."""
        return [(row, float(weight)) for row, weight in enumerate(self.weight)]


@dataclass(frozen=True)
class Split:
    """One question about one column.

    Attributes
    ----------
    column : int
    question : Question
    threshold : float
        NaN unless the question is THRESHOLD.
    levels : tuple of sorted tuples
        The levels of each branch of a nominal question.
    missing_branch : int
        Where missing cells go; -1 for down every branch in parts.
    """

    column: int
    question: Question
    threshold: float = math.nan
    levels: tuple[tuple[int, ...], ...] = ()
    missing_branch: int = -1

    @property
    def n_branches(self) -> int:
        return 2 if self.question is Question.THRESHOLD else len(self.levels)

    def branch(self, cell: float) -> int | None:
        """The branch of a cell; None for a missing cell or a level that no branch has.

        >>> Split(0, Question.THRESHOLD, threshold=2.5).branch(2.5)
        0
        """
        if math.isnan(cell):
            return None
        if self.question is Question.THRESHOLD:
            return 0 if cell <= self.threshold else 1
        for branch, levels in enumerate(self.levels):
            if cell in levels:
                return branch
        return None


# --- Impurities -----------------------------------------------------------------------------------


def entropy(masses: Sequence[float]) -> float:
    """Entropy in bits of classes with these masses.

    >>> entropy([4.0, 4.0, 0.0])
    1.0
    """
    total = math.fsum(masses)
    parts = [mass / total for mass in masses if mass > 0]
    return -math.fsum(p * math.log2(p) for p in parts) if len(parts) > 1 else 0.0


def gini(masses: Sequence[float]) -> float:
    """Probability that two draws from classes with these masses differ.

    >>> gini([1.0, 3.0])
    0.375
    """
    total = math.fsum(masses)
    return math.fsum((mass / total) * (1 - mass / total) for mass in masses)


def squared_error(values: Sequence[float], weights: Sequence[float]) -> float:
    """Mean squared deviation from the mean.

    >>> squared_error([1.0, 3.0], [1.0, 1.0])
    1.0
    """
    mean = weighted_mean(values, weights)
    squares = (w * (y - mean) ** 2 for y, w in zip(values, weights, strict=True))
    return math.fsum(squares) / math.fsum(weights)


def absolute_error(values: Sequence[float], weights: Sequence[float]) -> float:
    """Mean absolute deviation from the median.

    >>> absolute_error([1.0, 2.0, 9.0], [1.0, 1.0, 1.0])
    2.6666666666666665
    """
    median = weighted_median(values, weights)
    deviations = (w * abs(y - median) for y, w in zip(values, weights, strict=True))
    return math.fsum(deviations) / math.fsum(weights)


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """`sum w y / sum w`."""
    products = (w * y for y, w in zip(values, weights, strict=True))
    return math.fsum(products) / math.fsum(weights)


def weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """The middle of the values with at most half of the weight on either side.

    >>> weighted_median([1.0, 2.0, 5.0], [1.0, 1.0, 2.0])
    3.5
    """
    half = math.fsum(weights) / 2
    slack = TIE * half
    medians = [
        middle
        for middle in values
        if math.fsum(w for y, w in zip(values, weights, strict=True) if y < middle) <= half + slack
        and math.fsum(w for y, w in zip(values, weights, strict=True) if y > middle) <= half + slack
    ]
    return min(medians) + (max(medians) - min(medians)) / 2


# --- Nodes ----------------------------------------------------------------------------------------


def weight_of(entries: Entries) -> float:
    return math.fsum(weight for _, weight in entries)


def class_masses(table: TrainingTable, entries: Entries, target: int) -> list[float]:
    """The weight of every class of one target."""
    assert table.n_classes is not None
    return [
        math.fsum(weight for row, weight in entries if table.targets[row, target] == code)
        for code in range(table.n_classes[target])
    ]


def node_impurity(table: TrainingTable, entries: Entries, criterion: str) -> float:
    """The impurity of a node, averaged over the targets."""
    total = 0.0
    for target in range(table.targets.shape[1]):
        if criterion in ("entropy", "gini"):
            masses = class_masses(table, entries, target)
            total += entropy(masses) if criterion == "entropy" else gini(masses)
        else:
            values = [float(table.targets[row, target]) for row, _ in entries]
            weights = [weight for _, weight in entries]
            spread = {"squared_error": squared_error, "absolute_error": absolute_error}[criterion]
            total += spread(values, weights)
    return total / table.targets.shape[1]


def weighted_impurity(table: TrainingTable, entries: Entries, criterion: str) -> float:
    """`W I`, which is 0 for no entries."""
    return weight_of(entries) * node_impurity(table, entries, criterion) if entries else 0.0


# --- Candidates -----------------------------------------------------------------------------------


def known_entries(table: TrainingTable, entries: Entries, column: int) -> Entries:
    """The entries whose cell of the column is known."""
    return [(row, weight) for row, weight in entries if not math.isnan(table.cells[row, column])]


def candidate_splits(
    table: TrainingTable, entries: Entries, column: int, nominal: str = "subset"
) -> list[Split]:
    """Every split of the node on the column, in the order in which ties are resolved.

    Numbers and ordinal codes: thresholds in the middle between neighbors, from below. Nominal
    columns with `nominal="subset"`: all pairs of sets of levels, branch 0 with the lowest level, in
    the lexicographic order of branch 0; `"single"`: each level against the others, from the lowest
    (branch 0 with the lowest level here too); `"multiway"`: a branch for every level.
    """
    known = known_entries(table, entries, column)
    present = sorted({float(table.cells[row, column]) for row, _ in known})
    if len(present) < 2:
        return []
    if table.schema.columns[column].kind is not Kind.NOMINAL:
        middles = [middle(a, b) for a, b in pairwise(present)]
        return [Split(column, Question.THRESHOLD, threshold=value) for value in middles]
    levels = [int(level) for level in present]
    if nominal == "multiway":
        branches = tuple((level,) for level in levels)
        return [Split(column, Question.MULTIWAY, levels=branches)]
    if nominal == "single":
        lone = [{level} for level in levels]
        first = [one if levels[0] in one else set(levels) - one for one in lone]
        # Of two levels, one against the other is the other against the one.
        pairs = first if len(levels) > 2 else first[:1]
    else:
        sizes = range(len(levels) - 1)
        others = [set(some) for size in sizes for some in combinations(levels[1:], size)]
        pairs = sorted(({levels[0]} | some for some in others), key=sorted)
    return [
        Split(column, Question.SUBSET, levels=(ordered(one), ordered(set(levels) - one)))
        for one in pairs
    ]


def middle(low: float, high: float) -> float:
    """`low + (high - low) / 2`, or `low` when rounding makes that `high`.

    >>> middle(1.0, 2.0), middle(1.0, 1.0000000000000002)
    (1.5, 1.0)
    """
    value = low + (high - low) / 2
    return value if value < high else low


def ordered(levels: set[int]) -> tuple[int, ...]:
    return tuple(sorted(levels))


# --- Scores ---------------------------------------------------------------------------------------


def branch_entries(table: TrainingTable, entries: Entries, split: Split) -> list[Entries]:
    """The entries that answer, by branch; with a `missing_branch` missing cells answer too."""
    branches: list[Entries] = [[] for _ in range(split.n_branches)]
    for row, weight in entries:
        branch = split.branch(table.cells[row, split.column])
        if branch is None and split.missing_branch >= 0:
            branch = split.missing_branch
        if branch is not None:
            branches[branch].append((row, weight))
    return branches


def gain(table: TrainingTable, entries: Entries, split: Split, criterion: str) -> float:
    """`W I(node) - sum_b W_b I(branch b)` over the entries that answer."""
    branches = branch_entries(table, entries, split)
    answering = [entry for branch in branches for entry in branch]
    remaining = math.fsum(weighted_impurity(table, branch, criterion) for branch in branches)
    return weighted_impurity(table, answering, criterion) - remaining


def split_information(branch_weights: Sequence[float], unknown: float = 0.0) -> float:
    """Entropy in bits of the branches, where missing cells count as one branch more.

    >>> round(split_information([5.0, 4.0, 5.0]), 3)
    1.577
    """
    return entropy([*branch_weights, unknown])


def gain_ratio(table: TrainingTable, entries: Entries, split: Split) -> float:
    """Gain in bits of one row of the node, over the split information; 0 where that is 0.

    A row with a missing cell gains nothing and is a row all the same.
    """
    weights = [weight_of(branch) for branch in branch_entries(table, entries, split)]
    total = weight_of(entries)
    information = split_information(weights, max(total - math.fsum(weights), 0.0))
    per_row = gain(table, entries, split, "entropy") / total
    return per_row / information if information > 0 else 0.0


def best_split(
    table: TrainingTable,
    entries: Entries,
    criterion: str,
    *,
    nominal: str = "subset",
    missing: str = "fractional",
    min_branch_weight: float = 0.0,
) -> tuple[Split, float] | None:
    """The split of largest gain, and its gain; None when there is no split.

    Parameters
    ----------
    table, entries
        The node.
    criterion : {"entropy", "gini", "squared_error", "absolute_error"}
    nominal : {"subset", "single", "multiway"}
    missing : {"fractional", "direction", "auto"}
        Whether missing cells are left out of the score, or join the better branch (the lower one
        of a tie), or the best of these and of a branch of their own (the first of a tie).
    min_branch_weight : float
        A split with a lighter branch is none.
    """
    found: list[tuple[Split, float]] = []
    for column in range(table.schema.n_columns):
        for split in _with_missing(table, entries, column, nominal, missing):
            branches = branch_entries(table, entries, split)
            if min(weight_of(branch) for branch in branches) >= min_branch_weight * (1 - TIE):
                found.append((split, gain(table, entries, split, criterion)))
    if not found:
        return None
    slack = TIE * weighted_impurity(table, entries, criterion)
    largest = max(score for _, score in found)
    return next(pair for pair in found if pair[1] >= largest - slack)


def _with_missing(
    table: TrainingTable, entries: Entries, column: int, nominal: str, missing: str
) -> list[Split]:
    """The splits of a column with all ways that missing cells may take, where the node has some."""
    splits = candidate_splits(table, entries, column, nominal)
    known = known_entries(table, entries, column)
    if missing == "fractional" or not 0 < len(known) < len(entries):
        return splits
    multiway = nominal == "multiway" and table.schema.columns[column].kind is Kind.NOMINAL
    directed = [
        replace(split, missing_branch=branch)
        for split in splits
        for branch in range(split.n_branches)
    ]
    if missing == "direction":
        return directed
    alone = _missing_alone(table, known, column, multiway)
    return [*splits, alone] if multiway else [*splits, *directed, alone]


def _missing_alone(table: TrainingTable, known: Entries, column: int, multiway: bool) -> Split:
    """Missing cells in the last branch; known ones in another, or in that of their level."""
    kind = table.schema.columns[column]
    if kind.kind is not Kind.NOMINAL:
        return Split(column, Question.THRESHOLD, threshold=math.inf, missing_branch=1)
    if not multiway:
        every = tuple(range(kind.n_levels))
        return Split(column, Question.SUBSET, levels=(every, ()), missing_branch=1)
    present = sorted({int(table.cells[row, column]) for row, _ in known})
    levels = (*((level,) for level in present), ())
    return Split(column, Question.MULTIWAY, levels=levels, missing_branch=len(present))
