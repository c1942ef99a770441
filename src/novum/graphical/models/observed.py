"""A network with what is known of it so far: evidence that grows and shrinks.

Findings arrive one by one and are taken back; every step gives another value, so earlier ones stay
and can be compared. Besides the questions of the network it knows two numbers of its own:

    surprise    -log2 P(e)                           bits that the findings were worth
    conflict    log2 of  P(e_1) ... P(e_m) / P(e)    above 0: findings that do not go together

(Jensen, Chamberlain, Nordahl and Jensen 1991 for the second). Findings that explain each other make
P(e) larger than the product, so a positive conflict hints at a faulty one, or at a rare case.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text, meant
from novum.distributions import shown
from novum.graphical.inference.protocol import Engine, ExactEngine
from novum.graphical.models.answers import Marginals, Posterior
from novum.graphical.models.questions import (
    Likelihoods,
    States,
    check_mapping,
    place_of,
    states_given,
)
from novum.numerics import cached_property

if TYPE_CHECKING:
    from novum.graphical.models.explaining import Explanation
    from novum.graphical.models.network_questions import NetworkQuestions

# Findings that are shown.
SHOWN = 8
_FINDINGS = ("given", "likelihood", "do")


@dataclass(frozen=True, eq=False, repr=False)
class ObservedNetwork:
    """A network and its findings, made by `network.observe(...)`.

    Parameters
    ----------
    network : BayesianNetwork or FactorGraph
    given : mapping from nodes to states
    likelihood : mapping from nodes to weights of their states
    do : mapping from nodes to states
    engine : Engine, optional
        Answers all questions where it is exact. The probability of findings and the most probable
        states are exact always: there an approximate engine gives way to the default one.

    Notes
    -----
    A value: findings are copied, and can be read only.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> seen = network.observe({"wet": "true"})
    >>> seen.query("rain")
    rain   probability
    true      0.692308
    false     0.307692
    >>> seen.forget("wet").query("rain").values.tolist()
    [0.2, 0.8]
    >>> round(seen.observe({"rain": "false"}).conflict, 3)
    1.379
    """

    network: NetworkQuestions
    given: States = field(default_factory=dict)
    likelihood: Likelihoods = field(default_factory=dict)
    do: States = field(default_factory=dict)
    engine: Engine | None = None

    def __post_init__(self) -> None:
        for name in _FINDINGS:
            check_mapping(getattr(self, name), name)
        # Unknown names and states are said now, not when something is asked.
        self.network.known(self.given, self.likelihood, self.do)
        for name, kept in (("given", _kept_states), ("likelihood", _kept_weights)):
            findings = {node: kept(value) for node, value in getattr(self, name).items()}
            object.__setattr__(self, name, MappingProxyType(findings))
        object.__setattr__(self, "do", MappingProxyType(dict(self.do)))

    def __getstate__(self) -> dict[str, Any]:
        """What a copy is made from: nothing that is computed, and views as what they show."""
        findings = {name: _shown_by(getattr(self, name)) for name in _FINDINGS}
        return {"network": self.network, **findings, "engine": self.engine}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _FINDINGS:
            views = {
                node: MappingProxyType(value) if isinstance(value, dict) else value
                for node, value in state[name].items()
            }
            self.__dict__[name] = MappingProxyType(views)

    # Findings

    def observe(
        self, given: States | None = None, *, likelihood: Likelihoods | None = None
    ) -> ObservedNetwork:
        """With further findings; one that is there already is replaced."""
        check_mapping(given, "given")
        check_mapping(likelihood, "likelihood")
        new, weighed = dict(given or {}), dict(likelihood or {})
        return replace(
            self,
            given={n: s for n, s in {**self.given, **new}.items() if n in new or n not in weighed},
            likelihood={
                n: w
                for n, w in {**self.likelihood, **weighed}.items()
                if n in weighed or n not in new
            },
        )

    def forget(self, *nodes: str) -> ObservedNetwork:
        """Without the findings of these nodes, or of all where none is named."""
        if not nodes:
            return replace(self, given={}, likelihood={})
        known = [*self.given, *self.likelihood]
        for node in nodes:
            if node not in known:
                raise InputError(f"There is no finding of {label_text(node)}: {meant(node, known)}")
        return replace(
            self,
            given={name: state for name, state in self.given.items() if name not in nodes},
            likelihood={n: weights for n, weights in self.likelihood.items() if n not in nodes},
        )

    # Questions

    def query(self, *nodes: str) -> Posterior:
        """The joint distribution of some nodes given all findings."""
        return self.network.query(*nodes, **self._known, engine=self.engine)

    @cached_property
    def posteriors(self) -> Marginals:
        """The distribution of each node given all findings; computed once."""
        return self.network.marginals(**self._known, engine=self.engine)

    def most_probable(self, *, nodes: str | Sequence[str] | None = None, k: int = 1) -> Any:
        """The most probable states of all nodes, or of some, as `network.most_probable` has it."""
        return self.network.most_probable(**self._known, nodes=nodes, k=k, engine=self._exact)

    def explain(self, node: str, *, state: Any = None) -> Explanation:
        """Which of the given states moved a node, and by how much."""
        if self.likelihood or self.do:
            raise InputError("Only states that are given can be weighed. Leave out the rest.")
        return self.network.explain(node, self.given, state=state, engine=self.engine)

    @cached_property
    def log_evidence(self) -> float:
        """Logarithm of the probability of all findings; `-inf` where they are impossible."""
        return self.network.log_evidence(**self._known, engine=self._exact)

    @property
    def surprise(self) -> float:
        """Bits that the given states were worth, `-log2 P(e)`."""
        return -self._log2_given

    @cached_property
    def conflict(self) -> float:
        """How much less probable the given states are together than apart, in bits."""
        before = self.network.marginals(None, self.likelihood, self.do, self._exact)
        apart = 0.0
        for name, state in self.given.items():
            axis = self.network.variables[place_of(self.network, name)]
            alone = float(before[name].values[[*states_given(axis, state)]].sum())
            apart += math.log2(alone) if alone > 0 else -math.inf
        return apart - self._log2_given if self._log2_given > -math.inf else math.inf

    @cached_property
    def _log2_given(self) -> float:
        """log2 of the probability of the given states, with the other findings known before."""
        if not self.given:
            return 0.0
        before = self.network.log_evidence(None, self.likelihood, self.do, self._exact)
        return (self.log_evidence - before) / math.log(2)

    @property
    def _exact(self) -> ExactEngine | None:
        return self.engine if isinstance(self.engine, ExactEngine) else None

    @property
    def _known(self) -> dict[str, Any]:
        return {"given": self.given, "likelihood": self.likelihood, "do": self.do}

    def __repr__(self) -> str:
        parts = [f"{shown(name)} = {shown(state)}" for name, state in self.given.items()]
        parts += [f"likelihood of {shown(name)}" for name in self.likelihood]
        parts += [f"do {shown(name)} = {shown(state)}" for name, state in self.do.items()]
        if len(parts) > SHOWN:
            parts[SHOWN:] = [f"... ({len(parts)} in all)"]
        known = ", ".join(parts) or "nothing"
        return f"{type(self.network).__name__} of {len(self.network.names)} nodes given {known}"


def _kept_states(state: Any) -> Any:
    """A state, or several that nobody else can change."""
    if isinstance(state, list):
        return tuple(state)
    return frozenset(state) if isinstance(state, set) else state


def _kept_weights(weights: Any) -> Any:
    """Weights that nobody else can change; they have been checked."""
    if isinstance(weights, Mapping):
        return MappingProxyType(dict(weights))
    return tuple(np.asarray(weights, np.float64).tolist())


def _shown_by(view: Mapping[str, Any]) -> dict[str, Any]:
    """A view as plain dicts, which can be pickled."""
    return {
        node: dict(value) if isinstance(value, MappingProxyType) else value
        for node, value in view.items()
    }
