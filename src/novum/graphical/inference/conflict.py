"""Which part of impossible evidence contradicts itself.

A set of findings of probability zero contains at least one *smallest* conflict: one that becomes
possible as soon as any of its findings is taken away. It is found by halving (Junker 2004): a half
that is impossible together with what is kept already makes the other half needless; where neither
is, each is searched with the other kept. For a conflict of k among n findings that takes about
2 k log2(n / k) questions instead of n.

With fewer findings a question can be far dearer than with all of them. The search ends where the
next one is forecast to take too long, and what it has narrowed the conflict down to is given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from novum.core.errors import MemoryLimitError
from novum.graphical.inference.forecast import forecast
from novum.graphical.inference.protocol import ExactEngine
from novum.graphical.models.arrays import UNKNOWN, Evidence, ModelArrays

# Seconds that all questions of a search may be forecast to take.
MOST_SECONDS = 5.0


@dataclass(frozen=True)
class Conflict:
    """Findings that cannot hold together.

    Attributes
    ----------
    observed, weighted : lists of variables
        Those with a state, and those with a likelihood; both are empty where the model is
        impossible without any evidence.
    is_smallest : bool
        Whether none of them can be left out.
    """

    observed: list[int]
    weighted: list[int]
    is_smallest: bool = True


def smallest_conflict(model: ModelArrays, evidence: Evidence, engine: ExactEngine) -> Conflict:
    """Findings that contradict each other, as few as can be found in a moment.

    Examples
    --------
    >>> from novum.graphical.inference.plain_junction import PlainJunctionTree
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> from novum.graphical.models.questions import evidence_of
    >>> network = BayesianNetwork().add("a", table=[0.5, 0.5]).add("b", table=[0.5, 0.5])
    >>> network = network.add("c", parents=["a"], table=lambda a: a, states=["true", "false"])
    >>> known = evidence_of(network, {"a": "true", "b": "true", "c": "false"})
    >>> smallest_conflict(network.arrays, known, PlainJunctionTree())
    Conflict(observed=[0, 2], weighted=[], is_smallest=True)
    """
    findings = [*evidence.observed.tolist(), *evidence.likelihoods]
    search = _Search(model, evidence, engine, findings)
    try:
        found, is_smallest = search.conflict([], findings), True
        # Last, because nothing is dearer than the model without any finding.
        if len(found) == 1 and not model.is_directed and search.is_impossible([]):
            found = []
    except _TooDearError:
        found, is_smallest = search.narrowest, False
    observed = sorted(v for v in found if evidence.codes[v] >= 0)
    weighted = sorted(v for v in found if v in evidence.likelihoods)
    return Conflict(observed, weighted, is_smallest)


class _TooDearError(Exception):
    """The next question would take too long."""


class _Search:
    """A search for a smallest conflict in some evidence."""

    def __init__(
        self, model: ModelArrays, evidence: Evidence, engine: ExactEngine, findings: list[int]
    ) -> None:
        self.model, self.evidence, self.engine = model, evidence, engine
        self.narrowest = findings
        self.seconds = 0.0

    def is_impossible(self, findings: Sequence[int]) -> bool:
        """Whether these findings alone have probability zero."""
        kept = set(findings)
        codes = self.evidence.codes.copy()
        codes[[v for v in self.evidence.observed.tolist() if v not in kept]] = UNKNOWN
        weights = {v: w for v, w in self.evidence.likelihoods.items() if v in kept}
        known = Evidence(codes, weights)
        self.seconds += forecast(self.model, known).seconds
        if self.seconds > MOST_SECONDS:
            raise _TooDearError
        try:
            found = self.engine.log_evidence(self.model, known) == -math.inf
        except MemoryLimitError:
            raise _TooDearError from None
        if found and len(findings) < len(self.narrowest):
            self.narrowest = list(findings)
        return found

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
