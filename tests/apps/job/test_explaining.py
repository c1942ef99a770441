"""Explanations say what the model itself says: numbers are compared with the fitted learners."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from novum.apps.job import explaining
from novum.apps.job.building import build, learner_of
from novum.apps.job.explaining import (
    DRAWN_DEPTH,
    MOST_RULES,
    MOST_TERMS,
    column_importances,
    contributions,
    dependences,
    explain,
)
from novum.apps.job.families import FAMILIES, Family, family
from novum.apps.job.outputs import Predictions
from novum.apps.job.record import ContributionRecord, DependenceRecord, ExplanationRecord
from novum.apps.job.record_json import from_json, to_json
from novum.apps.job.trials import LearningRows, stack_of
from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation.measures.scorers import scorer
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
    return build(family(name), kind, has_missing=False, seed=0).fit(X, y), X


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
    assert "without intervals" in record.text
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
    model = build(family("forest"), "binary", has_missing=False, seed=0).fit(X, y)
    found = dict(column_importances(model, X, y, scorer("accuracy"), 0))
    assert set(found) == set(X.column_names)
    assert max(found, key=lambda name: found[name].value or 0.0) in ("u", "v")
    names = [name for name, _ in column_importances(model, X, y, scorer("accuracy"), 0)]
    assert abs(found[names[0]].value or 0) >= abs(found[names[-1]].value or 0)


def test_a_column_the_model_does_not_use_costs_nothing() -> None:
    X, y = rows_for("regression")
    model = build(family("tree"), "regression", has_missing=False, seed=0).fit(X.select(["u"]), y)
    found = dict(column_importances(model, X.select(["u"]), y, scorer("rmse"), 0))
    constant = build(family("constant"), "regression", has_missing=False, seed=0).fit(X, y)
    nothing = dict(column_importances(constant, X, y, scorer("rmse"), 0))
    assert {value.value for value in nothing.values()} == {0.0}
    assert (found["u"].value or 0.0) > 1.0


def test_seeds_repeat() -> None:
    X, y = rows_for("binary")
    model = build(family("tree"), "binary", has_missing=False, seed=0).fit(X, y)
    first = column_importances(model, X, y, scorer("accuracy"), 3)
    assert first == column_importances(model, X, y, scorer("accuracy"), 3)


def test_very_many_columns_are_not_permuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "MOST_PERMUTED_COLUMNS", 22)
    rng = np.random.default_rng(0)
    wide = pa.table({f"c{i}": rng.normal(size=20) for i in range(23)})
    y = np.array(["a", "b"] * 10)
    model = build(family("constant"), "binary", has_missing=False, seed=0).fit(wide, y)
    assert column_importances(model, wide, y, scorer("accuracy"), 0) == ()
    narrow = wide.select(wide.column_names[:22])
    model.fit(narrow, y)
    assert len(column_importances(model, narrow, y, scorer("accuracy"), 0)) == MOST_TERMS


def test_columns_and_rows_can_be_limited() -> None:
    X, y = rows_for("binary")
    model = build(family("tree"), "binary", has_missing=False, seed=0).fit(X, y)
    some = column_importances(model, X, y, scorer("accuracy"), 3, columns=["v", "u"], n_repeats=2)
    assert {name for name, _ in some} == {"u", "v"}
    fewer = column_importances(model, X, y, scorer("accuracy"), 3, max_rows=30)
    assert {name for name, _ in fewer} == set(X.column_names)
    assert column_importances(model, X, y, scorer("accuracy"), 3, columns=[]) == ()


# --- Dependence -----------------------------------------------------------------------------------


def test_dependence_is_the_mean_prediction_with_the_column_set() -> None:
    X, y = rows_for("regression")
    model = build(family("forest"), "regression", has_missing=False, seed=0).fit(X, y)
    number, level = dependences(model, X, ["u", "c", "v"], seed=0, max_columns=2, max_values=7)
    assert (number.column, level.column) == ("u", "c")
    assert len(number.values) == 7
    for value, mean, low, high in zip(
        number.values, number.means[0], number.low[0], number.high[0], strict=True
    ):
        place = X.column_names.index("u")
        found = model.predict(X.set_column(place, "u", pa.array([value] * X.num_rows)))
        assert mean == pytest.approx(found.mean())
        assert (low, high) == pytest.approx(tuple(np.quantile(found, [0.1, 0.9])))
    assert level.levels == ("x", "y", "z")
    assert level.values == ()
    assert number.outputs == ("",)
    assert from_json(to_json(number), DependenceRecord) == number


def test_dependence_of_classes_is_at_the_priors_of_the_point() -> None:
    X, y = rows_for("binary")
    model = build(family("tree"), "binary", has_missing=False, seed=0).fit(X, y)
    point = WorkingPoint(classes=("a", "b"), priors=(0.9, 0.1), cost=((0, 1), (1, 0)))
    (plain,) = dependences(model, X, ["u"], seed=0, positive="b", max_values=3)
    (moved,) = dependences(model, X, ["u"], seed=0, positive="b", max_values=3, point=point)
    assert plain.outputs == moved.outputs == ("b",)
    table = X.set_column(0, "u", pa.array([plain.values[-1]] * X.num_rows))
    assert X.column_names[0] == "u"
    assert plain.means[0][-1] == pytest.approx(model.predict_proba(table)[:, 1].mean())
    assert moved.means[0][-1] == pytest.approx(model.at(point).predict_proba(table)[:, 1].mean())


def test_dependence_on_few_rows_of_many_classes_and_of_nothing() -> None:
    X, y = rows_for("multiclass")
    model = build(family("naive_bayes"), "multiclass", has_missing=False, seed=0).fit(X, y)
    (found,) = dependences(model, X, ["v"], seed=0, max_rows=20, max_columns=1)
    assert (found.n_rows, found.outputs) == (20, ("a", "b", "c"))
    np.testing.assert_allclose(np.sum(found.means, axis=0), 1.0)
    empty = X.set_column(0, X.field(0), pa.nulls(X.num_rows, X.field(0).type))
    assert dependences(model, empty, [X.column_names[0]], seed=0) == ()


# --- Contributions --------------------------------------------------------------------------------


def answers_for(model: Any, X: pa.Table, y: Any) -> Predictions:
    has_classes = hasattr(model, "classes_")
    given = model.predict_proba(X) if has_classes else None
    return Predictions(np.arange(X.num_rows), "hold-out", y, model.predict(X), given)


def test_contributions_to_a_sum_are_its_terms() -> None:
    """For f = sum of g_j(x_j) a column adds g_j(x_j) - mean g_j(z_j), whatever the order."""
    X, y = rows_for("regression")
    model = build(family("linear"), "regression", has_missing=False, seed=0).fit(X, y)
    answers = answers_for(model, X, y)
    (one,) = contributions(model, X, answers, [(4, "why")], ["u", "v"], seed=0, n_orders=200)
    assert (one.row, one.why, one.output) == (5, "why", "")
    assert one.prediction == pytest.approx(model.predict(X.slice(4, 1))[0])
    total = sum(value.value or 0.0 for _, _, value in one.terms) + one.rest
    assert one.start + total == pytest.approx(one.prediction)
    learner = learner_of(model)
    slopes = dict(zip(learner.coef_names_, np.ravel(learner.coef_), strict=True))
    for name, cell, value in one.terms:
        values = X.column(name).to_numpy()
        expected = slopes[name] * (values[4] - values.mean()) / values.std()
        # The mean is over 200 rows drawn, not over all of them.
        assert value.value == pytest.approx(expected, abs=4 * abs(slopes[name]) / np.sqrt(200))
        assert value.low is not None
        assert value.high is not None
        assert value.low <= (value.value or 0.0) <= value.high
        assert float(cell.replace("−", "-")) == pytest.approx(values[4], rel=1e-3)


def test_contributions_are_shapley_values() -> None:
    """Against all orders of all columns, over all rows."""
    X, y = rows_for("binary", numeric_only=True)
    X, y = X.slice(0, 12), y[:12]
    model = build(family("tree"), "binary", has_missing=False, seed=0)
    model = model.set_params(min_samples_leaf=1).fit(X, y)
    names = X.column_names
    exact = dict.fromkeys(names, 0.0)
    orders = list(itertools.permutations(names))
    for order in orders:
        for z in range(12):
            row = {name: X.column(name)[z].as_py() for name in names}
            before = model.predict_proba(pa.table({k: [v] for k, v in row.items()}))[0, 1]
            for name in order:
                row[name] = X.column(name)[3].as_py()
                after = model.predict_proba(pa.table({k: [v] for k, v in row.items()}))[0, 1]
                exact[name] += (after - before) / (12 * len(orders))
                before = after
    answers = answers_for(model, X, y)
    (one,) = contributions(model, X, answers, [(3, "")], names, seed=1, positive="b", n_orders=2000)
    assert one.rest == 0.0
    for name, _, value in one.terms:
        assert value.value == pytest.approx(exact[name], abs=0.03)
    assert largest_first_of(one)


def largest_first_of(one: ContributionRecord) -> bool:
    sizes = [abs(value.value or 0.0) for _, _, value in one.terms]
    return sizes == sorted(sizes, reverse=True)


def test_columns_that_are_not_credited_are_one_and_rows_share_their_start() -> None:
    X, y = rows_for("multiclass")
    model = build(family("forest"), "multiclass", has_missing=False, seed=0).fit(X, y)
    answers = answers_for(model, X, y)
    found = contributions(model, X, answers, [(0, ""), (1, "")], X.column_names, seed=0)
    limited = contributions(
        model, X, answers, [(0, "")], X.column_names, seed=0, max_columns=1, n_orders=3
    )
    assert [len(one.terms) for one in (*found, *limited)] == [4, 4, 1]
    assert found[0].output == str(answers.predicted[0])
    if found[0].output == found[1].output:
        assert found[0].start == found[1].start
    (one,) = limited
    total = (one.terms[0][2].value or 0.0) + one.rest
    assert one.start + total == pytest.approx(one.prediction)
    assert from_json(to_json(one), ContributionRecord) == one
