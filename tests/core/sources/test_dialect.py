"""Dialects: every combination that is written is found again; doubtful ones are not guessed."""

import csv
import io

import pytest

from novum.core.errors import InputError
from novum.core.sources import Dialect
from novum.core.sources.dialect import ENCODINGS, sniffed

ROWS = [["name", "note", "size"], ["Ada", "x, y; z|t", "1.5"], ["Bob", 'say "hi"', "2"]]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quote", ['"', "'"])
def test_written_dialects_are_found(separator: str, quote: str) -> None:
    out = io.StringIO()
    rows = [[cell.replace('"', "") for cell in row] for row in ROWS] if quote == "'" else ROWS
    csv.writer(out, delimiter=separator, quotechar=quote, quoting=csv.QUOTE_ALL).writerows(rows)
    found = sniffed(out.getvalue().encode(), Dialect())
    assert (found.separator, found.quote, found.header) == (separator, quote, True)


def test_apostrophes_in_text_are_no_quotes() -> None:
    found = sniffed(b"a,b\nit's,1\ndon't,2\n", Dialect())
    assert (found.separator, found.quote) == (",", '"')


def test_stray_double_quotes_switch_quoting_off() -> None:
    found = sniffed(b'a,b\n5" pipe,1\n6" pipe,2\n', Dialect())
    assert (found.separator, found.quote) == (",", "")


def test_one_column_needs_no_separator() -> None:
    assert sniffed(b"a\n1\n2\n", Dialect()).separator == ","


@pytest.mark.parametrize(
    ("text", "header"),
    [
        (b"5.1,3.5,setosa\n4.9,3.0,setosa\n", False),
        (b"a,b\n1,2\n", True),
        (b",b\n0,2\n", True),
        (b"?,b\n0,2\n", False),
        (b"x,y\nu,v\n", True),
    ],
)
def test_header(text: bytes, header: bool) -> None:
    assert sniffed(text, Dialect(), frozenset({"", "?"})).header is header
    assert sniffed(text, Dialect(header=not header)).header is not header


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        (b"a;b\n1,5;x\n", ","),
        (b"a;b\n1,234;x\n", "."),
        (b"a;b\n1,5;2.5\n", "."),
        (b"a,b\n1,5\n", "."),
        (b"a;b\n1;2\n", "."),
    ],
)
def test_decimal_commas_only_when_sure(text: bytes, decimal: str) -> None:
    found = sniffed(text, Dialect())
    assert found.decimal == decimal
    assert ("decimal commas" in found.note) == (decimal == ",")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"separator": "ab"}, "one ASCII character as separator"),
        ({"separator": ""}, "one ASCII character as separator"),
        ({"quote": "«"}, "one ASCII character as quote"),
        ({"separator": "\n"}, "cannot separate"),
        ({"separator": "'", "quote": "'"}, "cannot separate"),
        ({"decimal": "x"}, "'.' or ','"),
        ({"encoding": "ebcdic"}, "knows the encodings"),
    ],
)
def test_impossible_dialects_are_refused(fields: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Dialect(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("utf8", "utf-8"),
        ("UTF-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("latin1", "latin-1"),
        ("windows-1252", "cp1252"),
        ("UTF-16LE", "utf-16-le"),
    ],
)
def test_encodings_by_other_names(written: str, name: str) -> None:
    assert Dialect(encoding=written).encoding == name
    assert name in ENCODINGS


@pytest.mark.parametrize("encoding", ["utf-7", "no such"])
def test_other_encodings_are_refused(encoding: str) -> None:
    with pytest.raises(InputError, match=f"got '{encoding}'. Save the file as UTF-8"):
        Dialect(encoding=encoding)
