"""The target: classes, levels with an order or numbers, and the refusals of what is none of them.

Classes are sorted: false before true, numbers by size, text by code point; that is the order of
every classifier's `classes_`. Levels have their own order, from low to high (`level_words`). Only
labels that occur are classes.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from novum.apps.job.record import OF_NUMBERS, TaskKind
from novum.apps.job.request import TaskChoice
from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.column_natures import nature_of
from novum.apps.job.table.level_words import scale_of
from novum.apps.job.table.reading import LoadedTable
from novum.core.errors import InputError
from novum.core.sources import counted, is_amount_text, is_number_text
from novum.core.tables import MISSING, Kind, are_dates, moments_of
from novum.core.text import label_text, listed, printable
from novum.evaluation import OF_LEVELS, is_measure, measure
from novum.numerics import Array, Floats, Integers

# --- Classes or numbers ---------------------------------------------------------------------------
# Whether a target is a class or a number: the rule, in one place.
#
# | target | read as |
# |---|---|
# | levels that the file or `--levels` puts in an order, three or more | levels with an order |
# | other text, truth values, two levels | classes; with a look if the words are a scale |
# | two different whole numbers | classes |
# | three to ten different whole numbers, five rows for each on average | classes, with a look |
# | all other numbers | numbers |
#
# `--task` overrides it.

MOST_NUMBER_CLASSES = 10
ROWS_PER_CLASS = 5


@dataclass(frozen=True)
class TargetLook:
    """How the rule reads a target.

    Attributes
    ----------
    is_classes : bool
    n_distinct : int
        Different values; for numbers that are clearly no classes, more than `MOST_NUMBER_CLASSES`.
    is_whole : bool
        Whether all values are whole numbers.
    is_doubtful : bool
        Whether the user should look, because the rule had to guess.
    """

    is_classes: bool
    n_distinct: int
    is_whole: bool
    is_doubtful: bool


def look_at_target(cells: Cells) -> TargetLook:
    """Applies the rule to the known cells of a target.

    Examples
    --------
    >>> from novum.core.tables import Column
    >>> look_at_target(Cells(Column("grade"), np.tile([1.0, 2.0, 3.0], 10)))
    TargetLook(is_classes=True, n_distinct=3, is_whole=True, is_doubtful=True)
    """
    if not cells.is_numeric:
        return TargetLook(True, int(np.count_nonzero(cells.level_counts)), False, False)
    known = cells.values[cells.known]
    is_whole = bool((known == np.floor(known)).all()) and known.size > 0
    n_distinct = _distinct(known)
    if not is_whole:
        return TargetLook(False, n_distinct, False, False)
    if n_distinct <= 2:
        return TargetLook(True, n_distinct, True, False)
    enough = known.size >= ROWS_PER_CLASS * n_distinct
    is_classes = n_distinct <= MOST_NUMBER_CLASSES and enough
    return TargetLook(is_classes, n_distinct, True, n_distinct <= MOST_NUMBER_CLASSES)


def _distinct(known: Array) -> int:
    """The number of different values."""
    first = np.unique(known[:1000])
    return len(first) if known.size <= 1000 else len(np.unique(known))


# --- Columns about rows ---------------------------------------------------------------------------
# Columns that say something about rows: their weight, their group, their place in time.


def read_weights(cells: Cells) -> Floats:
    """Finite weights of at least 0, one for each row."""
    shown = repr(printable(cells.name))
    if not cells.is_numeric:
        raise InputError(
            f"The weight column {shown} holds {label_text(cells.column.levels[0])} and is no "
            "column of numbers. Name one with --weight, or correct its cells."
        )
    wrong = np.flatnonzero(~(np.isfinite(cells.values) & (cells.values >= 0)))
    if wrong.size:
        value = cells.values[wrong[0]]
        what = "missing" if np.isnan(value) else f"{value:g}"
        raise InputError(
            f"The weight column {shown} is {what} in data row {wrong[0] + 1}, {wrong.size:,} such "
            "in all. A weight says how often a row counts: give finite numbers of at least 0."
        )
    if not cells.values.any():
        raise InputError(
            f"All weights in {shown} are 0, so there is nothing to learn from. Give at least one "
            "row a positive weight."
        )
    return np.asarray(cells.values)


def read_exposure(cells: Cells) -> Floats:
    """Finite exposures above 0, one for each row."""
    shown = repr(printable(cells.name))
    if not cells.is_numeric:
        raise InputError(
            f"The exposure column {shown} holds {label_text(cells.column.levels[0])} and is no "
            "column of numbers. Name one with --exposure, or correct its cells."
        )
    wrong = np.flatnonzero(~(np.isfinite(cells.values) & (cells.values > 0)))
    if wrong.size:
        value = cells.values[wrong[0]]
        what = "missing" if np.isnan(value) else f"{value:g}"
        raise InputError(
            f"The exposure column {shown} is {what} in data row {wrong[0] + 1}, {wrong.size:,} "
            "such in all. Nothing can be counted there: give numbers above 0, or leave out the "
            "rows."
        )
    return np.asarray(cells.values)


def read_groups(cells: Cells) -> Integers:
    """Codes of the groups, one for each row."""
    shown = repr(printable(cells.name))
    _refuse_missing(cells, "group", "rows that belong to none can be groups of their own")
    names, codes = np.unique(cells.values, return_inverse=True)
    if len(names) < 2:
        raise InputError(
            f"The group column {shown} has one group only, so no rows can be set aside. Leave out "
            "--group, or name a column of several groups."
        )
    return codes.astype(np.int64)


def read_order(cells: Cells) -> Integers:
    """Ranks in time: of numbers, of ordered levels, or of dates.

    Examples
    --------
    >>> from novum.core.tables import Column
    >>> days = Column("day", Kind.NOMINAL, ("2024-12-01", "2024-2-10"))
    >>> read_order(Cells(days, np.array([0, 1, 0], np.int32))).tolist()
    [1, 0, 1]
    """
    _refuse_missing(cells, "time", "leave out the rows, or fill in when they were taken")
    if cells.is_numeric or cells.column.kind is Kind.ORDINAL:
        return np.unique(cells.values, return_inverse=True)[1].astype(np.int64)
    met = np.flatnonzero(cells.level_counts)
    texts = [str(cells.level(int(code))) for code in met]
    ranks = np.zeros(cells.column.n_levels, np.int64)
    ranks[met] = np.unique(_times(texts, cells.name), return_inverse=True)[1]
    return ranks[cells.values]


def _refuse_missing(cells: Cells, role: str, remedy: str) -> None:
    if cells.n_missing:
        raise InputError(
            f"The {role} column {printable(cells.name)!r} has no value in data row "
            f"{int((~cells.known).argmax()) + 1}, {cells.n_missing:,} such in all. Give every row "
            f"its {role}; {remedy}."
        )


def _times(texts: list[str], name: str) -> Array:
    """Moments in UTC, or those of a zone where a text has one."""
    unclear = next((text for text in texts if not are_dates(pa.array([text]))), None)
    if unclear is None:
        moments = moments_of(pa.array(texts), name)
        if not moments.is_doubtful and moments.has_date:
            return moments.utc
        unclear = texts[0]
    raise InputError(
        f"The time column {printable(name)!r} holds {label_text(unclear)}, whose place in time is "
        "not clear. Write dates as 2024-01-31 or 2024-01-31 18:30, or give numbers that rise with "
        "time."
    )


MOST_CLASSES = 1000


@dataclass(frozen=True, eq=False)
class Target:
    """A target as a task holds it.

    Attributes
    ----------
    kind : {"binary", "multiclass", "ordinal", "regression", "counts"}
    coded : array (n,)
        Codes into `classes` or numbers; `MISSING` and NaN without a target.
    classes : array of K labels, or None
        Of an ordinal target from low to high.
    sentences : tuple of str
    highest : label or None
        The higher one of two levels with an order.
    """

    kind: TaskKind
    coded: Array
    classes: Array | None
    sentences: tuple[str, ...]
    highest: Any = None


def read_target(
    cells: Cells, loaded: LoadedTable, choice: TaskChoice, metric: str | None = None
) -> Target:
    """Classes or numbers, by the rule above or by choice.

    Parameters
    ----------
    cells : Cells
        The column to predict.
    loaded : LoadedTable
        Gives the task of a bundled table, and names to messages.
    choice : {"auto", "binary", "multiclass", "ordinal", "labels", "regression", "counts"}
    metric : str, optional
        The measure that was asked for; one of numbers or of classes says what a column of numbers
        is where nobody chose.
    """
    shown = repr(printable(cells.name))
    if cells.n_missing == len(cells.values):
        raise InputError(
            f"The target {shown} is missing in all {len(cells.values):,} rows of "
            f"{printable(loaded.name)}. Name a column with --target that has values."
        )
    look = look_at_target(cells)
    wants_numbers = not look.is_classes if loaded.task is None else loaded.task == "regression"
    asked = "" if choice == "auto" else f"--task {choice} says so"
    if choice == "auto" and metric is not None and is_measure(metric) and cells.is_numeric:
        held = measure(metric).target
        if held != ("numbers" if wants_numbers else "classes") and _could_be(held, cells, look):
            asked = f"--metric {metric} is a measure of {held}"
            choice = "regression" if held == "numbers" else "multiclass"
            choice = "ordinal" if metric in OF_LEVELS else choice
    if choice in OF_NUMBERS or (choice == "auto" and wants_numbers):
        return _numbers(cells, look, choice, loaded, asked)
    return _classes(cells, look, choice, loaded, asked)


def _could_be(held: str, cells: Cells, look: TargetLook) -> bool:
    """Whether a column of numbers could be what a measure is of."""
    n_known = len(cells.values) - cells.n_missing
    are_classes = look.is_whole and ROWS_PER_CLASS * look.n_distinct <= n_known
    return held == "numbers" or are_classes


# --- Numbers --------------------------------------------------------------------------------------


def _numbers(
    cells: Cells, look: TargetLook, choice: TaskChoice, loaded: LoadedTable, asked: str
) -> Target:
    shown = repr(printable(cells.name))
    if not cells.is_numeric:
        raise InputError(
            f"--task {choice} predicts numbers, but the target {shown} holds "
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
    reason = asked or _why(loaded, f"it has {look.n_distinct:,} different numbers")
    known = cells.values[cells.known]
    if choice == "counts":
        if (known < 0).any():
            raise InputError(
                f"--task counts predicts numbers of at least 0, but the target {shown} has "
                f"{known.min():g}. Use --task regression."
            )
        said = f"{shown} is predicted as a count, by the mean of a Poisson law."
        return Target("counts", np.asarray(cells.values), None, (said,))
    sentences = [f"{shown} is predicted as a number, because {reason}."]
    if choice == "auto" and look.is_doubtful:
        sentences.append(
            f"Please look: {shown} has only {look.n_distinct} different whole numbers; if they are "
            "names of classes, say --task multiclass."
        )
    elif choice == "auto" and known.min() == 0 and (known == np.floor(known)).all():
        sentences.append(
            f"Please look: {shown} has whole numbers from 0 on; if they count events, say --task "
            "counts, and name with --exposure what they are counted in."
        )
    return Target("regression", np.asarray(cells.values), None, tuple(sentences))


# --- Classes --------------------------------------------------------------------------------------


def _classes(
    cells: Cells, look: TargetLook, choice: TaskChoice, loaded: LoadedTable, asked: str
) -> Target:
    shown = repr(printable(cells.name))
    _refuse_many(cells, look)
    classes, coded, sentences = _labels(cells)
    n_classes, highest = len(classes), None
    order = _order(cells, classes, choice)
    if order is not None:
        highest = order[-1]
    if n_classes == 1:
        raise InputError(
            f"The target {shown} has one class only, {label_text(classes[0])}, in "
            f"{counted(len(coded) - cells.n_missing, 'row')} with a target. A classifier needs "
            "rows of two classes; name another column with --target, or add rows."
        )
    if choice in ("binary", "labels") and n_classes != 2:
        otherwise = "--task multiclass" if choice == "binary" else "columns of 0 and 1"
        raise InputError(
            f"--task {choice} needs two classes, but the target {shown} has {n_classes}: "
            f"{listed(classes.tolist())}. Use {otherwise} or a target of two classes."
        )
    if order is not None and n_classes > 2 and choice in ("auto", "ordinal"):
        declared = "they are declared in this order"
        reason = asked or declared
        return _levels(cells, classes, coded, order, reason)
    kind: TaskKind = "binary" if n_classes == 2 else "multiclass"
    what = "numbers" if cells.is_numeric else "labels"
    reason = asked or _why(loaded, f"it has {n_classes} different {what}")
    classed = f"{shown} is predicted as one of {n_classes} classes, because {reason}."
    sentences.insert(0, classed)
    if choice == "auto" and look.is_doubtful and loaded.task is None:
        sentences.append(
            f"Please look: the classes of {shown} are whole numbers ({listed(classes.tolist())}); "
            "if they are amounts to predict, say --task regression, and if they are levels from "
            "low to high, --task ordinal."
        )
    elif choice == "auto" and n_classes > 2 and (scale := scale_of(classes.tolist())):
        levels = ",".join(scale)
        sentences.append(
            f"Please look: the labels of {shown} look like levels with an order; if they are, say "
            f"--levels {shlex.quote(f'{printable(cells.name)}={levels}')}."
        )
    return Target(kind, coded, classes, tuple(sentences), highest)


# --- Levels with an order -------------------------------------------------------------------------


def _order(cells: Cells, classes: Array, choice: TaskChoice) -> list[Any] | None:
    """The classes from low to high; None where they have no order that anybody declared."""
    labels = classes.tolist()
    if cells.column.kind is Kind.ORDINAL:
        places = {cells.level(code): code for code in range(cells.column.n_levels)}
        return sorted(labels, key=lambda label: places[label])
    if choice != "ordinal":
        return None
    if cells.is_numeric:
        return sorted(labels, key=float)
    scale = scale_of(labels)
    if scale is None and len(labels) > 2:
        name = printable(cells.name)
        raise InputError(
            f"--task ordinal needs the order of the levels of {name!r}, which are "
            f"{listed(labels)}. List them from low to high with --levels {name}=LOW,...,HIGH."
        )
    return scale


def _levels(cells: Cells, classes: Array, coded: Integers, order: list[Any], reason: str) -> Target:
    """The classes in their own order."""
    shown = repr(printable(cells.name))
    labels = classes.tolist()
    places = np.array([order.index(label) for label in labels], np.int64)
    known = coded != MISSING
    moved = coded.copy()
    moved[known] = places[coded[known]]
    said = (
        f"{shown} is predicted as one of {len(order)} levels with an order, {_chain(order)}, "
        f"because {reason}."
    )
    return Target("ordinal", moved, classes[np.argsort(places)], (said,))


def _chain(order: list[Any]) -> str:
    words = [label_text(label) for label in order]
    return " < ".join(words if len(words) <= 8 else [*words[:3], "...", *words[-2:]])


def _labels(cells: Cells) -> tuple[Array, Integers, list[str]]:
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
    if all(map(is_amount_text, levels)):
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


def _why(loaded: LoadedTable, otherwise: str) -> str:
    return otherwise if loaded.task is None else f"the bundled table {loaded.name} is made for it"


def _met(cells: Cells) -> list[Any]:
    """Levels that occur."""
    return [cells.level(int(code)) for code in np.flatnonzero(cells.level_counts)]


def _first(cells: Cells) -> float:
    return float(cells.values[cells.known.argmax()])
