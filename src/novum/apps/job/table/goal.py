"""What a run aims at: the working point, and the measure that models are chosen by."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.apps.job.record import TaskKind
from novum.apps.job.request import Request
from novum.core.errors import InputError
from novum.core.text import label_text, listed, printable
from novum.core.working_point import WorkingPoint
from novum.evaluation.measures.catalog import is_measure, measure, measure_names
from novum.evaluation.measures.rates import RATES

Floats = NDArray[np.float64]

_COSTS = ("bayes_risk", "detection_cost", "minimum_detection_cost")
_BINARY_ONLY = ("detection_cost", "minimum_detection_cost", "equal_error_rate", "cllr")
_DEFAULTS = {"binary": "accuracy", "multiclass": "accuracy", "regression": "rmse"}


@dataclass(frozen=True)
class Goal:
    """The positive class, the working point and the measure of a run."""

    positive: Any
    point: WorkingPoint | None
    metric: str
    greater_is_better: bool
    sentences: tuple[str, ...]


def read_goal(request: Request, kind: TaskKind, classes: Any, shares: Floats | None) -> Goal:
    """The goal of a request.

    Parameters
    ----------
    request : Request
    kind : {"binary", "multiclass", "regression"}
    classes : array of K labels, or None
    shares : array (K,) or None
        Share of each class in the labeled rows, which are the priors unless others are given.
    """
    labels = [] if classes is None else classes.tolist()
    positive, said = _positive(request, kind, labels)
    point, point_said = _point(request, kind, labels, positive, shares)
    metric, better, metric_said = _metric(request, kind, point)
    return Goal(positive, point, metric, better, (*said, *point_said, *metric_said))


# --- Positive class -------------------------------------------------------------------------------


def _positive(request: Request, kind: TaskKind, labels: list[Any]) -> tuple[Any, list[str]]:
    if kind != "binary":
        if request.positive is not None:
            what = "numbers" if kind == "regression" else f"{len(labels)} classes"
            raise InputError(
                f"--positive {printable(request.positive)!r} is for two classes, but the target "
                f"has {what}. Leave it out."
            )
        return None, []
    if request.positive is None:
        said = (
            f"The positive class is {label_text(labels[-1])}, the last of both; --positive names "
            "the other."
        )
        return labels[-1], [said]
    by_text = {str(label): label for label in labels}
    if request.positive not in by_text:
        raise InputError(
            f"--positive {printable(request.positive)!r} is none of the classes "
            f"{listed(labels)}. Name one of them."
        )
    found = by_text[request.positive]
    return found, [f"The positive class is {label_text(found)}, as --positive says."]


# --- Working point --------------------------------------------------------------------------------


def _point(
    request: Request, kind: TaskKind, labels: list[Any], positive: Any, shares: Floats | None
) -> tuple[WorkingPoint | None, list[str]]:
    numbers = {
        "--prior": request.prior,
        "--cost-fn": request.cost_fn,
        "--cost-fp": request.cost_fp,
    }
    given = [name for name, value in numbers.items() if value is not None]
    if request.cost is None and not given:
        return None, []
    if shares is None:
        name = given[0] if given else "--cost"
        raise InputError(
            f"{name} is for decisions between classes, but the target is a number. Leave it out, "
            "or say --task multiclass."
        )
    if given and kind != "binary":
        raise InputError(
            f"{given[0]} is for two classes, but the target has {len(labels)}. Give the costs of "
            "all classes as a table with --cost."
        )
    if request.cost is not None:
        return _from_table(request, labels, positive, shares)
    prior = float(shares[labels.index(positive)]) if request.prior is None else request.prior
    miss = 1.0 if request.cost_fn is None else request.cost_fn
    alarm = 1.0 if request.cost_fp is None else request.cost_fp
    negative = next(label for label in labels if label != positive)
    point = WorkingPoint.binary(
        prior=prior, cost_fn=miss, cost_fp=alarm, classes=(negative, positive)
    )
    said = (
        f"The working point has a prior of {prior:.4g} for {label_text(positive)}"
        f"{'' if request.prior is not None else ', its share of the rows'}; missing one costs "
        f"{miss:g}, a false alarm {alarm:g}."
    )
    return point.ordered(labels), [said]


def _from_table(
    request: Request, labels: list[Any], positive: Any, shares: Floats
) -> tuple[WorkingPoint, list[str]]:
    for name, value in (("--cost-fn", request.cost_fn), ("--cost-fp", request.cost_fp)):
        if value is not None:
            raise InputError(f"--cost and {name} both give costs. Leave out one of them.")
    priors, whose = shares, "their shares of the rows"
    if request.prior is not None:
        if not 0 <= request.prior <= 1:
            raise InputError(f"--prior is a probability between 0 and 1, got {request.prior:g}.")
        is_positive = np.array([label == positive for label in labels])
        priors = np.where(is_positive, request.prior, 1.0 - request.prior)
        whose = f"{request.prior:g} for {label_text(positive)}"
    shown = printable(str(request.cost), 200)
    try:
        point = WorkingPoint.from_csv(str(request.cost), priors=priors, classes=labels)
    except OSError as error:
        raise InputError(
            f"The cost table {shown!r} cannot be read: {printable(error.strerror or '', 100)}. "
            "Check the path."
        ) from None
    except InputError as error:
        raise InputError(f"The cost table {shown!r} cannot be used: {error}") from None
    said = (
        f"Costs come from {shown}, with {len(point.action_names)} actions; the priors of the "
        f"classes are {whose}."
    )
    return point, [said]


# --- Measure --------------------------------------------------------------------------------------


def _metric(
    request: Request, kind: TaskKind, point: WorkingPoint | None
) -> tuple[str, bool, list[str]]:
    default = _DEFAULTS[kind] if point is None else "bayes_risk"
    wanted = request.metric or default
    if not is_measure(wanted):
        near = difflib.get_close_matches(wanted, measure_names(), n=3) or [_DEFAULTS[kind]]
        raise InputError(
            f"--metric {printable(wanted, 60)} is no measure. Did you mean "
            f"{' or '.join(map(repr, near))}?"
        )
    found = measure(wanted)
    shown = f"--metric {found.name}"
    if found.target != ("numbers" if kind == "regression" else "classes"):
        raise InputError(
            f"{shown} is not for {'numbers' if kind == 'regression' else 'classes'}, which the "
            f"target holds. Take another measure, such as {_DEFAULTS[kind]}."
        )
    if found.name in _COSTS and point is None:
        raise InputError(
            f"{shown} is a cost at a working point. Give one with --cost, or with --prior, "
            "--cost-fn and --cost-fp."
        )
    if kind == "multiclass" and found.name in (*RATES, *_BINARY_ONLY, "roc_auc"):
        instead = f"{found.name}_macro" if found.name in RATES else "roc_auc_ovr"
        raise InputError(
            f"{shown} is for two classes, but the target has more. Take {instead}, or accuracy."
        )
    better = "more" if found.greater_is_better else "less"
    why = "as --metric says" if request.metric else "the default for such a task"
    said = f"Models are chosen by {found.label} ({better} is better), {why}."
    return found.name, found.greater_is_better, [said]
