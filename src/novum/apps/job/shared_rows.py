"""Rows that several targets share: set aside once, and divided into the same folds for all.

Rows are drawn within strata that all targets make together: the classes of each, fifths of the
values of a number, and the cells where a target is missing; strata of few rows are joined. A target
then has the rows of each part where it is known, so that a row whose one target is missing is used
for the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from novum.apps.job.record import PlanRecord
from novum.apps.job.request import Request
from novum.apps.job.table.partition import Parts, set_aside
from novum.apps.job.table.reading import LoadedTable
from novum.apps.job.table.task import Task
from novum.apps.job.trials import LearningRows, outer_splits
from novum.core.learners import AbsentClassWarning
from novum.core.sums import Fold
from novum.core.tables import MISSING
from novum.evaluation import Splits
from novum.numerics import Integers

_FIFTHS = 5


@dataclass(frozen=True, eq=False)
class SharedRows:
    """The table of several targets with its parts.

    Attributes
    ----------
    loaded : LoadedTable
    parts : Parts
        Of the rows that have some target.
    splits : Splits
        Of `parts.train`, by places there.
    """

    loaded: LoadedTable
    parts: Parts
    splits: Splits

    @classmethod
    def of(
        cls, loaded: LoadedTable, tasks: Sequence[Task], request: Request, plan: PlanRecord
    ) -> SharedRows:
        """Draws the rows to set aside and the folds of the others."""
        joint = joint_task(tasks, plan.folds)
        own = replace(request, test=None, holdout=0.0) if request.test is not None else request
        parts = set_aside(joint, own)
        rows = LearningRows.of(joint, joint.rows(parts.train))
        with warnings.catch_warnings():
            # A stratum may lack in some fold; classes that do are spoken of by the run of theirs.
            warnings.simplefilter("ignore", AbsentClassWarning)
            return cls(loaded, parts, outer_splits(plan, rows))

    def table_of(self, target: str) -> LoadedTable:
        """The table with this one of its targets."""
        if target == self.loaded.target:
            return self.loaded
        return replace(self.loaded, target=target, task=None, costs=None)

    def parts_of(self, task: Task, request: Request) -> Parts:
        """The parts as one target has them."""
        if request.test is not None:
            return set_aside(task, request, self.table_of(task.target))
        known = np.zeros(task.n_rows, bool)
        known[task.labeled] = True
        train, holdout = (part[known[part]] for part in (self.parts.train, self.parts.holdout))
        way = self.parts.way.replace("class", "stratum of all targets")
        return Parts(train, holdout, task.unlabeled, None, way)

    def splits_of(self, rows: LearningRows) -> Splits:
        """The folds of some rows of one target."""
        n_all = int(max(self.parts.train.max(), rows.positions.max())) + 1
        places = np.full(n_all, -1, np.int64)
        places[rows.positions] = np.arange(len(rows.positions))

        def own(at: Integers) -> Integers:
            positions = places[self.parts.train[at]]
            return np.sort(positions[positions >= 0])

        folds = (
            Fold(None if fold.train is None else own(fold.train), own(fold.test))
            for fold in self.splits.parts
        )
        return replace(self.splits, parts=tuple(folds), n_rows=len(rows.positions))


def joint_task(tasks: Sequence[Task], least: int) -> Task:
    """A task whose classes are strata of all targets, each of `least` rows or more."""
    known = np.zeros(tasks[0].n_rows, bool)
    for task in tasks:
        known[task.labeled] = True
    strata = np.zeros(int(known.sum()), np.int64)
    # The targets of the rarest classes first, so that those are spread most evenly.
    for task in sorted(tasks, key=_rarest):
        strata = _finer(strata, _own_strata(task)[known], max(least, 2))
    coded = np.full(len(known), MISSING, np.int64)
    coded[known] = np.unique(strata, return_inverse=True)[1]
    n_strata = int(coded.max()) + 1
    if n_strata > 1:
        first = replace(tasks[0], point=None, positive=None)
        return replace(first, kind="multiclass", coded=coded, classes=np.arange(n_strata))
    numbers = np.where(known, 0.0, np.nan)
    return replace(tasks[0], kind="regression", coded=numbers, classes=None, point=None)


def _rarest(task: Task) -> int:
    return int(task.class_counts().min()) if task.is_classification else task.n_rows


def _own_strata(task: Task) -> Integers:
    """Classes, or fifths of the values; one more stratum for rows without this target."""
    if task.is_classification:
        return np.asarray(task.coded, np.int64)
    codes = np.full(task.n_rows, MISSING, np.int64)
    ranks = np.empty(len(task.labeled), np.int64)
    values = task.coded[task.labeled]
    ranks[np.argsort(values, kind="stable")] = np.arange(len(ranks))
    codes[task.labeled] = ranks * _FIFTHS // max(len(ranks), 1)
    return codes


def _finer(strata: Integers, own: Integers, least: int) -> Integers:
    """Strata divided by another target; parts of fewer than `least` rows are joined."""
    finer = np.zeros_like(strata)
    number = 0
    for stratum in np.unique(strata):
        inside = np.flatnonzero(strata == stratum)
        values, codes, counts = np.unique(own[inside], return_inverse=True, return_counts=True)
        large = np.flatnonzero(counts >= least)
        rest = np.flatnonzero(counts < least)
        names = np.zeros(len(values), np.int64)
        names[large] = np.arange(len(large))
        # Small ones together are a stratum of their own, or join the largest one.
        is_enough = int(counts[rest].sum()) >= least
        names[rest] = len(large) if is_enough or not len(large) else names[counts.argmax()]
        finer[inside] = number + names[codes]
        number += len(large) + 1
    return finer
