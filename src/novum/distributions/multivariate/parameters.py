"""Parameters that are arrays: copied once, never changed, compared by content.

A law is a value. Its arrays are private read-only copies, so that no later change of the caller's
array reaches it, and two laws are equal when their parameters are.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.numerics import Floats


class ArrayParameters:
    """Equality, hash and storage for frozen dataclasses whose fields are arrays or numbers."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._parameters() == other._parameters()

    def __hash__(self) -> int:
        return hash((type(self), *self._parameters()))

    def _parameters(self) -> tuple[Any, ...]:
        values = (np.asarray(getattr(self, item.name)) for item in fields(self))  # type: ignore[arg-type]
        # Adding zero makes -0.0 equal to 0.0, as it is among numbers.
        return tuple((value.shape, (value + 0.0).tobytes()) for value in values)

    def _store(self, **parameters: Any) -> None:
        for name, value in parameters.items():
            object.__setattr__(self, name, value)


# --- Checks ---------------------------------------------------------------------------------------


def checked_vector(values: ArrayLike, what: str) -> Floats:
    """A read-only copy of at least one finite number in a row."""
    vector = np.array(values, np.float64)
    if vector.ndim != 1 or not vector.size:
        raise InputError(f"{what} must be a list of numbers, got shape {vector.shape}.")
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise InputError(f"{what} must be finite; entry {bad[0]} is {vector[bad[0]]}.")
    vector.setflags(write=False)
    return vector


def checked_positive(value: float, what: str, *, above: float = 0.0) -> float:
    """A finite number above a bound."""
    number = float(value)
    if not (np.isfinite(number) and number > above):
        raise InputError(f"{what} must be a finite number above {above:g}, got {value!r}.")
    return number


def checked_shares(values: ArrayLike, what: str) -> Floats:
    """Probabilities of exclusive outcomes, which sum to 1 up to rounding; normalized exactly."""
    shares = checked_vector(values, what)
    bad = np.flatnonzero(shares < 0)
    if bad.size:
        raise InputError(f"{what} must not be negative; entry {bad[0]} is {shares[bad[0]]}.")
    total = float(shares.sum())
    if abs(total - 1) > 1e-9:
        raise InputError(f"{what} must sum to 1; they sum to {total:.12g}. Divide by the sum.")
    shares = shares / total
    shares.setflags(write=False)
    return shares


def checked_total(weight: float, name: str) -> None:
    """Refuse statistics without any weight."""
    if not weight > 0:
        raise InputError(
            f"{name} cannot be estimated from no data: the total weight is {weight:g}."
        )
