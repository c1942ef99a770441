"""Questions to the files of a Parquet table, answered by DuckDB within a memory limit.

DuckDB runs in its own in-memory session per question: one thread and insertion order kept, so
that rows come in the files' order; no extension is installed or loaded, no other file can be
opened, and nothing is written to disk.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from novum.core.errors import FileFormatError, InputError, MemoryLimitError, SchemaError
from novum.core.sources.parquet_columns import ParquetColumn, clean, damaged
from novum.core.sources.report import ColumnReport, printable
from novum.core.sources.source import DeclaredKind
from novum.core.sources.streams import Limits
from novum.core.sources.tallies import ordered_numbers
from novum.core.tables import Column, Kind, Level, Schema

# Two thousand rows are one vector of DuckDB; thirty-two of them are large enough for Arrow and
# small enough for hundreds of columns within the memory limit.
_BATCH_ROWS = 65_536
_EXACT_INTEGERS = 2**53
_COLUMNS_AT_A_TIME = 8


@dataclass(frozen=True)
class ParquetQueries:
    """The questions that a source has.

    Parameters
    ----------
    path : Path
        Of the file or folder, as messages name it.
    columns : tuple of ParquetColumn
    memory_limit : int
        Bytes that DuckDB may take.
    files : tuple of Path
        The files of a folder, in the order of their rows; empty for a single file.
    """

    path: Path
    columns: tuple[ParquetColumn, ...]
    memory_limit: int
    files: tuple[Path, ...] = ()

    def first_pass(
        self, declared: Mapping[str, DeclaredKind], limits: Limits
    ) -> tuple[Schema, tuple[ColumnReport, ...]]:
        """Kinds and levels of the columns, and counts for the report."""
        columns, reports = [], []
        with self._session() as session:
            rows, counts = self._counts(session)
            for source, (valid, low, high) in zip(self.columns, counts, strict=True):
                known = declared.get(source.name, DeclaredKind())
                kind = known.kind or source.kind
                levels: tuple[Level, ...] = ()
                if kind is not Kind.NUMERIC:
                    levels, valid = self._levels(session, source, limits)
                column = _settled(source, known, kind, levels)
                columns.append(column)
                constant = len(levels) == 1 if kind is not Kind.NUMERIC else low == high
                reports.append(
                    ColumnReport(
                        source.name,
                        kind,
                        rows - valid,
                        column.n_levels,
                        bool(constant and valid),
                        notes=_notes(source, kind, valid, (low, high)),
                    )
                )
        return Schema(tuple(columns)), tuple(reports)

    # Queries

    def _counts(self, session: Any) -> tuple[int, list[tuple[int, float | None, float | None]]]:
        """Rows, and for every column its cells with a value and, of numbers, the extremes."""
        rows, counts = 0, []
        # A few columns at a time: the reader holds a row group of every column it is asked for.
        for start in range(0, len(self.columns), _COLUMNS_AT_A_TIME):
            parts = ["count(*)"]
            for column in self.columns[start : start + _COLUMNS_AT_A_TIME]:
                cell = self._raw(column)
                if column.type != "number":
                    parts += [f"count({cell})", "NULL", "NULL"]
                    continue
                known = f"(CASE WHEN isnan({cell}) THEN NULL ELSE {cell} END)"
                number = cell if column.whole else known
                parts += [f"count({number})", f"min({number})::DOUBLE", f"max({number})::DOUBLE"]
            row = session.sql(f"SELECT {', '.join(parts)} FROM {self._file()}").fetchall()[0]
            rows = row[0]
            counts += [tuple(row[i : i + 3]) for i in range(1, len(row), 3)]
        return rows, counts

    def _levels(
        self, session: Any, column: ParquetColumn, limits: Limits
    ) -> tuple[tuple[Level, ...], int]:
        """The different values of a column, and the number of cells that have one."""
        cell = self._raw(column)
        relation = session.sql(
            f"SELECT {cell} AS level, count(*) AS cells FROM {self._file()} "
            f"WHERE {cell} IS NOT NULL GROUP BY ALL LIMIT {limits.levels + 1}"
        )
        table = _arrow_reader(relation).read_all().combine_chunks()
        if table.num_rows > limits.levels:
            raise InputError(
                f"Column {column.name!r} has more than {limits.levels:,} different values: it is "
                "an identifier or free text and no category. Leave it out by `columns=`."
            )
        values = clean(column, table.column(0).combine_chunks()) if table.num_rows else pa.array([])
        pairs = zip(values.to_pylist(), table.column(1).to_pylist(), strict=True)
        kept = [(level, cells) for level, cells in pairs if level is not None]
        return tuple(dict.fromkeys(level for level, _ in kept)), sum(cells for _, cells in kept)

    def _raw(self, column: ParquetColumn) -> str:
        """The column by its place: DuckDB takes `A` and `a` for one name."""
        cell = f"c{column.position}"
        if column.type == "number":
            return cell if column.whole else f"{cell}::DOUBLE"
        if column.type == "zoned":
            # The moment in UTC; text in a zone would depend on the machine's settings.
            return f"make_timestamp(epoch_us({cell}))"
        return f"{cell}::VARCHAR" if column.type == "text" else cell

    def _file(self) -> str:
        places = max(column.position for column in self.columns) + 1
        names = ", ".join(f"c{i}" for i in range(places))
        files = ", ".join(_literal(_exact(path)) for path in self._paths)
        # By name, DuckDB finds the one type of integers here and floats there.
        by_name = str(len(self._paths) > 1).lower()
        options = f"hive_partitioning=false, union_by_name={by_name}"
        return f"read_parquet([{files}], {options}) AS t({names})"

    @property
    def _paths(self) -> tuple[Path, ...]:
        return self.files or (self.path,)

    @contextmanager
    def _session(self) -> Iterator[Any]:
        duckdb = import_duckdb()
        session = duckdb.connect(
            config={
                "threads": 1,
                "memory_limit": f"{self.memory_limit}B",
                "preserve_insertion_order": True,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "allow_community_extensions": False,
                "temp_directory": "",
            }
        )
        try:
            spellings = {text for path in self._paths for text in (str(path), _exact(path))}
            paths = ", ".join(_literal(text) for text in spellings)
            session.execute(f"SET allowed_paths = [{paths}]")
            with suppress(duckdb.CatalogException):
                # A file that is read once must not fill the memory limit with its own pages;
                # releases before 1.3 have neither the cache nor the setting.
                session.execute("SET enable_external_file_cache = false")
            # DuckDB would draw a bar on standard output, where results may be expected.
            session.execute("SET enable_progress_bar = false")
            session.execute("SET enable_external_access = false")
            session.execute("SET lock_configuration = true")
            yield session
        except duckdb.OutOfMemoryException as error:
            raise MemoryLimitError(
                f"{self.path.name} needs more than the {self.memory_limit >> 20} MB that are "
                f"allowed ({printable(str(error), 120)}). Raise `memory_limit` or read fewer "
                "columns (`columns=`)."
            ) from None
        except (duckdb.Error, pa.ArrowException, UnicodeDecodeError, OSError) as error:
            raise damaged(self.path, error) from None
        finally:
            session.close()


def import_duckdb() -> ModuleType:
    """DuckDB, which is an extra and costs nothing until a Parquet file is opened."""
    try:
        return importlib.import_module("duckdb")
    except ImportError:
        raise ImportError(
            "Reading Parquet files needs DuckDB, which is not installed: "
            "pip install '.[scale]' in a copy of the sources."
        ) from None


# --- Parts ----------------------------------------------------------------------------------------


def _settled(
    source: ParquetColumn, declared: DeclaredKind, kind: Kind, levels: tuple[Level, ...]
) -> Column:
    if kind is Kind.NUMERIC:
        if source.kind is not Kind.NUMERIC:
            raise SchemaError(
                f"`kinds` declares column {source.name!r} numeric, but the file stores it as "
                f"{source.type}. Convert the column, or leave it out by `columns=`."
            )
        return Column(source.name)
    order = declared.levels or source.order
    if order:
        strange = [level for level in levels if level not in set(order)]
        if strange:
            raise FileFormatError(
                f"Column {source.name!r} holds {printable(repr(strange[0]))}, which is none of the "
                f"declared levels. Declare it in `kinds`, or correct the cells."
            )
        return Column(source.name, kind, order)
    if kind is Kind.ORDINAL and source.type != "number":
        return Column(source.name, kind, ordered_numbers(source.name, tuple(map(str, levels))))
    return Column(source.name, kind, tuple(sorted(levels)) if kind is Kind.ORDINAL else levels)


def _notes(
    source: ParquetColumn, kind: Kind, valid: int, extremes: tuple[float | None, float | None]
) -> tuple[str, ...]:
    if valid == 0:
        return ("no values",)
    largest = max((abs(value) for value in extremes if value is not None), default=0)
    if kind is Kind.NUMERIC and source.whole and largest > _EXACT_INTEGERS:
        return (
            "whole numbers beyond 2^53, which float64 cannot tell apart; identifiers are kept "
            "exactly by kinds='nominal'",
        )
    return ()


def _arrow_reader(relation: Any) -> pa.RecordBatchReader:
    # Releases before 1.4 know this method by its old name only.
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    return read(_BATCH_ROWS)


def _exact(path: Path) -> str:
    """The path with its wildcards taken literally."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in str(path))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
