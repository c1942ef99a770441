"""A plan: values, the best policy, and how much it can lose at most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Certificate
from novum.display import Paragraph, Table, notebook
from novum.numerics import Floats, Integers, cached_property
from novum.reinforcement.pairs import END
from novum.reinforcement.policy import Policy
from novum.reinforcement.process import MarkovDecisionProcess

SHOWN = 12
# Actions that differ by less, relative to the largest value, count as equally good.
TIE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """What `solve` found.

    Attributes
    ----------
    process : MarkovDecisionProcess
    values : array (n_states,), or (horizon + 1, n_states)
        With a horizon, row t has the values with t steps to go. They are within
        `certificate.details["values_within"]` of the best ones.
    policy : Policy
        The best one; with a horizon by steps.
    certificate : Certificate
        `distance_bound` is the largest possible loss of the policy, over all states.
    horizon : int or None
    """

    process: MarkovDecisionProcess
    values: Floats
    pair_values: Floats
    policy: Policy
    certificate: Certificate
    horizon: int | None = None

    @cached_property
    def action_values(self) -> Floats:
        """The value of each action, (n_states, n_actions); NaN where a state lacks it.

        With a horizon, of the first step.
        """
        return self.process.by_action(self._first(self.pair_values))

    def _first(self, by_steps: Floats) -> Floats:
        return by_steps if self.horizon is None else by_steps[-1]

    def value(self, state: Any) -> float:
        """The value of one state."""
        return float(self._first(self.values)[self.process.states.position(state)])

    def optimal_actions(self, state: Any, within: float | None = None) -> list[Any]:
        """All actions that are as good as the best one; none where the process ends.

        Parameters
        ----------
        within : float, optional
            How much less an action may be worth. By default what cannot be told from rounding
            (a billionth of the largest value of an action), or what is not proved about the loss
            of the policy where that is more.
        """
        code = self.process.states.position(state)
        pairs = self.process.pairs
        own = slice(int(pairs.start[code]), int(pairs.start[code + 1]))
        if pairs.is_terminal[code]:
            return []
        values = self._first(self.pair_values)[own]
        near = values >= values.max() - (self._doubt if within is None else within)
        return [self.process.actions[int(a)] for a in pairs.action[own][near]]

    @cached_property
    def _doubt(self) -> float:
        scale = max(float(np.abs(self._first(self.pair_values)).max()), 1e-300)
        loss = self.certificate.distance_bound or 0.0
        return max(TIE * scale, loss if math.isfinite(loss) else 0.0)

    def advantage(self, state: Any, action: Any) -> float:
        """What an action is worth less than the best one; never above zero."""
        code = self.process.states.position(state)
        pair = self.process.pair(code, self.process.actions.position(action))
        values = self._first(self.pair_values)
        return float(values[pair] - self.process.pairs.best(values)[code])

    # --- When rewards change ----------------------------------------------------------------------

    def reward_range(self, state: Any = None, action: Any = None) -> tuple[float, float]:
        """Between which rewards of a state (or of one of its actions) the policy stays best.

        The rewards are those expected for the step; all others stay as they are. Without a state,
        the rewards of all states that are not terminal move together.

        Returns
        -------
        low, high : float
            The least and the largest reward; both are about the present ones. For all states the
            numbers are changes of rewards.

        Examples
        --------
        >>> from novum.reinforcement import solve
        >>> machine = MarkovDecisionProcess(
        ...     [[[0.8, 0.2], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]], [[10.0, 7.0], [4.0, -3.0]],
        ...     0.9, states=["good", "worn"], actions=["run", "repair"])
        >>> low, high = solve(machine).reward_range("worn", "repair")
        >>> round(low, 3), high
        (-9.667, inf)
        """
        from novum.reinforcement.planning.linear_program import reward_range

        return reward_range(self, state, action)

    # --- Showing ----------------------------------------------------------------------------------

    def draw(self) -> Any:
        """The process with values and best actions, as text, SVG or matplotlib."""
        from novum.reinforcement.pictures import PlanPicture

        return PlanPicture.of(self.process, self._first(self.values), self.policy.at_step(0))

    def __repr__(self) -> str:
        return f"{self._table().as_text()}\n{self._sentence()}"

    def _repr_html_(self) -> str:
        return notebook(self._table(), Paragraph(self._sentence()))

    def _table(self) -> Table:
        first = self._first(self.values)
        names = self.process.states
        shown = range(min(SHOWN, len(names)))
        rows = [
            [
                str(names[s]),
                f"{first[s]:.6g}",
                ", ".join(map(str, self.optimal_actions(names[s]))) or "(terminal)",
            ]
            for s in shown
        ]
        more = len(names) - len(rows)
        note = f"and {more} more states" if more else ""
        return Table.of_numbers("", ["state", "value", "best actions"], rows, note)

    def _sentence(self) -> str:
        return loss_sentence(self.certificate)


def loss_sentence(certificate: Certificate) -> str:
    """What is proved about the policy, and about values whose six digits are not all right."""
    loss = certificate.distance_bound
    how = certificate.details.get("method")
    if loss == 0:
        proved = "no policy is better: proved"
    elif loss is None or not math.isfinite(loss):
        proved = "nothing is proved about the loss"
    else:
        proved = f"no policy is better by more than {loss:.2g} in any state"
    within = certificate.details.get("values_within", 0.0)
    if 1e-6 * certificate.details.get("largest_value", math.inf) < within < math.inf:
        proved += f"; the values are within {within:.2g} of the best ones"
    return f"{proved} ({how})." if how else f"{proved}."


def policy_of_pairs(process: MarkovDecisionProcess, chosen: Integers) -> Policy:
    """The policy that takes these pairs, (n_states,) or (n_steps, n_states)."""
    choices = process.pairs.action[chosen]
    if (choices == END).all() and not process.pairs.is_terminal.all():
        raise InputError("A policy without any action was made.")
    return Policy(process.states, process.actions, choices=choices)
