"""Hidden Markov model: a Markov chain whose states are seen only by what they show.

    P(states, observations) = P(s_1) P(o_1 | s_1) prod_t P(s_t | s_(t-1)) P(o_t | s_t)

    filtered    P(s_t | o_1 ... o_t)        forward pass
    smoothed    P(s_t | o_1 ... o_T)        and a backward pass
    best path   argmax over all states      Viterbi: maxima in place of sums

Each costs steps times states squared. Learning (Baum and Welch) is expectation maximization: the
smoothed states and pairs of states are the expected counts, and the parameters of largest
likelihood under them follow in closed form, so the likelihood never falls.

References
----------
L. Rabiner (1989). A tutorial on hidden Markov models and selected applications in speech
recognition. Proceedings of the IEEE 77, 257-286.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.learners import Certificate, warn_if_stopped
from novum.core.runtime import RandomSource, check_cancelled, check_memory, stream
from novum.core.sums import StopRule, SumProblem, fit_sums
from novum.core.tables import Level
from novum.core.text import listed
from novum.distributions import ImpossibleEvidence, StateAxis
from novum.graphical.inference.limits import check_count
from novum.graphical.models.emissions import Emission, Normals, Symbols, guessed
from novum.graphical.models.markov_chain import MarkovChain
from novum.graphical.models.markov_chain_structure import checked_rows
from novum.numerics import (
    Array,
    Floats,
    Integers,
    SquaredExtrapolation,
    as_argument,
    one_blas_thread,
)


class StatePath(NamedTuple):
    """The most probable states of a sequence, and the log-probability of them with it."""

    states: list[Level]
    log_probability: float


class StateForecast(NamedTuple):
    """What comes after a sequence.

    Attributes
    ----------
    states : array (steps, n)
        Distributions over states.
    observations : array (steps, m) or (steps, d)
        Probabilities of symbols, or means of numbers.
    """

    states: Floats
    observations: Floats


@dataclass(frozen=True, eq=False)
class HiddenMarkovModel:
    """A chain of hidden states and what they show; made by `of`, or learned by `learn`.

    Attributes
    ----------
    initial : array (n,)
    transition : array (n, n)
        `transition[i, j]` is the probability of state j after state i.
    emission : Symbols or Normals
    states : tuple
    certificate : Certificate or None
        Of the fit that made it.

    Examples
    --------
    Whether it rains, seen by umbrellas.

    >>> model = HiddenMarkovModel.of(
    ...     [0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], [[0.9, 0.1], [0.2, 0.8]],
    ...     states=["rain", "dry"], symbols=["umbrella", "none"])
    >>> model.filtered(["umbrella", "umbrella"]).round(3)
    array([[0.818, 0.182],
           [0.883, 0.117]])
    >>> model.most_probable(["umbrella", "none", "umbrella"]).states
    ['rain', 'dry', 'rain']
    """

    initial: Floats
    transition: Floats
    emission: Any
    states: tuple[Level, ...]
    certificate: Certificate | None = None

    @classmethod
    def of(
        cls,
        initial: ArrayLike,
        transition: ArrayLike,
        emission: ArrayLike | Emission,
        *,
        states: Sequence[Level] | None = None,
        symbols: Sequence[Level] | None = None,
    ) -> HiddenMarkovModel:
        """A given model.

        Parameters
        ----------
        initial : array (n,)
        transition : array (n, n)
        emission : array (n, m), Symbols or Normals
            An array has the probabilities of symbols in every state.
        states, symbols : sequence, optional
            Names; 0, 1, ... by default.
        """
        start = np.array(initial, np.float64)
        table = np.array(transition, np.float64)
        if isinstance(emission, (Symbols, Normals)):
            shown: Any = emission
        else:
            values = np.asarray(emission, np.float64)
            width = values.shape[1] if values.ndim == 2 else 0
            shown = Symbols(values, tuple(range(width) if symbols is None else symbols))
        n = shown.n_states
        names = tuple(range(n)) if states is None else tuple(states)
        if start.shape != (n,) or table.shape != (n, n) or len(names) != n:
            raise InputError(
                f"An emission of {n} states needs {n} initial probabilities, a transition matrix "
                f"of shape {(n, n)} and {n} names, got shapes {start.shape}, {table.shape} and "
                f"{len(names)} names."
            )
        axis = StateAxis("state", names)
        if (start < 0).any() or not abs(start.sum() - 1) < 1e-6:
            raise InputError(
                f"The initial probabilities {start.tolist()} sum to {start.sum():g}. They are at "
                "least 0 and sum to 1."
            )
        return cls(start / start.sum(), checked_rows(table, axis), shown, names)

    @classmethod
    def learn(
        cls,
        sequences: Any,
        n_states: int,
        *,
        n_init: int = 5,
        tol: float = 1e-6,
        max_iter: int = 500,
        accelerate: bool = True,
        random_state: RandomSource = None,
        on_interrupt: Literal["raise", "keep"] = "raise",
    ) -> HiddenMarkovModel:
        """The best of several fits from random starts.

        Parameters
        ----------
        sequences : one sequence, or a list of them
            Labels and whole numbers are symbols; other numbers, and rows of several, have normal
            laws. None and NaN are missing.
        n_states : int
        n_init : int
            Random starts.
        tol : float
            Gain of the log-likelihood, as a share of it, at which a fit ends.
        max_iter : int
        accelerate : bool
            Whether steps are extrapolated (SQUAREM); the likelihood never falls with it either.
        random_state, on_interrupt
            As of `core.sums.fit_sums`: Ctrl-C raises, or keeps the best so far.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> hidden = np.repeat([0, 1, 0, 1], 50)
        >>> model = HiddenMarkovModel.learn(hidden * 4.0 + rng.normal(size=200), 2, random_state=0)
        >>> sorted(model.emission.means[:, 0].round(1).tolist())
        [0.1, 3.9]
        """
        check_count("n_states", n_states)
        parts = _parts(sequences)

        def begun(rng: np.random.Generator) -> HiddenMarkovModel:
            transition = 0.5 * np.eye(n_states) + 0.5 * rng.dirichlet(np.ones(n_states), n_states)
            start = np.full(n_states, 1 / n_states)
            return cls.of(start, transition, guessed(parts, n_states, rng))

        options: dict[str, Any] = {"n_init": n_init, "random_state": random_state}
        return _baum_welch(begun, parts, tol, max_iter, accelerate, on_interrupt, **options)

    def fit(
        self,
        sequences: Any,
        *,
        tol: float = 1e-6,
        max_iter: int = 500,
        accelerate: bool = True,
        on_interrupt: Literal["raise", "keep"] = "raise",
    ) -> HiddenMarkovModel:
        """Another model of larger likelihood, learned from this one on; see `learn`."""
        parts = _parts(sequences)
        return _baum_welch(lambda _: self, parts, tol, max_iter, accelerate, on_interrupt)

    @property
    def chain(self) -> MarkovChain:
        """The chain of the hidden states."""
        return MarkovChain(self.transition, self.states)

    def __repr__(self) -> str:
        shown = (
            f"symbols {listed(self.emission.symbols)}"
            if isinstance(self.emission, Symbols)
            else f"{self.emission.means.shape[1]} number(s)"
        )
        return f"HiddenMarkovModel of {len(self.states)} states {listed(self.states)}; {shown}"

    # Questions

    def log_likelihood(self, sequences: Any) -> float:
        """Log-probability (density) of a sequence, or of several; -inf if it is impossible."""
        return float(sum(self._passed(self._encoded(part)).value for part in _parts(sequences)))

    def filtered(self, sequence: Any) -> Floats:
        """P(state | observations up to the step), (T, n)."""
        passed = self._possible(self._encoded(sequence))
        values, powers = passed.filtered
        small = ~passed.sums[2]
        values[small] = np.ldexp(values[small], -512 * np.minimum(powers[small], 4).astype(int))
        return values

    def smoothed(self, sequence: Any) -> Floats:
        """P(state | all observations) of every step, (T, n)."""
        return self._counted(self._encoded(sequence))[1]

    def most_probable(self, sequence: Any) -> StatePath:
        """The path of states that is most probable given a sequence (Viterbi)."""
        observed = self._encoded(sequence)
        logs = self.emission.log_likelihood(observed)
        path, back = np.empty(len(logs), np.int64), np.zeros(logs.shape, np.int32)
        with np.errstate(divide="ignore"):
            start, moves = np.log(self.initial), np.log(self.transition)
        value = _kernels().best_path(start, moves, logs, back, path)
        if not np.isfinite(value):
            self._possible(observed)
        return StatePath([self.states[code] for code in path.tolist()], float(value))

    def forecast(self, sequence: Any, steps: int) -> StateForecast:
        """What comes in the steps after a sequence."""
        check_count("steps", steps)
        states = np.empty((steps, len(self.states)))
        now = self.filtered(sequence)[-1]
        for step in range(steps):
            now = now @ self.transition
            states[step] = now
        return StateForecast(states, self.emission.mixed(states))

    def sample(self, steps: int, random_state: RandomSource = None) -> tuple[list[Level], Any]:
        """A walk of the hidden states, and what it shows."""
        check_count("steps", steps)
        check_memory(64 * steps, f"A walk of {steps} steps", "Walk fewer steps at a time.")
        rng = stream(random_state, "walk")
        codes: Integers = np.empty(steps, np.int64)
        cumulated = np.cumsum(self.transition, axis=1)
        draws = rng.random(steps)
        codes[0] = np.searchsorted(np.cumsum(self.initial), draws[0], side="right")
        for step in range(1, steps):
            codes[step] = np.searchsorted(cumulated[codes[step - 1]], draws[step], side="right")
        codes = np.minimum(codes, len(self.states) - 1)
        seen = [self.emission.drawn(rng, code) for code in codes.tolist()]
        shown = seen if isinstance(self.emission, Symbols) else np.array(seen)
        return [self.states[code] for code in codes.tolist()], shown

    # Passes

    def _encoded(self, sequence: Any) -> Array:
        observed = self.emission.encoded(sequence)
        if len(observed) == 0:
            raise InputError("A sequence has at least one step, got none.")
        return np.asarray(observed)

    def _passed(self, observed: Array) -> _Forward:
        logs = self.emission.log_likelihood(observed)
        largest = logs.max(axis=1)
        finite = np.where(np.isfinite(largest), largest, 0.0)
        logs -= finite[:, np.newaxis]
        shown = (np.exp(logs), logs)
        filtered = (np.empty(logs.shape), np.empty(logs.shape))
        sums = (np.ones(len(logs)), np.empty(len(logs)), np.empty(len(logs), bool))
        start, moves = as_argument(self.initial), as_argument(self.transition)
        value = _kernels().forward(start, moves, shown, filtered, sums)
        return _Forward(float(value + finite.sum()), filtered, sums, shown)

    def _possible(self, observed: Array) -> _Forward:
        passed = self._passed(observed)
        if passed.value == -np.inf:
            step = int(np.flatnonzero(~(passed.sums[0] > 0))[0])
            raise ImpossibleEvidence(
                f"The sequence is impossible under the model: no state can show what is seen at "
                f"step {step} after the steps before it."
            )
        return passed

    def _counted(self, observed: Array) -> tuple[float, Floats, Floats]:
        """Log-likelihood, smoothed states, and the expected number of every transition."""
        value, filtered, sums, shown = self._possible(observed)
        smoothed, pairs = np.empty_like(filtered[0]), np.zeros_like(self.transition)
        moves = as_argument(self.transition)
        _kernels().backward(moves, shown, filtered, sums, smoothed, pairs)
        return value, smoothed, pairs


class _Forward(NamedTuple):
    """What a forward pass leaves; the pairs are as its kernel has them.

    Attributes
    ----------
    value : float
        Log-likelihood.
    filtered : values and powers of states, arrays (T, n)
    sums : values and powers of what they were divided by, and where there are powers, arrays (T,)
    shown : likelihoods of steps, divided by the largest of each, and logarithms, arrays (T, n)
    """

    value: float
    filtered: tuple[Floats, Floats]
    sums: tuple[Floats, Floats, Array]
    shown: tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class _Counts:
    """Expected counts of a fit, which add up over sequences."""

    value: float
    initial: Floats
    pairs: Floats
    shown: Floats

    def __add__(self, other: _Counts) -> _Counts:
        return _Counts(
            self.value + other.value,
            self.initial + other.initial,
            self.pairs + other.pairs,
            self.shown + other.shown,
        )


class _BaumWelch(SumProblem[HiddenMarkovModel, _Counts]):
    objective_name = "log-likelihood"
    direction = "maximize"

    def __init__(self, begun: Any) -> None:
        self.begun = begun
        self.like: HiddenMarkovModel

    def start(self, rng: np.random.Generator, /) -> HiddenMarkovModel:
        self.like = self.begun(rng)
        return self.like

    def step(self, params: HiddenMarkovModel, chunk: Any, /) -> _Counts:
        check_cancelled()
        try:
            value, smoothed, pairs = params._counted(chunk)
        except InputError:
            if params is self.like:
                raise
            # Extrapolated too far: the driver turns back from likelihood zero.
            value, smoothed = -np.inf, np.zeros((len(chunk), len(params.states)))
            pairs = np.zeros_like(params.transition)
        shown = params.emission.sums(chunk, smoothed)
        if not all(np.isfinite(sums).all() for sums in (smoothed, pairs, shown)):
            raise InputError(
                "The expected counts of a sequence are not finite: it has numbers too large to be "
                "squared. Divide all by a constant, or mark outliers missing by NaN."
            )
        return _Counts(value, smoothed[0], pairs, shown)

    def objective(self, params: HiddenMarkovModel, statistics: _Counts, /) -> float:
        del params
        return statistics.value

    def scale(self, params: HiddenMarkovModel, statistics: _Counts, /) -> float:
        del params
        # Sequences that are certain have the log-likelihood zero, up to the rounding of each step.
        size = abs(statistics.value) if np.isfinite(statistics.value) else 0.0
        return max(size, 1e-5 * float(statistics.pairs.sum() + 1.0))

    def update(self, params: HiddenMarkovModel, statistics: _Counts, /) -> HiddenMarkovModel:
        total = statistics.pairs.sum(axis=1, keepdims=True)
        transition = np.divide(
            statistics.pairs, total, out=params.transition.copy(), where=total > 0
        )
        initial = statistics.initial / statistics.initial.sum()
        emission = params.emission.learned(statistics.shown)
        return replace(params, initial=initial, transition=transition, emission=emission)

    def to_vector(self, params: HiddenMarkovModel, /) -> Floats | None:
        if not isinstance(params.emission, Symbols):
            # In units of the columns, so that steps do not depend on those of the numbers.
            unit = params.emission.scale
            spread = params.emission.covariances / unit[:, np.newaxis] / unit
            shown = [(params.emission.means / unit).ravel(), spread.ravel()]
        else:
            shown = [params.emission.table.ravel()]
        return np.concatenate([params.initial, params.transition.ravel(), *shown])

    def from_vector(self, vector: Floats, /) -> HiddenMarkovModel | None:
        """The model of an extrapolated vector; None where it is none."""
        if not np.isfinite(vector).all():
            return None
        n = len(self.like.states)
        initial, transition, shown = np.split(vector, [n, n + n * n])
        emission: Any = self.like.emission
        tables = [initial[np.newaxis], transition.reshape(n, n)]
        if isinstance(emission, Symbols):
            tables.append(shown.reshape(n, -1))
        tables = [np.maximum(table, 0.0) for table in tables]
        if not all(table.sum(axis=1).all() for table in tables):
            return None
        tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
        if isinstance(emission, Symbols):
            emission = Symbols(tables[2], emission.symbols)
        else:
            d = emission.means.shape[1]
            unit = emission.scale
            means = shown[: n * d].reshape(n, d) * unit
            covariances = shown[n * d :].reshape(n, d, d) * unit[:, np.newaxis] * unit
            lifted = np.stack([emission._lifted(covariance) for covariance in covariances])
            emission = Normals(means, lifted, emission.scale)
        return replace(self.like, initial=tables[0][0], transition=tables[1], emission=emission)


def _baum_welch(
    begun: Any,
    parts: list[Any],
    tol: float,
    max_iter: int,
    accelerate: bool,
    on_interrupt: Literal["raise", "keep"],
    **options: Any,
) -> HiddenMarkovModel:
    problem = _BaumWelch(begun)
    # Codes of symbols are the same for all starts, since these have the same symbols.
    parts = [begun(np.random.default_rng(0))._encoded(part) for part in parts]

    def total(step: Any) -> _Counts:
        counts = step(parts[0])
        for part in parts[1:]:
            counts = counts + step(part)
        assert isinstance(counts, _Counts)
        return counts

    # Sums that overflow are refused, and so are extrapolated vectors that do.
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        fitted = fit_sums(
            problem,
            total,
            stop=StopRule(tol=tol, max_iter=max_iter),
            acceleration=SquaredExtrapolation if accelerate else None,
            on_interrupt=on_interrupt,
            **options,
        )
    warn_if_stopped(fitted.certificate, "HiddenMarkovModel")
    return replace(fitted.params, certificate=fitted.certificate)


def _parts(sequences: Any) -> list[Any]:
    """A list of sequences; one sequence is a list of one."""
    if isinstance(sequences, np.ndarray) and sequences.dtype != object:
        parts: list[Any] = [sequences]
    else:
        parts = list(sequences)
        if parts and not _is_sequence(parts[0]):
            parts = [sequences]
    if not parts or any(len(part) == 0 for part in parts):
        raise InputError("Pass at least one sequence, each of at least one step.")
    return parts


def _is_sequence(item: Any) -> bool:
    return hasattr(item, "__len__") and not isinstance(item, (str, bytes))


def _kernels() -> Any:
    from novum.graphical.models import hidden_markov_kernels

    return hidden_markov_kernels
