"""The best trees of one question for weights that change from round to round.

Coding the table, sorting its rows by class and laying its codes out by column is done once. Each
round then sums class weights by code, cuts every column where the gain is largest,

    gain = W I(root) - W_0 I(branch 0) - W_1 I(branch 1)     over the rows whose cell is known,

and takes the column of largest gain: what `DecisionTreeClassifier(max_depth=1)` finds with the same
weights. Gains that differ by 1e-10 of the root's impurity are ties and the first column and the
first cut win, so that the order of the rows does not matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novum.core.tables import Schema
from novum.numerics import Array, Codes, Floats, as_argument
from novum.trees.growth.coding import TableCoding, midpoints
from novum.trees.stumps.stumps import Stumps

CRITERIA = ("gini", "entropy")
_BRANCHES = np.arange(3, dtype=np.int8)[:, np.newaxis]
# Weights are scaled when the largest leaves this range, long before a sum could overflow. A weight
# that would vanish beside the largest stays at 2^-1000 of it, so that it can grow again.
_LARGEST = 2.0**400
_SMALLEST = 2.0**-1000


class StumpRules(NamedTuple):
    """How stumps are chosen.

    Attributes
    ----------
    criterion : {"gini", "entropy"}
    single : bool
        Whether a nominal column is asked for one level against the rest, not for a set of levels.
    max_bins : int or None, of `TableCoding`
    """

    criterion: str = "gini"
    single: bool = False
    max_bins: int | None = 255


class Stump(NamedTuple):
    """One stump on coded rows.

    Attributes
    ----------
    column : int, or -1 for a root that nothing divides
    place : int, of the last level of branch 0 among the column's levels; -1 if nominal
    branch : int8 array (n_codes + 1,), branch by code; 2 for codes that do not answer
    value : float64 array (3, K), class weights of the root, branch 0 and branch 1
    share : float64 array (2,)
    answer : int32 array (3,), class of branch 0, branch 1 and of a cell that does not answer
    gain : float
    error : float
        Share of the weight whose class is not answered; exactly 0 where no row is missed.
    """

    column: int
    place: int
    branch: NDArray[np.int8]
    value: Floats
    share: Floats
    answer: Codes
    gain: float
    error: float


class StumpGrower:
    """Grows stumps on one table.

    Parameters
    ----------
    schema : Schema
    cells : float64 array (n, n_columns), of `cells_of`
    target : integer array (n,), codes of classes
    n_classes : int
    weight : float64 array (n,)
        Weights that count in the quantiles of the coding, and the first weights of the rows.
    rules : StumpRules

    Attributes
    ----------
    weight : float64 array (n,)
        Present weights of the rows, sorted by class; `reweigh` changes them in place.

    Examples
    --------
    >>> cells = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> grower = StumpGrower(Schema.of_array(1), cells, np.array([0, 0, 1, 0]), 2, np.ones(4))
    >>> stump = grower.grow()
    >>> stump.answer.tolist(), stump.error
    ([0, 0, 0], 0.25)
    >>> grower.packed([stump], [1.0]).threshold.tolist()
    [2.5]
    """

    def __init__(
        self,
        schema: Schema,
        cells: Floats,
        target: Array,
        n_classes: int,
        weight: Floats,
        rules: StumpRules = StumpRules(),  # noqa: B008
    ) -> None:
        alike = bool((weight == weight[0]).all())
        self.coding = TableCoding.of(schema, cells, None if alike else weight, rules.max_bins)
        self.rules = rules
        self.n_classes = n_classes
        order = np.argsort(target, kind="stable")
        codes = self.coding.codes(cells)
        self._low, self._high = self.coding.ranges(codes, cells)
        # Kernels take four columns at a time; those that fill up have one code throughout.
        n_columns = schema.n_columns
        self._codes = np.zeros((-(-n_columns // 4) * 4, len(cells)), codes.dtype)
        self._codes[:n_columns] = codes[order].T
        self._starts = np.searchsorted(target[order], np.arange(n_classes + 1))
        self.weight = _scaled(as_argument(weight)[order])
        self._first_weight = self.weight.copy()
        self._occupied()
        self._make_room()

    def _occupied(self) -> None:
        """Finds the codes that rows have; no round changes them."""
        n_columns, width = self.coding.schema.n_columns, self.coding.missing + 1
        self._counts = np.zeros((n_columns, width), np.int64)
        self._levels = np.zeros((n_columns, width), np.int64)
        self._n_levels = np.zeros(n_columns, np.int64)
        for j in range(n_columns):
            self._counts[j] = np.bincount(self._codes[j], minlength=width)
            present = np.flatnonzero(self._counts[j, :-1])
            self._levels[j, : present.size] = present
            self._n_levels[j] = present.size

    def _make_room(self) -> None:
        """Arguments of the kernels that are the same in every round."""
        width, n_classes = self.coding.missing + 1, self.n_classes
        self._criterion = CRITERIA.index(self.rules.criterion)
        self._ordered = np.flatnonzero(~self.coding.nominal)
        self._nominal = np.flatnonzero(self.coding.nominal)
        self._labels = np.arange(n_classes)[:, np.newaxis]
        self._target_start = np.array([0, n_classes])
        self._sums = np.empty((len(self._codes), width * n_classes))
        self._scratch, self._nothing = np.empty((3, n_classes)), np.zeros(n_classes)
        self._branch = np.empty(width, np.int8)
        closed, order = np.zeros(width + 1, bool), np.empty(width, np.int64)
        self._search = (order, closed, np.empty(width), self._branch, self._scratch)

    # One round

    def grow(self) -> Stump:
        """The best stump for the present weights."""
        from novum.trees.stumps.stump_growing_kernels import class_sums, root_sums

        class_sums(self._codes, self._starts, self.weight, self._sums)
        root = np.empty(self.n_classes)
        tie = root_sums(self._sums[0], self._criterion, root)
        # There is nothing to divide where all rows are of one class.
        divided = np.count_nonzero(root) > 1
        gain, column, place = self._best_cut(root, tie) if divided else (0.0, -1, -1)
        branch = self._cut_branch(column, place)
        for j in self._nominal if divided else ():
            stump = self._best_division(int(j), root, tie)
            # A gain of zero may come out a little below it; -1 is none.
            first = stump >= gain - tie and j < column
            if stump > -0.5 and (stump > gain + tie or first):
                gain, column, place, branch = stump, int(j), -1, self._division_branch()
        return self._stump(column, place, branch, gain, root)

    def reweigh(self, stump: Stump, factor: float) -> None:
        """Multiplies the weights of the rows that the stump misses by `factor`."""
        from novum.trees.stumps.stump_growing_kernels import reweigh

        answered = stump.answer[stump.branch]
        factors = np.where(answered != self._labels, factor, 1.0)
        largest = reweigh(self._codes[max(stump.column, 0)], self._starts, factors, self.weight)
        if not 1 / _LARGEST < largest < _LARGEST:
            self.weight = _scaled(self.weight)

    def _best_cut(self, root: Floats, tie: float) -> tuple[float, int, int]:
        from novum.trees.stumps.stump_growing_kernels import best_cut

        gain, column, place = best_cut(
            self._sums,
            root,
            self._ordered,
            self._levels,
            self._n_levels,
            self.coding.missing,
            self._criterion,
            tie,
            self._scratch,
        )
        return gain, int(column), int(place)

    def _best_division(self, column: int, root: Floats, tie: float) -> float:
        """Gain of the best division of a nominal column's levels, which goes into `_branch`."""
        from novum.trees.growth.search_kernels import divide

        if self._n_levels[column] < 2:
            return -1.0
        sums, start = self._sums[column], self.coding.missing * self.n_classes
        known = root - sums[start : start + self.n_classes]
        how = (self._target_start, self._criterion, self._nothing, known, 0.0, tie, -1.0)
        search = (self._levels[column], *self._search)
        n_levels = int(self._n_levels[column])
        gain, head = divide(sums, n_levels, self.rules.single, False, *how, search)
        return float(gain) if head >= 0.0 else -1.0

    def _cut_branch(self, column: int, place: int) -> NDArray[np.int8]:
        branch = np.full(self.coding.missing + 1, 2, np.int8)
        if column >= 0:
            code = self._levels[column, place]
            branch[: code + 1] = 0
            branch[code + 1 : self.coding.n_codes[column]] = 1
        return branch

    def _division_branch(self) -> NDArray[np.int8]:
        return np.where(self._branch < 0, np.int8(2), self._branch)

    def _stump(
        self, column: int, place: int, branch: NDArray[np.int8], gain: float, root: Floats
    ) -> Stump:
        """Weights and answers of the branches of a question."""
        from novum.trees.stumps.stump_growing_kernels import answer

        value, share = np.empty((3, self.n_classes)), np.empty(2)
        classes = np.empty(3, np.int32)
        sums = self._sums[max(column, 0)]
        error = answer(sums, branch, root, column >= 0, self._scratch, value, share, classes)
        return Stump(column, place, branch, value, share, classes, max(gain, 0.0), error)

    # The model

    def training_error(self, stumps: list[Stump], weight: list[float]) -> float:
        """Share of the first weights of the rows that the votes of these stumps misclassify."""
        n_classes = self.n_classes
        tables: dict[int, Floats] = {}
        for stump, vote in zip(stumps, weight, strict=True):
            j = max(stump.column, 0)
            table = tables.setdefault(j, np.zeros((stump.branch.size, n_classes)))
            table[np.arange(stump.branch.size), stump.answer[stump.branch]] += vote
        votes = np.zeros((self.weight.size, n_classes))
        for j, table in tables.items():
            votes += table[self._codes[j]]
        target = np.repeat(np.arange(n_classes), np.diff(self._starts))
        return float(np.average(votes.argmax(axis=1) != target, weights=self._first_weight))

    def packed(self, stumps: list[Stump], weight: list[float]) -> Stumps:
        """Stumps and the weights of their votes as one value."""
        schema = self.coding.schema
        count = len(stumps)
        column = np.array([stump.column for stump in stumps], np.int32)
        threshold = np.full(count, np.nan)
        start, branches, filled = np.full(count, -1, np.int32), [], 0
        rows = np.zeros((count, 3), np.int64)
        for t, stump in enumerate(stumps):
            j, rows[t, 0] = stump.column, self.weight.size
            if j < 0:
                continue
            reached = (stump.branch == _BRANCHES) @ self._counts[j]
            rows[t, 1:] = reached[:2] + reached[2]
            if stump.place >= 0:
                below, above = self._levels[j, stump.place : stump.place + 2]
                threshold[t] = midpoints(self._high[j, below], self._low[j, above])
            else:
                branch = stump.branch[: schema.columns[j].n_levels].astype(np.int32)
                start[t] = filled
                filled += branch.size
                branches.append(np.where(branch == 2, -1, branch))
        return Stumps(
            schema,
            self.rules.criterion,
            weight=np.array(weight, float),
            column=column,
            threshold=threshold,
            level_start=start,
            level_branch=np.concatenate([np.empty(0, np.int32), *branches]).astype(np.int32),
            answer=np.array([s.answer for s in stumps], np.int32).reshape(count, 3),
            value=np.array([s.value for s in stumps]).reshape(count, 3, self.n_classes),
            share=np.array([s.share for s in stumps]).reshape(count, 2),
            rows=rows,
            gain=np.array([s.gain for s in stumps]),
        )


def _scaled(weight: Floats) -> Floats:
    """The weights times a power of two, the largest near 1; none becomes zero."""
    exponent = int(np.frexp(weight.max())[1])
    return np.maximum(np.ldexp(weight, -exponent), _SMALLEST)
