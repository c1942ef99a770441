"""Open sets: scikit-learn's checks, the promised rate of false rejections, each rule, bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import GaussianNB, NaiveBayes
from novum.core import describe, load, save
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.evaluation.open_set.open_set import OpenSet, rejection_threshold
from novum.evaluation.open_set.rules import Density, Distance, Margin


def blobs(n: int = 150, seed: int = 0) -> tuple[Any, Any]:
    """Three normal classes, five deviations apart."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    centers = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    return rng.normal(size=(n, 2)) + centers[codes], np.array(["a", "b", "c"])[codes]


# --- Contracts ------------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        OpenSet(GaussianNB(), "margin", false_rejection_rate=0.0, cv=3),
        OpenSet(GaussianNB(), "density", false_rejection_rate=0.0, cv=3),
        OpenSet(GaussianNB(), "distance", false_rejection_rate=0.0, cv=3),
    ],
    legacy=True,
)
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.filterwarnings("ignore::novum.core.learners.cross_fitting.AbsentClassWarning")
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("rule", ["margin", "density", "distance", Density(covariance="full")])
@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(rule: Any, check: Check) -> None:
    check(Case(OpenSet(GaussianNB(), rule), *blobs(90)))


def test_files_say_that_distances_hold_training_rows(tmp_path: Any) -> None:
    X, y = blobs(60)
    for rule, holds in (("distance", True), ("density", False)):
        model = OpenSet(GaussianNB(), rule).fit(X, y)
        save(model, tmp_path / "model.novum")
        assert describe(tmp_path / "model.novum")["holds_training_rows"] is holds
        again = load(tmp_path / "model.novum")
        assert again.predict(X - 100).tolist() == ["unknown"] * 60
    model.unknown_label_ = "a"
    save(model, tmp_path / "model.novum")
    with pytest.raises(ModelFileError, match="unknown label"):
        load(tmp_path / "model.novum")


# --- What is promised -----------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["margin", "density", "distance"])
@pytest.mark.parametrize("rate", [0.02, 0.2])
def test_known_rows_are_refused_at_the_stated_rate(rule: str, rate: float) -> None:
    model = OpenSet(GaussianNB(), rule, false_rejection_rate=rate).fit(*blobs(900))
    X, _ = blobs(6000, seed=1)
    refused = 1 - model.is_known(X).mean()
    # Four deviations of a share, of 6000 new rows and of the 900 that set the threshold.
    deviation = np.sqrt(rate * (1 - rate) * (1 / 6000 + 1 / 900))
    assert abs(refused - rate) < 4 * deviation
    assert model.certificate_.value <= rate


@pytest.mark.parametrize("rule", ["density", "distance", Density(covariance="full")])
def test_rows_far_from_all_are_unknown(rule: Any) -> None:
    X, y = blobs()
    model = OpenSet(GaussianNB(), rule).fit(X, y)
    assert model.predict([[40.0, 40.0], [-30.0, 2.0]]).tolist() == ["unknown"] * 2
    # The closed classifier is sure of itself there.
    assert model.predict_proba([[40.0, 40.0]]).max() > 0.9
    assert model.predict_known([[40.0, 40.0]])[0] in ("a", "b", "c")


def test_margins_refuse_what_lies_between() -> None:
    X, y = blobs(600)
    for rule in ("margin", Margin("difference")):
        model = OpenSet(GaussianNB(), rule).fit(X, y)
        assert model.predict([[0.0, 0.0], [2.5, 0.0]]).tolist() == ["a", "unknown"]


def test_any_density_estimator_serves() -> None:
    X, y = blobs()
    for inner in (KernelDensity(bandwidth=0.5), GaussianMixture(3, random_state=0)):
        model = OpenSet(KNeighborsClassifier(), Density(inner)).fit(X, y)
        assert model.predict([[0.0, 0.0], [40.0, 40.0]]).tolist() == ["a", "unknown"]
        direct = type(inner)(**inner.get_params()).fit(X).score_samples(X)
        np.testing.assert_allclose(model.known_scores(X), direct)


def test_nominal_columns_take_part() -> None:
    X, y = blobs(300)
    frame = pd.DataFrame({"x": X[:, 0], "color": np.where(y == "a", "red", "blue")})
    for rule in ("density", "distance"):
        model = OpenSet(NaiveBayes(), rule).fit(frame, y)
        asked = pd.DataFrame({"x": [0.0, 90.0], "color": ["red", "blue"]})
        assert model.predict(asked).tolist() == ["a", "unknown"]


def test_weights_mean_repetition() -> None:
    X, y = blobs(60)
    weight = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    order = np.repeat(np.arange(60), weight.astype(int))
    parts = [np.arange(60) // 3 % 3 == k for k in range(3)]
    folds = [(np.flatnonzero(~part), np.flatnonzero(part)) for part in parts]
    copied = [(np.flatnonzero(~part[order]), np.flatnonzero(part[order])) for part in parts]
    for rule in ("density", "margin", "distance"):
        one = OpenSet(GaussianNB(), rule, cv=folds).fit(X, y, sample_weight=weight)
        two = OpenSet(GaussianNB(), rule, cv=copied).fit(X[order], y[order])
        assert one.threshold_ == pytest.approx(two.threshold_, rel=1e-9)
        np.testing.assert_allclose(one.known_scores(X), two.known_scores(X), rtol=1e-8)


def test_jobs_do_not_change_a_bit() -> None:
    X, y = blobs()
    for rule in ("density", "margin"):
        one = OpenSet(GaussianNB(), rule).fit(X, y)
        two = OpenSet(GaussianNB(), rule, n_jobs=2).fit(X, y)
        assert one.threshold_ == two.threshold_


@pytest.mark.parametrize(
    ("labels", "unknown"),
    [
        ([0, 1], -1),
        ([-1, 1], -2),
        ([1.0, 2.0], -1),
        (["a", "b"], "unknown"),
        ([True, False], "unknown"),
    ],
)
def test_the_unknown_label_suits_the_classes(labels: list[Any], unknown: Any) -> None:
    X, y = blobs(60)
    model = OpenSet(GaussianNB(), "distance").fit(X, np.array(labels)[(y == "a").astype(int)])
    assert model.unknown_label_ == unknown
    assert model.predict([[90.0, 90.0]]).tolist() == [unknown]


# --- The threshold --------------------------------------------------------------------------------


def test_the_threshold_is_the_conformal_rank() -> None:
    scores = np.random.default_rng(0).normal(size=99)
    ranked = np.sort(scores)
    for rate in (0.05, 0.1, 0.33):
        # floor(rate (n + 1)) rows lie at or below it, and one fewer is refused.
        assert rejection_threshold(scores, rate) == ranked[round(rate * 100) - 1]
    assert rejection_threshold(scores, 0.005) == -np.inf


# --- Bad input ------------------------------------------------------------------------------------


def test_bad_input_is_named() -> None:
    X, y = blobs()
    with pytest.raises(InputError, match="has no predict_proba, which the rule 'margin' needs"):
        OpenSet(LinearSVC()).fit(X, y)
    with pytest.raises(InputError, match="'a' is one of the classes"):
        OpenSet(GaussianNB(), unknown_label="a").fit(X, y)
    with pytest.raises(ValueError, match="'rule' parameter"):
        OpenSet(GaussianNB(), "nearness").fit(X, y)
    with pytest.raises(ValueError, match="false_rejection_rate"):
        OpenSet(GaussianNB(), false_rejection_rate=1.0).fit(X, y)
    with pytest.raises(InputError, match="one class 'a' only"):
        OpenSet(GaussianNB()).fit(X, np.full(len(y), "a"))
    with pytest.raises(InputError, match="KNeighborsClassifier takes no sample_weight"):
        OpenSet(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(InputError, match="fewer than n_neighbors=500"):
        OpenSet(GaussianNB(), Distance(500)).fit(X, y)
