"""A network as a file gives it, and the checks that all formats share.

    cells of all tables in one array, variable after variable, each in C order of
    (parents in their order, the variable last)

so that all rows of a file are checked together. Rows off by more than 1e-3 are refused; those off
by more than 1e-6 are divided by their sums, with one warning for the whole file.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from novum.core.errors import FileFormatError, InputError
from novum.core.text import label_text, listed, meant, printable
from novum.distributions import EXACT, MAX_VARIABLES, QUIET, TOLERATED, StateAxis, shown
from novum.graphical.models.conditional import (
    Conditional,
    NetworkWarning,
    Tabular,
    check_node_cells,
    row_text,
)
from novum.numerics import Floats, Integers

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork


# NumPy has arrays of at most 64 axes.
MAX_PARENTS = MAX_VARIABLES - 1
# Cells that a file may ask for without giving their numbers (`default` rows): 32 MB.
MAX_DEFAULT_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class Draft:
    """Variables in the order of the file.

    Attributes
    ----------
    source : str
        The file's name, for messages.
    axes : list of StateAxis
    parents : list of list of int
        The parents of each variable, by position in `axes`.
    cells : float64 array
        All tables one after the other.
    line_of : callable, optional
        The line where a row of a variable's table stands, from the numbers of both; asked only
        when something is wrong there.
    """

    source: str
    axes: Sequence[StateAxis]
    parents: Sequence[Sequence[int]]
    cells: Floats
    line_of: Callable[[int, int], int] | None = None

    def conditionals(self) -> list[Conditional]:
        """The checked distributions, as views into one array."""
        if not self.axes:
            raise file_error(self.source, "there is no variable in it. Is it the whole file?")
        cards = [len(axis.states) for axis in self.axes]
        sizes = [cards[v] * math.prod([cards[p] for p in up]) for v, up in enumerate(self.parents)]
        self._check_rows(np.array(cards), np.array(sizes))
        self.cells.flags.writeable = False
        axes, made, start = self.axes, [], 0
        for axis, up, card, size in zip(axes, self.parents, cards, sizes, strict=True):
            part = self.cells[start : start + size]
            if up:
                part = part.reshape([*[cards[p] for p in up], card])
            made.append(Tabular.trusted(axis, tuple([axes[p] for p in up]), part))
            start += size
        return made  # type: ignore[return-value]

    def _check_rows(self, cards: Integers, sizes: Integers) -> None:
        """Probabilities between 0 and 1 in rows that sum to one; divides where they nearly do."""
        cells = self.cells
        # A NaN fails the comparison too; what is too large makes a sum too large.
        if not cells.min() >= 0:
            self._refuse_cell(cards, sizes)
        widths = np.repeat(cards, sizes // cards)
        starts = np.cumsum(widths) - widths
        sums = np.add.reduceat(cells, starts)
        off = np.abs(sums - 1.0)
        worst = int(off.argmax())
        if off[worst] <= EXACT:
            return
        if off[worst] > TOLERATED:
            if cells.max() > 1 + TOLERATED:
                self._refuse_cell(cards, sizes)
            raise self._error(
                f"the probabilities in {self._row(worst, cards, sizes)} sum to "
                f"{sums[worst]:g}, not to 1. Correct that row, or divide it by its sum.",
                *self._place(worst, cards, sizes),
            )
        if off[worst] > QUIET:
            warnings.warn(
                f"{self.source}: {np.count_nonzero(off > QUIET)} rows did not sum to 1 and were "
                f"divided by their sums; the worst, in {self._row(worst, cards, sizes)}, summed "
                f"to {float(sums[worst])!r}.",
                NetworkWarning,
                stacklevel=6,
            )
        inexact = off > EXACT
        cells /= np.repeat(np.where(inexact, sums, 1.0), widths)

    def _row(self, row: int, cards: Integers, sizes: Integers) -> str:
        """A row of the file in words."""
        variable, row = self._place(row, cards, sizes)
        up = tuple(self.axes[p] for p in self.parents[variable])
        where = f", row {row_text(up, row)}" if up else ""
        return f"the table of {label_text(self.axes[variable].name)}{where}"

    def _place(self, row: int, cards: Integers, sizes: Integers) -> tuple[int, int]:
        """The variable of a row of the file, and its number in that variable's table."""
        ends = np.cumsum(sizes // cards)
        variable = int(np.searchsorted(ends, row, side="right"))
        return variable, row - int(ends[variable]) + int(sizes[variable] // cards[variable])

    def _error(self, reason: str, variable: int, row: int) -> FileFormatError:
        line = None if self.line_of is None else self.line_of(variable, row)
        return file_error(self.source, reason, line)

    def _refuse_cell(self, cards: Integers, sizes: Integers) -> None:
        wrong = int(np.flatnonzero(~((self.cells >= 0) & (self.cells <= 1 + TOLERATED)))[0])
        ends = np.cumsum(sizes)
        variable = int(np.searchsorted(ends, wrong, side="right"))
        card, start = int(cards[variable]), int(ends[variable] - sizes[variable])
        row = int((sizes[:variable] // cards[:variable]).sum()) + (wrong - start) // card
        state = self.axes[variable].states[(wrong - start) % card]
        raise self._error(
            f"{self._row(row, cards, sizes)} has {self.cells[wrong]:g} for state {shown(state)}; "
            "probabilities lie between 0 and 1.",
            variable,
            (wrong - start) // card,
        )


def renamed_axis(axis: StateAxis, name: str) -> StateAxis:
    """A variable with the states of another, which need no second check."""
    made = object.__new__(StateAxis)
    made.__dict__.update(axis.__dict__, name=name)
    return made


def file_error(
    source: str, reason: str, line: int | None = None, column: int | None = None
) -> FileFormatError:
    """An error that says where in the file it is."""
    where = source
    if line is not None:
        where += f", line {line}" + ("" if column is None else f", column {column}")
    return FileFormatError(f"{where}: {reason}", line=line, column=column)


def unknown_name(kind: str, name: str, known: Mapping[str, object] | Sequence[str]) -> str:
    """The end of a message about a name that no variable or state has."""
    return f"there is no {kind} {label_text(name)}: {meant(name, list(known))}"


def cut(text: str) -> str:
    """Something found in a file, short enough for a message."""
    return repr(printable(text, 30))


# --- Before writing -------------------------------------------------------------------------------
# What the writers of all formats ask about a network before they write it.


_ADVICE = "Tables are held in full there; a .network file keeps compact nodes as they are."


def text_states(
    network: BayesianNetwork, source: str, kept: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """The states of each node as text, which is all that the formats with names hold.

    Numbers and truth values become text, ordered states lose their order and compact tables, but
    those of the nodes in `kept`, are written in full; one warning says so.
    """
    as_text: dict[str, tuple[str, ...]] = {}
    lost: list[str] = []
    for item in network.conditionals:
        axis = item.variable
        if item.name not in kept:
            check_node_cells(axis, item.parents, _ADVICE, source)
        states = tuple(str(state) for state in axis.states)
        if len(set(states)) < len(states) or "" in states:
            raise InputError(
                f"{source}: node {label_text(axis.name)} has states that are empty or equal as "
                f"text: {listed(axis.states)}. Rename them before writing."
            )
        as_text[axis.name] = states
        in_full = not isinstance(item, Tabular) and item.name not in kept
        if states != axis.states or axis.ordered or in_full:
            lost.append(axis.name)
    if lost:
        warnings.warn(
            f"{source} holds states as text without an order and tables in full: "
            f"{listed(lost)} will read back so.",
            NetworkWarning,
            stacklevel=5,
        )
    return as_text


def check_full_tables(network: BayesianNetwork, source: str) -> None:
    """Refuses nodes whose tables are too large to exist, before anything is made of them."""
    for item in network.conditionals:
        check_node_cells(item.variable, item.parents, _ADVICE, source)
