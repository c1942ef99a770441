"""Runs without a target: the table they look at, and a line for each of its rows in a file.

Dates and free text take no part, nor do rows without any known cell; both are told.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from novum.apps.job import record_json
from novum.apps.job.clock import Listener
from novum.apps.job.outputs import REQUEST, RUN, check_folder, safe_cell
from novum.apps.job.request import Request
from novum.apps.job.table.features import features_of, ids_of
from novum.apps.job.table.reading import LoadedTable, read
from novum.core.errors import InputError
from novum.core.files import replacing
from novum.core.json_text import parsed_json
from novum.core.tables import Kind
from novum.core.text import printable
from novum.display import counted
from novum.numerics import Floats, Positions

UNTARGETED = ("clusters", "novelty")
_REFUSED = {
    "metric": "--metric",
    "cost": "--cost",
    "prior": "--prior",
    "positive": "--positive",
    "test": "--test",
    "time": "--time",
    "group": "--group",
    "exposure": "--exposure",
    "plan": "--plan",
    "weight": "--weight",
}


@dataclass(frozen=True, eq=False)
class UntargetedTable:
    """A table as a run without a target sees it.

    Attributes
    ----------
    loaded : LoadedTable
    X : Arrow table
        Its columns of numbers and levels, of the rows that have a known cell.
    rows : int array
        Their places in the table.
    is_numeric : bool
        Whether there are numbers alone.
    kinds : tuple of (column, kind, reason)
    ids : names of all rows, or None
    not_done : tuple of str
        What took no part.
    """

    loaded: LoadedTable
    X: pa.Table
    rows: Positions
    is_numeric: bool
    kinds: tuple[tuple[str, str, str], ...]
    ids: Any
    not_done: tuple[str, ...]

    def write_rows(self, path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
        """One line for each row of the table: its number, its name if it has one, and columns."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["row", *([] if self.ids is None else ["id"]), *columns])
        place_of = {row: place for place, row in enumerate(self.rows.tolist())}
        for row in range(self.loaded.n_rows):
            name = [] if self.ids is None else [safe_cell(self.ids[row])]
            place = place_of.get(row)
            cells = ["" if place is None else values[place] for values in columns.values()]
            writer.writerow([row + 1, *name, *cells])
        with replacing(path) as file:
            file.write(text.getvalue().encode("utf-8"))


def read_untargeted(request: Request, folder: Path, listener: Listener) -> UntargetedTable:
    """The table of a run without a target; refuses what such a run has no use for."""
    given = [option for name, option in _REFUSED.items() if getattr(request, name) is not None]
    if given or request.targets:
        raise InputError(
            f"{(given or ['several targets'])[0]} does not go with --task {request.task}, which "
            "predicts nothing. Leave it out."
        )
    check_folder(request, folder)
    listener.stage("reading the table")
    loaded = read(request)
    features, _, special, kinds = features_of(loaded, request)
    if loaded.target:
        # Of the named column these runs say at the end how far what they found agrees with it.
        told = "no feature: compared with what was found"
        kinds = tuple((n, kind, told if n == loaded.target else why) for n, kind, why in kinds)
    apart = {*special.dates, *special.texts}
    columns = [column for column in features if column.name not in apart]
    if not columns:
        raise InputError(
            f"{printable(loaded.name)} has no column of numbers or levels to look at. Dates and "
            "free text take no part: derive numbers from them first."
        )
    table = loaded.table.select([column.name for column in columns])
    known = np.zeros(table.num_rows, bool)
    for column in table.itercolumns():
        known |= np.asarray(column.is_valid())
    if known.sum() < 3:
        raise InputError(f"{counted(int(known.sum()), 'row')} with cells are too few to compare.")
    rows = np.flatnonzero(known)
    said = [
        f"Column {printable(name)!r} is a date or free text and took no part."
        for name in sorted(apart)
    ]
    if len(rows) < loaded.n_rows:
        n_empty = loaded.n_rows - len(rows)
        said.append(f"{counted(n_empty, 'row')} without any known cell took no part.")
    folder.mkdir(parents=True, exist_ok=True)
    record_json.write_record(request, folder / REQUEST)
    is_numeric = all(column.kind is Kind.NUMERIC for column in columns)
    return UntargetedTable(
        loaded, table.take(rows), rows, is_numeric, kinds, ids_of(loaded, request), tuple(said)
    )


def attempted_charts(
    draw: Callable[[], tuple[tuple[str, str, Any], ...]],
) -> tuple[tuple[tuple[str, str, Any], ...], tuple[str, ...]]:
    """Pictures, or none and a sentence that says why: what was found does not depend on them."""
    try:
        return draw(), ()
    except Exception as error:
        what = printable(f"{type(error).__name__}: {error}", 200)
        return (), (f"Pictures could not be drawn ({what}).",)


def as_numbers(table: pa.Table) -> Floats:
    """Columns of numbers side by side, NaN where cells are missing."""
    return np.column_stack([np.asarray(column, np.float64) for column in table.itercolumns()])


def write_record(path: Path, plain: dict[str, Any]) -> None:
    """The record of a run as JSON."""
    with replacing(path) as file:
        file.write(json.dumps(plain, indent=1, default=_plain_value).encode())


# --- Runs that were there before ------------------------------------------------------------------


def request_to_repeat(folder: Path, report: Path) -> Request | None:
    """The request of a run without a target that was interrupted; None of any other run.

    Such a run keeps nothing between its stages, so that it is done again from its beginning; one
    that stopped while its report was drawn gives up its record for that.
    """
    if not (folder / REQUEST).exists():
        return None
    request = record_json.read_record(folder / REQUEST, Request)
    if request.task not in UNTARGETED:
        return None
    if (folder / RUN).exists() and report.exists():
        raise InputError(
            f"{folder} holds a finished run, so there is nothing to go on with. Its report is "
            f"drawn again by novum report {folder}."
        )
    (folder / RUN).unlink(missing_ok=True)
    return request


def recorded(path: Path) -> tuple[Request, dict[str, Any]] | None:
    """The request and the plain record of a run without a target; None of any other file."""
    try:
        plain = parsed_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(plain, dict) or plain.get("task") not in UNTARGETED:
        return None
    content = {"format": record_json.FORMAT, "record": plain.get("settings")}
    return record_json.from_json(json.dumps(content), Request), plain


def check_same(results: dict[str, Any], plain: dict[str, Any], path: Path) -> None:
    """Refuses to draw what a run found for what another one, recorded at `path`, had found."""
    now = json.loads(json.dumps(results, default=_plain_value))
    for name in ("n_rows", "kinds", "verdict"):
        if now[name] != plain.get(name):
            raise InputError(
                f"The table gives other {name.replace('_', ' ')} than are recorded in {path}: it "
                "has changed, or another version of novum wrote the record. Run it again into "
                "another folder."
            )


def _plain_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
