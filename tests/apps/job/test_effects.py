"""How columns move predictions: against the definition, and against all orders of columns."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from novum.apps.job.building import build, learner_of
from novum.apps.job.effects import contributions, dependences, spread
from novum.apps.job.families import family
from novum.apps.job.outputs import Predictions
from novum.apps.job.record_json import from_json, to_json
from novum.apps.job.record_model import ContributionRecord, DependenceRecord, SpreadRecord
from novum.core.decisions import WorkingPoint
from tests.apps.job.test_explaining import rows_for

# --- Dependence -----------------------------------------------------------------------------------


def test_dependence_is_the_mean_prediction_with_the_column_set() -> None:
    X, y = rows_for("regression")
    model = build(family("forest"), "regression", seed=0).fit(X, y)
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
    model = build(family("tree"), "binary", seed=0).fit(X, y)
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
    model = build(family("naive_bayes"), "multiclass", seed=0).fit(X, y)
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
    model = build(family("linear"), "regression", seed=0).fit(X, y)
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
    model = build(family("tree"), "binary", seed=0)
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
    (one,) = contributions(model, X, answers, [(3, "")], names, seed=1, positive="b")
    assert one.rest == 0.0
    for name, _, value in one.terms:
        assert value.value == pytest.approx(exact[name], abs=1e-12)
    # The same by draws, where the model does not say that it is a tree.
    plain = SimpleNamespace(classes_=model.classes_, predict_proba=model.predict_proba)
    (one,) = contributions(plain, X, answers, [(3, "")], names, seed=1, positive="b", n_orders=2000)
    for name, _, value in one.terms:
        assert value.value == pytest.approx(exact[name], abs=0.03)
    assert largest_first_of(one)


def largest_first_of(one: ContributionRecord) -> bool:
    sizes = [abs(value.value or 0.0) for _, _, value in one.terms]
    return sizes == sorted(sizes, reverse=True)


def test_columns_that_are_not_credited_are_one_and_rows_share_their_start() -> None:
    X, y = rows_for("multiclass")
    model = build(family("forest"), "multiclass", seed=0).fit(X, y)
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


# --- Trees, whose contributions are exact ---------------------------------------------------------


@pytest.mark.parametrize(("name", "kind"), [("forest", "multiclass"), ("tree", "regression")])
def test_contributions_of_trees_are_exact(name: str, kind: str) -> None:
    X, y = rows_for(kind)
    model = build(family(name), kind, seed=0).fit(X, y)
    answers = Predictions(np.arange(X.num_rows), "", y, model.predict(X))
    found = contributions(model, X, answers, [(3, "one"), (7, "two")], ["u", "v"], seed=0)
    direct = model.contributions(X, X.take(np.arange(min(100, X.num_rows))))
    assert X.num_rows <= 100
    for one, place in zip(found, (3, 7), strict=True):
        values, base = direct.values[place], direct.base
        if kind == "multiclass":
            at = model.classes_.tolist().index(one.output)
            values, base = values[:, at], base[at]
            assert one.prediction == pytest.approx(model.predict_proba(X)[place, at])
        else:
            assert one.prediction == pytest.approx(model.predict(X)[place])
        credited = {name: value.value for name, _, value in one.terms}
        of_column = dict(zip(direct.columns, values, strict=True))
        assert credited == {name: pytest.approx(of_column[name]) for name in ("u", "v")}
        assert sum(credited.values()) + one.rest == pytest.approx(one.prediction - base)
        assert all(value.low is None for *_, value in one.terms)


def test_the_spread_speaks_of_the_positive_class_and_orders_cells() -> None:
    X, y = rows_for("binary")
    model = build(family("gradient_boosting"), "binary", seed=0).fit(X, y)
    found, other = (spread(model, X, seed=0, positive=label) for label in ("b", "a"))
    assert found is not None
    assert other is not None
    assert (found.output, found.is_score) == ("b", True)
    np.testing.assert_allclose(found.values, -np.array(other.values))
    direct = dict(zip(X.column_names, model.contributions(X).values.T, strict=True))
    for name, values, ranks in zip(found.columns, found.values, found.ranks, strict=True):
        np.testing.assert_allclose(values, direct[name])
        cells = X.column(name).to_pylist()
        if name == "c":
            assert set(ranks) == {None}
        else:
            assert (ranks[int(np.argmin(cells))], ranks[int(np.argmax(cells))]) == (0.0, 1.0)
    assert from_json(to_json(found), SpreadRecord) == found


def test_models_without_trees_have_no_spread() -> None:
    X, y = rows_for("binary")
    model = build(family("naive_bayes"), "binary", seed=0).fit(X, y)
    assert spread(model, X, seed=0) is None
