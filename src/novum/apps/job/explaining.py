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
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from novum.apps.job.building import learner_of
from novum.apps.job.choosing import title_of
from novum.apps.job.judging import estimate_of
from novum.apps.job.record_model import Estimate, ExplanationRecord
from novum.core.decisions import OrderedClassifier
from novum.core.errors import InputError
from novum.evaluation import permutation_importance

MOST_TERMS = 20
MOST_RULES = 25
# Nodes that are drawn with the shares of their states.
DRAWN_NODES = 20
DRAWN_DEPTH = 4
# Permutations of every column, and cells that are permuted at most in a report.
PERMUTATIONS = 5
MOST_PERMUTED_CELLS = 400_000
MOST_PERMUTED_ROWS = 2000
MOST_PERMUTED_COLUMNS = 200

Terms = tuple[tuple[str, Estimate], ...]

_NO_SHORT_FORM = "This model has no short form that could be read."


def explain(model: Any, kind: str, example: Any, positive: Any = None) -> ExplanationRecord:
    """The model in its own terms.

    Parameters
    ----------
    model : fitted estimator
    kind : str
        Of the task.
    example : pyarrow.Table of one row
    positive : label, optional
        Of two classes the one that terms speak for; the last by default.
    """
    learner = learner_of(model)
    name = type(learner).__name__
    whole = model.model if isinstance(model, OrderedClassifier) else model
    if learner is not whole and type(whole.steps[0][1]).__name__ == "TextFeatures":
        return _terms(whole, learner, positive)
    for known, explained in _EXPLAINED.items():
        if name.startswith(known):
            explanation: ExplanationRecord = explained(learner, kind, example, positive)
            return explanation
    return ExplanationRecord("none", _NO_SHORT_FORM, None, (), (), "")


def certificate_lines(model: Any) -> tuple[str, ...]:
    """The text of the model's certificate."""
    certificate = getattr(model, "certificate_", None)
    if certificate is None:
        return ("The model carries no certificate.",)
    # Seconds differ from run to run and say nothing about the optimum.
    lines = repr(certificate).splitlines()
    return tuple(line for line in lines if not line.strip().startswith("seconds"))


def column_importances(
    model: Any,
    X: Any,
    y: Any,
    metric: Any,
    seed: int,
    weight: Any = None,
    *,
    max_rows: int | None = None,
    max_columns: int | None = None,
    associations: Mapping[str, float | None] | None = None,
) -> Terms:
    """How much the score falls when a column is permuted, the largest first.

    Parameters
    ----------
    model, X, y, metric, weight
        The model is judged by the metric on these rows.
    seed : int
    max_rows, max_columns : int, optional
        Rows drawn at random, and columns: those that the model itself thinks most of, if it has a
        view. By default as many as a report has time for.
    associations : mapping, optional
        The share of the target that each column explains: the view of a model that has none.
    """
    usual = MOST_PERMUTED_CELLS // (PERMUTATIONS * X.num_columns)
    n_rows = min(X.num_rows, MOST_PERMUTED_ROWS, max(usual, 100) if max_rows is None else max_rows)
    n_columns = min(X.num_columns, MOST_PERMUTED_COLUMNS if max_columns is None else max_columns)
    names = [
        X.column_names[place]
        for place in np.sort(_weightiest(model, X, associations or {})[:n_columns])
    ]
    importances = permutation_importance(
        model,
        X,
        y,
        scoring=metric,
        n_repeats=PERMUTATIONS,
        random_state=seed,
        sample_weight=weight,
        max_samples=n_rows if X.num_rows > 1 else 1.0,
        columns={name: [X.column_names.index(name)] for name in names},
    )
    terms = zip(names, importances.intervals, strict=True)
    return _largest((name, estimate_of(interval)) for name, interval in terms)


def _weightiest(model: Any, X: Any, associations: Mapping[str, float | None]) -> Any:
    """Columns by what the model thinks of them, or by their associations if it has no view."""
    own = np.ravel(getattr(learner_of(model), "feature_importances_", ()))
    if len(own) != X.num_columns:
        own = np.array([associations.get(name) or 0.0 for name in X.column_names])
    return np.argsort(-own, kind="stable")


# --- Families -------------------------------------------------------------------------------------


def _tree(learner: Any, kind: str, example: Any, positive: Any) -> ExplanationRecord:
    del kind, example, positive
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


def _logistic(learner: Any, kind: str, example: Any, positive: Any) -> ExplanationRecord:
    del kind, example
    note = ""
    try:
        inference = learner.inference()
    except InputError:
        # A penalty that chooses columns, classes that are separated, or more parameters than an
        # information matrix is kept for.
        classes, reference, names, coef, ends = _coefficients(learner)
        note = " This fit has no intervals for them."
    else:
        classes, reference, names = inference.classes, inference.reference, inference.names
        coef = np.reshape(inference.coef, (-1, len(names)))
        ends = np.reshape(inference.intervals(), (-1, len(names), 2))
    if len(classes) == 1 and positive is not None and reference == positive:
        classes, reference, coef, ends = [positive], classes[0], -coef, -ends[..., ::-1]
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
        f"log-odds of {shown}" if len(classes) == 1 else f"log-odds against {reference}",
    )


def _coefficients(learner: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Classes, the one they are compared with, names and coefficients; no ends of intervals."""
    coef = np.asarray(learner.coef_)
    if len(coef) > 1:
        coef = coef[1:] - coef[:1]
    ends = np.full((*coef.shape, 2), np.nan)
    return learner.classes_[1:], learner.classes_[0], learner.coef_names_, coef, ends


def _terms(model: Any, learner: Any, positive: Any) -> ExplanationRecord:
    """The telling words of a model of text, besides its other columns."""
    names = model.steps[0][1].get_feature_names_out().tolist()
    if hasattr(learner, "feature_log_prob_"):
        weights, classes = np.asarray(learner.feature_log_prob_), learner.classes_
        rows = weights - np.log((np.exp(weights).sum(axis=0) - np.exp(weights)).clip(1e-300))
        rows += math.log(max(len(classes) - 1, 1))
        label, what = "log-odds", "How much more often a word stands in a class than in the others"
        if len(classes) == 2:
            chosen = int(np.flatnonzero(classes == positive)[0]) if positive is not None else 1
            rows, classes = rows[[chosen]], classes[[chosen]]
    else:
        linear = learner if hasattr(learner, "coef_") else _member(learner)
        if linear is None or not hasattr(linear, "coef_"):
            return ExplanationRecord("none", _NO_SHORT_FORM, None, (), (), "")
        rows = np.atleast_2d(np.asarray(linear.coef_))
        classes = getattr(linear, "classes_", np.array([""]))
        if len(rows) == 1 and len(classes) == 2 and positive is not None:
            rows, classes = (rows, classes) if classes[1] == positive else (-rows, classes[::-1])
        classes = classes[-len(rows) :]
        label, what = "score", "How much a word, or a step of another column, adds to the score"
    # Sequences of characters are written in quotes; words say more to a reader.
    shown = [j for j, name in enumerate(names) if not name.endswith("'")]
    terms = []
    for row, one in zip(rows, classes, strict=True):
        prefix = f"{one}: " if len(rows) > 1 else ""
        terms += [(f"{prefix}{names[j]}", _estimate(row[j])) for j in shown]
    speaks = f" of {classes[0]}" if len(rows) == 1 and str(classes[0]) else ""
    return ExplanationRecord(
        "coefficients",
        f"{what}. The most telling words are shown; sequences of characters count too, and are not "
        "listed.",
        None,
        (),
        _largest(terms),
        f"{label}{speaks}",
    )


def _member(learner: Any) -> Any:
    """The linear machine inside a calibrated one."""
    members = getattr(learner, "calibrated_classifiers_", None)
    return None if not members else getattr(members[0], "estimator", members[0])


def _ridge(learner: Any, kind: str, example: Any, positive: Any) -> ExplanationRecord:
    del kind, example, positive
    pairs = zip(learner.coef_names_, np.ravel(learner.coef_), strict=True)
    return ExplanationRecord(
        "coefficients",
        "The prediction rises by the coefficient for each step of one: a standard deviation of a "
        "number, or a level in place of the first one. Ridge coefficients are shrunk towards zero "
        "and have no honest intervals.",
        None,
        (),
        _largest((name, _estimate(value)) for name, value in pairs),
        "prediction",
    )


def _ordinal(learner: Any, kind: str, example: Any, positive: Any) -> ExplanationRecord:
    del kind, example, positive
    levels = learner.classes_.tolist()
    return ExplanationRecord(
        "coefficients",
        f"One score for each row, cut at {len(levels) - 1} thresholds into the levels from "
        f"{levels[0]} to {levels[-1]}. It rises by the coefficient for each step of one: a "
        "standard deviation of a number, or a level in place of the first one. The coefficients "
        "are shrunk towards zero and have no honest intervals.",
        None,
        (),
        _largest(
            (name, _estimate(value))
            for name, value in zip(learner.coef_names_, np.ravel(learner.coef_), strict=True)
        ),
        "log-odds of a higher level",
    )


def _naive_bayes(learner: Any, kind: str, example: Any, positive: Any) -> ExplanationRecord:
    del kind
    explanation = learner.explain(example, positive)
    pairs = zip(explanation.columns, explanation.contributions, strict=True)
    return ExplanationRecord(
        "log-odds",
        f"Every column adds its own log-odds. For one of the rows they add up to "
        f"{explanation.log_odds:+.2f} for {explanation.label} against {explanation.against}, of "
        f"which {explanation.prior:+.2f} come from the shares of the classes. One unit multiplies "
        "the odds by 2.7.",
        None,
        (),
        _largest((str(name), _estimate(value)) for name, value in pairs),
        f"log-odds of {explanation.label} for one row",
    )


def _network(learner: Any, kind: str, example: Any, positive: Any) -> ExplanationRecord:
    del kind, example, positive
    network, target = learner.network_, learner.target_
    n_edges = len(network.edges)
    blanket = network.graph.markov_blanket(target)
    told = ", ".join(blanket[:8]) + (" and others" if len(blanket) > 8 else "")
    if learner.averaged_ is not None:
        sure = learner.edge_probabilities_
        joined = [(name, sure.joined(target, name)) for name in network.names if name != target]
        return ExplanationRecord(
            "network",
            f"Every graph of the columns and {target} predicts, weighted by how well it explains "
            "the table. The drawing shows the edges that are likelier than not, as wide as they "
            "are sure, with their probabilities.",
            str(sure.draw(0.5)),
            tuple(f"{a} -> {b}" for a, b in network.edges)[:MOST_RULES],
            _largest((name, _estimate(share)) for name, share in joined),
            f"probability of an edge with {target}",
        )
    return ExplanationRecord(
        "network",
        f"A network of {len(network.names)} nodes and {n_edges} edges: each node depends on those "
        f"whose arrows point to it. Where all cells are known, {target} is told by "
        f"{told or 'nothing but its share'}; the drawing has the share of every state.",
        str(network.draw(max_bars=DRAWN_NODES)),
        tuple(f"{a} -> {b}" for a, b in network.edges)[:MOST_RULES],
        (),
        "",
    )


def _support_vectors(learner: Any, kind: str, example: Any, positive: Any) -> ExplanationRecord:
    del kind, example, positive
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


def _ensemble(learner: Any, kind: str, example: Any, positive: Any) -> ExplanationRecord:
    del kind, example, positive
    return ExplanationRecord(
        "importances",
        f"{len(learner.estimators_)} trees are asked and their answers combined. A column's share "
        "is the part of the impurity that its questions remove on the training rows. Columns of "
        "many values are favored by it; permutations of the rows set aside favor none.",
        None,
        (),
        _shares(learner),
        "share of the impurity removed",
    )


def _gradient_boosting(learner: Any, kind: str, example: Any, positive: Any) -> ExplanationRecord:
    del kind, example, positive
    return ExplanationRecord(
        "importances",
        f"{learner.n_estimators_} rounds of small trees add up, each one correcting what those "
        "before it have left. A column's share is the part of the decrease of the loss that its "
        "questions bring on the training rows; permutations of the rows set aside say what it is "
        "worth on new ones.",
        None,
        (),
        _shares(learner),
        "share of the decrease of the loss",
    )


def _stack(learner: Any, kind: str, example: Any, positive: Any) -> ExplanationRecord:
    del example, positive
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
    "OrdinalRegression": _ordinal,
    "NaiveBayes": _naive_bayes,
    "BayesianNetwork": _network,
    "SVC": _support_vectors,
    "SVR": _support_vectors,
    "RandomForest": _ensemble,
    "ExtraTrees": _ensemble,
    "AdaBoost": _ensemble,
    "GradientBoosting": _gradient_boosting,
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
