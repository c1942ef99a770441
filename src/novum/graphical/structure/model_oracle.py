"""Whether sets of variables are independent in a model, asked of the model itself.

    separated in the graph           independent, whatever the tables are
    otherwise, a table small enough  the joint table of the variables in question says it exactly
    otherwise                        one state c of what is given with P(x, y | c) differing from
                                     P(x | c) P(y | c) proves that they are not independent

Independences that only the numbers of large tables show cannot be proved that way, and are refused.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

from novum.core.errors import InputError
from novum.core.text import listed
from novum.distributions.independence import check_independence
from novum.distributions.joint_table import JointTable
from novum.graphical.models.questions import place_of
from novum.graphical.structure.separation import connected
from novum.graphical.structure.triangulation import interaction_graph
from novum.numerics.shared_state import cached_property

if TYPE_CHECKING:
    from novum.graphical.models.network_questions import NetworkQuestions

# Cells of a joint table that is asked for, and of one of all variables that is kept.
MOST_CELLS, MOST_KEPT = 2**20, 2**14
# States of what is given that are tried.
MOST_TRIED = 20


class ModelOracle:
    """Independences of a network or factor graph.

    Parameters
    ----------
    model : BayesianNetwork or FactorGraph

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("a", table=[0.2, 0.8])
    >>> network = network.add("b", ["a"], [[0.9, 0.1], [0.3, 0.7]])
    >>> network = network.add("c", ["b"], [[0.6, 0.4], [0.6, 0.4]])
    >>> ask = ModelOracle(network)
    >>> ask(("a",), ("b",), ()), ask(("a",), ("c",), ("b",)), ask(("b",), ("c",), ())
    (False, True, True)
    """

    def __init__(self, model: NetworkQuestions) -> None:
        self.model = model

    def __call__(self, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...]) -> bool:
        if self._is_separated(a, b, given):
            return True
        if self._joint is not None:
            return bool(check_independence(self._joint, a, b, given=given))
        if self._cells((*a, *b, *given)) <= MOST_CELLS:
            table = self.model.query(*a, *b, *given)
            return bool(check_independence(table, a, b, given=given))
        if not self._is_refuted(a, b, given):
            raise InputError(
                f"Whether {listed(a)} and {listed(b)} are independent given {len(given)} others "
                f"needs a table of {self._cells((*a, *b, *given)):.3g} cells; {MOST_CELLS} is the "
                "limit. Ask about fewer variables, or give the graph of the network, whose "
                "independences hold for all tables."
            )
        return False

    @cached_property
    def _joint(self) -> JointTable | None:
        """All variables in one table, where that is small."""
        names = self.model.names
        return self.model.query(*names) if self._cells(names) <= MOST_KEPT else None

    def _cells(self, names: tuple[str, ...]) -> float:
        return math.prod(len(self.model.variables[place].states) for place in self._places(names))

    def _places(self, names: tuple[str, ...]) -> list[int]:
        return [place_of(self.model, name) for name in names]

    def _is_separated(self, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...]) -> bool:
        left, right, known = (set(self._places(names)) for names in (a, b, given))
        graph = getattr(self.model, "graph", None)
        if graph is not None:
            return not connected(graph, left, known) & right
        waiting, seen = list(left), left | known
        while waiting:
            following = self._near[waiting.pop()] - seen
            waiting += following
            seen |= following
        return not seen & right

    @cached_property
    def _near(self) -> list[set[int]]:
        arrays = self.model.arrays
        scopes = [arrays.scope(factor).tolist() for factor in range(arrays.n_factors)]
        return interaction_graph(scopes, arrays.n_variables)

    def _is_refuted(self, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...]) -> bool:
        """Whether two of the variables depend on each other at some state of what is given."""
        if not self.model.arrays.is_directed:
            return False
        rows = self.model.sample(MOST_TRIED, 0).select(list(given)).to_pylist()
        return any(
            not check_independence(self.model.query(x, y, given=row), x, y)
            for row in rows
            for x, y in product(a, b)
        )
