"""The chosen model in its own terms, and which columns it leans on.

A tree is drawn and written as rules; a linear model has coefficients, with intervals where theory
gives them; naive Bayes adds up log-odds, shown for one row; a support vector machine has its
support vectors and its margin; ensembles have the share of impurity that each column removes.
Besides, whatever the model, columns are permuted one by one on the rows set aside, and the loss of
score says how much each mattered. `effects` tells how columns move predictions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from novum.apps.job.building import learner_of
from novum.apps.job.choosing import title_of
from novum.apps.job.judging import estimate_of
from novum.apps.job.record import Estimate, ExplanationRecord
from novum.core.errors import InputError
from novum.evaluation import permutation_importance

MOST_TERMS = 20
MOST_RULES = 25
DRAWN_DEPTH = 4
# Cells beyond which permuting every column takes too long for a report.
MOST_PERMUTED_ROWS = 2000
MOST_PERMUTED_COLUMNS = 200

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
