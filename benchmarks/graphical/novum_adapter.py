"""Novum behind the methods that the protocols call (see `pyagrum_adapter`)."""

from __future__ import annotations

from typing import Any

import numpy as np

Marginals = dict[str, np.ndarray]
# Sweeps that do not count, in all chains together, as the rivals' adapters have them in one.
CHAINS, BURN_IN = 4, 100
# No change of a message is smaller, so that the number of iterations decides.
SMALLEST = 1e-300


class Novum:
    """Novum's networks, with one way to search for structure."""

    def __init__(self, score: str = "BIC", search: str | None = None) -> None:
        self.score, self.search = score, search

    def load(self, path: str) -> Any:
        from novum.graphical import BayesianNetwork

        return BayesianNetwork.read(path)

    # Exact inference: planning is a part of every question, unless the workload asks again

    def marginals(self, bn: Any, cases: list[dict[str, str]]) -> list[Marginals]:
        found = []
        for evidence in cases:
            self._forget(bn)
            found.append(self._marginals(bn, evidence, None))
        return found

    def again(self, bn: Any, cases: list[dict[str, str]]) -> list[Marginals]:
        return [self._marginals(bn, evidence, None) for evidence in cases]

    def queries(self, bn: Any, asked: list[tuple[str, dict[str, str]]]) -> list[np.ndarray]:
        self._forget(bn)
        return [bn.query(node, given=evidence).values for node, evidence in asked]

    def batch(self, bn: Any, cases: list[dict[str, str]]) -> Marginals:
        self._forget(bn)
        found: Marginals = bn.posteriors(cases)
        return found

    def explanations(self, bn: Any, cases: list[dict[str, str]]) -> list[dict[str, str]]:
        found = []
        for evidence in cases:
            self._forget(bn)
            found.append({v: str(state) for v, state in bn.most_probable(evidence).items()})
        return found

    def _forget(self, bn: Any) -> None:
        from novum.graphical.inference.compiled.questions import forget_questions

        forget_questions(bn.arrays)

    # Approximate inference

    def sample(self, bn: Any, n: int) -> Any:
        return bn.sample(n, random_state=0)

    def to_frame(self, table: Any) -> Any:
        return table.to_pandas()

    def gibbs(self, bn: Any, evidence: dict[str, str], sweeps: int) -> Marginals:
        from novum.graphical.inference.gibbs import Gibbs

        burn_in = BURN_IN // CHAINS
        engine = Gibbs(sweeps // CHAINS + burn_in, burn_in, chains=CHAINS, random_state=0)
        return self._marginals(bn, evidence, engine)

    def weighted(self, bn: Any, evidence: dict[str, str], size: int) -> Marginals:
        from novum.graphical.inference.sampling import LikelihoodWeighting

        return self._marginals(bn, evidence, LikelihoodWeighting(size, random_state=0))

    def loopy(self, bn: Any, evidence: dict[str, str], iterations: int) -> Marginals:
        from novum.graphical.inference.belief_propagation import LoopyPropagation

        engine = LoopyPropagation(max_iter=iterations, tol=SMALLEST)
        return self._marginals(bn, evidence, engine)

    def _marginals(self, bn: Any, evidence: dict[str, str], engine: Any) -> Marginals:
        found = bn.marginals(evidence, engine=engine)
        return {v: found[v].values for v in bn.names}

    # Learning

    def parameters(self, data: Any) -> Any:
        from novum.graphical import BayesianNetwork, Dirichlet, fit_parameters

        return fit_parameters(BayesianNetwork.read(data.path), data.frame, Dirichlet(1.0))

    def expectation(self, data: Any, iterations: int) -> Any:
        from novum.core import StopRule
        from novum.graphical import BayesianNetwork, Dirichlet, fit_expectation

        stop = StopRule(tol=0.0, max_iter=iterations)
        network = BayesianNetwork.read(data.path)
        return fit_expectation(network, data.frame, Dirichlet(1.0), stop=stop).network

    def tables(self, bn: Any) -> dict[str, tuple[list[str], np.ndarray]]:
        return {c.name: ([p.name for p in c.parents], c.table) for c in bn.conditionals}

    def structure(self, data: Any) -> tuple[list[Any], list[Any] | None]:
        from novum import graphical
        from novum.graphical.learning.coded_table import read_table

        table = read_table(data.frame, graphical.BayesianNetwork.read(data.path).variables)
        criterion = getattr(graphical, self.score)()
        search = None if self.search is None else getattr(graphical, self.search)()
        learned = graphical.learn_structure(table, criterion, search)
        return [*learned.dag.edges], None
