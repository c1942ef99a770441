"""What the caller may say about columns."""

import pytest

from novum.core.errors import SchemaError
from novum.core.schema import Kind
from novum.core.sources.wishes import Wish, check_known, checked_wishes


def test_three_ways_to_say_a_kind() -> None:
    wishes = checked_wishes({"a": "nominal", "b": Kind.NUMERIC, "c": ("lo", "hi")})
    assert wishes["a"] == Wish(Kind.NOMINAL)
    assert wishes["b"] == Wish(Kind.NUMERIC)
    assert wishes["c"] == Wish(Kind.ORDINAL, ("lo", "hi"))
    assert checked_wishes(None) == {}


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ("categorical", "says 'categorical' for column 'x'.*'nominal'"),
        ((), "List every level once"),
        (("a", "b", "a"), "List every level once"),
    ],
)
def test_what_is_no_kind_is_refused(wish: object, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        checked_wishes({"x": wish})  # type: ignore[dict-item]


def test_unknown_names_are_refused_with_those_that_exist() -> None:
    check_known(["a"], ["a", "b"], "kinds")
    with pytest.raises(SchemaError, match=r"`kinds` names the column 'z'.*'a', 'b'"):
        check_known(["a", "z"], ["a", "b"], "kinds")


def test_levels_as_a_text_file_writes_them() -> None:
    assert Wish(Kind.ORDINAL, (1, 2.5, "x")).as_text().levels == ("1", "2.5", "x")
    assert Wish(Kind.NOMINAL).as_text() == Wish(Kind.NOMINAL)


def test_kinds_of_no_kind_are_refused() -> None:
    with pytest.raises(SchemaError, match=r"`kinds` maps names .*got \['a'\]"):
        checked_wishes(["a"])  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match=r"`kinds` says 3 for column 'c'. Say 'numeric'"):
        checked_wishes({"c": 3})  # type: ignore[dict-item]
