"""Programs of questions, and which of them are kept.

A program depends on the model, on which variables are observed or weighted and on what is asked,
not on the observed states: it is kept with the model for the next question that knows the same
variables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from novum.core.runtime import is_stated, memory_limit
from novum.graphical.inference.compiled.layout import (
    EVERYTHING,
    MARGINALS,
    PRICE_BYTES,
    PRICE_CELLS,
    PRICE_LARGEST,
    PRICE_WIDTH,
)
from novum.graphical.inference.compiled.prepared import PreparedModel, Program, prepared
from novum.graphical.inference.limits import check_cells_of, check_price
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.numerics import Bytes, Floats, Integers, Patience, as_argument, wait_for

# Cells of a block: the tables of all its operations stay in the nearest cache.
BLOCK = 2048
# Below this no memory is worth asking the system about.
UNCHECKED_BYTES = 5e7
# While the planner is not compiled, questions of up to so many unobserved variables are planned by
# Python, as long as there is patience.
MOST_INTERPRETED = 400
# Orders of more unobserved variables may take longer than Ctrl-C should wait.
MOST_UNWATCHED = 500
_patience = Patience(seconds=2.0)
# Arguments of the planner where there is nothing, and where a question is only planned.
NOTHING, NO_MAPS, NO_CELLS = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0)
PLAN_ONLY = -1.0


class Request(NamedTuple):
    """What is known of the variables of a model, and what is asked.

    Attributes
    ----------
    known : int64 array
        States of known variables, else -1.
    soft : uint8 array
        Which variables have weights.
    targets : int64 array
        The variables that are asked.
    extent, purpose : int
        Constants of `layout`.
    block : int
        Cells of a block.
    """

    known: Integers
    soft: Bytes
    targets: Integers
    extent: int
    purpose: int
    block: int


def program_of(
    model: ModelArrays,
    evidence: Evidence,
    asked: Sequence[int],
    extent: int,
    purpose: int,
    limit: int | str | None = None,
    soft: Bytes | None = None,
    block: int = BLOCK,
) -> Program:
    """The program of a question: one that is kept, or a new one.

    Parameters
    ----------
    model : ModelArrays
    evidence : Evidence
    asked : variables that are not observed
    extent, purpose : int
        Constants of `layout`.
    limit : memory limit
    soft : uint8 array, optional
        Which variables are weighted, where that is not said by the evidence.
    block : int
        Cells of a block.
    """
    ready = prepared(model)
    if soft is None:
        soft = np.zeros(model.n_variables, np.uint8)
        for variable in evidence.likelihoods:
            soft[variable] = 1
    targets = np.array(asked, np.int64) if len(asked) else NOTHING
    known = as_argument(evidence.codes, np.int64)
    request = Request(known, soft, targets, extent, purpose, block)
    return kept_program(ready, ready, request, ((known >= 0).tobytes(), soft.tobytes()), limit)


def program_key(targets: Integers, extent: int, purpose: int, block: int, own: Any) -> Any:
    """What a program is kept under; `own` tells its tables and what is known from others."""
    return (extent, purpose, block, targets.tobytes(), own)


def kept_program(
    home: PreparedModel, ready: PreparedModel, request: Request, own: Any, limit: int | str | None
) -> Program:
    """The program that `home` keeps, or a new one for the tables of `ready`."""
    key = program_key(request.targets, request.extent, request.purpose, request.block, own)
    program = home.kept(key)
    if program is None:
        program = Program(*_plan(ready, request, first_bytes(limit)))
        if len(program.code):
            check_cells_of(program.cells)
        else:
            refuse_beyond(program.prices, limit)
            program = Program(*_plan(ready, request, math.inf))
        home.keep(key, program)
    elif is_stated(limit):
        # It may be kept from a question with another limit.
        refuse_beyond(program.prices, limit)
    return program


def first_bytes(limit: int | str | None) -> float:
    """Programs of up to so many bytes are written before anybody asks how much memory there is."""
    return float(memory_limit(limit)) if is_stated(limit) else UNCHECKED_BYTES


def _plan(ready: PreparedModel, request: Request, most: float) -> tuple[Any, ...]:
    """Code, maps and prices, no program for more than `most` bytes; Python gives the same ones."""
    arguments = (
        tuple(ready.layout), ready.logs, ready.directed, tuple(request),
        (most, math.inf, PLAN_ONLY), (NOTHING, NO_CELLS, NO_CELLS, NO_CELLS), (NOTHING, NO_MAPS),
    )  # fmt: skip
    known = request.known
    planner = compiled_planner(known)
    result: tuple[Any, ...]
    if planner is not None:
        result = call_planner(planner, known, *arguments)
    else:
        result = _patience.interpret(_planner(), *arguments)
    return result[:3]


def compiled_planner(known: Integers) -> Any:
    """The planner as machine code; None while compiling it would take longer than it saves."""
    planner = _planner()
    if _patience.is_left_for(planner) and np.count_nonzero(known < 0) <= MOST_INTERPRETED:
        return None
    return planner


def call_planner(planner: Any, known: Integers, *arguments: Any) -> tuple[Any, ...]:
    """What the compiled planner returns; an interruption during the call as the error that it is.

    Numba makes the arrays of a result with the help of Python code, where the handlers of signals
    run that came meanwhile. It goes on without looking at their errors, and Python finds a result
    with an exception set. The orders of large models take seconds: these are sought by another
    thread, which an interruption leaves alone.
    """
    if np.count_nonzero(known < 0) > MOST_UNWATCHED:
        return wait_for(planner, *arguments)
    try:
        result: tuple[Any, ...] = planner(*arguments)
    except SystemError as error:
        reason: BaseException = error
        while isinstance(reason, SystemError) and reason.__cause__ is not None:
            reason = reason.__cause__
        raise reason from None
    return result


@cache
def _planner() -> Any:
    from novum.graphical.inference.compiled.planning_kernels import plan_question

    return plan_question


def prices_of(ready: PreparedModel, known: Integers, soft: Bytes) -> Floats:
    """What all posteriors will cost: the prices of `layout`, without a program."""
    # No program fits into fewer than no bytes, so that only its price is found.
    request = Request(known, soft, NOTHING, EVERYTHING, MARGINALS, BLOCK)
    _, _, prices = _plan(ready, request, -1.0)
    costs: Floats = prices
    return costs


def refuse_beyond(prices: Floats, limit: int | str | None) -> None:
    """Refuses a plan whose messages do not fit the memory, before anything is computed."""
    width, largest = int(prices[PRICE_WIDTH]), float(prices[PRICE_LARGEST])
    check_price(width, largest, float(prices[PRICE_BYTES]), limit)
    check_cells_of(float(prices[PRICE_CELLS]))
