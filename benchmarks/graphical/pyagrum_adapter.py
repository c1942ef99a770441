"""pyAgrum behind the methods that the protocols call.

An adapter has those methods its workload needs. Evidence is `{node: label}`; marginals come back
as `{node: array}` in the order of labels of the BIF file; tables as `{node: (parents, array)}` with
the node itself last; a structure as directed edges and undirected ones (`None` for a DAG).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import threads
from benchmarks.recipes import Data

Marginals = dict[str, np.ndarray]
Edges = list[tuple[str, str]]


class PyAgrum:
    """pyAgrum with one of its exact engines and one way to search for structure."""

    def __init__(
        self,
        engine: str = "LazyPropagation",
        score: str = "BIC",
        search: str = "GreedyHillClimbing",
    ) -> None:
        import pyagrum

        self.gum = pyagrum
        self.engine = engine
        self.score = score
        self.search = search
        pyagrum.setNumberOfThreads(threads())
        pyagrum.initRandom(1)

    def load(self, path: str) -> Any:
        return self.gum.loadBN(path)

    # Inference

    def marginals(self, bn: Any, cases: list[dict[str, str]]) -> list[Marginals]:
        engine, names, found = getattr(self.gum, self.engine)(bn), sorted(bn.names()), []
        for evidence in cases:
            engine.setEvidence(evidence)
            engine.makeInference()
            found.append({v: engine.posterior(v).toarray() for v in names})
        return found

    def again(self, bn: Any, cases: list[dict[str, str]]) -> list[Marginals]:
        return self.marginals(bn, cases)

    def queries(self, bn: Any, asked: list[tuple[str, dict[str, str]]]) -> list[np.ndarray]:
        found = []
        for node, evidence in asked:
            engine = getattr(self.gum, self.engine)(bn)
            engine.setTargets({node})
            engine.setEvidence(evidence)
            engine.makeInference()
            found.append(engine.posterior(node).toarray())
        return found

    def batch(self, bn: Any, cases: list[dict[str, str]]) -> Marginals:
        rows = self.marginals(bn, cases)
        return {v: np.array([row[v] for row in rows]) for v in bn.names()}

    def explanations(self, bn: Any, cases: list[dict[str, str]]) -> list[dict[str, str]]:
        found = []
        for evidence in cases:
            engine = self.gum.LazyPropagation(bn)
            engine.setEvidence(evidence)
            best = engine.mpe().todict(True)
            found.append(evidence | {v: str(label) for v, label in best.items()})
        return found

    def sample(self, bn: Any, n: int) -> Any:
        generator = self.gum.BNDatabaseGenerator(bn)
        generator.drawSamples(n)
        return generator

    def to_frame(self, generator: Any) -> Any:
        return generator.to_pandas()

    def gibbs(self, bn: Any, evidence: dict[str, str], sweeps: int) -> Marginals:
        sampler = self.gum.GibbsSampling(bn)
        sampler.setMaxIter(sweeps)
        # Tolerances no sampler reaches, so that the number of sweeps decides.
        sampler.setEpsilon(1e-12)
        sampler.setMinEpsilonRate(1e-12)
        sampler.setNbrDrawnVar(bn.size())
        sampler.setDrawnAtRandom(False)
        sampler.setBurnIn(100)
        sampler.setPeriodSize(sweeps)
        sampler.setEvidence(evidence)
        sampler.makeInference()
        return {v: sampler.posterior(v).toarray() for v in bn.names()}

    def weighted(self, bn: Any, evidence: dict[str, str], size: int) -> Marginals:
        sampler = self.gum.WeightedSampling(bn)
        sampler.setMaxIter(size)
        sampler.setEpsilon(1e-12)
        sampler.setMinEpsilonRate(1e-12)
        sampler.setPeriodSize(size)
        sampler.setEvidence(evidence)
        sampler.makeInference()
        return {v: sampler.posterior(v).toarray() for v in bn.names()}

    def loopy(self, bn: Any, evidence: dict[str, str], iterations: int) -> Marginals:
        engine = self.gum.LoopyBeliefPropagation(bn)
        engine.setMaxIter(iterations)
        engine.setEpsilon(1e-300)
        engine.setMinEpsilonRate(1e-300)
        engine.setPeriodSize(1)
        engine.setEvidence(evidence)
        engine.makeInference()
        return {v: engine.posterior(v).toarray() for v in bn.names()}

    # Learning

    def parameters(self, data: Data) -> Any:
        learner = self._learner(data)
        learner.useSmoothingPrior(1)
        return learner.learnParameters(self.load(data.path).dag())

    def expectation(self, data: Data, iterations: int) -> Any:
        learner = self._learner(data)
        learner.useSmoothingPrior(1)
        learner.useEM(1e-9)
        learner.EMsetMaxIter(iterations)
        return learner.learnParameters(self.load(data.path).dag())

    def tables(self, bn: Any) -> dict[str, tuple[list[str], np.ndarray]]:
        found = {}
        for v in bn.names():
            table = bn.cpt(v)
            found[v] = (list(table.names)[:0:-1], table.toarray())
        return found

    def structure(self, data: Data) -> tuple[Edges, Edges | None]:
        learner = self._learner(data)
        name = learner.nameFromId
        if self.search == "PC":
            learner.usePC()
            learner.setPCAlpha(0.01)
            graph = learner.learnPDAG()
            directed = [(name(a), name(b)) for a, b in graph.arcs()]
            return directed, [(name(a), name(b)) for a, b in graph.edges()]
        if self.search == "MIIC":
            learner.useMIIC()
        else:
            getattr(learner, "useScore" + self.score)()
            getattr(learner, "use" + self.search)()
        return [(name(a), name(b)) for a, b in learner.learnDAG().arcs()], None

    def _learner(self, data: Data) -> Any:
        cells = data.frame.astype(object)
        if data.frame.isna().to_numpy().any():
            cells = cells.where(data.frame.notna(), "?")
        learner = self.gum.BNLearner(cells, self.load(data.path), ["?"])
        learner.setNumberOfThreads(threads())
        return learner
