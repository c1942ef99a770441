"""Joint tables of small questions, planned and collected in one call of compiled code.

They are asked of the model as it is: to cut impossible states out of it takes longer than to sum
over them. Which questions are small depends on what they know and ask alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import MemoryLimitError
from novum.graphical.inference.compiled.layout import CONNECTED, JOINT
from novum.graphical.inference.compiled.planning import (
    BLOCK,
    NO_MAPS,
    NOTHING,
    UNCHECKED_BYTES,
    compiled_planner,
    first_bytes,
    program_key,
    refuse_beyond,
)
from novum.graphical.inference.compiled.prepared import Program
from novum.graphical.inference.compiled.questions import Question
from novum.graphical.inference.compiled.runs import joint_table
from novum.graphical.models.arrays import Floats, Positions

# Cells of all cliques of a small question.
AT_ONCE = 2e4


class SmallJoint(NamedTuple):
    """The answer to a small question.

    Attributes
    ----------
    table : float64 array
        The cells, whose sum is 1.
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
    program = ready.kept(key)
    if program is not None and program.cells > AT_ONCE:
        return None
    code, maps, most_bytes = _kept_part(program, limit)
    code, maps, prices, table, log = planner(
        *ready.arguments, ready.logs, question.known, question.soft, targets, CONNECTED, JOINT,
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


def _kept_part(
    program: Program | None, limit: int | str | None
) -> tuple[Positions, NDArray[np.int32], float]:
    """Code and maps of a program that is kept, else none, and how many bytes a new one may take."""
    if program is None:
        # What is small is not worth asking the environment about.
        return NOTHING, NO_MAPS, UNCHECKED_BYTES if limit is None else first_bytes(limit)
    if limit is not None:
        refuse_beyond(program.prices, limit)
    return program.code, program.maps, math.inf


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
    # A sum from the first cell to the last, as in compiled code.
    return SmallJoint(table / np.cumsum(table)[-1], log, program.has_cut_off)
