"""Conditional-Gaussian networks fall into parts that are normal given few discrete nodes.

Numbers that are known are constants, so the numeric nodes that are not known hang together only
through families that hold two of them. Each such *part* is normal given the discrete parents of its
families, its *switches*:

    x_i = b_i[s] + sum over parents p of w_ip[s] x_p + e_i,    e_i normal with variance v_i[s]

Means and covariances follow along the graph, for all states of the switches at once. What the known
numbers of a part say about its switches is one likelihood table over these, and the discrete
network with such tables as further evidence answers everything else exactly: it is the strong
junction tree of Lauritzen with the normal cliques summed out first. The price is the number of
states of the switches of one part, not of all discrete nodes.

References
----------
Lauritzen (1992). Lauritzen and Jensen (2001). Koller and Friedman (2009), chapter 14.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from novum.core.errors import MemoryLimitError
from novum.core.runtime import check_memory
from novum.core.text import listed
from novum.numerics import Floats, Integers

if TYPE_CHECKING:
    from novum.graphical.models.linear_gaussian import ConditionalGaussianNetwork

# States of the switches of one part; a table over them has a covariance for each.
MOST_CONFIGURATIONS = 2**20


@dataclass(frozen=True)
class Part:
    """Families that hang together.

    Attributes
    ----------
    nodes : tuple of int
        Numeric nodes whose families these are, parents first.
    hidden, known : tuples of int
        Where in `nodes` the numbers are not known, and where they are.
    switches : tuple of int
        Discrete nodes that are parents of these families.
    """

    nodes: tuple[int, ...]
    hidden: tuple[int, ...]
    known: tuple[int, ...]
    switches: tuple[int, ...]


class PartMoments(NamedTuple):
    """A part given its known numbers, for n rows of these and q configurations of its switches.

    Attributes
    ----------
    log_likelihood : array of shape (n, q)
        Of the known numbers.
    means : array of shape (n, q, n_hidden)
    covariances : array of shape (q, n_hidden, n_hidden)
    """

    log_likelihood: Floats
    means: Floats
    covariances: Floats


def needed_numbers(network: ConditionalGaussianNetwork, nodes: Iterable[int]) -> set[int]:
    """Numeric nodes and their numeric ancestors: all others are summed over for nothing."""
    needed, waiting = set(), list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting += network.numeric_parents[node]
    return needed


def parts_of(network: ConditionalGaussianNetwork, needed: set[int], known: set[int]) -> list[Part]:
    """The parts of the families of some numeric nodes, given which numbers are known."""
    owner = {node: node for node in needed}

    def root(node: int) -> int:
        while owner[node] != node:
            owner[node] = owner[owner[node]]
            node = owner[node]
        return node

    for node in needed:
        hidden = [p for p in network.numeric_parents[node] if p not in known]
        # A known node belongs to the part of its hidden parents, and to none of its children.
        members = hidden if node in known else [node, *hidden]
        for other in [node, *members]:
            owner[root(other)] = root(members[0] if members else node)
    groups: dict[int, list[int]] = {}
    for node in network.graph.order:
        if node in needed:
            groups.setdefault(root(node), []).append(node)
    return [
        Part(
            tuple(nodes),
            tuple(i for i, node in enumerate(nodes) if node not in known),
            tuple(i for i, node in enumerate(nodes) if node in known),
            tuple(sorted({s for node in nodes for s in network.discrete_parents[node]})),
        )
        for nodes in groups.values()
    ]


def configurations(
    network: ConditionalGaussianNetwork, switches: Sequence[int], n_hidden: int, what: str
) -> Integers:
    """All states of some discrete nodes, of shape (q, n_switches); refuses too many."""
    cards = [network.card(switch) for switch in switches]
    q = math.prod(cards)
    names = listed([network.names[switch] for switch in switches])
    remedy = f"Say the state of some of {names}, or ask with fewer numbers known."
    if q > MOST_CONFIGURATIONS:
        raise MemoryLimitError(
            f"{what} is a mixture over the {q:,} states of {names} together; the limit is "
            f"{MOST_CONFIGURATIONS:,}. {remedy}"
        )
    check_memory(16 * q * (n_hidden + 1) ** 2, f"{what} over {q:,} states of {names}", remedy)
    if not cards:
        return np.zeros((1, 0), np.int64)
    return np.stack(np.unravel_index(np.arange(q), cards), axis=1)


@np.errstate(over="ignore", invalid="ignore")
def part_moments(
    network: ConditionalGaussianNetwork, part: Part, states: Integers, numbers: Floats
) -> PartMoments:
    """The moments of a part.

    Parameters
    ----------
    states : int array of shape (q, n_nodes)
        Numbers of states of the discrete nodes; only the part's switches are looked at.
    numbers : array of shape (n, n_nodes)
        Known numbers; only known members and known parents are looked at.
    """
    n, q, m = len(numbers), len(states), len(part.nodes)
    places = {part.nodes[place]: place for place in part.hidden}
    means, sigma = np.empty((n, q, m)), np.zeros((q, m, m))
    for place, node in enumerate(part.nodes):
        intercepts, coefficients, variances = network.tables[node]
        row = network.configuration(node, states)
        mean = np.broadcast_to(intercepts[row], (n, q)).copy()
        loadings = np.zeros((q, m))
        for number, parent in enumerate(network.numeric_parents[node]):
            weight = coefficients[row, number]
            if parent in places:
                loadings[:, places[parent]] = weight
                mean += weight * means[:, :, places[parent]]
            else:
                mean += weight * numbers[:, parent, None]
        means[:, :, place] = mean
        cross = np.einsum("qa,qab->qb", loadings, sigma)
        sigma[:, place, :place] = sigma[:, :place, place] = cross[:, :place]
        sigma[:, place, place] = variances[row] + np.einsum("qa,qa->q", cross, loadings)
    hidden, known = list(part.hidden), list(part.known)
    if not known:
        return PartMoments(np.zeros((n, q)), means, sigma)
    factor = np.linalg.cholesky(sigma[:, known][:, :, known])
    rest = numbers[:, None, [part.nodes[k] for k in known]] - means[:, :, known]
    # (q, k, n): what is known, in units in which it is independent.
    scaled = np.linalg.solve(factor, rest.transpose(1, 2, 0))
    size = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    log_likelihood = -0.5 * (scaled**2).sum(axis=1) - size[:, None]
    log_likelihood -= len(known) * math.log(2 * math.pi) / 2
    # So far out that differences overflow: no law has a density there that is a double.
    log_likelihood[np.isnan(log_likelihood)] = -np.inf
    gain = np.linalg.solve(factor, sigma[:, known][:, :, hidden])
    shift = np.einsum("qkh,qkn->nqh", gain, scaled)
    covariances = sigma[:, hidden][:, :, hidden] - np.einsum("qka,qkb->qab", gain, gain)
    return PartMoments(log_likelihood.T, means[:, :, hidden] + shift, covariances)
