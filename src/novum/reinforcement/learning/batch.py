"""Learning from recorded steps with features: LSTD, LSPI, fitted Q iteration, off-policy TD.

LSTD (Bradtke and Barto 1996) solves for the values that temporal differences would come to,

    A w = b,    A = sum of f (f - discount * f')',    b = sum of f * r,

from sums that add up over steps, files and machines. LSPI (Lagoudakis and Parr 2003) does so for
Q(s, a) and the policy that is best for the last weights, until these stay. Fitted Q iteration
(Ernst and others 2005) fits any regressor to r + discount * max over a of Q(s', a), again and
again.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import Certificate, ConvergenceWarning, Learner, Verdict, fitted, parameter
from novum.core.runtime import check_cancelled, fit_context, fitting
from novum.core.sums import Sums
from novum.numerics import Floats, Integers
from novum.reinforcement.learning.linear_agents import DivergenceWarning
from novum.reinforcement.learning.traces import Traces


@dataclass(frozen=True, eq=False)
class Steps:
    """Recorded steps with states of any numbers.

    Attributes
    ----------
    state, next_state : arrays (n, d)
    action : int64 array (n,)
    reward : array (n,)
    ends : bool array (n,)
    n_actions : int
    """

    state: Floats
    action: Integers
    reward: Floats
    next_state: Floats
    ends: Any
    n_actions: int

    @classmethod
    def of(
        cls,
        state: ArrayLike,
        action: ArrayLike,
        reward: ArrayLike,
        next_state: ArrayLike,
        ends: ArrayLike,
        n_actions: int | None = None,
    ) -> Steps:
        """Checked arrays, one row for each step."""
        rows = np.atleast_2d(np.asarray(state, np.float64))
        following = np.atleast_2d(np.asarray(next_state, np.float64))
        actions, gained = np.asarray(action), np.asarray(reward, np.float64)
        if rows.shape != following.shape or not len(rows) == len(actions) == len(gained):
            raise InputError("States, actions, rewards and next states have one row for each step.")
        if not (np.isfinite(rows).all() and np.isfinite(gained).all()):
            raise InputError("States and rewards of steps are finite numbers.")
        if not np.issubdtype(actions.dtype, np.integer) or actions.min() < 0:
            raise InputError("Actions of steps are numbered 0, 1, ...")
        count = int(actions.max()) + 1 if n_actions is None else n_actions
        return cls(
            rows, actions.astype(np.int64), gained, following, np.asarray(ends, np.bool_), count
        )

    @classmethod
    def from_traces(cls, traces: Traces) -> Steps:
        """Steps whose states are the codes of the traces."""
        return cls(
            traces.state[:, np.newaxis].astype(np.float64),
            traces.action,
            traces.reward,
            traces.next_state[:, np.newaxis].astype(np.float64),
            traces.ends,
            len(traces.actions),
        )


def _steps(given: Any) -> Steps:
    if isinstance(given, Traces):
        return Steps.from_traces(given)
    if isinstance(given, Steps):
        return given
    raise InputError(f"Learning from recorded steps takes Steps or Traces, got {given!r}.")


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

    weight: Floats
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
    return DifferenceSums(
        np.array(float(len(now))), left.T @ (now - discount * ahead), left.T @ reward
    )


def least_squares_values(steps: Any, features: Any, discount: float, ridge: float = 1e-9) -> Floats:
    """LSTD: weights of the values of the policy that made the steps.

    Examples
    --------
    >>> from novum.reinforcement import StateIndicators
    >>> traces = Traces.of([[("a", "go", 1.0, "b"), ("b", "go", 2.0, None)]])
    >>> least_squares_values(traces, StateIndicators(2), 0.5).round(6).tolist()
    [2.0, 2.0]
    """
    own = _steps(steps)
    ahead = np.where(own.ends[:, np.newaxis], 0.0, features.transform(own.next_state))
    sums = difference_sums(features.transform(own.state), ahead, own.reward, discount)
    return sums.solved(ridge)


class LeastSquaresPolicyIteration(Learner):
    """LSPI: the best policy for linear values, from recorded steps.

    Parameters
    ----------
    features : features of states
        Each action has its own weights.
    discount : float
    ridge : float
        Keeps weights finite that the steps do not decide.
    max_iter : int
    tol : float
        Largest change of a weight, relative to the largest, at which it stops.

    Attributes
    ----------
    weights_ : array (n_actions, n_features)
    statistics_ : DifferenceSums
        Of the last policy.
    certificate_ : Certificate
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
        own = _steps(steps)
        if self.features is None:
            raise InputError("Which features? Give features=TileCoding(...) or others.")
        with fitting(self) as watch:
            k, m = self.features.n_features, own.n_actions
            now = _by_action(self.features.transform(own.state), own.action, m)
            ahead = np.where(own.ends[:, np.newaxis], 0.0, self.features.transform(own.next_state))
            weights, change = np.zeros((m, k)), np.inf
            iterations = 0
            while change > self.tol and iterations < self.max_iter:
                check_cancelled()
                best = np.argmax(ahead @ weights.T, axis=1)
                sums = difference_sums(now, _by_action(ahead, best, m), own.reward, self.discount)
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
        check_is_fitted(self)
        return np.asarray(self.features.transform(states) @ self.weights_.T)

    def predict(self, X: Sequence[Any]) -> Integers:
        """The best action of each of the states."""
        return np.argmax(self.action_values(X), axis=1)


def _by_action(features: Floats, action: Integers, n_actions: int) -> Floats:
    """Features of pairs: those of the state, at the place of the action."""
    n, k = features.shape
    table = np.zeros((n, n_actions, k))
    table[np.arange(n), action] = features
    return table.reshape(n, n_actions * k)


class FittedQ(Learner):
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
        own = _steps(steps)
        with fitting(self) as watch:
            rows = [np.flatnonzero(own.action == a) for a in range(own.n_actions)]
            absent = [a for a, places in enumerate(rows) if not len(places)]
            if absent:
                raise InputError(
                    f"Action {absent[0]} never occurs in the steps, so its values cannot be "
                    "learned. Gather steps that try every action."
                )
            target, change, iterations = own.reward.copy(), np.inf, 0
            scale = max(float(np.abs(own.reward).max()), 1e-300)
            while change > self.tol and iterations < self.max_iter:
                check_cancelled()
                self.regressors_ = [
                    clone(self.estimator).fit(own.state[places], target[places]) for places in rows
                ]
                ahead = np.max([model.predict(own.next_state) for model in self.regressors_], 0)
                following = own.reward + np.where(own.ends, 0.0, self.discount * ahead)
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
        check_is_fitted(self)
        rows = np.atleast_2d(np.asarray(states, np.float64))
        return np.column_stack([model.predict(rows) for model in self.regressors_])

    def predict(self, X: Sequence[Any]) -> Integers:
        """The best action of each of the states."""
        return np.argmax(self.action_values(X), axis=1)


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
