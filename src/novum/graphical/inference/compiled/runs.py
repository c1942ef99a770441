"""Runs of programs: values, derivatives and scratch as arrays, in slices that Ctrl-C can end."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from novum.graphical.inference.compiled.layout import (
    MOST_AXES,
    MOST_OPS,
    N_BARS,
    N_BUFFER,
    N_CLIQUES,
    N_SOFT,
    N_VALUES,
    ROOT_MESSAGE,
    SOFT_AT,
)
from novum.graphical.inference.compiled.planning import PreparedModel, Program
from novum.graphical.models.arrays import Evidence, Floats, Positions

# Blocks between two looks at the keyboard: tens of milliseconds.
SLICE = 10_000


@dataclass(frozen=True, eq=False)
class Run:
    """A program with its values: what `collect` leaves behind for `distribute`.

    Attributes
    ----------
    program : Program
    values : float64 array
        Tables at what is observed, and messages.
    block : float64 array
        Room for one block of a clique.
    digits, bases : int64 arrays
        Room for outer loops.
    log : float
        Logarithm of the sum over all states (of a joint question that of its table is still to
        be added); `-inf` where the evidence is impossible.
    """

    program: Program
    values: Floats
    block: Floats
    digits: Positions
    bases: Positions
    log: float


def collected(ready: PreparedModel, program: Program, codes: Positions, evidence: Evidence) -> Run:
    """Loads the tables and sends messages to the roots."""
    from novum.graphical.inference.compiled.messages_kernels import collect

    run = _loaded(ready, program, codes, evidence)
    code, log = program.code, run.log
    state = np.array([code[N_CLIQUES] - 1, 0], np.int64)
    while state[0] >= 0 and log > -math.inf:
        log += collect(
            code, program.maps, run.values, run.block, run.digits, run.bases, state, SLICE
        )
    return replace(run, log=log)


def maximized(
    ready: PreparedModel, program: Program, codes: Positions, evidence: Evidence
) -> tuple[Positions, float]:
    """The most probable states of all variables, and their log-probability; `-inf` for none."""
    from novum.graphical.inference.compiled.maxima_kernels import collect_maxima, read_choices

    run = _loaded(ready, program, codes, evidence)
    code, log = program.code, run.log
    choices = np.empty(int(code[N_BARS]), np.int64)
    state = np.array([code[N_CLIQUES] - 1, 0], np.int64)
    arguments = (code, program.maps, run.values, run.block, run.digits, run.bases)
    while state[0] >= 0 and log > -math.inf:
        log += collect_maxima(*arguments, state, SLICE, choices)
    found = codes.copy()
    if log > -math.inf:
        read_choices(*arguments, choices, found)
    return found, log


def _loaded(ready: PreparedModel, program: Program, codes: Positions, evidence: Evidence) -> Run:
    from novum.graphical.inference.compiled.loads_kernels import load_values

    code = program.code
    values, block = np.empty(int(code[N_VALUES])), np.empty(int(code[N_BUFFER]))
    digits = np.empty(int(code[MOST_AXES]) + 1, np.int64)
    bases = np.empty(int(code[MOST_OPS]) + 1, np.int64)
    log = load_values(code, ready.tables, codes, values, digits)
    if code[N_SOFT]:
        log += _load_weights(code, values, evidence)
    return Run(program, values, block, digits, bases, log)


def _load_weights(code: Positions, values: Floats, evidence: Evidence) -> float:
    """Likelihoods of variables into their places, each over its largest one."""
    log = 0.0
    at = int(code[SOFT_AT])
    for place in range(at, at + 2 * int(code[N_SOFT]), 2):
        weights = evidence.likelihoods[int(code[place])]
        top = float(np.max(weights))
        log += math.log(top) if top > 0 else -math.inf
        start = int(code[place + 1])
        values[start : start + len(weights)] = weights / top if top > 0 else 0.0
    return log


def root_table(run: Run) -> Floats:
    """The table of a joint question, up to a factor."""
    start = int(run.program.code[ROOT_MESSAGE])
    return run.values[start:]


def distributed(run: Run, n_answers: int) -> Floats:
    """The posteriors of all variables of a program, one after the other."""
    from novum.graphical.inference.compiled.messages_kernels import distribute

    code = run.program.code
    bars, slope = np.empty(int(code[N_BARS])), np.empty(len(run.block))
    answers = np.empty(n_answers)
    state = np.zeros(2, np.int64)
    while state[0] < code[N_CLIQUES]:
        distribute(
            code, run.program.maps, run.values, bars, run.block, slope, run.digits, run.bases,
            state, SLICE, answers,
        )  # fmt: skip
    return answers
