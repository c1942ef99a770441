"""Decision processes by definition: values in rational arithmetic, policies by enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
from scipy import sparse

from novum.reinforcement import MarkovDecisionProcess

Row = dict[int, Fraction]
Pair = tuple[int, Fraction, Row]


def rational_pairs(process: MarkovDecisionProcess) -> list[list[Pair]]:
    """For each state its (place, reward, row), with the very numbers of the process."""
    pairs = process.pairs
    states: list[list[Pair]] = []
    for s in range(process.n_states):
        own = []
        for p in range(int(pairs.start[s]), int(pairs.start[s + 1])):
            row = pairs.rows_of(np.array([p]))
            cells = (row.toarray() if sparse.issparse(row) else row).ravel()
            chances = {int(t): Fraction(float(cells[t])) for t in np.flatnonzero(cells)}
            own.append((p, Fraction(float(pairs.reward[p])), chances))
        states.append(own)
    return states


def solved(rows: list[Row], rewards: list[Fraction], discount: Fraction) -> list[Fraction]:
    """V = r + discount * P V by elimination in rational numbers."""
    n = len(rows)
    table = [
        [(Fraction(int(i == j)) - discount * rows[i].get(j, Fraction(0))) for j in range(n)]
        + [rewards[i]]
        for i in range(n)
    ]
    for i in range(n):
        pivot = next(k for k in range(i, n) if table[k][i] != 0)
        table[i], table[pivot] = table[pivot], table[i]
        for k in range(n):
            if k != i and table[k][i] != 0:
                factor = table[k][i] / table[i][i]
                table[k] = [a - factor * b for a, b in zip(table[k], table[i], strict=True)]
    return [table[i][n] / table[i][i] for i in range(n)]


def policy_value(process: MarkovDecisionProcess, chosen: list[Pair]) -> list[Fraction]:
    rows, rewards = [pair[2] for pair in chosen], [pair[1] for pair in chosen]
    return solved(rows, rewards, Fraction(process.discount))


def best_values(process: MarkovDecisionProcess) -> list[Fraction]:
    """Policy iteration in rational arithmetic: no rounding, so it ends at the optimum."""
    states = rational_pairs(process)
    discount = Fraction(process.discount)
    chosen = [own[0] for own in states]
    while True:
        values = policy_value(process, chosen)
        better = False
        for s, own in enumerate(states):
            for pair in own:
                if action_value(pair, values, discount) > values[s] and (
                    action_value(pair, values, discount) > action_value(chosen[s], values, discount)
                ):
                    chosen[s] = pair
                    better = True
        if not better:
            return values


def action_value(pair: Pair, values: list[Fraction], discount: Fraction) -> Fraction:
    return pair[1] + discount * sum((p * values[t] for t, p in pair[2].items()), Fraction(0))


def all_policies(process: MarkovDecisionProcess) -> Iterator[list[Pair]]:
    return (list(choice) for choice in product(*rational_pairs(process)))


def best_by_histories(process: MarkovDecisionProcess, state: int, steps: int) -> Fraction:
    """The best expected reward of some steps, by trying every action after every history."""
    if steps == 0:
        return Fraction(0)
    states, discount = rational_pairs(process), Fraction(process.discount)
    return max(
        pair[1]
        + discount
        * sum(
            (p * best_by_histories(process, t, steps - 1) for t, p in pair[2].items()), Fraction(0)
        )
        for pair in states[state]
    )


def living_reward_ranges(
    process: MarkovDecisionProcess, low: Fraction, high: Fraction
) -> list[tuple[Fraction, list[int]]]:
    """The best policies as the living reward rises, each with the exact end of its range.

    Probabilities are tenths. Values are straight lines in the reward, so that a policy stays best
    until the line of another action crosses that of its own. Policy iteration compares values at a
    reward, and slopes where they are equal: what is best just above it. It begins with a policy
    that ends, each state heading for the one before it on a shortest way out.
    """
    pairs, states = process.pairs, rational_pairs(process)
    moving = [bool(pairs.action[own[0][0]] >= 0) for own in states]
    rows = [
        [{t: p.limit_denominator(10) for t, p in pair[2].items()} for pair in own] for own in states
    ]
    ends = [Fraction(0) if moves else own[0][1] for moves, own in zip(moving, states, strict=True)]
    chosen = [-1 if moves else 0 for moves in moving]
    while -1 in chosen:
        reached = {s for s, action in enumerate(chosen) if action >= 0}
        for s in range(len(states)):
            for a, row in enumerate(rows[s]):
                if chosen[s] < 0 and reached & set(row):
                    chosen[s] = a

    def line(row: Row, s: int, constants: list[Fraction], slopes: list[Fraction]) -> list[Fraction]:
        constant = ends[s] + sum((p * constants[t] for t, p in row.items()), Fraction(0))
        return [
            constant,
            int(moving[s]) + sum((p * slopes[t] for t, p in row.items()), Fraction(0)),
        ]

    ranges = []
    reward = low
    while reward < high:
        better = True
        while better:
            own = [rows[s][a] if moving[s] else {} for s, a in enumerate(chosen)]
            constants = solved(own, ends, Fraction(1))
            slopes = solved(own, [Fraction(int(moves)) for moves in moving], Fraction(1))
            better = False
            lines = [
                [line(row, s, constants, slopes) for row in rows[s]] if moving[s] else []
                for s in range(len(states))
            ]
            for s, others in enumerate(lines):
                worths = [(constant + reward * slope, slope) for constant, slope in others]
                if worths and max(worths) > worths[chosen[s]]:
                    chosen[s] = worths.index(max(worths))
                    better = True
        crossings = [
            (constants[s] - constant) / (slope - slopes[s])
            for s, others in enumerate(lines)
            for constant, slope in others
            if slope > slopes[s]
        ]
        reward = min([*crossings, high])
        ranges.append((reward, list(chosen)))
    return ranges
