"""Joint tables of small questions, planned and collected in one call of compiled code.

They are asked of the model as it is: to cut impossible states out of it takes longer than to sum
over them. Which questions are small depends on what they know and ask, and on a memory limit, not
on what was asked before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from novum.core.errors import MemoryLimitError
from novum.graphical.inference.compiled.layout import CONNECTED, JOINT
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
from novum.graphical.inference.compiled.runs import joint_table
from novum.graphical.models.arrays import Floats

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
    code, maps = (NOTHING, NO_MAPS) if program is None else (program.code, program.maps)
    code, maps, prices, table, log = call_planner(
        planner, question.known,
        *ready.layout, ready.logs, question.known, question.soft, targets, CONNECTED, JOINT,
        ready.directed, BLOCK, most_bytes, ready.tables, question.spans, question.starts,
        question.weights, code, maps, most, AT_ONCE,
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
