"""How columns move predictions, whatever the model, on the rows set aside.

Dependence: the mean prediction when one column is set to each of its values and the others stay.

Contributions of single rows are those of `novum.trees` where the model is made of trees whose
answers are added up, and exact then. Of other models they are sampled Shapley values. In each draw
a row z turns into the row x one column after the other, in random order, and a column is credited
with the change of the prediction at its turn; contributions are the means over draws, so they add
up to f(x) - mean f(z). Every order is drawn with its reverse, which makes the means more exact.

References
----------
Strumbelj & Kononenko (2014), "Explaining prediction models and individual predictions with feature
contributions"; Mitchell et al. (2022), section 4 (antithetic sampling).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from novum.apps.job.judging import estimate_of
from novum.apps.job.mistakes import answer_texts, cell_text
from novum.apps.job.outputs import Predictions
from novum.apps.job.record_model import (
    ContributionRecord,
    DependenceRecord,
    Estimate,
    SpreadRecord,
)
from novum.core.decisions import WorkingPoint
from novum.display import about
from novum.evaluation import mean_interval, partial_dependence
from novum.numerics import Floats

# Rows that mean predictions are over, columns followed, and their values.
DEPENDENCE_ROWS = 300
DEPENDENCE_COLUMNS = 5
DEPENDENCE_VALUES = 21
MOST_LEVELS = 12
MOST_OUTPUTS = 5
# Rows and columns whose contributions are drawn together.
SPREAD_ROWS = 200
SPREAD_COLUMNS = 8
# Rows that single rows are compared with where contributions are exact.
BACKGROUND_ROWS = 100
# Columns that are credited on their own, and pairs of orders drawn for each row.
CREDITED_COLUMNS = 25
ORDERS = 16


def dependences(
    model: Any,
    X: Any,
    columns: Sequence[str],
    *,
    seed: int,
    positive: Any = None,
    point: WorkingPoint | None = None,
    max_rows: int = DEPENDENCE_ROWS,
    max_columns: int = DEPENDENCE_COLUMNS,
    max_values: int = DEPENDENCE_VALUES,
) -> tuple[DependenceRecord, ...]:
    """Mean predictions along the first columns, over rows drawn at random.

    Parameters
    ----------
    model : fitted classifier or regressor
    X : pyarrow.Table
    columns : sequence of str
        The most important first.
    seed : int
    positive : label, optional
        The class whose probability is shown; without one, those that change most.
    point : WorkingPoint, optional
        Probabilities are those under its priors.
    max_rows, max_columns, max_values : int
    """
    rows = _drawn(X.num_rows, max_rows, seed)
    table = X.take(pa.array(rows))
    records = []
    for name in columns[:max_columns]:
        if table.column(name).null_count == table.num_rows:
            continue
        one = partial_dependence(
            model,
            table,
            name,
            kind="individual",
            grid_resolution=max_values,
            percentiles=(0.02, 0.98),
        )
        (axis,) = one.axes
        curves = one.individual.transpose(1, 2, 0)
        outputs = np.asarray(one.outputs, object)
        if hasattr(model, "classes_"):
            curves, outputs = _posteriors(curves, model, point), np.asarray(model.classes_, object)
            if positive is not None:
                shown = np.flatnonzero(outputs == positive)
            else:
                reach = np.ptp(curves.mean(axis=0), axis=0)
                shown = np.sort(np.argsort(-reach, kind="stable")[:MOST_OUTPUTS])
            curves, outputs = curves[..., shown], outputs[shown]
        is_level = axis.values.dtype == object
        kept = np.arange(len(axis.values))
        if is_level and len(kept) > MOST_LEVELS:
            cells = table.column(name).to_pylist()
            counts = [cells.count(level) for level in axis.values.tolist()]
            kept = np.sort(np.argsort(-np.array(counts), kind="stable")[:MOST_LEVELS])
        middle = np.quantile(curves[:, kept], [0.1, 0.9], axis=0)
        records.append(
            DependenceRecord(
                column=name,
                values=() if is_level else tuple(map(float, axis.values[kept])),
                levels=tuple(map(str, axis.values[kept])) if is_level else (),
                outputs=tuple(map(str, outputs)),
                means=_nested(curves[:, kept].mean(axis=0)),
                low=_nested(middle[0]),
                high=_nested(middle[1]),
                n_rows=len(rows),
            )
        )
    return tuple(records)


def contributions(
    model: Any,
    X: Any,
    answers: Predictions,
    rows: Sequence[tuple[int, str]],
    columns: Sequence[str],
    *,
    seed: int,
    positive: Any = None,
    point: WorkingPoint | None = None,
    max_columns: int = CREDITED_COLUMNS,
    n_orders: int = ORDERS,
) -> tuple[ContributionRecord, ...]:
    """What the first columns, and all others together, add to the predictions of a few rows.

    Parameters
    ----------
    model : fitted classifier or regressor
    X : pyarrow.Table
        Features of the rows that have answers; other rows are drawn from it.
    answers : Predictions
    rows : sequence of (place in X, why it is shown)
    columns : sequence of str
        The most important first.
    seed : int
    positive : label, optional
        The class whose probability is explained; without one, the most probable of each row.
    point : WorkingPoint, optional
        Probabilities are those under its priors.
    max_columns, n_orders : int
        `2 n_orders (max_columns + 2)` rows are predicted for each row.
    """
    credited = list(columns[:max_columns])
    others = [name for name in X.column_names if name not in set(credited)]
    if _is_exact(model, point) and not _adds_scores(model):
        background = X.take(_drawn(X.num_rows, BACKGROUND_ROWS, seed))
        exact = model.contributions(X.take([place for place, _ in rows]), background)
        return tuple(
            _credited(exact, place, model, X, answers, row, credited, positive)
            for place, row in enumerate(rows)
        )
    units = [*([name] for name in credited), *([others] if others else [])]
    rng, records = np.random.default_rng(seed), []
    # All rows are compared with the same ones, so that they start from the same prediction.
    background = np.tile(rng.integers(X.num_rows, size=n_orders), 2)
    for place, why in rows:
        orders = np.array([rng.permutation(len(units)) for _ in range(n_orders)])
        orders = np.concatenate([orders, orders[:, ::-1]])
        # turn[draw, unit] is the step at which a unit changes; step 0 is the row drawn.
        turn = np.argsort(orders, axis=1) + 1
        steps = np.arange(len(units) + 1)
        taken = {}
        for unit, names in enumerate(units):
            is_new = turn[:, unit, np.newaxis] <= steps
            at = pa.array(np.where(is_new, place, background[:, np.newaxis]).ravel())
            taken.update({name: X.column(name).take(at) for name in names})
        table = pa.table({name: taken[name] for name in X.column_names}, schema=X.schema)
        values, output = _predictions(model, table, positive, point, answers, place)
        path = values.reshape(len(orders), len(steps))
        draws = np.take_along_axis(np.diff(path, axis=1), turn - 1, axis=1)
        # An order and its reverse are one draw: alone they are not independent.
        pairs = draws.reshape(2, n_orders, len(units)).mean(axis=0)
        terms = [
            (name, cell_text(X, name, place), estimate_of(mean_interval(pairs[:, unit])))
            for unit, name in enumerate(credited)
        ]
        true, decided = answer_texts(answers, place)
        records.append(
            ContributionRecord(
                row=int(answers.rows[place]) + 1,
                why=why,
                true=true,
                decided=decided,
                output=output,
                start=float(path[:, 0].mean()),
                prediction=float(path[0, -1]),
                terms=tuple(sorted(terms, key=lambda term: -abs(term[2].value or 0.0))),
                rest=float(pairs[:, -1].mean()) if others else 0.0,
            )
        )
    return tuple(records)


def spread(
    model: Any, X: Any, *, seed: int, positive: Any = None, point: WorkingPoint | None = None
) -> SpreadRecord | None:
    """Contributions of the columns to the predictions of many rows, where they are exact.

    Parameters are those of `contributions`. Of several classes, that which is moved most is shown.
    """
    rows = X.take(_drawn(X.num_rows, SPREAD_ROWS, seed))
    if not _is_exact(model, point):
        return None
    contributions = model.contributions(rows)
    values, output = contributions.values, ""
    if hasattr(model, "classes_"):
        if values.ndim == 2:
            # One score of two classes speaks of the second.
            values = np.stack([-values, values], axis=-1)
        place = int(np.abs(values).mean(axis=0).sum(axis=0).argmax())
        if positive is not None:
            place = model.classes_.tolist().index(positive)
        values, output = values[..., place], str(model.classes_[place])
    order = np.argsort(-np.abs(values).mean(axis=0), kind="stable")[:SPREAD_COLUMNS]
    return SpreadRecord(
        columns=tuple(contributions.columns[j] for j in order),
        values=tuple(tuple(map(float, values[:, j])) for j in order),
        ranks=tuple(_ranks(rows.column(contributions.columns[j])) for j in order),
        output=output,
        is_score=_adds_scores(model),
    )


def _adds_scores(model: Any) -> bool:
    """Whether what trees add up is a score of classes, which is no probability yet."""
    return hasattr(model, "classes_") and hasattr(model, "decision_function")


def _is_exact(model: Any, point: WorkingPoint | None) -> bool:
    """Whether a model knows its contributions, and no other priors move its answers."""
    return point is None and hasattr(model, "contributions")


def _ranks(cells: Any) -> tuple[float | None, ...]:
    """Ranks of numbers from 0 to 1; None for levels and for cells that are missing."""
    if not (pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)):
        return (None,) * len(cells)
    numbers = cells.to_numpy()
    order = np.unique(numbers[~np.isnan(numbers)])
    places = np.searchsorted(order, numbers) / max(len(order) - 1, 1)
    return tuple(None if np.isnan(x) else float(r) for x, r in zip(numbers, places, strict=True))


def _credited(
    exact: Any,
    number: int,
    model: Any,
    X: Any,
    answers: Predictions,
    row: tuple[int, str],
    columns: Sequence[str],
    positive: Any,
) -> ContributionRecord:
    """The exact contributions to the prediction of one row."""
    place, why = row
    values, base, output = exact.values[number], exact.base, ""
    if hasattr(model, "classes_"):
        wanted = np.asarray(answers.predicted)[place] if positive is None else positive
        at = int(np.flatnonzero(np.asarray(model.classes_, object) == wanted)[0])
        values, base, output = values[:, at], base[at], str(wanted)
    of_column = dict(zip(exact.columns, values.tolist(), strict=True))
    terms = [
        (name, cell_text(X, name, place), Estimate(of_column[name], None, None)) for name in columns
    ]
    true, decided = answer_texts(answers, place)
    return ContributionRecord(
        row=int(answers.rows[place]) + 1,
        why=why,
        true=true,
        decided=decided,
        output=output,
        start=float(base),
        prediction=float(base + values.sum()),
        terms=tuple(sorted(terms, key=lambda term: -abs(term[2].value or 0.0))),
        rest=sum(value for name, value in of_column.items() if name not in set(columns)),
    )


def reasons(model: Any, X: Any, answers: Predictions, *, most: int = 3) -> tuple[str, ...]:
    """For each row the columns that moved its prediction most, in words.

    The rows are compared with each other, by few draws.
    """
    rows = [(place, "") for place in range(X.num_rows)]
    terms = contributions(
        model, X, answers, rows, X.column_names, seed=0, max_columns=len(X.column_names), n_orders=4
    )
    return tuple(
        ", ".join(
            f"{name} = {cell} ({signed(value.value)})"
            for name, cell, value in one.terms[:most]
            # What rounding leaves is no reason.
            if abs(value.value or 0.0) > 1e-9 * max(abs(one.start), abs(one.prediction))
        )
        or "no column moves it"
        for one in terms
    )


def signed(value: float | None) -> str:
    """A change with its sign.

    Examples
    --------
    >>> signed(0.123456), signed(-67432.1)
    ('+0.123', '−67,400')
    """
    shown = about(value)
    return f"+{shown}" if value is not None and value > 0 else shown


def _predictions(
    model: Any,
    table: Any,
    positive: Any,
    point: WorkingPoint | None,
    answers: Predictions,
    place: int,
) -> tuple[Floats, str]:
    """Numbers, or probabilities of one class, and its name."""
    if not hasattr(model, "classes_"):
        return np.asarray(model.predict(table), np.float64), ""
    classes = np.asarray(model.classes_, object)
    probabilities = _posteriors(np.asarray(model.predict_proba(table)), model, point)
    if positive is None:
        positive = np.asarray(answers.predicted)[place]
    return probabilities[:, int(np.flatnonzero(classes == positive)[0])], str(positive)


def _posteriors(posteriors: Floats, model: Any, point: WorkingPoint | None) -> Floats:
    """Probabilities of all classes in the last axis, under the priors of the point."""
    if posteriors.shape[-1] == 1:
        posteriors = np.concatenate([1 - posteriors, posteriors], axis=-1)
    if point is None:
        return posteriors
    flat = posteriors.reshape(-1, posteriors.shape[-1])
    moved = point.ordered(model.classes_).retarget(flat, model.class_prior_)
    return np.asarray(moved).reshape(posteriors.shape)


def _drawn(n_rows: int, most: int, seed: int) -> Any:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False))


def _nested(values: Floats) -> tuple[tuple[float, ...], ...]:
    """`values[value][output]` as plain numbers by output."""
    return tuple(tuple(map(float, row)) for row in values.T)
