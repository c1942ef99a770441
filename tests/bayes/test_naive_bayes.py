"""NaiveBayes on mixed tables: cell by cell, brute-force marginalization, real tables, laws."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import integrate

from novum.bayes import (
    BernoulliColumn,
    BernoulliNB,
    CategoricalColumn,
    CategoricalNB,
    CountsBlock,
    GaussianColumn,
    GaussianNB,
    MEstimate,
    MultinomialNB,
    NaiveBayes,
    StudentTColumn,
)
from novum.core import load as load_model
from novum.core import save
from novum.core.errors import InputError, UnseenLevelWarning
from novum.data import load
from tests.bayes.definitions import log_category, log_normal, posterior
from tests.bayes.naive_bayes_tables import codes, counts, mixed, mixed_model, numbers


def cells_of(column: pd.Series) -> list[Any]:
    return [None if pd.isna(cell) else cell for cell in column]


# --- Definitions ----------------------------------------------------------------------------------


def test_mixed_posteriors_are_the_definition() -> None:
    X, y = mixed(80)
    X = X[["age", "color", "grade"]]
    model = NaiveBayes().fit(X, y)
    found = model.predict_proba(X)
    for row in range(0, 80, 9):
        age, color, grade = (cells_of(X[name])[row] for name in X.columns)
        logs = []
        for k in range(3):
            own = X[y == k]
            logs.append(
                math.log((y == k).mean())
                + log_normal(age, cells_of(own["age"]))
                + log_category(
                    color, cells_of(own["color"]), dict.fromkeys(("blue", "green", "red"), 1.0)
                )
                + log_category(grade, cells_of(own["grade"]), dict.fromkeys("abc", 1.0))
            )
        np.testing.assert_allclose(found[row], posterior(logs), rtol=1e-10)


def test_a_missing_category_is_summed_over() -> None:
    X, y = mixed(80)
    X = X[["age", "color", "grade"]]
    model = NaiveBayes().fit(X, y)
    hole = pd.DataFrame({"age": [44.0], "color": [None], "grade": [None]})
    found = np.exp(model.predict_joint_log_proba(hole)[0])
    total = np.zeros(3)
    for color, grade in itertools.product(("blue", "green", "red"), "abc"):
        one = pd.DataFrame({"age": [44.0], "color": [color], "grade": [grade]})
        total += np.exp(model.predict_joint_log_proba(one)[0])
    np.testing.assert_allclose(found, total, rtol=1e-10)


def test_a_missing_number_is_integrated_out() -> None:
    X, y = mixed(80)
    model = NaiveBayes(columns={"income": StudentTColumn(degrees_of_freedom=4.0)})
    model.fit(X[["income", "color"]], y)
    row = pd.DataFrame({"income": [np.nan], "color": ["red"]})
    found = np.exp(model.predict_joint_log_proba(row)[0])
    for k in range(3):

        def density(x: float, k: int = k) -> float:
            cell = pd.DataFrame({"income": [x], "color": ["red"]})
            return float(np.exp(model.predict_joint_log_proba(cell)[0, k]))

        # The tail of Student's t is integrated over the substitution of infinite limits.
        whole, _ = integrate.quad(density, -np.inf, np.inf, limit=200)
        assert found[k] == pytest.approx(whole, rel=1e-6)


def test_one_kind_of_column_is_the_model_of_that_kind() -> None:
    X, y = numbers()
    pairs = [
        (NaiveBayes(), GaussianNB(), X, y),
        (NaiveBayes(categorical_features="all"), CategoricalNB(), *codes()),
        (NaiveBayes(numeric=BernoulliColumn(1.0)), BernoulliNB(binarize=1.0), *counts()),
        (
            NaiveBayes(columns={"words": CountsBlock([f"x{j}" for j in range(5)])}),
            MultinomialNB(),
            *counts(),
        ),
    ]
    for ours, special, table, labels in pairs:
        np.testing.assert_allclose(
            ours.fit(table, labels).predict_joint_log_proba(table),
            special.fit(table, labels).predict_joint_log_proba(table),
            rtol=1e-12,
        )


def test_every_law_adds_its_own_factor() -> None:
    X, y = mixed()
    whole = mixed_model().fit(X, y).log_likelihood(X)
    laws = mixed_model().columns
    parts: list[tuple[list[str], dict[str, Any]]] = [
        (["age"], {}),
        (["grade"], {}),
        (["income"], {"income": laws["income"]}),
        (["color"], {"color": laws["color"]}),
        (["visits"], {"visits": laws["visits"]}),
        (["cars", "pets"], {"belongings": laws["belongings"]}),
    ]
    total = sum(
        NaiveBayes(columns=columns).fit(X[names], y).log_likelihood(X[names])
        for names, columns in parts
    )
    np.testing.assert_allclose(whole, total, rtol=1e-11)


# --- Tables of the books --------------------------------------------------------------------------


def test_play_tennis_by_hand() -> None:
    """Quinlan's 14 days: sunny, cool, high, windy, without smoothing."""
    table = load("weather_nominal", frame="pandas").table
    X, y = table.drop(columns="play"), table["play"]
    model = NaiveBayes(categorical=CategoricalColumn(0.0)).fit(X, y)
    day = pd.DataFrame([["sunny", "cool", "high", True]], columns=X.columns)
    joint = np.exp(model.predict_joint_log_proba(day)[0])
    expected = {
        "no": 3 / 5 * 1 / 5 * 4 / 5 * 3 / 5 * 5 / 14,
        "yes": 2 / 9 * 3 / 9 * 3 / 9 * 3 / 9 * 9 / 14,
    }
    for label, value in expected.items():
        assert joint[model.classes_ == label][0] == pytest.approx(value, rel=1e-12)


def test_hepatitis_with_its_missing_cells() -> None:
    """155 patients, 6 numbers, 13 categories, 167 missing cells: no imputation, no crash."""
    table = load("hepatitis", frame="pandas").table
    X, y = table.drop(columns="Class"), table["Class"]
    assert X.isna().to_numpy().any()
    model = NaiveBayes().fit(X, y)
    assert model.score(X, y) > 0.8
    assert np.isfinite(model.predict_log_proba(X)).all()


# --- Laws and levels ------------------------------------------------------------------------------


def test_a_boolean_column_has_both_levels() -> None:
    frame = pd.DataFrame({"member": [True, True, True, True]})
    model = NaiveBayes().fit(frame, [0, 0, 1, 1])
    found = np.exp(model.log_likelihood(pd.DataFrame({"member": [True, False]})))
    np.testing.assert_allclose(found, [[3 / 4, 3 / 4], [1 / 4, 1 / 4]], rtol=1e-13)


def test_an_unseen_category_prefers_the_class_that_knows_less() -> None:
    frame = pd.DataFrame({"color": ["red", "blue", "red", "red", "blue"]})
    model = NaiveBayes(priors=[0.5, 0.5]).fit(frame, [0, 0, 0, 0, 1])
    with pytest.warns(UnseenLevelWarning, match="'color' has 1 cells"):
        found = model.predict_proba(pd.DataFrame({"color": ["pink"]}))[0]
    odds = (1 / (4 + 3)) / (1 / (1 + 3))
    np.testing.assert_allclose(found, [odds / (1 + odds), 1 / (1 + odds)], rtol=1e-12)


def test_m_estimate_by_hand() -> None:
    frame = pd.DataFrame({"color": ["red", "blue", "red"]})
    law = CategoricalColumn(MEstimate(4, {"red": 0.25, "blue": 0.75}))
    model = NaiveBayes(columns={"color": law}).fit(frame, [0, 0, 0])
    found = np.exp(model.log_likelihood(pd.DataFrame({"color": ["red", "blue"]})))
    np.testing.assert_allclose(found.ravel(), [(2 + 1) / 7, (1 + 3) / 7], rtol=1e-13)


def test_floors_of_single_columns() -> None:
    X = np.array([[0.0, 0.0], [2.0, 2.0], [5.0, 5.0]])
    law = GaussianColumn(variance_floor=0.5)
    model = NaiveBayes(columns={"x1": law}).fit(X, [0, 0, 1])
    variance = model._blocks[0].variance
    assert variance[1, 0] == pytest.approx(1e-9 * X[:, 0].var())
    assert variance[1, 1] == pytest.approx(0.5 * X[:, 1].var())


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"agee": GaussianColumn()}, "names 'agee', but X has no such column; it has age, color"),
        ({"color": GaussianColumn()}, "'color' is nominal and cannot have the law GaussianColumn"),
        ({"age": CategoricalColumn()}, "'age' is numeric and cannot have the law"),
        ({"grade": CountsBlock(["grade"])}, "'grade' is ordinal"),
        ({"age": "normal"}, "cannot have the law 'normal'"),
        ({"a": CountsBlock(["cars"]), "b": CountsBlock(["cars", "pets"])}, "'cars' is in two"),
    ],
)
def test_laws_that_do_not_fit_are_named(columns: dict[str, Any], message: str) -> None:
    X, y = mixed()
    with pytest.raises(InputError, match=message):
        NaiveBayes(columns=columns).fit(X, y)


def test_declared_invariances_follow_the_laws() -> None:
    assert "column_scale" in NaiveBayes().invariances
    assert "column_scale" in NaiveBayes(numeric=StudentTColumn()).invariances
    assert "column_scale" not in NaiveBayes(numeric=StudentTColumn(mean=1.0)).invariances
    assert "shift" not in mixed_model().invariances


def test_a_model_with_all_laws_survives_a_file(tmp_path: Any) -> None:
    X, y = mixed()
    save(mixed_model().fit(X, y), tmp_path / "model.novum")
    back = load_model(tmp_path / "model.novum")
    expected = mixed_model().fit(X, y)
    assert back.predict_proba(X).tobytes() == expected.predict_proba(X).tobytes()
    assert back.columns == expected.columns
    back.partial_fit(X, y)
    assert back.statistics_.isclose(2 * expected.statistics_)
