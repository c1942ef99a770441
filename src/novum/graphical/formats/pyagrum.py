"""Networks from and to pyAgrum's objects.

pyAgrum's arrays have their variables in reversed order: the variable itself, which is the first,
becomes the last axis and its parents stand before it from the last to the first. Labels are text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from novum.distributions.joint_table_states import StateAxis
from novum.graphical.formats.writing import text_states
from novum.graphical.models.conditional import Tabular

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork


def from_pyagrum(bn: Any) -> BayesianNetwork:
    """A network from pyAgrum's `BayesNet`.

    Parameters
    ----------
    bn : pyagrum.BayesNet
        Variables of every kind are read with their labels as states.
    """
    from novum.graphical.models.bayesian_network import BayesianNetwork

    variables = [bn.variable(node) for node in sorted(bn.nodes())]
    axes = {v.name(): StateAxis(v.name(), tuple(v.labels())) for v in variables}
    made = []
    for name, axis in axes.items():
        table = bn.cpt(name)
        parents = list(table.names)[1:]
        # Reversing all axes and moving the variable back to the end restores the parents' order.
        cells = np.moveaxis(np.asarray(table.toarray()).T, 0, -1)
        made.append(Tabular(axis, tuple(axes[parent] for parent in parents), cells))
    return BayesianNetwork(made)


def to_pyagrum(network: BayesianNetwork) -> Any:
    """pyAgrum's `BayesNet` of a network; needs pyAgrum."""
    import pyagrum

    states = text_states(network, "A pyAgrum network")
    bn = pyagrum.BayesNet()
    for name in network.names:
        bn.add(pyagrum.LabelizedVariable(name, name, list(states[name])))
    for parent, child in network.edges:
        bn.addArc(parent, child)
    for item in network.conditionals:
        cells = np.moveaxis(item.table, -1, 0).T
        bn.cpt(item.name).fillWith(cells.ravel().tolist())
    return bn
