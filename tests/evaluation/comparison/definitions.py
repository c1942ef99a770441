"""Tests and powers by their definitions: slow, direct, and what the tests compare with."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy import integrate, stats

Numbers = Sequence[float]


def correlated_posterior_density(mean: float, differences: Numbers, correlation: float) -> float:
    """Unnormalized posterior density of the mean of equally correlated normal differences.

    The likelihood is the multivariate normal with the full covariance matrix; the variance is
    integrated out numerically under the prior `1 / variance`.
    """
    n = len(differences)
    shape = (1 - correlation) * np.eye(n) + correlation * np.ones((n, n))
    residual = np.asarray(differences) - mean
    distance = float(residual @ np.linalg.solve(shape, residual))

    def integrand(log_variance: float) -> float:
        # d variance / variance = d log variance.
        return math.exp(-0.5 * n * log_variance - 0.5 * distance * math.exp(-log_variance))

    middle = math.log(distance / n)
    return float(integrate.quad(integrand, middle - 12, middle + 25, limit=200)[0])


def exact_mcnemar(b: int, c: int) -> Fraction:
    """Two-sided p-value as a fraction: all outcomes of m fair coins at least as extreme."""
    m = b + c
    tail = sum(math.comb(m, k) for k in range(max(b, c), m + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**m))


def mid_p_mcnemar(b: int, c: int) -> Fraction:
    """The exact p-value with the observed outcome counted by half, on both sides."""
    m = b + c
    beyond = sum(math.comb(m, k) for k in range(max(b, c) + 1, m + 1))
    return min(Fraction(1), Fraction(2 * beyond + math.comb(m, max(b, c)), 2**m))


def signed_rank_p_value(differences: Numbers) -> float:
    """Two-sided p-value by all ways to give the nonzero differences signs."""
    ranks = [_mean_rank(abs(d), [abs(other) for other in differences]) for d in differences]
    signed = [rank for rank, d in zip(ranks, differences, strict=True) if d != 0]
    observed = sum(rank for rank, d in zip(ranks, differences, strict=True) if d > 0)
    sums = [
        sum(itertools.compress(signed, signs))
        for signs in itertools.product((0, 1), repeat=len(signed))
    ]
    below = sum(total <= observed for total in sums) / len(sums)
    above = sum(total >= observed for total in sums) / len(sums)
    return min(1.0, 2 * min(below, above))


def _mean_rank(value: float, values: Numbers) -> float:
    below = sum(other < value for other in values)
    equal = sum(other == value for other in values)
    return below + (equal + 1) / 2


def friedman_permutation_p_value(scores: Sequence[Numbers]) -> float:
    """Share of all ways to permute the ranks of each data set with rank sums as unequal."""
    rows = [tuple(_mean_rank(-s, [-other for other in row]) for s in row) for row in scores]
    observed = _spread_of_sums(rows)
    found = [
        _spread_of_sums(choice)
        for choice in itertools.product(*(tuple(itertools.permutations(row)) for row in rows))
    ]
    return sum(value >= observed - 1e-9 for value in found) / len(found)


def _spread_of_sums(rows: Sequence[Numbers]) -> float:
    totals = [math.fsum(column) for column in zip(*rows, strict=True)]
    middle = math.fsum(totals) / len(totals)
    return math.fsum((total - middle) ** 2 for total in totals)


def holm(p_values: Numbers, alpha: float) -> list[bool]:
    """Which hypotheses are rejected, step by step from the smallest p-value."""
    rejected = [False] * len(p_values)
    for step, j in enumerate(sorted(range(len(p_values)), key=lambda j: p_values[j])):
        if p_values[j] > alpha / (len(p_values) - step):
            break
        rejected[j] = True
    return rejected


def normal_range_tail(q: float, k: int) -> float:
    """P(largest - smallest of k standard normal variables > q)."""

    def density(x: float) -> float:
        inside = stats.norm.cdf(x + q) - stats.norm.cdf(x)
        return float(k * stats.norm.pdf(x) * inside ** (k - 1))

    return 1.0 - float(integrate.quad(density, -12, 12, limit=400)[0])


def t_test_power(center: float, critical: float, degrees: int) -> float:
    """Two-sided power: the normal numerator integrated over the law of the deviation."""

    def density(squares: float) -> float:
        scale = math.sqrt(squares / degrees)
        beyond = stats.norm.sf(critical * scale - center) + stats.norm.cdf(
            -critical * scale - center
        )
        return float(beyond * stats.chi2.pdf(squares, degrees))

    top = degrees + 40 * math.sqrt(2 * degrees) + 100
    parts = [0.0, degrees / 2, degrees, 2 * degrees, top]
    return math.fsum(
        float(integrate.quad(density, a, b, limit=400)[0]) for a, b in itertools.pairwise(parts)
    )
