"""The Weisfeiler-Lehman subtree kernel. A peer maps (edges, node labels) pairs to a Gram matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.datasets import graphs
from benchmarks.peers import Peer, load
from benchmarks.protocols import apply
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Quality, workload

ROUNDS = 5
Graph = tuple[list[tuple[int, int]], list[int]]
Gram = Callable[[list[Graph]], np.ndarray]


def ours(_data: Data) -> Gram:
    kernel = load("novum.kernels.graphs.weisfeiler_lehman:WeisfeilerLehman")(iterations=ROUNDS)
    gram: Gram = kernel.gram
    return gram


def grakel(_data: Data) -> Gram:
    from grakel import Graph as GrakelGraph
    from grakel import WeisfeilerLehman

    def gram(sample: list[Graph]) -> np.ndarray:
        made = [
            GrakelGraph(_adjacent(edges, len(labels)), node_labels=dict(enumerate(labels)))
            for edges, labels in sample
        ]
        K: np.ndarray = WeisfeilerLehman(n_iter=ROUNDS, normalize=False).fit_transform(made)
        return K

    return gram


def dictionary(_data: Data) -> Gram:
    """Labels by a Python dict, the counts in one sparse product."""
    import scipy.sparse as sp

    def gram(sample: list[Graph]) -> np.ndarray:
        codes: dict[object, int] = {}
        rows: list[int] = []
        columns: list[int] = []
        near = [_adjacent(edges, len(labels)) for edges, labels in sample]
        state = [[codes.setdefault((0, x), len(codes)) for x in labels] for _, labels in sample]
        for step in range(ROUNDS + 1):
            for i, labels in enumerate(state):
                rows += [i] * len(labels)
                columns += labels
            if step == ROUNDS:
                break
            state = [
                [codes.setdefault((step + 1, *key), len(codes)) for key in _signatures(labels, N)]
                for labels, N in zip(state, near, strict=True)
            ]
        X = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(sample), len(codes)))
        return (X @ X.T).toarray()

    return gram


def _signatures(labels: list[int], near: dict[int, list[int]]) -> list[tuple[int, tuple[int, ...]]]:
    return [(x, tuple(sorted(labels[u] for u in near[v]))) for v, x in enumerate(labels)]


def _adjacent(edges: list[tuple[int, int]], nodes: int) -> dict[int, list[int]]:
    near: dict[int, list[int]] = {v: [] for v in range(nodes)}
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    return near


workload(
    "kernels.graphs.weisfeiler_lehman",
    Recipe(graphs, rows(1_000, quick=100)),
    apply("gram", "graphs", figure="trace", array="gram"),
    [Peer("grakel", grakel), Peer("dict + sparse product", dictionary)],
    novum=Peer("novum", ours, ours=True),
    target=30.0,
    against="grakel",
    quality=Quality("trace", tolerance=1e-9),
    note="1000 graphs of 20-60 labelled nodes, h = 5; graph objects are built inside the time",
)
