"""Declarations: what is read, and what is refused with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import FileFormatError
from novum.core.sources import Limits
from novum.core.sources.arff import parse_attribute, read_token


@pytest.mark.parametrize(
    ("text", "name", "kind", "levels"),
    [
        ("age numeric", "age", "numeric", ()),
        ("age\tREAL", "age", "numeric", ()),
        ("'a b' Integer", "a b", "numeric", ()),
        ('"a\\"b" string', 'a"b', "string", ()),
        ('when date "yyyy-MM-dd"', "when", "date", ()),
        ("c {a,b , c}", "c", "nominal", ("a", "b", "c")),
        ("c{a,b}", "c", "nominal", ("a", "b")),
        (r"c {'it\'s', 'x, y', plain, ''}", "c", "nominal", ("it's", "x, y", "plain", "")),
        ("ä {ö}", "ä", "nominal", ("ö",)),
    ],
)
def test_declarations(text: str, name: str, kind: str, levels: tuple[str, ...]) -> None:
    found = parse_attribute(text, 7)
    assert (found.name, found.type, found.levels, found.line) == (name, kind, levels, 7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no name"),
        ("age", "has the type ''"),
        ("age complex", "has the type 'complex'"),
        ("bag relational", "is relational"),
        ("c {a, b", "not closed"),
        ("c {'a' b}", "not closed by }|not separated"),
        ("c {a, a}", "a level twice"),
        ("c {}", "no levels"),
        ("'c numeric", "never closed"),
        ("c {'a}", "never closed"),
    ],
)
def test_refusals_name_the_line(text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=f"Line 9: .*({message})") as caught:
        parse_attribute(text, 9)
    assert caught.value.line == 9


def test_a_million_levels_are_refused_before_they_are_built() -> None:
    text = "c {" + ",".join(map(str, range(20))) + "}"
    with pytest.raises(FileFormatError, match="declares more than 10 levels"):
        parse_attribute(text, 1, Limits(levels=10))


@given(st.text(max_size=10))
def test_quoting_is_undone(text: str) -> None:
    quoted = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    assert read_token(quoted, 0, 1, stops=",") == (text, len(quoted))
