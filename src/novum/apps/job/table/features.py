"""Features: which columns models see, what kind each is, and why.

A column is a feature unless it has another role (target, weight, group, time, names of the rows) or
its nature (`column_natures`) leaves nothing to learn. Dates and free text are features that a step
of each model turns into numbers; columns of few whole numbers may be amounts or names of levels,
and are marked, so that models to which that matters can be tried both ways.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from novum.apps.job.request import Request
from novum.apps.job.table.column_cells import Cells, cells_of
from novum.apps.job.table.column_natures import Nature, nature_of
from novum.apps.job.table.reading import LoadedTable
from novum.apps.job.table.task import LeftOut, SpecialColumns
from novum.core.errors import InputError
from novum.core.sources import counted
from novum.core.tables import Column, Kind, Moments, moments_of
from novum.core.text import printable
from novum.numerics import Array

_ROLES = {
    "target": "the target",
    "other target": "another target",
    "weight": "the weights of the rows",
    "exposure": "what the counts are counted in",
    "group": "the groups of the rows",
    "time": "the order of the rows in time",
    "id": "the names of the rows",
}
# Different whole numbers up to which a numeric column may hold names of levels, and rows for each.
MOST_WHOLE = 15
_ROWS_PER_VALUE = 5


Kinds = tuple[tuple[str, str, str], ...]


def features_of(
    loaded: LoadedTable, request: Request
) -> tuple[tuple[Column, ...], tuple[LeftOut, ...], SpecialColumns, Kinds]:
    """Features, the other columns, what is special about features, and the kinds of all."""
    named = dict.fromkeys(request.targets, "other target") | {
        loaded.target: "target",
        request.weight: "weight",
        request.exposure: "exposure",
        request.group: "group",
        request.time: "time",
        request.id: "id",
    }
    declared = dict(request.kind) | dict.fromkeys(dict(request.levels), "ordinal")
    features: list[Column] = []
    left_out: list[LeftOut] = []
    kinds: list[tuple[str, str, str]] = []
    natures: dict[str, list[str]] = {"date": [], "text": []}
    day_first: list[str] = []
    whole: list[tuple[str, int]] = []
    for column in loaded.schema.columns:
        role, name = named.get(column.name), column.name
        if role is not None:
            left_out.append(LeftOut(name, role, _ROLES[role]))
            kinds.append((name, column.kind.value, _ROLES[role]))
            continue
        cells = feature_cells(loaded, name)
        nature = nature_of(cells, declared.get(name))
        kinds.append((name, *_kind_of(cells, nature, declared.get(name))))
        if not nature.is_feature:
            left_out.append(LeftOut(name, nature.name, nature.reason))
            continue
        refuse_infinite(cells)
        features.append(column)
        if nature.name in natures:
            natures[nature.name].append(name)
        if nature.name == "date":
            moments = _dates(loaded, name)
            day_first += [name] if moments.day_first else []
            if moments.is_doubtful:
                kinds[-1] = (name, "date", f"{kinds[-1][2]}, read with the month before the day")
        elif name not in declared and (n_values := _few_whole(cells)):
            whole.append((name, n_values))
    if not features:
        what = "tell rows apart"
        if request.task not in ("clusters", "novelty"):
            what = "say something about the target"
        reasons = "; ".join(f"{printable(c.name)!r} is {c.reason}" for c in left_out[:5])
        raise InputError(
            f"{printable(loaded.name)} has no column left to learn from: {reasons}. Add columns "
            f"that {what}."
        )
    apart = {*natures["date"], *natures["text"]}
    plain = [column for column in features if column.name not in apart]
    columns = SpecialColumns(
        dates=tuple(natures["date"]),
        texts=tuple(natures["text"]),
        day_first=tuple(day_first),
        levels=tuple(column.name for column in plain if column.kind is not Kind.NUMERIC),
        whole=tuple(whole),
        n_plain=len(plain),
    )
    return tuple(features), tuple(left_out), columns, tuple(kinds)


def _dates(loaded: LoadedTable, name: str) -> Moments:
    """The dates of a column; refuses what a user calls dates and is none."""
    text = loaded.table.column(name).cast(pa.string()).combine_chunks()
    try:
        return moments_of(text, name)
    except InputError as error:
        raise InputError(f"--kind {printable(name, 60)}=date does not fit. {error}") from None


def _few_whole(cells: Cells) -> int:
    """How many different values a column of few whole numbers has; 0 for any other."""
    if not cells.is_numeric:
        return 0
    known = cells.values[cells.known]
    # A look at the first rows settles most columns.
    for part in (known[:1000], known):
        values = np.unique(part)
        if len(values) > MOST_WHOLE or (values != np.floor(values)).any():
            return 0
    return len(values) if known.size >= _ROWS_PER_VALUE * len(values) and len(values) > 1 else 0


def _kind_of(cells: Cells, nature: Nature, declared: str | None) -> tuple[str, str]:
    """The kind of a column and the reason, in words."""
    kind = "id" if nature.name == "identifier" else nature.name
    if kind in ("empty", "constant", "dropped"):
        return cells.column.kind.value, nature.reason
    if declared is not None:
        by = "--levels" if declared == "ordinal" and kind == "feature" else "--kind"
        return declared, f"as {by} says"
    if kind != "feature":
        return kind, nature.reason
    if cells.is_numeric:
        return "numeric", "every value is a number"
    levels = counted(int(np.count_nonzero(cells.level_counts)), "level")
    if cells.column.kind is Kind.ORDINAL:
        return "ordinal", f"{levels} in the order that the file declares"
    if isinstance(cells.level(0), bool):
        return "nominal", "truth values"
    return "nominal", f"{levels} of text that repeat"


def ids_of(loaded: LoadedTable, request: Request) -> Array | None:
    """Names of the rows as the file writes them, empty where missing."""
    if request.id is None:
        return None
    column = loaded.table.column(request.id)
    return np.array(["" if cell is None else cell for cell in column.to_pylist()], object)


def refuse_infinite(cells: Cells) -> None:
    if not cells.is_numeric or not np.isinf(cells.values).any():
        return
    rows = np.flatnonzero(np.isinf(cells.values))
    raise InputError(
        f"Column {printable(cells.name)!r} is infinite in data row {rows[0] + 1}, "
        f"{counted(rows.size, 'such cell')} in all. Write finite numbers there, or leave the cells "
        "empty."
    )


def feature_cells(loaded: LoadedTable, name: str) -> Cells:
    return cells_of(loaded.table.column(name), loaded.column(name))
