"""Tallies: kinds from cells, late words, declared levels, notes, refusals."""

import pyarrow as pa
import pytest

from novum.core.errors import FileFormatError, InputError, SchemaError
from novum.core.sources import DEFAULT_MISSING, CellReader, Limits
from novum.core.sources.source import DeclaredKind
from novum.core.sources.tallies import ColumnTally, ordered_numbers
from novum.core.tables import Column, Kind, Level

READER = CellReader(frozenset(DEFAULT_MISSING))


def tally_of(
    *blocks: list[str], declared: DeclaredKind | None = None, levels: int = 100
) -> ColumnTally:
    tally = ColumnTally("c", 3, declared or DeclaredKind(), READER, Limits(levels=levels))
    first = 2
    for block in blocks:
        tally.update(pa.array(block), lambda row, first=first: first + row)
        first += len(block)
    return tally


def test_numbers_are_numeric_and_counted() -> None:
    tally = tally_of(["1", "?"], ["2.5", ""])
    assert (tally.kind, tally.numbers, tally.missing, tally.rows) == (Kind.NUMERIC, 2, 2, 4)
    assert tally.column().levels == ()
    assert not tally.report().constant


def test_words_are_nominal_with_sorted_levels() -> None:
    tally = tally_of(["b", "a"], ["b", "?"])
    assert tally.column().levels == ("a", "b")
    assert (tally.words, tally.missing, tally.late) == (4 - 1, 1, False)


def test_words_after_numbers_are_late_and_mixed() -> None:
    tally = tally_of(["1", "2"], ["3", "oops"])
    assert tally.late
    assert tally.is_mixed
    assert tally.samples == {"oops": 5}
    assert "3 numbers and 1 word ('oops' in line 5)" in tally.mixture
    for block in (["1", "2"], ["3", "oops"]):
        tally.collect(pa.array(block))
    assert tally.column().levels == ("1", "2", "3", "oops")


def test_a_few_numbers_among_words_are_noted_but_not_mixed() -> None:
    report = tally_of(["a1", "b2", "c3", "12"]).report()
    assert not report.mixed
    assert report.notes == ("1 of its values are numbers",)


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["?", ""], "no values"),
        ([" a", "b"], "blanks around 1 cell removed"),
        (["12345678901234567890", "1"], "beyond 2"),
        (["007", "0.5"], "leading zeros"),
        (["2020-01-01", "2021-05-06"], "dates as text"),
    ],
)
def test_notes(cells: list[str], note: str) -> None:
    assert any(note in found for found in tally_of(cells).report().notes)


def test_constant_columns() -> None:
    assert tally_of(["3", "3.0", "?"]).report().constant
    assert tally_of(["a", "a"]).report().constant
    assert not tally_of(["a", "b"]).report().constant
    assert not tally_of(["?"]).report().constant


def test_declared_levels_are_kept_and_checked() -> None:
    declared = DeclaredKind(Kind.ORDINAL, ("low", "mid", "high"))
    tally = tally_of(["low", "high"], declared=declared)
    assert tally.column().levels == ("low", "mid", "high")
    with pytest.raises(FileFormatError, match=r"Line 3: column 'c' holds 'hi'.*`kinds`") as caught:
        tally_of(["low", "hi"], declared=declared)
    assert (caught.value.line, caught.value.column) == (3, 3)


def test_a_word_in_a_declared_numeric_column_is_refused_with_its_line() -> None:
    with pytest.raises(FileFormatError, match=r"Line 3: `kinds` declares column 'c' numeric.*'x'"):
        tally_of(["1", "x"], declared=DeclaredKind(Kind.NUMERIC))


def test_too_many_levels_are_refused() -> None:
    with pytest.raises(InputError, match=r"more than 3 different values.*`columns=`"):
        tally_of(list("abcd"), levels=3)


def test_ordinal_without_order_needs_numbers() -> None:
    assert tally_of(["10", "9"], declared=DeclaredKind(Kind.ORDINAL)).column().levels == ("9", "10")
    with pytest.raises(SchemaError, match=r"'big' is no number.*low to high"):
        ordered_numbers("c", ("1", "big"))


@pytest.mark.parametrize(
    ("cells", "levels"),
    [
        (["true", "FALSE", "?"], (False, True)),
        (["True", "true", "TRUE"], (True,)),
        ([" false "], (False,)),
        (["true", "false", "maybe"], ("false", "maybe", "true")),
        (["true", "0"], ("0", "true")),
        (["t", "f"], ("f", "t")),
    ],
)
def test_true_and_false_are_truth_values(cells: list[str], levels: tuple[Level, ...]) -> None:
    tally = tally_of(cells)
    assert tally.column() == Column("c", Kind.NOMINAL, levels)
    assert tally.report().constant == (len(levels) == 1)
    assert any("truth values" in note for note in tally.report().notes) == isinstance(
        levels[0], bool
    )


def test_declared_columns_keep_the_words_true_and_false() -> None:
    cells = ["true", "False"]
    assert tally_of(cells, declared=DeclaredKind(Kind.NOMINAL)).column().levels == ("False", "true")
    ordinal = DeclaredKind(Kind.ORDINAL, ("true", "False"))
    assert tally_of(cells, declared=ordinal).column().levels == ("true", "False")


def test_truth_values_after_numbers_are_words() -> None:
    tally = tally_of(["1"], ["true"])
    tally.collect(pa.array(["1", "true"]))
    assert tally.column().levels == ("1", "true")


def test_numbers_written_for_people_are_noted() -> None:
    (note,) = tally_of(["1,234", "5%"]).report().notes
    assert note.startswith("numbers as people write them: '1,234' in line 2 is 1234")
    (note,) = tally_of(["1,234€", "5%"]).report().notes
    assert note.startswith("numbers with thousands separators")
    assert tally_of(["1,234", "five"]).report().notes == ()
