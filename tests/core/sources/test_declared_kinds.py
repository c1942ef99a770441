"""What the caller may say about columns."""

import pytest

from novum.core.errors import SchemaError
from novum.core.sources.source import DeclaredKind, check_exist, declared_kinds
from novum.core.tables import Kind


def test_three_ways_to_say_a_kind() -> None:
    declared = declared_kinds({"a": "nominal", "b": Kind.NUMERIC, "c": ("lo", "hi")})
    assert declared["a"] == DeclaredKind(Kind.NOMINAL)
    assert declared["b"] == DeclaredKind(Kind.NUMERIC)
    assert declared["c"] == DeclaredKind(Kind.ORDINAL, ("lo", "hi"))
    assert declared_kinds(None) == {}


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("categorical", "says 'categorical' for column 'x'.*'nominal'"),
        ((), "List every level once"),
        (("a", "b", "a"), "List every level once"),
    ],
)
def test_what_is_no_kind_is_refused(declared: object, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        declared_kinds({"x": declared})  # type: ignore[dict-item]


def test_unknown_names_are_refused_with_those_that_exist() -> None:
    check_exist(["a"], ["a", "b"], "kinds")
    with pytest.raises(SchemaError, match=r"`kinds` names the column 'z'.*'a', 'b'"):
        check_exist(["a", "z"], ["a", "b"], "kinds")


def test_levels_as_a_text_file_writes_them() -> None:
    assert DeclaredKind(Kind.ORDINAL, (1, 2.5, "x")).as_text().levels == ("1", "2.5", "x")
    assert DeclaredKind(Kind.NOMINAL).as_text() == DeclaredKind(Kind.NOMINAL)


def test_kinds_of_no_kind_are_refused() -> None:
    with pytest.raises(SchemaError, match=r"`kinds` maps names .*got \['a'\]"):
        declared_kinds(["a"])  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match=r"`kinds` says 3 for column 'c'. Say 'numeric'"):
        declared_kinds({"c": 3})  # type: ignore[dict-item]
