"""Risk: what decisions cost, expected for one case and observed over many.

    R(a | x) = sum_c P(c | x) cost[c, a]                      conditional risk of an action
    B        = sum_c  pi_c / N_c  sum_{i of class c} cost[c, a_i]        empirical Bayes risk

The empirical risk weighs the classes by the priors pi of the working point, not by how often they
occur in the sample. It is normalized between the two systems that need no data: 0 for one that
always takes the right action, 1 for the best one that always takes the same,

    (B - B_right) / (B_blind - B_right),    B_right = sum_c pi_c min_a cost[c, a],
                                            B_blind = min_a sum_c pi_c cost[c, a].

With costs of zero for right actions this is the usual B / B_blind, and it does not change when a
number is added to the costs of a class or all costs are multiplied.

References: Duda, Hart & Stork, Pattern Classification, 2nd ed., eq. 2.11-2.13; Brümmer & du Preez,
Computer Speech and Language 20 (2006), section 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.core.tables import plain_target
from novum.evaluation.decisions.labelled_cases import case_weights, class_codes, class_weights
from novum.numerics import Array, Floats, Positions


def conditional_risk(posteriors: ArrayLike, point: WorkingPoint | ArrayLike) -> Floats:
    """Expected cost of each action for each case.

    Parameters
    ----------
    posteriors : array of shape (n, K)
    point : WorkingPoint or cost matrix of shape (K, A)
        `cost[true, action]`.

    Returns
    -------
    array of shape (n, A)
        Of a point with a reject cost the last column is that of rejecting.

    Examples
    --------
    >>> conditional_risk([[0.9, 0.1], [0.5, 0.5]], [[0, 1], [20, 0]]).tolist()
    [[2.0, 0.9], [10.0, 0.5]]
    """
    return _as_point(point).expected_costs(posteriors)


def bayes_actions(
    posteriors: ArrayLike,
    point: WorkingPoint | ArrayLike,
    *,
    training_priors: ArrayLike | None = None,
) -> Array:
    """The action of least conditional risk for each case, by name; ties to the first.

    Parameters
    ----------
    posteriors : array of shape (n, K)
    point : WorkingPoint or cost matrix of shape (K, A)
        Actions of a matrix are called 0, 1, ...
    training_priors : array of shape (K,), optional
        Priors that the posteriors belong to; they are then moved to those of the point first.

    Examples
    --------
    >>> bayes_actions([[0.9, 0.1], [0.97, 0.03]], [[0, 1], [20, 0]]).tolist()
    [1, 0]
    """
    named = _as_point(point)
    moved = posteriors if training_priors is None else named.retarget(posteriors, training_priors)
    return named.decide(moved)


def empirical_bayes_risk(
    y: Any,
    posteriors: ArrayLike,
    point: WorkingPoint,
    *,
    training_priors: ArrayLike | None = None,
    normalized: bool = False,
    sample_weight: Any = None,
) -> float:
    """What the Bayes actions cost on average, each class weighted by its prior at the point.

    Parameters
    ----------
    y : array of n labels
        Classes of the point.
    posteriors : array of shape (n, K)
        Columns in the order of `point.classes`.
    point : WorkingPoint
    training_priors : array of shape (K,), optional
        Priors that the posteriors belong to; they are then moved to those of the point first.
    normalized : bool
        Whether 1 is the cost of the best action that does not look at the case.
    sample_weight : array of shape (n,), optional

    Examples
    --------
    >>> point = WorkingPoint.binary(prior=0.5, cost_fn=3, cost_fp=1)
    >>> P = [[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]]
    >>> empirical_bayes_risk([0, 0, 1], P, point)
    0.25
    """
    actions = bayes_actions(posteriors, point, training_priors=training_priors)
    return risk_of_actions(y, actions, point, normalized=normalized, sample_weight=sample_weight)


def risk_of_actions(
    y: Any,
    actions: Any,
    point: WorkingPoint,
    *,
    normalized: bool = False,
    sample_weight: Any = None,
) -> float:
    """What given actions cost on average, each class weighted by its prior at the point.

    Parameters
    ----------
    y : array of n labels
    actions : array of n names
        Among `point.action_names`, such as what `model.at(point).decide(X)` gives.
    point, normalized, sample_weight
        As for `empirical_bayes_risk`.

    Examples
    --------
    >>> point = WorkingPoint(["ill", "well"], [0.1, 0.9], [[0, 20], [1, 0]], reject_cost=0.4)
    >>> risk_of_actions(["ill", "well", "well"], ["ill", "reject", "well"], point)
    0.18000000000000002
    """
    codes = class_codes(y, point.classes)
    taken = _action_codes(actions, point)
    if len(taken) != len(codes):
        raise InputError(
            f"There are {len(codes)} labels and {len(taken)} actions. Pass one action for each."
        )
    weight = case_weights(sample_weight, len(codes))
    shares = weight / class_weights(codes, weight, point.classes)[codes]
    risk = float((point.priors[codes] * shares) @ point.action_costs[codes, taken])
    return _normalized(risk, point) if normalized else risk


def blind_risk(point: WorkingPoint) -> tuple[float, float]:
    """Risks without data: of always taking the right action, and of the best constant action.

    Examples
    --------
    >>> blind_risk(WorkingPoint.binary(prior=0.1, cost_fn=5, cost_fp=1))
    (0.0, 0.5)
    """
    costs = point.action_costs
    return float(point.priors @ costs.min(axis=1)), float((point.priors @ costs).min())


def _normalized(risk: float, point: WorkingPoint) -> float:
    right, blind = blind_risk(point)
    if not blind > right:
        raise InputError(
            "The risk cannot be normalized: one action is best for every class of positive prior, "
            f"so knowing the case is worth nothing (costs {point.action_costs.tolist()}, priors "
            f"{point.priors.tolist()}). Ask for normalized=False."
        )
    return (risk - right) / (blind - right)


def _as_point(point: WorkingPoint | ArrayLike) -> WorkingPoint:
    """A bare cost matrix as a point with numbered classes and actions."""
    if isinstance(point, WorkingPoint):
        return point
    cost = np.asarray(point, dtype=np.float64)
    if cost.ndim != 2 or 0 in cost.shape:
        raise InputError(
            "A cost matrix has one row for each true class and one column for each action, got an "
            f"array of shape {cost.shape}."
        )
    n_classes, n_actions = cost.shape
    priors = np.full(n_classes, 1 / n_classes)
    return WorkingPoint(tuple(range(n_classes)), priors, cost, actions=tuple(range(n_actions)))


def _action_codes(actions: Any, point: WorkingPoint) -> Positions:
    names = point.action_names
    given = plain_target(actions)
    place = {name: code for code, name in enumerate(names)}
    codes = np.array([place.get(name, -1) for name in given.tolist()], dtype=np.intp)
    strange = np.flatnonzero(codes < 0)
    if strange.size:
        raise InputError(
            f"Row {strange[0]} has the action {given.tolist()[strange[0]]!r}, which is not among "
            f"the actions of the point: {', '.join(map(repr, names))}."
        )
    return codes
