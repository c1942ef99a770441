"""Backward induction: the best policy for a finite number of steps.

    V_0 = final,    V_t(s) = max over pairs p of s of   r_p + discount * P_p V_{t-1}

The policy looks at the clock: with t steps to go it takes the pair that is best for V_{t-1}. Exact
but for rounding, whose bound adds up over the steps.
"""

from __future__ import annotations

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Certificate, Stopwatch, Verdict
from novum.core.runtime import check_cancelled, check_memory
from novum.core.text import label_text
from novum.numerics import EPSILON, Floats
from novum.reinforcement.planning.plan import Plan, policy_of_pairs
from novum.reinforcement.process import MarkovDecisionProcess


def backward_induction(
    process: MarkovDecisionProcess, horizon: int, final: Floats | None = None
) -> Plan:
    """Plans for `horizon` steps, after which `final` values are received (zero by default)."""
    watch = Stopwatch()
    if isinstance(horizon, bool) or int(horizon) != horizon or horizon < 1:
        raise InputError(f"A horizon is a number of steps from 1 on, got {label_text(horizon)}.")
    steps, pairs, n = int(horizon), process.pairs, process.n_states
    check_memory(
        8 * steps * (2 * n + pairs.n_pairs),
        f"Values and policy of {n} states for {steps} steps",
        "Shorten the horizon, or give the process a discount and no horizon.",
    )
    values = np.zeros((steps + 1, n))
    if final is not None:
        values[0] = final
    pair_values = np.empty((steps, pairs.n_pairs))
    chosen = np.empty((steps, n), np.int64)
    rounding = 0.0
    terms = n if pairs.is_dense else int(np.diff(pairs.rows.indptr).max(initial=0))
    for left in range(1, steps + 1):
        check_cancelled()
        pair_values[left - 1] = pairs.reward + process.discount * pairs.expected(values[left - 1])
        values[left] = pairs.best(pair_values[left - 1])
        # The policy of step 0 is the one with all steps to go.
        chosen[steps - left] = pairs.greedy(pair_values[left - 1], values[left])
        size = np.abs(pairs.reward).max() + np.abs(values[left - 1]).max()
        rounding = process.discount * rounding + 2 * (terms + 4) * EPSILON * float(size)
    certificate = Certificate(
        objective=f"expected reward of {steps} steps",
        verdict=Verdict.PROVED,
        distance_bound=2 * rounding,
        residual=0.0,
        iterations=steps,
        details={"method": "backward induction"},
        seconds=watch.seconds,
    )
    policy = policy_of_pairs(process, chosen)
    return Plan(process, values, pair_values, policy, certificate, steps)
