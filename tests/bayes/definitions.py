"""Naive Bayes by its definitions, cell by cell: slow, direct, and what the tests compare with.

    log P(k, x) = log P(k) + sum over present cells of log p(x_j | k)

Each function takes the cells of one class and one column as plain lists, None where missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Cells = Sequence[Any]


def log_normal(x: float | None, cells: Cells) -> float:
    """Normal density of `x` with the mean and variance of the present cells."""
    if x is None:
        return 0.0
    present = [cell for cell in cells if cell is not None]
    mean = math.fsum(present) / len(present)
    variance = math.fsum((cell - mean) ** 2 for cell in present) / len(present)
    return -0.5 * math.log(2 * math.pi * variance) - (x - mean) ** 2 / (2 * variance)


def log_category(level: Any, cells: Cells, pseudo_counts: Mapping[Any, float]) -> float:
    """Posterior mean of the probability of a level, given the pseudo-counts of all levels."""
    if level is None:
        return 0.0
    present = [cell for cell in cells if cell is not None]
    total = len(present) + math.fsum(pseudo_counts.values())
    return math.log((present.count(level) + pseudo_counts[level]) / total)


def log_counts(row: Cells, rows: Sequence[Cells], alpha: float) -> float:
    """Multinomial score of a row of counts, given the rows of a class without missing cells."""
    totals = [math.fsum(other[j] for other in rows) + alpha for j in range(len(row))]
    shares = [total / math.fsum(totals) for total in totals]
    return math.fsum(x * math.log(share) for x, share in zip(row, shares, strict=True))


def multinomial_probability(row: Sequence[int], shares: Sequence[float]) -> float:
    """`n! / prod x_j! * prod t_j^x_j`."""
    ways = math.factorial(sum(row))
    for x in row:
        ways //= math.factorial(x)
    return ways * math.prod(t**x for t, x in zip(shares, row, strict=True))


def posterior(joint_logs: Sequence[float]) -> list[float]:
    """`P(k | x)` from `log P(k, x)`."""
    top = max(joint_logs)
    parts = [math.exp(value - top) for value in joint_logs]
    return [part / math.fsum(parts) for part in parts]
