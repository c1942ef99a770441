"""Questions, answers and cells in words.

    petal width <= 1.75      outlook = sunny      outlook in {rainy, sunny}      size <= medium

One place says how a threshold, a set of levels or a cell is written, so that rules, texts, pictures
and explanations of one tree agree. A number has `digits` significant digits, more where thresholds
of one column would otherwise look equal. Names and levels come from elsewhere and are made safe to
print.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from novum.core.tables import Column, Kind
from novum.core.text import printable
from novum.trees.reading.conditions import Condition, Interval, LevelSet, branch_condition
from novum.trees.tree import Question, Tree

DIGITS = 6
# A float64 is told from all others by 17 digits.
_ALL_DIGITS = 17
# Above this a float64 has no halves.
_LARGEST_HALF = 2.0**52
_NAME_LIMIT = 60
UNSEEN_TEXT = "an unseen level"
# Levels that look like none, or like what cells without a level are called.
_RESERVED = ("", "missing", UNSEEN_TEXT)
_SEPARATORS = frozenset(",{}\"'")


# --- Numbers and names ----------------------------------------------------------------------------


def number_text(x: float, digits: int = DIGITS) -> str:
    """A number with `digits` significant ones, at least to the first place after the point.

    Examples
    --------
    >>> number_text(1.7500000001), number_text(1234567.5), number_text(1e300)
    ('1.75', '1234567.5', '1e+300')
    """
    if math.isnan(x):
        return "missing"
    # Thresholds between whole numbers end in .5, which digits before the point would round away.
    whole = math.floor(math.log10(abs(x))) + 1 if 1 <= abs(x) < _LARGEST_HALF else 0
    return f"{x + 0.0:.{max(digits, whole + 1)}g}"


def number_between(x: float, low: float, high: float, digits: int = DIGITS) -> str:
    """`x` with `digits` significant ones, more where it takes more to stay in `low <= x < high`.

    Examples
    --------
    >>> number_between(77.5, 75.0, 80.0), number_between(0.30000015, 0.3000001, 0.3000002)
    ('77.5', '0.30000015')
    """
    while digits < _ALL_DIGITS and not low <= float(number_text(x, digits)) < high:
        digits += 1
    return number_text(x, digits)


def name_text(name: object, limit: int | None = _NAME_LIMIT) -> str:
    """The name of a column or class, on one line and safe to print."""
    return printable(str(name), limit)


def level_text(column: Column, code: int) -> str:
    """A level, quoted where it would otherwise be misread.

    Examples
    --------
    >>> column = Column("size", Kind.NOMINAL, ("small", "not, large"))
    >>> level_text(column, 0), level_text(column, 1)
    ("'not, large'", 'small')
    """
    level = column.levels[code]
    if not isinstance(level, str):
        return str(level)
    mixed = any(not isinstance(other, str) for other in column.levels)
    if mixed or level in _RESERVED or level != level.strip() or _SEPARATORS & set(level):
        return name_text(repr(level))
    return name_text(level)


def cell_text(column: Column, cell: float, digits: int = DIGITS) -> str:
    """What stands in a cell: a number, a level, `missing`, or a level never met in training."""
    if math.isnan(cell):
        return "missing"
    if column.kind is Kind.NUMERIC:
        return number_text(cell, digits)
    code = int(cell)
    return level_text(column, code) if 0 <= code < column.n_levels else UNSEEN_TEXT


def column_digits(tree: Tree, digits: int = DIGITS) -> list[int]:
    """For each column the digits, `digits` or more, that tell its thresholds apart."""
    asked = tree.question == Question.THRESHOLD
    return [
        _digits_apart(np.unique(tree.threshold[asked & (tree.column == column)]), digits)
        for column in range(tree.schema.n_columns)
    ]


def _digits_apart(thresholds: Iterable[float], digits: int) -> int:
    values = list(map(float, thresholds))
    while digits < _ALL_DIGITS and len({number_text(x, digits) for x in values}) < len(values):
        digits += 1
    return digits


# --- Conditions -----------------------------------------------------------------------------------


def condition_text(column: Column, condition: Condition, digits: int = DIGITS) -> str:
    """A condition with the name of its column.

    Examples
    --------
    >>> condition_text(Column("age"), Interval(2.0, 5.0))
    '2 < age <= 5'
    >>> condition_text(Column("size", Kind.ORDINAL, ("S", "M", "L")), Interval(0.0, 1.0))
    'size = M'
    """
    name = name_text(column.name)
    if isinstance(condition, Interval) and _is_two_sided(condition):
        low, high = (_end(column, end, digits) for end in (condition.low, condition.high))
        one_level = column.kind is Kind.ORDINAL and condition.high == condition.low + 1
        words = f"{name} = {high}" if one_level else f"{low} < {name} <= {high}"
        return f"{words} or missing" if condition.missing else words
    return f"{name} {answer_text(column, condition, digits)}"


def answer_text(column: Column, condition: Condition, digits: int = DIGITS) -> str:
    """The condition without the name of its column, as it stands beside a branch.

    Examples
    --------
    >>> answer_text(Column("color", Kind.NOMINAL, ("blue", "red")), LevelSet((1,), 2, missing=True))
    '= red or missing'
    """
    if not condition.has_values:
        return "missing" if condition.missing else "never"
    if condition.is_everything:
        return "anything" if condition.missing else "known"
    if isinstance(condition, LevelSet):
        words = _levels_text(column, condition.codes)
    elif _is_two_sided(condition):
        low, high = (_end(column, end, digits) for end in (condition.low, condition.high))
        words = f"in ({low}, {high}]"
    elif condition.low == -math.inf:
        words = f"<= {_end(column, condition.high, digits)}"
    else:
        words = f"> {_end(column, condition.low, digits)}"
    return f"{words} or missing" if condition.missing else words


def branch_answer(tree: Tree, node: int, branch: int, digits: int = DIGITS) -> str:
    """The answer that leads down a branch, without the column: `<= 1.75`, `= sunny`."""
    column = tree.schema.columns[int(tree.column[node])]
    return answer_text(column, branch_condition(tree, node, branch), digits)


def branch_text(tree: Tree, node: int, branch: int, digits: int = DIGITS) -> str:
    """The answer that leads down a branch: `petal width <= 1.75`, `outlook in {rainy, sunny}`."""
    column = tree.schema.columns[int(tree.column[node])]
    return condition_text(column, branch_condition(tree, node, branch), digits)


def _is_two_sided(interval: Interval) -> bool:
    return math.isfinite(interval.low) and math.isfinite(interval.high) and interval.has_values


def _levels_text(column: Column, codes: Sequence[int]) -> str:
    names = [level_text(column, code) for code in codes]
    return f"= {names[0]}" if len(names) == 1 else "in {" + ", ".join(names) + "}"


def _end(column: Column, end: float, digits: int) -> str:
    if column.kind is Kind.ORDINAL:
        return level_text(column, int(end))
    return number_text(end, digits)
