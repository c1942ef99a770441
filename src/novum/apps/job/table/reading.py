"""Reading the table of a run: a file or a bundled table, with its checksum and what was decided.

Everything that goes wrong here ends in one sentence that says what is wrong, where, and what to do:
a wrong path, a wrong encoding, a ragged row, an empty file, a column that is not there. A file to
judge on is read by the schema of the table, so that a cell means the same in both.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from novum import data
from novum.apps.job.record import OF_NUMBERS
from novum.apps.job.request import Request
from novum.apps.job.table.named_columns import (
    check_declared,
    check_roles,
    check_targets,
    suggestion,
)
from novum.apps.job.table.reader_advice import for_a_run
from novum.core.errors import (
    FileFormatError,
    InputError,
    MemoryLimitError,
    MixedColumnWarning,
    SchemaError,
)
from novum.core.sources import ColumnReport, KindLike, ReadReport, is_number_text
from novum.core.tables import Column, Kind, Schema
from novum.core.text import printable
from novum.numerics import cached_property

# How notes of a reader begin that say that cells are changed.
_LONG, _LABELS = "numbers beyond 2^53", ("truth values", "written with leading zeros")
# Different cells that are labels although they are numbers.
MOST_LABELS = 10


@dataclass(frozen=True, eq=False)
class LoadedTable:
    """A table as it was read.

    Attributes
    ----------
    name : str
        Of the file without its folder, or of the bundled table.
    table : pyarrow.Table
    schema : Schema
        Of all columns, the target's too.
    target : str
        Name of the column to predict; empty where there is none.
    sha256 : str
        Of the file's bytes.
    report : ReadReport
        What the reader found and decided.
    task : {"classification", "regression"} or None
        What a bundled table is for; a file does not say.
    costs : dict or None
        Published with a bundled table.
    as_text : tuple of str
        Columns whose cells are kept as the file writes them, where numbers or truth values would
        change them.
    """

    name: str
    table: pa.Table
    schema: Schema
    target: str
    sha256: str
    report: ReadReport
    task: str | None = None
    costs: dict[str, Any] | None = None
    as_text: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def n_columns(self) -> int:
        return self.schema.n_columns

    def column(self, name: str) -> Column:
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.schema.columns}


def read(request: Request) -> LoadedTable:
    """The table that a request names.

    Parameters
    ----------
    request : Request
        Of which the table, what is said about its columns and cells, and their roles matter here.

    Examples
    --------
    >>> table = read(Request("iris"))
    >>> table.name, table.n_rows, table.n_columns, table.target
    ('iris', 150, 5, 'species')
    """
    is_bundled = request.table in data.available()
    loaded = _read_bundled(request) if is_bundled else _read_file(request)
    check_targets(request.targets)
    roles = {
        "target": loaded.target or None,
        "weight": request.weight,
        "exposure": request.exposure,
        "group": request.group,
        "time": request.time,
        "id": request.id,
    }
    for role, name in (*roles.items(), *(("target", name) for name in request.targets)):
        if name is not None and name not in loaded.schema.names:
            raise InputError(
                f"{printable(loaded.name)} has no column {printable(name)!r} to be the {role}. "
                f"{suggestion(name, loaded.schema.names)}"
            )
    for target in request.targets or (loaded.target,):
        check_roles(own := roles | {"target": target or None})
        check_declared(request, own, loaded.schema.names, loaded.name)
    return loaded


def read_like(
    path: str, loaded: LoadedTable, needed: Sequence[str], request: Request | None = None
) -> LoadedTable:
    """Another file, read by the schema of a table.

    Parameters
    ----------
    path : str
    loaded : LoadedTable
        Whose kinds and levels hold; a level that it does not have is kept as a new one.
    needed : sequence of str
        Columns that the file must have; its others are not read.
    request : Request, optional
        Of which `missing_values`, and `sheet` and `sql` where the file has such, hold here too.
    """
    source = Path(path)
    asked = Request(path) if request is None else request
    wishes = {name: wish for name in needed if (wish := _wish(loaded.column(name))) is not None}
    with _as_one_sentence(path):
        digest = _sha256(source)
        try:
            read = _quietly(source, asked, wishes, needed)
        except SchemaError:
            _refuse_absent(source, asked, needed)
            raise
        except FileFormatError as error:
            raise FileFormatError(
                f"{printable(source.name)} does not fit {printable(loaded.name)}: {error}",
                line=error.line,
                column=error.column,
            ) from None
    _check_kinds(read.schema, loaded, source.name)
    return LoadedTable(
        source.name, read.table, read.schema, loaded.target, digest, read.report, loaded.task
    )


# --- Files ----------------------------------------------------------------------------------------


def read_file(request: Request) -> tuple[data.ReadTable, tuple[str, ...]]:
    """The file that a request names, and its columns that are kept as text."""
    path = Path(request.table)
    with _as_one_sentence(request.table):
        try:
            return _as_written(_quietly(path, request, _declared(request)), path, request)
        except SchemaError:
            # A column that is declared and not there is told apart from one that does not fit.
            names = _quietly(path, request).schema.names
            check_declared(request, {"id": request.id}, names, path.name)
            raise
        except FileFormatError as error:
            words = str(error).replace("`kinds` declares column", "--kind declares column")
            raise FileFormatError(words, line=error.line, column=error.column) from None


def _read_file(request: Request) -> LoadedTable:
    path = Path(request.table)
    with _as_one_sentence(request.table):
        digest = _sha256(path)
    read, as_text = read_file(request)
    target = request.target or next(iter(request.targets), "")
    if not target and request.task not in ("clusters", "novelty"):
        raise InputError(
            f"Which column of {printable(path.name)} is to be predicted? Name it with --target. "
            f"{suggestion('', read.schema.names)}"
        )
    return LoadedTable(
        path.name, read.table, read.schema, target, digest, read.report, as_text=as_text
    )


def _as_written(
    read: data.ReadTable, path: Path, request: Request
) -> tuple[data.ReadTable, tuple[str, ...]]:
    """Columns whose cells another type would change, as the file writes them.

    Whole numbers that float64 merges, and labels of a target such as `true` or `007`.
    """
    targets = () if request.task in OF_NUMBERS else (request.target, *request.targets)
    declared = {*_declared(request), request.weight, request.exposure, request.time}
    kept: list[str] = []
    for place, column in enumerate(read.schema.columns):
        report = read.report.columns[place]
        is_target = column.name in targets
        is_long = any(note.startswith(_LONG) for note in report.notes)
        is_label = is_target and any(note.startswith(_LABELS) for note in report.notes)
        if column.name in declared or not (is_label or is_long):
            continue
        with suppress(MemoryLimitError, InputError):
            text = _quietly(path, request, {column.name: "nominal"}, [column.name])
            n_texts = text.schema.columns[0].n_levels
            n_read = column.n_levels or pc.count_distinct(read.table.column(place)).as_py()
            are_labels = n_texts <= MOST_LABELS and (n_texts == n_read or is_long)
            if not (are_labels if is_target else _are_merged(text.schema.columns[0], n_read)):
                continue
            note = f"kept as text: {n_texts:,} different texts, which would be {n_read:,} otherwise"
            columns = list(read.schema.columns)
            reports = list(read.report.columns)
            columns[place] = text.schema.columns[0]
            reports[place] = replace(text.report.columns[0], notes=(note,))
            table = read.table.set_column(place, column.name, text.table.column(0))
            whole = replace(read.report, columns=tuple(reports))
            read = replace(read, table=table, schema=Schema(tuple(columns)), report=whole)
            kept.append(column.name)
    return read, tuple(kept)


def _are_merged(texts: Column, n_numbers: int) -> bool:
    """Whether different whole numbers are equal as float64."""
    return texts.n_levels > n_numbers and all(
        re.fullmatch(r"[-+]?\d+", str(level)) for level in texts.levels
    )


def _declared(request: Request) -> dict[str, KindLike]:
    """What a reader has to know; names, dates and text are kept as the file writes them."""
    kinds: dict[str, KindLike] = {} if request.id is None else {request.id: "nominal"}
    for name, kind in request.kind:
        if kind != "drop":
            kinds[name] = kind if kind in ("numeric", "nominal", "ordinal") else "nominal"
    return kinds | dict(request.levels)


def reading_options(request: Request, as_text: Sequence[str] = ()) -> dict[str, Any]:
    """Arguments of `novum.data.read` that a request stands for, with columns kept as text."""
    options: dict[str, Any] = {"sheet": request.sheet, "sql": request.sql}
    if request.table not in data.available():
        options["kinds"] = _declared(request) | dict.fromkeys(as_text, "nominal")
        if request.missing_values:
            usual = getattr(data.open_source(request.table), "usual_missing", ())
            options["missing"] = (*usual, *request.missing_values)
    return {name: value for name, value in options.items() if value}


def _quietly(
    path: Path,
    request: Request,
    kinds: Mapping[str, KindLike] | None = None,
    columns: Sequence[str] | None = None,
) -> data.ReadTable:
    """Reads a file; columns of mixed types are in the report and become a finding.

    What a request says of a sheet or a question holds for the table itself, and for other files of
    its format.
    """
    same = path.suffix.lower() == Path(request.table).suffix.lower()
    usual = getattr(data.open_source(path), "usual_missing", ())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedColumnWarning)
        table = data.read(
            path,
            kinds=kinds,
            missing=(*usual, *request.missing_values) if request.missing_values else None,
            columns=columns,
            sheet=request.sheet if same else None,
            sql=request.sql if same else None,
        )
    return _without(table, request.missing_values)


def _without(read: data.ReadTable, missing: Sequence[str]) -> data.ReadTable:
    """Numbers of files that store them as such, without those that mean missing."""
    marks = [float(text) for text in missing if is_number_text(text)]
    table, columns = read.table, list(read.report.columns)
    for place, column in enumerate(read.schema.columns):
        if marks and column.kind is Kind.NUMERIC:
            cells = table.column(place)
            gone = pc.is_in(cells, value_set=pa.array(marks, pa.float64()))
            if pc.any(gone).as_py():
                cells = pc.if_else(gone, pa.scalar(None, pa.float64()), cells)
                table = table.set_column(place, column.name, cells)
                columns[place] = replace(columns[place], missing=cells.null_count)
    return replace(read, table=table, report=replace(read.report, columns=tuple(columns)))


def _sha256(path: Path) -> str:
    """Of the file's bytes, or of those of all files of a folder."""
    if path.is_dir():
        parts = sorted(part for part in path.glob("*.parquet") if part.name[0] not in "._")
        digests = [f"{part.name} {_sha256(part)}" for part in parts]
        return hashlib.sha256("\n".join(digests).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _as_one_sentence(path: str) -> Iterator[None]:
    """Turns what the system says about a path into a sentence that says what to do."""
    shown = repr(printable(path, 200))
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"There is no file {shown}. {_near_files(Path(path))}") from None
    except IsADirectoryError:
        raise InputError(f"{shown} is a folder. Name one file.") from None
    except PermissionError:
        raise InputError(
            f"{shown} may not be read: permission is denied. Allow reading, or copy the file."
        ) from None
    except FileFormatError as error:
        message = for_a_run(str(error))
        raise FileFormatError(message, line=error.line, column=error.column) from None
    except (InputError, MemoryLimitError) as error:
        raise type(error)(for_a_run(str(error))) from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"{shown} cannot be read: {printable(str(error), 200)}. Check the path and the file."
        ) from None


def _near_files(path: Path) -> str:
    """Files and bundled tables whose names are near."""
    try:
        beside = [entry.name for entry in path.parent.iterdir() if entry.is_file()][:10_000]
    except OSError:
        return f"There is no folder {printable(str(path.parent), 200)!r} either. Check the path."
    near = difflib.get_close_matches(path.name, [*sorted(beside), *data.available()], n=1)
    if near:
        return f"Did you mean {printable(near[0], 80)!r}?"
    return f"Check the name and the folder, or take a bundled table: {', '.join(data.available())}."


# --- Bundled tables -------------------------------------------------------------------------------


def _read_bundled(request: Request) -> LoadedTable:
    loaded = data.load(request.table)
    folder = files("novum.data") / "tables"
    entry = next(
        entry
        for entry in folder.iterdir()
        if entry.name in (f"{loaded.name}.csv", f"{loaded.name}.csv.gz")
    )
    name, table, schema = loaded.name, loaded.table, loaded.schema
    if request.sql is not None or request.sheet is not None:
        option = "--sql" if request.sql is not None else "--sheet"
        raise InputError(f"{option} is for files, and {name} is a bundled table. Leave it out.")
    declared = _declared(request)
    if declared or request.missing_values:
        check_declared(request, {"id": request.id}, schema.names, name)
        known = {c.name: wish for c in schema.columns if (wish := _wish(c)) is not None}
        with as_file(entry) as path, _as_one_sentence(str(path)):
            again = _quietly(path, request, known | declared, schema.names)
        table, schema = again.table, again.schema
    columns = tuple(
        ColumnReport(
            column.name, column.kind, table.column(column.name).null_count, column.n_levels
        )
        for column in schema.columns
    )
    report = ReadReport(name, "bundled table", table.num_rows, columns, (loaded.description,))
    target = request.target or next(iter(request.targets), loaded.target)
    return LoadedTable(
        name,
        table,
        schema,
        target,
        hashlib.sha256(entry.read_bytes()).hexdigest(),
        report,
        loaded.task if target == loaded.target else None,
        loaded.costs if target == loaded.target else None,
    )


def _wish(column: Column) -> KindLike | None:
    if column.kind is Kind.ORDINAL:
        return column.levels
    is_truth = any(isinstance(level, bool) for level in column.levels)
    # Truth values are found from the words; a declared nominal column would keep the words.
    return None if is_truth else column.kind


def _refuse_absent(path: Path, request: Request, needed: Sequence[str]) -> None:
    """Names the first needed column that a file does not have."""
    names = _quietly(path, request).schema.names
    absent = [name for name in needed if name not in names]
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise InputError(
            f"{printable(path.name)} lacks the column {printable(absent[0])!r}{more}, which "
            f"{'is' if len(absent) == 1 else 'are'} needed. {suggestion(absent[0], names, needed)}"
        ) from None


def _check_kinds(schema: Schema, loaded: LoadedTable, name: str) -> None:
    for column in schema.columns:
        known = loaded.column(column.name)
        types = {type(level) for level in (*column.levels, *known.levels)}
        if column.kind is not known.kind or len(types) > 1:
            raise InputError(
                f"Column {printable(column.name)!r} of {printable(name)} does not fit the table: "
                f"{_sample(column)} here, {_sample(known)} there. Write both alike."
            )


def _sample(column: Column) -> str:
    if column.kind is Kind.NUMERIC:
        return "numbers"
    return f"levels such as {printable(repr(column.levels[0]), 40)}" if column.levels else "nothing"
