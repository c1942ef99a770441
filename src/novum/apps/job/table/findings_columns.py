"""Columns that say little or not what they seem to: identifiers, constants, holes, sentinels.

| finding | rule |
|---|---|
| identifier, constant, empty | the nature of the column (`column_natures`) |
| dates, free text | the same; they become features, and how to change that is said |
| numbers or levels | few different whole numbers, which may be names of levels |
| nearly constant | one value in 99 % of the known cells or more |
| mostly missing | half of the cells or more |
| sentinel values | an extreme such as -999, far from all other values, in three cells or more |
| long whole numbers | whole numbers that float64 would merge, so that they are kept as text |
| levels alike | levels, or labels of the target, that differ in case alone |
| mixed types | numbers and words in one column, or amounts that disagree on their signs |
| amounts | numbers as people write them, with thousands, currency or percent signs |
| many levels | more than a hundred levels of a nominal feature |
| possible groups | a feature named like an identifier whose values repeat |
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from novum.apps.job.record import ColumnRecord, Finding
from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.column_natures import is_identifier_name
from novum.apps.job.table.evidence import Evidence, percent, quoted, them
from novum.core.tables import Kind
from novum.core.text import label_text, printable

NEARLY_CONSTANT = 0.99
MOSTLY_MISSING = 0.5
MANY_LEVELS = 100
_SENTINELS = frozenset(
    sign * value for sign in (-1.0, 1.0) for value in (9, 99, 999, 9999, 99999, 999999, 9999999)
) | {-1.0, 32767.0, -32768.0, 65535.0, 2147483647.0, -2147483648.0}
_FEWEST_SENTINELS = 3


def column_findings(evidence: Evidence) -> Iterator[Finding]:
    """Findings about single columns, those of one sort together."""
    yield from _natures(evidence)
    yield from _derived(evidence)
    yield from _numbers_or_levels(evidence)
    yield from _nearly_constant(evidence)
    yield from _mostly_missing(evidence)
    yield from _sentinels(evidence)
    yield from _kept_as_text(evidence)
    yield from _alike(evidence)
    yield from _mixed(evidence)
    yield from _many_levels(evidence)
    yield from _possible_groups(evidence)


# --- Columns left out -----------------------------------------------------------------------------

_LEFT_OUT = "This run leaves {} out of the features."
_ADVICE = {
    "identifier": "Identifiers name rows and say nothing about new ones.",
    "constant": "Constant columns cannot tell rows apart.",
    "empty": "Columns without values can be removed from the table.",
}
_KINDS = {
    "identifier": "identifier",
    "constant": "constant column",
    "empty": "empty column",
}


def _natures(evidence: Evidence) -> Iterator[Finding]:
    for nature, advice in _ADVICE.items():
        columns = [column for column in evidence.task.left_out if column.nature == nature]
        if not columns:
            continue
        names = tuple(column.name for column in columns)
        shown = "; ".join(f"{printable(c.name, 60)!r} is {c.reason}" for c in columns[:5])
        more = f"; and {len(columns) - 5} more columns" if len(columns) > 5 else ""
        text = f"{shown}{more}."
        yield Finding(
            _KINDS[nature], "note", names, text, f"{advice} {_LEFT_OUT.format(them(names))}"
        )


# --- Columns that count in other ways -------------------------------------------------------------


def _derived(evidence: Evidence) -> Iterator[Finding]:
    """Dates and texts, which become features."""
    columns, reasons = evidence.task.columns, {n: why for n, _, why in evidence.task.kinds}
    made = {
        "dates": (columns.dates, "makes features of the calendar and of elapsed time of"),
        "free text": (columns.texts, "gives linear models, naive Bayes and SVMs the words of"),
    }
    for kind, (names, does) in made.items():
        if names:
            holds = [f"{printable(n, 60)!r} holds {reasons.get(n, kind)}" for n in names[:5]]
            shown = "; ".join(holds)
            more = f"; and {len(names) - 5} more columns" if len(names) > 5 else ""
            yield Finding(
                kind,
                "note",
                names,
                f"{shown}{more}.",
                f"This run {does} {them(names)}. If that is wrong, say "
                f"{_option(names[0], 'nominal')}, or {_option(names[0], 'drop')}.",
            )


def _option(name: str, kind: str) -> str:
    """The option that makes a column of a kind, as a shell takes it."""
    return f"--kind {shlex.quote(f'{printable(name, 60)}={kind}')}"


def _numbers_or_levels(evidence: Evidence) -> Iterator[Finding]:
    """Columns of few whole numbers; those of two values are the same either way for most models."""
    columns = [(name, count) for name, count in evidence.task.columns.whole if count > 2]
    two = [name for name, count in evidence.task.columns.whole if count == 2]
    if columns:
        shown = ", ".join(f"{printable(n, 60)!r} ({count})" for n, count in columns[:5])
        more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
        first = columns[0][0]
        yield Finding(
            "numbers or levels",
            "note",
            tuple(name for name, _ in columns),
            f"Few different whole numbers, which may be amounts or names of levels: {shown}{more}.",
            "This run takes them for numbers; where several settings are tried and there is no "
            "text, linear models and naive Bayes are tried both ways. If you know better, say "
            f"{_option(first, 'nominal')} or {_option(first, 'numeric')}.",
        )
    if two:
        yield Finding(
            "two values",
            "note",
            tuple(two),
            f"Columns of two whole numbers, such as yes and no: {quoted(two)}.",
            "This run takes them for numbers, which to most models is the same; naive Bayes is "
            "tried both ways where several settings are tried. If they are levels, say "
            f"{_option(two[0], 'nominal')}.",
        )


# --- Little variation -----------------------------------------------------------------------------


def _features(evidence: Evidence) -> Iterator[ColumnRecord]:
    for name in evidence.task.features:
        yield evidence.columns[name]


def _nearly_constant(evidence: Evidence) -> Iterator[Finding]:
    columns: list[tuple[str, float]] = []
    for record in _features(evidence):
        n_known = evidence.profile.n_rows - record.n_missing
        if not n_known:
            continue
        if record.levels:
            share = max(count for _, count in record.levels) / n_known
        elif record.quantiles and record.quantiles[1] == record.quantiles[3]:
            values = evidence.task.feature(record.name).values
            share = float(np.count_nonzero(values == record.quantiles[2])) / n_known
        else:
            continue
        if share >= NEARLY_CONSTANT:
            columns.append((record.name, share))
    if columns:
        shown = ", ".join(f"{printable(n, 60)!r} ({percent(share)})" for n, share in columns[:5])
        more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
        yield Finding(
            "nearly constant column",
            "note",
            tuple(name for name, _ in columns),
            f"One value fills nearly all known cells of {shown}{more}.",
            f"Such a column matters only if its rare values do. This run keeps {them(columns)}.",
        )


def _mostly_missing(evidence: Evidence) -> Iterator[Finding]:
    n_rows = evidence.profile.n_rows
    columns = [
        (record.name, record.n_missing / n_rows)
        for record in _features(evidence)
        if record.n_missing >= MOSTLY_MISSING * n_rows
    ]
    if columns:
        shown = ", ".join(f"{printable(n, 60)!r} ({percent(share)})" for n, share in columns[:5])
        more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
        yield Finding(
            "mostly missing",
            "warning",
            tuple(name for name, _ in columns),
            f"Half of the cells or more are missing in {shown}{more}.",
            f"Find out why before relying on {them(columns)}. This run keeps {them(columns)}: "
            "learners that treat missing as "
            "missing use the cells that are known, others get filled cells and are told so.",
        )


# --- Cells that are not what they seem ------------------------------------------------------------


def _sentinels(evidence: Evidence) -> Iterator[Finding]:
    for record in _features(evidence):
        if not record.quantiles:
            continue
        ends = {record.quantiles[0], record.quantiles[-1]} & _SENTINELS
        for value in sorted(ends):
            count = lonely(evidence.task.feature(record.name), value)
            if count >= _FEWEST_SENTINELS:
                yield Finding(
                    "sentinel values",
                    "warning",
                    (record.name,),
                    f"{value:g} stands in {count:,} cells of {printable(record.name)!r}, far from "
                    "all its other values: it may mean missing.",
                    f"If it does, say --missing-values={value:g}. This run takes it for a number.",
                )


def lonely(cells: Cells, value: float) -> int:
    """How many cells hold a value that is farther from all others than these are apart; else 0.

    Examples
    --------
    >>> from novum.core.tables import Column
    >>> lonely(Cells(Column("x"), np.array([1.0, 2.0, 5.0, 999.0, 999.0])), 999.0)
    2
    """
    known = cells.values[cells.known]
    others = known[known != value]
    if np.unique(others[:1000]).size < 2:
        return 0
    low, high = float(others.min()), float(others.max())
    gap = low - value if value < low else value - high
    return int(known.size - others.size) if gap > high - low else 0


# How the notes of a reader begin that are about numbers written for people.
_AMOUNTS = ("numbers as people", "numbers with")


def _mixed(evidence: Evidence) -> Iterator[Finding]:
    if evidence.report is None:
        return
    features = set(evidence.task.features) | {column.name for column in evidence.task.left_out}
    columns = [column for column in evidence.report.columns if column.name in features]
    for column in columns:
        amount = next((note for note in column.notes if note.startswith(_AMOUNTS)), None)
        mixture = next((note for note in column.notes if note.startswith("mixed: ")), None)
        if not (column.mixed or amount):
            continue
        name = printable(column.name)
        if amount and column.kind is Kind.NUMERIC:
            yield Finding(
                "amounts",
                "note",
                (column.name,),
                f"Column {name!r} holds {printable(amount.partition(';')[0], 240)}.",
                f"This run reads them so. If they are no numbers, say --kind {name}=nominal.",
            )
            continue
        seen = f"is {mixture}" if mixture else f"holds {amount}"
        word = printable(column.lone_word)
        missing = f" If {word!r} means missing, --missing-values {shlex.quote(word)} says so."
        yield Finding(
            "mixed types",
            "warning",
            (column.name,),
            f"Column {name!r} {printable(seen, 240)}.",
            "Correct the cells, or leave them empty where there is no value."
            f"{missing if word else ''} This run reads the column as text, each different value a "
            "level.",
        )


def _kept_as_text(evidence: Evidence) -> Iterator[Finding]:
    names = [name for name in evidence.task.as_text if name != evidence.task.target]
    reports = {} if evidence.report is None else {c.name: c for c in evidence.report.columns}
    for name in names:
        (note,) = reports[name].notes
        shown = printable(name, 60)
        yield Finding(
            "long whole numbers",
            "note",
            (name,),
            f"{shown!r} holds whole numbers that float64 cannot tell apart, and is {note}.",
            "This run takes it for identifiers or levels, with all digits. If they are amounts, "
            f"say {_option(name, 'numeric')}.",
        )


def _alike(evidence: Evidence) -> Iterator[Finding]:
    task = evidence.task
    words = [column for column in task.schema.columns if column.kind is not Kind.NUMERIC]
    pairs = {column.name: pair for column in words if (pair := _pair_alike(column.levels))}
    if task.classes is not None and (pair := _pair_alike(task.classes.tolist())):
        pairs[task.target] = pair
    if pairs:
        shown = "; ".join(
            f"{label_text(a)} and {label_text(b)} of {printable(name, 60)!r}"
            for name, (a, b) in list(pairs.items())[:5]
        )
        more = f"; and of {len(pairs) - 5} more columns" if len(pairs) > 5 else ""
        yield Finding(
            "levels alike",
            "warning" if task.target in pairs else "note",
            tuple(pairs),
            f"Levels differ in case alone: {shown}{more}.",
            "If they mean the same, write them alike. This run takes them for different ones.",
        )


def _pair_alike(levels: Sequence[Any]) -> tuple[Any, Any] | None:
    """Two levels that differ in case alone; None where there are none.

    Examples
    --------
    >>> _pair_alike(["Yes", "no", "yes"]), _pair_alike(["a", "b"])
    (('Yes', 'yes'), None)
    """
    first: dict[str, Any] = {}
    for level in levels:
        if (other := first.setdefault(str(level).casefold(), level)) is not level:
            return other, level
    return None


def _many_levels(evidence: Evidence) -> Iterator[Finding]:
    columns = [
        (record.name, record.n_distinct)
        for record in _features(evidence)
        if record.kind == "nominal" and record.n_distinct > MANY_LEVELS
    ]
    if columns:
        shown = ", ".join(f"{printable(n, 60)!r} ({count:,})" for n, count in columns[:5])
        more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
        yield Finding(
            "many levels",
            "note",
            tuple(name for name, _ in columns),
            f"Nominal columns with more than {MANY_LEVELS} levels: {shown}{more}.",
            "Join rare levels where that makes sense. This run keeps all of them.",
        )


def _possible_groups(evidence: Evidence) -> Iterator[Finding]:
    if evidence.task.groups is not None:
        return
    for record in _features(evidence):
        n_known = evidence.profile.n_rows - record.n_missing
        repeats = 2 <= record.n_distinct <= n_known / 1.5
        if is_identifier_name(record.name) and repeats:
            yield Finding(
                "possible groups",
                "warning",
                (record.name,),
                f"{printable(record.name)!r} is named like an identifier, and its "
                f"{record.n_distinct:,} values repeat: rows of one value may belong together.",
                f"If they do, say --group {printable(record.name, 60)}, so that they never stand "
                f"on both sides of a split. This run treats {quoted([record.name])} as a feature.",
            )
