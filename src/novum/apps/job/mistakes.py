"""Where the chosen model is wrong on the rows set aside, and what it saves there all the same.

Every row has a loss: what its decision costs beyond the best one, one for a wrong decision where no
costs are given, the distance in levels where they have an order, or that of a predicted number. The
rows of largest loss are listed, and groups of rows (a level of a column, a quarter of its range,
its missing cells) are compared with all other rows by Welch's test, adjusted by Holm's method for
the number of groups looked at. Here every row counts once, whatever its weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from novum.apps.job.outputs import Predictions
from novum.apps.job.record_model import (
    Estimate,
    GroupError,
    LossKind,
    MistakesRecord,
    RowError,
    SavingRecord,
)
from novum.apps.job.table.column_cells import cells_of
from novum.apps.job.table.task import Task, class_places
from novum.core.errors import InputError
from novum.core.text import printable
from novum.display import about, number
from novum.evaluation import holm_adjusted, mean_interval, proportion_interval
from novum.numerics import UNSEEN, Array, Floats, Mask

MOST_WORST = 6
MOST_GROUPS = 6
MOST_COLUMNS = 50
# Rows that a group has at least, and levels of a column that are looked at.
FEWEST_ROWS = 8
MOST_LEVELS = 12
# Of the bootstrap: fewest and most, and rows that all resamples have together.
RESAMPLES = (20, 200)
_RESAMPLED_ROWS = 1_000_000
# Resamples that ends of intervals are counted from; fewer give their deviation alone.
_COUNTED = 100
_CELLS = 4
_LONGEST_CELL = 200


@dataclass(frozen=True, eq=False)
class Losses:
    """The losses of some rows.

    Attributes
    ----------
    kind : {"wrong", "cost", "levels", "distance"}
    values : array (m,)
    """

    kind: LossKind
    values: Floats

    @classmethod
    def of(cls, answers: Predictions, task: Task) -> Losses:
        """Losses of answers for rows of known target."""
        if not task.is_classification:
            distance = np.abs(np.asarray(answers.predicted, float) - answers.target)
            return cls("distance", distance)
        assert task.classes is not None
        true = class_places(answers.target, task.classes)
        if task.levels and answers.decisions is None:
            distance = np.abs(class_places(answers.predicted, task.classes) - true)
            return cls("levels", distance.astype(np.float64))
        if answers.decisions is None or task.point is None:
            wrong = np.asarray(answers.predicted) != np.asarray(answers.target)
            return cls("wrong", wrong.astype(np.float64))
        names = [str(name) for name in task.point.action_names]
        action = np.array([names.index(str(name)) for name in answers.decisions], np.int64)
        costs = task.point.ordered(task.classes.tolist()).action_costs
        # What even the best decision costs is no fault of the model.
        return cls("cost", (costs - costs.min(axis=1, keepdims=True))[true, action])

    def interval(self, rows: Mask) -> Estimate:
        """The mean loss of some rows."""
        values = self.values[rows]
        if self.kind == "wrong":
            interval = proportion_interval(int(values.sum()), len(values))
            return Estimate(interval.estimate, interval.low, interval.high)
        interval = mean_interval(values)
        low, high = max(interval.low, 0.0), interval.high
        return Estimate(interval.estimate, *(x if math.isfinite(x) else None for x in (low, high)))


def find_mistakes(
    answers: Predictions,
    X: Any,
    task: Task,
    columns: Sequence[str] = (),
    *,
    max_worst: int = MOST_WORST,
    max_groups: int = MOST_GROUPS,
    max_columns: int = MOST_COLUMNS,
) -> MistakesRecord:
    """The worst rows and the groups of high loss.

    Parameters
    ----------
    answers : Predictions
        For rows of known target.
    X : pyarrow.Table
        Their features.
    task : Task
    columns : sequence of str
        Columns in the order of their importance; the others follow.
    max_worst, max_groups, max_columns : int
        Rows and groups that are listed, and columns that groups are made of.
    """
    losses = Losses.of(answers, task)
    ordered = [*columns, *(name for name in X.column_names if name not in set(columns))]
    order = _worst_first(losses, answers, task)
    groups = list(_groups(losses, X, task, ordered[:max_columns]))
    adjusted = holm_adjusted([p for *_, p in groups]).tolist() if groups else []
    errors = [
        GroupError(column, name, int(rows.sum()), losses.interval(rows), others, p_value)
        for (column, name, rows, others, _), p_value in zip(groups, adjusted, strict=True)
        if losses.values[rows].mean() > others
    ]
    errors.sort(key=lambda group: (group.p_value, group.others - (group.loss.value or 0.0)))
    return MistakesRecord(
        kind=losses.kind,
        n_wrong=0 if losses.kind == "distance" else int(np.count_nonzero(losses.values)),
        worst=tuple(
            _row_error(place, losses, answers, X, task, ordered[:_CELLS])
            for place in order[:max_worst]
        ),
        groups=tuple(errors[:max_groups]),
        n_groups=len(groups),
    )


def telling_rows(answers: Predictions, task: Task) -> list[tuple[int, str]]:
    """Places of rows worth a look, each with the reason: extremes, and the worst error."""
    losses = Losses.of(answers, task)
    if task.is_classification:
        sure = np.asarray(answers.probabilities).max(axis=1)
        right = np.flatnonzero(losses.values == 0)
        first = (
            [(int(right[sure[right].argmax()]), "the surest right answer")] if right.size else []
        )
        wanted = [*first, (int(sure.argmin()), "the least sure answer")]
    else:
        predicted = np.asarray(answers.predicted, float)
        wanted = [
            (int(predicted.argmax()), "the highest prediction"),
            (int(predicted.argmin()), "the lowest prediction"),
        ]
    worst = _worst_first(losses, answers, task)
    wanted += [(int(worst[0]), "the worst error")] if len(worst) else []
    # A row that is worth it for two reasons is shown for the last, which says most.
    reasons = dict(wanted)
    return list(reasons.items())


# --- Rows -----------------------------------------------------------------------------------------


def cell_text(X: Any, column: str, row: int) -> str:
    """A cell as it is shown.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [cell_text(pa.table({"a": [0.25, None]}), "a", row) for row in (0, 1)]
    ['0.25', 'missing']
    """
    value = X.column(column)[row].as_py()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "missing"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    return printable(str(value), _LONGEST_CELL)


def _worst_first(losses: Losses, answers: Predictions, task: Task) -> Array:
    """Places of rows with a loss, the largest first; of equal ones the surest error first."""
    rows = np.flatnonzero(losses.values > 0)
    if not task.is_classification:
        return rows[np.argsort(-losses.values[rows], kind="stable")]
    truth = _of_truth(answers, task)[rows]
    return rows[np.lexsort((truth, -losses.values[rows]))]


def _of_truth(answers: Predictions, task: Task) -> Floats:
    """Probabilities that the model gave to the true classes."""
    true = class_places(answers.target, task.classes)
    return np.asarray(answers.probabilities)[np.arange(len(true)), true]


def _row_error(
    place: int, losses: Losses, answers: Predictions, X: Any, task: Task, columns: Sequence[str]
) -> RowError:
    true, decided = answer_texts(answers, place)
    return RowError(
        row=int(answers.rows[place]) + 1,
        true=true,
        decided=decided,
        loss=float(losses.values[place]),
        probability=float(_of_truth(answers, task)[place]) if task.is_classification else None,
        cells=tuple((name, cell_text(X, name, int(place))) for name in columns),
    )


def answer_texts(answers: Predictions, place: int) -> tuple[str, str]:
    """Truth and answer of one row; the truth is empty where nobody knows it."""
    decided = answers.predicted if answers.decisions is None else answers.decisions
    true = "" if answers.target is None else _text(np.asarray(answers.target)[place])
    return true, _text(np.asarray(decided)[place])


def _text(value: Any) -> str:
    """A label or a number, without the marks that Python puts around texts."""
    if isinstance(value, (float, np.floating)):
        return about(float(value), 4)
    return printable(str(value), _LONGEST_CELL)


# --- Groups ---------------------------------------------------------------------------------------


def _groups(
    losses: Losses, X: Any, task: Task, columns: Sequence[str]
) -> Iterator[tuple[str, str, Mask, float, float]]:
    """Column, name, rows, mean loss of the other rows, and p value of each group."""
    for name in columns:
        for group, rows in _parts(X, task, name):
            inside, outside = losses.values[rows], losses.values[~rows]
            if min(len(inside), len(outside)) < FEWEST_ROWS:
                continue
            p_value = _welch(inside, outside, losses.values)
            if p_value is not None:
                yield name, group, rows, float(outside.mean()), p_value


def _parts(X: Any, task: Task, name: str) -> Iterator[tuple[str, Mask]]:
    """The groups of one column: quarters of a number, levels of anything else, missing cells."""
    cells = cells_of(X.column(name), task.schema.columns[task.schema.names.index(name)])
    if not cells.known.all():
        yield "missing", ~cells.known
    if not cells.is_numeric:
        if (cells.values == UNSEEN).any():
            yield "a level that the table does not have", cells.values == UNSEEN
        frequent = np.argsort(-cells.level_counts, kind="stable")[:MOST_LEVELS]
        for code in frequent.tolist():
            yield printable(str(cells.level(code)), _LONGEST_CELL), cells.values == code
        return
    known = cells.values[cells.known]
    edges = np.unique(np.quantile(known, [0.25, 0.5, 0.75])) if known.size else np.empty(0)
    places = np.searchsorted(edges, cells.values, side="left")
    for k in range(len(edges) + 1):
        low, high = (about(edges[j], 4) if 0 <= j < len(edges) else "" for j in (k - 1, k))
        words = (
            f"over {low} to {high}" if low and high else f"over {low}" if low else f"up to {high}"
        )
        yield words, cells.known & (places == k)


def _welch(inside: Floats, outside: Floats, values: Floats) -> float | None:
    """p value of the hypothesis that the loss inside is not larger; None where nothing varies."""
    parts = [part.var(ddof=1) / len(part) for part in (inside, outside)]
    freedom = len(inside) - 1.0
    if min(parts) > 0:
        freedom = sum(parts) ** 2 / sum(
            v**2 / (len(part) - 1) for v, part in zip(parts, (inside, outside), strict=True)
        )
    elif values.var() > 0:
        # Groups that are all right or all wrong have the spread of all rows.
        parts = [values.var(ddof=1) / len(part) for part in (inside, outside)]
    else:
        return None
    t = (inside.mean() - outside.mean()) / math.sqrt(sum(parts))
    return float(special.stdtr(freedom, -t))


# --- Saving ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Answered:
    """A model's answers for known rows, so that resamples of them cost no prediction."""

    predicted: Array
    probabilities: Floats | None
    classes_: Array | None
    class_prior_: Floats | None

    @classmethod
    def by(cls, model: Any, X: Any) -> _Answered:
        if not hasattr(model, "classes_"):
            return cls(np.asarray(model.predict(X)), None, None, None)
        probabilities = np.asarray(model.predict_proba(X))
        predicted = np.asarray(model.predict(X))
        return cls(
            predicted, probabilities, np.asarray(model.classes_), np.asarray(model.class_prior_)
        )

    def predict(self, rows: Any) -> Array:
        return self.predicted[rows]

    def predict_proba(self, rows: Any) -> Floats:
        assert self.probabilities is not None
        return self.probabilities[rows]


def find_saving(
    model: Any,
    constant: Any,
    rows: Any,
    metric: Any,
    *,
    seed: int,
    n_resamples: int | None = None,
) -> SavingRecord:
    """The metric of the model and of the same answer for every row, with bootstrap intervals.

    Parameters
    ----------
    model, constant : fitted estimators
    rows : Rows
        That neither has seen.
    metric : Scorer
        With the working point, where there is one: the constant then takes the best action there.
    seed : int
    n_resamples : int, optional
        Resamples of the rows, the same for both; 0 gives no intervals. Fewer by default where
        there are many rows.
    """
    if n_resamples is None:
        n_resamples = int(np.clip(_RESAMPLED_ROWS // max(rows.n_rows, 1), *RESAMPLES))
    both = [_Answered.by(one, rows.X) for one in (model, constant)]
    sign = 1.0 if metric.measure.greater_is_better else -1.0

    def scores(at: Array) -> list[float]:
        weight = {} if rows.weight is None else {"sample_weight": rows.weight[at]}
        return [sign * float(metric(one, at, rows.y[at], **weight)) for one in both]

    n, rng, drawn = rows.n_rows, np.random.default_rng(seed), []
    for _ in range(n_resamples):
        # A resample without a row of some class has no score by some measures.
        with suppress(InputError):
            drawn.append(scores(rng.integers(n, size=n)))
    model_score, constant_score = scores(np.arange(n))
    resamples = np.array(drawn, float).reshape(-1, 2)
    # Adding zero takes the sign off a negative one.
    saved = sign * (resamples[:, 0] - resamples[:, 1]) + 0.0
    return SavingRecord(
        metric=metric.measure.name,
        answer=_always(constant, rows.X, metric.point),
        model=_estimate(model_score, resamples[:, 0]),
        constant=_estimate(constant_score, resamples[:, 1]),
        saved=_estimate(sign * (model_score - constant_score) + 0.0, saved),
    )


def _always(constant: Any, X: Any, point: Any) -> str:
    """What the constant says."""
    first = X.slice(0, 1)
    if point is not None:
        return _text(constant.at(point).decide(first)[0])
    return _text(np.asarray(constant.predict(first))[0])


def _estimate(value: float, resamples: Floats) -> Estimate:
    known = resamples[np.isfinite(resamples)]
    if len(known) < 2 or not math.isfinite(value):
        return Estimate(value if math.isfinite(value) else None, None, None)
    reach = float(special.ndtri(0.975)) * float(known.std(ddof=1))
    ends = (value - reach, value + reach)
    if len(known) >= _COUNTED:
        low, high = np.quantile(known, [0.025, 0.975]).tolist()
        ends = (low, high)
    return Estimate(value, *ends)
