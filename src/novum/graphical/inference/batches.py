"""Posteriors of many evidence rows at once.

Equal rows share one answer. Where the cliques are small, one program serves all rows and runs many
of them through its innermost loop (`compiled.lanes`); what a row observes is a weight of 1 or 0 for
each state. Else rows that observe the same variables share a program that has the evidence cut out
of its tables, and what differs from row to row is only which slices are taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from novum.graphical.inference.compiled.lanes import lane_logs, lane_marginals, lane_program
from novum.graphical.inference.junction import JunctionTree, is_plain
from novum.graphical.inference.protocol import ExactEngine
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays

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
    distinct, inverse = _different(rows)
    return [answer[inverse] for answer in _answers(model, distinct, variables, engine)]


def _answers(
    model: ModelArrays, rows: Codes, variables: Sequence[int], engine: ExactEngine | None
) -> list[Floats]:
    """Posteriors of rows that all differ."""
    from novum.distributions.joint_table import ImpossibleEvidence

    found = [np.full((len(rows), int(model.cards[v])), np.nan) for v in variables]
    left = np.ones(len(rows), bool)
    if engine is None and not is_plain(model):
        program = lane_program(model, rows, variables)
        if program is not None:
            found, left = lane_marginals(model, program, rows, variables)
    chosen = JunctionTree() if engine is None else engine
    everything = list(variables) == list(range(model.n_variables - model.n_hidden))
    asked = None if everything else list(variables)
    for place in _by_known(rows, left):
        try:
            tables = chosen.marginals(model, Evidence(rows[place]), asked).tables
        except ImpossibleEvidence:
            tables = tuple(np.full(int(model.cards[v]), np.nan) for v in variables)
        for out, table in zip(found, tables, strict=True):
            out[place] = table
    return found


def _by_known(rows: Codes, left: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The rows that are left, those that observe the same variables after each other.

    Their program is then at hand.
    """
    places = np.flatnonzero(left)
    return places[np.lexsort((rows[places] >= 0).T)] if len(places) else places


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
    return _logs(model, distinct, engine)[inverse]


def _logs(model: ModelArrays, rows: Codes, engine: ExactEngine | None) -> Floats:
    """Of rows that all differ."""
    found = np.full(len(rows), np.nan)
    if engine is None and not is_plain(model):
        program = lane_program(model, rows, (), log_only=True)
        if program is not None:
            found = lane_logs(model, program, rows)
    chosen = JunctionTree() if engine is None else engine
    for place in _by_known(rows, np.isnan(found)):
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


def _different(rows: Codes) -> tuple[Codes, NDArray[np.intp]]:
    """The different rows, and which of them each row is."""
    # Rows as strings of bytes are compared at once, not cell by cell.
    narrow = np.ascontiguousarray(rows, np.int32)
    whole = narrow.view(np.dtype((np.void, narrow.dtype.itemsize * narrow.shape[1]))).ravel()
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    return rows[first], inverse.ravel()
