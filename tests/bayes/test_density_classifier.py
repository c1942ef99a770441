"""DensityClassifier: other classifiers as oracles, mixtures within classes, levels, odd input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import (
    DensityClassifier,
    GaussianClassifier,
    MixtureColumn,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from novum.core import WorkingPoint, load, save
from novum.core.errors import InputError
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.distributions import Gamma, MultivariateNormal, Normal, Poisson
from novum.mixture import GaussianMixture, MixedMixture, Mixture


def split_class(n: int = 240, seed: int = 0) -> tuple[Any, Any]:
    """One class on both sides of the other."""
    rng = np.random.default_rng(seed)
    place = np.arange(n) % 3
    X = rng.normal(size=(n, 2)) + np.array([-5.0, 0.0, 5.0])[place, None]
    return X, np.where(place == 1, "middle", "outer")


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks([DensityClassifier(GaussianMixture(1))])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Any) -> None:
    X, y = split_class(90)
    check(Case(DensityClassifier(GaussianMixture(2, random_state=0)), X, y))


def test_one_normal_law_for_each_class_is_quadratic_discriminant_analysis() -> None:
    X, y = split_class()
    model = DensityClassifier(GaussianMixture(1)).fit(X, y)
    expected = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    own = GaussianClassifier(covariance="full").fit(X, y)
    np.testing.assert_allclose(model.log_likelihood(X), own.log_likelihood(X), rtol=1e-8)
    # That of scikit-learn's kind divides by n - 1.
    assert np.abs(model.predict_proba(X) - expected).max() < 0.05
    X[::7, 1] = np.nan
    np.testing.assert_allclose(model.log_likelihood(X), own.log_likelihood(X), rtol=1e-8, atol=1e-8)
    any_law = DensityClassifier(Mixture(MultivariateNormal)).fit(*split_class())
    np.testing.assert_allclose(any_law.log_likelihood(X), own.log_likelihood(X), rtol=1e-7)


def test_mixtures_within_classes_see_what_one_law_cannot() -> None:
    X, y = split_class()
    Z, labels = split_class(seed=1)
    mixture = DensityClassifier(GaussianMixture(2, random_state=0)).fit(X, y)
    assert mixture.score(Z, labels) > 0.97
    columns = NaiveBayes(numeric=MixtureColumn(Normal, 2)).fit(X, y)
    assert columns.score(Z, labels) > 0.97
    assert NaiveBayes().fit(X, y).score(Z, labels) < columns.score(Z, labels)


@pytest.mark.slow
def test_mixtures_of_columns_are_products_of_their_laws(tmp_path: Path) -> None:
    X, y = split_class(120)
    model = NaiveBayes(numeric=MixtureColumn(Normal, 2)).fit(X, y)
    laws = [column[1] for column in model._blocks[0].laws]
    assert {len(law.components) for law in laws} == {2}
    by_hand = sum(law.log_density(X[:, j]) for j, law in enumerate(laws))
    np.testing.assert_allclose(model.log_likelihood(X)[:, 1], by_hand, rtol=1e-12)
    save(model, tmp_path / "m.novum")
    again = load(tmp_path / "m.novum")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    merged = NaiveBayes(numeric=MixtureColumn(Normal, 2))
    merged.fit_statistics(merged.statistics(X[:50], y[:50]) + merged.statistics(X[50:], y[50:]))
    np.testing.assert_allclose(merged.predict_proba(X), model.predict_proba(X), rtol=1e-9)


def test_a_column_of_equal_cells_takes_the_law_of_all() -> None:
    X = np.array([[1.0, 3], [1, 4], [1, 5], [2, 3], [3, 4], [4, 4]])
    model = NaiveBayes(numeric=MixtureColumn(Gamma, 1)).fit(X, list("aaabbb"))
    whole, own = model._blocks[0].laws[0]
    assert whole.components[0].mean == pytest.approx(2.0)
    assert own.components[0].mean == pytest.approx(3.0)
    with pytest.raises(InputError, match="law of numbers"):
        MixtureColumn(MultivariateNormal)


def test_levels_that_a_class_lacks_are_rare_there() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"color": ["red"] * 40 + ["blue"] * 20 + ["red"] * 20})
    frame["size"] = rng.normal(size=80)
    y = ["a"] * 40 + ["b"] * 40
    model = DensityClassifier(MixedMixture(1)).fit(frame, y)
    chance = model.predict_proba(pd.DataFrame({"color": ["blue"], "size": [0.0]}))[0]
    assert chance[1] > 0.95
    missing = model.predict_proba(pd.DataFrame({"color": [None], "size": [0.0]}))[0]
    assert abs(missing[0] - 0.5) < 0.1


def test_priors_weights_points_and_files(tmp_path: Path) -> None:
    X, y = split_class()
    model = DensityClassifier(GaussianMixture(2, random_state=0), priors=[0.5, 0.5]).fit(X, y)
    np.testing.assert_allclose(model.class_prior_, 0.5)
    weight = np.arange(240) % 3 != 2
    some = DensityClassifier(GaussianMixture(1)).fit(X, y, sample_weight=weight)
    kept = DensityClassifier(GaussianMixture(1)).fit(X[weight], y[weight])
    np.testing.assert_allclose(some.predict_proba(X), kept.predict_proba(X), rtol=1e-9)
    point = WorkingPoint(model.classes_, [0.1, 0.9], 1 - np.eye(2))
    assert (model.at(point).predict(X) == "outer").sum() >= (model.predict(X) == "outer").sum()
    save(model, tmp_path / "m.novum")
    again = load(tmp_path / "m.novum")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_rows_that_no_class_has_get_the_priors() -> None:
    X = np.array([[0.0], [0], [0], [2], [3], [4]])
    model = DensityClassifier(Mixture(Poisson), priors=[0.3, 0.7]).fit(X, list("aaabbb"))
    np.testing.assert_allclose(model.predict_proba([[1.5]]), [[0.3, 0.7]])
    assert model.predict_proba([[2.0]])[0, 1] == 1.0


def test_refusals() -> None:
    X, y = split_class(30)
    with pytest.raises(
        InputError, match="Class 'middle': n_samples=10 should be >= n_components=11"
    ):
        DensityClassifier(GaussianMixture(11)).fit(X, y)
    with pytest.raises(InputError, match="estimator with `score_samples`"):
        DensityClassifier(NaiveBayes()).fit(X, y)
