"""How much a policy can lose at most, proved from any guess V of the values.

With T V(s) = max over pairs p of s of  Q_p = r_p + discount * P_p V,  let

    rise   = max over s of  T V(s) - V(s)              (what the best action adds)
    fall   = min over s of  Q_pi(s) - V(s)             (what the policy's own action adds)
    h      a function with  h - discount * P_p h >= 1  for every pair

Then V + rise * h is at least the best values V*, and V + fall * h (fall < 0) at most those of the
policy, because the operators are monotone. So the policy loses at most (rise - fall) * h(s) in any
state: the bound of MacQueen (1966), where h = 1 / (1 - discount).

Without a discount no constant is such an h. Only pairs whose Q comes near V matter: those far below
stay below V + rise * h for any h of moderate size. So h is the largest expected number of steps
that near-best actions take to the end, and that V + rise * h is above all actions is then checked,
pair by pair, with the rounding of the arithmetic on the safe side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from novum.numerics import EPSILON, Floats, Integers
from novum.reinforcement.pairs import Pairs


@dataclass(frozen=True, eq=False)
class LossBound:
    """What is proved about a policy and about values.

    Attributes
    ----------
    loss : float
        No policy is better by more, in any state; infinite if nothing is proved.
    lower, upper : arrays (n_states,)
        Between these lie the best values; the policy's own are at least `lower`.
    action_values : array (n_pairs,)
        Of the middle of both.
    residual : float
        The largest |T V - V|.
    rounding : float
        What rounding alone would make of the loss.
    """

    loss: float
    lower: Floats
    upper: Floats
    action_values: Floats
    residual: float
    rounding: float

    @property
    def values(self) -> Floats:
        return 0.5 * (self.lower + self.upper)


def loss_bound(pairs: Pairs, discount: float, values: Floats, chosen: Integers) -> LossBound:
    """The bound of a policy, given by its pairs, from a guess of the values."""
    if discount < 1:
        return _discounted(pairs, discount, values, chosen)
    return _undiscounted(pairs, values, chosen)


def _terms(pairs: Pairs) -> int:
    """Additions in the longest row."""
    if pairs.is_dense:
        return pairs.n_states
    lengths = np.diff(pairs.rows.indptr)
    return int(lengths.max()) if lengths.size else 0


def _rounding(pairs: Pairs, discount: float, values: Floats) -> float:
    """An upper bound of the error of any Q - V that was computed."""
    largest = float(np.abs(pairs.reward).max()) + (1 + discount) * float(np.abs(values).max())
    return 2.0 * (_terms(pairs) + 4) * EPSILON * largest


def _discounted(pairs: Pairs, discount: float, values: Floats, chosen: Integers) -> LossBound:
    action_values = pairs.reward + discount * pairs.expected(values)
    gain = action_values - values[pairs.state]
    error = _rounding(pairs, discount, values)
    rise = float(gain.max()) + error
    fall = float(gain[chosen].min()) - error
    sums = pairs.row_sums
    # Rows sum to one up to rounding, or to less where the process can end.
    most = discount * (float(sums.max()) + _terms(pairs) * EPSILON)
    least = discount * (float(sums.min()) - _terms(pairs) * EPSILON)
    if most >= 1:
        unknown = np.full(pairs.n_states, math.inf)
        return LossBound(math.inf, -unknown, unknown, action_values, _size(gain, pairs), math.inf)
    above = rise / (1 - (most if rise >= 0 else least))
    below = fall / (1 - (most if fall <= 0 else least))
    # Which pairs can still be best, given these bounds; where only the policy's own are left, it
    # is best and loses nothing.
    reach = action_values + np.maximum(most * above, least * above) + error
    possible = reach >= (values + below)[pairs.state]
    possible[chosen] = False
    loss = above - below if possible.any() else 0.0
    middle = 0.5 * (above + below)
    return LossBound(
        loss,
        values + below,
        values + above,
        action_values + discount * sums * middle,
        _size(gain, pairs),
        2 * error / (1 - most),
    )


def _size(gain: Floats, pairs: Pairs) -> float:
    best = np.maximum.reduceat(gain, pairs.start[:-1])
    return float(np.abs(best).max())


# --- Without a discount ---------------------------------------------------------------------------

_ROUNDS = 200


def _undiscounted(pairs: Pairs, values: Floats, chosen: Integers) -> LossBound:
    action_values = pairs.reward + pairs.expected(values)
    gain = action_values - values[pairs.state]
    error = _rounding(pairs, 1.0, values)
    rise = max(float(gain.max()), 0.0) + error
    fall = min(float(gain[chosen].min()), 0.0) - error
    bound = LossBound(
        math.inf,
        np.full(pairs.n_states, -math.inf),
        np.full(pairs.n_states, math.inf),
        action_values,
        _size(gain, pairs),
        math.inf,
    )
    scale = max(float(np.abs(values).max()), float(np.abs(pairs.reward).max()), 1e-300)
    for near in (1e-3, 1e-6, 1e-9):
        steps = _steps_of_near_best(pairs, gain, chosen, -near * scale)
        if steps is None:
            continue
        # Twice as steep as needed, so that errors of `steps` do not matter.
        slope = 2.0 * steps
        drop = slope[pairs.state] - pairs.expected(slope)
        safe = _rounding(pairs, 1.0, slope)
        is_above = (gain + error <= rise * (drop - safe)).all()
        is_below = (drop[chosen] - safe >= 1).all()
        if not (is_above and is_below):
            continue
        lower, upper = values + fall * slope, values + rise * slope
        # The mean of `slope` over the next state is `slope` of this one less the drop.
        reach = action_values + rise * (slope[pairs.state] - drop) + error
        possible = reach >= lower[pairs.state]
        possible[chosen] = False
        loss = float(((rise - fall) * slope).max()) if possible.any() else 0.0
        middle = 0.5 * (rise + fall) * slope
        return replace(
            bound,
            loss=loss,
            lower=lower,
            upper=upper,
            action_values=action_values + pairs.expected(middle),
            rounding=float((2 * error * slope).max()),
        )
    return bound


def _steps_of_near_best(
    pairs: Pairs, gain: Floats, chosen: Integers, least_gain: float
) -> Floats | None:
    """Most expected steps to the end that near-best actions take; None where they may not end."""
    from novum.reinforcement.planning.policy_iteration import improve

    kept = gain >= least_gain
    kept[chosen] = True
    near, places = pairs.subset(kept)
    counting = replace(near, reward=np.ones(near.n_pairs))
    own = np.searchsorted(places, chosen)
    result = improve(counting, 1.0, own, _ROUNDS, slack=1e-3)
    if result is None or not np.isfinite(result.values).all() or result.values.min() < 0.5:
        return None
    return result.values
