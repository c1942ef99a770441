"""What one pass over the cells of a column finds: its kind, its levels, its odd cells.

A column of which every cell is a number is numeric, also one of numbers as people write them
(`amounts`); any other is nominal, with the levels False and True if every cell is one of the words
`true` and `false` in any case. Levels are collected from the first word on; a column that starts
with numbers and turns out to hold words is `late`, and the source passes over the file once more
for its levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from novum.core.errors import FileFormatError, InputError, SchemaError
from novum.core.sources.amounts import Amounts, amounts_of, is_amount_text
from novum.core.sources.cells import DATE, CellReader, TableBuilder, all_match, is_number_text
from novum.core.sources.report import ColumnReport, counted, printable
from novum.core.sources.source import DeclaredKind
from novum.core.sources.streams import LIMITS, Limits
from novum.core.tables import Column, Kind, Level, Schema
from novum.numerics import cached_property

LineOf = Callable[[int], int]

_SAMPLES = 3
_AMOUNTS = "numbers as people write them"
_EXACT_INTEGERS = 2.0**53
_ZEROS = r"^\s*0\d"
_GROUPED = r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+\s*$"
_TRUTHS = {"true": True, "false": False}
# As many ways there are to write the two words in large and small letters.
_TRUTH_WRITINGS = 2**4 + 2**5


@dataclass
class ColumnTally:
    """Counts of one column, updated block by block.

    Parameters
    ----------
    name : str
    position : int
        Number of the column in the file, from 1, for messages.
    declared : DeclaredKind
    reader : CellReader
    limits : Limits
    takes_amounts : bool
        Whether numbers may be written as people write them.
    is_point_doubtful : bool
        Whether the file is of a kind in which a point often groups thousands.
    """

    name: str
    position: int
    declared: DeclaredKind
    reader: CellReader
    limits: Limits = LIMITS
    takes_amounts: bool = True
    is_point_doubtful: bool = False
    rows: int = 0
    missing: int = 0
    numbers: int = 0
    words: int = 0
    trimmed: int = 0
    zeros: int = 0
    thousands: str = ""
    late: bool = False
    low: float = float("inf")
    high: float = float("-inf")
    samples: dict[str, int] = field(default_factory=dict)
    levels: dict[str, None] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        if self.declared.kind is not None:
            return self.declared.kind
        return Kind.NOMINAL if self.words else Kind.NUMERIC

    @cached_property
    def amounts(self) -> Amounts | None:
        """How the numbers are written, of a column of such amounts; once all rows are counted."""
        is_open = self.takes_amounts and self.declared.kind in (None, Kind.NUMERIC)
        if not is_open or not self.words:
            return None
        return amounts_of(self.levels, self.reader.decimal)

    @property
    def is_mixed(self) -> bool:
        is_open = self.declared.kind is None and self.amounts is None
        return is_open and self.words > 0 and self.numbers >= self.words

    @property
    def is_truth(self) -> bool:
        """Whether the column is left to its cells, and they are the words true and false."""
        return (
            self.declared.kind is None
            and 0 < len(self.levels) <= _TRUTH_WRITINGS
            and all(level.lower() in _TRUTHS for level in self.levels)
        )

    # Counting

    def update(self, cells: pa.StringArray, line_of: LineOf) -> None:
        """Count one block; `line_of(i)` gives the line of its row `i`."""
        if self.rows == 0:
            # Codes with leading zeros show in the first block; later ones are not worth the search.
            self.zeros = int(pc.sum(pc.match_substring_regex(cells, _ZEROS)).as_py() or 0)
            if self.is_point_doubtful:
                self.thousands = self._thousands(cells, line_of)
        self.rows += len(cells)
        if self.kind is Kind.NUMERIC and not self.words:
            numbers = self.reader.numbers(cells)
            if numbers.words is None:
                self.missing += numbers.values.null_count
                self.numbers += len(cells) - numbers.values.null_count
                extremes = pc.min_max(numbers.values)
                if extremes["min"].is_valid:
                    self.low = min(self.low, extremes["min"].as_py())
                    self.high = max(self.high, extremes["max"].as_py())
                return
            self.late = self.numbers > 0
        self.trimmed += self.reader.trimmed(cells)
        self._count_levels(self.reader.levels(cells), line_of)

    def _thousands(self, cells: pa.StringArray, line_of: LineOf) -> str:
        """A cell such as 1.234 and its line, where all points of a column stand so."""
        pointed = pc.filter(cells, pc.match_substring(cells, "."))
        if not len(pointed) or not pc.all(pc.match_substring_regex(pointed, _GROUPED)).as_py():
            return ""
        return f"{pointed[0].as_py()!r} in line {line_of(pc.index(cells, pointed[0]).as_py())}"

    def collect(self, cells: pa.StringArray) -> None:
        """Take the levels only, in the second pass of a late column."""
        self._add_levels(self.reader.levels(cells).dictionary)

    def _count_levels(self, coded: pa.DictionaryArray, line_of: LineOf) -> None:
        self.missing += coded.null_count
        if self.declared.levels is not None:
            self._check_declared(coded, line_of)
        if not self.late:
            self._add_levels(coded.dictionary)
        if self.declared.kind not in (None, Kind.NUMERIC):
            return
        numeric = self.reader.are_numbers(coded.dictionary)
        hits = numeric.take(coded.indices)
        count = int(pc.sum(hits).as_py() or 0)
        self.numbers += count
        self.words += len(coded) - coded.null_count - count
        if self.declared.kind is Kind.NUMERIC:
            self._check_amounts(coded, numeric, line_of)
        if len(self.samples) < _SAMPLES:
            words = pc.filter(coded.dictionary, pc.invert(numeric))[:_SAMPLES].to_pylist()
            for word in [word for word in words if word not in self.samples]:
                if len(self.samples) < _SAMPLES:
                    self.samples[word] = line_of(_first(coded, word))

    def _add_levels(self, levels: pa.StringArray) -> None:
        self.levels.update(dict.fromkeys(levels.to_pylist()))
        if len(self.levels) > self.limits.levels:
            raise InputError(
                f"Column {self.name!r} has more than {self.limits.levels:,} different values: it "
                "is an identifier or free text and no category. Leave it out by `columns=`."
            )

    # Result

    def column(self) -> Column:
        """The schema's column, once all rows are counted."""
        if self.words and self.declared.kind is Kind.NUMERIC and self.amounts is None:
            word, line = next(iter(self.samples.items()))
            self._refuse_word(word, line, "which beside the other cells is no clear number")
        if self.kind is Kind.NUMERIC or self.amounts is not None:
            return Column(self.name)
        if self.declared.levels is not None:
            return Column(self.name, self.kind, self.declared.levels)
        if self.kind is Kind.NOMINAL:
            return Column(self.name, self.kind, self._met)
        return Column(self.name, self.kind, ordered_numbers(self.name, tuple(self.levels)))

    @property
    def _met(self) -> tuple[Level, ...]:
        """The levels that occur, as the schema has them."""
        if self.is_truth:
            return tuple({_TRUTHS[level.lower()] for level in self.levels})
        return tuple(self.levels)

    def report(self) -> ColumnReport:
        column = self.column()
        values = self.rows - self.missing
        is_counted = self.kind is Kind.NUMERIC and not self.words
        constant = self.low == self.high if is_counted else len(self._met) == 1
        return ColumnReport(
            self.name,
            column.kind,
            self.missing,
            column.n_levels,
            constant and values > 0,
            self.is_mixed,
            tuple(self._notes()),
            next(iter(self.samples)) if self.is_mixed and len(self.samples) == 1 else "",
        )

    def _notes(self) -> list[str]:
        notes = []
        if self.rows == self.missing:
            notes.append("no values")
        if self.is_mixed:
            notes.append(f"mixed: {self.mixture}")
        elif self.amounts is not None:
            word, line = next(iter(self.samples.items()))
            (value,) = self.amounts.plain(pa.array([word])).to_pylist()
            notes.append(
                f"{_AMOUNTS}: {printable(word, 30)!r} in line {line} is {value}; "
                "kinds='nominal' keeps the text"
            )
        elif self.words and self.numbers:
            notes.append(f"{self.numbers:,} of its values are numbers")
        if self.is_truth:
            notes.append("truth values; kinds='nominal' keeps the words")
        if self.trimmed:
            notes.append(f"blanks around {counted(self.trimmed, 'cell')} removed")
        if self.kind is Kind.NUMERIC and max(-self.low, self.high) > _EXACT_INTEGERS:
            notes.append(
                "numbers beyond 2^53, where float64 cannot tell whole numbers apart; "
                "identifiers are kept exactly by kinds='nominal'"
            )
        if self.kind is Kind.NUMERIC and self.zeros:
            notes.append("written with leading zeros, which codes need: kinds='nominal' keeps them")
        if self.kind is Kind.NUMERIC and not self.words and self.thousands:
            notes.append(
                f"{self.thousands} is read with a decimal point; where it groups thousands, say "
                "so: dialect=Dialect(decimal=',')"
            )
        if self.words and not self.numbers and all_match(DATE, self.levels):
            notes.append("dates as text; derive numbers (year, month, days since ...) to learn")
        elif self.words and self.amounts is None and all(map(is_amount_text, self.levels)):
            notes.append(
                "numbers with thousands separators, currency or percent signs that disagree on "
                "the unit or the decimal sign; write digits and one decimal sign to have them "
                "numeric"
            )
        return notes

    @property
    def mixture(self) -> str:
        shown = ", ".join(f"{printable(w, 30)!r} in line {n}" for w, n in self.samples.items())
        return f"{counted(self.numbers, 'number')} and {counted(self.words, 'word')} ({shown})"

    # Refusals

    def _check_amounts(
        self, coded: pa.DictionaryArray, numeric: pa.BooleanArray, line_of: LineOf
    ) -> None:
        for word in pc.filter(coded.dictionary, pc.invert(numeric)).to_pylist():
            if not (self.takes_amounts and is_amount_text(word)):
                self._refuse_word(word, line_of(_first(coded, word)))

    def _refuse_word(
        self, word: str, line: int, why: str = "which is no number that float64 can hold"
    ) -> None:
        raise FileFormatError(
            f"Line {line}: {self.declared.by} declares column {self.name!r} numeric, but it holds "
            f"{printable(word)!r}, {why}. "
            "Correct the cell, add the word to `missing`, or declare the column nominal.",
            line=line,
            column=self.position,
        )

    def _check_declared(self, coded: pa.DictionaryArray, line_of: LineOf) -> None:
        allowed = set(map(str, self.declared.levels or ()))
        strange = [level for level in coded.dictionary.to_pylist() if level not in allowed]
        if strange:
            line = line_of(_first(coded, strange[0]))
            known = printable(", ".join(map(repr, (self.declared.levels or ())[:6])), 120)
            raise FileFormatError(
                f"Line {line}: column {self.name!r} holds {printable(strange[0])!r}, which is none "
                f"of the levels that {self.declared.by} declares "
                f"({known}). Correct the cell or declare the level.",
                line=line,
                column=self.position,
            )


def builder_of(tallies: Iterable[ColumnTally], schema: Schema, reader: CellReader) -> TableBuilder:
    """What turns cells into the columns that tallies have found."""
    amounts = {tally.name: tally.amounts for tally in tallies}
    return TableBuilder(
        schema, reader, {name: way for name, way in amounts.items() if way is not None}
    )


def ordered_numbers(name: str, levels: tuple[str, ...]) -> tuple[Level, ...]:
    """Ordinal levels without a declared order: by size if all are numbers, refused otherwise."""
    if not all(is_number_text(level) for level in levels):
        word = next(level for level in levels if not is_number_text(level))
        raise SchemaError(
            f"`kinds` makes column {name!r} ordinal without an order, and {printable(word)!r} is "
            f"no number. Give the levels from low to high: kinds={{{name!r}: ('low', 'high')}}."
        )
    return tuple(sorted(levels, key=lambda level: (float(level), level)))


def _first(coded: pa.DictionaryArray, level: str) -> int:
    code = pc.index(coded.dictionary, level).as_py()
    return int(pc.index(coded.indices, pa.scalar(code, coded.indices.type)).as_py())
