"""Which part of impossible evidence contradicts itself.

A set of findings of probability zero contains at least one *smallest* conflict: one that becomes
possible as soon as any of its findings is taken away. It is found by halving (Junker 2004): a half
that is impossible together with what is kept already makes the other half needless; where neither
is, each is searched with the other kept. For a conflict of k among n findings that takes about
2 k log2(n / k) questions instead of n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from novum.graphical.inference.protocol import ExactEngine
from novum.graphical.models.arrays import UNKNOWN, Evidence, ModelArrays


def smallest_conflict(
    model: ModelArrays, evidence: Evidence, engine: ExactEngine
) -> tuple[list[int], list[int]]:
    """Observed variables, and variables with a likelihood, that contradict each other.

    Both lists are empty where the model is impossible without any evidence.

    Examples
    --------
    >>> from novum.graphical.inference.plain_junction import PlainJunctionTree
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> from novum.graphical.models.questions import evidence_of
    >>> network = BayesianNetwork().add("a", table=[0.5, 0.5]).add("b", table=[0.5, 0.5])
    >>> network = network.add("c", parents=["a"], table=lambda a: a, states=["true", "false"])
    >>> known = evidence_of(network, {"a": "true", "b": "true", "c": "false"})
    >>> smallest_conflict(network.arrays, known, PlainJunctionTree())
    ([0, 2], [])
    """
    search = _Search(model, evidence, engine)
    findings = [*evidence.observed.tolist(), *evidence.likelihoods]
    found = [] if search.is_impossible([]) else search.conflict([], findings)
    observed = sorted(v for v in found if evidence.codes[v] >= 0)
    return observed, sorted(v for v in found if v in evidence.likelihoods)


class _Search:
    """A search for a smallest conflict in some evidence."""

    def __init__(self, model: ModelArrays, evidence: Evidence, engine: ExactEngine) -> None:
        self.model, self.evidence, self.engine = model, evidence, engine

    def is_impossible(self, findings: Sequence[int]) -> bool:
        """Whether these findings alone have probability zero."""
        kept = set(findings)
        codes = self.evidence.codes.copy()
        codes[[v for v in self.evidence.observed.tolist() if v not in kept]] = UNKNOWN
        weights = {v: w for v, w in self.evidence.likelihoods.items() if v in kept}
        return self.engine.log_evidence(self.model, Evidence(codes, weights)) == -math.inf

    def conflict(self, kept: list[int], findings: list[int]) -> list[int]:
        """A smallest part of some findings that is impossible together with those kept."""
        if len(findings) <= 1:
            return findings
        middle = len(findings) // 2
        left, right = findings[:middle], findings[middle:]
        if self.is_impossible([*kept, *left]):
            return self.conflict(kept, left)
        if self.is_impossible([*kept, *right]):
            return self.conflict(kept, right)
        of_right = self.conflict([*kept, *left], right)
        of_left = self.conflict([*kept, *of_right], left)
        return [*of_left, *of_right]
