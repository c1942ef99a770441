"""Networks from and to the objects of pgmpy and of pyAgrum.

pgmpy keeps the values of a table with the variable itself as the first axis and its parents
behind; here the variable is the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.distributions import StateAxis
from novum.graphical.formats.draft import check_full_tables, text_states
from novum.graphical.models.compact import NoisyOr
from novum.graphical.models.conditional import Conditional, Tabular, check_node_cells

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork


def from_pgmpy(model: Any) -> BayesianNetwork:
    """A network from pgmpy's `DiscreteBayesianNetwork`.

    Parameters
    ----------
    model : pgmpy.models.DiscreteBayesianNetwork
        With a table for every node; names are text.
    """
    from novum.graphical.models.bayesian_network import BayesianNetwork

    if not all(hasattr(model, needed) for needed in ("nodes", "get_cpds")):
        raise InputError(
            f"from_pgmpy reads a pgmpy DiscreteBayesianNetwork, got {label_text(model)}."
        )
    tables = {node: _table_of(model, node) for node in model.nodes()}
    axes = {node: StateAxis(node, _states(cpd, node)) for node, cpd in tables.items()}
    made = []
    for node, cpd in tables.items():
        parents = list(cpd.variables)[1:]
        cells = np.moveaxis(np.asarray(cpd.values, dtype=np.float64), 0, -1)
        for parent in parents:
            if _states(cpd, parent) != axes[parent].states:
                raise InputError(
                    f"The table of {label_text(node)} has other states of {label_text(parent)} "
                    "than that node's own table. Give both the same state_names."
                )
        made.append(Tabular(axes[node], tuple(axes[parent] for parent in parents), cells))
    return BayesianNetwork(made)


def to_pgmpy(network: BayesianNetwork) -> Any:
    """pgmpy's `DiscreteBayesianNetwork` of a network; needs pgmpy."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    check_full_tables(network, "A pgmpy network")
    model = DiscreteBayesianNetwork()
    model.add_nodes_from(network.names)
    model.add_edges_from(network.edges)
    for item in network.conditionals:
        axes = [item.variable, *item.parents]
        model.add_cpds(
            TabularCPD(
                item.name,
                item.shape[-1],
                item.table.reshape(-1, item.shape[-1]).T,
                evidence=[parent.name for parent in item.parents] or None,
                evidence_card=list(item.shape[:-1]) or None,
                state_names={axis.name: list(axis.states) for axis in axes},
            )
        )
    return model


def _table_of(model: Any, node: Any) -> Any:
    if not isinstance(node, str):
        raise InputError(f"Names of nodes are text, got {label_text(node)}. Relabel the model.")
    cpd = model.get_cpds(node)
    if cpd is None:
        raise InputError(f"Node {label_text(node)} has no table. Add one with model.add_cpds.")
    return cpd


def _states(cpd: Any, node: str) -> tuple[Any, ...]:
    return tuple(cpd.state_names[node])


# --- pyAgrum --------------------------------------------------------------------------------------
# Networks from and to pyAgrum's objects.
#
# pyAgrum's arrays have their variables in reversed order: the variable itself, which is the first,
# becomes the last axis and its parents stand before it from the last to the first. Labels are text.
# A noisy or whose inactive states stand first is a noisy or there too.


_SOURCE = "A pyAgrum network"


def from_pyagrum(bn: Any) -> BayesianNetwork:
    """A network from pyAgrum's `BayesNet`.

    Parameters
    ----------
    bn : pyagrum.BayesNet
        Variables of every kind are read with their labels as states, and nodes that are noisy
        ors, logits or aggregates with all cells of their tables.
    """
    from novum.graphical.models.bayesian_network import BayesianNetwork

    if not all(hasattr(bn, needed) for needed in ("nodes", "variable", "cpt")):
        raise InputError(f"from_pyagrum reads a pyagrum.BayesNet, got {label_text(bn)}.")
    variables = [bn.variable(node) for node in sorted(bn.nodes())]
    axes = {v.name(): StateAxis(v.name(), tuple(v.labels())) for v in variables}
    made = []
    for name, axis in axes.items():
        table = bn.cpt(name)
        parents = tuple(axes[parent] for parent in list(table.names)[1:])
        check_node_cells(axis, parents, "Build that node with noisy_or(...).", "From pyAgrum")
        # Not toarray: of nodes whose table is computed, that is memory nobody has filled.
        cells = np.array(table.tolist(), dtype=np.float64)
        # Reversing all axes and moving the variable back to the end restores the parents' order.
        made.append(Tabular(axis, parents, np.moveaxis(cells.T, 0, -1)))
    return BayesianNetwork(made)


def to_pyagrum(network: BayesianNetwork) -> Any:
    """pyAgrum's `BayesNet` of a network; needs pyAgrum."""
    import pyagrum

    compact = {item.name for item in network.conditionals if _is_native(item)}
    states = text_states(network, _SOURCE, kept=compact)
    bn = pyagrum.BayesNet()
    for item in network.conditionals:
        variable = pyagrum.LabelizedVariable(item.name, item.name, list(states[item.name]))
        if isinstance(item, NoisyOr) and item.name in compact:
            bn.addNoisyORNet(variable, item.leak)
        else:
            bn.add(variable)
    for item in network.conditionals:
        if isinstance(item, NoisyOr) and item.name in compact:
            for parent, strength in zip(item.parents, item.strengths, strict=True):
                bn.addWeightedArc(parent.name, item.name, strength)
            continue
        for parent in item.parents:
            bn.addArc(parent.name, item.name)
        cells = np.moveaxis(item.table, -1, 0).T
        bn.cpt(item.name).fillWith(cells.ravel().tolist())
    return bn


def _is_native(item: Conditional) -> bool:
    """Whether pyAgrum has the node as it is: there the second of two states is the active one."""
    return (
        isinstance(item, NoisyOr)
        and item.active_state == 1
        and all(len(parent.states) == 2 for parent in item.parents)
        and not any(item.inactive_states)
    )
