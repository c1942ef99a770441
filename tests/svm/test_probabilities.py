"""Probabilities: folds, values held out, maps that fit, classes that are coupled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import svm

from novum.kernels.vectors.gaussian import Gaussian
from novum.numerics import IsotonicMap, Positions, SigmoidMap, fit_sigmoid
from novum.svm import SVC
from novum.svm.binary_machine import (
    N_FOLDS,
    BinaryMachine,
    BinaryTask,
    fit_map,
    folds_of,
    held_out_scores,
    probabilities,
    soft_margin,
    soft_program,
)
from novum.svm.solver.problem import Stopping
from tests.svm.machine_tables import blobs


def fit(_: list[Positions], parts: list[BinaryTask]) -> list[BinaryMachine]:
    return [soft_margin(part, soft_program(part, 1.0), Stopping(1e-9), 10**6) for part in parts]


def task_of(n: int = 40) -> BinaryTask:
    X, y = blobs(n)
    ones = np.ones(n)
    return BinaryTask(Gaussian(1.5).prepare(X), 2.0 * y - 1, ones, ones, (0, 1))


@given(
    st.lists(st.sampled_from([-1.0, 1.0]), min_size=1, max_size=60), st.none() | st.integers(0, 9)
)
def test_folds_have_equal_shares_of_both_classes(signs: list[float], seed: int | None) -> None:
    sign = np.array(signs)
    folds = folds_of(sign, seed)
    for side in (-1.0, 1.0):
        counts = np.bincount(folds[sign == side], minlength=N_FOLDS)
        assert counts.max() - counts.min() <= 1
    counts = np.bincount(folds, minlength=N_FOLDS)
    assert counts.max() - counts.min() <= 1


def test_values_held_out_are_those_of_other_machines() -> None:
    X, y = blobs(40)
    folds = folds_of(2.0 * y - 1)
    found = held_out_scores(task_of(), fit, folds)
    for fold in range(N_FOLDS):
        out = folds == fold
        reference = svm.SVC(gamma=1 / (2 * 1.5**2), tol=1e-9).fit(X[~out], y[~out])
        np.testing.assert_allclose(found[out], reference.decision_function(X[out]), atol=1e-4)


def test_platt_is_fitted_to_values_held_out() -> None:
    task = task_of()
    found = fit_map(task, fit, "sigmoid")
    scores = held_out_scores(task, fit, folds_of(task.sign))
    expected = fit_sigmoid(scores, task.sign > 0)
    assert isinstance(found, SigmoidMap)
    assert (found.slope, found.intercept) == (expected.slope, expected.intercept)


def test_isotonic_maps_never_fall() -> None:
    found = fit_map(task_of(), fit, "isotonic", 3)
    assert isinstance(found, IsotonicMap)
    assert (np.diff(found.predict(np.linspace(-3, 3, 50))) >= 0).all()


def test_counts_and_not_prices_weigh_the_map() -> None:
    task = task_of()
    priced = replace(task, weight=task.weight * np.where(task.sign > 0, 5.0, 1.0))
    counted = replace(priced, count=np.where(task.sign > 0, 5.0, 1.0))
    without, with_counts = (fit_map(t, fit, "sigmoid").predict([0.0])[0] for t in (priced, counted))
    assert with_counts > without


def test_a_class_of_one_row_is_unknown_where_it_is_held_out() -> None:
    X = np.array([[0.0], [1.0], [2.0], [9.0]])
    task = BinaryTask(
        Gaussian(1.0).prepare(X), np.array([-1.0, -1.0, -1.0, 1.0]), np.ones(4), np.ones(4), (0, 1)
    )
    scores = held_out_scores(task, fit, np.array([0, 1, 2, 3]))
    assert scores[3] == -1.0


def test_a_single_row_has_no_value_at_all() -> None:
    task = BinaryTask(
        Gaussian(1.0).prepare(np.ones((1, 1))), np.ones(1), np.ones(1), np.ones(1), (0, 1)
    )
    assert held_out_scores(task, fit, np.zeros(1, int)).tolist() == [0.0]


def test_two_classes_are_the_map_itself() -> None:
    found = probabilities([SigmoidMap(2.0, 0.5)], np.array([[-40.0], [0.0], [40.0]]), paired=True)
    np.testing.assert_allclose(found[:, 1], SigmoidMap(2.0, 0.5).predict([-40.0, 0.0, 40.0]))
    # The small one is not a difference of ones.
    assert found[2, 0] == pytest.approx(np.exp(-80.5), rel=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_pairs_that_agree_give_the_probabilities_they_come_from() -> None:
    p = np.array([0.5, 0.3, 0.2])
    odds = [np.log(p[j] / p[i]) for i, j in ((0, 1), (0, 2), (1, 2))]
    found = probabilities([SigmoidMap(1.0, 0.0)] * 3, np.array([odds]), paired=True)
    np.testing.assert_allclose(found, [p])


def test_classes_against_the_rest_are_normalized() -> None:
    maps = [IsotonicMap(np.array([0.0, 1.0]), np.array([0.0, 1.0]))] * 3
    found = probabilities(maps, np.array([[0.6, 0.3, 0.3], [0.0, 0.0, 0.0]]), paired=False)
    np.testing.assert_allclose(found, [[0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]])


def test_classes_of_one_row_each_have_probabilities() -> None:
    X = np.array([[0.0], [1.0], [5.0], [5.5], [6.0]])
    model = SVC(probability=True).fit(X, [0, 1, 2, 2, 2])
    found = model.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (found > 0).all()


def test_equal_rows_of_both_classes_are_held_out_together() -> None:
    # Few kinds of rows, each with both classes: what is likely is what most rows of a kind say.
    x = np.repeat(np.arange(8.0), 50)
    y = (np.tile(np.arange(50) / 50, 8) < np.repeat([0.9, 0.1], 200)).astype(int)
    model = SVC(probability=True).fit(x[:, None], y)
    found = model.predict_proba(np.arange(8.0)[:, None])[:, 1]
    assert (found[:4] > 0.6).all()
    assert (found[4:] < 0.4).all()
