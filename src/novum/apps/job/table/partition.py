"""The hold-out: rows set aside before anything is learned, to judge the chosen model once.

| request | rows set aside |
|---|---|
| `--test FILE` | the rows of the file, read by the schema of the table |
| `--time COL` | the latest; rows of equal time stay on one side |
| `--group COL` | whole groups, drawn so that shares of classes stay near those of all rows |
| both | whole groups, those that end last |
| otherwise | drawn within each class, or within tenths of the range of a number |

The draw depends on `request.seed` and the table alone. A class of one row stays with the rows that
are learned from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from novum.apps.job.record import DataRecord
from novum.apps.job.request import Request
from novum.apps.job.table.formalizing import formalize_like
from novum.apps.job.table.reading import LoadedTable, read_like
from novum.apps.job.table.task import Rows, Task
from novum.core.errors import InputError
from novum.core.runtime import stream
from novum.core.text import printable
from novum.numerics import Integers, Mask

# Strata of a number, and groups up to which each is weighed on its own.
_TENTHS = 10
_WEIGHED_GROUPS = 10_000


@dataclass(frozen=True, eq=False)
class Parts:
    """Which rows are learned from, which are judged on, and which have no target.

    Attributes
    ----------
    train : array of positions in the table
        In the order of time where the task has one, else of the table.
    holdout : array of positions in the table
        Empty where a file takes its place, or nothing is set aside.
    unlabeled : array of positions in the table
    test : Task or None
        The file to judge on.
    way : str
        How the rows were set aside, in words.
    """

    train: Integers
    holdout: Integers
    unlabeled: Integers
    test: Task | None
    way: str

    def training(self, task: Task) -> Rows:
        """The rows to learn from."""
        return task.rows(self.train)

    def judging(self, task: Task) -> Rows | None:
        """The rows to judge on: of the test file if there is one, else the hold-out, else None."""
        if self.test is not None:
            return self.test.rows()
        return task.rows(self.holdout) if self.holdout.size else None

    @property
    def n_holdout(self) -> int:
        return len(self.holdout) if self.test is None else len(self.test.labeled)


def set_aside(task: Task, request: Request, loaded: LoadedTable | None = None) -> Parts:
    """Sets the hold-out aside.

    Parameters
    ----------
    task : Task
    request : Request
        Of which `holdout`, `test`, `time`, `group`, `weight` and `seed` matter.
    loaded : LoadedTable, optional
        The table itself; needed to read a test file alike.

    Examples
    --------
    >>> from novum.apps.job.table.formalizing import formalize
    >>> from novum.apps.job.table.reading import read
    >>> request = Request("iris", holdout=0.2)
    >>> parts = set_aside(formalize(read(request), request), request)
    >>> len(parts.train), len(parts.holdout)
    (120, 30)
    """
    if request.test is not None:
        return _test_file(task, request, loaded)
    if request.holdout == 0:
        return Parts(_ordered(task, task.labeled), _none(), task.unlabeled, None, "none set aside")
    wanted = round(request.holdout * len(task.labeled))
    if wanted < 1 or len(task.labeled) - wanted < 2:
        raise InputError(
            f"A share of {request.holdout:g} of {len(task.labeled):,} rows with a target leaves "
            "too few rows on one side. Change --holdout, use --holdout 0, or add rows."
        )
    chosen, way = _draw(task)(task, wanted, request.seed)
    held = np.zeros(task.n_rows, bool)
    held[chosen] = True
    train = task.labeled[~held[task.labeled]]
    _check_classes(task, train, len(chosen))
    holdout = task.labeled[held[task.labeled]]
    return Parts(_ordered(task, train), _ordered(task, holdout), task.unlabeled, None, way)


def data_record(loaded: LoadedTable, task: Task, parts: Parts) -> DataRecord:
    """Where the rows come from and where they went."""
    return DataRecord(
        name=loaded.name,
        sha256=loaded.sha256,
        n_rows=loaded.n_rows,
        n_columns=loaded.n_columns,
        n_train=len(parts.train),
        n_holdout=parts.n_holdout,
        n_without_target=len(parts.unlabeled),
        features=task.features,
        left_out=tuple((column.name, column.reason) for column in task.left_out),
        holdout_way=parts.way,
        kinds=task.kinds,
    )


# --- A file ---------------------------------------------------------------------------------------


def _test_file(task: Task, request: Request, loaded: LoadedTable | None) -> Parts:
    if loaded is None or request.test is None:
        raise InputError("A test file is read by the schema of the table. Pass `loaded` too.")
    more = [name for name in (request.weight, request.exposure, request.id) if name is not None]
    loaded_test = read_like(request.test, loaded, (*task.features, task.target, *more), request)
    if loaded_test.sha256 == loaded.sha256:
        raise InputError(
            f"{printable(loaded_test.name)} is the table itself, byte for byte: judged on it, "
            "every model looks too good. Give other rows with --test, or use --holdout."
        )
    test = formalize_like(loaded_test, task, request)
    skipped = f", {len(test.unlabeled):,} more without a target" if len(test.unlabeled) else ""
    way = f"the file {printable(loaded_test.name)}: {len(test.labeled):,} rows{skipped}"
    return Parts(_ordered(task, task.labeled), _none(), task.unlabeled, test, way)


# --- Draws ----------------------------------------------------------------------------------------

Draw = Callable[[Task, int, int], tuple[Integers, str]]


def _draw(task: Task) -> Draw:
    if task.order is not None:
        return _latest if task.groups is None else _latest_groups
    return _stratified if task.groups is None else _whole_groups


def _stratified(task: Task, wanted: int, seed: int) -> tuple[Integers, str]:
    strata = _strata(task)
    counts = np.bincount(strata)
    rng = stream(seed, "holdout")
    shuffled = rng.permutation(len(strata))
    by_stratum = shuffled[np.argsort(strata[shuffled], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    takes = apportion(counts, wanted)
    chosen = np.concatenate(
        [by_stratum[start : start + take] for start, take in zip(starts, takes, strict=True)]
    )
    how = "class" if task.is_classification else "tenth of the target's values"
    return task.labeled[chosen], f"{len(chosen):,} rows, drawn at random within each {how}"


def apportion(counts: Integers, wanted: int) -> Integers:
    """How many of each stratum to take, so that shares are kept and the sum is as wanted.

    Whole parts first, then one more where the remainder is largest; a stratum never gives its last
    row, and where that leaves too few the sum is smaller.

    Examples
    --------
    >>> apportion(np.array([50, 30, 1]), 16).tolist()
    [10, 6, 0]
    """
    exact = counts * (wanted / counts.sum())
    most = np.maximum(counts - 1, 0)
    takes = np.minimum(np.floor(exact).astype(np.int64), most)
    by_remainder = np.argsort(-(exact - takes), kind="stable")
    while takes.sum() < min(wanted, most.sum()):
        for j in by_remainder:
            if takes.sum() == wanted:
                break
            takes[j] += takes[j] < most[j]
    return takes


def _strata(task: Task) -> Integers:
    """The stratum of each labeled row."""
    values = task.coded[task.labeled]
    if task.is_classification:
        return np.asarray(values, np.int64)
    n_strata = max(1, min(_TENTHS, len(values) // 5))
    ranks = np.empty(len(values), np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks * n_strata // len(values)


def _latest(task: Task, wanted: int, _seed: int) -> tuple[Integers, str]:
    assert task.order is not None
    times = task.order[task.labeled]
    return task.labeled[_ends(times, wanted)], "the latest rows; equal times stay together"


def _latest_groups(task: Task, wanted: int, _seed: int) -> tuple[Integers, str]:
    assert task.order is not None
    assert task.groups is not None
    groups, times = task.groups[task.labeled], task.order[task.labeled]
    last = np.full(int(groups.max()) + 1, -1, np.int64)
    np.maximum.at(last, groups, times)
    # One rank for each group, so that groups that end together are still cut apart.
    ranks = np.empty(len(last), np.int64)
    ranks[np.argsort(last, kind="stable")] = np.arange(len(last))
    return task.labeled[_ends(ranks[groups], wanted)], "the whole groups that end last"


def _ends(ranks: Integers, wanted: int) -> Mask:
    """Rows above the cut between two ranks that leaves the number of rows nearest to `wanted`."""
    values, counts = np.unique(ranks, return_counts=True)
    if len(values) < 2:
        raise InputError(
            "All rows with a target have the same time (or are one group), so no latest part can "
            "be set aside. Leave out --time or --group, or use --holdout 0."
        )
    above = counts[::-1].cumsum()[::-1][1:]
    cut = int(np.abs(above - wanted).argmin())
    return np.asarray(ranks > values[cut])


def _whole_groups(task: Task, wanted: int, seed: int) -> tuple[Integers, str]:
    assert task.groups is not None
    groups = np.unique(task.groups[task.labeled], return_inverse=True)[1]
    n_groups = int(groups.max()) + 1
    if n_groups < 2:
        raise InputError(
            "All rows with a target are of one group, so none can be set aside. Leave out --group, "
            "or use --holdout 0."
        )
    shuffled = stream(seed, "holdout").permutation(n_groups)
    strata = _strata(task)
    counts = np.zeros((n_groups, int(strata.max()) + 1), np.int64)
    np.add.at(counts, (groups, strata), 1)
    pick = _weighed if n_groups <= _WEIGHED_GROUPS else _first_groups
    chosen = pick(counts, shuffled, wanted)
    way = f"{np.count_nonzero(chosen):,} of {n_groups:,} groups, drawn at random as wholes"
    return task.labeled[chosen[groups]], way


def _weighed(counts: Integers, shuffled: Integers, wanted: int) -> Mask:
    """Groups taken, large ones first, where they bring the counts of strata nearer to the goal."""
    goal = counts.sum(axis=0) * (wanted / counts.sum())
    sizes = counts.sum(axis=1)
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    chosen = np.zeros(len(counts), bool)
    held = np.zeros(counts.shape[1])
    for group in order:
        more = held + counts[group]
        if np.square(more - goal).sum() < np.square(held - goal).sum():
            chosen[group], held = True, more
    if not chosen.any():
        chosen[order[-1]] = True
    if chosen.all():
        chosen[order[-1]] = False
    return chosen


def _first_groups(counts: Integers, shuffled: Integers, wanted: int) -> Mask:
    """The first of many groups in random order, whose shares are right by the law of numbers."""
    sizes = counts.sum(axis=1)[shuffled]
    stop = int(np.clip(np.searchsorted(sizes.cumsum(), wanted), 1, len(sizes) - 1))
    chosen = np.zeros(len(counts), bool)
    chosen[shuffled[:stop]] = True
    return chosen


# --- Parts of the above ---------------------------------------------------------------------------


def _ordered(task: Task, positions: Integers) -> Integers:
    """Positions in the order of time, where there is one."""
    if task.order is None:
        return positions
    return positions[np.argsort(task.order[positions], kind="stable")]


def _none() -> Integers:
    return np.empty(0, np.int64)


def _check_classes(task: Task, train: Integers, n_holdout: int) -> None:
    """The rows to learn from still hold two classes."""
    if n_holdout == 0:
        raise InputError(
            "No row can be set aside, because every class has one row only. Use --holdout 0, or "
            "add rows."
        )
    if task.classes is None:
        return
    met = np.unique(task.coded[train])
    if len(met) < 2:
        only = "no row" if not len(met) else f"class {task.classes[met[0]]!s} only"
        raise InputError(
            f"With these rows set aside, {only} is left to learn from. Change --holdout, or leave "
            "out --time or --group."
        )
