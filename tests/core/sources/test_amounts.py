"""Numbers as people write them: each against the number that was written, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import FileFormatError, MixedColumnWarning
from novum.core.sources import is_amount_text, open_source
from novum.core.sources.amounts import Amounts, amounts_of
from novum.core.tables import Kind


@pytest.mark.parametrize(
    ("cell", "is_amount"),
    [
        ("1,234", True),
        ("1.234.567,89", True),
        ("1 234", True),
        ("1\u202f234,5", True),
        ("12'345.60", True),
        ("10%", True),
        ("$ 5.00", True),
        ("-$5", True),
        ("$-5", True),
        ("12.50 €", True),
        ("CHF 12.50", True),
        ("1234,5", True),
        ("−3 %", True),
        (",5", True),
        ("12a", False),
        ("1,23,4", False),
        ("1,234.567.890", False),
        ("two", False),
        ("10 kg", False),
        ("%", False),
        ("007", False),
        ("030 123 456", False),
        ("29.02.2024", False),
        ("", False),
    ],
)
def test_amounts_are_known_by_their_form(cell: str, is_amount: bool) -> None:
    assert is_amount_text(cell) is is_amount


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=8),
    st.sampled_from([".", ","]),
    st.sampled_from(["other", " ", "\u202f", "'", ""]),
    st.sampled_from(["{}", "{} €", "{}%", "$ {}"]),
)
def test_what_is_written_is_read(cents: list[int], decimal: str, by: str, unit: str) -> None:
    group = {".": ",", ",": "."}[decimal] if by == "other" else by
    texts = []
    for number in cents:
        whole, rest = divmod(abs(number), 100)
        digits = f"{whole:,}".replace(",", group) + f"{decimal}{rest:02d}"
        texts.append(("-" if number < 0 else "") + unit.format(digits))
    for sign in (".", ","):
        found = amounts_of(texts, sign)
        assert found == Amounts(decimal)
        read = [float(text) for text in found.plain(pa.array(texts)).to_pylist()]
        np.testing.assert_array_equal(read, np.array(cents) / 100)


@pytest.mark.parametrize(
    ("texts", "decimal", "expected"),
    [
        # Nothing tells: the sign that is not the file's groups thousands.
        (["1,234", "12,500"], ".", "."),
        (["1.234", "12.500"], ",", ","),
        # A slip among numbers must not make all of them a thousand times as large,
        (["1.500", "2.250", "2,5"], ".", None),
        # but one cell with both signs proves it.
        (["1.500", "2.250", "1.234,5"], ".", ","),
        (["1.5", "2,5"], ".", None),
        (["1.234.567", "1,234,567"], ".", None),
        (["5 €", "5 $"], ".", None),
        (["$5%"], ".", None),
        (["1,234", "none"], ".", None),
        (["0,234", "1,234"], ".", ","),
        (["1234,567"], ".", ","),
        (["1.500 €"], ".", ","),
        (["1.500 %"], ".", "."),
    ],
)
def test_a_column_is_read_as_a_whole(texts: list[str], decimal: str, expected: str | None) -> None:
    assert amounts_of(texts, decimal) == (None if expected is None else Amounts(expected))


def written(path: Path, *cells: str) -> Path:
    lines = "".join(f"{cell};x\n" for cell in cells)
    (path / "t.csv").write_text(f"price;other\n{lines}", encoding="utf-8")
    return path / "t.csv"


def test_columns_of_amounts_are_numeric(tmp_path: Path) -> None:
    # Numbers first, so that the column turns out late, and in the end a missing cell.
    path = written(tmp_path, "950", "12", "1.356,96 €", " 0,5 € ", "NA")
    source = open_source(path)
    assert source.schema().columns[0].kind is Kind.NUMERIC
    table = pa.concat_tables(source.chunks())
    assert table.column("price").to_pylist() == [950.0, 12.0, 1356.96, 0.5, None]
    report = source.report().columns[0]
    assert (report.missing, report.constant, report.mixed) == (1, False, False)
    (note,) = (note for note in report.notes if note.startswith("numbers as"))
    assert "'1.356,96 €' in line 4 is 1356.96; kinds='nominal' keeps the text" in note
    parts = [part.read() for part in source.partitions()]
    assert pa.concat_tables(parts).column("price").to_pylist() == [950.0, 12.0, 1356.96, 0.5, None]
    kept = open_source(path, kinds={"price": "nominal"})
    assert "1.356,96 €" in kept.schema().columns[0].levels


def test_declared_numbers_may_be_amounts(tmp_path: Path) -> None:
    path = written(tmp_path, "3", "1.356,96 €")
    source = open_source(path, kinds={"price": "numeric"})
    assert pa.concat_tables(source.chunks()).column("price").to_pylist() == [3.0, 1356.96]
    for cells, line, word in (
        (("5 €", "five"), 3, "five"),
        (("1.5", "1e999"), 3, "1e999"),
        (("1.5", "2,5"), 3, "2,5"),
    ):
        source = open_source(written(tmp_path, *cells), kinds={"price": "numeric"})
        with pytest.raises(FileFormatError, match=f"line {line}: .*, but it holds '{word}'"):
            source.schema()


def test_amounts_that_disagree_stay_text_and_are_told(tmp_path: Path) -> None:
    source = open_source(written(tmp_path, "5 €", "6 $"))
    assert source.schema().columns[0].kind is Kind.NOMINAL
    assert any("disagree" in note for note in source.report().columns[0].notes)


def test_the_one_word_among_numbers_is_named(tmp_path: Path) -> None:
    for cells, word in ((("5", "6", "k.A.", "k.A."), "k.A."), (("5", "6", "a", "b"), "")):
        with pytest.warns(MixedColumnWarning):
            report = open_source(written(tmp_path, *cells)).report()
        assert report.columns[0].lone_word == word
