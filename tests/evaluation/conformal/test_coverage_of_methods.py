"""The promise itself: coverage over a thousand simulations for every method, group and class.

Each simulation draws its own rows, fits, and asks for one or two new rows, so that what is covered
is a binomial count. Splits and full conformal cover between `coverage` and
`coverage + 1/(n + 1)`; for folds `2 coverage - 1` is proved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.evaluation.conformal.class_scores import Adaptive, RegularizedAdaptive
from novum.evaluation.conformal.classifier import ConformalClassifier
from novum.evaluation.conformal.regressor import ConformalRegressor
from novum.linear import Ridge
from tests.evaluation.conformal.conformal_tables import (
    SIMULATIONS,
    MeanLine,
    Shares,
    Shifted,
    assert_share,
    line,
    three_classes,
)

COVERAGE = 0.8


def covered_numbers(model: Any, n: int, sample: Any = line, seed: int = 0) -> list[bool]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(SIMULATIONS):
        X, y = sample(n + 1, rng)
        low, high = model.fit(X[:n], y[:n]).predict_interval(X[n:])[0]
        found.append(low <= y[n] <= high)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "calibrate"),
    [
        (ConformalRegressor(MeanLine(), method="split", calibration_share=0.5), 14),
        (
            ConformalRegressor(
                MeanLine(),
                method="quantile",
                quantiles=(Shifted(-0.5), Shifted(1.0)),
                calibration_share=0.5,
            ),
            14,
        ),
        (ConformalRegressor(Ridge(), method="full"), 14),
    ],
    ids=["split", "quantile", "full"],
)
def test_exact_methods(model: Any, calibrate: int) -> None:
    n = calibrate if model.method == "full" else 2 * calibrate
    model.set_params(coverage=COVERAGE)
    assert_share(covered_numbers(model, n), COVERAGE, COVERAGE + 1 / (calibrate + 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        ConformalRegressor(MeanLine(), method="cross", cv=4),
        ConformalRegressor(Ridge(), method="jackknife+"),
    ],
    ids=["cross", "jackknife+"],
)
def test_methods_with_folds(model: Any) -> None:
    model.set_params(coverage=COVERAGE)
    found = covered_numbers(model, 16)
    assert_share(found, 2 * COVERAGE - 1)
    # What they reach for a learner as stable as this one.
    assert_share(found, COVERAGE - 0.03, COVERAGE + 0.08)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["split", "cross"])
def test_numbers_in_every_group(method: str) -> None:
    """Noise of one group is five times that of the other; a common width would fail one."""
    rng = np.random.default_rng(0)
    model = ConformalRegressor(MeanLine(), method=method, coverage=COVERAGE, cv=3)
    found = []
    for _ in range(SIMULATIONS):
        X = rng.normal(size=(62, 1))
        group = np.append(rng.integers(0, 2, 60), [0, 1])
        y = X[:, 0] + np.where(group, 5.0, 1.0) * rng.normal(size=62)
        model.set_params(calibration_share=0.6).fit(X[:60], y[:60], groups=group[:60])
        low, high = model.predict_interval(X[60:], groups=group[60:]).T
        found.append((low <= y[60:]) & (y[60:] <= high))
    for covered in np.array(found).T:
        # Groups have about 18 calibration rows; folds have more.
        assert_share(covered, COVERAGE if method == "split" else 2 * COVERAGE - 1, COVERAGE + 0.1)


def covered_classes(model: Any, n: int, **more: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    hits, labels = [], []
    for _ in range(SIMULATIONS):
        X, y = three_classes(n + 1, rng)
        if np.unique(y[:n], return_counts=True)[1].min() < 2 or len(set(y[:n])) < 3:
            continue
        members = model.fit(X[:n], y[:n], **more).predict_set(X[n:])[0]
        hits.append(members["abc".index(y[n])])
        labels.append(y[n])
    return np.array(hits), np.array(labels)


@pytest.mark.parametrize(
    "score",
    [
        "lac",
        pytest.param("aps", marks=pytest.mark.slow),
        pytest.param("raps", marks=pytest.mark.slow),
        pytest.param(Adaptive(randomized=False), marks=pytest.mark.slow),
        RegularizedAdaptive(penalty=0.2, free=1),
    ],
    ids=str,
)
def test_sets_of_a_split(score: Any) -> None:
    model = ConformalClassifier(
        Shares(), method="split", conformity_score=score, coverage=COVERAGE, calibration_share=0.5
    )
    exact = isinstance(score, str)
    highest = COVERAGE + 1 / 20 if exact else 1.0
    # The draws of a fit belong to its seed, which must be another one in every simulation.
    model.set_params(random_state=np.random.RandomState(0))
    assert_share(covered_classes(model, 40)[0], COVERAGE, highest)


@pytest.mark.slow
def test_sets_of_folds() -> None:
    model = ConformalClassifier(Shares(), cv=3, coverage=COVERAGE)
    hits, _ = covered_classes(model, 30)
    assert_share(hits, 2 * COVERAGE - 1)
    assert_share(hits, COVERAGE - 0.03, COVERAGE + 0.08)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::novum.evaluation.FewCalibrationRowsWarning")
def test_sets_in_every_class() -> None:
    model = ConformalClassifier(
        Shares(), method="split", coverage=0.7, calibration_share=0.6, by_class=True
    )
    hits, labels = covered_classes(model, 60)
    for label in "abc":
        assert_share(hits[labels == label], 0.7)
    # Without it, the class between the others pays for them.
    hits, labels = covered_classes(model.set_params(by_class=False), 60)
    assert hits[labels == "b"].mean() < 0.62


@pytest.mark.slow
def test_sets_under_other_shares_of_classes() -> None:
    """Most new rows are of the hardest class, which plain sets do not allow for."""
    priors = {"a": 0.1, "b": 0.7, "c": 0.2}
    rng = np.random.default_rng(0)
    weighted = ConformalClassifier(
        Shares(), method="split", coverage=COVERAGE, target_priors=priors, calibration_share=0.5
    )
    plain = ConformalClassifier(Shares(), method="split", coverage=COVERAGE, calibration_share=0.5)
    found = []
    for _ in range(SIMULATIONS):
        X, y = three_classes(160, rng)
        code = rng.choice(3, p=list(priors.values()))
        x = rng.normal(size=(1, 1)) + code - 1.0
        found.append([model.fit(X, y).predict_set(x)[0, code] for model in (weighted, plain)])
    with_priors, without = np.array(found).T
    assert_share(with_priors, COVERAGE - 0.01, COVERAGE + 0.06)
    assert without.mean() < COVERAGE - 0.05
