"""Checks of the numbers that kernels are made with; a kernel is valid from its beginning."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from novum.core.errors import InputError
from novum.core.text import label_text


def finite_number(value: Any, what: str) -> float:
    """A finite real number as a plain float.

    Examples
    --------
    >>> finite_number(2, "Sigmoid's scale")
    2.0
    """
    if isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise InputError(f"{what} must be a finite number, got {label_text(value)}.")


def positive_number(value: Any, what: str, why: str = "") -> float:
    """A finite number above zero as a plain float; `why` says what the number means."""
    try:
        number = finite_number(value, what)
    except InputError:
        number = 0.0
    if number > 0:
        return number
    raise InputError(
        f"{what} must be a finite number above 0, got {label_text(value)}. {why}".strip()
    )


def positive_integer(value: Any, what: str, why: str = "") -> int:
    """A whole number of at least 1 as a plain int."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    message = f"{what} must be a whole number of at least 1, got {label_text(value)}. {why}"
    raise InputError(message.strip())


def kernel_factor(value: Any) -> float:
    """A number that may multiply a kernel or be added to one: finite and at least 0."""
    factor = finite_number(value, "A factor of a kernel, or a number added to it,")
    if factor >= 0:
        return factor
    raise InputError(
        f"{factor} times a kernel is not positive semi-definite, so it is no kernel. Use numbers "
        "of at least 0; an indefinite similarity can be given as a function or precomputed."
    )


# --- Methods of a class and of its values ---------------------------------------------------------
#
# Gaussian.of(inner)         the settings of the class, which are its defaults
# Gaussian(2.0).of(inner)    the settings of the value


P = ParamSpec("P")
R = TypeVar("R")


class class_or_value(Generic[P, R]):  # noqa: N801
    """A method whose first argument is the value it is called on, or else the class.

    Examples
    --------
    >>> class Ring:
    ...     radius = 1.0
    ...     @class_or_value
    ...     def double(given):
    ...         return 2 * given.radius
    >>> ring = Ring()
    >>> ring.radius = 5.0
    >>> Ring.double(), ring.double()
    (2.0, 10.0)
    """

    def __init__(self, function: Callable[Concatenate[Any, P], R]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __get__(self, value: Any, owner: type) -> Callable[P, R]:
        return MethodType(self._function, owner if value is None else value)
