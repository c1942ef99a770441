"""Judging a policy by the traces of another one.

An episode of the behavior b counts for the policy pi with the weight

    w = product over its steps of  pi(a | s) / b(a | s).

The mean of w times the return has no bias, and often a large error; divided by the mean of w it has
a little bias and much less error. Where b is not known it is estimated by counting.

Episodes that b hardly makes and pi does are missing from most traces, and they are the long or the
unlucky ones, so that the spread of what was seen says too little. With the shares s = w / sum of w,
what may be missing is put at

    h = max(largest s, 1 - mean of w)

since w has mean 1, and since an episode of the largest weight might as well not have been met. The
interval is that of a ratio (leave-one-out errors, Student's t with sum(s^2)^-1 - 1 degrees of
freedom), of which a part h goes to the least and to the largest return of all episodes.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from novum.core.errors import InputError
from novum.numerics import Floats, as_argument, kernel
from novum.reinforcement.learning.traces import Traces
from novum.reinforcement.policy import Policy

# A share of missing episodes from which an interval is worth a warning.
MUCH = 0.1


@dataclass(frozen=True)
class OffPolicyEstimate:
    """What a policy would have gained, from traces of another one.

    Attributes
    ----------
    value : float
        By weights that are divided by their sum: a little biased, much less noisy.
    low, high : float
        Its interval; a share `hidden` of the policy's episodes may have any return that was seen.
    hidden : float
        How much of what the policy would do the traces may not show.
    unweighted : float
        By plain weights: without bias, often with a large error.
    per_decision : float
        Each reward weighted by the steps before it only.
    effective_episodes : float
        As many episodes of the policy itself would say as much: (sum w)^2 / sum w^2.
    behavior : str
        Whether the probabilities of the traces were given or estimated by counting.
    """

    value: float
    low: float
    high: float
    hidden: float
    unweighted: float
    per_decision: float
    effective_episodes: float
    n_episodes: int
    behavior: str

    def __repr__(self) -> str:
        return (
            f"{self.value:.6g} [{self.low:.6g}, {self.high:.6g}], as from "
            f"{self.effective_episodes:.1f} of {self.n_episodes} episodes "
            f"(behavior {self.behavior}; {self.hidden:.0%} of the policy's may be missing)"
        )


def evaluate_off_policy(
    traces: Traces, policy: Any, discount: float, level: float = 0.95
) -> OffPolicyEstimate:
    """The value of a policy at the starts of the traces, by importance weights.

    Parameters
    ----------
    traces : Traces
        Where the probabilities of actions are not known they are estimated by counting.
    policy : Policy, mapping, codes or probabilities
    discount : float
    level : float
        Of the interval.
    """
    wanted = _shares(traces, policy)[traces.state, traces.action]
    known = traces.probability
    steps = wanted / (_counted_shares(traces) if known is None else known)
    episode = np.repeat(np.arange(traces.n_episodes), traces.lengths)
    weight, per_decision = np.ones(traces.n_episodes), np.zeros(traces.n_episodes)
    _weights(
        as_argument(steps), as_argument(traces.reward), as_argument(episode, np.int64), discount,
        weight, per_decision,
    )  # fmt: skip
    returns = traces.returns(discount)
    total = weight.sum()
    if total == 0:
        raise InputError(
            "No episode of the traces could have come from this policy: it takes actions that were "
            "never taken. Gather traces that explore more."
        )
    value = float(weight @ returns / total)
    effective = float(total**2 / (weight**2).sum())
    low, high, hidden = _interval(weight, returns, value, level)
    if hidden > MUCH:
        warnings.warn(
            f"Up to {hidden:.0%} of the episodes of this policy may be missing from the traces, "
            f"which tell as much as {effective:.1f} episodes of its own. The interval takes their "
            "returns to lie among those that were seen. Gather traces nearer to the policy.",
            UserWarning,
            stacklevel=2,
        )
    return OffPolicyEstimate(
        value,
        low,
        high,
        hidden,
        float((weight * returns).mean()),
        float(per_decision.mean()),
        effective,
        traces.n_episodes,
        "estimated" if known is None else "known",
    )


def _interval(
    weight: Floats, returns: Floats, value: float, level: float
) -> tuple[float, float, float]:
    """The interval of a weighted mean, and the share of the weight that may not have been met."""
    share = weight / weight.sum()
    hidden = float(min(max(share.max(), 1 - weight.mean()), 1.0))
    others = np.maximum(1 - share, np.finfo(float).eps)
    error = float(np.linalg.norm(share * (returns - value) / others))
    freedom = max(1 / float((share**2).sum()) - 1, 1.0)
    reach = float(special.stdtrit(freedom, (1 + level) / 2)) * error
    low = (1 - hidden) * (value - reach) + hidden * min(float(returns.min()), value - reach)
    high = (1 - hidden) * (value + reach) + hidden * max(float(returns.max()), value + reach)
    return low, high, hidden


def _counted_shares(traces: Traces) -> Floats:
    """How often the action of each step is taken in its state."""
    tally = np.zeros((len(traces.states), len(traces.actions)))
    np.add.at(tally, (traces.state, traces.action), 1.0)
    return (tally / np.maximum(tally.sum(1, keepdims=True), 1))[traces.state, traces.action]


def _shares(traces: Traces, policy: Any) -> Floats:
    """Probabilities of actions, by the names of the traces."""
    n, m = len(traces.states), len(traces.actions)
    if isinstance(policy, Policy):
        table = np.zeros((n, m))
        for s, state in enumerate(traces.states):
            own = policy.action(state)
            for action, share in (own if isinstance(own, dict) else {own: 1.0}).items():
                if action is not None and action in list(traces.actions):
                    table[s, traces.actions.position(action)] = share
        return table
    if isinstance(policy, dict):
        table = np.zeros((n, m))
        for state, own in policy.items():
            for action, share in (own if isinstance(own, dict) else {own: 1.0}).items():
                table[traces.states.position(state), traces.actions.position(action)] = share
        return table
    array = np.asarray(policy)
    if array.shape == (n,):
        table = np.zeros((n, m))
        table[np.arange(n), array.astype(int)] = 1.0
        return table
    if array.shape != (n, m):
        raise InputError(f"A policy has the shape ({n},) or ({n}, {m}), got {array.shape}.")
    return np.asarray(array, np.float64)


@kernel("void(float64[::1], float64[::1], int64[::1], float64, float64[::1], float64[::1])")
def _weights(steps, reward, episode, discount, out_weight, out_per_decision):
    power = 1.0
    for i in range(steps.size):
        e = episode[i]
        if i == 0 or episode[i - 1] != e:
            power = 1.0
        out_weight[e] *= steps[i]
        out_per_decision[e] += power * out_weight[e] * reward[i]
        power *= discount
