"""Importance sampling: rows drawn where the evidence leads, weighed by what is left to correct.

    P(t | e)  is estimated by  p = sum of w_i [row i has t] / sum of w_i,     0 <= w_i <= 1

Rows come from bounded elimination (`mini_buckets`), which has looked at all of the evidence before
the first is drawn, and which bounds every weight. So a set of states that no row met, as sets of
probability `3 / n` under the proposal may be, carries at most the share

    hidden = 3 / (n * mean of w)

of the posterior, whatever the model: this is part of the stated error, and an answer is trusted
only where it is small. Within the memory of the tables, nothing is split, all weights are 1, and
rows are independent draws from the posterior.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from novum.core.runtime import RandomSource, stream
from novum.distributions import check_cells
from novum.graphical.inference.flat_factors import flat_factors, flat_factors_of
from novum.graphical.inference.limits import check_count, check_seconds
from novum.graphical.inference.mini_buckets import mini_buckets
from novum.graphical.inference.protocol import Beliefs, Engine
from novum.graphical.inference.sampling import beliefs_of, refuse_weightless
from novum.graphical.inference.weighted_rows import MET, Sums, needed_for
from novum.graphical.models.arrays import Evidence, ModelArrays

# States of all variables and rows of a block.
MOST_CODES = 2**23
# Of drawing one variable of a row, on a reference machine.
SECONDS_PER_STATE = 3e-8


@dataclass(frozen=True)
class ImportanceSampling(Engine):
    """Estimates from rows drawn by bounded elimination; for networks and undirected models.

    Parameters
    ----------
    size : int
        Rows.
    max_cells : int
        Of a table of the proposal. More make rows more alike, up to draws from the posterior.
    random_state : int, generator or None

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("fault", table=[0.00001, 0.99999])
    >>> for i in range(10):
    ...     network = network.add(f"sign{i}", parents=["fault"], table=[[0.3, 0.7], [0.1, 0.9]])
    >>> signs = {f"sign{i}": "true" for i in range(10)}
    >>> found = network.query("fault", given=signs, engine=ImportanceSampling(random_state=0))
    >>> bool(abs(found.values[0] - 0.3713) < 4 * found.errors[0]), found.diagnosis.trusted
    (True, True)
    """

    size: int = 10_000
    max_cells: int = 2**16
    random_state: RandomSource = None

    def __post_init__(self) -> None:
        check_count("size", self.size)
        check_count("max_cells", self.max_cells)

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        asked = range(model.n_variables - model.n_hidden) if variables is None else variables
        return self._answer(model, evidence, [(variable,) for variable in asked])

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        check_cells([int(model.cards[variable]) for variable in variables])
        return self._answer(model, evidence, [tuple(variables)])

    def _answer(
        self, model: ModelArrays, evidence: Evidence, targets: Sequence[Sequence[int]]
    ) -> Beliefs:
        # Also what the targets do not depend on: the log-evidence is that of all of it.
        if model.is_directed:
            factors = np.flatnonzero(needed_for(model, evidence, targets))
            left = flat_factors_of(model, evidence, factors)
        else:
            left = flat_factors(model, evidence)
        check_seconds(
            SECONDS_PER_STATE * self.size * max(1, left.n_variables),
            f"A run of {self.size:.3g} rows of {left.n_variables} variables",
            "Draw fewer rows.",
        )
        buckets = mini_buckets(left, self.max_cells)
        places = np.zeros(model.n_variables, np.int64)
        places[left.variables] = np.arange(left.n_variables)
        sums = Sums(model, evidence, targets, places)
        block = min(self.size, max(1, MOST_CODES // max(1, left.n_variables)))
        work = np.empty(block, np.int64), np.empty(block)
        for start in range(0, self.size, block):
            n = min(block, self.size - start)
            codes, logs = buckets.draw(stream(self.random_state, "rows", start), n)
            sums.add(n, work[0], codes, logs, work[1])
        if sums.totals[2] == 0:
            refuse_weightless(model, evidence, self.size)
        # No weight exceeds 1.
        estimate = sums.result(hidden=MET / self.size * math.exp(-sums.log_mean_weight))
        said = f"{self.size} rows, worth about {estimate.effective_size:.0f} independent ones"
        if buckets.n_split:
            said += (
                f"; tables of {buckets.n_split} of {len(buckets.order)} variables were split to "
                f"have at most {self.max_cells} cells"
            )
        return beliefs_of("importance sampling", estimate, f"{said}.", buckets.log_bound)
