"""From a table to a task: what is predicted, from which columns, at which working point.

1. The target: classes or numbers, by the rule of `target_column` unless `--task` says otherwise.
2. Columns about rows: weight, group, time.
3. Features: all other columns whose nature (`column_natures`) lets a model learn from them; dates
   and free text among them are kept as such, for a step of each model.
4. The goal: positive class, working point, measure.

Nothing is changed: rows without a target are kept aside and counted, columns that models do not see
are listed with the reason.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.apps.job.record import OF_NUMBERS, TaskKind
from novum.apps.job.request import Request, TaskChoice
from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.features import feature_cells, features_of, ids_of, refuse_infinite
from novum.apps.job.table.reading import LoadedTable
from novum.apps.job.table.target_column import (
    Target,
    read_exposure,
    read_groups,
    read_order,
    read_target,
    read_weights,
)
from novum.apps.job.table.task import Task
from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.core.tables import MISSING, Schema
from novum.core.text import label_text, listed, printable
from novum.evaluation import OF_LEVELS, RATES, is_measure, measure, measure_names
from novum.numerics import Array, Floats, Integers

# --- The goal -------------------------------------------------------------------------------------
# What a run aims at: the working point, and the measure that models are chosen by.

_COSTS = ("bayes_risk", "detection_cost", "minimum_detection_cost")
_BINARY_ONLY = ("detection_cost", "minimum_detection_cost", "equal_error_rate", "cllr")
_DEFAULTS = {
    "binary": "accuracy",
    "multiclass": "accuracy",
    "ordinal": "mean_level_error",
    "regression": "rmse",
    "counts": "poisson_deviance",
}


@dataclass(frozen=True)
class Goal:
    """The positive class, the working point and the measure of a run."""

    positive: Any
    point: WorkingPoint | None
    metric: str
    greater_is_better: bool
    sentences: tuple[str, ...]


# Languages in which yes comes before no.
_YES = {"ja": ("nein", "nee", "nej", "nei"), "j": ("n",)}


def read_goal(
    request: Request, kind: TaskKind, classes: Any, shares: Floats | None, highest: Any = None
) -> Goal:
    """The goal of a request.

    Parameters
    ----------
    request : Request
    kind : {"binary", "multiclass", "ordinal", "regression", "counts"}
    classes : array of K labels, or None
    shares : array (K,) or None
        Share of each class in the labeled rows, which are the priors unless others are given.
    highest : label, optional
        The higher one of two levels with an order.
    """
    labels = [] if classes is None else classes.tolist()
    positive, said = _positive(request, kind, labels, highest)
    point, point_said = _point(request, kind, labels, positive, shares)
    metric, better, metric_said = _metric(request, kind, point)
    if kind == "ordinal" and point is None:
        said.append("The median of its probabilities is decided for: the least wrong in levels.")
    return Goal(positive, point, metric, better, (*said, *point_said, *metric_said))


# --- Positive class -------------------------------------------------------------------------------


def _positive(
    request: Request, kind: TaskKind, labels: list[Any], highest: Any
) -> tuple[Any, list[str]]:
    if kind != "binary":
        if request.positive is not None:
            what = "numbers" if kind in OF_NUMBERS else f"{len(labels)} classes"
            raise InputError(
                f"--positive {printable(request.positive)!r} is for two classes, but the target "
                f"has {what}. Leave it out."
            )
        return None, []
    if request.positive is None:
        first, last = (str(label).lower() for label in labels)
        positive, which = (labels[-1], "last") if highest is None else (highest, "higher")
        if highest is None and first in _YES and last in _YES[first]:
            positive, which = labels[0], "yes"
        said = (
            f"The positive class is {label_text(positive)}, the {which} of both; --positive "
            "names the other."
        )
        return positive, [said]
    positive = label_named(request.positive, labels)
    return positive, [f"The positive class is {label_text(positive)}, as --positive says."]


def label_named(text: str, labels: list[Any]) -> Any:
    """The class that `--positive` names, in another case if that is clear.

    Examples
    --------
    >>> label_named("True", ["false", "true"])
    'true'
    """
    exact = [label for label in labels if str(label) == text]
    near = [label for label in labels if str(label).lower() == text.lower()]
    if exact or len(near) == 1:
        return (exact or near)[0]
    raise InputError(
        f"--positive {printable(text)!r} is none of the classes {listed(labels)}. Name one of them."
    )


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
    metric = measure(wanted)
    shown = f"--metric {metric.name}"
    held = "numbers" if kind in OF_NUMBERS else "classes"
    if metric.target != held:
        raise InputError(
            f"{shown} is not for {held}, which the target holds. Take another measure, such as "
            f"{_DEFAULTS[kind]}."
        )
    if metric.name in _COSTS and point is None:
        raise InputError(
            f"{shown} is a cost at a working point. Give one with --cost, or with --prior, "
            "--cost-fn and --cost-fp."
        )
    if metric.name in OF_LEVELS and kind != "ordinal":
        raise InputError(
            f"{shown} is for levels with an order, which nobody has told. List them from low to "
            "high with --levels, or say --task ordinal."
        )
    if kind in ("multiclass", "ordinal") and metric.name in (*RATES, *_BINARY_ONLY, "roc_auc"):
        instead = f"{metric.name}_macro" if metric.name in RATES else "roc_auc_ovr"
        raise InputError(
            f"{shown} is for two classes, but the target has more. Take {instead}, or accuracy."
        )
    better = "more" if metric.greater_is_better else "less"
    why = "as --metric says" if request.metric else "the default for such a task"
    said = f"Models are chosen by {metric.label} ({better} is better), {why}."
    return metric.name, metric.greater_is_better, [said]


def formalize(loaded: LoadedTable, request: Request) -> Task:
    """The task of a table.

    Parameters
    ----------
    loaded : LoadedTable
    request : Request

    Raises
    ------
    InputError
        Where there is nothing to learn: no target, one class only, far too many classes, no
        features; or where weights, groups, times, costs or the measure do not fit.

    Examples
    --------
    >>> from novum.apps.job.table.reading import read
    >>> task = formalize(read(Request("iris")), Request("iris"))
    >>> task.kind, task.classes.tolist(), task.metric
    ('multiclass', ['setosa', 'versicolor', 'virginica'], 'accuracy')
    """
    cells, choice = feature_cells(loaded, loaded.target), _choice(request)
    target = read_target(cells, loaded, choice, request.metric)
    request, published = _with_published_costs(loaded, request)
    coded, weight, rated = _per_exposure(target.coded, loaded, request)
    groups = None if request.group is None else read_groups(feature_cells(loaded, request.group))
    order = None if request.time is None else read_order(feature_cells(loaded, request.time))
    features, left_out, columns, kinds = features_of(loaded, request)
    shares = _shares(target, weight)
    goal = read_goal(request, target.kind, target.classes, shares, target.highest)
    without = _without_target(target)
    return Task(
        kind=target.kind,
        target=loaded.target,
        X=loaded.table.select([column.name for column in features]),
        schema=Schema(features),
        coded=coded,
        classes=target.classes,
        positive=goal.positive,
        weight=weight,
        groups=groups,
        order=order,
        point=goal.point,
        metric=goal.metric,
        greater_is_better=goal.greater_is_better,
        left_out=left_out,
        sentences=(*target.sentences, *rated, *published, *goal.sentences, *without),
        columns=columns,
        kinds=kinds,
        ids=ids_of(loaded, request),
        as_text=loaded.as_text,
    )


def _choice(request: Request) -> TaskChoice:
    """The task that was asked for: what has an exposure is counted."""
    if request.exposure is None or request.task == "counts":
        return request.task
    if request.task != "auto":
        raise InputError(
            f"--exposure {printable(request.exposure, 60)} is for counts, but --task is "
            f"{request.task}. Leave out one of them, or say --task counts."
        )
    return "counts"


def _per_exposure(
    coded: Array, loaded: LoadedTable, request: Request
) -> tuple[Array, Floats | None, tuple[str, ...]]:
    """The target, the weights, and what to say of both.

    The Poisson likelihood of counts `y` with means `e m` is that of rates `y / e` with means `m`
    and weights `e`, but for a constant.
    """
    weight = None if request.weight is None else read_weights(feature_cells(loaded, request.weight))
    if request.exposure is None:
        return coded, weight, ()
    if coded.dtype.kind != "f":
        raise InputError(
            f"--exposure {printable(request.exposure, 60)} is for counts, and the model answers "
            "with classes. Leave it out."
        )
    exposure = read_exposure(feature_cells(loaded, request.exposure))
    said = f"It is a rate: for each unit of {printable(request.exposure)!r}, by which rows weigh."
    return coded / exposure, exposure if weight is None else weight * exposure, (said,)


def _with_published_costs(loaded: LoadedTable, request: Request) -> tuple[Request, tuple[str, ...]]:
    """The request with the costs of a bundled table, if nothing was said of costs or measures."""
    own = (request.cost, request.prior, request.cost_fn, request.cost_fp, request.positive)
    if loaded.costs is None or request.metric is not None or any(one is not None for one in own):
        return request, ()
    said = f"Costs are those published with {loaded.name}; --cost-fn and --cost-fp give others."
    return replace(request, **loaded.costs), (said,)


def formalize_like(loaded: LoadedTable, task: Task, request: Request) -> Task:
    """The task of a table to judge on: classes, features and goal are those of another task.

    Rows without a target are kept aside here too; a class that the other table does not have is
    refused.
    """
    cells = feature_cells(loaded, loaded.target)
    coded = cells.values if task.classes is None else _codes_like(cells, task.classes, loaded.name)
    coded, weight, _ = _per_exposure(coded, loaded, request)
    for name in task.features:
        refuse_infinite(feature_cells(loaded, name))
    formalized = Task(
        kind=task.kind,
        target=task.target,
        X=loaded.table.select(list(task.features)),
        schema=Schema(tuple(loaded.column(name) for name in task.features)),
        coded=coded,
        classes=task.classes,
        positive=task.positive,
        weight=weight,
        groups=None,
        order=None,
        point=task.point,
        metric=task.metric,
        greater_is_better=task.greater_is_better,
        left_out=task.left_out,
        sentences=task.sentences,
        columns=task.columns,
        kinds=task.kinds,
        ids=ids_of(loaded, request),
    )
    if not formalized.labeled.size:
        raise InputError(
            f"{printable(loaded.name)} has no value of {printable(task.target)!r} in any row, so "
            "nothing can be judged on it. Give a file with targets, or use --holdout."
        )
    return formalized


# --- Parts of the target --------------------------------------------------------------------------


def _shares(target: Target, weight: Floats | None) -> Floats | None:
    """Share of each class in the weight of the labeled rows."""
    if target.classes is None:
        return None
    known = target.coded != MISSING
    counts = np.bincount(
        target.coded[known],
        None if weight is None else weight[known],
        minlength=len(target.classes),
    )
    if not counts.all():
        label = target.classes[int((counts == 0).argmax())]
        raise InputError(
            f"All rows of class {label_text(label)} have weight 0, so it cannot be learned. Give "
            "one of them a positive weight, or leave the rows out."
        )
    return np.asarray(counts / counts.sum(), np.float64)


def _without_target(target: Target) -> tuple[str, ...]:
    absent = target.coded == MISSING if target.classes is not None else np.isnan(target.coded)
    count = int(np.count_nonzero(absent))
    if not count:
        return ()
    rows = "1 row has" if count == 1 else f"{count:,} rows have"
    if target.classes is None:
        return (f"{rows} no target: not used for learning or judging, but predicted at the end.",)
    return (
        f"{rows} no target: not used for judging, learned from only where that helps, and "
        "predicted at the end.",
    )


def _codes_like(cells: Cells, classes: Array, name: str) -> Integers:
    """Codes of a target under given classes."""
    coded = np.full(len(cells.values), MISSING, np.int64)
    values, codes = np.unique(cells.values[cells.known], return_inverse=True)
    labels = [_label(cells, value, classes) for value in values.tolist()]
    places = {label: code for code, label in enumerate(classes.tolist())}
    if {str(label).lower() for label in places} <= {"true", "false"}:
        # Truth values mean the same in every writing.
        labels = [next((x for x in places if str(x).lower() == str(y).lower()), y) for y in labels]
    strange = [label for label in labels if label not in places]
    if strange:
        raise InputError(
            f"{printable(name)} has the class {label_text(strange[0])} of "
            f"{printable(cells.name)!r}, which no row to learn from has; these have "
            f"{listed(classes.tolist())}. Leave out such rows, or learn from some."
        )
    coded[cells.known] = np.array([places[label] for label in labels], np.int64)[codes]
    return coded


def _label(cells: Cells, value: Any, classes: Array) -> Any:
    if not cells.is_numeric:
        return cells.level(int(value))
    if classes.dtype.kind == "U":
        return repr(float(value))
    return int(value) if float(value).is_integer() else value
