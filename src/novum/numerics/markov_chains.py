"""Classes of a Markov chain and the shares of time that it spends in its states.

    classes      states that lead to each other; a class is closed where no step leaves it
    stationary   p = p P with sum 1: one for each closed class

The stationary distribution of a class comes from eliminating its states one by one without any
subtraction (Grassmann, Taksar and Heyman 1985), so that even tiny entries are right to nearly all
digits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from novum.numerics.types import Floats


def communicating_classes(transition: Floats) -> list[list[int]]:
    """States that lead to each other, each class and all classes in the order of first states.

    Examples
    --------
    >>> communicating_classes(np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0.1, 0, 0.9]]))
    [[0, 1], [2]]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, labels = connected_components(csr_array(transition > 0), connection="strong")
    members: dict[int, list[int]] = {}
    for state, label in enumerate(labels.tolist()):
        members.setdefault(label, []).append(state)
    assert len(members) == n
    return sorted(members.values())


def is_closed(transition: Floats, states: Sequence[int]) -> bool:
    """Whether no step leaves a set of states."""
    outside = np.ones(len(transition), np.bool_)
    outside[list(states)] = False
    return not bool((transition[list(states)][:, outside] > 0).any())


def stationary_of(transition: Floats, states: Sequence[int]) -> Floats:
    """The stationary distribution of a closed class, over all states of the chain.

    Examples
    --------
    >>> stationary_of(np.array([[0.9, 0.1], [0.5, 0.5]]), [0, 1]).round(4).tolist()
    [0.8333, 0.1667]
    """
    chosen = np.array(states, np.int64)
    rates = transition[np.ix_(chosen, chosen)]
    n = len(rates)
    for k in range(n - 1, 0, -1):
        out = rates[k, :k].sum()
        rates[:k, k] /= out
        rates[:k, :k] += np.outer(rates[:k, k], rates[k, :k])
    # With powers of two of their own: beyond states of tiny shares may lie some of large ones.
    shares, powers = np.ones(n), np.zeros(n, np.int64)
    for k in range(1, n):
        top = powers[:k][rates[:k, k] > 0].max()
        near = np.ldexp(shares[:k], np.minimum(powers[:k] - top, 0))
        shares[k], power = np.frexp(near @ rates[:k, k])
        powers[k] = power + top
    shares = np.ldexp(shares, powers - powers.max())
    whole = np.zeros(len(transition))
    whole[list(states)] = shares / shares.sum()
    return whole
