"""From cells of text to numbers, levels, and the columns of a schema.

A number is what `NUMBER` matches: digits with an optional sign, decimal point and exponent, or an
infinity. Blanks around a cell are no part of it. A cell that is written like a number but exceeds
float64 (`1e999`) counts as a word, because turning it into infinity would invent a value.

Columns are converted without a Python loop over rows. Where Arrow's own conversion fails, the
cells are coded by their different values first and only those are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.types as pt

from novum.core.errors import InputError
from novum.core.sources.amounts import Amounts
from novum.core.sources.source import arrow_type
from novum.core.tables import Column, Kind, Schema

NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)$"
DATE = (
    r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
    r"([ T]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?$"
)
DEFAULT_MISSING: tuple[str, ...] = (
    "", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "NaT", "null", "NULL", "Null",
)  # fmt: skip

_NUMBER = re.compile(NUMBER, re.ASCII)
_INFINITY = r"[iI][nN][fF]"
_NO_TEXT = pa.scalar(None, pa.string())
_FEW_LEVELS = 1000


def is_number_text(text: str) -> bool:
    """Whether a cell is written as a number.

    Examples
    --------
    >>> [is_number_text(cell) for cell in ("-1.5e3", ".5", "1,5", "12a", "")]
    [True, True, False, False, False]
    """
    return _NUMBER.match(text) is not None


def arrow_cells(
    text: bytes, separator: str, quote: str, n_columns: int, chosen: Sequence[int]
) -> list[pa.StringArray]:
    """The cells of whole records, one array of text per chosen column, by Arrow's CSV parser."""
    names = [str(i) for i in range(n_columns)]
    wanted = [names[i] for i in chosen]
    table = pcsv.read_csv(
        pa.py_buffer(text),
        # One block for Arrow: it must not look for record ends of its own.
        pcsv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
        pcsv.ParseOptions(delimiter=separator, quote_char=quote or False, newlines_in_values=True),
        # Markers are looked for later; Arrow would keep a copy of the lists per column.
        pcsv.ConvertOptions(
            column_types=dict.fromkeys(wanted, pa.string()),
            include_columns=wanted,
            null_values=[],
            true_values=[],
            false_values=[],
        ),
    )
    return [table.column(i).combine_chunks() for i in range(len(wanted))]


@dataclass(frozen=True)
class Numbers:
    """A column of cells taken as numbers.

    Parameters
    ----------
    values : float64 array
        Null where the cell is missing or a word.
    words : bool array or None
        True where the cell is neither a number nor missing; None if there is no such cell.
    """

    values: pa.DoubleArray
    words: pa.BooleanArray | None


@dataclass(frozen=True)
class CellReader:
    """How the text of cells is understood.

    Parameters
    ----------
    missing : frozenset of str
        What stands for a missing cell.
    decimal : str
        Decimal sign, `"."` or `","`.
    amounts : Amounts, optional
        How numbers are written, where people wrote them.

    Examples
    --------
    >>> reader = CellReader(frozenset({"?"}))
    >>> reader.numbers(pa.array(["1", " 2", "?", "x"])).values.to_pylist()
    [1.0, 2.0, None, None]
    """

    missing: frozenset[str]
    decimal: str = "."
    amounts: Amounts | None = None

    def numbers(self, cells: pa.StringArray) -> Numbers:
        """The cells as float64, and which of them are words."""
        if self.decimal == "." and self.amounts is None:
            values = None
            # Where no marker is written like a number, cells that all convert hold none.
            if not any(is_number_text(marker) for marker in self.missing):
                values = _converted(cells)
            if values is None:
                marked = pc.is_in(cells, value_set=pa.array(sorted(self.missing), pa.string()))
                values = _converted(pc.if_else(marked, _NO_TEXT, cells))
            if values is not None:
                return Numbers(_without_nan(values), None)
        coded = self.levels(cells)
        values, words = self._level_numbers(coded.dictionary)
        values = values.take(coded.indices)
        words = pc.fill_null(words.take(coded.indices), False)
        return Numbers(_without_nan(values), words if _any(words) else None)

    def levels(self, cells: pa.StringArray) -> pa.DictionaryArray:
        """The cells without surrounding blanks, coded; null where missing."""
        coded = cells.dictionary_encode()
        trimmed = pc.utf8_trim_whitespace(coded.dictionary)
        markers = pa.array(sorted(self.missing), pa.string())
        gone = pc.is_in(trimmed, value_set=markers)
        if not _any(gone) and trimmed.equals(coded.dictionary):
            return coded
        kept = pc.if_else(gone, _NO_TEXT, trimmed)
        return kept.take(coded.indices).dictionary_encode()

    def trimmed(self, cells: pa.StringArray) -> int:
        """How many cells lose blanks around a value."""
        coded = cells.dictionary_encode()
        changed = pc.not_equal(pc.utf8_trim_whitespace(coded.dictionary), coded.dictionary)
        return int(pc.sum(changed.take(coded.indices)).as_py() or 0) if _any(changed) else 0

    def are_numbers(self, levels: pa.StringArray) -> pa.BooleanArray:
        """Which of the different values are written as numbers that float64 can hold."""
        return pc.invert(self._level_numbers(levels)[1])

    def _level_numbers(self, levels: pa.StringArray) -> tuple[pa.DoubleArray, pa.BooleanArray]:
        text = levels
        if self.amounts is not None:
            text = self.amounts.plain(text)
        elif self.decimal == ",":
            # A point next to decimal commas groups thousands: such a cell is left as a word.
            pointed = pc.match_substring(text, ".")
            text = pc.if_else(pointed, "word", pc.replace_substring(text, ",", "."))
        sure = pc.match_substring_regex(text, NUMBER)
        values = pc.cast(pc.if_else(sure, text, _NO_TEXT), pa.float64())
        overflow = pc.and_(pc.is_inf(values), pc.invert(pc.match_substring_regex(text, _INFINITY)))
        words = pc.or_(pc.invert(sure), pc.fill_null(overflow, False))
        return pc.if_else(words, pa.scalar(None, pa.float64()), values), words


def all_match(pattern: str, levels: Iterable[str]) -> bool:
    """Whether there are different values and every one matches `pattern` (`DATE`)."""
    texts = pa.array(list(levels), pa.string())
    return len(texts) > 0 and bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def _converted(cells: pa.StringArray) -> pa.DoubleArray | None:
    """Arrow's conversion, if it succeeds and gives no infinity, which may be an overflow."""
    try:
        values = pc.cast(cells, pa.float64())
    except pa.ArrowInvalid:
        return None
    return None if _any(pc.is_inf(values)) else values


def _without_nan(values: pa.DoubleArray) -> pa.DoubleArray:
    gone = pc.is_nan(values)
    return pc.if_else(gone, pa.scalar(None, pa.float64()), values) if _any(gone) else values


def _any(mask: pa.BooleanArray) -> bool:
    return bool(pc.any(mask).as_py())


# --- Columns of a schema --------------------------------------------------------------------------


@dataclass(frozen=True)
class TableBuilder:
    """From cells of text to the Arrow columns of a schema.

    Parameters
    ----------
    schema : Schema
    reader : CellReader
    amounts : mapping of str to Amounts
        Columns whose numbers are written in a way of their own.
    """

    schema: Schema
    reader: CellReader
    amounts: Mapping[str, Amounts] = field(default_factory=dict)

    def table(self, cells: list[pa.StringArray]) -> pa.Table:
        columns = [
            self._column(column, text)
            for column, text in zip(self.schema.columns, cells, strict=True)
        ]
        return pa.table(columns, schema=table_type(self.schema))

    def _column(self, column: Column, text: pa.StringArray) -> pa.Array:
        if column.kind is Kind.NUMERIC:
            reader = replace(self.reader, amounts=self.amounts.get(column.name))
            numbers = reader.numbers(text)
            if numbers.words is not None:
                raise _changed(column)
            return numbers.values
        coded = self.reader.levels(text)
        is_truth = pt.is_boolean(arrow_type(column))
        return truth_column(column, coded) if is_truth else coded_column(column, coded)


def table_type(schema: Schema) -> pa.Schema:
    """The Arrow schema of every chunk."""
    return pa.schema([pa.field(column.name, arrow_type(column)) for column in schema.columns])


def coded_column(column: Column, coded: pa.DictionaryArray) -> pa.DictionaryArray:
    """Coded text with the codes of the schema."""
    levels = _level_array(column)
    codes = _codes(column, coded.dictionary, levels).take(coded.indices)
    return pa.DictionaryArray.from_arrays(codes, levels, ordered=column.kind is Kind.ORDINAL)


def truth_column(column: Column, coded: pa.DictionaryArray) -> pa.BooleanArray:
    """Coded words `true` and `false`, in any case, as the truth values of the schema."""
    words = pa.array([str(level).lower() for level in column.levels], pa.string())
    codes = _codes(column, pc.utf8_lower(coded.dictionary), words).take(coded.indices)
    return pa.array(column.levels, pa.bool_()).take(codes)


def _codes(column: Column, texts: pa.StringArray, levels: pa.StringArray) -> pa.Int32Array:
    if len(levels) <= max(len(texts), _FEW_LEVELS):
        codes = pc.index_in(texts, value_set=levels)
    else:
        # Arrow would hash all levels again for every block.
        places = _places(column)
        codes = pa.array([places.get(text) for text in texts.to_pylist()], pa.int32())
    if codes.null_count:
        raise _changed(column)
    return codes


@lru_cache(maxsize=64)
def _places(column: Column) -> dict[str, int]:
    return {str(level): code for code, level in enumerate(column.levels)}


@lru_cache(maxsize=64)
def _level_array(column: Column) -> pa.StringArray:
    # Building it for every block would cost more than reading the block when levels are many.
    return pa.array(list(column.levels), pa.string())


def _changed(column: Column) -> InputError:
    return InputError(
        f"Column {column.name!r} holds a value that was not there when its kind and levels were "
        "found: the file has changed. Open it again with open_source."
    )
