"""Learning of networks by definition: counts by loops, scores by formulas, graphs by listing all.

Rows are lists of codes, `-1` where a cell is missing; a family is (parents, child).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

Parents = tuple[tuple[int, ...], ...]


def family_table(rows, weights, cards, parents, child) -> np.ndarray:
    """Weights of the cells of a family; rows with a missing cell belong nowhere."""
    members = (*parents, child)
    counts = np.zeros([cards[m] for m in members])
    for row, weight in zip(rows, weights, strict=True):
        cell = tuple(row[m] for m in members)
        if min(cell) >= 0:
            counts[cell] += weight
    return counts


def log_complexity(n: int, size: int) -> float:
    """Of the multinomial, by the sum over all counts."""

    def compositions(total: int, slots: int) -> Iterator[tuple[int, ...]]:
        if slots == 1:
            yield (total,)
            return
        for first in range(total + 1):
            for rest in compositions(total - first, slots - 1):
                yield (first, *rest)

    total = 0.0
    for counts in compositions(n, size):
        ways = math.factorial(n) / math.prod(math.factorial(c) for c in counts)
        total += ways * math.prod((c / n) ** c for c in counts if c) if n else 1.0
    return math.log(total)


def family_score(name: str, size: float, rows, weights, cards, parents, child) -> float:
    """The score of a family under a criterion by name."""
    table = family_table(rows, weights, cards, sorted(parents), child)
    table = table.reshape(-1, cards[child])
    n = float(sum(weights))
    if name in ("LogLikelihood", "AIC", "BIC", "NML"):
        total = 0.0
        for row in table:
            total += sum(x * math.log(x / row.sum()) for x in row if x > 0)
            if name == "NML":
                total -= log_complexity(int(row.sum()), cards[child])
        price = {"AIC": 1.0, "BIC": math.log(n) / 2}.get(name, 0.0)
        return total - price * len(table) * (cards[child] - 1)
    occupied = sum(row.sum() > 0 for row in table)
    each = {
        "K2": 1.0,
        "BDeu": size / table.size,
        "BDs": size / max(occupied * cards[child], 1),
    }[name]
    total = 0.0
    for row in table:
        if name == "BDs" and row.sum() == 0:
            continue
        total += math.lgamma(each * len(row)) - math.lgamma(each * len(row) + row.sum())
        total += sum(math.lgamma(each + x) - math.lgamma(each) for x in row)
    return total


def all_graphs(d: int) -> Iterator[Parents]:
    """All acyclic graphs of d nodes, as the parents of each."""
    pairs = list(itertools.combinations(range(d), 2))
    for ways in itertools.product(range(3), repeat=len(pairs)):
        parents: list[list[int]] = [[] for _ in range(d)]
        for (a, b), way in zip(pairs, ways, strict=True):
            if way == 1:
                parents[b].append(a)
            elif way == 2:
                parents[a].append(b)
        if is_acyclic(parents):
            yield tuple(tuple(p) for p in parents)


def is_acyclic(parents: Sequence[Sequence[int]]) -> bool:
    left = set(range(len(parents)))
    while left:
        roots = {v for v in left if not left & set(parents[v])}
        if not roots:
            return False
        left -= roots
    return True


def observed_log_likelihood(tables, parents, cards, row) -> float:
    """Logarithm of the probability of a row's known cells, by the sum over all completions."""
    total = 0.0
    for whole in itertools.product(*(range(c) for c in cards)):
        if all(cell in (-1, state) for cell, state in zip(row, whole, strict=True)):
            total += math.prod(
                float(tables[v][(*(whole[p] for p in parents[v]), whole[v])])
                for v in range(len(cards))
            )
    return math.log(total)


def expected_family_tables(tables, parents, cards, rows, weights) -> list[np.ndarray]:
    """Counts of families with every missing cell replaced by its posterior, by enumeration."""
    counts = [np.zeros_like(table) for table in tables]
    for row, weight in zip(rows, weights, strict=True):
        cells, chances = [], []
        for whole in itertools.product(*(range(c) for c in cards)):
            if all(cell in (-1, state) for cell, state in zip(row, whole, strict=True)):
                cells.append(whole)
                chances.append(
                    math.prod(
                        float(tables[v][(*(whole[p] for p in parents[v]), whole[v])])
                        for v in range(len(cards))
                    )
                )
        for whole, chance in zip(cells, chances, strict=True):
            for v in range(len(cards)):
                counts[v][(*(whole[p] for p in parents[v]), whole[v])] += (
                    weight * chance / sum(chances)
                )
    return counts
