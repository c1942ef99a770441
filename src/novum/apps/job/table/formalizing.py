"""From a table to a task: what is predicted, from which columns, at which working point.

1. The target: classes or numbers, by the rule of `task_kinds` unless `--task` says otherwise.
2. Columns about rows: weight, group, time.
3. Features: all other columns whose nature (`column_natures`) lets a model learn from them.
4. The goal: positive class, working point, measure.

Nothing is changed: rows without a target are kept aside and counted, columns that models do not see
are listed with the reason.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.apps.job.request import Request
from novum.apps.job.table.column_cells import Cells, cells_of
from novum.apps.job.table.column_natures import nature_of
from novum.apps.job.table.goal import read_goal
from novum.apps.job.table.reading import LoadedTable
from novum.apps.job.table.row_roles import read_groups, read_order, read_weights
from novum.apps.job.table.target_column import Target, read_target
from novum.apps.job.table.task import LeftOut, Task
from novum.core.errors import InputError
from novum.core.schema import MISSING, Column, Schema
from novum.core.sources.report import counted
from novum.core.text import label_text, listed, printable

_ROLES = {
    "target": "the target",
    "weight": "the weights of the rows",
    "group": "the groups of the rows",
    "time": "the order of the rows in time",
}


def formalize(loaded: LoadedTable, request: Request) -> Task:
    """The task of a table.

    Parameters
    ----------
    loaded : LoadedTable
    request : Request

    Raises
    ------
    InputError
        Where there is nothing to learn: no target, one class only, far too many classes, no
        features; or where weights, groups, times, costs or the measure do not fit.

    Examples
    --------
    >>> from novum.apps.job.table.reading import read
    >>> task = formalize(read(Request("iris")), Request("iris"))
    >>> task.kind, task.classes.tolist(), task.metric
    ('multiclass', ['setosa', 'versicolor', 'virginica'], 'accuracy')
    """
    target = read_target(_cells(loaded, loaded.target), loaded, request.task)
    weight = None if request.weight is None else read_weights(_cells(loaded, request.weight))
    groups = None if request.group is None else read_groups(_cells(loaded, request.group))
    order = None if request.time is None else read_order(_cells(loaded, request.time))
    features, left_out = _features(loaded, request)
    goal = read_goal(request, target.kind, target.classes, _shares(target, weight))
    without = _without_target(target)
    return Task(
        kind=target.kind,
        target=loaded.target,
        X=loaded.table.select([column.name for column in features]),
        schema=Schema(features),
        coded=target.coded,
        classes=target.classes,
        positive=goal.positive,
        weight=weight,
        groups=groups,
        order=order,
        point=goal.point,
        metric=goal.metric,
        greater_is_better=goal.greater_is_better,
        left_out=left_out,
        sentences=(*target.sentences, *goal.sentences, *without),
    )


def formalize_like(loaded: LoadedTable, task: Task, request: Request) -> Task:
    """The task of a table to judge on: classes, features and goal are those of another task.

    Rows without a target are kept aside here too; a class that the other table does not have is
    refused.
    """
    cells = _cells(loaded, loaded.target)
    coded = cells.values if task.classes is None else _codes_like(cells, task.classes, loaded.name)
    weight = None if request.weight is None else read_weights(_cells(loaded, request.weight))
    for name in task.features:
        _refuse_infinite(_cells(loaded, name))
    found = Task(
        kind=task.kind,
        target=task.target,
        X=loaded.table.select(list(task.features)),
        schema=Schema(tuple(loaded.column(name) for name in task.features)),
        coded=coded,
        classes=task.classes,
        positive=task.positive,
        weight=weight,
        groups=None,
        order=None,
        point=task.point,
        metric=task.metric,
        greater_is_better=task.greater_is_better,
        left_out=task.left_out,
        sentences=task.sentences,
    )
    if not found.labeled.size:
        raise InputError(
            f"{printable(loaded.name)} has no value of {printable(task.target)!r} in any row, so "
            "nothing can be judged on it. Give a file with targets, or use --holdout."
        )
    return found


# --- Features -------------------------------------------------------------------------------------


def _features(
    loaded: LoadedTable, request: Request
) -> tuple[tuple[Column, ...], tuple[LeftOut, ...]]:
    named = {
        loaded.target: "target",
        request.weight: "weight",
        request.group: "group",
        request.time: "time",
    }
    features: list[Column] = []
    left_out: list[LeftOut] = []
    for column in loaded.schema.columns:
        role = named.get(column.name)
        if role is not None:
            left_out.append(LeftOut(column.name, role, _ROLES[role]))
            continue
        cells = _cells(loaded, column.name)
        nature = nature_of(cells)
        if nature.is_feature:
            _refuse_infinite(cells)
            features.append(column)
        else:
            left_out.append(LeftOut(column.name, nature.name, nature.reason))
    if not features:
        reasons = "; ".join(f"{printable(c.name)!r} is {c.reason}" for c in left_out[:5])
        raise InputError(
            f"{printable(loaded.name)} has no column left to learn from: {reasons}. Add columns "
            "that say something about the target."
        )
    return tuple(features), tuple(left_out)


def _refuse_infinite(cells: Cells) -> None:
    if not cells.is_numeric or not np.isinf(cells.values).any():
        return
    rows = np.flatnonzero(np.isinf(cells.values))
    raise InputError(
        f"Column {printable(cells.name)!r} is infinite in data row {rows[0] + 1}, "
        f"{counted(rows.size, 'such cell')} in all. Write finite numbers there, or leave the cells "
        "empty."
    )


def _cells(loaded: LoadedTable, name: str) -> Cells:
    return cells_of(loaded.table.column(name), loaded.column(name))


# --- Parts of the target --------------------------------------------------------------------------


def _shares(target: Target, weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Share of each class in the weight of the labeled rows."""
    if target.classes is None:
        return None
    known = target.coded != MISSING
    counts = np.bincount(
        target.coded[known],
        None if weight is None else weight[known],
        minlength=len(target.classes),
    )
    if not counts.all():
        label = target.classes[int((counts == 0).argmax())]
        raise InputError(
            f"All rows of class {label_text(label)} have weight 0, so it cannot be learned. Give "
            "one of them a positive weight, or leave the rows out."
        )
    return np.asarray(counts / counts.sum(), np.float64)


def _without_target(target: Target) -> tuple[str, ...]:
    absent = target.coded == MISSING if target.classes is not None else np.isnan(target.coded)
    count = int(np.count_nonzero(absent))
    if not count:
        return ()
    rows = "1 row has" if count == 1 else f"{count:,} rows have"
    return (f"{rows} no target: not used for learning or judging, but predicted at the end.",)


def _codes_like(cells: Cells, classes: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Codes of a target under given classes."""
    coded = np.full(len(cells.values), MISSING, np.int64)
    values, codes = np.unique(cells.values[cells.known], return_inverse=True)
    labels = [_label(cells, value, classes) for value in values.tolist()]
    places = {label: code for code, label in enumerate(classes.tolist())}
    strange = [label for label in labels if label not in places]
    if strange:
        raise InputError(
            f"{printable(name)} has the class {label_text(strange[0])} of "
            f"{printable(cells.name)!r}, which the table does not have; that has "
            f"{listed(classes.tolist())}. Leave out such rows, or add some to the table."
        )
    coded[cells.known] = np.array([places[label] for label in labels], np.int64)[codes]
    return coded


def _label(cells: Cells, value: Any, classes: NDArray[Any]) -> Any:
    if not cells.is_numeric:
        return cells.level(int(value))
    if classes.dtype.kind == "U":
        return repr(float(value))
    return int(value) if float(value).is_integer() else value
