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
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from novum import data
from novum.apps.job.request import KINDS, Request
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

# --- Advice ---------------------------------------------------------------------------------------
# What readers advise, in words for someone who has a file and a command line.
#
# Readers speak to callers of the library: `dialect=Dialect(encoding='latin-1')`. A user of a run
# cannot pass that, but can save the file in another way. What is wrong and where stays as it is.

_DIALECT = r"dialect=Dialect\([^)]*\)"
_WORDS: tuple[tuple[str, str], ...] = (
    (rf"If the first line is a row, say so: {_DIALECT}",
     "Add rows below it, or, if it is a row, put a line of names before it"),
    (rf"; if the file has no header, say so: {_DIALECT}", ", or put a line of names first"),
    (rf",? or read without quotes: {_DIALECT}", ""),
    (rf",? or name it: {_DIALECT}", ", such as UTF-8"),
    (rf"[^.;:]*\bsay so: {_DIALECT};?", " Save it as UTF-8;"),
    (_DIALECT, "saving the file as comma-separated UTF-8 text"),
    (r"([Ll])eave (it|the column) out by `columns=`", r"\1eave \2 out of the file"),
    (r"(Read fewer columns) \(`columns=`\), or give the path itself to a learner's `fit_file`",
     "Give the run fewer columns or rows"),
    (r"Ask for smaller chunks \(`rows=`\) or fewer columns \(`columns=`\)", "Keep fewer columns"),
    (r"add the word to `missing`, or declare the column nominal",
     "or name the word with --missing-values"),
    (r"`kinds` makes column ('[^']*') ordinal without an order, and (.*?) is no number. Give the "
     r"levels from low to high: kinds=.*", r"--kind makes column \1 ordinal, and \2 is no number. "
     "Give its levels from low to high with --levels COLUMN=LOW,...,HIGH."),
    (r"none of the levels that `kinds` declares", "none of the levels that --levels lists"),
    (r"Declare it in `kinds`", "List it in --levels"),
    (r"sql=\"", "--sql \""),
    (r"Name another sheet\.", "Name another with --sheet."),
    (r"it has (.*)\. Name one of them\.", r"it has \1. Name one of them with --sheet."),
    (r"`kinds` declares column", "the table has column"),
    (r"that `kinds` declares", "of the table"),
    (r"(Open (it|the file)|Read it) again( with open_source)?", "Start the run again"),
)  # fmt: skip


def for_a_run(message: str) -> str:
    """The message of a reader with advice that a user of a run can follow.

    Examples
    --------
    >>> for_a_run("It is free text. Leave it out by `columns=`.")
    'It is free text. Leave it out of the file.'
    """
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return message


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
    """

    name: str
    table: pa.Table
    schema: Schema
    target: str
    sha256: str
    report: ReadReport
    task: str | None = None
    costs: dict[str, Any] | None = None

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
    _check_targets(request.targets)
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
        _check_roles(own := roles | {"target": target or None})
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


def suggestion(name: str, names: Sequence[str]) -> str:
    """What to say about a name that is not there: the nearest names, else the first ones.

    Examples
    --------
    >>> suggestion("specis", ["width", "species"])
    "Did you mean 'species'?"
    >>> suggestion("xyz", ["width", "species"])
    "Its columns are 'width', 'species'."
    """
    lower = {known.lower(): known for known in reversed(names)}
    near = difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(repr(printable(lower[key], 60)) for key in near)}?"
    shown = ", ".join(repr(printable(known, 60)) for known in names[:8])
    return f"Its columns are {shown}{f', ... ({len(names)} in all)' if len(names) > 8 else ''}."


# --- Files ----------------------------------------------------------------------------------------


def _read_file(request: Request) -> LoadedTable:
    path = Path(request.table)
    with _as_one_sentence(request.table):
        digest = _sha256(path)
        try:
            read = _quietly(path, request, _declared(request))
        except SchemaError:
            # A column that is declared and not there is told apart from one that does not fit.
            names = _quietly(path, request).schema.names
            check_declared(request, {"id": request.id}, names, path.name)
            raise
        except FileFormatError as error:
            words = str(error).replace("`kinds` declares column", "--kind declares column")
            raise FileFormatError(words, line=error.line, column=error.column) from None
    target = request.target or next(iter(request.targets), "")
    if not target and request.task not in ("clusters", "novelty"):
        raise InputError(
            f"Which column of {printable(path.name)} is to be predicted? Name it with --target. "
            f"{suggestion('', read.schema.names)}"
        )
    return LoadedTable(path.name, read.table, read.schema, target, digest, read.report)


def _declared(request: Request) -> dict[str, KindLike]:
    """What a reader has to know; names, dates and text are kept as the file writes them."""
    kinds: dict[str, KindLike] = {} if request.id is None else {request.id: "nominal"}
    for name, kind in request.kind:
        if kind != "drop":
            kinds[name] = kind if kind in ("numeric", "nominal", "ordinal") else "nominal"
    return kinds | dict(request.levels)


def reading_options(request: Request) -> dict[str, Any]:
    """Arguments of `novum.data.read` that a request stands for."""
    options: dict[str, Any] = {"sheet": request.sheet, "sql": request.sql}
    if request.table not in data.available():
        options["kinds"] = _declared(request)
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


# --- Checks ---------------------------------------------------------------------------------------


def _check_targets(targets: Sequence[str]) -> None:
    """Several targets are different columns."""
    twice = next((name for name in targets if targets.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"--target names {printable(twice)!r} twice. Name each target once.")


def _check_roles(roles: dict[str, str | None]) -> None:
    """No column has two roles."""
    seen: dict[str, str] = {}
    for role, name in roles.items():
        if name is None:
            continue
        if name in seen:
            raise InputError(
                f"Column {printable(name)!r} cannot be the {seen[name]} and the {role}. Name "
                f"another column with --{role}."
            )
        seen[name] = role


def check_declared(
    request: Request, roles: Mapping[str, str | None], names: Sequence[str], table: str
) -> None:
    """Columns that options speak of are there, once, and their kinds are some."""
    seen: dict[str, str] = {}
    listed = [("--kind", name) for name, _ in request.kind]
    listed += [("--levels", name) for name, _ in request.levels]
    if roles.get("id") is not None:
        listed.append(("--id", str(roles["id"])))
    for option, name in listed:
        shown = repr(printable(name))
        if name not in names:
            raise InputError(
                f"{option} names the column {shown}, which {printable(table)} does not have. "
                f"{suggestion(name, names)}"
            )
        ordered = {option, seen.get(name)} == {"--kind", "--levels"}
        if name in seen and not (ordered and dict(request.kind)[name] == "ordinal"):
            both = "twice" if option == seen[name] else f"too, as {seen[name]} does"
            raise InputError(f"{option} names the column {shown} {both}. Leave out one of them.")
        seen[name] = option
    for name, kind in request.kind:
        if kind not in KINDS:
            near = difflib.get_close_matches(kind, KINDS, n=1)
            raise InputError(
                f"--kind {printable(name, 60)}={printable(kind, 40)} is no kind. "
                + (f"Did you mean {near[0]}?" if near else f"Kinds are {', '.join(KINDS)}.")
            )
    for role, column in roles.items():
        said = dict(request.kind).get(str(column))
        if role not in ("id",) and said in ("id", "drop", "text"):
            raise InputError(
                f"--kind {printable(str(column), 60)}={said} does not go with the {role}. Leave "
                "out one of them."
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
            f"{printable(path.name)} lacks the column {printable(absent[0])!r}{more}, which is "
            f"needed. {suggestion(absent[0], names)}"
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
