"""Work that does not fit the memory, or has no end, refused before it starts."""

from __future__ import annotations

from novum.core.errors import InputError
from novum.core.memory import check_memory

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
    limit : memory limit, see `novum.core.memory`
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
