"""Posteriors of many evidence rows at once.

Equal rows share one answer. Where the cliques are small, one program serves all rows and runs many
of them through its innermost loop (`compiled.lanes`); what a row observes is a weight of 1 or 0 for
each state. Else rows that observe the same variables share a program that has the evidence cut out
of its tables, and what differs from row to row is only which slices are taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.memory import check_memory
from novum.graphical.inference.compiled.lanes import lane_logs, lane_marginals, lane_program
from novum.graphical.inference.compiled.layout import EVERYTHING, MARGINALS
from novum.graphical.inference.compiled.questions import question_of
from novum.graphical.inference.compiled.runs import posteriors
from novum.graphical.inference.junction import JunctionTree, is_plain
from novum.graphical.inference.protocol import ExactEngine
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays

# Rows that are asked one by one before their answers are laid out by variables.
BLOCK_ROWS = 256

Codes = NDArray[np.int64]


def batch_marginals(
    model: ModelArrays, rows: Codes, variables: Sequence[int], engine: ExactEngine | None = None
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
    found = _answers(model, distinct, variables, engine)
    return found if inverse is None else [answer.take(inverse, axis=0) for answer in found]


def _answers(
    model: ModelArrays, rows: Codes, variables: Sequence[int], engine: ExactEngine | None
) -> list[Floats]:
    """Posteriors of rows that all differ."""
    if engine is None and not is_plain(model):
        program = lane_program(model, rows, variables)
        if program is not None:
            found, left = lane_marginals(model, program, rows, variables)
            if left.any():
                _ask_each(model, rows, left, variables, None, found)
            return found
    found = [np.empty((len(rows), int(model.cards[v]))) for v in variables]
    _ask_each(model, rows, np.ones(len(rows), bool), variables, engine, found)
    return found


def _ask_each(
    model: ModelArrays,
    rows: Codes,
    left: NDArray[np.bool_],
    variables: Sequence[int],
    engine: ExactEngine | None,
    found: list[Floats],
) -> None:
    """Posteriors of the rows that are left, one by one, into their places."""
    from novum.distributions.joint_table import ImpossibleEvidence

    everything = list(variables) == list(range(model.n_variables - model.n_hidden))
    asked = None if everything else list(variables)
    chosen = JunctionTree() if engine is None else engine
    is_compiled = engine is None and everything and not is_plain(model)
    ends = np.cumsum([0, *model.cards[list(variables)].tolist()]).tolist()
    for places in _by_known(rows, left):
        answers = np.empty((len(places), ends[-1]))
        for place, answer in zip(places, answers, strict=True):
            evidence = Evidence(rows[place])
            if is_compiled and _fill(model, evidence, answer):
                continue
            try:
                np.concatenate(chosen.marginals(model, evidence, asked).tables, out=answer)
            except ImpossibleEvidence:
                answer[:] = np.nan
        for out, begin, end in zip(found, ends[:-1], ends[1:], strict=True):
            out[places] = answers[:, begin:end]


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


def _by_known(rows: Codes, left: NDArray[np.bool_]) -> Iterator[NDArray[np.intp]]:
    """The rows that are left, those that observe the same variables after each other, in blocks.

    Their program is then at hand.
    """
    places = np.flatnonzero(left)
    known = np.packbits(rows[places] >= 0, axis=1)
    places = places[np.argsort(_as_bytes(known), kind="stable")]
    for begin in range(0, len(places), BLOCK_ROWS):
        yield places[begin : begin + BLOCK_ROWS]


def batch_log_evidence(
    model: ModelArrays, rows: Codes, engine: ExactEngine | None = None
) -> Floats:
    """Logarithm of the probability of every row's known states."""
    shown = model.n_variables - model.n_hidden
    if model.is_directed and not model.n_hidden and (rows[:, :shown] >= 0).all():
        return _complete(model, rows)
    if not len(rows):
        return np.empty(0)
    distinct, inverse = _different(rows)
    found = _logs(model, distinct, engine)
    return found if inverse is None else found[inverse]


def _logs(model: ModelArrays, rows: Codes, engine: ExactEngine | None) -> Floats:
    """Of rows that all differ."""
    found = np.full(len(rows), np.nan)
    if engine is None and not is_plain(model):
        program = lane_program(model, rows, (), log_only=True)
        if program is not None:
            found = lane_logs(model, program, rows)
    chosen = JunctionTree() if engine is None else engine
    for places in _by_known(rows, np.isnan(found)):
        for place in places:
            found[place] = chosen.log_evidence(model, Evidence(rows[place]))
    return found


def _complete(model: ModelArrays, rows: Codes) -> Floats:
    """Of rows without unknown states: one cell of each table."""
    total = np.zeros(len(rows))
    with np.errstate(divide="ignore"):
        for factor in range(model.n_factors):
            table = model.table(factor)
            cells = table[tuple(rows[:, variable] for variable in model.scope(factor))]
            total += np.log(cells)
    return total


def _different(rows: Codes) -> tuple[Codes, NDArray[np.intp] | None]:
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


def _as_bytes(table: NDArray[Any]) -> NDArray[np.void]:
    """Each row as one string of bytes."""
    table = np.ascontiguousarray(table)
    found: NDArray[np.void] = table.view((np.void, table.itemsize * table.shape[1])).ravel()
    return found
