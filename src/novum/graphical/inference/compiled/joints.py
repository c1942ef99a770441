"""Joint tables of small questions, planned and collected in one call of compiled code.

They are asked of the model as it is: to cut impossible states out of it takes longer than to sum
over them. Which questions are small depends on what they know and ask alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from novum.core.memory import is_stated
from novum.graphical.inference.compiled.layout import CONNECTED, JOINT
from novum.graphical.inference.compiled.planning import (
    BLOCK,
    NO_MAPS,
    NOTHING,
    compiled_planner,
    refuse_beyond,
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
        The cells up to a factor.
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
    key = (targets.tobytes(), question.key)
    program = ready.kept(key)
    code, maps = (NOTHING, NO_MAPS) if program is None else (program.code, program.maps)
    if program is not None and not len(code):
        return None
    code, maps, prices, table, log = planner(
        *ready.arguments, ready.logs, question.known, question.soft, targets, CONNECTED, JOINT,
        ready.directed, BLOCK, math.inf, ready.tables, question.spans, question.starts,
        question.weights, code, maps, AT_ONCE,
    )  # fmt: skip
    if program is None:
        # Of a large one there is but the price.
        program = Program(code, maps, prices)
        ready.keep(key, program)
    if not len(code):
        return None
    if is_stated(limit):
        refuse_beyond(program.prices, limit)
    return SmallJoint(table, log, program.has_cut_off)


def _interpreted_joint(
    question: Question, asked: Sequence[int], limit: int | str | None
) -> SmallJoint | None:
    """The same by a program that Python plans."""
    program = question.program(asked, CONNECTED, JOINT, limit)
    if program.cells > AT_ONCE:
        return None
    size = math.prod(int(question.cards[variable]) for variable in asked)
    return SmallJoint(*joint_table(question, program, size), program.has_cut_off)
