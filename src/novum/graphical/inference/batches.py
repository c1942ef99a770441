"""Posteriors of many evidence rows at once.

Equal rows share one answer. Where nothing but the asked variable is unknown, as for a classifier,
it is a product of cells. Where the cliques are small, one program serves all rows and runs many
of them through its innermost loop (`compiled.lanes_kernels`); what a row observes is a weight of 1
or 0 for each state. Else rows that observe the same variables share a program that has the evidence
cut out of its tables, and what differs from row to row is only which slices are taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from novum.core.runtime import check_memory
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
from novum.graphical.inference.compiled.questions import question_of, whole
from novum.graphical.inference.compiled.runs import posteriors
from novum.graphical.inference.junction import JunctionTree, is_plain
from novum.graphical.inference.protocol import ExactEngine
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.numerics import Array, Floats, Integers, Mask, Positions, as_argument

# Rows that are asked one by one before their answers are laid out by variables.
BLOCK_ROWS = 256


def batch_marginals(
    model: ModelArrays, rows: Integers, variables: Sequence[int], engine: ExactEngine | None = None
) -> list[Floats]:
    """The posterior of each variable in every row, arrays of shape (n_rows, n_states).

    Parameters
    ----------
    model : ModelArrays
    rows : int array of shape (n_rows, n_variables)
        States by number, -1 where unknown.
    variables : those asked
    engine : ExactEngine, optional

    Returns
    -------
    list of arrays, one for each variable
        A row whose evidence is impossible has NaN.
    """
    if not len(rows) or not len(variables):
        return [np.empty((len(rows), int(model.cards[v]))) for v in variables]
    n_states = int(model.cards[list(variables)].sum())
    check_memory(
        # Of the different rows, of all of them, and of a block on its way.
        16 * len(rows) * n_states,
        f"Posteriors of {n_states} states in each of {len(rows)} rows",
        "Ask for fewer nodes, or for fewer rows at a time.",
    )
    distinct, inverse = _different(rows)
    answers = _answers(model, distinct, variables, engine)
    return answers if inverse is None else [answer.take(inverse, axis=0) for answer in answers]


def _answers(
    model: ModelArrays, rows: Integers, variables: Sequence[int], engine: ExactEngine | None
) -> list[Floats]:
    """Posteriors of rows that all differ."""
    if engine is None and len(variables) == 1 and not model.n_hidden and not model.has_zeros:
        [variable] = variables
        is_unknown = rows < 0
        is_single = is_unknown[:, variable] & (is_unknown.sum(axis=1) == 1)
        if is_single.all():
            return [_given_all_others(model, rows, variable)]
        if is_single.any():
            table = np.empty((len(rows), int(model.cards[variable])))
            table[is_single] = _given_all_others(model, rows[is_single], variable)
            [table[~is_single]] = _summed_over(model, rows[~is_single], variables, engine)
            return [table]
    return _summed_over(model, rows, variables, engine)


def _given_all_others(model: ModelArrays, rows: Integers, variable: int) -> Floats:
    """Posteriors of a variable in rows that know all others: its cells multiplied, no sums."""
    n_states = int(model.cards[variable])
    logs = np.zeros((len(rows), n_states))
    places = np.flatnonzero(model.scopes == variable)
    for factor in np.searchsorted(model.scope_starts, places, side="right") - 1:
        of_axis = (
            np.arange(n_states) if axis == variable else rows[:, axis, None]
            for axis in model.scope(factor)
        )
        logs += np.log(model.table(factor)[tuple(of_axis)])
    shares: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def _summed_over(
    model: ModelArrays, rows: Integers, variables: Sequence[int], engine: ExactEngine | None
) -> list[Floats]:
    """Posteriors of rows in which others are unknown, too."""
    if engine is None and not is_plain(model):
        program = lane_program(model, rows, variables)
        if program is not None:
            tables, left = lane_marginals(model, program, rows, variables)
            if left.any():
                _ask_each(model, rows, left, variables, None, tables)
            return tables
    tables = [np.empty((len(rows), int(model.cards[v]))) for v in variables]
    _ask_each(model, rows, np.ones(len(rows), bool), variables, engine, tables)
    return tables


def _ask_each(
    model: ModelArrays,
    rows: Integers,
    left: Mask,
    variables: Sequence[int],
    engine: ExactEngine | None,
    tables: list[Floats],
) -> None:
    """Posteriors of the rows that are left, one by one, into their places."""
    from novum.distributions import ImpossibleEvidence

    everything = list(variables) == list(range(model.n_variables - model.n_hidden))
    asked = None if everything else list(variables)
    solver = JunctionTree() if engine is None else engine
    is_compiled = engine is None and everything and not is_plain(model)
    ends = np.cumsum([0, *model.cards[list(variables)].tolist()]).tolist()
    for block in _by_known(rows, left):
        answers = np.empty((len(block), ends[-1]))
        for row, answer in zip(block, answers, strict=True):
            evidence = Evidence(rows[row])
            if is_compiled and _fill(model, evidence, answer):
                continue
            try:
                np.concatenate(solver.marginals(model, evidence, asked).tables, out=answer)
            except ImpossibleEvidence:
                answer[:] = np.nan
        for out, begin, end in zip(tables, ends[:-1], ends[1:], strict=True):
            out[block] = answers[:, begin:end]


def _fill(model: ModelArrays, evidence: Evidence, out: Floats) -> bool:
    """Whether one program has given the posteriors of all variables, one after the other.

    It is the one that `JunctionTree` takes where something is known. What is known of nothing,
    impossible, or beyond the range of floats is left to that.
    """
    question = question_of(model, evidence)
    if question.is_unconditional or not question.log > -math.inf:
        return False
    tables, log = posteriors(question, question.program((), EVERYTHING, MARGINALS))
    out[:] = tables[: len(out)]
    return log > -math.inf


def _by_known(rows: Integers, left: Mask) -> Iterator[Positions]:
    """The rows that are left, those that observe the same variables after each other, in blocks.

    Their program is then at hand.
    """
    numbers = np.flatnonzero(left)
    observed = np.packbits(rows[numbers] >= 0, axis=1)
    numbers = numbers[np.argsort(_as_bytes(observed), kind="stable")]
    for begin in range(0, len(numbers), BLOCK_ROWS):
        yield numbers[begin : begin + BLOCK_ROWS]


def batch_log_evidence(
    model: ModelArrays, rows: Integers, engine: ExactEngine | None = None
) -> Floats:
    """Logarithm of the probability of every row's known states."""
    shown = model.n_variables - model.n_hidden
    if model.is_directed and not model.n_hidden and (rows[:, :shown] >= 0).all():
        return _complete(model, rows)
    if not len(rows):
        return np.empty(0)
    distinct, inverse = _different(rows)
    logs = _logs(model, distinct, engine)
    return logs if inverse is None else logs[inverse]


def _logs(model: ModelArrays, rows: Integers, engine: ExactEngine | None) -> Floats:
    """Of rows that all differ."""
    logs = np.full(len(rows), np.nan)
    if engine is None and not is_plain(model):
        program = lane_program(model, rows, (), log_only=True)
        if program is not None:
            logs = lane_logs(model, program, rows)
    solver = JunctionTree() if engine is None else engine
    for block in _by_known(rows, np.isnan(logs)):
        for row in block:
            logs[row] = solver.log_evidence(model, Evidence(rows[row]))
    return logs


def _complete(model: ModelArrays, rows: Integers) -> Floats:
    """Of rows without unknown states: one cell of each table."""
    total = np.zeros(len(rows))
    with np.errstate(divide="ignore"):
        for factor in range(model.n_factors):
            table = model.table(factor)
            cells = table[tuple(rows[:, variable] for variable in model.scope(factor))]
            total += np.log(cells)
    return total


def _different(rows: Integers) -> tuple[Integers, Positions | None]:
    """The different rows, and which of them each row is; None where all differ."""
    is_narrow = rows.max(initial=0) <= np.iinfo(np.int8).max
    # Rows as strings of bytes are compared at once, not cell by cell.
    whole = _as_bytes(rows.astype(np.int8 if is_narrow else np.int32)).tolist()
    numbers = dict.fromkeys(whole)
    if len(numbers) == len(rows):
        return rows, None
    numbers = dict(zip(numbers, range(len(numbers)), strict=True))
    inverse = np.fromiter(map(numbers.__getitem__, whole), np.intp, len(rows))
    first = np.empty(len(numbers), np.intp)
    # Backwards, so that the first of equal rows is written last.
    first[inverse[::-1]] = np.arange(len(rows))[::-1]
    return rows[first], inverse


def _as_bytes(table: Array) -> NDArray[np.void]:
    """Each row as one string of bytes."""
    table = np.ascontiguousarray(table)
    strings: NDArray[np.void] = table.view((np.void, table.itemsize * table.shape[1])).ravel()
    return strings


# --- Rows side by side ----------------------------------------------------------------------------
# Runs of a program over many rows of evidence, up to `LANES` rows at a time.


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


def lane_program(
    model: ModelArrays, rows: Integers, variables: Sequence[int], *, log_only: bool = False
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

    def collect(self, rows: Integers) -> Floats:
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
        posterior: Floats = (table / np.where(logs[0] > -np.inf, table.sum(axis=0), np.nan)).T
        return posterior

    def distribute(self, logs: Floats, begin: int, end: int, n_rows: int, sums: Floats) -> None:
        """The posteriors of all variables in these rows, of `n_rows`."""
        from novum.graphical.inference.compiled.lanes_kernels import lane_distribute

        lane_distribute(
            self.program.code, self.program.maps, self.tables, self.values, self.bars, self.block,
            self.slope, self.digits, self.bases, np.empty(self.lanes), logs, begin, end, n_rows,
            sums,
        )  # fmt: skip


def lane_marginals(
    model: ModelArrays, program: Program, rows: Integers, variables: Sequence[int]
) -> tuple[list[Floats], Mask]:
    """The posterior of each variable in every row; which rows products were too wide for.

    Rows that are impossible have NaN.
    """
    n = len(rows)
    run = LaneRun(model, program, n_lanes(program, n))
    sizes = model.cards[program.variables]
    starts = dict(zip(program.variables.tolist(), (np.cumsum(sizes) - sizes).tolist(), strict=True))
    is_single = not int(program.code[N_BARS])
    size = int(model.cards[variables[0]] if is_single else model.cards[program.variables].sum())
    answers = np.empty(n * size)
    left = np.zeros(n, bool)
    for begin, block in _parts(rows, run.lanes):
        end = begin + len(block)
        logs = run.collect(block)
        if np.isnan(logs[0, 0]):
            left[begin:end] = True
        elif is_single:
            answers.reshape(n, size)[begin:end] = run.root(size, logs)[: len(block)]
        else:
            run.distribute(logs, begin, end, n, answers)
    if is_single:
        return [answers.reshape(n, size)], left
    cards = {v: int(model.cards[v]) for v in variables}
    return [
        answers[n * starts[v] : n * (starts[v] + cards[v])].reshape(n, cards[v]) for v in variables
    ], left


def lane_logs(model: ModelArrays, program: Program, rows: Integers) -> Floats:
    """Logarithm of the probability of every row; NaN where products were too wide for floats."""
    run = LaneRun(model, program, n_lanes(program, len(rows)))
    logs = np.empty(len(rows))
    for begin, block in _parts(rows, run.lanes):
        logs[begin : begin + len(block)] = run.collect(block)[0, : len(block)]
    return logs


def _parts(rows: Integers, lanes: int) -> Iterator[tuple[int, Integers]]:
    rows = as_argument(rows, np.int64)
    for begin in range(0, len(rows), lanes):
        yield begin, rows[begin : begin + lanes]
