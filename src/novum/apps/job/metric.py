"""The scorer that models are chosen by.

The cost of decisions is a score of folds, some of which may lack a rare class. The empirical Bayes
risk averages the cost within each class and weighs the classes by their priors,

    risk = sum_c P(c) mean cost of the rows of c / sum_c P(c),

here over the classes that the rows have. Where all classes occur it is that of `novum.evaluation`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from novum.apps.job.table.task import Task, class_places
from novum.core.decisions import WorkingPoint
from novum.evaluation import OF_LEVELS, Measure, measure, scorer


def metric_of(task: Task) -> Any:
    """The scorer that models are chosen by."""
    wanted = cost_measure() if task.metric == "bayes_risk" else task.metric
    levels: dict[str, Any] = {"classes": list(task.levels)} if task.metric in OF_LEVELS else {}
    return scorer(wanted, point=task.point, positive=task.positive, **levels)


def cost_measure() -> Measure:
    """The measure `bayes_risk`, for rows that may lack a class."""
    return replace(measure("bayes_risk"), function=risk_of_present)


def risk_of_present(
    y: Any,
    posteriors: Any,
    *,
    point: WorkingPoint,
    classes: Any,
    sample_weight: Any = None,
    positive: Any = None,
) -> float:
    """Risk of the decisions of least expected cost, over the classes that occur.

    Examples
    --------
    >>> point = WorkingPoint.uniform("abc")
    >>> risk_of_present(["a", "b"], [[1, 0, 0], [1, 0, 0]], point=point, classes=list("abc"))
    0.5
    """
    del positive
    there = point.ordered(classes)
    codes = class_places(y, classes)
    weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, float)
    costs = there.expected_costs(np.eye(len(there.classes)))
    paid = weight * costs[codes, there.actions_for(posteriors)]
    totals = np.bincount(codes, weight, len(costs))
    present = totals > 0
    means = np.bincount(codes, paid, len(costs))[present] / totals[present]
    priors = there.priors[present]
    return float(priors @ means / priors.sum()) if priors.sum() > 0 else float(means.mean())
