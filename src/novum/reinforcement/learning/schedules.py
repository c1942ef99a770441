"""Step sizes and exploration as values.

Q-learning and SARSA converge if the step sizes of each pair satisfy

    sum of a_n = infinite,      sum of a_n^2 finite        (Robbins and Monro 1951)

and every action is tried without end; SARSA also needs that exploration fades. The defaults do:
`PolynomialDecay(0.6)` counts the visits of a pair, `EpsilonGreedy(PolynomialDecay(0.5))` those of a
state. A schedule that does not converge is allowed, and a `ScheduleWarning` says what follows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.numerics import Floats


class ScheduleWarning(UserWarning):
    """Step sizes or exploration under which an agent does not settle."""


# --- Schedules ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ConstantRate:
    """The same number always."""

    value: float

    def code(self) -> Floats:
        return np.array([0.0, self.value, 0.0, 0.0])

    def at(self, count: float) -> float:  # noqa: ARG002
        return self.value

    settles: ClassVar[bool] = False
    fades: ClassVar[bool] = False


@dataclass(frozen=True)
class PolynomialDecay:
    """`start / (1 + n / after) ** exponent` after n visits.

    Step sizes settle with an exponent above 1/2 and at most 1.

    Examples
    --------
    >>> PolynomialDecay(1.0, after=1).at(3), PolynomialDecay(0.5, start=0.8).at(30)
    (0.25, 0.4)
    """

    exponent: float = 0.6
    start: float = 1.0
    after: float = 10.0

    def __post_init__(self) -> None:
        if not (self.exponent > 0 and self.start > 0 and self.after > 0):
            raise InputError(f"Exponent, start and after are above 0, got {self!r}.")

    def code(self) -> Floats:
        return np.array([1.0, self.start, self.exponent, self.after])

    def at(self, count: float) -> float:
        return float(self.start / (1 + count / self.after) ** self.exponent)

    @property
    def settles(self) -> bool:
        return 0.5 < self.exponent <= 1

    @property
    def fades(self) -> bool:
        return self.exponent <= 1


@dataclass(frozen=True)
class LinearDecay:
    """From `start` to `end` over the first steps of all, and `end` from then on."""

    start: float
    end: float
    steps: int

    def code(self) -> Floats:
        return np.array([2.0, self.start, self.end, float(max(self.steps, 1))])

    def at(self, count: float) -> float:
        share = min(count / max(self.steps, 1), 1.0)
        return self.start + share * (self.end - self.start)

    settles: ClassVar[bool] = False
    fades: ClassVar[bool] = False


Schedule = ConstantRate | PolynomialDecay | LinearDecay


def schedule_of(given: object, name: str) -> Schedule:
    """A schedule, or a number that is one always."""
    if isinstance(given, ConstantRate | PolynomialDecay | LinearDecay):
        return given
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= 1:
        return ConstantRate(float(given))
    raise InputError(
        f"{name} is a number from 0 to 1 or a schedule (ConstantRate, PolynomialDecay, "
        f"LinearDecay), got {label_text(given)}."
    )


# --- Exploration ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Greedy:
    """The best action so far, always; it may never find out that another is better."""

    explores: ClassVar[bool] = False
    fades: ClassVar[bool] = True

    def code(self) -> Floats:
        return np.concatenate([[0.0], ConstantRate(0.0).code()])


@dataclass(frozen=True)
class EpsilonGreedy:
    """Any action with probability epsilon, the best one so far otherwise."""

    epsilon: Schedule | float = field(default_factory=lambda: PolynomialDecay(0.5))

    @property
    def explores(self) -> bool:
        return self.epsilon != 0

    @property
    def fades(self) -> bool:
        return schedule_of(self.epsilon, "epsilon").fades

    def code(self) -> Floats:
        return np.concatenate([[0.0], schedule_of(self.epsilon, "epsilon").code()])


@dataclass(frozen=True)
class Boltzmann:
    """Actions with probabilities proportional to `exp(Q / temperature)`."""

    temperature: Schedule | float = field(default_factory=lambda: PolynomialDecay(0.25))

    explores: ClassVar[bool] = True

    @property
    def fades(self) -> bool:
        return self._schedule().fades

    def _schedule(self) -> Schedule:
        if isinstance(self.temperature, int | float):
            if not self.temperature > 0:
                raise InputError(f"A temperature is above 0, got {self.temperature!r}.")
            return ConstantRate(float(self.temperature))
        return self.temperature

    def code(self) -> Floats:
        return np.concatenate([[1.0], self._schedule().code()])


@dataclass(frozen=True)
class Optimistic:
    """Actions tried fewer than `visits` times count as worth `optimum`; the best is taken.

    The exploration function f(u, n) of the notes: `optimum` while n < visits, u afterwards. It
    stands inside the maximum, on the utilities that are planned or learned with.
    """

    optimum: float
    visits: int = 5

    explores: ClassVar[bool] = True
    fades: ClassVar[bool] = True

    def code(self) -> Floats:
        return np.array([2.0, 0.0, self.optimum, float(self.visits), 0.0])


Exploration = Greedy | EpsilonGreedy | Boltzmann | Optimistic


def warn_of_schedules(step_size: Schedule, exploration: Exploration, on_policy: bool) -> None:
    """Says under which settings an agent does not settle at the best values."""
    said = []
    if not step_size.settles:
        said.append(
            f"step sizes {step_size} do not fall so that values settle: they keep moving by about "
            "the step size; PolynomialDecay(0.6) settles"
        )
    if not exploration.explores:
        said.append("a greedy agent may never try the best action; EpsilonGreedy() explores")
    elif on_policy and not exploration.fades:
        said.append(
            "exploration does not fade, so that the values become those of the exploring policy; "
            "EpsilonGreedy(PolynomialDecay(0.5)) fades"
        )
    if said:
        text = "; ".join(said)
        warnings.warn(f"{text[0].upper()}{text[1:]}.", ScheduleWarning, stacklevel=4)
