"""The chosen model in its own terms, and which columns it leans on.

A tree is drawn and written as rules; a linear model has coefficients, with intervals where theory
gives them; naive Bayes adds up log-odds, shown for one row; a support vector machine has its
support vectors and its margin; ensembles have the share of impurity that each column removes.

Besides, whatever the model, on the rows set aside: columns are permuted one by one, and the loss of
score says how much each mattered; the mean prediction is followed along single columns; and for a
few rows the columns' contributions are estimated by sampled Shapley values. In each draw a row z
turns into the row x one column after the other, in random order, and a column is credited with the
change of the prediction at its turn; contributions are the means over draws, so they add up to
f(x) - mean f(z). Every order is drawn with its reverse, which makes the means more exact.

References
----------
Strumbelj & Kononenko (2014), "Explaining prediction models and individual predictions with feature
contributions"; Mitchell et al. (2022), section 4 (antithetic sampling).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from novum.apps.job.building import learner_of
from novum.apps.job.choosing import title_of
from novum.apps.job.judging import estimate_of
from novum.apps.job.mistakes import answer_texts, cell_text
from novum.apps.job.outputs import Predictions
from novum.apps.job.record import (
    ContributionRecord,
    DependenceRecord,
    Estimate,
    ExplanationRecord,
)
from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation import mean_interval, partial_dependence, permutation_importance
from novum.numerics import Floats

MOST_TERMS = 20
MOST_RULES = 25
DRAWN_DEPTH = 4
# Cells beyond which permuting every column takes too long for a report.
MOST_PERMUTED_ROWS = 2000
MOST_PERMUTED_COLUMNS = 200
# Rows that mean predictions are over, columns followed, and their values.
DEPENDENCE_ROWS = 300
DEPENDENCE_COLUMNS = 5
DEPENDENCE_VALUES = 21
MOST_LEVELS = 12
MOST_OUTPUTS = 5
# Columns that are credited on their own, and pairs of orders drawn for each row.
CREDITED_COLUMNS = 25
ORDERS = 16

Terms = tuple[tuple[str, Estimate], ...]


def explain(model: Any, kind: str, example: Any) -> ExplanationRecord:
    """The model in its own terms; `example` is a table of one row."""
    learner = learner_of(model)
    name = type(learner).__name__
    for known, explained in _EXPLAINED.items():
        if name.startswith(known):
            found: ExplanationRecord = explained(learner, kind, example)
            return found
    text = "This model has no short form; the columns it leans on are listed below."
    return ExplanationRecord("none", text, None, (), (), "")


def column_importances(
    model: Any,
    X: Any,
    y: Any,
    metric: Any,
    seed: int,
    weight: Any = None,
    *,
    columns: Sequence[str] | None = None,
    max_rows: int | None = None,
    n_repeats: int = 5,
) -> Terms:
    """How much the score falls when a column is permuted, the largest first.

    Parameters
    ----------
    model, X, y, metric, seed, weight
    columns : sequence of str, optional
        Those that are permuted. All by default, and none of a table of more than
        `MOST_PERMUTED_COLUMNS`, which would take too long.
    max_rows : int, optional
        Rows that are permuted, drawn at random; `MOST_PERMUTED_ROWS` by default.
    n_repeats : int
        Permutations of each column.
    """
    if columns is None and X.num_columns > MOST_PERMUTED_COLUMNS:
        return ()
    names = list(X.column_names if columns is None else columns)
    if not names:
        return ()
    found = permutation_importance(
        model,
        X,
        y,
        scoring=metric,
        random_state=seed,
        sample_weight=weight,
        n_repeats=n_repeats,
        columns={name: [X.column_names.index(name)] for name in names},
        max_samples=min(X.num_rows, max_rows or MOST_PERMUTED_ROWS) if X.num_rows > 1 else 1.0,
    )
    terms = zip(names, found.intervals, strict=True)
    return _largest((name, estimate_of(interval)) for name, interval in terms)


# --- Columns and rows, whatever the model ---------------------------------------------------------


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
    found = []
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
        found.append(
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
    return tuple(found)


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
    units = [*([name] for name in credited), *([others] if others else [])]
    rng, found = np.random.default_rng(seed), []
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
        found.append(
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
    return tuple(found)


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
    found = _posteriors(np.asarray(model.predict_proba(table)), model, point)
    if positive is None:
        positive = np.asarray(answers.predicted)[place]
    return found[:, int(np.flatnonzero(classes == positive)[0])], str(positive)


def _posteriors(found: Floats, model: Any, point: WorkingPoint | None) -> Floats:
    """Probabilities of all classes in the last axis, under the priors of the point."""
    if found.shape[-1] == 1:
        found = np.concatenate([1 - found, found], axis=-1)
    if point is None:
        return found
    flat = found.reshape(-1, found.shape[-1])
    moved = point.ordered(model.classes_).retarget(flat, model.class_prior_)
    return np.asarray(moved).reshape(found.shape)


def _drawn(n_rows: int, most: int, seed: int) -> Any:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False))


def _nested(values: Floats) -> tuple[tuple[float, ...], ...]:
    """`values[value][output]` as plain numbers by output."""
    return tuple(tuple(map(float, row)) for row in values.T)


# --- Families -------------------------------------------------------------------------------------


def _tree(learner: Any, kind: str, example: Any) -> ExplanationRecord:
    del kind, example
    from novum.trees import rules, tree_svg

    lines = str(rules(learner.tree_)).splitlines()[1:]
    return ExplanationRecord(
        "tree",
        f"Follow the questions from the top; each row ends in one of {learner.tree_.n_leaves} "
        f"leaves. The drawing shows the first {DRAWN_DEPTH} levels.",
        str(tree_svg(learner.tree_, max_depth=DRAWN_DEPTH)),
        tuple(line.strip() for line in lines[:MOST_RULES]),
        _shares(learner),
        "share of the impurity removed",
    )


def _logistic(learner: Any, kind: str, example: Any) -> ExplanationRecord:
    del kind, example
    note = ""
    try:
        inference = learner.inference()
    except InputError:
        # More parameters than an information matrix is kept for, or classes that are separated.
        classes, reference, names, coef, ends = _coefficients(learner)
        note = " They are shown without intervals, for which the fit has kept too little."
    else:
        classes, reference, names = inference.classes, inference.reference, inference.names
        coef = np.reshape(inference.coef, (-1, len(names)))
        ends = np.reshape(inference.intervals(), (-1, len(names), 2))
    terms = []
    for row, label in enumerate(classes):
        prefix = "" if len(classes) == 1 else f"{label}: "
        for column, name in enumerate(names):
            if name != "intercept":
                low, high = ends[row][column]
                terms.append((f"{prefix}{name}", _estimate(coef[row][column], low, high)))
    shown = ", ".join(map(str, classes))
    return ExplanationRecord(
        "coefficients",
        f"Log-odds of {shown} against {reference} rise by the coefficient for each step of one: a "
        f"standard deviation of a number, or a level in place of the first one.{note}",
        None,
        (),
        _largest(terms),
        "coefficient (log-odds)",
    )


def _coefficients(learner: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Classes, the one they are compared with, names and coefficients; no ends of intervals."""
    coef = np.asarray(learner.coef_)
    if len(coef) > 1:
        coef = coef[1:] - coef[:1]
    ends = np.full((*coef.shape, 2), np.nan)
    return learner.classes_[1:], learner.classes_[0], learner.coef_names_, coef, ends


def _ridge(learner: Any, kind: str, example: Any) -> ExplanationRecord:
    del kind, example
    pairs = zip(learner.coef_names_, np.ravel(learner.coef_), strict=True)
    return ExplanationRecord(
        "coefficients",
        "The prediction rises by the coefficient for each step of one: a standard deviation of a "
        "number, or a level in place of the first one. Ridge coefficients are shrunk towards zero "
        "and have no honest intervals.",
        None,
        (),
        _largest((name, _estimate(value)) for name, value in pairs),
        "coefficient",
    )


def _naive_bayes(learner: Any, kind: str, example: Any) -> ExplanationRecord:
    del kind
    found = learner.explain(example)
    pairs = zip(found.columns, found.contributions, strict=True)
    return ExplanationRecord(
        "log-odds",
        f"Every column adds its own log-odds. For the first row set aside they add up to "
        f"{found.log_odds:+.2f} for {found.label} against {found.against}, of which "
        f"{found.prior:+.2f} come from the shares of the classes.",
        None,
        (),
        _largest((str(name), _estimate(value)) for name, value in pairs),
        "log-odds of one row",
    )


def _support_vectors(learner: Any, kind: str, example: Any) -> ExplanationRecord:
    del kind, example
    n_rows = int(learner.shape_fit_[0])
    n_support, n_bound = len(learner.support_), len(learner.bound_)
    kernel = re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.4g}", repr(learner.kernel_))
    margins = np.ravel(getattr(learner, "margin_", []))
    text = (
        f"The model compares a row with {n_support} of {n_rows} training rows, its support "
        f"vectors, by {kernel}; the others could be removed and nothing would change. "
    )
    if margins.size:
        text += (
            f"{n_bound} of them are inside the margin or on the wrong side. The margin is "
            f"{', '.join(f'{margin:.3g}' for margin in margins[:6])}"
            f"{' and so on' if margins.size > 6 else ''} in the space of the kernel, half the "
            "distance between the two sides. "
        )
    else:
        text += (
            f"{n_bound} of them lie outside of the tube of half-width {learner.epsilon_:.3g} "
            "around the prediction. "
        )
    text += "The certificate says how far from the best such machine it can be."
    return ExplanationRecord("support vectors", text, None, (), (), "")


def _ensemble(learner: Any, kind: str, example: Any) -> ExplanationRecord:
    del kind, example
    return ExplanationRecord(
        "importances",
        f"{len(learner.estimators_)} trees are asked and their answers combined. A column's share "
        "is the part of the impurity that its questions remove on the training rows; columns of "
        "many values are favored by it, so compare it with the permutations below.",
        None,
        (),
        _shares(learner),
        "share of the impurity removed",
    )


def _stack(learner: Any, kind: str, example: Any) -> ExplanationRecord:
    del example
    members = [title_of(name, kind) for name, _ in learner.estimators]
    return ExplanationRecord(
        "stack",
        f"A {type(learner.final_estimator_).__name__} weighs the answers of "
        f"{', '.join(members[:-1])} and {members[-1]}; it has learned from answers for rows that "
        "the members had not seen.",
        None,
        (),
        (),
        "",
    )


_EXPLAINED: dict[str, Callable[..., ExplanationRecord]] = {
    "DecisionTree": _tree,
    "LogisticRegression": _logistic,
    "Ridge": _ridge,
    "NaiveBayes": _naive_bayes,
    "SVC": _support_vectors,
    "SVR": _support_vectors,
    "RandomForest": _ensemble,
    "ExtraTrees": _ensemble,
    "AdaBoost": _ensemble,
    "Stacking": _stack,
}


# --- Terms ----------------------------------------------------------------------------------------


def _shares(learner: Any) -> Terms:
    pairs = zip(learner.schema_.names, learner.feature_importances_, strict=True)
    return _largest((name, _estimate(share)) for name, share in pairs)


def _largest(terms: Iterable[tuple[str, Estimate]]) -> Terms:
    """The terms of largest size, in their order of size."""
    known = [(name, value) for name, value in terms if value.value is not None]
    return tuple(sorted(known, key=lambda term: -abs(term[1].value or 0.0))[:MOST_TERMS])


def _estimate(value: Any, low: Any = None, high: Any = None) -> Estimate:
    def plain(number: Any) -> float | None:
        return None if number is None or not math.isfinite(number) else float(number)

    return Estimate(plain(value), plain(low), plain(high))
