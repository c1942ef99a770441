"""Parameters: private copies, equality by content, checks that say what is wrong."""

from dataclasses import dataclass

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.multivariate.parameters import (
    ArrayParameters,
    checked_positive,
    checked_shares,
    checked_total,
    checked_vector,
)


@dataclass(frozen=True, eq=False)
class Pair(ArrayParameters):
    number: float
    array: np.ndarray


def test_equal_content_is_equal_and_hashes_alike() -> None:
    a, b = Pair(1.0, np.array([0.0, 2.0])), Pair(1.0, np.array([-0.0, 2.0]))
    assert a == b
    assert hash(a) == hash(b)
    assert a != Pair(1.0, np.array([0.0, 3.0]))
    assert a != Pair(2.0, np.array([0.0, 2.0]))
    assert Pair(1.0, np.zeros(4)) != Pair(1.0, np.zeros((2, 2)))
    assert a != "something else"


def test_vectors_are_read_only_copies() -> None:
    given = np.array([1.0, 2.0])
    kept = checked_vector(given, "It")
    given[0] = 5.0
    assert kept.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 3.0


def test_shares_are_normalized_exactly() -> None:
    shares = checked_shares([0.1] * 10, "They")
    assert shares.sum() == pytest.approx(1.0, abs=2e-16)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: checked_vector([[1.0]], "The mean"), r"The mean must be a list .* shape \(1, 1\)"),
        (lambda: checked_vector([], "The mean"), "list of numbers"),
        (lambda: checked_vector([1.0, np.nan], "The mean"), "entry 1 is nan"),
        (lambda: checked_positive(0.0, "The rate"), "The rate must be a finite number above 0"),
        (lambda: checked_positive(2.0, "It", above=2), "above 2, got 2.0"),
        (lambda: checked_shares([0.5, 0.4], "The shares"), "sum to 0.9. Divide by the sum"),
        (lambda: checked_shares([1.5, -0.5], "The shares"), "entry 1 is -0.5"),
        (lambda: checked_total(0.0, "Wishart"), "Wishart cannot be estimated from no data"),
    ],
)
def test_bad_parameters_are_named(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()  # type: ignore[operator]
