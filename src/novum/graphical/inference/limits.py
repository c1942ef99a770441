"""Exact work that does not fit the memory, refused before it starts."""

from __future__ import annotations

from novum.core.memory import check_memory


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
