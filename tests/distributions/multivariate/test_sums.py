"""Sums: arithmetic, removal, and refusals that name the sum."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.multivariate.sums import Sums


@dataclass(frozen=True, eq=False)
class Counts(Sums):
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
