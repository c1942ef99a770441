"""Runs of programs, in slices that Ctrl-C can end.

The arrays that a run fills are kept by each thread for its next run, so that no memory is asked for
again and again; what is handed out is never one of them.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from novum.core.errors import MemoryLimitError
from novum.graphical.inference.compiled.layout import (
    CONNECTED,
    JOINT,
    MOST_AXES,
    MOST_OPS,
    N_BARS,
    N_BUFFER,
    N_VALUES,
    ROOT_MESSAGE,
)
from novum.graphical.inference.compiled.planning import (
    BLOCK,
    NO_MAPS,
    NOTHING,
    call_planner,
    compiled_planner,
    first_bytes,
    program_key,
)
from novum.graphical.inference.compiled.prepared import Program
from novum.graphical.inference.compiled.questions import Question
from novum.numerics import Floats, Integers

# Blocks between two looks at the keyboard: tens of milliseconds.
SLICE = 10_000
# Numbers that a thread keeps for its next run, in each array.
MOST_KEPT = 2**22
# One part in so many more than was asked for, so that slightly larger programs fit as well.
SPARE = 16


class Room(threading.local):
    """Arrays that the runs of a thread fill."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def floats(self, name: str, size: int) -> Floats:
        """An array of at least so many numbers, of any content."""
        array = self.kept.get(name)
        return self._new(name, size, np.float64) if array is None or len(array) < size else array

    def integers(self, name: str, size: int) -> Integers:
        """The same of integers."""
        array = self.kept.get(name)
        return self._new(name, size, np.int64) if array is None or len(array) < size else array

    def _new(self, name: str, size: int, dtype: type[Any]) -> Any:
        if size >= MOST_KEPT:
            return np.empty(size, dtype)
        # What is too small goes before there is a larger one.
        self.kept.pop(name, None)
        array = self.kept[name] = np.empty(size + size // SPARE, dtype)
        return array


_room = Room()
_nothing = np.empty(0)


def log_sum(question: Question, program: Program) -> float:
    """Logarithm of the sum over all states that agree with what is known.

    Of a joint question that of its table is still to be added. `-inf` where the evidence is
    impossible; NaN where products might leave the range of floating-point numbers.
    """
    return _summed(question, program, _nothing)[0]


def joint_table(question: Question, program: Program, size: int) -> tuple[Floats, float]:
    """The table of a joint question up to a factor, and `log_sum`."""
    log, values = _summed(question, program, _nothing)
    start = int(program.code[ROOT_MESSAGE])
    return values[start : start + size].copy(), log


def posteriors(question: Question, program: Program) -> tuple[Floats, float]:
    """The posteriors of all variables, one after the other, and `log_sum`.

    Of variables that are neither known nor part of the program there are zeros.
    """
    tables = np.empty(question.size)
    log, _ = _summed(question, program, tables)
    return tables, log


def maximized(question: Question, program: Program) -> tuple[Integers, float]:
    """The most probable states of all variables, and their log-probability.

    `-inf` where the evidence is impossible; NaN where products might leave the range of floats.
    """
    from novum.graphical.inference.compiled.answers_kernels import DONE, run_maxima

    reading, room = _arguments(question, program)
    choices = _room.integers("choices", int(program.code[N_BARS]) + 1)
    codes = question.known.copy()
    state = room[-1]
    state[:3] = 0
    log = question.log
    while state[2] != DONE:
        log += run_maxima(program.code, program.maps, reading, room, choices, codes, SLICE)
    if log > -math.inf:
        codes = question.states[question.starts + codes]
    return codes, log


def _summed(question: Question, program: Program, out_tables: Floats) -> tuple[float, Floats]:
    """`log_sum`, and the values with all messages; fills the posteriors where there is room."""
    from novum.graphical.inference.compiled.answers_kernels import DONE, run_sums

    reading, room = _arguments(question, program)
    bars = slope = answers = _nothing
    if len(out_tables):
        bars = _room.floats("bars", int(program.code[N_BARS]))
        slope = _room.floats("slope", int(program.code[N_BUFFER]))
        answers = _room.floats("answers", len(out_tables))
    posteriors, state = (bars, slope, answers, out_tables), room[-1]
    state[0], state[1], state[2], state[3] = 0, 0, 0, len(out_tables)
    log = 0.0
    while state[2] != DONE:
        log += run_sums(
            program.code, program.maps, reading, room, question.states, posteriors, SLICE
        )
    return log, room[0]


def _arguments(question: Question, program: Program) -> tuple[Any, Any]:
    """What runs read, and the room they fill; the state of the run is the last."""
    code = program.code
    reading = (
        *(question.home.tables, question.ready.tables, question.spans),
        *(question.known, question.starts, question.cards, question.weights),
    )
    # The span of a table lies in the cell before it: `spans[at]` is `values[at - 1]`.
    spans = _room.floats("values", int(code[N_VALUES]) + 1)
    return reading, (
        spans[1:],
        spans,
        _room.floats("block", int(code[N_BUFFER])),
        _room.integers("digits", int(code[MOST_AXES]) + 1),
        _room.integers("bases", int(code[MOST_OPS]) + 1),
        _room.integers("state", 4),
    )


# --- Small questions ------------------------------------------------------------------------------
# Joint tables of small questions, planned and collected in one call of compiled code.
#
# They are asked of the model as it is: to cut impossible states out of it takes longer than to sum
# over them. Which questions are small depends on what they know and ask, and on a memory limit, not
# on what was asked before.


# Cells of all cliques of a small question.
AT_ONCE = 2e4


class SmallJoint(NamedTuple):
    """The answer to a small question.

    Attributes
    ----------
    table : float64 array
        The cells, whose sum is 1 where the evidence is possible.
    log : float
        As `log_sum` has it.
    has_cut_off : bool
        Whether something was left out that might contradict the evidence.
    """

    table: Floats
    log: float
    has_cut_off: bool


def small_joint(
    question: Question, asked: Sequence[int], limit: int | str | None
) -> SmallJoint | None:
    """The joint table of variables that are not known; None where the question is not small.

    Parameters
    ----------
    question : Question
        Of the model as it is (`uncut_question`).
    asked : variables
    limit : memory limit
    """
    planner = compiled_planner(question.known)
    if planner is None:
        return _interpreted_joint(question, asked, limit)
    ready, targets = question.ready, np.array(asked, np.int64)
    # Where the tables could be cut, there is no program for a large question about them uncut.
    own, most = question.key, math.inf
    if question.is_cuttable:
        own, most = (own, AT_ONCE), AT_ONCE
    key = program_key(targets, CONNECTED, JOINT, BLOCK, own)
    program, most_bytes = ready.kept(key), first_bytes(limit)
    if program is not None and (program.cells > AT_ONCE or program.bytes > most_bytes):
        return None
    code, maps, prices, table, log = call_planner(
        planner, question.known,
        tuple(ready.layout), ready.logs, ready.directed,
        (question.known, question.soft, targets, CONNECTED, JOINT, BLOCK),
        (most_bytes, most, AT_ONCE),
        (question.starts, ready.tables, question.spans, question.weights),
        (NOTHING, NO_MAPS) if program is None else (program.code, program.maps),
    )  # fmt: skip
    if program is None:
        program = Program(code, maps, prices)
        if len(code) or program.cells > most:
            ready.keep(key, program)
        if program.cells > AT_ONCE or not len(code):
            return None
    return SmallJoint(table, log, program.has_cut_off)


def _interpreted_joint(
    question: Question, asked: Sequence[int], limit: int | str | None
) -> SmallJoint | None:
    """The same by a program that Python plans."""
    try:
        program = question.program(asked, CONNECTED, JOINT, limit)
    except MemoryLimitError:
        # What is left after cutting may fit.
        return None
    if program.cells > AT_ONCE:
        return None
    size = math.prod(int(question.cards[variable]) for variable in asked)
    table, log = joint_table(question, program, size)
    if log > -math.inf:
        # A sum from the first cell to the last, as in compiled code.
        table /= np.cumsum(table)[-1]
    return SmallJoint(table, log, program.has_cut_off)
