"""Whether Monte-Carlo answers lie within the errors they state, over many seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import stats

from novum.graphical.inference.protocol import Engine
from novum.graphical.models.bayesian_network import BayesianNetwork

# Probability that a right sampler fails one of the two checks.
FALSE_ALARM = 1e-6


def sprinkler() -> BayesianNetwork:
    """Four nodes with a cycle in the skeleton and no extreme table."""
    return (
        BayesianNetwork()
        .add("cloudy", table=[0.5, 0.5])
        .add("sprinkler", ["cloudy"], [[0.2, 0.8], [0.5, 0.5]])
        .add("rain", ["cloudy"], [[0.7, 0.3], [0.3, 0.7]])
        .add("wet", ["sprinkler", "rain"], [[[0.9, 0.1], [0.8, 0.2]], [[0.75, 0.25], [0.2, 0.8]]])
    )


def check_stated_errors(
    network: Any,
    engine: Callable[[int], Engine],
    given: dict[str, str],
    asked: Sequence[str],
    n_runs: int,
    likelihood: dict[str, list[float]] | None = None,
) -> None:
    """Scores (estimate - truth) / error of the first cell have mean 0 and variance 1.

    The sum of n squared scores is chi-squared with n degrees of freedom, and their mean normal with
    variance 1 / n, up to the error of the errors.
    """
    exact = network.query(*asked, given=given, likelihood=likelihood).values.ravel()[0]
    scores = []
    for seed in range(n_runs):
        found = network.query(*asked, given=given, likelihood=likelihood, engine=engine(seed))
        scores.append((found.values.ravel()[0] - exact) / found.errors.ravel()[0])
    values = np.array(scores)
    bound = stats.norm.isf(FALSE_ALARM / 4)
    assert abs(values.mean()) * np.sqrt(n_runs) < bound
    low, high = stats.chi2.ppf([FALSE_ALARM / 4, 1 - FALSE_ALARM / 4], n_runs)
    assert low < np.sum(values**2) < high
