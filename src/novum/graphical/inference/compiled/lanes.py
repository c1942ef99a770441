"""Runs of a program over many rows of evidence, `LANES` rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from novum.graphical.inference.compiled.cutting import whole
from novum.graphical.inference.compiled.layout import (
    ANCESTORS,
    EVERYTHING,
    JOINT,
    MARGINALS,
    MOST_AXES,
    MOST_OPS,
    N_BARS,
    N_BUFFER,
    N_SOFT,
    N_VALUES,
    ROOT_MESSAGE,
    SOFT_AT,
)
from novum.graphical.inference.compiled.planning import program_of
from novum.graphical.inference.compiled.prepared import Program
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays, Positions
from novum.numerics.jit import as_argument

LANES = 32
# Cells of a block in one lane: all lanes of a few tables stay in the second cache.
LANE_BLOCK = 128
# Rough costs in nanoseconds: a cell in one lane, a plan, and each variable of a plan.
CELL = 5.0
PLAN = 5e4
VARIABLE = 3e3

Codes = NDArray[np.int64]


def lane_program(
    model: ModelArrays, rows: Codes, variables: Sequence[int], *, log_only: bool = False
) -> Program | None:
    """The one program for all rows, or None where a program for each set of observed variables
    is cheaper, or where the rows observe what is asked.
    """
    observed = np.any(rows >= 0, axis=0, keepdims=True)[0]
    unknown = Evidence.none(model.n_variables)
    soft = observed.astype(np.uint8)
    if log_only:
        program = program_of(model, unknown, (), EVERYTHING, JOINT, None, soft, LANE_BLOCK)
    elif len(variables) == 1 and not observed[variables[0]]:
        program = program_of(model, unknown, variables, ANCESTORS, JOINT, None, soft, LANE_BLOCK)
    else:
        # Every variable has weights, so that each posterior is read off its own.
        soft = np.ones(model.n_variables, np.uint8)
        program = program_of(model, unknown, (), EVERYTHING, MARGINALS, None, soft, LANE_BLOCK)
    return program if CELL * program.cells < PLAN + VARIABLE * model.n_variables else None


class LaneRun:
    """Room for the runs of one program."""

    def __init__(self, model: ModelArrays, program: Program) -> None:
        from novum.graphical.inference.compiled.loads_kernels import load_values

        code = program.code
        self.model, self.program = model, program
        self.tables, self.values = np.empty(int(code[N_VALUES])), _lanes(code[N_VALUES])
        self.block, self.slope = _lanes(code[N_BUFFER]), _lanes(code[N_BUFFER])
        self.bars = _lanes(code[N_BARS])
        self.digits = np.empty(int(code[MOST_AXES]) + 1, np.int64)
        self.bases = np.empty(int(code[MOST_OPS]) + 1, np.int64)
        unknown = np.full(model.n_variables, -1, np.int64)
        base = whole(model)
        # Weights of rows are ones and zeros, which span nothing.
        self.spans = np.zeros(int(code[N_VALUES]))
        self.log = load_values(
            code, base.ready.tables, np.empty(0), base.spans, unknown, self.tables, self.spans,
            self.digits,
        )  # fmt: skip
        at, count = int(code[SOFT_AT]), int(code[N_SOFT])
        self.weighted = code[at : at + 2 * count : 2]
        self.cards = np.ascontiguousarray(model.cards[self.weighted])

    def collect(self, rows: Codes) -> Floats:
        """Messages of up to `LANES` rows; the logarithm of each row's probability.

        NaN for all of them where products might leave the range of floating-point numbers.
        """
        from novum.graphical.inference.compiled.lanes_kernels import lane_collect, lane_evidence

        code = self.program.code
        lane_evidence(code, int(code[SOFT_AT]), rows, self.cards, self.values)
        logs = np.zeros((4, LANES))
        logs[1] = 1.0
        is_safe = lane_collect(
            code, self.program.maps, self.tables, self.values, self.spans, self.block, self.digits,
            self.bases, logs,
        )  # fmt: skip
        if not is_safe:
            logs[0] = np.nan
        # Factors without variables belong to every row; where one is zero, no row is possible.
        return logs[0] + self.log if self.log > -np.inf else np.full(LANES, -np.inf)

    def root(self, size: int) -> Floats:
        """The posterior of the one variable asked, states by lanes."""
        start = int(self.program.code[ROOT_MESSAGE])
        table = self.values[start : start + size]
        with np.errstate(invalid="ignore"):
            found: Floats = table / table.sum(axis=0)
        return found

    def distribute(self) -> Floats:
        """The posteriors of all variables, one after the other, states by lanes."""
        from novum.graphical.inference.compiled.lanes_kernels import lane_distribute

        answers = _lanes(self.model.cards[self.program.variables].sum())
        lane_distribute(
            self.program.code, self.program.maps, self.tables, self.values, self.bars, self.block,
            self.slope, self.digits, self.bases, np.empty(LANES), answers,
        )  # fmt: skip
        return answers


def lane_marginals(
    model: ModelArrays, program: Program, rows: Codes, variables: Sequence[int]
) -> tuple[list[Floats], NDArray[np.bool_]]:
    """The posterior of each variable in every row; which rows products were too wide for.

    Rows that are impossible have NaN.
    """
    run = LaneRun(model, program)
    starts = _starts(model, program)
    is_single = not int(program.code[N_BARS])
    size = int(model.cards[variables[0]]) if is_single else sum(model.cards[program.variables])
    answers = np.empty((size, len(rows)))
    left = np.zeros(len(rows), bool)
    for start, part in _parts(rows):
        logs = run.collect(part)
        if np.isnan(logs).any():
            left[start : start + len(part)] = True
            continue
        cells = run.root(size) if is_single else run.distribute()
        cells[:, logs == -np.inf] = np.nan
        answers[:, start : start + len(part)] = cells[:, : len(part)]
    if is_single:
        return [answers.T], left
    return [answers[starts[v] : starts[v] + int(model.cards[v])].T for v in variables], left


def lane_logs(model: ModelArrays, program: Program, rows: Codes) -> Floats:
    """Logarithm of the probability of every row; NaN where products were too wide for floats."""
    run = LaneRun(model, program)
    found = np.empty(len(rows))
    for start, part in _parts(rows):
        found[start : start + len(part)] = run.collect(part)[: len(part)]
    return found


def _parts(rows: Codes) -> Iterator[tuple[int, Codes]]:
    rows = as_argument(rows, np.int64)
    for start in range(0, len(rows), LANES):
        yield start, rows[start : start + LANES]


def _lanes(size: int) -> Floats:
    return np.empty((int(size), LANES))


def _starts(model: ModelArrays, program: Program) -> dict[int, int]:
    variables: Positions = program.variables
    ends = np.cumsum(model.cards[variables])
    return dict(zip(variables.tolist(), (ends - model.cards[variables]).tolist(), strict=True))
