"""From names and states to an engine's arrays, and back.

`given` fixes states (of several of one node, it has one), `likelihood` weighs them (an observation
that is `L(x)` times as likely in state x), `do` cuts a node off from its parents and sets it, as an
intervention does:

    P(y | do(x)) = product over nodes other than x of P(node | parents), at x
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Level, level_key
from novum.core.text import label_text, meant
from novum.distributions import StateAxis
from novum.graphical.inference.protocol import Engine
from novum.graphical.models.arrays import UNKNOWN, Evidence, ModelArrays, read_only
from novum.graphical.models.states import refuse_set, state_like
from novum.numerics import Floats, fork_safe_lock

# A state of each node, or several of which it has one.
States = Mapping[str, Level | Sequence[Level] | AbstractSet[Level]]
Likelihoods = Mapping[str, Mapping[Level, float] | Sequence[float]]


_SEVERAL = (list, tuple, set, frozenset)
_NOTHING_GIVEN: Mapping[str, Any] = MappingProxyType({})


class NamedModel(Protocol):
    """A model whose variables have names, such as a network."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def variables(self) -> tuple[StateAxis, ...]: ...
    @property
    def places(self) -> Mapping[str, int]: ...
    @property
    def arrays(self) -> ModelArrays: ...


@cache
def default_engine() -> Engine:
    """The engine of questions that name none."""
    from novum.graphical.inference.junction import JunctionTree

    return JunctionTree()


def place_of(network: NamedModel, name: object) -> int:
    """The number of a node; an unknown name is an error that suggests one."""
    place = network.places.get(name) if isinstance(name, str) else None
    if place is None:
        raise InputError(
            f"The network has no node {label_text(name)}: {meant(name, network.names)}"
        )
    return place


def state_of(axis: StateAxis, state: object) -> int:
    """The number of a state; an unknown one is an error that suggests one."""
    if isinstance(state, _SEVERAL):
        raise InputError(
            f"Node {label_text(axis.name)} takes one state here, got {label_text(state)}. Several "
            "states can be given to query, marginals, log_evidence and most_probable."
        )
    place = state_like(axis, state)
    if place is not None:
        return place
    raise InputError(
        f"Node {label_text(axis.name)} has no state {label_text(state)}: "
        f"{meant(state, axis.states)}"
    )


def states_given(axis: StateAxis, state: object) -> tuple[int, ...]:
    """The numbers of the states that a node may have: one, or each of a list, tuple or set.

    Examples
    --------
    >>> states_given(StateAxis("size", ("small", "medium", "large")), ["large", "medium"])
    (1, 2)
    """
    if not isinstance(state, _SEVERAL):
        return (state_of(axis, state),)
    places = sorted(state_of(axis, one) for one in state)
    if not places:
        raise InputError(f"No state is given for {label_text(axis.name)}. Name one, or leave it.")
    for one, other in pairwise(places):
        if one == other:
            raise InputError(
                f"State {label_text(axis.states[one])} of {label_text(axis.name)} is given twice. "
                "Name each state once."
            )
    return tuple(places)


def check_mapping(given: Any, what: str) -> Mapping[str, Any]:
    """What is given for nodes; refuses what is no mapping from them."""
    if given is None:
        return _NOTHING_GIVEN
    if type(given) is not dict and not isinstance(given, Mapping):
        raise InputError(
            f"{what} is a mapping from nodes, such as {{'Alarm': 'true'}}; got {label_text(given)}."
        )
    mapping: Mapping[str, Any] = given
    return mapping


def check_single(network: NamedModel, given: States | None) -> None:
    """Refuses several states of one node, where each finding is judged by itself."""
    for name, state in check_mapping(given, "given").items():
        state_of(network.variables[place_of(network, name)], state)


def evidence_of(
    network: NamedModel, given: States | None, likelihood: Likelihoods | None = None
) -> Evidence:
    """What is known, by numbers."""
    given, likelihood = check_mapping(given, "given"), check_mapping(likelihood, "likelihood")
    codes, variables = np.empty(network.arrays.n_variables, np.int64), network.variables
    codes.fill(UNKNOWN)
    weights: dict[int, Floats] = {}
    for name, state in given.items():
        place = place_of(network, name)
        axis = variables[place]
        # Most states are text that is written as it is: nothing else need be looked at.
        code = axis.positions.get(level_key(state)) if type(state) is str else None
        if code is not None:
            codes[place] = code
            continue
        chosen = states_given(axis, state)
        if len(chosen) == 1:
            codes[place] = chosen[0]
        else:
            weights[place] = np.zeros(len(axis.states))
            weights[place][list(chosen)] = 1.0
    for name, values in likelihood.items():
        place = place_of(network, name)
        if name in given:
            raise InputError(
                f"Node {label_text(name)} has both a state in given and a likelihood. Give one "
                "of them."
            )
        weights[place] = _weights(network.variables[place], values)
    return Evidence(codes, weights)


def _weights(axis: StateAxis, values: Mapping[Level, float] | Sequence[float]) -> Floats:
    name = label_text(axis.name)
    refuse_set(values, f"The weights of {name}")
    listed_values: object = values
    if isinstance(values, Mapping):
        by_place = {state_of(axis, state): value for state, value in values.items()}
        if len(by_place) < len(axis.states):
            raise InputError(
                f"The likelihood of {name} names {len(by_place)} of {len(axis.states)} states. "
                "Give all: what is not named would be impossible."
            )
        listed_values = [by_place[place] for place in range(len(axis.states))]
    try:
        weights = np.array(listed_values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"The likelihood of {name} must be numbers, one for each state; got "
            f"{label_text(values)}."
        ) from None
    if weights.shape != (len(axis.states),):
        raise InputError(
            f"The likelihood of {name} has shape {weights.shape}; it needs {len(axis.states)} "
            "numbers, one for each state."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.max() > 0):
        raise InputError(
            f"The likelihood of {name} must be finite, at least 0 and not all 0, got "
            f"{weights.tolist()}."
        )
    return weights


# --- Interventions --------------------------------------------------------------------------------


def intervened(
    network: NamedModel, evidence: Evidence, do: States | None
) -> tuple[ModelArrays, Evidence]:
    """The model after setting nodes from outside, and the evidence with them set."""
    model = network.arrays
    check_mapping(do, "do")
    if not do:
        return model, evidence
    if not model.is_directed:
        raise InputError("do cuts a node off from its parents; an undirected model has none.")
    codes = evidence.codes.copy()
    chosen: dict[int, int] = {}
    for name, state in do.items():
        place = place_of(network, name)
        if codes[place] >= 0 or place in evidence.likelihoods:
            raise InputError(
                f"Node {label_text(name)} is both observed and set by do. Name it in one of them."
            )
        chosen[place] = codes[place] = state_of(network.variables[place], state)
    return _kept_cut(model, chosen), replace(evidence, codes=codes)


# The last models after an intervention, so that what engines keep for them is used again.
_CUTS_KEPT = 16
_cuts: WeakKeyDictionary[ModelArrays, dict[tuple[tuple[int, int], ...], ModelArrays]]
_cuts = WeakKeyDictionary()
_cuts_lock = fork_safe_lock()


def _kept_cut(model: ModelArrays, chosen: Mapping[int, int]) -> ModelArrays:
    key = tuple(sorted(chosen.items()))
    with _cuts_lock:
        cut = _cuts.setdefault(model, {}).get(key)
    if cut is not None:
        return cut
    made = _cut(model, chosen)
    with _cuts_lock:
        kept = _cuts.setdefault(model, {})
        # Of threads that make the same one at once, the first one's is everybody's.
        cut = kept.setdefault(key, made)
        if len(kept) > _CUTS_KEPT:
            del kept[next(iter(kept))]
    return cut


def _cut(model: ModelArrays, chosen: Mapping[int, int]) -> ModelArrays:
    """Chosen variables lose their parents and have one state for certain."""
    scopes, tables = [], []
    for factor in range(model.n_factors):
        if factor in chosen:
            point = np.zeros(model.cards[factor])
            point[chosen[factor]] = 1.0
            scopes.append(np.array([factor], np.int64))
            tables.append(point)
        else:
            scopes.append(model.scope(factor))
            tables.append(model.table(factor).ravel())
    return replace(
        model,
        scope_starts=np.cumsum([0, *(len(scope) for scope in scopes)]).astype(np.int64),
        scopes=np.concatenate(scopes),
        table_starts=np.cumsum([0, *(len(table) for table in tables)]).astype(np.int64),
        tables=read_only(np.concatenate(tables)),
    )
