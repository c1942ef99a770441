"""Combining what several learners say: majority of votes, mean of probabilities, mean of numbers.

    majority    argmax_k  sum_m w_m [h_m(x) = k]
    soft        argmax_k  sum_m w_m p_m(k | x) / sum_m w_m
    mean        sum_m w_m h_m(x) / sum_m w_m

Ties go to the lowest class label. If the learners err independently, each with probability p below
one half, a majority of M errs with probability P(Binomial(M, p) > M/2), which vanishes as M grows
(Condorcet); the squared error of a mean is the mean squared error minus the spread of the members
around it (Krogh and Vedelsby), so it is never worse than that of a member on average.

Members are always added in their order, so the bits do not depend on who computed them first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import run_tasks
from novum.core.tables import said_once
from novum.numerics import Array, Floats, Positions

Result = TypeVar("Result")

# Members that predict at once; a stated number, so that memory does not grow with the ensemble.
_AT_ONCE = 16


def vote_shares(codes: Array, n_classes: int, weights: ArrayLike | None = None) -> Floats:
    """Share of the votes that each class gets (n_rows, n_classes).

    Parameters
    ----------
    codes : int array of shape (n_rows, n_members)
        The class that each member votes for.
    n_classes : int
    weights : array-like of shape (n_members,), optional
        Votes that each member has.

    Examples
    --------
    >>> vote_shares(np.array([[0, 1, 1], [2, 0, 1]]), 3).round(3).tolist()
    [[0.333, 0.667, 0.0], [0.333, 0.333, 0.333]]
    """
    n_rows, n_members = codes.shape
    votes = np.ones(n_members) if weights is None else np.asarray(weights, np.float64)
    shares = np.zeros((n_rows, n_classes))
    for member in range(n_members):
        shares[np.arange(n_rows), codes[:, member]] += votes[member]
    return shares / votes.sum()


def winners(shares: Floats, n_members: int) -> Positions:
    """The class with most votes; of those that are equal but for rounding, the first.

    Weights such as 0.1 + 0.2 and 0.3 add up to the same number of votes, whatever their last bits.

    Examples
    --------
    >>> winners(vote_shares(np.array([[1, 1, 0]]), 2, [0.1, 0.2, 0.3]), 3).tolist()
    [0]
    """
    slack = n_members * np.finfo(np.float64).eps
    best = shares.max(axis=1, keepdims=True)
    return (shares >= best * (1 - slack)).argmax(axis=1)


def in_order(
    function: Callable[[int], Result], n_members: int, n_jobs: int | None = None
) -> Iterator[Result]:
    """What `function` gives for the members 0, 1, ..., in that order, some computed at once.

    Examples
    --------
    >>> list(in_order(lambda m: m**2, 4, n_jobs=2))
    [0, 1, 4, 9]
    """
    for start in range(0, n_members, _AT_ONCE):
        members = range(start, min(start + _AT_ONCE, n_members))
        yield from run_tasks(function, members, n_jobs)


@said_once()
def weighted_mean(
    of_member: Callable[[int], Array],
    n_members: int,
    weights: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """`sum_m w_m f(m) / sum_m w_m`, members in their order.

    Examples
    --------
    >>> weighted_mean(lambda m: np.array([float(m), 1.0]), 3, [1, 1, 2]).tolist()
    [1.25, 1.0]
    """
    votes = np.ones(n_members) if weights is None else np.asarray(weights, np.float64)
    total: Any = 0.0
    for vote, answer in zip(votes, in_order(of_member, n_members, n_jobs), strict=True):
        total = total + vote * answer
    return np.asarray(total / votes.sum())


@said_once()
def log_mean(
    of_member: Callable[[int], Floats], n_members: int, n_jobs: int | None = None
) -> Floats:
    """`log(sum_m exp(f(m)) / M)`, right also where every member's probability underflows.

    Examples
    --------
    >>> log_mean(lambda m: np.array([-1000.0]), 3).round(6).tolist()
    [-1000.0]
    """
    total: Any = -np.inf
    for answer in in_order(of_member, n_members, n_jobs):
        total = np.logaddexp(total, answer)
    return np.asarray(total - np.log(n_members))


def checked_votes(weights: Any, names: Sequence[str]) -> Floats | None:
    """The votes of the members: finite, not negative, not all zero; None for one each."""
    if weights is None:
        return None
    votes = np.asarray(weights)
    if votes.shape != (len(names),):
        raise InputError(
            f"Number of `estimators` and weights must be equal; got {votes.size} weights for "
            f"{len(names)} estimators: {', '.join(names)}."
        )
    if votes.dtype.kind not in "biuf":
        raise InputError(f"weights are numbers, got {weights!r}.")
    votes = votes.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(votes) & (votes >= 0)))
    if wrong.size:
        raise InputError(
            f"The weight of {names[wrong[0]]!r} is {votes[wrong[0]]}; give finite numbers of at "
            "least 0."
        )
    return votes
