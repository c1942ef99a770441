"""Values whose fields add: the arithmetic of statistics, written once.

    S(A and B) = S(A) + S(B),        a S counts every row a times

A statistic is a frozen dataclass. `Additive` gives it `+`, field by field: numbers, arrays and
statistics inside by their own `+`, tuples item by item, schemas by the union of their levels, and
what is absent (None) on either side stays absent. A subclass names the fields that are combined in
another way, such as the largest of two, and those that say what kind of rows they come from and
must agree.

`Sums` adds what follows where every field is a plain sum: rows are taken away by `-`, where what is
left of terms that cannot be negative is zero where it is zero within rounding and an error where it
is clearly below; `*` repeats every row; `isclose` compares up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Schema


class Additive:
    """`+` for frozen dataclasses, field by field.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> @dataclass(frozen=True)
    ... class Lengths(Additive):
    ...     total: float
    ...     longest: float
    ...     _combined: ClassVar = {"longest": max}
    >>> Lengths(3.0, 2.0) + Lengths(4.0, 4.0)
    Lengths(total=7.0, longest=4.0)
    """

    _fixed: ClassVar[tuple[str, ...]] = ()
    _combined: ClassVar[Mapping[str, Callable[[Any, Any], Any]]] = {}

    def __add__(self, other: Self) -> Self:
        self._check_fits(other)
        values = {}
        for item in fields(self):  # type: ignore[arg-type]
            name, value = item.name, getattr(self, item.name)
            combine = self._combined.get(name, added_values)
            values[name] = value if name in self._fixed else combine(value, getattr(other, name))
        return type(self)(**values)

    def _check_fits(self, other: Self) -> None:
        """Refuses what does not add up to the statistics of one table."""
        if type(other) is not type(self):
            raise InputError(
                f"{type(self).__name__} and {type(other).__name__} do not add up: they are sums of "
                "different things."
            )
        for name in self._fixed:
            if getattr(self, name) != getattr(other, name):
                raise InputError(
                    f"Statistics with {name}={getattr(self, name)} and "
                    f"{name}={getattr(other, name)} do not add up to those of one law."
                )


def added_values(a: Any, b: Any) -> Any:
    """The sum of two values of one field."""
    if a is None or b is None:
        return None
    if isinstance(a, tuple):
        return tuple(added_values(x, y) for x, y in zip(a, b, strict=True))
    return a.unite(b) if isinstance(a, Schema) else a + b


class Sums(Additive):
    """Arithmetic of plain sums: numbers, arrays, or sums themselves; one of them is `weight`."""

    _never_negative: ClassVar[tuple[str, ...]] = ("weight",)

    def __post_init__(self) -> None:
        for name in self._names():
            if _is_sum(getattr(self, name)):
                continue
            value = np.array(getattr(self, name), np.float64)
            value.setflags(write=False)
            if not np.all(np.isfinite(value)):
                raise InputError(
                    f"{type(self).__name__} holds NaN or infinity in its sum `{name}`. "
                    "Scale the data so that sums over all rows stay below 1e308."
                )
            object.__setattr__(self, name, value if value.ndim else float(value))

    def __sub__(self, other: Self) -> Self:
        """The sums without the rows of `other`, which must be among them."""
        self._check_fits(other)
        return self._with({name: self._left(name, other) for name in self._names()})

    def __mul__(self, factor: float) -> Self:
        """Every row repeated `factor` times."""
        if not (np.isfinite(factor) and factor >= 0):
            raise InputError(f"Sums are scaled by a finite factor of at least 0, got {factor!r}.")
        return self._with({name: factor * getattr(self, name) for name in self._names()})

    __rmul__ = __mul__

    def zero(self) -> Self:
        """The sums over no rows of the same kind."""
        return 0.0 * self

    def isclose(self, other: Self, rtol: float = 1e-10) -> bool:
        """Equal within `rtol` of the largest entry of each sum."""
        if any(getattr(self, name) != getattr(other, name) for name in self._fixed):
            return False
        pairs = ((getattr(self, name), getattr(other, name)) for name in self._names())
        return all(_is_close(a, b, rtol) for a, b in pairs)

    @classmethod
    def _names(cls) -> list[str]:
        return [item.name for item in fields(cls) if item.name not in cls._fixed]  # type: ignore[arg-type]

    def _with(self, sums: dict[str, Any]) -> Self:
        return type(self)(**{name: getattr(self, name) for name in self._fixed}, **sums)

    def _left(self, name: str, other: Self) -> Any:
        before, gone = getattr(self, name), getattr(other, name)
        left = before - gone
        if _is_sum(before) or name not in self._never_negative:
            return left
        # Fractional weights leave rounding behind, which must not make a sum negative.
        slack = 1e-13 * np.abs(before)
        if np.any(left < -slack):
            worst = int(np.argmin(left))
            raise InputError(
                f"Cannot remove rows that were never added: the sum `{name}` would fall from "
                f"{np.ravel(before)[worst]:g} to {np.ravel(left)[worst]:g}. "
                "Remove only what was added."
            )
        return np.where(left <= slack, 0.0, left)

    def _check_fits(self, other: Self) -> None:
        super()._check_fits(other)
        for name in self._names():
            shapes = [np.shape(getattr(one, name)) for one in (self, other)]
            if shapes[0] != shapes[1]:
                raise InputError(
                    f"Statistics with `{name}` of shapes {shapes[0]} and {shapes[1]} do not add "
                    "up: the rows have other columns."
                )


def _is_sum(value: Any) -> bool:
    return hasattr(value, "isclose")


def _is_close(a: Any, b: Any, rtol: float) -> bool:
    if _is_sum(a):
        return bool(a.isclose(b, rtol))
    if np.shape(a) != np.shape(b):
        return False
    size = max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0))
    return bool(np.max(np.abs(np.asarray(a) - b), initial=0.0) <= rtol * size)
