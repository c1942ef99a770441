"""The joint posterior of every node and its parents, from one propagation.

A clique holds each family, so that all of them are found together with the posteriors of the nodes.
Nodes whose table is kept in another form (a noisy or of many parents, a node that `do` has cut off)
are asked one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.distributions import ImpossibleEvidence
from novum.graphical.inference.protocol import Beliefs, ExactEngine
from novum.graphical.models.answers import Posterior
from novum.graphical.models.conflicts import impossible_evidence
from novum.graphical.models.questions import Likelihoods, States, default_engine, place_of

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork


def families(
    network: BayesianNetwork,
    nodes: Sequence[str],
    given: States | None,
    likelihood: Likelihoods | None,
    do: States | None,
    engine: ExactEngine | None,
) -> dict[str, Posterior]:
    """Tables over (parents, node) of some nodes, or of all where none is named."""
    solver = default_engine() if engine is None else engine
    if not isinstance(solver, ExactEngine):
        raise InputError(
            "Families are found by exact engines such as JunctionTree(), or one at a time by "
            f"query with an approximate one; got {label_text(engine)}."
        )
    model, evidence = network.known(given, likelihood, do)
    tables: dict[str, Posterior] = {}
    together: Beliefs | None = None
    try:
        for name in nodes or network.names:
            place = place_of(network, name)
            parents = network.conditionals[place].parents
            scope = [*(network.places[parent.name] for parent in parents), place]
            axes = tuple(network.variables[member] for member in scope)
            if model.scope(place).tolist() != scope or len(nodes) == 1:
                tables[name] = Posterior.of(axes, solver.joint(model, evidence, scope))
                continue
            if together is None:
                together = solver.families(model, evidence)
            tables[name] = Posterior.of(axes, together, place)
    except ImpossibleEvidence:
        raise impossible_evidence(network, model, evidence) from None
    return tables
