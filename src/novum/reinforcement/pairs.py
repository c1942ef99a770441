"""State-action pairs: what a decision process is made of, as arrays.

A pair p stands for an action a in a state s: the reward r_p that is expected for it, and the row
P_p of probabilities of the next states. Pairs are in the order of their states,

    pairs of s:  start[s], ..., start[s + 1] - 1,

so actions may differ from state to state. A row sums to one less the probability that the process
ends with the step. A terminal state has one pair without an action, whose row is empty: then the
equation of Bellman

    V(s) = max over pairs p of s   r_p + discount * sum over s' of P_p(s') V(s')

holds in every state, and no method needs to know which states are terminal.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.core.text import label_text
from novum.numerics import (
    Codes,
    Floats,
    Integers,
    Mask,
    as_argument,
    cached_property,
    fast_kernel,
    kernel,
)
from novum.reinforcement.names import Names

# Rows off by more are refused; what is less is rounding of the file it came from, and divided out.
WRONG, ROUNDED = 1e-6, 1e-12
# Below this share of cells that are not zero, rows are kept sparse.
SPARSE_BELOW = 0.25
# Up to so many actions, all states' actions are compared column by column.
WIDEST = 32
END = -1


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rewards and rows of all pairs.

    Attributes
    ----------
    start : int64 array (n_states + 1,)
        Where the pairs of each state begin.
    action : int32 array (n_pairs,)
        `END` for the one pair of a terminal state.
    rows : csr_array or array (n_rows, n_states)
        Probabilities of next states; less the share that ends.
    reward : array (n_pairs,)
    order : int64 array (n_pairs,), optional
        Which row is that of a pair; None where rows are in the order of pairs.
    known_sums : array (n_pairs,), optional
        Sums of rows, where reading has found them.
    """

    start: Integers
    action: Codes
    rows: Any
    reward: Floats
    order: Integers | None = None
    known_sums: Floats | None = None

    @property
    def n_states(self) -> int:
        return len(self.start) - 1

    @property
    def n_pairs(self) -> int:
        return len(self.action)

    @property
    def is_dense(self) -> bool:
        return isinstance(self.rows, np.ndarray)

    @cached_property
    def state(self) -> Integers:
        """The state of each pair."""
        return np.repeat(np.arange(self.n_states), np.diff(self.start))

    @cached_property
    def is_terminal(self) -> Mask:
        """Which states have no action."""
        return np.asarray(self.action[self.start[:-1]] == END)

    @cached_property
    def row_sums(self) -> Floats:
        """The probability that a step does not end the process."""
        if self.known_sums is not None:
            return self.known_sums
        return self.expected(np.ones(self.n_states))

    def expected(self, values: Floats) -> Floats:
        """The mean of `values` over the next state, of each pair."""
        means = self.rows @ values
        return np.asarray(means if self.order is None else means[self.order])

    def row_indices(self, pairs: Integers) -> Integers:
        return pairs if self.order is None else self.order[pairs]

    def rows_of(self, pairs: Integers) -> Any:
        """The rows of some pairs, as a matrix."""
        return self.rows[self.row_indices(pairs)]

    @cached_property
    def width(self) -> int:
        """How many pairs each state has, if all have as many, and not too many; else 0."""
        width = self.n_pairs // max(self.n_states, 1)
        is_even = width <= WIDEST and bool((np.diff(self.start) == width).all())
        return width if is_even else 0

    def best(self, action_values: Floats) -> Floats:
        """The largest of the values of each state's pairs."""
        if self.width:
            # Column by column: NumPy's maximum along short rows takes several times as long.
            best = action_values[:: self.width]
            for action in range(1, self.width):
                best = np.maximum(best, action_values[action :: self.width])
            return np.array(best)
        return np.asarray(np.maximum.reduceat(action_values, self.start[:-1]))

    def greedy(self, action_values: Floats, best: Floats | None = None) -> Integers:
        """The first pair of each state that has the largest value."""
        best = self.best(action_values) if best is None else best
        hits = np.flatnonzero(action_values == best[self.state])
        # Hits are in the order of states: the first of each is where the state changes.
        first = np.flatnonzero(np.diff(self.state[hits], prepend=-1))
        assert len(first) == self.n_states
        return np.asarray(hits[first], np.int64)

    def subset(self, kept: Mask) -> tuple[Pairs, Integers]:
        """These pairs alone, and where they stood; every state keeps one at least."""
        places = np.flatnonzero(kept)
        counts = np.bincount(self.state[places], minlength=self.n_states)
        start = np.concatenate([[0], np.cumsum(counts)])
        smaller = Pairs(start, self.action[places], self.rows_of(places), self.reward[places])
        return smaller, places

    def as_sparse(self) -> Pairs:
        """With rows as `csr_array` of int32 in the order of pairs."""
        if self.is_dense:
            rows = self.rows if self.order is None else self.rows[self.order]
            return Pairs(self.start, self.action, sparse.csr_array(rows), self.reward)
        return self


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What a step can come to: one row of possibilities for each pair, to be drawn from.

    Attributes
    ----------
    start : int64 array (n_pairs + 1,)
    next_state : int32 array (n_outcomes,)
    probability, reward : arrays (n_outcomes,)
    ends : bool array (n_outcomes,)
        Whether the process is over after it.
    """

    start: Integers
    next_state: Codes
    probability: Floats
    reward: Floats
    ends: Mask


# --- Reading --------------------------------------------------------------------------------------


def pairs_of_arrays(
    transitions: Any, allowed: Mask, is_terminal: Mask, states: Names, actions: Names
) -> Pairs:
    """Pairs of `transitions[a, s, s']`, an array or one sparse matrix an action; no rewards yet."""
    n_states, n_actions = len(states), len(actions)
    state, action = np.nonzero(allowed | (is_terminal[:, np.newaxis] & _first_only(n_actions)))
    pair_action = np.where(is_terminal[state], END, action).astype(np.int32)
    start = np.searchsorted(state, np.arange(n_states + 1)).astype(np.int64)
    no_reward = np.zeros(len(state))
    if isinstance(transitions, np.ndarray):
        flat = as_argument(transitions.reshape(n_actions * n_states, n_states))
        order: Integers | None = action * n_states + state
        sums, below = np.empty(len(flat)), np.empty(len(flat))
        cells = _check_dense(flat, sums, below)
        share = cells / flat.size
        if share >= SPARSE_BELOW:
            if len(state) < len(flat) or is_terminal.any():
                on = ~is_terminal[state]
                flat = flat[order] * on[:, np.newaxis]
                sums, below, order = sums[order] * on, below[order] * on, None
            row_order = np.arange(len(state)) if order is None else order
            flat = _checked(flat, sums, below, row_order, pair_action, states, actions, state)
            return Pairs(start, pair_action, flat, no_reward, order, _kept_sums(sums, row_order))
        transitions = [sparse.csr_array(transitions[a]) for a in range(n_actions)]
    rows = _interleaved(transitions, state, action, pair_action, n_states)
    below = np.zeros(len(state))
    if rows.nnz and not rows.data.min() >= 0:
        below = sparse.csr_array((np.minimum(rows.data, 0), rows.indices, rows.indptr), rows.shape)
        below = below @ np.ones(n_states)
    sums = rows @ np.ones(n_states)
    places = np.arange(len(state))
    rows = _checked(rows, sums, below, places, pair_action, states, actions, state)
    return Pairs(start, pair_action, rows, no_reward, None, _kept_sums(sums, places))


def _kept_sums(sums: Floats, order: Integers) -> Floats:
    """Sums of rows as they are after the division by them."""
    own = sums[order]
    return np.where(np.abs(own - 1) > ROUNDED, np.where(own > 0, 1.0, 0.0), own)


def _first_only(n_actions: int) -> Mask:
    first = np.zeros(n_actions, np.bool_)
    first[0] = True
    return first


def _interleaved(
    matrices: Sequence[Any], state: Integers, action: Integers, pair_action: Codes, n_states: int
) -> Any:
    """One row for each pair, out of one matrix for each action."""
    tidy = []
    for matrix in matrices:
        own = sparse.csr_array(matrix, dtype=np.float64)
        if not own.has_canonical_format:
            own = own.copy()
            own.sum_duplicates()
        tidy.append(own)
    lengths = np.zeros(len(state), np.int64)
    of_action = [np.flatnonzero((action == a) & (pair_action != END)) for a in range(len(tidy))]
    for own, places in zip(tidy, of_action, strict=True):
        lengths[places] = np.diff(own.indptr)[state[places]]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    total = int(indptr[-1])
    if total >= 2**31:
        raise InputError(
            f"The transitions hold {total} probabilities, more than 2^31. Merge states that behave "
            "alike, or solve the process in parts."
        )
    check_memory(12 * total, "The transitions of all pairs", "Leave out actions of no use.")
    indices, data = np.empty(total, np.int32), np.empty(total)
    for own, places in zip(tidy, of_action, strict=True):
        _copy_rows(
            as_argument(own.indptr, np.int32),
            as_argument(own.indices, np.int32),
            as_argument(own.data),
            state[places],
            as_argument(indptr[places], np.int64),
            indices,
            data,
        )
    rows = sparse.csr_array((data, indices, indptr.astype(np.int32)), shape=(len(state), n_states))
    rows.has_canonical_format = True
    return rows


def _checked(
    rows: Any,
    sums: Floats,
    below: Floats,
    order: Integers,
    pair_action: Codes,
    states: Names,
    actions: Names,
    state: Integers,
) -> Any:
    """The rows, if they are probabilities; the first that is not is named."""
    is_action = pair_action != END
    own_sums, own_below = sums[order], below[order]
    # A comparison with NaN is false, so that a row with one is wrong too.
    right = (own_below >= 0) & (np.abs(own_sums - 1) <= WRONG) | ~is_action
    if not right.all():
        pair = int(np.argmin(right))
        action = actions[int(pair_action[pair])]
        where = f"state {label_text(states[state[pair]])}, action {label_text(action)}"
        row = rows[order[pair : pair + 1]]
        cells = row.data if sparse.issparse(row) else row.ravel()
        value, total = float(np.min(cells, initial=0.0)), float(own_sums[pair])
        if np.isnan(total) or np.isinf(total):
            what = "hold a value that is not finite. Replace it"
        elif value < 0:
            what = f"hold the negative value {value:g}. Probabilities are at least 0"
        elif total == 0:
            what = "are all zero: the action leads nowhere. Leave it out by `allowed`"
        else:
            what = f"sum to {total:.9g}, not to 1. Correct the row or divide it by its sum"
        raise InputError(f"The transition probabilities of {where} {what}.")
    off = np.abs(own_sums - 1) > ROUNDED
    off &= is_action
    if not off.any():
        return rows
    factor = np.ones(rows.shape[0])
    factor[order[off]] = 1.0 / own_sums[off]
    if isinstance(rows, np.ndarray):
        return rows * factor[:, np.newaxis]
    scaled = rows.copy()
    scaled.data *= np.repeat(factor, np.diff(rows.indptr))
    return scaled


# --- Kernels --------------------------------------------------------------------------------------


# Sums in any order: 2.5 times sooner on `reinforcement.planning.dynamic_programming.dense_policy`.
@fast_kernel("int64(float64[:,::1], float64[::1], float64[::1])")
def _check_dense(rows, out_sums, out_below):
    """Sum of each row, what is below zero in it (twice), and how many cells are not zero.

    Two sums, of cells and of their sizes, become vector instructions; a least cell would not.
    """
    filled = 0
    for i in range(rows.shape[0]):
        total, size, own = 0.0, 0.0, 0
        for j in range(rows.shape[1]):
            cell = rows[i, j]
            total += cell
            size += abs(cell)
            own += cell != 0.0
        out_sums[i] = total
        out_below[i] = total - size
        filled += own
    return filled


@kernel(
    "void(int32[::1], int32[::1], float64[::1], int64[::1], int64[::1], int32[::1], float64[::1])"
)
def _copy_rows(indptr, indices, data, wanted, first, out_indices, out_data):
    """Rows `wanted` of a matrix, copied to where each begins."""
    for i in range(wanted.size):
        to = first[i]
        for k in range(indptr[wanted[i]], indptr[wanted[i] + 1]):
            out_indices[to] = indices[k]
            out_data[to] = data[k]
            to += 1
