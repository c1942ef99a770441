"""Reading graphs in the forms in which they are found.

    Graph                              itself
    edges                              a list of pairs (u, v), or of triples (u, v, edge label)
    {node: neighbors}                  a dict; neighbors a list, or a dict with the edge labels
    SciPy sparse matrix                adjacency, 1 for an edge
    networkx graph                     labels are the attribute "label" of nodes and of edges
    (one of the above, node labels)    or (one of the above, node labels, edge labels)

A tuple is a graph with its labels, a list is a list of edges. An undirected graph has both entries
of each edge in a dict or matrix, and an edge once in a list; directed graphs are made by the
functions here, or by `Graph` itself, because the form alone does not tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.kernels.graphs.graph import Graph

Label = Hashable


def as_graph(graph: Any) -> Graph:
    """The graph that an object stands for, in any of the forms above.

    Examples
    --------
    >>> as_graph(([(0, 1)], "CO")).labels
    ('C', 'O')
    >>> as_graph({"a": ["b"], "b": ["a"]})
    Graph(2 nodes, 1 edge)
    """
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, tuple):
        return _with_labels(graph)
    if isinstance(graph, Mapping):
        return from_neighbors(graph)
    if hasattr(graph, "tocoo"):
        return from_adjacency(graph)
    if hasattr(graph, "nodes") and hasattr(graph, "is_directed"):
        return from_networkx(graph)
    if isinstance(graph, (list, np.ndarray)):
        return _from_edges(graph, None)
    raise InputError(
        f"{label_text(graph)} is no graph. Give (edges, node labels), a dict of neighbors, a "
        "networkx graph, a SciPy adjacency matrix or a Graph."
    )


def from_networkx(graph: Any, label: str = "label", edge_label: str = "label") -> Graph:
    """A graph of the networkx library, directed or not, with parallel edges or not.

    Parameters
    ----------
    graph : networkx.Graph
    label, edge_label : str
        Names of the attributes that hold the labels. An attribute that no node has means that all
        nodes are alike; one that only some have is refused.
    """
    nodes = list(graph.nodes(data=True))
    place = {node: i for i, (node, _) in enumerate(nodes)}
    edges = list(graph.edges(data=True))
    labels = _attribute([(f"Node {label_text(v)}", data) for v, data in nodes], label)
    on_edges = _attribute([(f"Edge {label_text((u, v))}", d) for u, v, d in edges], edge_label)
    pairs = [(place[u], place[v]) for u, v, _ in edges]
    alike = [0] * len(nodes) if labels is None else labels
    return Graph(pairs, alike, on_edges, graph.is_directed())


def from_adjacency(
    matrix: Any,
    labels: Iterable[Label] | None = None,
    *,
    entries: str = "edges",
    directed: bool = False,
) -> Graph:
    """The graph of an adjacency matrix, sparse or dense.

    Parameters
    ----------
    matrix : SciPy sparse matrix or array of shape (n, n)
        Entry (u, v) belongs to the edge from u to v; zero is no edge.
    labels : iterable of length n, optional
    entries : {"edges", "labels"}
        Whether entries are 1 for an edge, or the labels of the edges.
    directed : bool
        An undirected graph needs a symmetric matrix.

    Examples
    --------
    >>> from_adjacency([[0, 1], [1, 0]], ["a", "b"])
    Graph(2 nodes, 1 edge)
    """
    from scipy import sparse

    if entries not in ("edges", "labels"):
        raise InputError(f"entries is 'edges' or 'labels', got {label_text(entries)}.")
    A = sparse.coo_array(matrix)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise InputError(f"An adjacency matrix is square, this one has shape {A.shape}.")
    A.sum_duplicates()
    A.eliminate_zeros()
    if entries == "edges" and (A.data != 1).any():
        odd = int((A.data != 1).argmax())
        raise InputError(
            f"Entry ({A.row[odd]}, {A.col[odd]}) of the adjacency matrix is "
            f"{label_text(A.data[odd])}, where 1 means an edge. Use "
            "from_adjacency(..., entries='labels') if entries are the labels of the edges."
        )
    if not directed:
        _check_symmetric(A)
    # One of the two entries of an undirected edge; a self loop has only one.
    kept = slice(None) if directed else A.row <= A.col
    pairs = np.column_stack([A.row[kept], A.col[kept]])
    named = [0] * A.shape[0] if labels is None else labels
    graph = Graph(pairs, named, A.data[kept] if entries == "labels" else None, directed)
    _check_count(graph, A.shape[0])
    return graph


def from_neighbors(
    neighbors: Mapping[Any, Any],
    labels: Mapping[Any, Label] | Iterable[Label] | None = None,
    *,
    directed: bool = False,
) -> Graph:
    """The graph of a dict from each node to its neighbors.

    Parameters
    ----------
    neighbors : dict
        Node to an iterable of its neighbors, or to a dict of neighbor to edge label. In an
        undirected graph each of two neighbors names the other.
    labels : dict from node to label, or iterable in the order of the nodes, optional
    directed : bool

    Examples
    --------
    >>> from_neighbors({"x": {"y": "single"}, "y": {"x": "single"}}).edge_labels
    ('single',)
    """
    place = {node: i for i, node in enumerate(neighbors)}
    arcs: list[tuple[int, int, Any]] = []
    labelled = [isinstance(near, Mapping) for near in neighbors.values()]
    for node, near in neighbors.items():
        for other in near:
            if other not in place:
                raise InputError(
                    f"{label_text(other)} is a neighbor of {label_text(node)}, but is no key of "
                    "the dict. Add it as a node with its own neighbors."
                )
            arcs.append((place[node], place[other], near[other] if labelled[place[node]] else None))
    if any(labelled) and not all(labelled):
        raise InputError(
            "Some nodes have a dict of neighbors with edge labels, others only a list. Label all "
            "edges or none."
        )
    kept = arcs if directed else _one_way(arcs, list(neighbors))
    edge_labels = [label for _, _, label in kept] if any(labelled) else None
    pairs = [(u, v) for u, v, _ in kept]
    return Graph(pairs, _in_order(labels, list(neighbors)), edge_labels, directed)


# --- Parts ----------------------------------------------------------------------------------------


def _with_labels(graph: tuple[Any, ...]) -> Graph:
    if len(graph) not in (2, 3):
        raise InputError(
            f"A tuple of {len(graph)} items is no graph. Give (edges, node labels) or (edges, node "
            "labels, edge labels)."
        )
    structure, labels, edge_labels = (*graph, None)[:3]
    if isinstance(structure, (list, np.ndarray)) or not _is_form(structure):
        made = _from_edges(structure, labels if not isinstance(labels, Mapping) else None)
        if isinstance(labels, Mapping):
            ordered = _in_order(labels, list(range(len(labels))))
            made = Graph(made.edges, ordered, made.edge_labels)
    elif isinstance(structure, Mapping):
        made = from_neighbors(structure, labels)
    else:
        bare = as_graph(structure)
        named = bare.labels if labels is None else labels
        made = Graph(bare.edges, named, bare.edge_labels, bare.directed)
        _check_count(made, bare.n_nodes)
    if edge_labels is None:
        return made
    if made.edge_labels is not None:
        raise InputError("The edges have labels already, and there are further edge labels.")
    if isinstance(structure, Mapping):
        raise InputError(
            "The edges of a dict have no order in which labels could follow. Give a dict "
            "{node: {neighbor: edge label}}."
        )
    return replace(made, edge_labels=edge_labels)


def _is_form(structure: Any) -> bool:
    known = isinstance(structure, (Graph, Mapping)) or hasattr(structure, "tocoo")
    return known or hasattr(structure, "is_directed")


def _from_edges(edges: Any, labels: Iterable[Label] | None) -> Graph:
    """Pairs, or triples whose third item is the label of the edge."""
    given = edges if isinstance(edges, np.ndarray) else list(edges)
    triples = [hasattr(e, "__len__") and len(e) == 3 and not isinstance(e, str) for e in given]
    if not triples or not all(triples):
        return Graph(given, labels)
    return Graph([(e[0], e[1]) for e in given], labels, [e[2] for e in given])


def _attribute(items: list[tuple[str, Mapping[str, Any]]], name: str) -> list[Label] | None:
    """Labels of nodes or edges, or None where nobody has the attribute."""
    have = [name in data for _, data in items]
    if not any(have):
        return None
    if not all(have):
        raise InputError(
            f"{items[have.index(False)][0]} has no attribute {label_text(name)}, others have. Give "
            "it to all or to none."
        )
    return [data[name] for _, data in items]


def _check_symmetric(A: Any) -> None:
    M = A.tocsr()
    odd = (M != M.T).tocoo()
    if odd.nnz:
        u, v = int(odd.row[0]), int(odd.col[0])
        raise InputError(
            f"The adjacency matrix is not symmetric: entry ({u}, {v}) is {label_text(M[u, v])}, "
            f"entry ({v}, {u}) is {label_text(M[v, u])}. Use "
            "from_adjacency(..., directed=True) if edges have a direction."
        )


def _one_way(arcs: list[tuple[int, int, Any]], nodes: list[Any]) -> list[tuple[int, int, Any]]:
    """Each undirected edge once, from the two mentions it must have."""
    mentions = Counter(arcs)
    for (u, v, label), times in mentions.items():
        if mentions[(v, u, label)] != times:
            of = "" if label is None else f" by an edge {label_text(label)}"
            raise InputError(
                f"{label_text(nodes[v])} is a neighbor of {label_text(nodes[u])}{of}, but not the "
                "other way round. Use from_neighbors(..., directed=True) if edges have a direction."
            )
    return [(u, v, label) for u, v, label in arcs if u <= v]


def _in_order(labels: Any, nodes: list[Any]) -> list[Label]:
    if labels is None:
        return [0] * len(nodes)
    if isinstance(labels, Mapping):
        for node in nodes:
            if node not in labels:
                raise InputError(f"Node {label_text(node)} has no label; give one for each node.")
        strange = labels.keys() - set(nodes)
        if strange:
            raise InputError(
                f"There is a label of {label_text(min(strange, key=str))}, which is no node of the "
                "graph. Add the node, or leave the label out."
            )
        return [labels[node] for node in nodes]
    named = list(labels)
    if len(named) != len(nodes):
        raise InputError(
            f"There are {len(named)} node labels for {len(nodes)} nodes; give one for each."
        )
    return named


def _check_count(graph: Graph, n_nodes: int) -> None:
    if graph.n_nodes != n_nodes:
        raise InputError(
            f"There are {graph.n_nodes} node labels for {n_nodes} nodes; give one for each."
        )
