"""The task: what is to be predicted from what, as one frozen value that every later step takes.

Rows are named by their positions in the table. Rows without a target stay in the table and take no
part in learning; `rows` gives any of the others as what learners take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from novum.apps.job.record import OF_NUMBERS, TaskKind, TaskRecord
from novum.apps.job.table.column_cells import Cells, cells_of
from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.core.tables import MISSING, Schema
from novum.numerics import Array, Floats, Integers


@dataclass(frozen=True)
class LeftOut:
    """A column that models do not see.

    `nature` is a name of `column_natures`, or "target", "weight", "exposure", "group", "time"
    or "id".
    """

    name: str
    nature: str
    reason: str


@dataclass(frozen=True)
class SpecialColumns:
    """Features that need a step of their own before a learner, or that count in two ways.

    Attributes
    ----------
    dates, texts : tuples of str
        Columns of dates, and of free text.
    day_first : tuple of str
        Columns of dates whose text begins with the day.
    levels : tuple of str
        Nominal and ordinal columns.
    whole : tuple of (str, int)
        Numeric columns of few whole numbers, which may be names of levels, and how many they have.
    n_plain : int
        Features that are neither dates nor text.
    """

    dates: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    day_first: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    whole: tuple[tuple[str, int], ...] = ()
    n_plain: int = 1

    @property
    def are_texts_alone(self) -> bool:
        return bool(self.texts) and not self.dates and self.n_plain == 0

    @property
    def most_whole(self) -> int:
        """Most different values of a column that may be numbers or names of levels."""
        return max((count for _, count in self.whole), default=0)


PLAIN = SpecialColumns()


def class_places(labels: Any, classes: Any) -> Integers:
    """Places of labels among classes, which may be in any order.

    Examples
    --------
    >>> class_places(["high", "low"], ["low", "mid", "high"]).tolist()
    [2, 0]
    """
    known = np.asarray(classes)
    order = np.argsort(known, kind="stable")
    return np.asarray(order[np.searchsorted(known[order], np.asarray(labels))], np.int64)


@dataclass(frozen=True, eq=False)
class Rows:
    """Some labeled rows, ready for a learner.

    Attributes
    ----------
    positions : array (m,)
        In the table.
    X : pyarrow.Table of m rows
    y : array (m,)
        Labels or numbers.
    weight, groups, order : arrays (m,) or None
    """

    positions: Integers
    X: pa.Table
    y: Array
    weight: Floats | None
    groups: Integers | None
    order: Integers | None

    @property
    def n_rows(self) -> int:
        return len(self.positions)


@dataclass(frozen=True, eq=False)
class Task:
    """A table with its task.

    Attributes
    ----------
    kind : {"binary", "multiclass", "ordinal", "regression", "counts"}
    target : str
    X : pyarrow.Table of n rows
        The features, of all rows, each of its kind.
    schema : Schema
        Of the features.
    coded : array (n,)
        Codes into `classes`, `MISSING` without a target; or numbers, NaN without.
    classes : array of K labels in sorted order, of an ordinal task from low to high, or None
    positive : label or None
        Of a binary task.
    weight : array (n,) or None
    groups : int64 array (n,) or None
        Codes; equal for rows that stay together.
    order : int64 array (n,) or None
        Ranks in time, equal for equal times.
    point : WorkingPoint or None
        With its classes in the order of `classes`.
    metric : str
    greater_is_better : bool
    left_out : tuple of LeftOut
    sentences : tuple of str
        How the task was understood.
    columns : SpecialColumns
        Which features are dates or text, and which count in two ways.
    kinds : tuple of (str, str, str)
        Every column of the table with its kind and the reason.
    ids : array (n,) or None
        Identifiers of the rows, as the file writes them.
    as_text : tuple of str
        Columns of the table that were kept as text.
    """

    kind: TaskKind
    target: str
    X: pa.Table
    schema: Schema
    coded: Array
    classes: Array | None
    positive: Any
    weight: Floats | None
    groups: Integers | None
    order: Integers | None
    point: WorkingPoint | None
    metric: str
    greater_is_better: bool
    left_out: tuple[LeftOut, ...]
    sentences: tuple[str, ...]
    columns: SpecialColumns = PLAIN
    kinds: tuple[tuple[str, str, str], ...] = ()
    ids: Array | None = None
    as_text: tuple[str, ...] = ()
    labeled: Integers = field(init=False)
    unlabeled: Integers = field(init=False)

    def __post_init__(self) -> None:
        known = self.coded != MISSING if self.is_classification else ~np.isnan(self.coded)
        object.__setattr__(self, "labeled", np.flatnonzero(known).astype(np.int64))
        object.__setattr__(self, "unlabeled", np.flatnonzero(~known).astype(np.int64))

    @property
    def is_classification(self) -> bool:
        return self.kind not in OF_NUMBERS

    @property
    def levels(self) -> tuple[Any, ...]:
        """The classes of an ordinal task from low to high; empty for any other."""
        return (
            () if self.kind != "ordinal" or self.classes is None else tuple(self.classes.tolist())
        )

    @property
    def n_rows(self) -> int:
        return len(self.coded)

    @property
    def features(self) -> tuple[str, ...]:
        return self.schema.names

    @property
    def y(self) -> Array:
        """Labels or numbers of the labeled rows, in the order of the table."""
        return self._targets(self.labeled)

    def rows(self, positions: Any = None) -> Rows:
        """Labeled rows by their positions; by default all of them.

        Raises
        ------
        InputError
            Where a row has no target.
        """
        chosen = self.labeled if positions is None else np.asarray(positions, np.int64)
        return Rows(
            chosen,
            self.X.take(pa.array(chosen)),
            self._targets(chosen),
            None if self.weight is None else self.weight[chosen],
            None if self.groups is None else self.groups[chosen],
            None if self.order is None else self.order[chosen],
        )

    @property
    def plain_schema(self) -> Schema:
        """Of the features that are neither dates nor text."""
        apart = {*self.columns.dates, *self.columns.texts}
        return Schema(tuple(c for c in self.schema.columns if c.name not in apart))

    def each_feature(self) -> Iterator[Cells]:
        """The features one after the other, all rows of each."""
        for place, column in enumerate(self.schema.columns):
            yield cells_of(self.X.column(place), column)

    def cells_at(self, place: int, rows: Any) -> Cells:
        """The feature of that place, in some of the rows."""
        return cells_of(self.X.column(place).take(pa.array(rows)), self.schema.columns[place])

    def feature(self, name: str) -> Cells:
        """One feature, all rows."""
        place = self.schema.names.index(name)
        return cells_of(self.X.column(place), self.schema.columns[place])

    def class_counts(self) -> Integers:
        """Labeled rows of each class."""
        n_classes = 0 if self.classes is None else len(self.classes)
        return np.bincount(self.coded[self.labeled], minlength=n_classes).astype(np.int64)

    def record(self) -> TaskRecord:
        """What a report shows of the task."""
        point = self.point
        labels = [] if self.classes is None else self.classes.tolist()
        return TaskRecord(
            kind=self.kind,
            target=self.target,
            classes=tuple(str(label) for label in labels),
            positive=None if self.positive is None else str(self.positive),
            priors=() if point is None else tuple(point.priors.tolist()),
            cost=() if point is None else tuple(map(tuple, point.action_costs.tolist())),
            actions=() if point is None else tuple(str(name) for name in point.action_names),
            metric=self.metric,
            greater_is_better=self.greater_is_better,
            sentences=self.sentences,
        )

    def _targets(self, positions: Integers) -> Array:
        targets = self.coded[positions]
        absent = targets == MISSING if self.is_classification else np.isnan(targets)
        if absent.any():
            raise InputError(
                f"Row {int(positions[absent.argmax()])} has no target. Take labeled rows only."
            )
        return targets if self.classes is None else self.classes[targets]
