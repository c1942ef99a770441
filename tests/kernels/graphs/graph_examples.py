"""Graphs for the tests: random ones, textbook pairs and molecules.

`mutag_part.json` has its origin in its own first line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from novum.kernels import count_rows
from novum.kernels.graphs import graph_kernel, numbering, refinement
from novum.kernels.graphs.graph import Graph

WITH_SWITCH = (graph_kernel, numbering, refinement)


@st.composite
def labelled_graphs(draw: st.DrawFn, *, directed: bool | None = None, most: int = 7) -> Graph:
    """Small graphs with self loops and parallel edges, labels of nodes and perhaps of edges."""
    n = draw(st.integers(0, most))
    node = st.integers(0, max(n - 1, 0))
    edges = draw(st.lists(st.tuples(node, node), max_size=2 * n)) if n else []
    labels = draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))
    kinds = st.lists(st.sampled_from(["single", 2]), min_size=len(edges), max_size=len(edges))
    edge_labels = draw(st.none() | kinds)
    way = draw(st.booleans()) if directed is None else directed
    return Graph(edges, labels, edge_labels, way)


def samples(least: int = 1, most: int = 5) -> st.SearchStrategy[list[Graph]]:
    return st.lists(labelled_graphs(), min_size=least, max_size=most)


def renamed(graph: Graph, order: Any) -> Graph:
    """The same graph, node v called `order[v]`, edges in another order."""
    names = np.asarray(order, int)
    labels: list[Any] = [None] * graph.n_nodes
    for v, label in enumerate(graph.labels):
        labels[names[v]] = label
    edges = names[graph.edges][::-1] if graph.n_edges else graph.edges
    edge_labels = None if graph.edge_labels is None else graph.edge_labels[::-1]
    return Graph(edges, labels, edge_labels, graph.directed)


def random_pairs(n: int, nodes: int, labels: int, seed: int = 0) -> list[Any]:
    """(edges, labels) of random connected graphs."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        size = int(rng.integers(nodes // 2, nodes + 1))
        edges = [(int(rng.integers(0, i)), i) for i in range(1, size)]
        edges += [tuple(map(int, rng.integers(0, size, 2))) for _ in range(size // 2)]
        made.append((edges, rng.integers(0, labels, size).tolist()))
    return made


def cycle(n: int, first: int = 0) -> list[tuple[int, int]]:
    return [(first + i, first + (i + 1) % n) for i in range(n)]


def path(n: int, first: int = 0) -> list[tuple[int, int]]:
    return [(first + i, first + i + 1) for i in range(n - 1)]


def molecules() -> list[dict[str, Any]]:
    file = Path(__file__).with_name("mutag_part.json")
    graphs: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["graphs"]
    return graphs


def molecule_graphs() -> list[Graph]:
    """Molecules with the bonds as edge labels."""
    return [
        Graph([e[:2] for e in g["edges"]], g["node_labels"], [e[2] for e in g["edges"]])
        for g in molecules()
    ]


def compile_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small inputs go the way of large ones."""
    _compile_from(0, monkeypatch)


def compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large inputs go the way of small ones."""
    _compile_from(2**62, monkeypatch)


def _compile_from(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in WITH_SWITCH:
        monkeypatch.setattr(module, "COMPILED_FROM", size)
    monkeypatch.setattr(count_rows, "COMPILED_FROM_ADDITIONS", size)
