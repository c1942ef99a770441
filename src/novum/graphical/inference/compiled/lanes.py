"""Runs of a program over many rows of evidence, up to `LANES` rows at a time."""

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

# Rows at a time: as many as make what is done once for all of them cheap. Whole vectors of them.
LANES = 64
VECTOR = 8
# Bytes of a line of the cache: a vector that lies in two lines is read twice.
LINE = 64
# Numbers in all lanes of a program together; larger programs have fewer lanes.
MOST_NUMBERS = 2**22
# Cells of a block in one lane: all lanes of a few tables stay in the second cache.
LANE_BLOCK = 128
# Rough costs in nanoseconds: a cell in one lane (what is done once for all of them costs as much as
# so many lanes), a plan, and each variable of a plan.
CELL = 3.0
SHARED_LANES = 12
PLAN = 5e4
VARIABLE = 3e3

Codes = NDArray[np.int64]


def lane_program(
    model: ModelArrays, rows: Codes, variables: Sequence[int], *, log_only: bool = False
) -> Program | None:
    """The one program for all rows, or None where a program for each set of observed variables
    is cheaper.
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
    lanes = n_lanes(program, len(rows))
    price = -(-len(rows) // lanes) * (SHARED_LANES + lanes) * CELL * program.cells
    return program if price < len(rows) * (PLAN + VARIABLE * model.n_variables) else None


def n_lanes(program: Program, n_rows: int) -> int:
    """How many rows a run takes: no more than there are, and not too much memory."""
    code = program.code
    most = MOST_NUMBERS // int(code[N_VALUES] + code[N_BARS] + 2 * code[N_BUFFER])
    vectors = min(LANES, most, n_rows + VECTOR - 1) // VECTOR
    return VECTOR * max(vectors, 1)


class LaneRun:
    """Room for the runs of one program."""

    def __init__(self, model: ModelArrays, program: Program, lanes: int) -> None:
        from novum.graphical.inference.compiled.loads_kernels import load_values

        code = program.code
        self.program, self.lanes = program, lanes
        self.tables, self.values = np.empty(int(code[N_VALUES])), self._numbers(N_VALUES)
        self.block, self.slope = self._numbers(N_BUFFER), self._numbers(N_BUFFER)
        self.bars = self._numbers(N_BARS)
        self.digits = np.empty(int(code[MOST_AXES]) + 1, np.int64)
        self.bases = np.empty(int(code[MOST_OPS]) + 1, np.int64)
        unknown = np.full(model.n_variables, -1, np.int64)
        base = whole(model)
        # Weights of rows are ones and zeros, which span nothing.
        self.spans = np.zeros(int(code[N_VALUES]))
        self.log = load_values(
            code, base.ready.tables, np.empty(0), base.ready.outline.spans, unknown, self.tables,
            self.spans, self.digits,
        )  # fmt: skip
        at, count = int(code[SOFT_AT]), int(code[N_SOFT])
        self.weighted = code[at : at + 2 * count : 2]
        self.cards = np.ascontiguousarray(model.cards[self.weighted])

    def _numbers(self, field: int) -> Floats:
        """Room for so many cells in all lanes, from the beginning of a line of the cache."""
        size = int(self.program.code[field]) * self.lanes
        room = np.empty(size + VECTOR)
        skipped = -room.ctypes.data % LINE // room.itemsize
        return room[skipped : skipped + size]

    def collect(self, rows: Codes) -> Floats:
        """Messages of up to as many rows as lanes; first of all logarithms of their probabilities.

        NaN for all of them where products might leave the range of floating-point numbers. The
        other rows of the array are room.
        """
        from novum.graphical.inference.compiled.lanes_kernels import lane_collect, lane_evidence

        code = self.program.code
        lane_evidence(code, int(code[SOFT_AT]), rows, self.lanes, self.cards, self.values)
        logs = np.zeros((4, self.lanes))
        logs[1] = 1.0
        is_safe = lane_collect(
            code, self.program.maps, self.tables, self.values, self.spans, self.block, self.digits,
            self.bases, logs,
        )  # fmt: skip
        if not is_safe:
            logs[0] = np.nan
        # Factors without variables belong to every row; where one is zero, no row is possible.
        logs[0] = logs[0] + self.log if self.log > -np.inf else -np.inf
        return logs

    def root(self, size: int, logs: Floats) -> Floats:
        """The posterior of the one variable asked, lanes by states."""
        start = int(self.program.code[ROOT_MESSAGE]) * self.lanes
        table = self.values[start : start + size * self.lanes].reshape(size, self.lanes)
        found: Floats = (table / np.where(logs[0] > -np.inf, table.sum(axis=0), np.nan)).T
        return found

    def distribute(self, logs: Floats, begin: int, end: int, n_rows: int, found: Floats) -> None:
        """The posteriors of all variables in these rows, of `n_rows`."""
        from novum.graphical.inference.compiled.lanes_kernels import lane_distribute

        lane_distribute(
            self.program.code, self.program.maps, self.tables, self.values, self.bars, self.block,
            self.slope, self.digits, self.bases, np.empty(self.lanes), logs, begin, end, n_rows,
            found,
        )  # fmt: skip


def lane_marginals(
    model: ModelArrays, program: Program, rows: Codes, variables: Sequence[int]
) -> tuple[list[Floats], NDArray[np.bool_]]:
    """The posterior of each variable in every row; which rows products were too wide for.

    Rows that are impossible have NaN.
    """
    n = len(rows)
    run = LaneRun(model, program, n_lanes(program, n))
    starts = _starts(model, program)
    is_single = not int(program.code[N_BARS])
    size = int(model.cards[variables[0]] if is_single else model.cards[program.variables].sum())
    found = np.empty(n * size)
    left = np.zeros(n, bool)
    for begin, part in _parts(rows, run.lanes):
        end = begin + len(part)
        logs = run.collect(part)
        if np.isnan(logs[0, 0]):
            left[begin:end] = True
        elif is_single:
            found.reshape(n, size)[begin:end] = run.root(size, logs)[: len(part)]
        else:
            run.distribute(logs, begin, end, n, found)
    if is_single:
        return [found.reshape(n, size)], left
    cards = {v: int(model.cards[v]) for v in variables}
    return [
        found[n * starts[v] : n * (starts[v] + cards[v])].reshape(n, cards[v]) for v in variables
    ], left


def lane_logs(model: ModelArrays, program: Program, rows: Codes) -> Floats:
    """Logarithm of the probability of every row; NaN where products were too wide for floats."""
    run = LaneRun(model, program, n_lanes(program, len(rows)))
    found = np.empty(len(rows))
    for begin, part in _parts(rows, run.lanes):
        found[begin : begin + len(part)] = run.collect(part)[0, : len(part)]
    return found


def _parts(rows: Codes, lanes: int) -> Iterator[tuple[int, Codes]]:
    rows = as_argument(rows, np.int64)
    for begin in range(0, len(rows), lanes):
        yield begin, rows[begin : begin + lanes]


def _starts(model: ModelArrays, program: Program) -> dict[int, int]:
    variables: Positions = program.variables
    ends = np.cumsum(model.cards[variables])
    return dict(zip(variables.tolist(), (ends - model.cards[variables]).tolist(), strict=True))
