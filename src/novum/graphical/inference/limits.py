"""Work that does not fit the memory, or has no end, refused before it starts."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TypeGuard

from novum.core.errors import InputError
from novum.core.runtime import check_memory

# Work that is forecast to take longer was hardly meant.
MOST_SECONDS = 24 * 3600.0
# Collecting and distributing read and write each cell of a clique a few times.
SECONDS_PER_CELL = 4e-9


class TimeLimitError(InputError):
    """Work refused before it starts, because it would take days."""


def check_price(width: int, largest: float, n_bytes: float, limit: int | str | None) -> None:
    """Refuses exact inference beyond the memory limit, with its forecast.

    Parameters
    ----------
    width : int
        Variables of the largest clique, less one.
    largest : float
        Cells of the largest clique.
    n_bytes : float
        Memory that is needed.
    limit : memory limit, see `novum.core.runtime.memory`
    """
    check_memory(
        int(min(n_bytes, 1e18)),
        f"Exact inference with cliques of up to {width + 1} variables and {largest:.3g} cells",
        "Observe more variables, or ask with engine=WithinLimits(), which then answers by an "
        "approximate method and says so.",
        limit,
    )


def check_cells_of(cells: float) -> None:
    """Refuses exact inference whose sums would take days, though their results fit the memory."""
    check_seconds(
        SECONDS_PER_CELL * cells,
        f"Exact inference over {cells:.3g} cells of cliques",
        "Observe more variables, or ask with engine=WithinLimits(time_limit=...), which then "
        "answers by an approximate method and says so.",
    )


def check_seconds(seconds: float, what: str, remedy: str) -> None:
    """Refuses work of more than a day, with its forecast.

    Parameters
    ----------
    seconds : float
        On a reference machine.
    what : str
        The work, as the subject of a sentence.
    remedy : str
        What to do instead, as a sentence.

    Examples
    --------
    >>> check_seconds(1e7, "A run of 1e14 rows", "Draw fewer rows.")
    Traceback (most recent call last):
    ...
    novum.graphical.inference.limits.TimeLimitError: A run of 1e14 rows would take about 116 days. \
Draw fewer rows.
    """
    if seconds > MOST_SECONDS:
        raise TimeLimitError(f"{what} would take about {seconds / 86400:.3g} days. {remedy}")


# --- Settings -------------------------------------------------------------------------------------
# Checks of the settings of approximate engines, made when an engine is built.


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
