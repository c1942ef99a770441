"""Explanations say what the model itself says: numbers are compared with the fitted learners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from novum.apps.job.building import build, learner_of
from novum.apps.job.explaining import (
    DRAWN_DEPTH,
    MOST_RULES,
    MOST_TERMS,
    column_importances,
    explain,
)
from novum.apps.job.families import FAMILIES, Family, family
from novum.apps.job.record_json import from_json, to_json
from novum.apps.job.record_model import ExplanationRecord
from novum.apps.job.trials import LearningRows, stack_of
from novum.core.errors import InputError
from novum.evaluation.measures.scorers import scorer
from novum.graphical import BayesianNetworkClassifier
from novum.linear import LogisticRegression
from novum.trees import rules
from tests.apps.job.runs import labeled, numbered, plan_of

KINDS = ("binary", "multiclass", "regression")
ROLES = [(row, kind) for row in FAMILIES for kind in KINDS if row.role(kind) is not None]


def rows_for(kind: str, numeric_only: bool = False) -> tuple[pa.Table, np.ndarray]:
    columns = {
        "binary": lambda: labeled(90),
        "multiclass": lambda: labeled(90, "abc"),
        "regression": lambda: numbered(90),
    }[kind]()
    y = np.array(columns.pop("y"))
    if numeric_only:
        columns.pop("c")
    return pa.table(columns), y


def model_of(name: str, kind: str) -> tuple[Any, pa.Table]:
    X, y = rows_for(kind, not family(name).takes_kinds)
    return build(family(name), kind, seed=0).fit(X, y), X


def largest_first(record: ExplanationRecord) -> bool:
    sizes = [abs(value.value or 0.0) for _, value in record.terms]
    return sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize(("row", "kind"), ROLES, ids=[f"{r.name}-{k}" for r, k in ROLES])
def test_every_family_can_be_explained_and_written(row: Family, kind: str) -> None:
    model, X = model_of(row.name, kind)
    record = explain(model, kind, X.slice(0, 1))
    assert from_json(to_json(record), ExplanationRecord) == record
    assert record.text.endswith(".")
    assert len(record.terms) <= MOST_TERMS
    assert largest_first(record)


# --- Trees ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_is_drawn_and_written_as_rules(kind: str) -> None:
    model, X = model_of("tree", kind)
    record = explain(model, kind, X.slice(0, 1))
    assert record.kind == "tree"
    assert f"{model.tree_.n_leaves} leaves" in record.text
    assert str(DRAWN_DEPTH) in record.text
    assert record.svg is not None
    assert record.svg.lstrip().startswith("<svg")
    lines = [line.strip() for line in str(rules(model.tree_)).splitlines()]
    assert list(record.rules) == lines[1 : MOST_RULES + 1]
    assert len(record.rules) >= 2
    assert all(record.rules)
    shares = dict(zip(X.column_names, model.feature_importances_, strict=True))
    for name, value in record.terms:
        assert value.value == pytest.approx(shares[name], rel=1e-12)
    assert sum(value.value or 0.0 for _, value in record.terms) == pytest.approx(1.0)


# --- Linear ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_logistic_coefficients_have_the_intervals_of_the_model(kind: str) -> None:
    model, X = model_of("linear", kind)
    record = explain(model, kind, X.slice(0, 1))
    inference = learner_of(model).inference()
    coef = np.atleast_2d(inference.coef)
    ends = inference.intervals().reshape(*coef.shape, 2)
    expected = {}
    for row, label in enumerate(inference.classes):
        for column, name in enumerate(inference.names):
            shown = name if len(coef) == 1 else f"{label}: {name}"
            expected[shown] = (coef[row, column], *ends[row, column])
    assert record.kind == "coefficients"
    assert str(inference.reference) in record.text
    assert 0 < len(record.terms) <= len(expected) - len(coef)
    for name, value in record.terms:
        assert "intercept" not in name
        assert (value.value, value.low, value.high) == pytest.approx(expected[name], rel=1e-12)


@pytest.mark.parametrize("positive", ["a", "b"])
@pytest.mark.parametrize("name", ["linear", "naive_bayes"])
def test_terms_speak_for_the_positive_class(name: str, positive: str) -> None:
    """What raises its probability stands to the right of zero, whichever of both it is."""
    model, X = model_of(name, "binary")
    row = X.slice(4, 1)
    record = explain(model, "binary", row, positive)
    assert record.term_title.startswith(f"log-odds of {positive}")
    place = model.classes_.tolist().index(positive)
    before = model.predict_proba(row)[0, place]
    terms = dict(record.terms)
    higher = row.set_column(0, "u", pa.array([row["u"][0].as_py() + 1.0]))
    if name == "linear":
        slope = model.predict_proba(higher)[0, place] - before
        assert np.sign(terms["u"].value) == np.sign(slope) != 0
    else:
        total = sum(value.value for value in terms.values())
        prior = np.log(model.class_prior_[place] / model.class_prior_[1 - place])
        assert total + prior == pytest.approx(np.log(before / (1 - before)), abs=1e-9)


@pytest.mark.parametrize("labels", ["ab", "abc"])
def test_more_coefficients_than_an_information_matrix_is_kept_for(labels: str) -> None:
    """Logistic regression has no intervals then, and is explained without them."""
    rng = np.random.default_rng(0)
    codes = np.arange(60) % len(labels)
    X = pa.table({f"c{j}": rng.normal(size=60) + 0.6 * codes for j in range(505)})
    model = LogisticRegression().fit(X, np.array(list(labels))[codes])
    with pytest.raises(InputError, match="needs the rows again"):
        model.inference()
    record = explain(model, "binary", X.slice(0, 1))
    assert record.kind == "coefficients"
    assert "no intervals" in record.text
    assert len(record.terms) == MOST_TERMS
    assert largest_first(record)
    for name, value in record.terms:
        label, _, column = name.rpartition(": ")
        place = labels.index(label) if label else 1
        coef = model.coef_[0] if labels == "ab" else model.coef_[place] - model.coef_[0]
        assert value.value == pytest.approx(coef[int(column[1:])], rel=1e-12)
        assert value.low is None
        assert value.high is None


def test_ridge_coefficients_have_no_intervals() -> None:
    model, X = model_of("linear", "regression")
    record = explain(model, "regression", X.slice(0, 1))
    learner = learner_of(model)
    known = dict(zip(learner.coef_names_, np.ravel(learner.coef_), strict=True))
    assert record.terms[0][0] == "u"
    for name, value in record.terms:
        assert value.value == pytest.approx(known[name], rel=1e-12)
        assert (value.low, value.high) == (None, None)
    # The rows were made with 3 u - v and columns of variance near 1.
    found = {name: value.value for name, value in record.terms}
    assert found["u"] == pytest.approx(3.0, abs=0.5)
    assert found["v"] == pytest.approx(-1.0, abs=0.5)


# --- Others ---------------------------------------------------------------------------------------


def test_log_odds_of_naive_bayes_add_up_to_the_posterior() -> None:
    model, X = model_of("naive_bayes", "binary")
    record = explain(model, "binary", X.slice(0, 1))
    p = np.sort(model.predict_proba(X.slice(0, 1))[0])
    odds = np.log(p[1] / p[0])
    assert f"{odds:+.2f}" in record.text
    prior = float(record.text.split("of which ")[1].split(" ")[0])
    parts = sum(value.value or 0.0 for _, value in record.terms)
    # The prior is shown with two digits.
    assert parts + prior == pytest.approx(odds, abs=0.006)


@pytest.mark.parametrize("structure", ["tree", "averaged"])
def test_a_network_is_drawn_with_its_edges(structure: str) -> None:
    X, y = rows_for("binary")
    learner = BayesianNetworkClassifier(structure=structure).fit(X, y)
    record = explain(learner, "binary", X.slice(0, 1))
    assert record.kind == "network"
    assert record.svg is not None
    assert record.svg.startswith("<svg")
    assert all(name in record.svg for name in learner.network_.names)
    assert list(record.rules) == [f"{a} -> {b}" for a, b in learner.network_.edges]
    if structure == "averaged":
        found = {name: value.value for name, value in record.terms}
        assert found["u"] == pytest.approx(learner.edge_probabilities_.joined("class", "u"))
    assert from_json(to_json(record), ExplanationRecord) == record


@pytest.mark.parametrize("kind", KINDS)
def test_a_support_vector_machine_has_its_vectors_and_its_margin(kind: str) -> None:
    model, X = model_of("svm", kind)
    record = explain(model, kind, X.slice(0, 1))
    learner = learner_of(model)
    assert record.kind == "support vectors"
    assert f"{len(learner.support_)} of {X.num_rows} training rows" in record.text
    assert f"{len(learner.bound_)} of them" in record.text
    assert f"width={learner.kernel_.width:.4g}" in record.text
    if kind == "regression":
        assert f"half-width {learner.epsilon_:.3g}" in record.text
    else:
        assert f"The margin is {np.ravel(learner.margin_)[0]:.3g}" in record.text
    assert learner.certificate_.verdict == "within tolerance"


@pytest.mark.parametrize("name", ["forest", "extra_trees", "boosting"])
def test_ensembles_have_shares_of_impurity(name: str) -> None:
    model, X = model_of(name, "binary")
    record = explain(model, "binary", X.slice(0, 1))
    assert record.kind == "importances"
    assert record.text.startswith(f"{len(model.estimators_)} trees")
    found = dict(record.terms)
    for column, share in zip(X.column_names, model.feature_importances_, strict=True):
        assert found[column].value == pytest.approx(share, rel=1e-12)


def test_a_stack_names_its_members() -> None:
    X, y = rows_for("binary")
    rows = LearningRows("binary", X, y)
    stack = stack_of({"tree": 0, "naive_bayes": 0}, plan_of("tree"), rows).fit(X, y)
    record = explain(stack, "binary", X.slice(0, 1))
    assert record.kind == "stack"
    assert "decision tree and naive Bayes" in record.text


# --- Permutations ---------------------------------------------------------------------------------


def test_columns_that_matter_are_told_from_noise() -> None:
    X, y = rows_for("binary")
    model = build(family("forest"), "binary", seed=0).fit(X, y)
    found = dict(column_importances(model, X, y, scorer("accuracy"), 0))
    assert set(found) == set(X.column_names)
    assert max(found, key=lambda name: found[name].value or 0.0) in ("u", "v")
    names = [name for name, _ in column_importances(model, X, y, scorer("accuracy"), 0)]
    assert abs(found[names[0]].value or 0) >= abs(found[names[-1]].value or 0)


def test_a_column_the_model_does_not_use_costs_nothing() -> None:
    X, y = rows_for("regression")
    model = build(family("tree"), "regression", seed=0).fit(X.select(["u"]), y)
    found = dict(column_importances(model, X.select(["u"]), y, scorer("rmse"), 0))
    constant = build(family("constant"), "regression", seed=0).fit(X, y)
    nothing = dict(column_importances(constant, X, y, scorer("rmse"), 0))
    assert {value.value for value in nothing.values()} == {0.0}
    assert (found["u"].value or 0.0) > 1.0


def test_seeds_repeat() -> None:
    X, y = rows_for("binary")
    model = build(family("tree"), "binary", seed=0).fit(X, y)
    first = column_importances(model, X, y, scorer("accuracy"), 3)
    assert first == column_importances(model, X, y, scorer("accuracy"), 3)


def test_of_very_many_columns_those_are_permuted_that_the_model_leans_on() -> None:
    rng = np.random.default_rng(0)
    columns = {f"c{i}": rng.normal(size=60) for i in range(23)}
    y = np.where(columns["c19"] > 0, "a", "b")
    wide = pa.table(columns)
    model = build(family("forest"), "binary", seed=0).fit(wide, y)
    few = column_importances(model, wide, y, scorer("accuracy"), 0, max_columns=3, max_rows=30)
    assert len(few) == 3
    assert few[0][0] == "c19"
    constant = build(family("constant"), "binary", seed=0).fit(wide, y)
    first = column_importances(constant, wide, y, scorer("accuracy"), 0, max_columns=2)
    assert {name for name, _ in first} == {"c0", "c1"}
    known = {"c5": None, "c7": 0.1, "c19": 0.9}
    first = column_importances(
        constant, wide, y, scorer("accuracy"), 0, max_columns=2, associations=known
    )
    assert {name for name, _ in first} == {"c7", "c19"}
    assert len(column_importances(constant, wide, y, scorer("accuracy"), 0)) == MOST_TERMS
