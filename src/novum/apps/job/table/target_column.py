"""The target: classes or numbers, and the refusals of targets that are neither.

Classes are sorted: false before true, numbers by size, text by code point; that is the order of
every classifier's `classes_`. Only labels that occur are classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.apps.job.record import TaskKind
from novum.apps.job.request import TaskChoice
from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.column_natures import nature_of
from novum.apps.job.table.reading import LoadedTable
from novum.apps.job.table.task_kinds import MOST_NUMBER_CLASSES, TargetLook, look_at_target
from novum.core.errors import InputError
from novum.core.schema import MISSING
from novum.core.sources.cells import AMOUNT, all_match, is_number_text
from novum.core.sources.report import counted
from novum.core.text import label_text, listed, printable

MOST_CLASSES = 1000


@dataclass(frozen=True, eq=False)
class Target:
    """A target as a task holds it.

    Attributes
    ----------
    kind : {"binary", "multiclass", "regression"}
    coded : array (n,)
        Codes into `classes` or numbers; `MISSING` and NaN without a target.
    classes : array of K labels, or None
    sentences : tuple of str
    """

    kind: TaskKind
    coded: NDArray[Any]
    classes: NDArray[Any] | None
    sentences: tuple[str, ...]


def read_target(cells: Cells, loaded: LoadedTable, choice: TaskChoice) -> Target:
    """Classes or numbers, by the rule of `task_kinds` or by choice.

    Parameters
    ----------
    cells : Cells
        The column to predict.
    loaded : LoadedTable
        Gives the task of a bundled table, and names to messages.
    choice : {"auto", "binary", "multiclass", "regression"}
    """
    shown = repr(printable(cells.name))
    if cells.n_missing == len(cells.values):
        raise InputError(
            f"The target {shown} is missing in all {len(cells.values):,} rows of "
            f"{printable(loaded.name)}. Name a column with --target that has values."
        )
    look = look_at_target(cells)
    wants_numbers = choice == "regression" or (
        choice == "auto"
        and (not look.is_classes if loaded.task is None else loaded.task == "regression")
    )
    if wants_numbers:
        return _numbers(cells, look, choice, loaded)
    return _classes(cells, look, choice, loaded)


# --- Numbers --------------------------------------------------------------------------------------


def _numbers(cells: Cells, look: TargetLook, choice: TaskChoice, loaded: LoadedTable) -> Target:
    shown = repr(printable(cells.name))
    if not cells.is_numeric:
        raise InputError(
            f"--task regression predicts numbers, but the target {shown} holds "
            f"{listed(_met(cells)[:5])}. Use --task multiclass, or write the target as numbers."
        )
    infinite = np.flatnonzero(np.isinf(cells.values))
    if infinite.size:
        raise InputError(
            f"The target {shown} is infinite in {counted(infinite.size, 'row')}, the first is data "
            f"row {infinite[0] + 1}. Write finite numbers there, or leave the cells empty."
        )
    if look.n_distinct == 1:
        raise InputError(
            f"The target {shown} is {_first(cells):g} in every row that has it, so there is "
            "nothing to predict. Name another column with --target."
        )
    reason = _why(choice, loaded, f"it has {look.n_distinct:,} different numbers")
    sentences = [f"{shown} is predicted as a number, because {reason}."]
    if choice == "auto" and look.is_doubtful:
        sentences.append(
            f"Please look: {shown} has only {look.n_distinct} different whole numbers; if they are "
            "names of classes, say --task multiclass."
        )
    return Target("regression", np.asarray(cells.values), None, tuple(sentences))


# --- Classes --------------------------------------------------------------------------------------


def _classes(cells: Cells, look: TargetLook, choice: TaskChoice, loaded: LoadedTable) -> Target:
    shown = repr(printable(cells.name))
    _refuse_many(cells, look)
    classes, coded, sentences = _labels(cells)
    n_classes = len(classes)
    if n_classes == 1:
        raise InputError(
            f"The target {shown} has one class only, {label_text(classes[0])}, in all "
            f"{len(coded) - cells.n_missing:,} rows that have a target. A classifier needs rows of "
            "two classes; name another column with --target, or add rows."
        )
    if choice == "binary" and n_classes != 2:
        raise InputError(
            f"--task binary needs two classes, but the target {shown} has {n_classes}: "
            f"{listed(classes.tolist())}. Use --task multiclass or a target of two classes."
        )
    kind: TaskKind = "binary" if n_classes == 2 else "multiclass"
    what = "numbers" if cells.is_numeric else "labels"
    reason = _why(choice, loaded, f"it has {n_classes} different {what}")
    classed = f"{shown} is predicted as one of {n_classes} classes, because {reason}."
    sentences.insert(0, classed)
    if choice == "auto" and look.is_doubtful and loaded.task is None:
        sentences.append(
            f"Please look: the classes of {shown} are whole numbers ({listed(classes.tolist())}); "
            "if they are amounts to predict, say --task regression."
        )
    return Target(kind, coded, classes, tuple(sentences))


def _labels(cells: Cells) -> tuple[NDArray[Any], NDArray[np.int64], list[str]]:
    """Sorted classes, codes of all rows, and what there is to say about them."""
    known = cells.known
    coded = np.full(len(cells.values), MISSING, np.int64)
    values, codes = np.unique(cells.values[known], return_inverse=True)
    if not cells.is_numeric:
        labels = [cells.level(int(code)) for code in values]
        order = sorted(range(len(labels)), key=lambda i: labels[i])
        places = np.empty(len(labels), np.int64)
        places[order] = np.arange(len(labels))
        coded[known] = places[codes]
        return np.array([labels[i] for i in order]), coded, []
    coded[known] = codes
    if (values == np.floor(values)).all() and np.abs(values).max() < 2**53:
        return values.astype(np.int64), coded, []
    # Learners take fractions for amounts, never for classes; as text they are names.
    texts = np.array([repr(float(value)) for value in values])
    order = np.argsort(texts, kind="stable").tolist()
    places = np.empty(len(texts), np.int64)
    places[order] = np.arange(len(texts))
    coded[known] = places[codes]
    said = f"The classes of {printable(cells.name)!r} are fractions, and are named by their text."
    return texts[order], coded, [said]


def _refuse_many(cells: Cells, look: TargetLook) -> None:
    """Refuses more classes than can be learned, and says what the column looks like."""
    n_known = len(cells.values) - cells.n_missing
    few_rows = look.n_distinct > MOST_NUMBER_CLASSES and n_known < 2 * look.n_distinct
    if look.n_distinct <= MOST_CLASSES and not few_rows:
        return
    raise InputError(
        f"The target {printable(cells.name)!r} has {look.n_distinct:,} different values in "
        f"{n_known:,} rows, too many to be classes. {_looks_like(cells, look, n_known)}"
    )


def _looks_like(cells: Cells, look: TargetLook, n_known: int) -> str:
    if cells.is_numeric:
        return "It looks like numbers: use --task regression."
    levels = [str(level) for level in _met(cells)]
    n_numbers = sum(map(is_number_text, levels))
    if n_numbers >= len(levels) / 2:
        word = next((level for level in levels if not is_number_text(level)), levels[0])
        return (
            f"It looks like numbers read as text because of cells such as {label_text(word)}: "
            "write those as numbers or leave them empty."
        )
    if all_match(AMOUNT, levels):
        return (
            f"It looks like numbers written as text, such as {label_text(levels[0])}: write digits "
            "and one decimal point only."
        )
    nature = nature_of(cells).name
    if nature == "date":
        return "It looks like dates: derive a number, such as elapsed days, and predict that."
    if nature == "text":
        return "It looks like free text: derive classes or numbers from it first."
    if n_known < 2 * look.n_distinct:
        return "It looks like an identifier: name another column with --target."
    return f"Join rare values first; {MOST_CLASSES:,} classes are the most."


def _why(choice: TaskChoice, loaded: LoadedTable, otherwise: str) -> str:
    if choice != "auto":
        return f"--task {choice} says so"
    return otherwise if loaded.task is None else f"the bundled table {loaded.name} is made for it"


def _met(cells: Cells) -> list[Any]:
    """Levels that occur."""
    return [cells.level(int(code)) for code in np.flatnonzero(cells.level_counts)]


def _first(cells: Cells) -> float:
    return float(cells.values[cells.known.argmax()])
