"""Slow, direct transcriptions of the formulas of selection, for tests and audits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from novum.numerics import Floats


def anova_f(groups: Sequence[Sequence[float]]) -> float:
    """`(between / (K - 1)) / (within / (n - K))`, sum by sum."""
    values = [x for group in groups for x in group]
    n, K, mean = len(values), len(groups), math.fsum(values) / len(values)
    between = within = 0.0
    for group in groups:
        center = math.fsum(group) / len(group)
        between += len(group) * (center - mean) ** 2
        within += math.fsum((x - center) ** 2 for x in group)
    return (between / (K - 1)) / (within / (n - K))


def mutual_information(a: Sequence[object], b: Sequence[object]) -> float:
    """`sum p(a, b) log(p(a, b) / (p(a) p(b)))` over the pairs that occur, in nats."""
    n, total = len(a), 0.0
    pairs = list(zip(a, b, strict=True))
    for x, y in set(pairs):
        joint = pairs.count((x, y)) / n
        total += joint * math.log(joint * n * n / (list(a).count(x) * list(b).count(y)))
    return total


def information_of_groups(x: Sequence[float], groups: Sequence[object], k: int) -> float:
    """Ross' estimate for different numbers, row by row."""
    n = len(x)
    terms = []
    for i in range(n):
        same = [j for j in range(n) if groups[j] == groups[i]]
        near = sorted(abs(x[j] - x[i]) for j in same if j != i)
        own = min(k, len(near))
        distance = near[own - 1]
        within = 1 + sum(1 for j in range(n) if j != i and abs(x[j] - x[i]) < distance)
        terms.append(special.digamma(own) - special.digamma(len(same)) - special.digamma(within))
    return float(special.digamma(n) + np.mean(terms))


def holm_rejects(p_values: Sequence[float], alpha: float) -> list[bool]:
    """Holm's steps: the smallest p-value against alpha/m, the next against alpha/(m-1), ..."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    rejected = [False] * len(p_values)
    for step, i in enumerate(order):
        if p_values[i] > alpha / (len(p_values) - step):
            break
        rejected[i] = True
    return rejected


def hochberg_rejects(p_values: Sequence[float], alpha: float) -> list[bool]:
    """Benjamini and Hochberg's step: all up to the last p-value below its line `alpha i / m`."""
    ordered = sorted(p_values)
    m = len(ordered)
    below = [p for i, p in enumerate(ordered, 1) if p <= alpha * i / m]
    return [bool(below) and p <= below[-1] for p in p_values]


def stability(chosen: Sequence[Sequence[int]]) -> float:
    """Nogueira's index by the sample variances of the choices."""
    M, d = len(chosen), len(chosen[0])
    mean_size = sum(map(sum, chosen)) / M
    variances = [float(np.var([row[f] for row in chosen], ddof=1)) for f in range(d)]
    return 1 - (sum(variances) / d) / (mean_size / d * (1 - mean_size / d))


def relative_contrast(X: Floats) -> float:
    """Median over rows of (farthest - nearest) / nearest, pair by pair."""
    contrasts = []
    for i in range(len(X)):
        others = [math.dist(X[i], X[j]) for j in range(len(X)) if j != i]
        contrasts.append((max(others) - min(others)) / min(others))
    return float(np.median(contrasts))
