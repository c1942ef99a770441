"""What exact inference will cost, before it starts.

The elimination order is found first, and it alone decides the price: every clique is a table, the
sum of all decides the time; the largest one, or where none is stored all messages, the memory.
Seconds are those of a reference machine whose kernels are compiled; where they are not, the first
answer waits for that as well, and the forecast says so.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from novum.core.errors import MemoryLimitError
from novum.core.runtime import format_bytes
from novum.graphical.inference.compiled.layout import (
    PRICE_BYTES,
    PRICE_CELLS,
    PRICE_LARGEST,
    PRICE_WIDTH,
)
from novum.graphical.inference.compiled.questions import Question, question_of
from novum.graphical.inference.junction import LARGE_TREE, WHOLE_TREE, ancestral_programs, is_plain
from novum.graphical.inference.limits import SECONDS_PER_CELL
from novum.graphical.inference.plain_junction import order_for
from novum.graphical.inference.potentials import known_potentials
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.numerics import is_at_hand

SECONDS_PER_VARIABLE = 4e-6
_BYTES = 8


@dataclass(frozen=True)
class Forecast:
    """The price of all posteriors.

    Attributes
    ----------
    width : int
        Variables of the largest clique, less one.
    largest, cells : float
        Cells of the largest table, and of all.
    bytes : float
        Memory of the largest tables at one time.
    seconds : float
        On a reference machine, without compiling.
    compiles : bool
        Whether the first answer compiles its kernels before, which takes seconds to a minute and
        happens once on a machine; `novum warmup` does it ahead.

    Examples
    --------
    >>> print(Forecast(width=4, largest=512, cells=2_000, bytes=16_384, seconds=3e-4))
    exact inference: cliques of up to 5 variables, 512 cells in the largest, 2000 in all; \
about 16.4 kB and 0.3 ms
    """

    width: int
    largest: float
    cells: float
    bytes: float
    seconds: float
    compiles: bool = False

    def __str__(self) -> str:
        if not self.cells:
            return "exact inference: all follows from what is known, without any table"
        size = format_bytes(int(self.bytes))
        first = ", and compiling before it, once on this machine" if self.compiles else ""
        return (
            f"exact inference: cliques of up to {self.width + 1} variables, {self.largest:.4g} "
            f"cells in the largest, {self.cells:.4g} in all; about {size} and "
            f"{duration(self.seconds)}{first}"
        )


def forecast(model: ModelArrays, evidence: Evidence) -> Forecast:
    """The price of the posteriors of all variables given what is known."""
    question = None if is_plain(model) else question_of(model, evidence)
    if question is None or math.isnan(question.log):
        order = order_for(known_potentials(model, evidence), model.cards, ())
        width, largest, cells = order.width, order.largest, order.cells
        needed, compiles = order.largest * _BYTES * 4, False
    else:
        from novum.graphical.inference.compiled.answers_kernels import run_sums

        # Clique tables are not stored: memory is that of factors and messages.
        width, largest, cells, needed = _compiled_price(model, question)
        compiles = not is_at_hand(run_sums)
    seconds = seconds_of(cells, model.n_variables)
    return Forecast(width, largest, cells, needed, seconds, compiles)


def _compiled_price(model: ModelArrays, question: Question) -> tuple[int, float, float, float]:
    """Width, cells of the largest clique and of all, and bytes, of the way that is taken."""
    prices = [question.prices]
    cells = float(prices[0][PRICE_CELLS])
    if question.is_unconditional and cells > LARGE_TREE:
        shown = range(model.n_variables - model.n_hidden)
        with suppress(MemoryLimitError):
            programs = ancestral_programs(question, shown, WHOLE_TREE * cells, None)
            if programs:
                prices = [program.prices for program in programs]
    table = np.array(prices)
    return (
        int(table[:, PRICE_WIDTH].max()),
        float(table[:, PRICE_LARGEST].max()),
        float(table[:, PRICE_CELLS].sum()),
        float(table[:, PRICE_BYTES].max()),
    )


def seconds_of(cells: float, n_variables: int) -> float:
    """The time of collecting and distributing, on a reference machine, without compiling."""
    return SECONDS_PER_CELL * cells + SECONDS_PER_VARIABLE * n_variables


def duration(seconds: float) -> str:
    """A time for people."""
    if seconds < 1:
        return f"{seconds * 1000:.2g} ms"
    return f"{seconds:.3g} s"
