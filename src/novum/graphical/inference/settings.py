"""Checks of the settings of approximate engines, made when an engine is built."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TypeGuard

from novum.core.errors import InputError


def check_count(name: str, value: object, least: int = 1) -> None:
    """Refuses what is no whole number of at least `least`.

    Examples
    --------
    >>> check_count("size", 0)
    Traceback (most recent call last):
    ...
    novum.core.errors.InputError: size is a whole number of at least 1, got 0.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} is a whole number of at least {least}, got {value!r}.")


def check_positive(name: str, value: object) -> None:
    """Refuses what is no finite number above 0."""
    if not (_is_number(value) and 0 < float(value) < math.inf):
        raise InputError(f"{name} is a finite number above 0, got {value!r}.")


def check_share(name: str, value: object) -> None:
    """Refuses what is no number from 0 up to, and without, 1."""
    if not (_is_number(value) and 0 <= float(value) < 1):
        raise InputError(f"{name} is a number from 0 to below 1, got {value!r}.")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)
