"""The definitions of decision theory, case by case: slow, and easy to check by eye.

Used by the tests and by anyone who wants to audit a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def error_rates(positive: Sequence[Any], scores: Sequence[float], threshold: float) -> Any:
    """Shares of positives at or below the threshold and of negatives above it.

    >>> error_rates([True, False, True], [2.0, 1.0, 0.0], 0.5)
    (0.5, 1.0)
    """
    pairs = list(zip(positive, scores, strict=True))
    missed = [score <= threshold for is_positive, score in pairs if is_positive]
    alarms = [score > threshold for is_positive, score in pairs if not is_positive]
    return sum(missed) / len(missed), sum(alarms) / len(alarms)


def normalized_cost(
    positive: Sequence[Any],
    scores: Sequence[float],
    threshold: float,
    prior: float,
    cost_fn: float,
    cost_fp: float,
) -> float:
    """Detection cost over that of the better blind decision.

    >>> normalized_cost([True, False, True], [2.0, 1.0, 0.0], 0.5, 0.5, 1, 1)
    1.5
    """
    fn, fp = error_rates(positive, scores, threshold)
    cost = prior * cost_fn * fn + (1 - prior) * cost_fp * fp
    return cost / min(prior * cost_fn, (1 - prior) * cost_fp)


def cllr(positive: Sequence[Any], ratios: Sequence[float]) -> float:
    """Cost of log-likelihood ratios: mean log loss in bits at equal priors.

    >>> cllr([True, False], [0.0, 0.0])
    1.0
    """

    def bits(x: float) -> float:
        if x == math.inf:
            return math.inf
        return math.log2(1 + math.exp(x)) if x < 700 else x / math.log(2)

    pairs = list(zip(positive, ratios, strict=True))
    misses = [bits(-ratio) for is_positive, ratio in pairs if is_positive]
    alarms = [bits(ratio) for is_positive, ratio in pairs if not is_positive]
    return (sum(misses) / len(misses) + sum(alarms) / len(alarms)) / 2


def empirical_risk(
    labels: Sequence[Any],
    actions: Sequence[Any],
    priors: dict[Any, float],
    cost: dict[tuple[Any, Any], float],
) -> float:
    """`sum_c pi_c` times the mean cost of the actions taken for class c.

    >>> empirical_risk("ab", "bb", {"a": 0.5, "b": 0.5}, {("a", "b"): 2.0, ("b", "b"): 0.0})
    1.0
    """
    total = 0.0
    for label, prior in priors.items():
        pairs = zip(labels, actions, strict=True)
        costs = [cost[true, taken] for true, taken in pairs if true == label]
        total += prior * sum(costs) / len(costs)
    return total


def isotonic_by_minimax(targets: Sequence[float], weights: Sequence[float]) -> list[float]:
    """`f_j = max over a <= j of min over b >= j of the mean of a..b`, for sorted scores.

    >>> isotonic_by_minimax([0.0, 1.0, 0.0, 1.0], [1, 1, 1, 1])
    [0.0, 0.5, 0.5, 1.0]
    """
    n = len(targets)

    def mean(a: int, b: int) -> float:
        total = sum(weights[a : b + 1])
        return (
            sum(w * t for w, t in zip(weights[a : b + 1], targets[a : b + 1], strict=True)) / total
        )

    return [max(min(mean(a, b) for b in range(j, n)) for a in range(j + 1)) for j in range(n)]
