"""Stepwise-optimal merging: at each step the merge that is best for a criterion of the partition.

    J(partition) = sum over clusters of J(rows of the cluster),
    merge a and b that minimize   J(a and b) - J(a) - J(b)

With the sum of squared errors as J this is Ward's method. Any other cost of a set of rows will do;
it is computed once for every pair of clusters that ever stand side by side, O(n^2) in all.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from novum.clustering.comparing import distance_matrix
from novum.clustering.merging import METHODS, OF_MEANS
from novum.core.errors import InputError
from novum.core.runtime import check_cancelled
from novum.distances import DistanceRows
from novum.numerics import Floats


@dataclass(frozen=True)
class StepwiseOptimal:
    """Merging by any cost of a set of rows.

    Parameters
    ----------
    cost : {"squared_error", "absolute_error", "diameter"} or callable
        Of the rows of a cluster, an array (m, p): squared distances to the mean, absolute ones to
        the median, the largest distance of two rows; or any function to a number.

    Examples
    --------
    >>> StepwiseOptimal("squared_error")(np.array([[0.0], [2.0]]))
    2.0
    """

    cost: str | Callable[[Floats], float] = "squared_error"

    def __post_init__(self) -> None:
        if not callable(self.cost) and self.cost not in _COSTS:
            raise InputError(
                f"The cost of a cluster is one of {', '.join(_COSTS)}, or a function of its rows; "
                f"got {self.cost!r}."
            )

    def __call__(self, rows: Floats) -> float:
        return float(_COSTS[self.cost](rows) if isinstance(self.cost, str) else self.cost(rows))


def _squared_error(rows: Floats) -> float:
    return float(((rows - rows.mean(axis=0)) ** 2).sum())


def _absolute_error(rows: Floats) -> float:
    return float(np.abs(rows - np.median(rows, axis=0)).sum())


def _diameter(rows: Floats) -> float:
    return float(np.sqrt(((rows[:, np.newaxis] - rows) ** 2).sum(axis=2).max()))


_COSTS: dict[str, Callable[[Floats], float]] = {
    "squared_error": _squared_error,
    "absolute_error": _absolute_error,
    "diameter": _diameter,
}


def stepwise_tree(X: Floats, cost: StepwiseOptimal, graph: Any = None) -> Floats:
    """SciPy's matrix, its heights the rises of the criterion; by a graph if one is given."""
    n = len(X)
    members: dict[int, Any] = {i: np.array([i]) for i in range(n)}
    costs = {i: cost(X[[i]]) for i in range(n)}

    def rise(a: int, b: int) -> float:
        return cost(X[np.concatenate([members[a], members[b]])]) - costs[a] - costs[b]

    def merge(a: int, b: int, new: int) -> None:
        members[new] = np.concatenate([members.pop(a), members.pop(b)])
        costs[new] = cost(X[members[new]])

    return _greedy_tree(n, rise, merge, _neighbors(graph, n))


def constrained_tree(rows: DistanceRows, method: str, graph: Any) -> Floats:
    """SciPy's matrix of merges of neighbors in a graph, nearest first by any linkage."""
    from novum.clustering import merging_kernels as kernels

    n = len(rows)
    D = distance_matrix(rows)
    if method in OF_MEANS:
        D **= 2
    slot, sizes = {i: i for i in range(n)}, np.ones(n)
    code = METHODS.index(method) - 1
    # The formula of the kernel takes a row of clusters as well as one.
    formula: Any = getattr(kernels.merged_distance, "py_func", kernels.merged_distance)

    def apart(a: int, b: int) -> float:
        return float(D[slot[a], slot[b]])

    def merge(a: int, b: int, new: int) -> None:
        i, j = slot.pop(a), slot.pop(b)
        if method == "single":
            line = np.minimum(D[i], D[j])
        elif method == "complete":
            line = np.maximum(D[i], D[j])
        elif np.isinf(D[i, j]):
            line = np.full(n, np.inf)
        else:
            line = formula(code, D[i], D[j], D[i, j], sizes[i], sizes[j], sizes)
        D[j], D[:, j] = line, line
        sizes[j] += sizes[i]
        slot[new] = j

    Z = _greedy_tree(n, apart, merge, _neighbors(graph, n))
    if method in OF_MEANS:
        Z[:, 2] = np.sqrt(np.maximum(Z[:, 2], 0.0))
    return Z


def connected(connectivity: Any, X: Any, n: int) -> tuple[Any, int]:
    """The graph as a symmetric sparse matrix, and how many components it has."""
    graph = connectivity(X) if callable(connectivity) else connectivity
    graph = sparse.csr_matrix(graph)
    if graph.shape != (n, n):
        raise InputError(
            f"connectivity is of shape {graph.shape}, but {n} rows need {(n, n)}: which rows are "
            "neighbors of which."
        )
    graph = graph + graph.T
    return graph, int(connected_components(graph, directed=False)[0])


def _neighbors(graph: Any, n: int) -> dict[int, set[int]]:
    if graph is None:
        return {i: set(range(n)) - {i} for i in range(n)}
    lists = sparse.csr_matrix(graph)
    ends = lists.indptr
    return {i: set(lists.indices[ends[i] : ends[i + 1]].tolist()) - {i} for i in range(n)}


def _greedy_tree(
    n: int,
    apart: Callable[[int, int], float],
    merge: Callable[[int, int, int], None],
    neighbors: dict[int, set[int]],
) -> Floats:
    """Merges the nearest two neighbors until one cluster is left."""
    Z, sizes = np.empty((n - 1, 4)), dict.fromkeys(range(n), 1)
    pairs = ((apart(a, b), a, b) for a in neighbors for b in neighbors[a] if a < b)
    heap = [pair for pair in pairs if pair[0] < np.inf]
    heapq.heapify(heap)
    is_at_last = False
    for i in range(n - 1):
        check_cancelled()
        while heap and not (heap[0][1] in neighbors and heap[0][2] in neighbors):
            heapq.heappop(heap)
        if not heap and not is_at_last:
            # What the graph does not connect is merged by distance alone.
            is_at_last = True
            left = sorted(neighbors)
            neighbors.update({a: set(left) - {a} for a in left})
            heap = [(apart(a, b), a, b) for a in left for b in left if a < b]
            heapq.heapify(heap)
        height, a, b = heapq.heappop(heap)
        new = n + i
        merge(a, b, new)
        around = (neighbors.pop(a) | neighbors.pop(b)) - {a, b}
        neighbors[new] = around
        for c in around:
            neighbors[c] -= {a, b}
            neighbors[c].add(new)
            length = apart(c, new)
            if is_at_last or length < np.inf:
                heapq.heappush(heap, (length, c, new))
        sizes[new] = sizes.pop(a) + sizes.pop(b)
        Z[i] = a, b, height, sizes[new]
    return Z
