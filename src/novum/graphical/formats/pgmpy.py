"""Networks from and to pgmpy's objects.

pgmpy keeps the values of a table with the variable itself as the first axis and its parents
behind; here the variable is the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.formats.writing import check_full_tables
from novum.graphical.models.conditional import Tabular

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
