"""Trees on gradients: from a table of codes to the trees of a forest.

`BoostingTable` makes bytes of cells, `TreeGrower.grow` adds one tree to scores, and
`forest_of` makes one forest of what was grown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from novum.core.errors import InputError
from novum.ensemble.gradient_boosting import tree_columns as at
from novum.ensemble.gradient_boosting.losses import Loss
from novum.numerics import Array, Bytes, Codes, Floats, Integers
from novum.trees import (
    NARROW_MISSING,
    CellRows,
    Forest,
    Question,
    Survey,
    TableCoding,
    padded_edges,
    table_coding,
)

# Levels of a column that have codes of their own; the rarer ones share the next.
MOST_LEVELS = 254
# Bits of the sum of curvatures in a word.
_LOW_BITS = 31
# Rows beyond which rounding to the nearest whole number could lose many small gradients.
_COARSE = 2**17
# Memory for histograms of nodes that wait.
_HISTOGRAM_BYTES = 2**28
# The most that nominal splits are penalized beyond others, and curvature that shrinks rare levels.
_LEVEL_PENALTY = 10.0
_SHRINKAGE = 10.0
_NO_LIMIT = np.iinfo(np.int32).max


@dataclass(frozen=True)
class TreeRules:
    """How a tree grows.

    Parameters
    ----------
    max_leaves : int, optional
        Best first up to so many leaves; without, until no split gains.
    max_depth : int, optional
    min_rows : float
        Least weight of rows in a leaf.
    min_curvature : float
        Least sum of curvatures in a leaf.
    min_gain : float
        Least decrease of the loss.
    penalty : float
        Of squares of leaf values, L2.
    rate : float
        What leaf values are multiplied by.
    n_columns : int
        Columns that a node tries, drawn at random.
    signs : tuple of -1, 0, 1
        Columns along which predictions must not fall, or rise.
    groups : tuple of sets of columns
        That may meet on one way down; empty for all.
    """

    max_leaves: int | None = 31
    max_depth: int | None = None
    min_rows: float = 20.0
    min_curvature: float = 1e-3
    min_gain: float = 0.0
    penalty: float = 0.0
    rate: float = 0.1
    n_columns: int = _NO_LIMIT
    signs: tuple[int, ...] = ()
    groups: tuple[frozenset[int], ...] = ()


class GrownTree(NamedTuple):
    """The nodes of one tree: columns of `tree_kernels`, branches of levels, values."""

    integers: Integers
    gain: Floats
    branches: Any
    value: Floats


class BoostingTable:
    """How cells become bytes, and what the bytes mean.

    Parameters
    ----------
    coding : TableCoding
    level_weights : callable
        From the number of a nominal column to the weights of its levels, the heaviest of which
        have codes of their own where there are too many.
    """

    def __init__(self, coding: TableCoding, level_weights: Callable[[int], Floats]) -> None:
        self.coding, self.schema = coding, coding.schema
        self.n_codes = np.minimum(coding.n_codes, MOST_LEVELS + 1)
        # Of columns with many levels, the code of every level.
        self.level_codes: dict[int, Bytes] = {}
        for j in np.flatnonzero(coding.n_codes > MOST_LEVELS + 1).tolist():
            often = np.argsort(-level_weights(j), kind="stable")[:MOST_LEVELS]
            codes = np.full(int(coding.n_codes[j]), MOST_LEVELS, np.uint8)
            codes[often] = np.arange(MOST_LEVELS)
            self.level_codes[j] = codes

    @classmethod
    def of_rows(
        cls, rows: CellRows, max_bins: int, coding: TableCoding | None = None
    ) -> BoostingTable:
        """The table of rows in memory, with the bins of an earlier fit where they are given."""
        table = table_coding(rows, max_bins) if coding is None else coding

        def level_weights(j: int) -> Floats:
            known = rows.cells[:, j] >= 0
            levels = rows.cells[known, j].astype(np.intp)
            counts = np.bincount(levels, rows.weight[known], int(table.n_codes[j]))
            return counts.astype(np.float64)

        return cls(table, level_weights)

    @classmethod
    def of_survey(cls, survey: Survey, max_bins: int) -> BoostingTable:
        """The table of chunks, from a first pass over them."""
        weights = dict(zip(survey.schema.categorical.tolist(), survey.level_weights, strict=True))
        return cls(survey.coding(max_bins), weights.__getitem__)

    def codes(self, cells: Floats) -> Bytes:
        """Cells as bytes, 255 where they say nothing."""
        codes = self.coding.codes(cells)
        if self.coding.is_narrow:
            return codes
        narrow = np.full(codes.shape, NARROW_MISSING, np.uint8)
        for j in range(codes.shape[1]):
            known = codes[:, j] != self.coding.missing
            own = codes[known, j]
            narrow[known, j] = self.level_codes[j][own] if j in self.level_codes else own
        return narrow


class TreeGrower:
    """Grows the trees of one fit, each on the gradients of its round.

    Parameters
    ----------
    table : BoostingTable
    codes : uint8 array (n, n_columns)
    weight : array (n,)
    rules : TreeRules
    chance : int
        Seed of the columns that are drawn.
    """

    def __init__(
        self, table: BoostingTable, codes: Bytes, weight: Floats, rules: TreeRules, chance: int
    ) -> None:
        self.table, self.codes, self.rules = table, np.ascontiguousarray(codes), rules
        n, p = codes.shape
        is_unit = bool((weight == 1.0).all())
        self.weight = np.empty(0) if is_unit else weight
        self.is_whole = not is_unit and bool((weight == np.floor(weight)).all())
        self.total = float(weight.sum())
        # Weights as whole numbers, by which rows are counted.
        self.unit = 1.0 if is_unit or self.is_whole else 2.0 ** np.floor(40 - np.log2(self.total))
        self.amounts = np.rint(self.weight * self.unit).astype(np.int64)
        self.words = np.empty(n, np.int64)
        nominal = table.coding.nominal
        room = 2 * min(rules.max_leaves or n, n) + 1
        self.nodes = (
            np.empty((room, 12), np.int64),
            np.empty((room, 3)),
            np.empty((room if nominal.any() else 1, 256), np.int8),
        )
        self.columns = (
            table.n_codes.astype(np.int64),
            nominal,
            np.array(rules.signs or [0] * p, np.int64),
            _group_masks(rules.groups, p),
        )
        slots = min(rules.max_leaves or 64, 256, max(2, _HISTOGRAM_BYTES // (2048 * p))) + 1
        self.work = (
            np.empty((slots, 256 * p), np.int64),
            np.empty(256 * p, np.int64),
            np.empty(256, np.int64),
            np.empty(256),
            np.empty(n, np.int32),
            np.empty(p, np.int64),
            np.array([chance | 1], np.uint64),
            np.empty(4 * p, np.uint64),
        )
        self.best = (np.zeros(6, np.int64), np.zeros(1), np.zeros(256, np.int8))
        self.open = np.empty(room, np.int64)
        self.heaviest = 1.0 if is_unit else float(weight.max())
        self.factor = 1.0 if is_unit or self.is_whole else self.heaviest
        # Sums over all rows stay within their bits.
        self.bits = math.ceil(math.log2((self.total if self.factor == 1.0 else n) + 1)) + 1
        self._write_rules()
        self.last_rows = self.others = np.empty(0, np.int32)

    def grow(
        self,
        g: Floats,
        h: Floats | None,
        loss: Loss,
        out_scores: Floats,
        rows: Codes | None = None,
        leaf_value: Callable[[Codes], float | None] | None = None,
        n_columns: int | None = None,
    ) -> GrownTree:
        """Grows a tree and adds what it says to the scores of all rows.

        Parameters
        ----------
        g, h : arrays (n,)
            Gradients and curvatures of rows of weight 1; without `h` they are 1.
        loss : Loss
            That they are of.
        out_scores : array (n,)
        rows : int32 array, optional
            Ascending rows that the tree learns from; all by default.
        leaf_value : callable, optional
            From the rows of a leaf to its value where Newton's is not wanted.
        n_columns : int, optional
            That a node tries; as many as the rules say by default.
        """
        from novum.ensemble.gradient_boosting import tree_kernels as kernels

        n = len(self.codes)
        seen = self.every.copy() if rows is None else rows.copy()
        curvature = self.nothing if h is None else np.ascontiguousarray(h)
        of_rows = (np.ascontiguousarray(g), curvature, self.weight)
        rounding = self._units(of_rows, loss)
        self.options[at.N_TRIED] = min(n_columns or self.rules.n_columns, _NO_LIMIT)
        kernels.round_gradients(of_rows, self.is_whole, *rounding, n > _COARSE, self.words)
        integers, floats, branches = self.nodes
        integers[0], floats[0] = self.root
        integers[0, at.STOP] = len(seen)
        integers[0, at.WORD] = (self.words if rows is None else self.words[rows]).sum()
        integers[0, at.AMOUNT] = self.amounts[seen].sum() if self.amounts.size else len(seen)
        table = (self.codes, self.words, self.amounts)
        n_nodes = kernels.grow_tree(
            table,
            seen,
            self.columns,
            (self.options, self.numbers),
            self.nodes,
            self.work,
            self.best,
            self.open,
        )
        value, sums = np.empty(n_nodes), np.empty((n_nodes, 2), np.int64)
        kernels.newton_values(seen, self.nodes, n_nodes, of_rows, self.fine, sums, value)
        if leaf_value is not None:
            self._take_values(seen, n_nodes, leaf_value, value)
        kernels.add_to_rows(seen, self.nodes, n_nodes, value, out_scores)
        if rows is not None and len(rows) < n:
            if rows is not self.last_rows:
                # The same for the trees of all outputs of a round.
                unseen = np.ones(n, bool)
                unseen[rows] = False
                self.last_rows, self.others = rows, np.flatnonzero(unseen).astype(np.int32)
            kernels.send_down(self.codes, self.others, self.nodes, value, out_scores)
        kept = branches[:n_nodes].copy() if len(branches) > 1 else None
        return GrownTree(integers[:n_nodes].copy(), floats[:n_nodes, at.GAIN].copy(), kept, value)

    def _write_rules(self) -> None:
        """What kernels need to know of the rules; `grow` fills in what a tree asks for."""
        rules, most = self.rules, _NO_LIMIT
        self.options = np.array(
            [
                0,
                rules.max_leaves or 0,
                most if rules.max_depth is None else rules.max_depth,
                max(math.ceil(rules.min_rows * self.unit * (1 - 1e-10)), 1),
                0,
                0,
            ],
            np.int64,
        )
        self.numbers = np.array(
            [0.0, 0.0, rules.penalty, _LEVEL_PENALTY, _SHRINKAGE, rules.min_gain, 1.0]
        )
        self.fine = np.array([0.0, 0.0, rules.penalty, 0.0, rules.rate])
        self.every, self.nothing = np.arange(len(self.codes), dtype=np.int32), np.empty(0)
        integers = np.full(12, -1, np.int64)
        integers[[at.START, at.DEPTH, at.QUESTION]] = 0
        self.root = (integers, np.array([0.0, -np.inf, np.inf]))

    def _units(self, of_rows: Any, loss: Loss) -> tuple[float, float, int]:
        """The units in which gradients and curvatures are whole numbers, and bits of the latter."""
        g, h, _ = of_rows
        factor, bits, numbers = self.factor, self.bits, self.numbers
        largest_g = max(float(g.max(initial=0.0)), -float(g.min(initial=0.0))) or 1.0
        largest_h, h_scale = 1.0, 1.0
        if h.size:
            low_bits = _LOW_BITS
            largest_h = min(float(h.max(initial=0.0)), loss.most_curved) or 1.0
            h_scale = _power(2.0 ** (low_bits - bits) / (largest_h * factor))
        elif factor == 1.0:
            low_bits = bits
        else:
            low_bits = 31
            h_scale = _power(2.0 ** (low_bits - bits) / factor)
        self._refuse_overflow(largest_g, largest_h)
        g_scale = _power(2.0 ** (62 - low_bits - bits) / (largest_g * factor))
        self.options[0] = low_bits
        self.options[4] = min(max(math.ceil(self.rules.min_curvature * h_scale), 1), 2**60)
        numbers[0], numbers[1] = 1.0 / g_scale, 1.0 / h_scale
        if h.size or h_scale != 1.0:
            numbers[6] = (largest_h * h_scale + 1) / self.unit
        else:
            numbers[6] = 1.0
        self.fine[0] = _power(2.0 ** (61 - bits) / (largest_g * self.heaviest))
        self.fine[1] = _power(2.0 ** (61 - bits) / (largest_h * self.heaviest))
        self.fine[3] = loss.longest_step
        return g_scale, h_scale, low_bits

    def _refuse_overflow(self, largest_g: float, largest_h: float) -> None:
        """Gains are compared by products of two sums of gradients and one of curvatures."""
        g, h = largest_g * self.total, largest_h * self.total + self.rules.penalty
        if not math.isfinite(g * g * h):
            raise InputError(
                f"Gradients of the loss reach {largest_g:.3g}, and the gains of splits overflow. "
                "Divide the targets by a larger unit."
            )

    def _take_values(
        self, rows: Codes, n_nodes: int, leaf_value: Callable[[Codes], float | None], out: Floats
    ) -> None:
        integers, floats, _ = self.nodes
        for node in np.flatnonzero(integers[:n_nodes, at.CHILD] < 0).tolist():
            value = leaf_value(rows[integers[node, at.START] : integers[node, at.STOP]])
            if value is not None:
                lower, upper = floats[node, at.LOWER], floats[node, at.UPPER]
                out[node] = self.rules.rate * min(max(value, lower), upper)


def _power(x: float) -> float:
    """The largest power of two up to `x`, of at most 2^1000."""
    return math.ldexp(1.0, min(math.frexp(min(x, 2.0**1001))[1] - 1, 1000))


def _group_masks(groups: Sequence[frozenset[int]], n_columns: int) -> Array:
    """For every column the groups it is in, as bits; columns in none are a group each."""
    if not groups:
        return np.full(n_columns, 2**64 - 1, np.uint64)
    masks = np.zeros(n_columns, np.uint64)
    for number, group in enumerate(groups):
        for column in group:
            masks[column] |= np.uint64(1 << number)
    return masks


# --- Forests --------------------------------------------------------------------------------------


def forest_of(table: BoostingTable, trees: Sequence[GrownTree]) -> Forest:
    """The forest of grown trees, whose nodes say what is to be added up."""
    sizes = np.array([len(tree.value) for tree in trees], np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    integers = np.concatenate([tree.integers for tree in trees])
    inner = integers[:, at.CHILD] >= 0
    child = integers[:, at.CHILD] + np.repeat(starts[:-1], sizes)
    question = np.where(inner, integers[:, at.QUESTION], 0)
    column, code = np.where(inner, integers[:, [at.COLUMN, at.CODE]].T, 0)
    narrow = table.coding.is_narrow
    edge = np.where(question == Question.THRESHOLD, code, 0)
    step = child << 32 | question << 30 | column << 8 | (edge if narrow else 0)
    weight = integers[:, at.AMOUNT].astype(np.float64)
    threshold, share = np.empty(0), np.empty(0)
    if not narrow:
        edges = padded_edges(table.coding)[column, edge]
        threshold = np.where(question == Question.THRESHOLD, edges, np.nan)
        share, first = np.ones(len(child)), child[inner]
        both = weight[first] + weight[first + 1]
        share[first], share[first + 1] = weight[first] / both, weight[first + 1] / both
    missing = np.where(inner, integers[:, at.MISSING], -1).astype(np.int32)
    level_start, level_branch = _level_branches(table, trees, question, column)
    return Forest(
        table.schema,
        None,
        table.coding if narrow else None,
        starts,
        np.where(inner, step, -1),
        np.concatenate([tree.value for tree in trees])[:, np.newaxis],
        weight,
        (integers[:, at.STOP] - integers[:, at.START]).astype(np.int32),
        np.zeros(len(child)),
        np.where(inner, np.concatenate([tree.gain for tree in trees]) / 2, 0.0),
        threshold,
        share,
        missing if (missing >= 0).any() else np.empty(0, np.int32),
        level_start,
        level_branch,
    )


def _level_branches(
    table: BoostingTable, trees: Sequence[GrownTree], question: Integers, column: Integers
) -> tuple[Codes, Array]:
    asked = np.flatnonzero(question == Question.SUBSET)
    start = np.full(len(question), -1, np.int32)
    if asked.size == 0:
        return np.empty(0, np.int32), np.empty(0, np.int8)
    branches = np.concatenate([tree.branches for tree in trees])
    parts, place = [], 0
    for node in asked.tolist():
        j = int(column[node])
        own = branches[node]
        n_levels = int(table.coding.n_codes[j])
        part = own[table.level_codes[j]] if j in table.level_codes else own[:n_levels]
        start[node] = place
        parts.append(part)
        place += len(part)
    return start, np.concatenate(parts).astype(np.int8)
