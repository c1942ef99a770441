"""Markov chain: a state whose next value depends on the present one alone.

    p_{t+1} = p_t P,      P[i, j] = P(next is j | present is i)

A chain whose P has a power without zeros is *regular*: from every start it tends to one and the
same stationary distribution. That is sufficient for a unique one, not necessary: with
P = [[1, 0], [0.5, 0.5]] everything ends in the first state, though no power is positive. In general
there is one stationary distribution for each closed class, and a limit where those have period 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, check_memory, long_call, stream, time_sliced
from novum.core.tables import Level
from novum.core.text import listed
from novum.distributions import StateAxis
from novum.graphical.inference.chain_diagnosis import monte_carlo_error, split_r_hat
from novum.graphical.inference.limits import check_count, check_seconds, check_share
from novum.graphical.inference.protocol import Beliefs, Diagnosis, Trust
from novum.graphical.models import markov_chain_structure as structure
from novum.graphical.models.answers import Posterior
from novum.graphical.models.markov_chain_structure import (
    WRONG,
    checked_rows,
    distance,
    from_mapping,
    mixing_time,
    power,
)
from novum.graphical.models.questions import state_of
from novum.numerics import Codes, Floats, cached_property

Start = Level | Mapping[Level, float] | Sequence[float] | Floats
BATCHES = 200
# Of a step of a walk: its code and its place in two lists, and its time on a reference machine.
BYTES_PER_STEP = 48
SECONDS_PER_STEP = 1e-8


@dataclass(frozen=True)
class CommunicatingClass:
    """States that lead to each other.

    Attributes
    ----------
    states : tuple
    is_closed : bool
        No step leaves it: its states are recurrent, those of other classes transient.
    period : int
        0 for a single state that is never returned to.
    """

    states: tuple[Level, ...]
    is_closed: bool
    period: int


class MarkovChain:
    """A chain over named states.

    Parameters
    ----------
    transition : array (n, n), or mapping from states to mappings
        Each row sums to one; a mapping may leave out states of probability zero.
    states : sequence, optional
        Names; 0, 1, ... by default, and the keys of a mapping.

    Examples
    --------
    >>> weather = MarkovChain([[0.9, 0.1], [0.5, 0.5]], states=["sunny", "rainy"])
    >>> weather.after("rainy", 1)
    state  probability
    sunny          0.5
    rainy          0.5
    >>> weather.stationary()
    state  probability
    sunny     0.833333
    rainy     0.166667
    >>> weather.is_regular, weather.time_to_mix(0.01), round(weather.spectral_gap, 3)
    (True, 5, 0.6)
    """

    _saved_fields = ("transition", "states")

    def __init__(
        self,
        transition: ArrayLike | Mapping[Level, Mapping[Level, float]],
        states: Sequence[Level] | None = None,
    ) -> None:
        if isinstance(transition, Mapping):
            states, table = from_mapping(transition, states)
        else:
            table = np.array(transition, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or table.size == 0:
            raise InputError(
                f"A transition matrix is square with at least one row, got shape {table.shape}."
            )
        names = tuple(range(len(table))) if states is None else tuple(states)
        if len(names) != len(table):
            raise InputError(f"{len(table)} rows need as many states, got {len(names)}.")
        self.axis = StateAxis("state", names)
        self.transition = checked_rows(table, self.axis)

    @property
    def states(self) -> tuple[Level, ...]:
        return self.axis.states

    def __repr__(self) -> str:
        kinds = "regular" if self.is_regular else f"{len(self.classes)} communicating class(es)"
        return f"MarkovChain of {len(self.states)} states {listed(self.states)}; {kinds}"

    # Dynamics

    def after(self, start: Start, steps: int) -> Posterior:
        """The distribution after some steps.

        Parameters
        ----------
        start : a state, a mapping from states to probabilities, or an array of these
        steps : int
        """
        check_count("steps", steps, least=0)
        first = self._start(start)
        return self._table(first @ power(self.transition, steps))

    def course(self, start: Start, steps: int) -> Floats:
        """The distributions after 0, 1, ..., `steps` steps, of shape (steps + 1, n)."""
        check_count("steps", steps, least=0)
        n_states = len(self.states)
        check_memory(
            8 * (int(steps) + 1) * n_states,
            f"The distributions over {n_states} states of {steps} steps",
            "Ask for the last one only: after(start, steps).",
        )
        rows = np.empty((steps + 1, n_states))
        rows[0] = self._start(start)
        for step in range(steps):
            rows[step + 1] = rows[step] @ self.transition
        return rows

    def sample(self, start: Start, steps: int, random_state: RandomSource = None) -> list[Level]:
        """A walk of some steps, its start included."""
        check_count("steps", steps, least=0)
        check_memory(
            BYTES_PER_STEP * int(steps), f"A walk of {steps} steps", "Walk fewer steps at a time."
        )
        codes = self._walk(self._start(start), steps, stream(random_state, "walk"))
        return [self.states[code] for code in codes.tolist()]

    # Structure

    @cached_property
    def classes(self) -> tuple[CommunicatingClass, ...]:
        """States that lead to each other, in the order of first states."""
        return tuple(
            CommunicatingClass(
                tuple(self.states[i] for i in own),
                structure.is_closed(self.transition, own),
                structure.period_of(self.transition, own),
            )
            for own in self._class_codes
        )

    @cached_property
    def _class_codes(self) -> list[list[int]]:
        return structure.communicating_classes(self.transition)

    @property
    def recurrent_states(self) -> tuple[Level, ...]:
        """States that are returned to for ever."""
        return tuple(s for own in self.classes if own.is_closed for s in own.states)

    @property
    def transient_states(self) -> tuple[Level, ...]:
        """States that are left for good at some time."""
        return tuple(s for own in self.classes if not own.is_closed for s in own.states)

    @property
    def is_irreducible(self) -> bool:
        """Whether every state leads to every other."""
        return len(self.classes) == 1

    @property
    def is_regular(self) -> bool:
        """Whether some power of the transition matrix has no zero."""
        return self.is_irreducible and self.classes[0].period == 1

    def period(self, state: Level) -> int:
        """Greatest common divisor of the lengths of all ways back; 0 where there is none."""
        code = state_of(self.axis, state)
        return next(
            own.period
            for own, codes in zip(self.classes, self._class_codes, strict=True)
            if code in codes
        )

    # In the long run

    def stationary_distributions(self) -> tuple[Posterior, ...]:
        """One for each closed class; all others are mixtures of these."""
        return tuple(self._table(values) for values in self._stationary)

    @cached_property
    def _stationary(self) -> tuple[Floats, ...]:
        return tuple(
            structure.stationary_of(self.transition, own)
            for own in self._class_codes
            if structure.is_closed(self.transition, own)
        )

    def stationary(self) -> Posterior:
        """The stationary distribution, where there is only one."""
        if len(self._stationary) > 1:
            closed = [own.states[0] for own in self.classes if own.is_closed]
            raise InputError(
                f"The chain has {len(closed)} closed classes, of the states {listed(closed)} and "
                "those they lead to, and a stationary distribution for each. Use "
                "stationary_distributions(), or limit(start)."
            )
        return self._table(self._stationary[0])

    def limit(self, start: Start) -> Posterior:
        """The share of time in each state in the long run.

        It is also the limit of `after(start, t)` where the closed classes have period 1.
        """
        first = self._start(start)
        total = np.zeros(len(self.states))
        for values in self._stationary:
            own = np.flatnonzero(values).tolist()
            reached = structure.hitting_probabilities(self.transition, own)
            total += float(first @ reached) * values
        return self._table(total)

    def simulated_stationary(
        self,
        steps: int = 100_000,
        *,
        burn_in: int = 1_000,
        chains: int = 4,
        random_state: RandomSource = None,
    ) -> Posterior:
        """The share of time in each state, of simulated walks from different states.

        Its diagnosis tells the error of each share, and whether the walks agree.
        """
        check_count("steps", steps, least=8)
        check_count("burn_in", burn_in, least=0)
        check_count("chains", chains)
        batches, n_states = min(BATCHES, steps), len(self.states)
        check_memory(
            4 * (int(burn_in) + int(steps)) + 24 * int(chains) * batches * n_states,
            f"A simulation by {chains} walks of {steps} steps over {n_states} states",
            "Walk fewer steps, or use stationary_distributions().",
        )
        check_seconds(
            SECONDS_PER_STEP * int(chains) * (int(burn_in) + int(steps)),
            f"A simulation by {chains} walks of {steps} steps",
            "Walk fewer steps, or use stationary_distributions().",
        )
        ends = np.linspace(0, steps, batches + 1).astype(np.int64)
        shares = np.empty((chains, batches, n_states))
        for chain in range(chains):
            first = np.zeros(n_states)
            first[chain * n_states // chains] = 1.0
            rng = stream(random_state, "stationary", chain) if chain else stream(random_state)
            codes = self._walk(first, burn_in + steps, rng)[burn_in + 1 :]
            for batch in range(batches):
                part = codes[ends[batch] : ends[batch + 1]]
                shares[chain, batch] = np.bincount(part, minlength=n_states) / len(part)
        return self._judged(shares, np.diff(ends), steps * chains)

    def _judged(self, shares: Floats, lengths: Any, total: int) -> Posterior:
        means = np.average(shares, axis=1, weights=lengths).mean(axis=0)
        errors = np.maximum(monte_carlo_error(shares), math.sqrt(0.5) / total)
        r_hat = float(split_r_hat(shares).max())
        inside = (means > 0) & (means < 1)
        sizes = (means * (1 - means))[inside] / errors[inside] ** 2
        size = float(sizes.min(initial=total))
        said = f"Simulation of {total} steps, R-hat {r_hat:.3g}."
        trust = Trust.PROVED
        if r_hat > 1.05 or size < 100:
            trust = Trust.FAULT_FOUND
            said += " Not to be trusted: the walks do not agree. Use stationary_distributions()."
        elif total * float(self.transition.min(axis=0).sum()) < 100:
            # A step goes to a state with at least its least chance from anywhere (Doeblin), and so
            # often that walks have forgotten where they began.
            trust = Trust.NO_FAULT_FOUND
            said += (
                " No fault found, but nothing proves that the walks did not all miss a part of the "
                "states. Compare with stationary_distributions()."
            )
        diagnosis = Diagnosis("simulation", trust, said, total, (errors,), size, r_hat)
        return Posterior.of((self.axis,), Beliefs((means,), None, diagnosis))

    def hitting_probabilities(self, *targets: Level) -> dict[Level, float]:
        """The probability of ever reaching one of the targets, from each state."""
        chances = structure.hitting_probabilities(self.transition, self._codes(targets))
        return dict(zip(self.states, chances.tolist(), strict=True))

    def hitting_times(self, *targets: Level) -> dict[Level, float]:
        """Expected steps until a target is reached, from each state; infinite if it may not be."""
        times = structure.hitting_times(self.transition, self._codes(targets))
        return dict(zip(self.states, times.tolist(), strict=True))

    # Mixing

    def distance(self, steps: int) -> float:
        """Largest total variation to the stationary distribution, over all starts.

        max over x of  1/2 * sum over y of |P^t(x, y) - pi(y)|
        """
        check_count("steps", steps, least=0)
        pi = self.stationary().values
        return distance(power(self.transition, steps), pi)

    @cached_property
    def spectral_gap(self) -> float:
        """1 less the second largest modulus of an eigenvalue; 0 where there is no one limit."""
        if len(self.states) == 1:
            return 1.0
        if not self._has_limit:
            return 0.0
        n_states = len(self.states)
        values = long_call(
            lambda: np.linalg.eigvals(self.transition),
            25.0 * n_states**3,
            f"eigenvalues of {n_states} x {n_states}",
        )
        sizes = np.sort(np.abs(values))
        return float(np.clip(1.0 - sizes[-2], 0.0, 1.0))

    @property
    def _has_limit(self) -> bool:
        closed = [own for own in self.classes if own.is_closed]
        return len(closed) == 1 and closed[0].period == 1

    def time_to_mix(self, tolerance: float = 0.25) -> float:
        """Steps until the total variation to the stationary distribution is at most `tolerance`.

        From the worst start. Infinite where the chain has several closed classes or a period. A
        whole number up to 2^53, beyond that to the accuracy of floating-point numbers.
        """
        check_share("tolerance", tolerance)
        if tolerance == 0:
            raise InputError("tolerance must exceed 0: most chains reach their limit only nearly.")
        if not self._has_limit:
            return math.inf
        return mixing_time(self.transition, self.stationary().values, tolerance)

    # Reading

    def _table(self, values: Floats) -> Posterior:
        return Posterior.of((self.axis,), Beliefs((values / values.sum(),)))

    def _codes(self, targets: Sequence[Level]) -> list[int]:
        if not targets:
            raise InputError("Name at least one state to be reached.")
        return [state_of(self.axis, target) for target in targets]

    def _start(self, start: Any) -> Floats:
        if isinstance(start, Mapping):
            first = np.zeros(len(self.states))
            for state, value in start.items():
                first[state_of(self.axis, state)] = value
        elif isinstance(start, (list, tuple, np.ndarray)):
            first = np.asarray(start, dtype=np.float64)
        else:
            first = np.zeros(len(self.states))
            first[state_of(self.axis, start)] = 1.0
        if first.shape != (len(self.states),):
            raise InputError(
                f"A start has one probability for each of {len(self.states)} states, got shape "
                f"{first.shape}."
            )
        if not ((first >= 0).all() and abs(first.sum() - 1) <= WRONG):
            raise InputError(
                f"The probabilities of a start are at least 0 and sum to 1; they sum to "
                f"{first.sum():g}."
            )
        return first / first.sum()

    def _walk(self, first: Floats, steps: int, rng: np.random.Generator) -> Codes:
        from novum.graphical.inference.chance_kernels import walk

        codes = np.empty(steps + 1, np.int32)
        codes[0] = rng.choice(len(first), p=first)
        key = rng.integers(0, 2**64, dtype=np.uint64)
        cumulative = _cumulative(self.transition)
        for start, stop in time_sliced(steps, block=4096):
            walk(cumulative, key, int(codes[start]), start, stop, codes[1:])
        return codes


def _cumulative(transition: Floats) -> Floats:
    sums = np.cumsum(transition, axis=1)
    # From the last possible state on nothing is compared: rounding must not lead past it.
    last = transition.shape[1] - 1 - np.argmax(transition[:, ::-1] > 0, axis=1)
    sums[np.arange(transition.shape[1]) >= last[:, np.newaxis]] = math.inf
    return sums
