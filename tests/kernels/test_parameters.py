"""Numbers that kernels are made with: plain ones pass, all others are named."""

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.kernels.parameters import (
    finite_number,
    kernel_factor,
    positive_integer,
    positive_number,
)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int8(2)])
def test_numbers_become_plain(value: Any) -> None:
    for check in (
        lambda v: finite_number(v, "n"),
        lambda v: positive_number(v, "n"),
        kernel_factor,
    ):
        assert type(check(value)) is float
        assert check(value) == 2.0


def test_whole_numbers_become_plain() -> None:
    assert type(positive_integer(np.int64(3), "n")) is int


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1", None, True, 1j, [1.0]])
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="n must be a finite number, got"):
        finite_number(value, "n")
    with pytest.raises(InputError, match="n must be a finite number above 0, got"):
        positive_number(value, "n")
    with pytest.raises(InputError, match="n must be a whole number of at least 1, got"):
        positive_integer(value, "n")


def test_the_reason_is_given() -> None:
    with pytest.raises(InputError, match=r"width must be .* above 0, got -1\. It is a distance\."):
        positive_number(-1, "width", "It is a distance.")
    with pytest.raises(InputError, match=r"got 0\. Count from 1\."):
        positive_integer(0, "n", "Count from 1.")


def test_factors_may_be_zero_but_not_negative() -> None:
    assert kernel_factor(0) == 0.0
    with pytest.raises(InputError, match="no kernel"):
        kernel_factor(-1e-9)
