"""Edges where every graph counts alike: graphs of orders, weighted by one over their orders.

A graph is drawn as often as there are orders that it goes with. With L(G) of them, counted exactly
(`novum.graphical.structure.linear_extensions`), weights 1 / L(G) give means under the uniform prior
over graphs (Ellis and Wong 2008).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from novum.core.errors import MemoryLimitError
from novum.core.runtime import RandomSource, check_cancelled
from novum.graphical.inference.chain_diagnosis import monte_carlo_error
from novum.graphical.learning.averaging import EdgeProbabilities, GraphPosterior
from novum.graphical.learning.constraints import parents_of
from novum.graphical.structure.linear_extensions import MOST_SETS, counted_within
from novum.numerics import Floats

# Graphs of equal weight that drawn ones should be worth.
LEAST_GRAPHS = 50


@dataclass(frozen=True, eq=False, repr=False)
class WeightedGraphProbabilities(EdgeProbabilities):
    """Edge probabilities from weighted graphs.

    Attributes
    ----------
    errors : array of shape (n, n)
        Standard errors.
    effective_size : float
        So many graphs of equal weight would be worth as much. Where it is far below the number of
        graphs, few of them have most of the weight: draw more.
    """

    errors: Floats
    effective_size: float

    def __repr__(self) -> str:
        return super().__repr__() + f"\neffective size {self.effective_size:.0f}"


def equal_graphs(
    posterior: GraphPosterior, size: int, random_state: RandomSource
) -> WeightedGraphProbabilities:
    """What `GraphPosterior.equal_graphs` gives."""
    graphs = posterior.graphs(size, random_state)
    spacing = max(1, graphs.shape[0] * graphs.shape[1] // max(int(size), 1))
    graphs = graphs[:, spacing - 1 :: spacing]
    flat = graphs.reshape(-1, *graphs.shape[2:])
    different, inverse = np.unique(flat, axis=0, return_inverse=True)
    logs, sets = np.empty(len(different)), 0
    for number, graph in enumerate(different):
        check_cancelled()
        try:
            orders, used = counted_within(parents_of(graph.T), MOST_SETS - sets)
        except MemoryLimitError:
            raise MemoryLimitError(
                f"The orders of {number} of {len(different)} graphs of {len(posterior.names)} "
                f"variables go through {MOST_SETS:,} sets of variables, which is the limit. "
                + (
                    f"Ask for fewer graphs: equal_graphs({max(number // 2, 1)})."
                    if number > 20
                    else "Take fewer variables."
                )
            ) from None
        logs[number], sets = -math.log(orders), sets + used
    weights = np.exp(logs - logs.max())[inverse.ravel()].reshape(graphs.shape[:2])
    weights /= weights.mean()
    directed = np.einsum("cn,cnab->ab", weights, graphs) / weights.size
    # The error of a quotient of two means, by its linear part.
    parts = weights[..., None, None] * (graphs - directed)
    worth = weights.size**2 / float((weights**2).sum())
    errors = np.sqrt((parts**2).sum(axis=(0, 1))) / weights.size
    if len(graphs) > 1:
        errors = np.maximum(errors, monte_carlo_error(parts))
    if worth < LEAST_GRAPHS:
        warnings.warn(
            f"The {weights.size} graphs are worth {worth:.0f} of equal weight: the prior over "
            "orders is too far from that over graphs to weigh it off. Draw more, or take "
            "fewer variables.",
            UserWarning,
            stacklevel=3,
        )
    basis = f"every graph alike, {weights.size} graphs of {posterior.basis}"
    return WeightedGraphProbabilities(
        posterior.names, directed, basis, np.maximum(errors, 1 / worth), worth
    )
