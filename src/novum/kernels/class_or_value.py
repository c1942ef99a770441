"""Functions that are called on a class or on one of its values.

Gaussian.of(inner)         the settings of the class, which are its defaults
Gaussian(2.0).of(inner)    the settings of the value
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

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
