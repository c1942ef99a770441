"""Runs of programs, in slices that Ctrl-C can end.

The arrays that a run fills are kept by each thread for its next run, so that no memory is asked for
again and again; what is handed out is never one of them.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from novum.graphical.inference.compiled.layout import (
    MOST_AXES,
    MOST_OPS,
    N_BARS,
    N_BUFFER,
    N_VALUES,
    ROOT_MESSAGE,
)
from novum.graphical.inference.compiled.prepared import Program
from novum.graphical.inference.compiled.questions import Question
from novum.graphical.models.arrays import Floats, Positions

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
        found = self.kept.get(name)
        return self._new(name, size, np.float64) if found is None or len(found) < size else found

    def integers(self, name: str, size: int) -> Positions:
        """The same of integers."""
        found = self.kept.get(name)
        return self._new(name, size, np.int64) if found is None or len(found) < size else found

    def _new(self, name: str, size: int, dtype: type[Any]) -> Any:
        if size >= MOST_KEPT:
            return np.empty(size, dtype)
        # What is too small goes before there is a larger one.
        self.kept.pop(name, None)
        found = self.kept[name] = np.empty(size + size // SPARE, dtype)
        return found


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
    found = np.empty(question.size)
    log, _ = _summed(question, program, found)
    return found, log


def maximized(question: Question, program: Program) -> tuple[Positions, float]:
    """The most probable states of all variables, and their log-probability.

    `-inf` where the evidence is impossible; NaN where products might leave the range of floats.
    """
    from novum.graphical.inference.compiled.answers_kernels import DONE, run_maxima

    arguments = _arguments(question, program)
    choices = _room.integers("choices", int(program.code[N_BARS]) + 1)
    found = question.known.copy()
    state = arguments[-1]
    state[:3] = 0
    log = question.log
    while state[2] != DONE:
        log += run_maxima(*arguments, choices, found, SLICE)
    if log > -math.inf:
        found = question.states[question.starts + found]
    return found, log


def _summed(question: Question, program: Program, found: Floats) -> tuple[float, Floats]:
    """`log_sum`, and the values with all messages; fills the posteriors where there is room."""
    from novum.graphical.inference.compiled.answers_kernels import DONE, run_sums

    arguments = _arguments(question, program)
    bars = slope = answers = _nothing
    if len(found):
        bars = _room.floats("bars", int(program.code[N_BARS]))
        slope = _room.floats("slope", int(program.code[N_BUFFER]))
        answers = _room.floats("answers", len(found))
    state = arguments[-1]
    state[0], state[1], state[2], state[3] = 0, 0, 0, len(found)
    log = 0.0
    while state[2] != DONE:
        log += run_sums(*arguments, question.states, bars, slope, answers, found, SLICE)
    return log, arguments[9]


def _arguments(question: Question, program: Program) -> tuple[Any, ...]:
    """What runs read, and the room they fill; the state of the run is the last."""
    code = program.code
    # The span of a table lies in the cell before it: `spans[at]` is `values[at - 1]`.
    spans = _room.floats("values", int(code[N_VALUES]) + 1)
    return (
        code,
        program.maps,
        question.home.tables,
        question.ready.tables,
        question.spans,
        question.known,
        question.starts,
        question.cards,
        question.weights,
        spans[1:],
        spans,
        _room.floats("block", int(code[N_BUFFER])),
        _room.integers("digits", int(code[MOST_AXES]) + 1),
        _room.integers("bases", int(code[MOST_OPS]) + 1),
        _room.integers("state", 4),
    )
