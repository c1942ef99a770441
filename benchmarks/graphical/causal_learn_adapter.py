"""causal-learn behind the method that the structure protocol calls (see `pyagrum_adapter`)."""

from __future__ import annotations

import numpy as np

from benchmarks.graphical.pyagrum_adapter import Edges
from benchmarks.recipes import Data


class CausalLearn:
    """causal-learn by PC or by GES."""

    def __init__(self, search: str = "PC") -> None:
        self.search = search

    def structure(self, data: Data) -> tuple[Edges, Edges]:
        matrix = self._matrix(data)
        directed: Edges = []
        undirected: Edges = []
        for i, a in enumerate(data.nodes):
            for j, b in enumerate(data.nodes):
                # causal-learn's code: -1 is a tail, 1 an arrow head at the row's node.
                if matrix[i, j] == -1 and matrix[j, i] == 1:
                    directed.append((a, b))
                elif i < j and matrix[i, j] == -1 and matrix[j, i] == -1:
                    undirected.append((a, b))
        return directed, undirected

    def _matrix(self, data: Data) -> np.ndarray:
        X = np.column_stack([data.frame[v].cat.codes for v in data.nodes])
        if self.search == "PC":
            from causallearn.search.ConstraintBased.PC import pc

            graph = pc(
                X, alpha=0.01, indep_test="gsq", show_progress=False, node_names=data.nodes
            ).G
        else:
            from causallearn.search.ScoreBased.GES import ges

            graph = ges(X, score_func="local_score_BDeu", node_names=data.nodes)["G"]
        matrix: np.ndarray = graph.graph
        return matrix
