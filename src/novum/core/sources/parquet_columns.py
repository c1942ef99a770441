"""What the types of a Parquet file mean for learning, and chunks in the shape of the schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from novum.core.errors import FileFormatError, InputError
from novum.core.sources.cells import coded_column, table_type
from novum.core.sources.report import printable
from novum.core.sources.source import arrow_type
from novum.core.tables import Column, Kind, Level, Schema

# How polars writes the levels of an Enum into the field's metadata: length;level, repeated.
_POLARS_ENUM = b"_PL_ENUM_VALUES2"


@dataclass(frozen=True)
class ParquetColumn:
    """One column of the file.

    Parameters
    ----------
    name : str
    position : int
        Its place among all columns of the file.
    type : str
        `number`, `text`, `bool`, `date` (dates and times) or `zoned` (times with a zone).
    order : tuple of str
        Levels of an ordered dictionary, from low to high; empty for all others.
    whole : bool
        Whether a number is an integer.
    missing : tuple of str
        Text that stands for a missing cell.
    """

    name: str
    position: int
    type: str
    order: tuple[str, ...] = ()
    whole: bool = False
    missing: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        if self.type == "number":
            return Kind.NUMERIC
        return Kind.ORDINAL if self.order else Kind.NOMINAL

    @property
    def notes(self) -> tuple[str, ...]:
        if self.type in ("date", "zoned"):
            zone = " in UTC" if self.type == "zoned" else ""
            return (
                f"dates as text{zone}, to the microsecond; derive numbers (year, month, days "
                "since ...) to learn",
            )
        return ()


def parquet_columns(
    file: pq.ParquetFile, chosen: Sequence[int], missing: tuple[str, ...]
) -> tuple[ParquetColumn, ...]:
    """The chosen columns with the meaning of their types; raises for types that are no cells."""
    described = file.schema_arrow
    return tuple(_column(file, described.field(place), place, missing) for place in chosen)


def _column(
    file: pq.ParquetFile, field: pa.Field, position: int, missing: tuple[str, ...]
) -> ParquetColumn:
    order: tuple[str, ...] = ()
    kind = field.type
    if pt.is_dictionary(kind):
        if kind.ordered and _is_text(kind.value_type):
            order = _enum_levels(field) or _dictionary_levels(file, field.name)
        kind = kind.value_type
    name = _type_name(kind)
    if name is None:
        raise FileFormatError(
            f"Column {printable(field.name)!r} holds {printable(str(field.type), 80)}; a cell is a "
            "number, a text, a truth value or a date. Leave the column out by `columns=`.",
            column=position + 1,
        )
    whole = pt.is_integer(kind)
    return ParquetColumn(field.name, position, name, order, whole, missing)


def _type_name(kind: pa.DataType) -> str | None:
    if isinstance(kind, pa.BaseExtensionType):
        return None
    if pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind) or pt.is_null(kind):
        return "number"
    if _is_text(kind):
        return "text"
    if pt.is_boolean(kind):
        return "bool"
    if pt.is_timestamp(kind) and kind.tz is not None:
        return "zoned"
    return "date" if pt.is_date(kind) or pt.is_timestamp(kind) or pt.is_time(kind) else None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def _enum_levels(field: pa.Field) -> tuple[str, ...]:
    text = (field.metadata or {}).get(_POLARS_ENUM, b"")
    levels, at = [], 0
    while at < len(text):
        length, sign, _ = text[at:].partition(b";")
        if not sign or not length.isdigit():
            return ()
        start = at + len(length) + 1
        at = start + int(length)
        levels.append(text[start:at].decode("utf-8"))
    return tuple(levels)


def _dictionary_levels(file: pq.ParquetFile, name: str) -> tuple[str, ...]:
    """Levels of an ordered dictionary: the order of every row group, merged."""
    column = Column(name, Kind.ORDINAL)
    for group in range(file.metadata.num_row_groups):
        table = file.read_row_group(group, columns=[name], use_threads=False)
        for chunk in table.column(0).chunks:
            levels = tuple(chunk.dictionary.to_pylist())
            column = column.unite(Column(name, Kind.ORDINAL, levels))
    return tuple(str(level) for level in column.levels)


# --- Chunks ---------------------------------------------------------------------------------------


def schema_table(table: pa.Table, schema: Schema, columns: Sequence[ParquetColumn]) -> pa.Table:
    """Raw columns in the Arrow types of the schema, NaN and missing markers as null."""
    arrays = [
        _typed(column, source, table.column(i).combine_chunks())
        for i, (column, source) in enumerate(zip(schema.columns, columns, strict=True))
    ]
    return pa.table(arrays, schema=table_type(schema))


def clean(source: ParquetColumn, values: pa.Array) -> pa.Array:
    """Values of a raw column: numbers without NaN, text without markers, dates as text."""
    if pt.is_dictionary(values.type):
        values = values.dictionary_decode()
    if source.type == "number":
        if pt.is_floating(values.type):
            return pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
        return pc.cast(values, pa.float64(), safe=False) if not source.whole else values
    if source.type == "zoned":
        values = pc.cast(values, pa.timestamp("us"), safe=False)
    text = values if source.type == "bool" else _as_text(values)
    if source.missing and source.type == "text":
        gone = pc.is_in(text, value_set=pa.array(source.missing, pa.string()))
        text = pc.if_else(gone, pa.scalar(None, pa.string()), text)
    return text


def _as_text(values: pa.Array) -> pa.StringArray:
    if pt.is_timestamp(values.type):
        # One unit for all readers, so that the text of a time does not depend on the reader.
        values = pc.cast(values, pa.timestamp("us"), safe=False)
    elif pt.is_time(values.type):
        values = pc.cast(values, pa.time64("us"), safe=False)
    elif pt.is_date64(values.type):
        values = pc.cast(values, pa.date32())
    return pc.cast(values, pa.string())


def level_value(source: ParquetColumn, value: Level) -> Level:
    """A level as Python knows it: whole numbers of integer columns as int."""
    return int(value) if source.type == "number" and source.whole else value


def _typed(column: Column, source: ParquetColumn, values: pa.Array) -> pa.Array:
    values = clean(source, values)
    if column.kind is Kind.NUMERIC:
        return pc.cast(values, pa.float64(), safe=False)
    goal = arrow_type(column)
    if not pt.is_dictionary(goal):
        return pc.cast(values, goal)
    try:
        return coded_column(column, values.dictionary_encode())
    except pa.ArrowException as error:
        raise InputError(f"Column {column.name!r}: {error}") from None


def damaged(path: Path, error: BaseException) -> FileFormatError:
    return FileFormatError(
        f"{path.name} cannot be read as Parquet: {printable(str(error), 200).rstrip('.')}. "
        "It is damaged or of another format; write it again."
    )
