"""Enumeration: the answer as it is defined, by summing the full joint table.

    P(t | e) = sum over all other variables of  product of all factors,  divided by its total

Its table has one cell for every joint state of the unobserved variables, so it is for small models
only, and beyond its limit it refuses. It is what other engines are compared with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from novum.distributions import check_cells
from novum.graphical.inference.potentials import (
    from_logs,
    in_order,
    known_potentials,
    log_product,
    product,
    stays_in_range,
)
from novum.graphical.inference.protocol import Beliefs, ExactEngine, impossible, with_observed
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.numerics import Floats


@dataclass(frozen=True)
class Enumeration(ExactEngine):
    """Exact posteriors by summing the full joint table; for small models.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network.query("wet", engine=Enumeration())
    wet    probability
    true          0.26
    false         0.74
    """

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        asked = range(model.n_variables - model.n_hidden) if variables is None else variables
        table, log = self._table(model, evidence)
        if log == -math.inf:
            raise impossible()
        tables = tuple(self._posterior(model, evidence, table, [variable]) for variable in asked)
        return Beliefs(tables, log)

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        table, log = self._table(model, evidence)
        if log == -math.inf:
            raise impossible()
        return Beliefs((self._posterior(model, evidence, table, variables),), log)

    def log_evidence(self, model: ModelArrays, evidence: Evidence) -> float:
        return self._table(model, evidence)[1]

    def _posterior(
        self, model: ModelArrays, evidence: Evidence, table: Floats, variables: Sequence[int]
    ) -> Floats:
        unobserved = np.flatnonzero(evidence.codes < 0).tolist()
        free = [variable for variable in variables if evidence.codes[variable] < 0]
        axes = tuple(axis for axis, variable in enumerate(unobserved) if variable not in free)
        kept = [variable for variable in unobserved if variable in free]
        summed = table.sum(axis=axes).transpose([kept.index(variable) for variable in free])
        return with_observed(model, evidence, variables, free, summed / summed.sum())

    def _table(self, model: ModelArrays, evidence: Evidence) -> tuple[Floats, float]:
        """The product of all factors over the unobserved variables, and the log of its sum."""
        scope = tuple(np.flatnonzero(evidence.codes < 0).tolist())
        shape = [int(model.cards[variable]) for variable in scope]
        check_cells(shape)
        factors = known_potentials(model, evidence)
        potentials = [in_order(potential, lambda variable: variable) for potential in factors]
        if stays_in_range(model, evidence):
            table, log = product(potentials, scope, shape), 0.0
        else:
            table, log = from_logs(log_product(potentials, scope, shape))
        total = float(table.sum())
        return table, log + math.log(total) if total > 0 else -math.inf
