"""Sums: arithmetic, removal, and refusals that name the sum."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.sums import Additive, Sums
from novum.core.tables import Column, Kind, Schema
from novum.distributions import ArrayParameters


@dataclass(frozen=True, eq=False)
class Counts(Sums, ArrayParameters):
    kind: int
    weight: float
    totals: np.ndarray

    _fixed: ClassVar[tuple[str, ...]] = ("kind",)
    _never_negative: ClassVar[tuple[str, ...]] = ("weight", "totals")


whole = st.integers(0, 10**6)
counts = st.builds(lambda w, a, b: Counts(1, w, np.array([a, b])), whole, whole, whole)


@given(counts, counts)
def test_rows_add_up_and_come_off(a: Counts, b: Counts) -> None:
    assert a + b == b + a
    assert (a + b) - b == a
    assert 2.0 * a == a + a == a * 2.0
    assert a + a.zero() == a
    assert (a + b).isclose(Counts(1, a.weight + b.weight, a.totals + b.totals))


def test_rounding_leaves_no_negative_sum() -> None:
    third = Counts(1, 0.1, np.array([0.3, 0.1]))
    left = (third + third + third) - third - third - third
    assert left.totals.tolist() == [0.0, 0.0]
    assert left.weight == 0.0


def test_isclose_tells_apart() -> None:
    a = Counts(1, 2.0, np.array([1.0, 1e6]))
    assert a.isclose(Counts(1, 2.0, np.array([1.0, 1e6 * (1 + 1e-12)])))
    assert not a.isclose(Counts(1, 2.0, np.array([1.0, 1e6 * (1 + 1e-9)])))
    assert not a.isclose(Counts(2, 2.0, np.array([1.0, 1e6])))
    assert not a.isclose(Counts(1, 2.0, np.array([1.0])))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: a - 2.0 * a, "never added: the sum `weight` would fall from 2 to -2"),
        (lambda a: a + Counts(2, 1.0, np.zeros(2)), "kind=1 and kind=2 do not add up"),
        (lambda a: a + Counts(1, 1.0, np.zeros(3)), r"shapes \(2,\) and \(3,\)"),
        (lambda a: a + 1.0, "Counts and float do not add up"),
        (lambda a: -1.0 * a, "factor of at least 0"),
        (lambda _: Counts(1, 1.0, np.array([np.inf, 1.0])), "infinity in its sum `totals`"),
    ],
)
def test_misuse_is_named(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(Counts(1, 2.0, np.array([1.0, 2.0])))  # type: ignore[operator]


# --- Fields that add in other ways ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pass(Additive):
    schema: Schema
    parts: tuple[Counts, ...]
    longest: float
    hessian: np.ndarray | None = None

    _combined: ClassVar = {"longest": max}


def test_fields_add_by_their_kind() -> None:
    red, blue = (Schema((Column("color", Kind.NOMINAL, (c,)),), True) for c in ("red", "blue"))
    a = Pass(red, (Counts(1, 2, [1, 1]),), 3.0, np.ones(2))
    b = Pass(blue, (Counts(1, 1, [0, 1]),), 1.0, np.ones(2))
    both = a + b
    assert both.schema.columns[0].levels == ("blue", "red")
    assert both.parts == (Counts(1, 3, [1, 2]),)
    assert both.longest == 3.0
    assert both.hessian is not None
    assert both.hessian.tolist() == [2.0, 2.0]
    assert (a + Pass(blue, b.parts, 1.0)).hessian is None
    with pytest.raises(InputError, match="different things"):
        a + b.parts[0]


def test_sums_may_hold_sums() -> None:
    @dataclass(frozen=True, eq=False)
    class Nested(Sums):
        weight: float
        inner: Counts

    a, b = Nested(2.0, Counts(1, 2, [1, 1])), Nested(1.0, Counts(1, 1, [0, 1]))
    assert ((a + b) - b).isclose(a)
    assert (2.0 * a).isclose(a + a)
    assert not a.isclose(b)
    with pytest.raises(InputError, match="never added"):
        b - a
