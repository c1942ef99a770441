"""Variable elimination: sum out one variable after the other, for one question at a time.

    sum over x of  f_1(x, ..) f_2(x, ..) g(..)   =   g(..) * (sum over x of f_1(x, ..) f_2(x, ..))

Only factors that the question depends on take part (`relevance`), and only the factors that hold a
variable are multiplied when it goes. The order is that of `triangulation`. Where products might
leave the range of floating-point numbers, messages in logarithms (`log_junction`) answer instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from novum.graphical.inference.log_junction import LogJunctionTree
from novum.graphical.inference.plain_junction import (
    check_order,
    contradicts_elsewhere,
    impossible,
    order_for,
    relevant_potentials,
    with_observed,
)
from novum.graphical.inference.potentials import (
    Floats,
    Potential,
    in_order,
    known_potentials,
    product,
    scaled,
    shape_of,
    stays_in_range,
)
from novum.graphical.inference.protocol import Beliefs, ExactEngine
from novum.graphical.inference.relevance import needed_factors
from novum.graphical.models.arrays import Evidence, ModelArrays


@dataclass(frozen=True)
class VariableElimination(ExactEngine):
    """Exact posteriors by eliminating variables, one question at a time.

    Parameters
    ----------
    memory_limit : int, str or None
        For the largest tables; by default what `novum.core.memory` allows.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network.query("rain", given={"wet": "false"}, engine=VariableElimination())
    rain   probability
    true      0.027027
    false     0.972973
    """

    memory_limit: int | str | None = None

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        asked = range(model.n_variables - model.n_hidden) if variables is None else variables
        if not stays_in_range(model, evidence):
            return self._careful.marginals(model, evidence, variables)
        log = self.log_evidence(model, evidence)
        if log == -math.inf:
            raise impossible()
        tables = tuple(self._table(model, evidence, [variable]) for variable in asked)
        return Beliefs(tables, log)

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        if not stays_in_range(model, evidence):
            return self._careful.joint(model, evidence, variables)
        table = self._table(model, evidence, variables)
        if contradicts_elsewhere(self, model, evidence):
            raise impossible()
        return Beliefs((table,))

    def log_evidence(self, model: ModelArrays, evidence: Evidence) -> float:
        if not stays_in_range(model, evidence):
            return self._careful.log_evidence(model, evidence)
        needed = needed_factors(model, evidence)
        potentials = known_potentials(model, evidence, needed)
        return self._eliminated(model, potentials, ())[1]

    @property
    def _careful(self) -> LogJunctionTree:
        """What answers where products might leave the range of floats."""
        return LogJunctionTree(self.memory_limit)

    def _table(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Floats:
        free = [variable for variable in variables if evidence.codes[variable] < 0]
        potentials = relevant_potentials(model, evidence, free)
        table, log = self._eliminated(model, potentials, tuple(free))
        if log == -math.inf:
            raise impossible()
        return with_observed(model, evidence, variables, free, table / table.sum())

    def _eliminated(
        self, model: ModelArrays, potentials: list[Potential], kept: tuple[int, ...]
    ) -> tuple[Floats, float]:
        """The table of the variables that stay, scaled, and the logarithm of its scale or sum."""
        order = order_for(potentials, model.cards, kept)
        check_order(order, self.memory_limit)
        rank = {variable: -place for place, variable in enumerate(order.variables)}
        left = [in_order(potential, rank.__getitem__) for potential in potentials]
        log = 0.0
        for variable in order.variables[: len(order.variables) - len(kept)]:
            held = [potential for potential in left if variable in potential[0]]
            left = [potential for potential in left if variable not in potential[0]]
            scope = tuple(sorted({v for s, _ in held for v in s}, key=rank.__getitem__))
            table = product(held, scope, shape_of(scope, model.cards))
            message, part = scaled(table.sum(axis=scope.index(variable)))
            log += part
            left.append((tuple(v for v in scope if v != variable), message))
        scope = tuple(sorted(kept, key=rank.__getitem__))
        table = product(left, scope, shape_of(scope, model.cards))
        total = float(table.sum())
        axes = [scope.index(variable) for variable in kept]
        log += math.log(total) if total > 0 else -math.inf
        return np.transpose(table, axes), log
