"""Agents judged over seeds: learning curves with intervals, regret, and tests.

One run of an agent says little: the same agent with another seed may learn twice as fast. Here each
agent learns with the same seeds in the same environment. Its curve is the mean over seeds of the
mean return of the episodes that ended in a stretch of steps, with Student's interval over seeds;
regret is what was missed while learning,

    regret = sum over episodes of  optimum - return,

against the value of the best policy, where a plan knows it. Agents are compared by the returns of
their last stretch, paired by seed, with the tests of `compare_scores`. Seeds share no data, so that
no correction for overlap is needed.

Any object with `fit(environment)`, a parameter `random_state`, and afterwards `episode_returns_`
and `episode_lengths_` is an agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from novum.core.errors import InputError
from novum.core.runtime import check_cancelled
from novum.core.text import listed
from novum.display import Axis, Band, Block, Chart, Line, Paragraph, Rule, Table, notebook
from novum.evaluation.comparison.comparison import Comparison, compare_scores
from novum.evaluation.measures.intervals import Interval, mean_interval
from novum.numerics import Floats, Integers

# Of a test part over a training part: the scores of seeds have no rows in common.
NO_OVERLAP = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class AgentComparison:
    """What agents gained while they learned.

    Attributes
    ----------
    steps : int64 array (n_points,)
        Where the stretches of steps end.
    returns : mapping from names to arrays (n_seeds, n_points)
        Mean return of the episodes that ended in each stretch.
    regrets : mapping from names to arrays (n_seeds,), or None
        Sum over episodes of what was missed; None where the optimum is not known.
    agents : mapping from names to the fitted agents of the first seed
    optimum : float or None
    level : float
    """

    steps: Integers
    returns: Mapping[str, Floats]
    regrets: Mapping[str, Floats] | None
    agents: Mapping[str, Any]
    optimum: float | None
    level: float = 0.95

    def curve(self, name: str) -> tuple[Interval, ...]:
        """The mean return in each stretch, with its interval over seeds."""
        if name not in self.returns:
            raise InputError(f"There is no agent {name!r}; there are {listed(list(self.returns))}.")
        columns = self.returns[name].T
        return tuple(mean_interval(column, self.level) for column in columns)

    def final(self, name: str) -> Interval:
        """The mean return of the last stretch."""
        return self.curve(name)[-1]

    def regret(self, name: str) -> Interval:
        """What was missed while learning, in all."""
        if self.regrets is None:
            raise InputError("Regret needs the best value: compare_agents(..., optimum=...).")
        return mean_interval(self.regrets[name], self.level)

    def comparison(self, rope: float = 0.01) -> Comparison:
        """Tests of the returns of the last stretch, paired by seed."""
        if len(self.returns) < 2:
            raise InputError("A comparison needs two agents or more.")
        scores = {name: table[:, -1].tolist() for name, table in self.returns.items()}
        return compare_scores(
            scores, NO_OVERLAP, measure="final return", rope=rope, level=self.level
        )

    def chart(self) -> Chart:
        """Curves with bands, and the optimum as a dotted line."""
        marks: list[Any] = []
        for number, name in enumerate(self.returns):
            curve = self.curve(name)
            low, high = [one.low for one in curve], [one.high for one in curve]
            marks.append(Band(self.steps, low, high, color=number))
            middle = [one.estimate for one in curve]
            marks.append(Line(self.steps, middle, name, color=number))
        if self.optimum is not None:
            marks.append(Rule(y=self.optimum, label="optimum"))
        seeds = len(next(iter(self.returns.values())))
        return Chart(
            Axis("steps"),
            Axis("mean return"),
            marks,
            "Learning curves",
            f"Means of {seeds} seeds with {self.level:.0%} intervals.",
        )

    def table(self) -> Table:
        rows = []
        for name in self.returns:
            row = [name, repr(self.final(name))]
            if self.regrets is not None:
                row.append(repr(self.regret(name)))
            rows.append(row)
        heads = ["agent", "final return", *(["regret"] if self.regrets is not None else [])]
        return Table("", heads, rows)

    def blocks(self) -> list[Block]:
        """For a page: the chart, the numbers, the tests."""
        blocks: list[Block] = [
            self.chart().figure("learning", "Bands are intervals over seeds."),
            self.table(),
        ]
        if len(self.returns) > 1:
            blocks += [Paragraph(line) for line in self.comparison().verdict.splitlines()]
        return blocks

    def __repr__(self) -> str:
        text = self.table().as_text()
        if len(self.returns) < 2:
            return text
        return f"{text}\n{self.comparison().verdict.splitlines()[0]}"

    def _repr_html_(self) -> str:
        return notebook(*self.blocks())


def compare_agents(
    agents: Mapping[str, Any],
    environment: Any,
    *,
    n_seeds: int = 10,
    n_points: int = 20,
    optimum: float | None = None,
    level: float = 0.95,
) -> AgentComparison:
    """Lets agents learn with several seeds each, and judges what they gained.

    Parameters
    ----------
    agents : mapping from names to agents
    environment : what the agents' `fit` takes
    n_seeds : int
        Runs of each agent, with the seeds 0, 1, ...
    n_points : int
        Stretches of steps in a curve.
    optimum : float, optional
        Expected return of the best policy from the start, such as `solve(process).value(start)`.
    level : float
        Of the intervals.

    Examples
    --------
    >>> from novum.reinforcement import GridWorld, QLearning, Sarsa
    >>> agents = {"Q": QLearning(5000), "SARSA": Sarsa(5000)}
    >>> judged = compare_agents(agents, GridWorld.notes(), n_seeds=5, optimum=0.705)
    >>> judged.final("Q").estimate > 0, judged.regret("Q").estimate > 0
    (True, True)
    """
    if not agents:
        raise InputError("There is no agent to judge. Give a mapping from names to agents.")
    if n_seeds < 2:
        raise InputError(f"An interval over seeds needs at least 2 of them, got {n_seeds}.")
    returns: dict[str, Floats] = {}
    regrets: dict[str, Floats] = {}
    first: dict[str, Any] = {}
    ends: Integers | None = None
    for name, agent in agents.items():
        tables, missed = [], []
        for seed in range(n_seeds):
            check_cancelled()
            fitted = clone(agent).set_params(random_state=seed).fit(environment)
            first.setdefault(name, fitted)
            if len(fitted.episode_returns_) == 0:
                raise InputError(
                    f"{name!r} finished no episode. Raise n_steps, or set max_episode_steps."
                )
            total = int(fitted.get_params()["n_steps"])
            own_ends = np.linspace(0, total, n_points + 1)[1:].astype(np.int64)
            ends = own_ends if ends is None or own_ends[-1] > ends[-1] else ends
            tables.append(_stretches(fitted, own_ends))
            if optimum is not None:
                missed.append(float((optimum - fitted.episode_returns_).sum()))
        returns[name], regrets[name] = np.array(tables), np.array(missed)
    assert ends is not None
    return AgentComparison(
        ends, returns, regrets if optimum is not None else None, first, optimum, level
    )


def _stretches(agent: Any, ends: Integers) -> Floats:
    """Mean return of the episodes that ended in each stretch; that before where none did."""
    when = np.cumsum(agent.episode_lengths_)
    place = np.searchsorted(ends, when)
    inside = place < len(ends)
    count = np.bincount(place[inside], minlength=len(ends))
    total = np.bincount(place[inside], agent.episode_returns_[inside], len(ends))
    means = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    known = np.flatnonzero(count > 0)
    if not len(known):
        return np.full(len(ends), float(agent.episode_returns_.mean()))
    nearest = known[np.maximum(np.searchsorted(known, np.arange(len(ends)), side="right") - 1, 0)]
    return np.asarray(means[nearest])
