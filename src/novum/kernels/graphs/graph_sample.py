"""Many graphs as flat arrays, their labels as codes.

    nodes of graph g       node_starts[g] ... node_starts[g + 1] - 1, over all graphs
    edges of graph g       edge_starts[g] ... edge_starts[g + 1] - 1, with ends among those nodes

A label's code is its place in the order of first occurrence; labels that an earlier sample knows
keep their codes, new ones follow. Pairs (edges, labels) of plain lists, the usual case, are read
all at once; if anything else is among the graphs, or something is wrong, each becomes a `Graph`
first, which finds the mistake.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.kernels.graphs.graph import Graph
from novum.kernels.graphs.graph_forms import as_graph
from novum.numerics import Array, Codes, Integers, Mask

NodeCodes = Mapping[Hashable, int]
# An edge is known by whether it has a direction, and by its label; None is no label.
EdgeCodes = Mapping[tuple[bool, Hashable], int]

PLAIN_EDGE = (False, None)


@dataclass(frozen=True, eq=False)
class GraphSample:
    """Graphs side by side.

    Attributes
    ----------
    node_starts, edge_starts : int64 arrays (n_graphs + 1,)
    nodes : int32 array (n_nodes,), codes of the labels
    first, second : int32 arrays (n_edges,), the ends of each edge
    edges : int32 array (n_edges,), codes of the kinds and labels of the edges
    directed : bool array (n_edges,)
    node_codes, edge_codes : mappings from label to code; code 0 of edges is `PLAIN_EDGE`
    """

    node_starts: Integers
    edge_starts: Integers
    nodes: Codes
    first: Codes
    second: Codes
    edges: Codes
    directed: Mask
    node_codes: NodeCodes
    edge_codes: EdgeCodes

    def __len__(self) -> int:
        return len(self.node_starts) - 1

    @property
    def size(self) -> int:
        """Nodes and edges in all; what decides between plain and compiled code."""
        return len(self.nodes) + len(self.edges)


def read_sample(
    graphs: Any, node_codes: NodeCodes | None = None, edge_codes: EdgeCodes | None = None
) -> GraphSample:
    """The graphs as one sample; known labels keep their codes.

    Parameters
    ----------
    graphs : sequence
        Graphs in any of the forms of `novum.kernels.graphs.graph_forms`.
    node_codes, edge_codes : mappings, optional
        Of the sample that these graphs are to be compared with.

    Raises
    ------
    InputError
        If an object is no graph; the message has its position.

    Examples
    --------
    >>> sample = read_sample([([(0, 1)], "CO"), ([], "O")])
    >>> sample.nodes.tolist(), sample.node_starts.tolist()
    ([0, 1, 1], [0, 2, 3])
    """
    objects = _listed(graphs)
    known, kinds = _Codes(node_codes or {}), _Codes(edge_codes or {PLAIN_EDGE: 0})
    quick = _plain_pairs(objects, known)
    if quick is not None:
        nodes, node_counts, ends, edge_counts = quick
        edges = np.zeros(ends.shape[1], np.int32)
        directed = np.zeros(ends.shape[1], bool)
    else:
        # Nothing of a failed attempt may stay among the codes.
        known = _Codes(node_codes or {})
        read = [_numbered_graph(i, graph) for i, graph in enumerate(objects)]
        node_counts = [graph.n_nodes for graph in read]
        edge_counts = [graph.n_edges for graph in read]
        nodes = _coded(chain.from_iterable(graph.labels for graph in read), known)
        ends = np.concatenate([np.empty((0, 2), np.int64), *(graph.edges for graph in read)])
        ends = ends.T.astype(np.int32)
        edges = _coded(chain.from_iterable(map(_edge_kinds, read)), kinds)
        directed = np.repeat([graph.directed for graph in read], edge_counts).astype(bool)
    node_starts, edge_starts = _starts(node_counts), _starts(edge_counts)
    _check_room(node_starts, edge_starts)
    first, second = ends + np.repeat(node_starts[:-1].astype(np.int32), edge_counts)
    return GraphSample(
        node_starts, edge_starts, nodes, first, second, edges, directed, dict(known), dict(kinds)
    )


# --- Objects --------------------------------------------------------------------------------------


def _listed(graphs: Any) -> Sequence[Any]:
    if isinstance(graphs, (str, bytes, Mapping, Graph)) or hasattr(graphs, "is_directed"):
        raise InputError(
            f"A sequence of graphs is needed, got {label_text(graphs)}. Put a single graph into a "
            "list."
        )
    if not hasattr(graphs, "__iter__"):
        raise InputError(f"A sequence of graphs is needed, got {label_text(graphs)}.")
    if isinstance(graphs, np.ndarray) and graphs.dtype != object:
        raise InputError(
            f"A sequence of graphs is needed, got an array of {graphs.dtype} of shape "
            f"{graphs.shape}. Give a list of (edges, node labels)."
        )
    return graphs if isinstance(graphs, list) else list(graphs)


def _numbered_graph(position: int, graph: Any) -> Graph:
    try:
        return as_graph(graph)
    except InputError as error:
        raise InputError(f"Graph {position}: {error}") from None


def _edge_kinds(graph: Graph) -> Iterable[tuple[bool, Hashable]]:
    labels: Iterable[Hashable] = graph.edge_labels or (None,) * graph.n_edges
    return ((graph.directed, label) for label in labels)


# --- The quick way --------------------------------------------------------------------------------


def _plain_pairs(
    objects: Sequence[Any], codes: _Codes
) -> tuple[Codes, list[int], Codes, list[int]] | None:
    """Labels and edges of pairs of lists, or None where there is anything else in them."""
    for graph in objects:
        if type(graph) is not tuple or len(graph) != 2:
            return None
        if type(graph[0]) is not list or not isinstance(graph[1], (list, tuple, str)):
            return None
    label_lists = [graph[1] for graph in objects]
    node_counts = list(map(len, label_lists))
    edge_counts = [len(graph[0]) for graph in objects]
    try:
        ends = _ends((graph[0] for graph in objects), max(node_counts, default=0))
        nodes = _coded(chain.from_iterable(label_lists), codes)
    except (TypeError, ValueError, OverflowError):
        return None
    if any(label is None or label != label for label in codes):
        return None
    limits = np.repeat(np.asarray(node_counts, np.int64), edge_counts)
    if (ends >= limits).any() or ends.min(initial=0) < 0:
        return None
    return nodes, node_counts, ends.astype(np.int32), edge_counts


def _ends(edge_lists: Iterable[list[Any]], most_nodes: int) -> Array:
    """First and second ends of all edges, of shape (2, m); raises unless all are whole numbers."""
    edges = list(chain.from_iterable(edge_lists))
    # Unpacking refuses what is no pair. Both containers take whole numbers only, and refuse what
    # does not fit; bytes are quicker to make.
    if most_nodes <= 256:
        small = bytes([first for first, _ in edges]) + bytes([second for _, second in edges])
        return np.frombuffer(small, np.uint8).reshape(2, -1)
    large = array("q", [first for first, _ in edges]) + array("q", [second for _, second in edges])
    return np.frombuffer(large, np.int64).reshape(2, -1)


class _Codes(dict[Any, int]):
    """Labels and their codes; a new label gets the next code when it is first asked for."""

    def __missing__(self, label: Any) -> int:
        code = self[label] = len(self)
        return code


def _coded(labels: Iterable[Any], codes: _Codes) -> Codes:
    given = list(labels)
    return np.fromiter(map(codes.__getitem__, given), np.int32, len(given))


def _starts(counts: Sequence[int]) -> Integers:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def _check_room(node_starts: Integers, edge_starts: Integers) -> None:
    largest = max(int(node_starts[-1]), 2 * int(edge_starts[-1]))
    if largest >= 2**31:
        raise InputError(
            f"The graphs have {largest} nodes or ends of edges in all; {2**31 - 1} can be compared "
            "at once. Compare them in parts."
        )
