"""pgmpy behind the methods that the protocols call (see `pyagrum_adapter`)."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from benchmarks.graphical.pyagrum_adapter import Edges, Marginals
from benchmarks.peers import load
from benchmarks.recipes import Data


class Pgmpy:
    """pgmpy with one of its exact engines and one way to search for structure."""

    def __init__(
        self,
        engine: str = "VariableElimination",
        score: str = "bic-d",
        search: str = "HillClimbSearch",
    ) -> None:
        load("pgmpy:__name__")
        logging.disable(logging.WARNING)
        self.engine = engine
        self.score = score
        self.search = search

    def load(self, path: str) -> Any:
        from pgmpy.readwrite import BIFReader

        return BIFReader(path).get_model()

    # Inference

    def marginals(self, bn: Any, cases: list[dict[str, str]]) -> list[Marginals]:
        engine = load("pgmpy.inference:" + self.engine)(bn)
        if self.engine == "BeliefPropagation":
            engine.calibrate()
        return [
            {v: self._marginal(bn, engine, v, evidence) for v in sorted(bn.nodes())}
            for evidence in cases
        ]

    def _marginal(self, bn: Any, engine: Any, v: str, evidence: dict[str, str]) -> np.ndarray:
        if v in evidence:
            names = bn.get_cpds(v).state_names[v]
            return np.array([float(label == evidence[v]) for label in names])
        values: np.ndarray = engine.query([v], evidence=evidence, show_progress=False).values
        return values

    def explanations(self, bn: Any, cases: list[dict[str, str]]) -> list[dict[str, str]]:
        engine = load("pgmpy.inference:VariableElimination")(bn)
        return [
            engine.map_query(
                [v for v in bn.nodes() if v not in evidence], evidence=evidence, show_progress=False
            )
            | evidence
            for evidence in cases
        ]

    def sample(self, bn: Any, n: int) -> Any:
        from pgmpy.sampling import BayesianModelSampling

        sampler = BayesianModelSampling(bn)
        return sampler.forward_sample(size=n, seed=1, show_progress=False, n_jobs=1)

    def to_frame(self, frame: Any) -> Any:
        return frame

    def gibbs(self, bn: Any, _evidence: dict[str, str], sweeps: int) -> Marginals:
        """Its sampler takes no evidence: the figures show speed alone."""
        from pgmpy.sampling import GibbsSampling

        frame = GibbsSampling(bn).sample(size=sweeps, seed=1)
        return {
            v: np.bincount(frame[v], minlength=bn.get_cardinality(v)) / len(frame)
            for v in bn.nodes()
        }

    # Learning

    def parameters(self, data: Data) -> Any:
        from pgmpy.estimators import BayesianEstimator
        from pgmpy.models import DiscreteBayesianNetwork

        model = DiscreteBayesianNetwork(data.edges)
        model.add_nodes_from(data.nodes)
        estimator = BayesianEstimator(model, data.frame, state_names=data.labels)
        tables = estimator.get_parameters(prior_type="dirichlet", pseudo_counts=1, n_jobs=1)
        model.add_cpds(*tables)
        return model

    def tables(self, bn: Any) -> dict[str, tuple[list[str], np.ndarray]]:
        return {
            table.variable: (list(table.variables[1:]), np.moveaxis(table.values, 0, -1))
            for table in bn.get_cpds()
        }

    def structure(self, data: Data) -> tuple[Edges, Edges | None]:
        from pgmpy.estimators import PC, HillClimbSearch

        if self.search == "PC":
            graph = PC(data.frame).estimate(
                variant="stable",
                ci_test="chi_square",
                significance_level=0.01,
                n_jobs=1,
                show_progress=False,
            )
            return list(graph.directed_edges), list(graph.undirected_edges)
        search = HillClimbSearch(data.frame)
        graph = search.estimate(scoring_method=self.score, show_progress=False)
        return list(graph.edges()), None
