"""Gauss-Seidel sweeps along the strongly connected components of a process.

States that lead to each other form a component, and components form a graph without circles. Solved
from its ends, each component needs the values of finished ones only. Within a component three
things make the sweeps fast:

    order        breadth first from where the component is left, so that a value travels through
                 the whole component in one sweep; the arrays are renumbered in this order
    self-loops   are solved for:  V(s) = (r_p + discount * sum over s' != s of P_p(s') V(s'))
                 / (1 - discount * P_p(s))
    policy       about ten sweeps with the best actions of the last look at all, from a compact copy

The threshold of a component is on the change of a sweep; what is reached is proved afterwards.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from novum.core.runtime import check_cancelled
from novum.numerics import EPSILON, Floats, Integers, as_argument, kernel
from novum.reinforcement.pairs import Pairs
from novum.reinforcement.planning.policy_iteration import Approximation, evaluate

# Cells of rows in one call of the kernel: about a tenth of a second.
BUDGET = 30_000_000
EVALUATIONS = 10


@dataclass(frozen=True, eq=False)
class Renumbered:
    """A process in the order of its sweeps, self-loops solved for.

    Attributes
    ----------
    component : int64 array (n_components + 1,)
        Where each component begins.
    state : int64 array (n_states,)
        Which state stands where.
    start : int64 array (n_states + 1,)
        Where the pairs of each state begin.
    pair : int64 array (n_pairs,)
        Which pair stands where.
    indptr, indices, data, reward
        Rows without self-loops, scaled by the discount and by what self-loops take.
    """

    component: Integers
    state: Integers
    start: Integers
    pair: Integers
    indptr: Any
    indices: Any
    data: Floats
    reward: Floats


def sweep_components(
    pairs: Pairs,
    discount: float,
    tol: float,
    *,
    values: Floats | None = None,
    most_cells: float = np.inf,
) -> Approximation:
    """Component after component until sweeps change no value by more than tolerated.

    Without a discount every pair must leave its own state with some probability.

    Parameters
    ----------
    tol : float
        Loss, relative to the largest value.
    values : array (n_states,), optional
        To start from.
    most_cells : float
        Probabilities that are looked at; then it stops, not done.
    """
    order = renumber(pairs.as_sparse(), discount)
    n = pairs.n_states
    own = np.zeros(n) if values is None else as_argument(values[order.state].copy())
    choice = order.start[:-1].copy()
    scale = max(float(np.abs(pairs.reward).max()), 1e-300)
    lengths = np.diff(order.indptr)
    longest = np.maximum.reduceat(lengths, order.start[:-1]) if len(lengths) else lengths
    room = max(int(longest.sum()), 1)
    compact = (np.empty(n + 1, np.int64), np.empty(room, np.int32), np.empty(room), np.empty(n))
    share = (1 - discount) / 2 if discount < 1 else 0.01
    component, sweeps, cells = 0, 0, 0.0
    trace: list[float] = []
    progress = np.zeros(3)
    while component < len(order.component) - 1:
        check_cancelled()
        largest = max(float(np.abs(own).max()), scale, 1.0)
        threshold = max(share * tol * largest, 4 * EPSILON * largest)
        component = int(
            _relax(
                order.component,
                component,
                order.start,
                order.indptr,
                order.indices,
                order.data,
                order.reward,
                *compact,
                threshold,
                BUDGET,
                own,
                choice,
                progress,
            )
        )
        sweeps += int(progress[1])
        trace.append(float(progress[0]))
        cells += float(progress[2])
        if cells > most_cells:
            break
    result = np.empty(n)
    result[order.state] = own
    chosen = np.empty(n, np.int64)
    chosen[order.state] = order.pair[choice]
    done = component >= len(order.component) - 1
    return Approximation(result, chosen, max(sweeps, 1), tuple(trace), done)


def improve_by_sweeps(
    pairs: Pairs, discount: float, chosen: Integers, most_rounds: int = 200
) -> Approximation:
    """Policy iteration whose improvements travel: exact values, then sweeps there and back.

    A sweep uses what it has just improved, so that one goes along the whole order, where a look at
    all actions at once goes one step. Policies never get worse, as each sweep raises the values.
    """
    own = pairs.as_sparse()
    order = renumber(own, discount)
    place = np.empty(pairs.n_pairs, np.int64)
    place[order.pair] = np.arange(pairs.n_pairs)
    values = np.zeros(pairs.n_states)
    trace: list[float] = []
    for rounds in range(1, most_rounds + 1):
        check_cancelled()
        solved = evaluate(own, discount, chosen)
        if solved is None:
            return Approximation(values, chosen, rounds, tuple(trace), False)
        values = solved
        action_values = own.reward + discount * own.expected(values)
        gain = own.best(action_values) - action_values[chosen]
        trace.append(float(gain.max()))
        if trace[-1] <= 1e-13 * max(float(np.abs(values).max()), float(np.abs(own.reward).max())):
            return Approximation(values, chosen, rounds, tuple(trace), True)
        inside, choice = values[order.state], place[chosen[order.state]]
        _there_and_back(
            order.start, order.indptr, order.indices, order.data, order.reward, inside, choice
        )
        chosen = np.empty(pairs.n_states, np.int64)
        chosen[order.state] = order.pair[choice]
    return Approximation(values, chosen, most_rounds, tuple(trace), False)


def renumber(pairs: Pairs, discount: float) -> Renumbered:
    """States by component, those of the ends first, and breadth first within."""
    rows, n = pairs.rows, pairs.n_states
    # The rows of a state's pairs, one behind the other; a next state may occur several times.
    graph = sparse.csr_array((rows.data, rows.indices, rows.indptr[pairs.start]), shape=(n, n))
    n_components, label = connected_components(_once(graph), connection="strong")
    label = _from_the_ends(label.astype(np.int64), graph, n_components)
    depth = _depths(graph, pairs, label, n_components)
    state = np.lexsort((depth, label))
    rank = np.empty(n, np.int64)
    rank[state] = np.arange(n)
    counts = np.diff(pairs.start)[state]
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    pair = np.repeat(pairs.start[:-1][state] - start[:-1], counts) + np.arange(pairs.n_pairs)
    indptr = np.empty(pairs.n_pairs + 1, np.int64)
    indices = np.empty(rows.nnz, np.int32)
    data, reward = np.empty(rows.nnz), np.empty(pairs.n_pairs)
    _fold(
        as_argument(rows.indptr, np.int32),
        as_argument(rows.indices, np.int32),
        as_argument(rows.data),
        as_argument(pairs.reward),
        pair,
        pairs.state,
        rank,
        discount,
        indptr,
        indices,
        data,
        reward,
    )
    component = np.searchsorted(label[state], np.arange(n_components + 1)).astype(np.int64)
    used = int(indptr[-1])
    return Renumbered(component, state, start, pair, indptr, indices[:used], data[:used], reward)


def _once(graph: Any) -> Any:
    """With each next state once, which SciPy's search for components takes for granted."""
    tidy = graph.copy()
    tidy.sum_duplicates()
    return tidy


def _from_the_ends(label: Integers, graph: Any, n_components: int) -> Integers:
    """Labels such that steps lead to the same or a smaller label."""
    owner = np.repeat(np.arange(len(label)), np.diff(graph.indptr))
    step = label[graph.indices] - label[owner]
    if (step <= 0).all():
        return label
    if (step >= 0).all():
        return n_components - 1 - label
    # Other releases of SciPy may number in another way: by the longest way to an end.
    across = step != 0
    level = np.zeros(n_components, np.int64)
    source, target = label[owner[across]], label[graph.indices[across]]
    while True:
        higher = level.copy()
        np.maximum.at(higher, source, level[target] + 1)
        if (higher == level).all():
            break
        level = higher
    rank = np.empty(n_components, np.int64)
    rank[np.argsort(level, kind="stable")] = np.arange(n_components)
    return np.asarray(rank[label])


def _depths(graph: Any, pairs: Pairs, label: Integers, n_components: int) -> Integers:
    """Steps to the nearest exit of the component, or to its best state where there is no exit."""
    n = len(label)
    owner = np.repeat(np.arange(n), np.diff(graph.indptr))
    source = np.zeros(n, np.bool_)
    source[owner[label[owner] != label[graph.indices]]] = True
    source[pairs.state[pairs.row_sums < 1 - 1e-9]] = True
    has_exit = np.zeros(n_components, np.bool_)
    has_exit[label[source]] = True
    if not has_exit.all():
        reward = np.maximum.reduceat(pairs.reward, pairs.start[:-1])
        order = np.lexsort((-reward, label))
        first = order[np.searchsorted(label[order], np.arange(n_components))]
        source[first[~has_exit]] = True
    back = sparse.csr_array(
        (np.ones(graph.nnz, np.int8), graph.indices, graph.indptr), shape=graph.shape
    ).T.tocsr()
    depth = np.where(source, 0, -1).astype(np.int64)
    queue = np.empty(n, np.int64)
    queue[: int(source.sum())] = np.flatnonzero(source)
    _breadth_first(
        as_argument(back.indptr, np.int64),
        as_argument(back.indices, np.int32),
        label,
        int(source.sum()),
        queue,
        depth,
    )
    return depth


# --- Kernels --------------------------------------------------------------------------------------


@kernel(
    "void(int64[::1], int64[::1], int32[::1], float64[::1], float64[::1], float64[::1], int64[::1])"
)
def _there_and_back(start, indptr, indices, data, reward, out_values, out_choice):
    """Two sweeps over all states, in both directions; an action is changed for a better one."""
    n = start.size - 1
    for i in range(2 * n):
        s = i if i < n else 2 * n - 1 - i
        best = out_values[s]
        slack = 1e-13 * abs(best)
        for p in range(start[s], start[s + 1]):
            total = reward[p]
            for k in range(indptr[p], indptr[p + 1]):
                total += data[k] * out_values[indices[k]]
            if total > best + slack:
                best = total
                out_choice[s] = p
        out_values[s] = best


@kernel("void(int64[::1], int32[::1], int64[::1], int64, int64[::1], int64[::1])")
def _breadth_first(indptr, indices, label, waiting, out_queue, out_depth):
    """Depths from the first `waiting` states of the queue, within each component."""
    done = 0
    while done < waiting:
        state = out_queue[done]
        done += 1
        for k in range(indptr[state], indptr[state + 1]):
            other = indices[k]
            if out_depth[other] < 0 and label[other] == label[state]:
                out_depth[other] = out_depth[state] + 1
                out_queue[waiting] = other
                waiting += 1


@kernel(
    "void(int32[::1], int32[::1], float64[::1], float64[::1], int64[::1], int64[::1], int64[::1], "
    "float64, int64[::1], int32[::1], float64[::1], float64[::1])"
)
def _fold(
    indptr,
    indices,
    data,
    reward,
    pair,
    state_of,
    rank,
    discount,
    out_indptr,
    out_indices,
    out_data,
    out_reward,
):
    """Rows in the new order, without self-loops, divided by what these leave."""
    to = 0
    for i in range(pair.size):
        p = pair[i]
        own = state_of[p]
        out_indptr[i] = to
        stay = 0.0
        first = to
        for k in range(indptr[p], indptr[p + 1]):
            if indices[k] == own:
                stay += data[k]
            elif data[k] != 0.0:
                out_indices[to] = rank[indices[k]]
                out_data[to] = data[k]
                to += 1
        left = 1.0 / (1.0 - discount * stay)
        out_reward[i] = reward[p] * left
        for k in range(first, to):
            out_data[k] *= discount * left
    out_indptr[pair.size] = to


@kernel(
    "int64(int64[::1], int64, int64[::1], int64[::1], int32[::1], float64[::1], float64[::1], "
    "int64[::1], int32[::1], float64[::1], float64[::1], float64, int64, float64[::1], "
    "int64[::1], float64[::1])"
)
def _relax(
    component,
    current,
    start,
    indptr,
    indices,
    data,
    reward,
    out_rows,
    out_columns,
    out_cells,
    out_gains,
    threshold,
    budget,
    out_values,
    out_choice,
    out_progress,
):
    """Sweeps components from `current` on until the budget of cells is spent.

    Returns the first component that is not finished. `out_progress` is the last change, the sweeps
    over all actions of the largest component, and the cells that were looked at.
    """
    spent = 0
    out_progress[0] = 0.0
    out_progress[1] = 0.0
    while current < component.size - 1:
        low, high = component[current], component[current + 1]
        change = np.inf
        rounds = 0
        while change > threshold:
            change = 0.0
            for s in range(low, high):
                best = -np.inf
                for p in range(start[s], start[s + 1]):
                    total = reward[p]
                    for k in range(indptr[p], indptr[p + 1]):
                        total += data[k] * out_values[indices[k]]
                    if total > best:
                        best = total
                        out_choice[s] = p
                change = max(change, abs(best - out_values[s]))
                out_values[s] = best
            rounds += 1
            spent += indptr[start[high]] - indptr[start[low]] + (start[high] - start[low])
            if high - low == 1:
                change = 0.0
            if change <= threshold:
                break
            # A compact copy of the rows of the best actions.
            to = 0
            for s in range(low, high):
                out_rows[s] = to
                p = out_choice[s]
                out_gains[s] = reward[p]
                for k in range(indptr[p], indptr[p + 1]):
                    out_columns[to] = indices[k]
                    out_cells[to] = data[k]
                    to += 1
            out_rows[high] = to
            for _ in range(EVALUATIONS):
                moved = 0.0
                for s in range(low, high):
                    total = out_gains[s]
                    for k in range(out_rows[s], out_rows[s + 1]):
                        total += out_cells[k] * out_values[out_columns[k]]
                    moved = max(moved, abs(total - out_values[s]))
                    out_values[s] = total
                spent += to
                if moved <= 0.1 * threshold:
                    break
            if spent >= budget:
                out_progress[0] = change
                out_progress[1] = max(out_progress[1], float(rounds))
                out_progress[2] = float(spent)
                return current
        out_progress[0] = change
        out_progress[1] = max(out_progress[1], float(rounds))
        current += 1
        if spent >= budget:
            break
    out_progress[2] = float(spent)
    return current
