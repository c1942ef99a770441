"""One door to all file formats, chosen by the suffix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from novum.core.errors import InputError
from novum.core.sources.arff import ArffSource
from novum.core.sources.databases import DATABASES, DatabaseSource
from novum.core.sources.delimited import DelimitedSource
from novum.core.sources.dialect import Dialect
from novum.core.sources.held import ExcelSource, JsonSource
from novum.core.sources.parquet import ParquetSource
from novum.core.sources.source import KindLike, Options, Source

_DELIMITED = (".csv", ".tsv", ".txt")


def open_source(
    path: str | PathLike[str],
    *,
    kinds: Mapping[str, KindLike] | None = None,
    missing: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    dialect: Dialect | None = None,
    memory_limit: int | str | None = None,
    sheet: str | None = None,
    sql: str | None = None,
) -> Source:
    """A file as schema plus restartable chunks; nothing is read before the first question.

    Parameters
    ----------
    path : path
        `.csv`, `.tsv`, `.txt`, `.arff`, `.jsonl` and `.json`, plain or with `.gz` behind,
        `.parquet`, or a folder of Parquet files that are parts of one table, `.xlsx`, or a DuckDB
        or SQLite file.
    kinds : mapping, default=None
        Kinds of columns that the file does not tell: `{"zip": "nominal"}`; a sequence of levels
        makes a column ordinal in that order.
    missing : sequence of str, default=None
        What stands for a missing cell; None takes what is usual in the format.
    columns : sequence of str, default=None
        The columns to read, in this order; None reads all.
    dialect : Dialect, default=None
        How a delimited file is written, as far as it is known.
    memory_limit : int or str, default=None
        Bytes (or `"400MB"`) that a chunk, and DuckDB for Parquet, may take.
    sheet : str, default=None
        Of an Excel file; None takes the first.
    sql : str, default=None
        A question to a DuckDB or SQLite file; None takes its only table.

    Returns
    -------
    Source

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age,city\\n31,Ulm\\n?,Bonn\\n")
    >>> source = open_source(path)
    >>> [(column.name, column.kind.value, column.levels) for column in source.schema().columns]
    [('age', 'numeric', ()), ('city', 'nominal', ('Bonn', 'Ulm'))]
    >>> next(source.chunks()).column("age").to_pylist()
    [31.0, None]
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packed = suffixes[-1:] == [".gz"]
    suffix = suffixes[-2 if packed else -1] if len(suffixes) > packed else ""
    options = Options(kinds=kinds, missing=missing, columns=columns, memory_limit=memory_limit)
    folder = Path(path).is_dir()
    name = Path(path).name
    if sheet is not None and suffix != ".xlsx":
        raise InputError(f"A sheet is part of an Excel file, and {name!r} is none. Leave it out.")
    if sql is not None and suffix not in DATABASES:
        raise InputError(
            f"A question in SQL is for a DuckDB or SQLite file, and {name!r} is none. Leave it out."
        )
    if suffix in _DELIMITED and not folder:
        return DelimitedSource(path, dialect=dialect, **options)
    if dialect is not None:
        raise InputError(f"`dialect` is for delimited text, and {name!r} is none. Leave it out.")
    if suffix == ".arff" and not folder:
        return ArffSource(path, **options)
    if folder or (suffix == ".parquet" and not packed):
        return ParquetSource(path, **options)
    if suffix == ".xls":
        raise InputError(f"{name!r} is of Excel before 2007. Save it as .xlsx.")
    if suffix in (".jsonl", ".ndjson", ".json"):
        return JsonSource(path, **options)
    if suffix == ".xlsx" and not packed:
        return ExcelSource(path, sheet=sheet, **options)
    if suffix in DATABASES and not packed:
        return DatabaseSource(path, sql=sql, **options)
    raise InputError(
        f"{name!r} has no suffix that tells its format. Readable are .csv, .tsv, .txt, .arff, "
        ".jsonl, .ndjson and .json, each also with .gz behind, .parquet and folders of Parquet "
        "files, .xlsx, and DuckDB and SQLite files (.duckdb, .sqlite, .db)."
    )
