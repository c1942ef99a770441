"""Evidence that cannot be, said with the findings that contradict each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from novum.core.errors import MemoryLimitError
from novum.core.text import label_text
from novum.distributions import ImpossibleEvidence, StateAxis
from novum.graphical.inference.forecast import forecast
from novum.graphical.inference.protocol import ExactEngine
from novum.graphical.models.arrays import UNKNOWN, Evidence, ModelArrays
from novum.graphical.models.questions import NamedModel, default_engine
from novum.numerics import Floats

# Findings of a conflict that a message names.
MOST_FINDINGS = 12


def impossible_evidence(
    network: NamedModel, model: ModelArrays, evidence: Evidence, where: str = ""
) -> ImpossibleEvidence:
    """The error of impossible evidence, which names a smallest part of it that is impossible.

    Parameters
    ----------
    network : NamedModel
        Whose names and states are shown.
    model : ModelArrays
        What was asked: the network's own arrays, or those after an intervention.
    evidence : Evidence
    where : str
        Put in front, such as "Row 3: ".
    """
    engine: Any = default_engine()
    if _is_possible(model, evidence, engine):
        return ImpossibleEvidence(
            f"{where}The evidence is possible, but what it leaves over is too improbable for the "
            "numbers of this engine. Use an exact engine such as JunctionTree()."
        )
    conflict = smallest_conflict(model, evidence, engine)
    parts = []
    for place in conflict.observed:
        axis = network.variables[place]
        state = axis.states[int(evidence.codes[place])]
        parts.append(f"{label_text(axis.name)} = {label_text(state)}")
    if len(parts) > MOST_FINDINGS:
        parts[MOST_FINDINGS:] = [f"and {len(parts) - MOST_FINDINGS} more findings"]
    parts += [
        _weighted(network.variables[place], evidence.likelihoods[place])
        for place in conflict.weighted
    ]
    return ImpossibleEvidence(where + _sentence(parts, conflict.is_smallest))


def _is_possible(model: ModelArrays, evidence: Evidence, engine: ExactEngine) -> bool:
    """Whether an exact engine says so, where asking it is quick."""
    try:
        quick = forecast(model, evidence).seconds <= MOST_SECONDS
        return quick and engine.log_evidence(model, evidence) > -math.inf
    except MemoryLimitError:
        return False


def _weighted(axis: StateAxis, weights: Floats) -> str:
    """Soft evidence in words: weights of 0 and 1 are several states that were given."""
    name = label_text(axis.name)
    if not ((weights == 0) | (weights == 1)).all() or weights.sum() < 2:
        return f"the likelihood of {name}"
    states = [state for state, weight in zip(axis.states, weights, strict=True) if weight]
    return f"{name} = {' or '.join(label_text(state) for state in states[:MOST_FINDINGS])}"


def _sentence(parts: list[str], is_smallest: bool) -> str:
    if not parts:
        return "The model has no state of all variables that is possible. Check its zeros."
    if len(parts) == 1:
        return f"The evidence has probability 0: {parts[0]} is impossible. Check that state."
    if not is_smallest:
        return (
            f"The evidence has probability 0: {', '.join(parts)} cannot hold all together. To find "
            "out which of them contradict each other would take long; check them by halves."
        )
    return (
        f"The evidence has probability 0: {', '.join(parts)} cannot hold together. Change or "
        "leave out one of them."
    )


# --- A smallest conflict --------------------------------------------------------------------------
# Which part of impossible evidence contradicts itself.
#
# A set of findings of probability zero contains at least one *smallest* conflict: one that becomes
# possible as soon as any of its findings is taken away. It is found by halving (Junker 2004): a
# half that is impossible together with what is kept already makes the other half needless; where
# neither is, each is searched with the other kept. For a conflict of k among n findings that takes
# about 2 k log2(n / k) questions instead of n.
#
# With fewer findings a question can be far dearer than with all of them. The search ends where the
# next one is forecast to take too long, and what it has narrowed the conflict down to is given.


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
        conflict, is_smallest = search.conflict([], findings), True
        # Last, because nothing is dearer than the model without any finding.
        if len(conflict) == 1 and not model.is_directed and search.is_impossible([]):
            conflict = []
    except _TooDearError:
        conflict, is_smallest = search.narrowest, False
    observed = sorted(v for v in conflict if evidence.codes[v] >= 0)
    weighted = sorted(v for v in conflict if v in evidence.likelihoods)
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
            is_zero = self.engine.log_evidence(self.model, known) == -math.inf
        except MemoryLimitError:
            raise _TooDearError from None
        if is_zero and len(findings) < len(self.narrowest):
            self.narrowest = list(findings)
        return is_zero

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
