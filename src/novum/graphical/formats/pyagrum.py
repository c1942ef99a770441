"""Networks from and to pyAgrum's objects.

pyAgrum's arrays have their variables in reversed order: the variable itself, which is the first,
becomes the last axis and its parents stand before it from the last to the first. Labels are text.
A noisy or whose inactive states stand first is a noisy or there too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.formats.writing import text_states
from novum.graphical.models.compact import NoisyOr
from novum.graphical.models.conditional import Conditional, Tabular, check_node_cells

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork

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
