"""Processes without a discount: which of them have values, and what to do about free loops.

Without a discount a policy is *proper* if it ends the process from every state. Bellman's equations
have one solution only if every policy that is not proper loses without bound (Bertsekas and
Tsitsiklis 1991). What can go on for ever lives in *end components*: sets of states with actions
that never leave them and lead from each of its states to each other. By the best mean reward of a
step in such a component there are three cases:

    above 0    going round earns without bound: no values, and the loop is named
    below 0    nobody stays: the values are those of proper policies
    zero       where every reward is zero one may stay for nothing. All states of the component have
               one value, so it is merged into one state that may also stop: then Bellman's
               equations have one solution again

Free loops are merged first, since staying in one says nothing about the loops that lead through it.
Where rewards that are not zero cancel out in a loop, the total has no limit, and this is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from novum.core.errors import InputError
from novum.core.text import listed
from novum.numerics import Floats, Integers, Mask
from novum.reinforcement.names import Names
from novum.reinforcement.pairs import END, Pairs

STAY = -1


def end_components(pairs: Pairs, usable: Mask) -> tuple[Integers, Mask]:
    """Largest end components that use only some pairs.

    Parameters
    ----------
    pairs : Pairs with sparse rows
    usable : bool array (n_pairs,)

    Returns
    -------
    label : int64 array (n_states,)
        The component of each state, -1 for none.
    inside : bool array (n_pairs,)
        The pairs that never leave their component.
    """
    rows = pairs.rows
    owner = np.repeat(np.arange(pairs.n_pairs), np.diff(rows.indptr))
    # A step that may end the process leaves.
    inside = usable & (pairs.row_sums > 1 - 1e-9)
    n = pairs.n_states
    while True:
        on = inside[owner]
        graph = sparse.csr_array(
            (np.ones(int(on.sum()), np.int8), (pairs.state[owner[on]], rows.indices[on])),
            shape=(n, n),
        )
        _, label = connected_components(graph, connection="strong")
        leaves = np.zeros(pairs.n_pairs, np.bool_)
        leaves[owner[label[pairs.state[owner]] != label[rows.indices]]] = True
        smaller = inside & ~leaves
        # A state without pairs inside ends the component of whoever leads to it.
        alive = np.zeros(n, np.bool_)
        alive[pairs.state[smaller]] = True
        dead = np.zeros(pairs.n_pairs, np.bool_)
        dead[owner[~alive[rows.indices]]] = True
        smaller &= ~dead
        if (smaller == inside).all():
            break
        inside = smaller
    alive = np.zeros(n, np.bool_)
    alive[pairs.state[inside]] = True
    numbers = np.full(n, STAY, np.int64)
    _, numbers[alive] = np.unique(label[alive], return_inverse=True)
    return numbers, inside


@dataclass(frozen=True, eq=False)
class Merged:
    """A process whose end components are single states that may stop.

    Attributes
    ----------
    pairs : Pairs
    block : int64 array (n_states,)
        The merged state of each state.
    origin : int64 array (n_merged_pairs,)
        The pair that a merged one stands for, or `STAY`.
    inside : bool array (n_pairs,)
        Pairs within merged components.
    """

    pairs: Pairs
    block: Integers
    origin: Integers
    inside: Mask

    def back(self, whole: Pairs, chosen: Integers, at_rest: Integers | None = None) -> Integers:
        """The pairs of a policy of the whole process, from one of the merged.

        Parameters
        ----------
        whole : Pairs
        chosen : int64 array (n_merged_states,)
        at_rest : int64 array (n_states,), optional
            What is done in a component that is stayed in; any pair inside by default.
        """
        result = whole.start[:-1].copy()
        taken = self.origin[chosen]
        goes = taken != STAY
        state_of = whole.state[taken[goes]]
        result[state_of] = taken[goes]
        if not self.inside.any():
            return result
        settled = np.zeros(whole.n_states, np.bool_)
        settled[state_of] = True
        first_inside = np.full(whole.n_states, STAY, np.int64)
        places = np.flatnonzero(self.inside)[::-1]
        first_inside[whole.state[places]] = places
        rest = first_inside if at_rest is None else at_rest
        stays = np.zeros(self.pairs.n_states, np.bool_)
        stays[np.flatnonzero(~goes)] = True
        resting = stays[self.block] & (first_inside != STAY)
        result[resting] = rest[resting]
        settled |= resting | (first_inside == STAY)
        return _towards(whole, self.inside, settled, result)


def _towards(whole: Pairs, inside: Mask, settled: Mask, result: Integers) -> Integers:
    """In what is not settled yet, steps inside the component towards what is."""
    rows = whole.as_sparse().rows
    owner = np.repeat(np.arange(whole.n_pairs), np.diff(rows.indptr))
    on = inside[owner]
    owner, target = owner[on], rows.indices[on]
    while not settled.all():
        near = settled[target] & ~settled[whole.state[owner]]
        if not near.any():
            break
        result[whole.state[owner[near]]] = owner[near]
        settled[whole.state[owner[near]]] = True
    return result


def merge_components(
    pairs: Pairs, label: Integers, inside: Mask, stay_reward: Floats, reward: Floats
) -> Merged:
    """Every component as one state: it may be left by any of its pairs, or stayed in.

    Parameters
    ----------
    label, inside : as `end_components` gives them
    stay_reward : array (n_components,)
        What staying is worth.
    reward : array (n_pairs,)
        Of the pairs that remain.
    """
    n = pairs.n_states
    n_components = int(label.max()) + 1 if label.size else 0
    outside = label == STAY
    block = np.where(outside, 0, label)
    block[outside] = n_components + np.arange(int(outside.sum()))
    n_blocks = n_components + int(outside.sum())
    kept = np.flatnonzero(~inside)
    membership = sparse.csr_array((np.ones(n), (np.arange(n), block)), shape=(n, n_blocks))
    rows = sparse.csr_array(pairs.rows[kept]) @ membership
    stays = sparse.csr_array((n_components, n_blocks))
    owner = np.concatenate([block[pairs.state[kept]], np.arange(n_components)])
    order = np.argsort(owner, kind="stable")
    stacked = sparse.csr_array(sparse.vstack([rows, stays]))[order]
    stacked.sum_duplicates()
    action = np.concatenate([pairs.action[kept], np.full(n_components, END, np.int32)])
    origin = np.concatenate([kept, np.full(n_components, STAY)])
    merged = Pairs(
        np.searchsorted(owner[order], np.arange(n_blocks + 1)).astype(np.int64),
        action[order].astype(np.int32),
        _with_small_indices(stacked),
        np.concatenate([reward[kept], stay_reward])[order],
    )
    return Merged(merged, block, origin[order].astype(np.int64), inside)


def _with_small_indices(rows: Any) -> Any:
    tidy = sparse.csr_array(
        (rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), shape=rows.shape
    )
    tidy.has_canonical_format = True
    return tidy


def merge_free_loops(pairs: Pairs, states: Names) -> Merged:
    """A process without a discount such that Bellman's equations have one solution.

    A process that has no values is refused, and the loop that is to blame is named.
    """
    own = pairs.as_sparse()
    label, inside = end_components(own, (own.action != END) & (own.reward == 0))
    n_components = int(label.max()) + 1 if label.size else 0
    merged = merge_components(own, label, inside, np.zeros(n_components), own.reward)
    _refuse_earning_loops(merged, states)
    _refuse_endless(merged, states)
    return merged


def ending_policy(pairs: Pairs) -> tuple[Integers, Mask]:
    """A policy that may end from wherever that is possible; and where it is not."""
    rows = pairs.rows
    owner = np.repeat(np.arange(pairs.n_pairs), np.diff(rows.indptr))
    chosen = pairs.start[:-1].copy()
    ends = np.zeros(pairs.n_states, np.bool_)
    last = np.flatnonzero(pairs.row_sums < 1 - 1e-9)
    chosen[pairs.state[last]] = last
    ends[pairs.state[last]] = True
    while True:
        near = ends[rows.indices] & ~ends[pairs.state[owner]]
        if not near.any():
            return chosen, ~ends
        chosen[pairs.state[owner[near]]] = owner[near]
        ends[pairs.state[owner[near]]] = True


def _refuse_endless(merged: Merged, states: Names) -> None:
    _, lost = ending_policy(merged.pairs)
    if not lost.any():
        return
    names = [states[s] for s in np.flatnonzero(lost[merged.block]).tolist()]
    raise InputError(
        f"From {listed(names)} no policy ends the process, and every step there costs, so that "
        "without a discount all is lost in the end. Add a terminal state that can be reached, give "
        "the process a discount below 1, or look at average_reward(process)."
    )


def _refuse_earning_loops(merged: Merged, states: Names) -> None:
    """Refuses end components, free ones merged, whose best mean reward is not below zero."""
    from novum.reinforcement.planning.average_reward import component_gain

    pairs = merged.pairs
    real = pairs.action != END
    if not (pairs.reward[real] > 0).any():
        return
    label, inside = end_components(pairs, real)
    for number in np.unique(label[pairs.state[inside & (pairs.reward > 0)]]).tolist():
        here = inside & (label[pairs.state] == number)
        members = np.flatnonzero(label == number)
        names = [states[s] for s in np.flatnonzero(np.isin(merged.block, members)).tolist()]
        if (pairs.reward[here] >= 0).all():
            low = high = float(pairs.reward[here].max())
        else:
            low, high, _ = component_gain(pairs, here, members, sign_only=True)
        if high < 0:
            continue
        if low > 0:
            raise InputError(
                f"Going round among {listed(names)} earns without bound, so that without a "
                "discount there are no values. Give the process a discount below 1 or a horizon, "
                "or look at average_reward(process)."
            )
        raise InputError(
            f"Rewards that are not zero cancel out going round among {listed(names)}, so that "
            "without a discount their sum has no limit. Give the process a discount below 1 or a "
            "horizon."
        )
