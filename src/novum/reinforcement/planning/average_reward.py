"""Average reward: the policy with the largest mean reward of a step in the long run.

    gain(s) = lim  1/n * expected sum of n rewards from s

In an end component, whose states all lead to each other, every state has the same best gain g, and
for any function V

    min over s of  T V(s) - V(s)   <=   g   <=   max over s of  T V(s) - V(s),   T undiscounted

(Odoni 1969). Value iteration on a process that stays where it is every other step brings both ends
together; the greedy policy gains at least the lower end. Elsewhere the gain is that of the best mix
of components that can be reached: the merged process, where staying in a component is worth its
gain, is one without a discount (`undiscounted`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.core.learners import Certificate, Stopwatch, Verdict
from novum.core.runtime import check_cancelled
from novum.display import Table
from novum.numerics import Floats, Integers, Mask
from novum.reinforcement.pairs import END, Pairs
from novum.reinforcement.planning.loss_bound import loss_bound
from novum.reinforcement.planning.policy_iteration import improve
from novum.reinforcement.planning.undiscounted import (
    STAY,
    end_components,
    ending_policy,
    merge_components,
)
from novum.reinforcement.policy import Policy
from novum.reinforcement.process import MarkovDecisionProcess

MOST_SWEEPS = 200_000


@dataclass(frozen=True, eq=False, repr=False)
class AveragePlan:
    """The best policy by its mean reward.

    Attributes
    ----------
    gain : array (n_states,)
        Mean reward of a step in the long run, from each state; 0 where the process ends.
    policy : Policy
    certificate : Certificate
        `distance_bound` is the largest possible loss of mean reward.
    """

    gain: Floats
    policy: Policy
    certificate: Certificate

    def __repr__(self) -> str:
        names = list(self.policy.states)[:12]
        rows = [[str(s), f"{self.gain[i]:.6g}", str(self.policy[s])] for i, s in enumerate(names)]
        table = Table.of_numbers("", ["state", "gain", "action"], rows).as_text()
        return f"{table}\n{self.certificate.sentence}"


def average_reward(process: MarkovDecisionProcess, tol: float = 1e-9) -> AveragePlan:
    """The policy of the largest mean reward of a step.

    Parameters
    ----------
    process : MarkovDecisionProcess
        Its discount plays no role.
    tol : float
        Loss of mean reward, relative to the largest reward.

    Examples
    --------
    >>> machine = MarkovDecisionProcess(
    ...     [[[0.8, 0.2], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]], [[10.0, 7.0], [4.0, -3.0]],
    ...     states=["good", "worn"], actions=["run", "repair"])
    >>> plan = average_reward(machine)
    >>> plan.policy["worn"], round(float(plan.gain[0]), 4)
    ('repair', 7.8333)
    """
    watch = Stopwatch()
    pairs = process.pairs.as_sparse()
    label, inside = end_components(pairs, pairs.action != END)
    n_components = int(label.max()) + 1 if label.size else 0
    low, high = np.zeros(n_components), np.zeros(n_components)
    at_rest = np.full(pairs.n_states, STAY, np.int64)
    for number in range(n_components):
        here, members = inside & (label[pairs.state] == number), np.flatnonzero(label == number)
        low[number], high[number], at_rest[members] = component_gain(pairs, here, members, tol=tol)
    merged = merge_components(pairs, label, inside, 0.5 * (low + high), np.zeros(pairs.n_pairs))
    start, lost = ending_policy(merged.pairs)
    assert not lost.any(), "a component that is never left was merged"
    solved = improve(merged.pairs, 1.0, start)
    assert solved is not None
    bound = loss_bound(merged.pairs, 1.0, solved.values, solved.chosen)
    chosen = merged.back(process.pairs, solved.chosen, at_rest)
    # Gains may be wrong by half their interval at both ends.
    loss = bound.loss + float((high - low).max(initial=0.0))
    scale = max(float(np.abs(pairs.reward).max()), 1e-300)
    verdict = Verdict.WITHIN_TOLERANCE if loss <= 10 * tol * scale else Verdict.STOPPED_EARLY
    certificate = Certificate(
        objective="mean reward of a step",
        verdict=verdict,
        distance_bound=loss,
        residual=loss,
        iterations=solved.iterations,
        details={"tol": 10 * tol * scale, "components": n_components},
        seconds=watch.seconds,
    )
    policy = Policy(process.states, process.actions, choices=process.pairs.action[chosen])
    return AveragePlan(solved.values[merged.block], policy, certificate)


def component_gain(
    pairs: Pairs,
    here: Mask,
    members: Integers,
    *,
    tol: float = 1e-9,
    sign_only: bool = False,
) -> tuple[float, float, Integers]:
    """Bounds of the best gain of an end component, and the pairs of a policy that attains it.

    Parameters
    ----------
    here : bool array (n_pairs,)
        The pairs inside.
    members : int64 array
        Its states.
    sign_only : bool
        Whether to stop as soon as the gain is known to be above or below zero.
    """
    own, places = _component(pairs, here, members)
    values = np.zeros(len(members))
    scale = max(float(np.abs(own.reward).max()), 1e-300)
    low, high = -np.inf, np.inf
    chosen = own.start[:-1]
    for sweep in range(MOST_SWEEPS):
        check_cancelled()
        action_values = own.reward + own.expected(values)
        best = own.best(action_values)
        change = best - values
        if change.min() > low:
            low, chosen = float(change.min()), own.greedy(action_values, best)
        high = min(high, float(change.max()))
        if high - low <= tol * scale or (sign_only and (low > 0 or high < 0)):
            break
        if sweep in (50, 500, 5000):
            better = _solved_gain(own, chosen)
            values = values + 0.5 * change if better is None else better
        else:
            values = values + 0.5 * change
        values = values - values[0]
    return low, high, places[chosen]


def _component(pairs: Pairs, here: Mask, members: Integers) -> tuple[Pairs, Integers]:
    places = np.flatnonzero(here)
    counts = np.bincount(pairs.state[places], minlength=pairs.n_states)[members]
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    rows = pairs.rows[places][:, members]
    return Pairs(start, pairs.action[places], rows, pairs.reward[places]), places


def _solved_gain(own: Pairs, chosen: Integers, rounds: int = 100) -> Floats | None:
    """Howard's iteration for one chain: V + g = r_pi + P_pi V with V = 0 in the first state."""
    n = own.n_states
    values = None
    for _ in range(rounds):
        rows = own.rows_of(chosen)
        dense = np.eye(n) - (rows if isinstance(rows, np.ndarray) else rows.toarray())
        dense[:, 0] = 1.0
        if n > 3000:
            return None
        try:
            solution = np.linalg.solve(dense, own.reward[chosen])
        except np.linalg.LinAlgError:
            return values
        if not np.isfinite(solution).all():
            return values
        values = solution.copy()
        values[0] = 0.0
        action_values = own.reward + own.expected(values)
        best = own.best(action_values)
        better = best - action_values[chosen] > 1e-12 * max(float(np.abs(values).max()), 1e-300)
        if not better.any():
            return values
        chosen = np.where(better, own.greedy(action_values, best), chosen)
    return values
