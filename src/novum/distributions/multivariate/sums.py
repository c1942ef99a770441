"""Sufficient statistics that are plain sums over the rows.

    S(A and B) = S(A) + S(B),        a S counts every row a times

A statistic is a frozen dataclass whose fields are sums, numbers or arrays; `_fixed` names the few
that say what kind of rows they come from and must agree instead. Rows are taken away by `-`: what
is left of a sum of terms that cannot be negative is zero where it is zero within rounding, and
an error where it is clearly below.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np

from novum.core.errors import InputError
from novum.distributions.multivariate.parameters import ArrayParameters


class Sums(ArrayParameters):
    """Arithmetic of sums; a subclass is a frozen dataclass with a field `weight`."""

    _fixed: ClassVar[tuple[str, ...]] = ()
    _never_negative: ClassVar[tuple[str, ...]] = ("weight",)
    weight: float

    def __post_init__(self) -> None:
        for name in self._names():
            value = np.array(getattr(self, name), np.float64)
            value.setflags(write=False)
            if not np.all(np.isfinite(value)):
                raise InputError(
                    f"{type(self).__name__} holds NaN or infinity in its sum `{name}`. "
                    "Scale the data so that sums over all rows stay below 1e308."
                )
            object.__setattr__(self, name, value if value.ndim else float(value))

    def __add__(self, other: Self) -> Self:
        self._check_fits(other)
        return self._with({n: getattr(self, n) + getattr(other, n) for n in self._names()})

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
        pairs = [
            (np.asarray(getattr(self, n)), np.asarray(getattr(other, n))) for n in self._names()
        ]
        return all(
            a.shape == b.shape
            and np.max(np.abs(a - b), initial=0.0)
            <= rtol * max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0))
            for a, b in pairs
        )

    # Parts

    @classmethod
    def _names(cls) -> list[str]:
        return [item.name for item in fields(cls) if item.name not in cls._fixed]  # type: ignore[arg-type]

    def _with(self, sums: dict[str, Any]) -> Self:
        return type(self)(**{name: getattr(self, name) for name in self._fixed}, **sums)

    def _left(self, name: str, other: Self) -> Any:
        before, gone = np.asarray(getattr(self, name)), np.asarray(getattr(other, name))
        left = before - gone
        if name not in self._never_negative:
            return left
        # Fractional weights leave rounding behind, which must not make a sum negative.
        slack = 1e-13 * np.abs(before)
        if np.any(left < -slack):
            worst = int(np.argmin(left))
            raise InputError(
                "Cannot remove rows that were never added: the sum "
                f"`{name}` would fall from {before.ravel()[worst]:g} to {left.ravel()[worst]:g}. "
                "Remove only what was added."
            )
        return np.where(left <= slack, 0.0, left)

    def _check_fits(self, other: Self) -> None:
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
        for name in self._names():
            if np.shape(getattr(self, name)) != np.shape(getattr(other, name)):
                raise InputError(
                    f"Statistics with `{name}` of shapes {np.shape(getattr(self, name))} and "
                    f"{np.shape(getattr(other, name))} do not add up: the rows have other columns."
                )
