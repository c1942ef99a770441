"""Learning from recorded steps with features: LSTD, LSPI, fitted Q iteration, off-policy TD.

LSTD (Bradtke and Barto 1996) solves for the values that temporal differences would come to,

    A w = b,    A = sum of f (f - discount * f')',    b = sum of f * r,

from sums that add up over steps, files and machines. LSPI (Lagoudakis and Parr 2003) does so for
Q(s, a) and the policy that is best for the last weights, until these stay. Fitted Q iteration
(Ernst and others 2005) fits any regressor to r + discount * max over a of Q(s', a), again and
again.

States and actions keep their names. Names that are numbers, or tuples of them, are what features
and regressors see; `StateIndicators` give each name a feature of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import Certificate, ConvergenceWarning, Learner, Verdict, fitted, parameter
from novum.core.runtime import check_cancelled, fit_context, fitting
from novum.core.sums import Sums
from novum.core.text import label_text, listed
from novum.numerics import Floats, Integers
from novum.reinforcement.learning.features import StateIndicators
from novum.reinforcement.learning.linear_agents import DivergenceWarning
from novum.reinforcement.learning.traces import Traces
from novum.reinforcement.names import Names


@dataclass(frozen=True, eq=False)
class Steps:
    """Recorded steps with states of any numbers.

    Attributes
    ----------
    state, next_state : arrays (n, d)
    action : int64 array (n,)
        Positions in `actions`.
    reward : array (n,)
    ends : bool array (n,)
    actions : names
    """

    state: Floats
    action: Integers
    reward: Floats
    next_state: Floats
    ends: Any
    actions: Names

    @classmethod
    def of(
        cls,
        state: ArrayLike,
        action: Sequence[Any] | ArrayLike,
        reward: ArrayLike,
        next_state: ArrayLike,
        ends: ArrayLike,
        actions: Iterable[Any] | int | None = None,
    ) -> Steps:
        """Checked arrays, one row for each step.

        Parameters
        ----------
        action : names of the actions that were taken
        actions : names of all actions or their number, optional
            By default 0, 1, ... up to the largest where actions are whole numbers, otherwise those
            that occur, in their order.
        """
        rows, following = np.atleast_2d(_numbers(state)), np.atleast_2d(_numbers(next_state))
        gained, over = np.asarray(reward, np.float64), np.asarray(ends, np.bool_)
        taken = np.asarray(action)
        lengths = {len(rows), len(taken), len(gained), len(over)}
        if rows.shape != following.shape or len(lengths) > 1 or not len(taken):
            raise InputError("States, actions, rewards, next states and ends have one row a step.")
        if taken.ndim > 1:
            raise InputError("Actions of steps are a number or a text each.")
        if not (np.isfinite(rows).all() and np.isfinite(gained).all()):
            raise InputError("States and rewards of steps are finite numbers.")
        if not np.isfinite(following[~over]).all():
            raise InputError("Next states are finite numbers where the process goes on.")
        if actions is None:
            is_code = np.issubdtype(taken.dtype, np.integer) and taken.min() >= 0
            actions = range(int(taken.max()) + 1) if is_code else dict.fromkeys(taken.tolist())
        if isinstance(actions, int):
            actions = range(actions)
        labels = actions if isinstance(actions, range) else list(actions)
        names = Names.of(labels, len(labels), "action")
        return cls(rows, names.codes(taken), gained, following, over, names)


@dataclass(frozen=True, eq=False)
class _StateRows:
    """Features before and after each step, and the names of states whose features these are."""

    now: Floats
    ahead: Floats
    states: Names | None

    @classmethod
    def of(cls, steps: Any, features: Any) -> _StateRows:
        if isinstance(steps, Steps):
            now = _rows(steps.state, None, features)
            ahead = np.zeros_like(now)
            ahead[~steps.ends] = _rows(steps.next_state[~steps.ends], None, features)
            return cls(now, ahead, None)
        if not isinstance(steps, Traces):
            raise InputError(f"Learning from recorded steps takes Steps or Traces, got {steps!r}.")
        table = _rows(list(steps.states), steps.states, features)
        ahead = np.where(steps.ends[:, np.newaxis], 0.0, table[steps.next_state])
        return cls(table[steps.state], ahead, steps.states)


def _rows(states: Any, names: Names | None, features: Any = None) -> Floats:
    """Features of states, whose names were those of traces or are their numbers.

    Without features a state is its numbers, or has an indicator of its own where names are none.
    """
    has_numbers = names is None or _are_numbers(names)
    if names is not None and features is None and not has_numbers:
        features = StateIndicators(len(names))
    if isinstance(features, StateIndicators) and names is not None:
        return features.transform(names.codes(_as_names(states)))
    if not has_numbers:
        raise InputError(
            f"The states are named {listed(list(names or ()))}, and {type(features).__name__} are "
            f"features of numbers. Use StateIndicators({len(names or ())})."
        )
    numbers = _numbers(states)
    numbers = numbers[:, np.newaxis] if numbers.ndim == 1 and names is not None else numbers
    rows = np.atleast_2d(numbers)
    return rows if features is None else np.asarray(features.transform(rows))


def _numbers(states: Any) -> Floats:
    """States that have no names as an array."""
    try:
        return np.asarray(states, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "States are rows of equally many numbers here, and some are not. Names of states are "
            "for Traces."
        ) from None


def _are_numbers(names: Names) -> bool:
    """Whether all names are numbers, or tuples of equally many."""
    if isinstance(names.labels, range):
        return True
    tuples = [label if isinstance(label, tuple) else (label,) for label in names.labels]
    return len({len(label) for label in tuples}) == 1 and all(
        isinstance(number, Real) for label in tuples for number in label
    )


def _as_names(states: Any) -> Sequence[Any]:
    """One name for each row of an array."""
    rows = states.tolist() if isinstance(states, np.ndarray) else list(states)
    return [row[0] if isinstance(row, list) and len(row) == 1 else row for row in rows]


@dataclass(frozen=True, eq=False)
class DifferenceSums(Sums):
    """Sums of temporal differences over steps; they add, and steps can be taken away.

    Attributes
    ----------
    weight : float
        Steps.
    products : array (k, k)
        Sum of f (f - discount * f')'.
    rewards : array (k,)
        Sum of f * r.
    """

    weight: float
    products: Floats
    rewards: Floats

    def solved(self, ridge: float = 0.0) -> Floats:
        """The weights; `ridge` times the mean diagonal is added where steps do not decide them."""
        size = len(self.rewards)
        scale = max(float(np.abs(np.diag(self.products)).mean()), 1e-300)
        system = self.products + ridge * scale * np.eye(size)
        solution, *_ = np.linalg.lstsq(system, self.rewards, rcond=1e-12)
        return np.asarray(solution)


def difference_sums(
    now: Floats, ahead: Floats, reward: Floats, discount: float, weight: Floats | None = None
) -> DifferenceSums:
    """Sums over steps from features before and after (zero where the process ended)."""
    left = now if weight is None else now * weight[:, np.newaxis]
    return DifferenceSums(float(len(now)), left.T @ (now - discount * ahead), left.T @ reward)


def least_squares_values(steps: Any, features: Any, discount: float, ridge: float = 1e-9) -> Floats:
    """LSTD: weights of the values of the policy that made the steps.

    Examples
    --------
    >>> from novum.reinforcement import StateIndicators
    >>> traces = Traces.of([[("a", "go", 1.0, "b"), ("b", "go", 2.0, None)]])
    >>> least_squares_values(traces, StateIndicators(2), 0.5).round(6).tolist()
    [2.0, 2.0]
    """
    rows = _StateRows.of(steps, features)
    return difference_sums(rows.now, rows.ahead, steps.reward, discount).solved(ridge)


class _BatchAgent(Learner):
    """What agents share that learn from recorded steps: names of states and of actions."""

    states_: tuple[Any, ...] | None = fitted()
    actions_: tuple[Any, ...] = fitted()

    def _keep_names(self, rows: _StateRows, actions: Names) -> None:
        self.states_ = None if rows.states is None else tuple(rows.states)
        self.actions_ = tuple(actions)

    def _features_of(self, states: Any, features: Any) -> Floats:
        check_is_fitted(self)
        names = None if self.states_ is None else Names("state", self.states_)
        return _rows(states, names, features)

    def _best_actions(self, action_values: Floats) -> list[Any]:
        return [self.actions_[code] for code in np.argmax(action_values, axis=1)]


class LeastSquaresPolicyIteration(_BatchAgent):
    """LSPI: the best policy for linear values, from recorded steps.

    Parameters
    ----------
    features : features of states
        Each action has its own weights. `StateIndicators` take states by name, all others the
        numbers that states are.
    discount : float
    ridge : float
        Keeps weights finite that the steps do not decide.
    max_iter : int
    tol : float
        Largest change of a weight, relative to the largest, at which it stops.

    Attributes
    ----------
    weights_ : array (n_actions, n_features)
    states_, actions_ : tuples of names
        Those of the traces; states of `Steps` are numbers without names.
    statistics_ : DifferenceSums
        Of the last policy.
    certificate_ : Certificate

    Examples
    --------
    >>> way = [("hall", "on", -1.0, "door"), ("door", "on", -1.0, None)]
    >>> back = [("door", "back", -1.0, "hall"), ("hall", "back", -1.0, "hall")]
    >>> traces = Traces.of([way, back])
    >>> agent = LeastSquaresPolicyIteration(StateIndicators(2), discount=0.9).fit(traces)
    >>> agent.predict(["hall", "door"])
    ['on', 'on']
    """

    features: Any = parameter(default=None, kw_only=False)
    discount: float = parameter(default=0.99, at_least=0, at_most=1)
    ridge: float = parameter(default=1e-9, at_least=0)
    max_iter: int = parameter(default=100, at_least=1)
    tol: float = parameter(default=1e-9, above=0)

    weights_: Floats = fitted()
    certificate_: Certificate = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, steps: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learns from `Steps` or `Traces`."""
        if self.features is None:
            raise InputError("Which features? Give features=TileCoding(...) or others.")
        with fitting(self) as watch:
            rows = _StateRows.of(steps, self.features)
            self._keep_names(rows, steps.actions)
            k, m = self.features.n_features, len(steps.actions)
            now, ahead = _by_action(rows.now, steps.action, m), rows.ahead
            weights, change = np.zeros((m, k)), np.inf
            iterations = 0
            while change > self.tol and iterations < self.max_iter:
                check_cancelled()
                best = np.argmax(ahead @ weights.T, axis=1)
                following_pairs = _by_action(ahead, best, m)
                sums = difference_sums(now, following_pairs, steps.reward, self.discount)
                following = sums.solved(self.ridge).reshape(m, k)
                size = max(float(np.abs(following).max()), 1e-300)
                change = float(np.abs(following - weights).max()) / size
                weights, self.statistics_ = following, sums
                iterations += 1
            done = change <= self.tol
            self.weights_ = weights
            self.certificate_ = Certificate(
                objective="change of weights between policies",
                verdict=Verdict.LOCAL if done else Verdict.STOPPED_EARLY,
                residual=change,
                iterations=iterations,
                seconds=watch.seconds,
            )
        if not done:
            warnings.warn(
                f"LeastSquaresPolicyIteration goes round among policies: after {iterations} rounds "
                f"weights still change by {change:.2g}. Gather more steps, or other features.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def action_values(self, states: Any) -> Floats:
        """The value of each action in some states, of shape (n, n_actions)."""
        return np.asarray(self._features_of(states, self.features) @ self.weights_.T)

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """The best action of each of the states, by name."""
        return self._best_actions(self.action_values(X))


def _by_action(features: Floats, action: Integers, n_actions: int) -> Floats:
    """Features of pairs: those of the state, at the place of the action."""
    n, k = features.shape
    table = np.zeros((n, n_actions, k))
    table[np.arange(n), action] = features
    return table.reshape(n, n_actions * k)


class FittedQ(_BatchAgent):
    """Fitted Q iteration with any regressor, from recorded steps.

    Parameters
    ----------
    estimator : regressor of Novum or scikit-learn
        One copy for each action.
    discount : float
    max_iter : int
        Rounds; each looks one step further ahead.
    tol : float
        Largest change of a target, relative to the largest, at which it stops.

    Attributes
    ----------
    regressors_ : list of fitted estimators, one for each action
    states_, actions_ : tuples of names
        Those of the traces; states of `Steps` are numbers without names. States whose names are no
        numbers have an indicator each.
    certificate_ : Certificate

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> steps = Steps.of([[0.0], [1.0]], [0, 0], [1.0, 1.0], [[1.0], [2.0]], [False, True])
    >>> agent = FittedQ(LinearRegression(), discount=1.0).fit(steps)
    >>> agent.action_values([[0.0]]).round(6).tolist()
    [[2.0]]
    """

    estimator: Any = parameter(kw_only=False)
    discount: float = parameter(default=0.99, at_least=0, at_most=1)
    max_iter: int = parameter(default=200, at_least=1)
    tol: float = parameter(default=1e-6, above=0)

    certificate_: Certificate = fitted()

    _most: ClassVar[float] = 1e8

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, steps: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learns from `Steps` or `Traces`."""
        with fitting(self) as watch:
            rows = _StateRows.of(steps, None)
            self._keep_names(rows, steps.actions)
            self.n_features_in_ = rows.now.shape[1]
            taken = [np.flatnonzero(steps.action == a) for a in range(len(steps.actions))]
            absent = [steps.actions[a] for a, on in enumerate(taken) if not len(on)]
            if absent:
                raise InputError(
                    f"Action {label_text(absent[0])} never occurs in the steps, so its values "
                    "cannot be learned. Gather steps that try every action."
                )
            target, change, iterations = steps.reward.copy(), np.inf, 0
            scale = max(float(np.abs(steps.reward).max()), 1e-300)
            while change > self.tol and iterations < self.max_iter:
                check_cancelled()
                self.regressors_ = [
                    clone(self.estimator).fit(rows.now[on], target[on]) for on in taken
                ]
                ahead = np.max([model.predict(rows.ahead) for model in self.regressors_], 0)
                following = steps.reward + np.where(steps.ends, 0.0, self.discount * ahead)
                size = max(float(np.abs(following).max()), scale)
                change = float(np.abs(following - target).max()) / size
                target = following
                iterations += 1
                if not np.isfinite(size) or size > self._most * scale:
                    warnings.warn(
                        f"FittedQ diverged: after {iterations} rounds a value is {size:.2g}. Use a "
                        "regressor that does not extrapolate, such as a forest.",
                        DivergenceWarning,
                        stacklevel=2,
                    )
                    break
            self.certificate_ = Certificate(
                objective="change of targets between rounds",
                verdict=Verdict.LOCAL if change <= self.tol else Verdict.STOPPED_EARLY,
                residual=change,
                iterations=iterations,
                seconds=watch.seconds,
            )
        return self

    def action_values(self, states: Any) -> Floats:
        """The value of each action in some states, of shape (n, n_actions)."""
        rows = self._features_of(states, None)
        if rows.shape[1] != self.n_features_in_:
            raise InputError(
                f"Each state has {self.n_features_in_} numbers in the steps, got rows of "
                f"{rows.shape[1]}. Pass one row for each state, even if there is one only."
            )
        return np.column_stack([model.predict(rows) for model in self.regressors_])

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """The best action of each of the states, by name."""
        return self._best_actions(self.action_values(X))


def linear_differences(
    now: Floats,
    ahead: Floats,
    reward: Floats,
    discount: float,
    *,
    step_size: float,
    start: Floats | None = None,
    weight: Floats | None = None,
) -> tuple[Floats, Certificate]:
    """TD(0) with linear values over recorded steps, in their order; off-policy by weights.

    Parameters
    ----------
    now, ahead : arrays (n, k)
        Features before and after each step; zero after the end.
    weight : array (n,), optional
        How much likelier the policy in question makes each action.

    Returns
    -------
    weights : array (k,)
    certificate : Certificate
        `unbounded` where they grew without limit, as in Baird's example.
    """
    w = np.zeros(now.shape[1]) if start is None else np.array(start, np.float64)
    ratio = np.ones(len(now)) if weight is None else weight
    reach = (float(np.abs(reward).max()) + 1.0) / max(1 - discount, 1e-6)
    limit = 1e3 * max(reach, float(np.abs(w).max()), 1.0)
    for i in range(len(now)):
        error = reward[i] + discount * float(ahead[i] @ w) - float(now[i] @ w)
        w = w + step_size * ratio[i] * error * now[i]
        if i % 64 == 0 and not np.abs(w).max() <= limit:
            warnings.warn(
                f"Temporal differences diverged: after {i} steps a weight is "
                f"{np.abs(w).max():.2g}. Off-policy steps with features have no safe step size; "
                "least_squares_values solves for the same weights.",
                DivergenceWarning,
                stacklevel=2,
            )
            return w, Certificate(
                objective="linear temporal differences", verdict=Verdict.UNBOUNDED, iterations=i
            )
    return w, Certificate(
        objective="linear temporal differences", verdict=Verdict.LOCAL, iterations=len(now)
    )
