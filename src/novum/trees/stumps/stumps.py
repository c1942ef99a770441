"""Many trees of one question as one value: what they ask, what they answer, how much they count.

Stump t asks one column of a row x and answers with a class h_t(x): that of the branch the cell goes
down, or, where the cell does not answer, the class of largest probability when the branches are
mixed by their shares. The votes for class k are

    V_k(x) = sum_t weight_t [h_t(x) = k].

All stumps on one column together are one function of that column's cell: a step function of a
number, a table of a level. So a thousand stumps on 20 columns are 20 look-ups, and the sums in the
tables are taken once, in the order of the stumps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from novum.core.errors import ModelFileError
from novum.core.tables import Kind, Schema
from novum.numerics import Array, Codes, Floats, Integers, cached_property
from novum.trees.tree import Question, Tree, single_leaf


@dataclass(frozen=True, eq=False)
class Stumps:
    """Stumps in the order they were grown.

    Attributes
    ----------
    schema : Schema
    criterion : {"gini", "entropy"}
    weight : float64 array (T,)
        What the vote of each counts; below 0 it is against the answered class.
    column : int32 array (T,), position in the schema; -1 for a stump that asks nothing
    threshold : float64 array (T,); NaN at nominal columns
    level_start : int32 array (T,), place of the stump's branches in `level_branch`; -1 if none
    level_branch : int32 array, branches by level of all nominal stumps one after the other
    answer : int32 array (T, 3)
        Class of branch 0, of branch 1 and of a cell that does not answer.
    value : float64 array (T, 3, K), class weights of the root, branch 0 and branch 1
    share : float64 array (T, 2), of the branches in the known weight of the root
    rows : int64 array (T, 3), training rows that reach the root, branch 0 and branch 1
    gain : float64 array (T,), impurity times weight that the question removes
    """

    schema: Schema
    criterion: str
    weight: Floats
    column: Codes
    threshold: Floats
    level_start: Codes
    level_branch: Codes
    answer: Codes
    value: Floats
    share: Floats
    rows: Integers
    gain: Floats

    def __len__(self) -> int:
        return int(self.column.size)

    @property
    def n_classes(self) -> int:
        return int(self.value.shape[2])

    def first(self, count: int) -> Stumps:
        """The first stumps alone."""
        changed = {
            field.name: getattr(self, field.name)[:count]
            for field in fields(self)
            if field.name not in ("schema", "criterion", "level_branch")
        }
        return replace(self, **changed)

    # Votes

    def votes(self, cells: Floats) -> Floats:
        """Votes of all stumps for the classes, (n, K); `cells` are those of `cells_of`."""
        votes = np.zeros((len(cells), self.n_classes))
        for table in self._tables:
            votes += table.votes(cells)
        return votes

    def answers(self, cells: Floats) -> Iterator[Integers]:
        """The classes that each stump answers, stump after stump, as codes (n,)."""
        for stump in range(len(self)):
            yield self._answers(stump, cells)

    @cached_property
    def _tables(self) -> tuple[ColumnVotes, ...]:
        used = [int(j) for j in np.unique(self.column)]
        return tuple(ColumnVotes.of(self, j) for j in used)

    def _answers(self, stump: int, cells: Floats) -> Integers:
        j = int(self.column[stump])
        if j < 0:
            return np.full(len(cells), self.answer[stump, 2], np.int64)
        x = cells[:, j]
        if self.level_start[stump] < 0:
            branch = np.where(np.isnan(x), 2, (x > self.threshold[stump]).astype(np.int64))
        else:
            table = np.append(self.branches(stump), -1)
            known = (x >= 0) & (x < table.size - 1)
            branch = table[np.where(known, x, table.size - 1).astype(np.int64)] % 3
        return self.answer[stump].astype(np.int64)[branch]

    def branches(self, stump: int) -> Codes:
        """The branch of every level of the stump's nominal column; -1 for levels without one."""
        start = int(self.level_start[stump])
        n_levels = self.schema.columns[int(self.column[stump])].n_levels
        return self.level_branch[start : start + n_levels]

    # As trees

    def tree(self, stump: int, labels: Array) -> Tree:
        """One stump as a `Tree` of the classes with these labels."""
        value = self.value[stump]
        weight = value.sum(axis=1)
        impurities = np.array([impurity(v, self.criterion) for v in value])
        if self.column[stump] < 0:
            return single_leaf(
                self.schema,
                (labels,),
                value[0],
                float(weight[0]),
                rows=int(self.rows[stump, 0]),
                impurity=float(impurities[0]),
            )
        nominal = self.level_start[stump] >= 0
        ask = np.int32(Question.SUBSET if nominal else Question.THRESHOLD)
        return Tree(
            self.schema,
            (labels,),
            question=np.array([ask, Question.LEAF, Question.LEAF], np.int32),
            column=np.array([self.column[stump], -1, -1], np.int32),
            threshold=np.array([self.threshold[stump], np.nan, np.nan]),
            first_child=np.array([1, -1, -1], np.int32),
            n_children=np.array([2, 0, 0], np.int32),
            parent=np.array([-1, 0, 0], np.int32),
            share=np.array([1.0, *self.share[stump]]),
            missing_branch=np.full(3, -1, np.int32),
            level_start=np.array([0 if nominal else -1, -1, -1], np.int32),
            level_branch=self.branches(stump).copy() if nominal else np.empty(0, np.int32),
            value=value.copy(),
            weight=weight,
            rows=self.rows[stump].copy(),
            impurity=impurities,
            gain=np.array([self.gain[stump], 0.0, 0.0]),
        )

    # Loaded models

    def check(self, schema: Schema, n_classes: int) -> None:
        """Refuses stumps of a file that do not fit together."""
        count = len(self)
        shapes = {
            "weight": (count,),
            "threshold": (count,),
            "level_start": (count,),
            "answer": (count, 3),
            "value": (count, 3, n_classes),
            "share": (count, 2),
            "rows": (count, 3),
            "gain": (count,),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ModelFileError(f"The stumps' {name} has not the shape {shape}.")
        if self.schema != schema or not np.isfinite(self.weight).all():
            raise ModelFileError("The stumps do not fit the model's columns and weights.")
        if not _within(self.column, -1, schema.n_columns):
            raise ModelFileError("A stump asks for a column that the model does not have.")
        if not (_within(self.answer, 0, n_classes) and _within(self.level_branch, -1, 2)):
            raise ModelFileError("A stump answers with a class or a branch that does not exist.")
        for stump in np.flatnonzero(self.column >= 0):
            column = schema.columns[int(self.column[stump])]
            start, nominal = int(self.level_start[stump]), column.kind is Kind.NOMINAL
            inside = 0 <= start <= self.level_branch.size - column.n_levels
            if (nominal and not inside) or (not nominal and start != -1):
                raise ModelFileError(f"Stump {stump} has no branches for column {column.name!r}.")


@dataclass(frozen=True, eq=False)
class ColumnVotes:
    """The votes of all stumps on one column, as a function of its cell.

    Attributes
    ----------
    column : int, or -1 for stumps that ask nothing
    edges : float64 array, ascending thresholds; empty for nominal columns
    nominal : bool
    table : float64 array (n_entries + 1, K)
        Votes by the number of edges below the cell, or by level; last those of a cell that does
        not answer.
    """

    column: int
    edges: Floats
    nominal: bool
    table: Floats

    @classmethod
    def of(cls, stumps: Stumps, column: int) -> ColumnVotes:
        chosen = np.flatnonzero(stumps.column == column)
        nominal = column >= 0 and stumps.schema.columns[column].kind is Kind.NOMINAL
        if column < 0:
            edges, n_entries = np.empty(0), 0
        elif nominal:
            edges, n_entries = np.empty(0), stumps.schema.columns[column].n_levels
        else:
            edges = np.unique(stumps.threshold[chosen])
            n_entries = edges.size + 1
        table = np.zeros((n_entries + 1, stumps.n_classes))
        entries = np.arange(n_entries)
        for stump in chosen.tolist():
            branch = np.full(n_entries + 1, 2)
            if nominal:
                branch[:-1] = stumps.branches(stump) % 3
            elif column >= 0:
                branch[:-1] = entries > np.searchsorted(edges, stumps.threshold[stump])
            table[np.arange(n_entries + 1), stumps.answer[stump][branch]] += stumps.weight[stump]
        return cls(column, edges, nominal, table)

    def votes(self, cells: Floats) -> Floats:
        """Votes for the classes, (n, K), or (1, K) where no cell is asked."""
        if self.column < 0:
            return self.table
        x = cells[:, self.column]
        last = len(self.table) - 1
        if self.nominal:
            known = (x >= 0) & (x < last)
            return self.table[np.where(known, x, last).astype(np.intp)]
        # NaN sorts behind all edges, which is the entry before that of missing cells.
        place = np.searchsorted(self.edges, x)
        place += np.isnan(x)
        return self.table[place]


def impurity(value: Floats, criterion: str) -> float:
    """Gini index, or entropy in bits, of classes with these weights; 0 for no weight."""
    total = value.sum()
    if total <= 0:
        return 0.0
    p = value[value > 0] / total
    return float(1 - p @ p) if criterion == "gini" else float(-(p @ np.log2(p)))


def _within(values: Array, low: int, high: int) -> bool:
    return bool(((values >= low) & (values < high)).all())
