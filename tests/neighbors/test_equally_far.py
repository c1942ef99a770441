"""Rows that are equally far share the votes: against all orders of a table, and each other."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.distances import Gower
from novum.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from novum.neighbors.votes import vote_weights

X = np.array([[0.0], [1.0], [1.0], [-1.0], [2.0], [0.0]])
Y = np.array([0, 1, 0, 1, 1, 2])
ASKED = np.array([[0.0], [0.5], [1.0], [-3.0]])


def over_all_orders(k: int, weights: str, values: Any) -> Any:
    """The mean, over all orders of the rows, of what the first k of them say."""
    total = np.zeros((len(ASKED), values.shape[1]))
    orders = list(permutations(range(len(X))))
    for order in orders:
        distances, near = NearestNeighbors(n_neighbors=k).fit(X[list(order)]).kneighbors(ASKED)
        votes = vote_weights(weights, distances)
        shares = votes / votes.sum(axis=1, keepdims=True)
        total += np.einsum("qk,qkt->qt", shares, values[np.array(order)[near]])
    return total / len(orders)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 6])
def test_votes_are_those_of_all_orders_on_average(k: int, weights: str) -> None:
    model = KNeighborsClassifier(k, weights=weights).fit(X, Y)
    expected = over_all_orders(k, weights, np.eye(3)[Y])
    np.testing.assert_allclose(model.predict_proba(ASKED), expected, atol=1e-12)
    numbers = np.array([1.0, 5.0, -2.0, 8.0, 0.5, 3.0])
    answers = KNeighborsRegressor(k, weights=weights).fit(X, numbers).predict(ASKED)
    np.testing.assert_allclose(
        answers, over_all_orders(k, weights, numbers[:, np.newaxis])[:, 0], atol=1e-12
    )


@given(st.integers(0, 10**6), st.sampled_from(["uniform", "distance"]))
def test_answers_do_not_depend_on_the_order_of_the_table(seed: int, weights: str) -> None:
    rng = np.random.default_rng(seed)
    rows, targets = rng.integers(0, 3, (40, 2)).astype(float), rng.integers(0, 3, 40)
    new, order = rng.integers(0, 3, (9, 2)).astype(float), rng.permutation(40)
    for kind in (KNeighborsClassifier, KNeighborsRegressor):
        model = kind(4, weights=weights, metric=Gower())
        ask = "predict_proba" if kind is KNeighborsClassifier else "predict"
        first = getattr(model.fit(rows, targets), ask)(new)
        errors = model.curve(10).errors
        again = getattr(model.fit(rows[order], targets[order]), ask)(new)
        np.testing.assert_allclose(first, again, atol=1e-12)
        if kind is KNeighborsRegressor:
            np.testing.assert_allclose(errors, model.curve(10).errors, rtol=1e-9)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_the_curve_is_that_of_models_without_the_row(weights: str) -> None:
    rng = np.random.default_rng(3)
    rows, numbers = rng.integers(0, 3, (25, 2)).astype(float), rng.normal(size=25)
    curve = KNeighborsRegressor(weights=weights).fit(rows, numbers).curve(8)
    for k in (1, 3, 8):
        errors = []
        for i in range(25):
            others = np.arange(25) != i
            model = KNeighborsRegressor(k, weights=weights).fit(rows[others], numbers[others])
            errors.append((model.predict(rows[i : i + 1])[0] - numbers[i]) ** 2)
        assert curve.errors[k - 1] == pytest.approx(np.mean(errors), rel=1e-9)


def test_a_table_that_is_sorted_by_class_is_no_worse_than_a_shuffled_one() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (400, 2)).astype(float)
    y = (rng.random(400) < 0.15 + 0.7 * rows[:, 0]).astype(int)
    order = np.argsort(y, kind="stable")
    score = KNeighborsClassifier(5).fit(rows[order], y[order]).score(rows, y)
    assert score == np.mean((rows[:, 0] > 0) == y)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree", "auto"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_all_ways_find_the_same_rows_at_a_distance(algorithm: str, metric: str) -> None:
    rng = np.random.default_rng(1)
    rows, y = rng.integers(1, 6, (2000, 3)).astype(float), rng.integers(0, 4, 2000)
    new = rng.integers(1, 6, (300, 3)).astype(float)
    plain = KNeighborsClassifier(7, algorithm="brute", metric=metric).fit(rows, y)
    other = KNeighborsClassifier(7, algorithm=algorithm, metric=metric).fit(rows, y)
    expected = plain.predict_proba(new)
    assert (expected * 7 % 1 > 1e-9).any()
    np.testing.assert_allclose(other.predict_proba(new), expected, atol=1e-12)
