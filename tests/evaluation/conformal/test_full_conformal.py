"""Full conformal prediction of ridge against refits for every candidate on a grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from novum.core.errors import InputError
from novum.evaluation.conformal.full_conformal import where_below
from novum.evaluation.conformal.regressor import ConformalRegressor
from novum.linear import LinearRegression, Ridge
from novum.numerics import Floats, Mask
from novum.svm import KernelRidge
from tests.evaluation.conformal.conformal_tables import line

LEARNERS = [
    Ridge(0.5),
    Ridge(3.0, fit_intercept=False),
    LinearRegression(),
    KernelRidge(0.1, kernel="rbf"),
    KernelRidge(1.0, kernel="poly", degree=2),
]


def kept_by_refits(
    learner: Any, X: Floats, y: Floats, weight: Floats, row: Floats, grid: Floats, coverage: float
) -> Mask:
    """The definition: whether each candidate is no stranger than enough rows."""
    rows, weights = np.vstack([X, row]), np.append(weight, 1.0)
    kept = np.empty(len(grid), bool)
    for place, candidate in enumerate(grid):
        targets = np.append(y, candidate)
        model = clone(learner).fit(rows, targets, sample_weight=weights)
        residuals = np.abs(targets - model.predict(rows))
        less = weight[residuals[:-1] < residuals[-1] * (1 - 1e-12)].sum()
        kept[place] = less < coverage * (weight.sum() + 1) - 1e-9
    return kept


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_unions_are_those_of_refits(learner: Any, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    X, y = line(14, rng, 2)
    weight = rng.integers(1, 4, 14).astype(float) if weighted else np.ones(14)
    # The last rows lie far out, where sets may come in pieces.
    new = np.vstack([line(2, rng, 2)[0], [[6.0, -5.0]], [[-40.0, 30.0]]])
    model = ConformalRegressor(learner, method="full").fit(X, y, weight if weighted else None)
    for coverage in (0.3, 0.6, 0.8):
        unions = model.predict_union(new, coverage)
        hulls = model.predict_interval(new, coverage)
        for row, union, hull in zip(new, unions, hulls, strict=True):
            assert hull.tolist() == [union[0, 0], union[-1, 1]]
            ends = union[np.isfinite(union)]
            # Candidates around every end, between them, and far away.
            step = 1e-6 * np.maximum(1.0, np.abs(ends))
            near = np.concatenate([ends - step, ends + step, (ends[1:] + ends[:-1]) / 2])
            grid = np.concatenate([near, np.linspace(-300, 300, 25)])
            inside = ((grid[:, None] >= union[:, 0]) & (grid[:, None] <= union[:, 1])).any(axis=1)
            expected = kept_by_refits(learner, X, y, weight, row, grid, coverage)
            np.testing.assert_array_equal(inside, expected)


def test_sets_in_pieces_are_met() -> None:
    X, y = line(14, np.random.default_rng(3), 2)
    model = ConformalRegressor(Ridge(0.5), method="full", coverage=0.3).fit(X, y)
    far = np.random.default_rng(0).normal(size=(200, 2)) * 20
    assert max(len(union) for union in model.predict_union(far)) > 1


def test_every_prediction_is_in_its_set() -> None:
    X, y = line(30, np.random.default_rng(0), 2)
    model = ConformalRegressor(Ridge(), method="full").fit(X, y)
    low, high = model.predict_interval(X).T
    assert ((low <= model.predict(X)) & (model.predict(X) <= high)).all()


def test_open_intervals_meet_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        ends = np.sort(rng.integers(-4, 5, (rng.integers(1, 6), 2)).astype(float), axis=1)
        ends = ends[ends[:, 0] < ends[:, 1]]
        ends[rng.random(len(ends)) < 0.2, 0] = -np.inf
        if not len(ends):
            continue
        weight, limit = rng.integers(1, 3, len(ends)).astype(float), rng.integers(1, 4) - 0.5
        found = where_below(ends[:, 0], ends[:, 1], weight, limit)
        for t in np.arange(-5, 5.5, 0.5):
            below = weight[(ends[:, 0] < t) & (t < ends[:, 1])].sum() < limit
            assert below == ((found[:, 0] <= t) & (t <= found[:, 1])).any()


def test_other_learners_and_undetermined_fits_are_refused() -> None:
    X, y = line(12, np.random.default_rng(0), 2)
    refused = {
        "exact for Ridge": Ridge(positive=True),
        "penalty above 0": Ridge(0.0),
    }
    for message, learner in refused.items():
        with pytest.raises(InputError, match=message):
            ConformalRegressor(learner, method="full").fit(X, y)
    with pytest.raises(InputError, match="1 of 2 coefficients"):
        ConformalRegressor(LinearRegression(), method="full").fit(X[:, [0, 0]], y)
    with pytest.raises(AttributeError, match="predict_union"):
        _ = ConformalRegressor(Ridge()).fit(X, y).predict_union
