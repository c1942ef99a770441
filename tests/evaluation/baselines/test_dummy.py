"""Constant answers: scikit-learn's numbers, the optimum they prove, and clear refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import dummy as theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core import load, save
from novum.core.errors import InputError
from novum.core.learners import Case
from novum.core.learners.contracts import check_name, estimator_checks
from novum.evaluation.baselines.dummy import DummyClassifier, DummyRegressor

rng = np.random.default_rng(0)
X, NUMBERS, WEIGHT = rng.normal(size=(40, 3)), rng.normal(size=40), rng.integers(1, 4, 40)
LABELS = rng.choice(["a", "b", "c"], 40, p=[0.5, 0.3, 0.2])


@parametrize_with_checks([DummyClassifier(), DummyRegressor(), DummyRegressor(strategy="median")])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", [(DummyClassifier(), LABELS), (DummyRegressor(), NUMBERS)])
def test_contract(case: tuple[Any, Any], check: Any) -> None:
    check(Case(case[0], X, case[1]))


@pytest.mark.parametrize("strategy", ["prior", "most_frequent", "uniform", "constant"])
def test_classes_as_scikit_learn(strategy: str) -> None:
    more = {"strategy": strategy, "constant": "b", "random_state": 0}
    ours = DummyClassifier(**more).fit(X, LABELS, WEIGHT)  # type: ignore[arg-type]
    other = theirs.DummyClassifier(**more).fit(X, LABELS, WEIGHT)
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X))
    if strategy != "uniform":
        assert ours.predict(X).tolist() == other.predict(X).tolist()


def test_drawn_classes_have_the_shares_of_the_classes() -> None:
    model = DummyClassifier(strategy="stratified", random_state=0).fit(X, LABELS)
    drawn = model.predict(np.zeros((20_000, 3)))
    shares = [(drawn == label).mean() for label in model.classes_]
    # Five standard errors of a share of 20,000 draws.
    np.testing.assert_allclose(shares, model.class_prior_, atol=5 * 0.5 / np.sqrt(20_000))


@pytest.mark.parametrize("strategy", ["mean", "median", "quantile", "constant"])
@pytest.mark.parametrize("targets", [1, 2])
def test_numbers_as_scikit_learn(strategy: str, targets: int) -> None:
    y = NUMBERS if targets == 1 else np.column_stack([NUMBERS, NUMBERS**2])
    more = {"strategy": strategy}
    more |= {"constant": 1.5 if targets == 1 else [1.5, 2.5]} if strategy == "constant" else {}
    more |= {"quantile": 0.51} if strategy == "quantile" else {}
    ours = DummyRegressor(**more).fit(X, y)
    if strategy == "quantile":
        expected = np.quantile(y, 0.51, axis=0, method="inverted_cdf") + 0 * y
    else:
        expected = theirs.DummyRegressor(**more).fit(X, y).predict(X)
    np.testing.assert_allclose(ours.predict(X), expected)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12), st.integers(-6, 6))
def test_no_other_answer_is_better(values: list[int], other: int) -> None:
    y = np.array(values, float)
    rows = np.zeros((len(y), 1))
    mean = DummyRegressor().fit(rows, y)
    assert mean.certificate_.value == pytest.approx(np.mean((y - mean.constant_) ** 2))
    assert np.mean((y - mean.constant_) ** 2) <= np.mean((y - other) ** 2) + 1e-12
    median = DummyRegressor(strategy="median").fit(rows, y).constant_
    assert median == pytest.approx(np.median(y))


def test_a_weight_counts_rows() -> None:
    for strategy in ("mean", "median"):
        twice = DummyRegressor(strategy=strategy).fit(
            np.repeat(X, WEIGHT, axis=0), np.repeat(NUMBERS, WEIGHT)
        )
        once = DummyRegressor(strategy=strategy).fit(X, NUMBERS, WEIGHT)
        np.testing.assert_allclose(once.constant_, twice.constant_, rtol=1e-12)


def test_cells_are_not_looked_at(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", None, "z"]})
    model = DummyClassifier().fit(frame, ["u", "v", "u"])
    save(model, tmp_path / "model.novum")
    again = load(tmp_path / "model.novum")
    assert again.predict(frame).tolist() == ["u", "u", "u"]


def test_refusals() -> None:
    with pytest.raises(InputError, match=r"constant='z' is none of the classes 'a', 'b', 'c'"):
        DummyClassifier(strategy="constant", constant="z").fit(X, LABELS)
    with pytest.raises(InputError, match="pass constant="):
        DummyRegressor(strategy="constant").fit(X, NUMBERS)
    with pytest.raises(InputError, match="pass quantile="):
        DummyRegressor(strategy="quantile").fit(X, NUMBERS)


def test_a_constant_number_has_no_deviation() -> None:
    model = DummyRegressor().fit([[0], [0]], [1.0, 2.0])
    answer, deviation = model.predict([[5], [6]], return_std=True)
    assert (answer.tolist(), deviation.tolist()) == ([1.5, 1.5], [0.0, 0.0])
