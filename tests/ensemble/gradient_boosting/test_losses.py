"""Losses: derivatives against differences, constants that are best, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from novum.core.errors import InputError
from novum.ensemble import (
    AbsoluteLoss,
    CustomLoss,
    GammaLoss,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HuberLoss,
    LogisticLoss,
    OrdinalLoss,
    PoissonLoss,
    QuantileLoss,
    SoftmaxLoss,
    SquaredLoss,
    TweedieLoss,
)
from novum.ensemble.gradient_boosting.losses import Loss, weighted_quantile

rng = np.random.default_rng(0)
N = 60
POSITIVE = rng.gamma(2.0, 1.0, N)
BINARY, THREE = rng.integers(0, 2, N).astype(float), rng.integers(0, 3, N).astype(float)
WEIGHT = rng.integers(1, 4, N).astype(float)
SMOOTH: list[tuple[Loss, Any, int]] = [
    (SquaredLoss(), POSITIVE, 1),
    (HuberLoss(None, 0.7), POSITIVE, 1),
    (PoissonLoss(), np.floor(POSITIVE), 1),
    (GammaLoss(), POSITIVE, 1),
    (TweedieLoss(1.3), np.where(POSITIVE < 1, 0.0, POSITIVE), 1),
    (LogisticLoss(), BINARY, 1),
    (SoftmaxLoss(), THREE, 3),
    (OrdinalLoss((-0.5, 1.0)), THREE, 1),
]
OWN: list[tuple[Loss, Any, int]] = [
    # exp(f) is the mean, and one Newton step from 0 overflows.
    (CustomLoss(lambda y, f: np.exp(f) - y * f, lambda y, f: np.exp(f) - y, lambda _, f: np.exp(f)),
     1e4 * POSITIVE, 1),
    # A bound in place of the curvature, 1e6 steps away.
    (CustomLoss(lambda y, f: np.abs(f - y) + np.log1p(np.exp(-2 * np.abs(f - y))),
                lambda y, f: np.tanh(f - y), lambda y, _: np.ones(len(y))), 1e6 + POSITIVE, 1),
    # No curvature at all.
    (CustomLoss(lambda y, f: (y - f) * (0.3 - (y < f)), lambda y, f: (y < f) - 0.3,
                lambda y, _: np.zeros(len(y))), POSITIVE, 1),
]  # fmt: skip
LINEAR: list[tuple[Loss, Any, int]] = [
    (AbsoluteLoss(), POSITIVE, 1),
    (QuantileLoss(0.8), POSITIVE, 1),
]


@pytest.mark.parametrize(("loss", "y", "K"), SMOOTH + LINEAR)
def test_gradients_are_derivatives(loss: Loss, y: Any, K: int) -> None:
    scores = rng.normal(size=(K, N))
    g, h = loss.gradients(scores, y)
    step = 1e-5
    for k in range(K):
        up, down = scores.copy(), scores.copy()
        up[k] += step
        down[k] -= step
        slope = (loss.values(up, y) - loss.values(down, y)) / (2 * step)
        np.testing.assert_allclose(g[k], slope, atol=1e-6)
        if h is not None:
            bend = (loss.gradients(up, y)[0][k] - loss.gradients(down, y)[0][k]) / (2 * step)
            np.testing.assert_allclose(h[k], bend, atol=1e-6)
            assert h.max() <= loss.most_curved
    assert (h is None) == loss.is_flat


@pytest.mark.parametrize(("loss", "y", "K"), [*SMOOTH[:7], *OWN, *LINEAR])
def test_starts_are_the_best_constants(loss: Loss, y: Any, K: int) -> None:
    start = loss.start(y, WEIGHT)

    def total(constant: Any) -> float:
        scores = np.repeat(np.reshape(constant, (K, 1)), N, axis=1)
        return float(WEIGHT @ loss.values(scores, y))

    best = optimize.minimize(total, start + 0.1, method="Nelder-Mead", options={"fatol": 1e-12})
    assert total(start) <= best.fun + 1e-7 * abs(best.fun)


def test_thresholds_of_an_order_are_fitted() -> None:
    f, codes = rng.normal(size=400), np.empty(400)
    codes[:] = np.digitize(2 * f + rng.logistic(size=400), [-1.0, 1.5])
    weight = np.ones(400)
    loss = OrdinalLoss().fitted(np.zeros((1, 400)), codes, weight)
    shares = np.cumsum(np.bincount(codes.astype(int)))[:-1] / 400
    np.testing.assert_allclose(loss.answers(np.zeros((1, 1)))[0].cumsum()[:-1], shares)
    for _ in range(60):
        loss = loss.fitted(2 * f[np.newaxis], codes, weight)

    def total(t: Any) -> float:
        return float(OrdinalLoss(tuple(t)).values(2 * f[np.newaxis], codes).sum())

    best = optimize.minimize(total, [-1.0, 1.5], method="Nelder-Mead", options={"xatol": 1e-8})
    np.testing.assert_allclose(loss.thresholds, best.x, atol=1e-4)


def test_leaves_of_linear_losses_are_quantiles() -> None:
    x, y = np.repeat([0.0, 1.0], 50), rng.normal(size=100)
    model = GradientBoostingRegressor(
        QuantileLoss(0.3), n_estimators=1, learning_rate=1.0, min_samples_leaf=10
    ).fit(x[:, np.newaxis], y)
    for side in (0.0, 1.0):
        found = model.predict([[side]])[0]
        own = y[x == side]
        assert found == pytest.approx(weighted_quantile(own, np.ones(50), 0.3))


def test_a_loss_of_ones_own_is_the_same_as_ours() -> None:
    X = rng.normal(size=(300, 3))
    y = X[:, 0] ** 2 + X[:, 1]
    own = CustomLoss(
        lambda y, f: (y - f) ** 2 / 2,
        lambda y, f: f - y,
        lambda y, _: np.ones(len(y)),
    )
    for away in (0.0, 1e4):
        one = GradientBoostingRegressor(own).fit(X, y + away).predict(X)
        other = GradientBoostingRegressor().fit(X, y + away).predict(X)
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_loss_that_falls_for_ever_starts_where_it_was_told() -> None:
    falling = CustomLoss(
        lambda _, f: -f, lambda y, _: -np.ones(len(y)), lambda y, _: np.ones(len(y))
    )
    assert falling.start(POSITIVE, WEIGHT).tolist() == [0.0]
    root = CustomLoss(
        lambda y, f: (np.log(f) - np.log(y)) ** 2 / 2,
        lambda y, f: (np.log(f) - np.log(y)) / f,
        lambda _, f: 1 / f**2,
    )
    with pytest.raises(InputError, match="one finite number"), np.errstate(all="ignore"):
        root.start(POSITIVE, WEIGHT)
    assert replace(root, first=2.0).start(POSITIVE, WEIGHT).tolist() == [2.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: QuantileLoss(1.0), "between 0 and 1"),
        (lambda: HuberLoss(2.0), "between 0 and 1"),
        (lambda: HuberLoss(None, 0.0), "above 0"),
        (lambda: TweedieLoss(2.5), r"between 1 \(Poisson\) and 2"),
    ],
)
def test_settings_without_sense_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (GradientBoostingRegressor("poisson"), [-1.0, 2.0, 3.0], "at least 0"),
        (GradientBoostingRegressor("poisson"), [0.0, 0.0, 0.0], "not all 0"),
        (GradientBoostingRegressor("gamma"), [0.0, 2.0, 3.0], "above 0"),
        (GradientBoostingRegressor(LogisticLoss()), [0.0, 1.0, 1.0], "GradientBoostingClassifier"),
        (GradientBoostingClassifier(SquaredLoss()), [0, 1, 1], "GradientBoostingRegressor"),
        (GradientBoostingClassifier(LogisticLoss()), [0, 1, 2], "SoftmaxLoss"),
        (GradientBoostingClassifier(), [1, 1, 1], "at least two classes"),
    ],
)
def test_targets_that_a_loss_is_not_for(model: Any, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit([[0.0], [1.0], [2.0]], y)


def test_bad_answers_of_a_loss_of_ones_own() -> None:
    X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]

    def ones(y: Any, _: Any) -> Any:
        return np.ones(len(y))

    with pytest.raises(InputError, match="one finite number for each of 3 rows"):
        GradientBoostingRegressor(CustomLoss(ones, lambda *_: 1.0, ones)).fit(X, y)
    with pytest.raises(InputError, match="negative for 3 rows"):
        GradientBoostingRegressor(CustomLoss(ones, ones, lambda y, f: -ones(y, f))).fit(X, y)


def test_targets_of_any_size_are_learned_or_refused() -> None:
    X, y = rng.normal(size=(200, 2)), rng.gamma(2.0, 1.0, 200)
    gamma = GradientBoostingRegressor("gamma", n_estimators=5, min_samples_leaf=5)
    one = gamma.fit(X, y).predict(X)
    for unit in (1e-280, 1e280):
        np.testing.assert_allclose(gamma.fit(X, unit * y).predict(X) / unit, one, rtol=1e-9)
    # Too little curvature for any split, and no number for a gain.
    small = GradientBoostingRegressor("poisson").fit(X, 1e-30 * y)
    np.testing.assert_allclose(small.predict(X), 1e-30 * y.mean())
    for loss, unit in (("squared_error", 1e200), ("huber", 1e200), ("poisson", 1e150)):
        with pytest.raises(InputError, match="larger unit"):
            GradientBoostingRegressor(loss).fit(X, unit * y)
