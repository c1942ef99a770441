"""Binary learners as members of a larger one, and what they answer.

A member was fitted to targets 0 and 1. Its *margin* is positive where it says 1:

    decision_function              of a classifier that has one
    log P(1 | x) - log P(0 | x)    of a classifier that has probabilities only
    predict - 1/2                  of a regressor
    +1 or -1                       of a classifier that only names classes, or of a constant one

Margins are kept as they are, not turned into votes, so that ties can be broken and curves drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor

from novum.core.learners.certificate import Certificate, Verdict
from novum.core.runtime import RandomSource, run_tasks, seed, seed_sequence
from novum.core.tables import n_rows_of
from novum.numerics import Array, Floats

# Log-odds of probabilities that are 0 or 1; sums of many stay finite.
LARGEST_MARGIN = 1e100


class ConstantTargetWarning(UserWarning):
    """A binary problem has rows of one side only; its member always answers the same."""


class ConstantPredictor(ClassifierMixin, BaseEstimator):
    """What is learned from rows that all have the same label: to name it always.

    Parameters
    ----------
    label : label
        The answer to every row.
    classes : sequence of labels, default=(0, 1)
        All labels there are, in sorted order.

    Examples
    --------
    >>> ConstantPredictor(1).predict_proba([[0.5], [2.0]]).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """

    def __init__(self, label: Any = 0, classes: Sequence[Any] = (0, 1)) -> None:
        self.label = label
        self.classes = classes

    def fit(self, X: Any, y: Any = None) -> ConstantPredictor:  # noqa: ARG002
        """Nothing is learned: the label is a parameter."""
        return self

    @property
    def classes_(self) -> Array:
        return np.asarray(self.classes)

    @property
    def certificate_(self) -> Certificate:
        """There is one label only, so nothing else can be right more often."""
        return Certificate(objective="errors on the training rows", verdict=Verdict.PROVED, value=0)

    def predict(self, X: Any) -> Array:
        """The label, for every row."""
        return np.repeat(np.asarray([self.label]), n_rows_of(X))

    def predict_proba(self, X: Any) -> Floats:
        """One for the label, zero for the others."""
        return np.tile((self.classes_ == self.label).astype(float), (n_rows_of(X), 1))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> Floats:
        """+1 for the label and -1 for the others, of two classes for the last alone: only signs."""
        signs = np.where(self.classes_ == self.label, 1.0, -1.0)
        if len(signs) <= 2:
            return np.full(n_rows_of(X), signs[-1])
        return np.tile(signs, (n_rows_of(X), 1))

    def __sklearn_is_fitted__(self) -> bool:
        return True


# --- Members --------------------------------------------------------------------------------------


def unfitted_members(
    estimator: Any, n_members: int, random_state: RandomSource = None
) -> list[Any]:
    """Clones of an estimator, each with a seed of its own where the estimator has none.

    A seed that the estimator was given stays, as in scikit-learn. Where its `random_state` is
    `None`, seeds are drawn once from `random_state`, before any member is fitted: then the members
    do not depend on the order in which threads fit them.
    """
    members = [clone(estimator) for _ in range(n_members)]
    open_seeds = [
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    if open_seeds:
        root = seed_sequence(random_state)
        for i, member in enumerate(members):
            member.set_params(**{name: seed(root, name, i) for name in open_seeds})
    return members


def for_members(
    answer: Callable[[Any, Any], Floats], members: Sequence[Any], X: Any, n_jobs: int | None
) -> Floats:
    """`answer(member, X)` of all members as columns, of shape (n, n_members).

    `X` is one table for all, or a list of one for each member.
    """
    tables = X if isinstance(X, _Tables) else [X] * len(members)
    pairs = zip(members, tables, strict=True)
    return np.column_stack(run_tasks(lambda task: answer(*task), pairs, n_jobs))


class _Tables(list[Any]):
    """One table for each member."""


def member_tables(tables: Sequence[Any]) -> list[Any]:
    """Marks tables as belonging to one member each, for `for_members`."""
    return _Tables(tables)


def margin(member: Any, X: Any) -> Floats:
    """Positive where the member says 1, of shape (n,); see the top of this file.

    Examples
    --------
    >>> margin(ConstantPredictor(0), [[0.5], [2.0]]).tolist()
    [-1.0, -1.0]
    """
    if is_regressor(member):
        return np.asarray(member.predict(X), float).ravel() - 0.5
    if hasattr(member, "decision_function"):
        try:
            return np.asarray(member.decision_function(X), float).ravel()
        except NotImplementedError:
            pass
    if hasattr(member, "predict_proba"):
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = _log_probabilities(member, X)
            odds = logs[:, 1] - logs[:, 0]
        return np.clip(odds, -LARGEST_MARGIN, LARGEST_MARGIN)
    return np.where(np.asarray(member.predict(X)).ravel() == 1, 1.0, -1.0)


def pair_probabilities(member: Any, X: Any) -> Floats:
    """The probabilities that a classifier gives to 0 and 1, of shape (n, 2).

    Both as it gives them: one minus the other has fewer digits.
    """
    return _both(member, np.asarray(member.predict_proba(X), float), 0.0)


def probability(member: Any, X: Any) -> Floats:
    """The probability that a classifier gives to 1, of shape (n,)."""
    return pair_probabilities(member, X)[:, 1]


def log_probability(member: Any, X: Any) -> Floats:
    """The logarithm of `probability`, from `predict_log_proba` where there is one."""
    return _log_probabilities(member, X)[:, 1]


def _log_probabilities(member: Any, X: Any) -> Floats:
    with np.errstate(divide="ignore"):
        if hasattr(member, "predict_log_proba"):
            return _both(member, np.asarray(member.predict_log_proba(X), float), -np.inf)
        return np.log(pair_probabilities(member, X))


def _both(member: Any, table: Floats, absent: float) -> Floats:
    """The columns of 0 and 1; a member whose own rows had one label only may lack the other."""
    known = np.asarray(member.classes_).tolist()
    if known == [0, 1]:
        return table
    lacking = np.full(len(table), absent)
    columns = [table[:, known.index(k)] if k in known else lacking for k in (0, 1)]
    return np.column_stack(columns)
