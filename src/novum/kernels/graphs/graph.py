"""A labelled graph as an immutable value.

    nodes 0, 1, ..., n - 1, each with a label;    edges (u, v), each with a label or none at all

Labels are whatever Python can hash and compare (numbers, text, tuples); two labels are the same
if Python says so, hence 1 and 1.0 are. Without labels all nodes are alike. Edges are undirected
unless the graph is `directed`.

    self loop        makes a node its own neighbor, once
    parallel edges   count as often as they are given: (0, 1) and (1, 0) are two undirected edges
    isolated nodes   are nodes like others; a graph may have no edges, and no nodes at all
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.numerics import Array, Integers

Label = Hashable

# The label of all nodes of a graph that has none.
UNLABELLED = 0


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes with labels and edges, perhaps with labels too.

    Graphs that exist elsewhere are read by `graph_forms.from_networkx`, `from_adjacency` and
    `from_neighbors`; kernels read all of them, and pairs `(edges, labels)`, by themselves.

    Parameters
    ----------
    edges : array-like of shape (m, 2)
        The two nodes of each edge; from the first to the second where the graph is directed.
    labels : iterable, optional
        One label for each node, which says how many nodes there are. Without it there are as many
        nodes as the edges mention, all alike.
    edge_labels : iterable, optional
        One label for each edge.
    directed : bool

    Examples
    --------
    >>> water = Graph([(0, 1), (0, 2)], ["O", "H", "H"])
    >>> water
    Graph(3 nodes, 2 edges)
    >>> water.labels
    ('O', 'H', 'H')
    """

    edges: Integers
    labels: tuple[Label, ...]
    edge_labels: tuple[Label, ...] | None
    directed: bool

    def __init__(
        self,
        edges: Any,
        labels: Iterable[Label] | None = None,
        edge_labels: Iterable[Label] | None = None,
        directed: bool = False,
    ) -> None:
        pairs = _checked_edges(edges)
        if labels is None:
            n_nodes = int(pairs.max()) + 1 if pairs.size else 0
            named: tuple[Label, ...] = (UNLABELLED,) * n_nodes
        else:
            named = _checked_labels(labels, "node")
        _check_ends(pairs, len(named))
        on_edges = None if edge_labels is None else _checked_labels(edge_labels, "edge")
        if on_edges is not None and len(on_edges) != len(pairs):
            raise InputError(
                f"There are {len(on_edges)} edge labels for {len(pairs)} edges; give one for each."
            )
        if not isinstance(directed, (bool, np.bool_)):
            raise InputError(f"directed is True or False, got {label_text(directed)}.")
        for name, value in (
            ("edges", pairs),
            ("labels", named),
            ("edge_labels", on_edges),
            ("directed", bool(directed)),
        ):
            object.__setattr__(self, name, value)

    @property
    def n_nodes(self) -> int:
        return len(self.labels)

    @property
    def n_edges(self) -> int:
        return len(self.edges)

    def __eq__(self, other: object) -> bool:
        """Whether nodes, edges and labels are the same in the same order; no isomorphism."""
        if not isinstance(other, Graph):
            return NotImplemented
        mine = (self.directed, self.labels, self.edge_labels)
        theirs = (other.directed, other.labels, other.edge_labels)
        return mine == theirs and np.array_equal(self.edges, other.edges)

    def __hash__(self) -> int:
        return hash((self.directed, self.labels, self.edge_labels, self.edges.tobytes()))

    def __repr__(self) -> str:
        kind = "directed edge" if self.directed else "edge"
        return f"Graph({_counted(self.n_nodes, 'node')}, {_counted(self.n_edges, kind)})"


# --- Checks ---------------------------------------------------------------------------------------


def _checked_edges(edges: Any) -> Integers:
    """The edges as a read-only array of whole numbers, of shape (m, 2)."""
    try:
        given = np.asarray(edges if hasattr(edges, "__len__") else list(edges))
    except (TypeError, ValueError):
        raise InputError(
            f"The edges are not pairs of nodes{_odd_edge(edges)}. Give a list such as "
            "[(0, 1), (1, 2)]."
        ) from None
    if given.size == 0:
        given = np.empty((0, 2), np.int64)
    if given.ndim != 2 or given.shape[1] != 2:
        raise InputError(
            f"The edges are not pairs of nodes{_odd_edge(edges)}: their array has shape "
            f"{given.shape}. Give a list such as [(0, 1), (1, 2)]."
        )
    if given.dtype.kind not in "iub":
        raise InputError(
            f"Nodes are numbered 0, 1, 2, ..., but the edges have the node "
            f"{label_text(_odd_node(given))}. Number the nodes, or give a dict of neighbors or a "
            "networkx graph, whose nodes may have names."
        )
    pairs = given.astype(np.int64)
    pairs.flags.writeable = False
    return pairs


def _odd_edge(edges: Any) -> str:
    """Where the first edge stands that is no pair, if that can be said."""
    for position, edge in enumerate(edges if hasattr(edges, "__iter__") else ()):
        if not hasattr(edge, "__len__") or isinstance(edge, str) or len(edge) != 2:
            return f"; edge {position} is {label_text(edge)}"
    return ""


def _odd_node(given: Array) -> object:
    for node in given.ravel().tolist():
        if not isinstance(node, int):
            return node
    return given.ravel()[0]


def _check_ends(pairs: Integers, n_nodes: int) -> None:
    outside = ((pairs < 0) | (pairs >= n_nodes)).any(axis=1)
    if outside.any():
        first = int(outside.argmax())
        raise _no_such_node(first, tuple(pairs[first].tolist()), n_nodes)


def _no_such_node(position: int, edge: tuple[int, int], n_nodes: int) -> InputError:
    """The error of an edge with an end outside the graph."""
    there = f"nodes 0 to {n_nodes - 1}" if n_nodes else "no nodes"
    return InputError(
        f"Edge {position} is {edge}, but the graph has {there}. Number the nodes from 0 "
        "and give a label for each of them, also for nodes without edges."
    )


def _checked_labels(labels: Iterable[Label], what: str) -> tuple[Label, ...]:
    # Plain Python values: a NumPy number is another object for every reader of a model file.
    values = labels.tolist() if isinstance(labels, np.ndarray) else labels
    if not hasattr(values, "__iter__") or isinstance(values, dict):
        raise InputError(
            f"The {what} labels are {label_text(labels)}; give a sequence, one for each {what}."
        )
    named = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
    for position, label in enumerate(named):
        reason = _why_no_label(label)
        if reason:
            raise InputError(f"The label of {what} {position} {reason}")
    return named


def _why_no_label(label: Any) -> str | None:
    """What is wrong with a label, or None."""
    try:
        hash(label)
    except TypeError:
        return (
            f"is {label_text(label)}, which cannot be a label because it can change. Use a number, "
            "a text or a tuple."
        )
    # NaN is not equal to itself, so that no two nodes of that label would be alike.
    if label is None or label != label:
        return (
            f"is missing ({label_text(label)}). Give such nodes or edges a label of their own, "
            "such as 'unknown'."
        )
    return None


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
