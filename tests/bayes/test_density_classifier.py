"""DensityClassifier: other classifiers as oracles, mixtures within classes, levels, odd input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import (
    DensityClassifier,
    GaussianClassifier,
    MixtureColumn,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from novum.bayes.partial_labels import MixtureLaws, nearest_labels
from novum.core import UnlabelledRows, WorkingPoint, load, save
from novum.core.errors import InputError
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.core.sums import PartlyLabelled, PartlyLabelledRows, UnlabelledWarning
from novum.distributions import (
    Gamma,
    MultivariateNormal,
    Normal,
    Poisson,
)
from novum.mixture import GaussianMixture, MixedMixture, Mixture
from novum.neighbors import KernelDensity


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
    # One row more, spread over the two levels, is among the prior rows.
    any_law = DensityClassifier(Mixture(n_components=1, prior_count=0.1)).fit(frame, y)
    rare = any_law.densities_[0].components_[0].laws[0].density("blue")
    prior = 0.1 / 41 / 2
    assert rare == pytest.approx(prior / (40 + 0.1 + prior), rel=1e-12)
    assert any_law.densities_[0].unmet_.tolist() == [[0.0, 0.0, prior]]
    plain = DensityClassifier(Mixture(n_components=1, prior_count=0.0)).fit(frame, y)
    assert plain.densities_[0].components_[0].laws[0].density("blue") == 0.0


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


# --- Rows without a label -------------------------------------------------------------------------

GIVEN = UnlabelledRows(weight=0.6, folds=0, tol=1e-10, max_iter=3000)


def few_labels(n: int = 120, labelled: int = 18) -> tuple[Any, Any, Any]:
    X, truth = split_class(n)
    y = truth.astype(object)
    y[labelled:] = None
    return X, truth, y


def test_one_step_is_that_of_pairs_of_class_and_component() -> None:
    X, _, y = few_labels(60, 12)
    X[::7, 1] = np.nan
    density = GaussianMixture(2, random_state=0)
    sample = density._read(X, None, np.linspace(0.5, 2.0, 60), None)
    codes = np.array([-1 if label is None else "mo".index(label[0]) for label in y])
    sample = type(sample)(
        **{**vars(sample), "target": codes, "classes": np.array(["middle", "outer"])}
    )
    laws = MixtureLaws(density, PartlyLabelledRows.of(sample), 0.4, None)
    problem = PartlyLabelled(laws, 0.4)
    params = problem.start(np.random.default_rng(0))
    params = problem.update(params, problem.step(params, sample))
    sums = problem.step(params, sample)
    after = problem.update(params, sums)
    outer = [p.units.outward(own) for p, own in zip(laws.problems, params.densities, strict=True)]
    logs = np.empty((60, 2, 2))
    for i, row in enumerate(X):
        o = np.flatnonzero(~np.isnan(row))
        for c, own in enumerate(outer):
            for k in range(2):
                law = multivariate_normal(own.means[k, o], own.covariances[k][np.ix_(o, o)])
                weight = params.prior[c] * own.weights[k]
                logs[i, c, k] = np.log(weight) + law.logpdf(row[o])
    possible = np.where((codes < 0)[:, None] | (codes[:, None] == [0, 1]), 0.0, -np.inf)
    logs += possible[:, :, None]
    evidence = logsumexp(logs, axis=(1, 2))
    w = sample.weights * np.where(codes < 0, 0.4, 1.0)
    assert problem.objective(params, sums) == pytest.approx(w @ evidence, rel=1e-12)
    r = w[:, None, None] * np.exp(logs - evidence[:, None, None])
    np.testing.assert_allclose(after.prior, r.sum(axis=(0, 2)) / r.sum(), rtol=1e-11)
    for c, own in enumerate(outer):
        after_c = laws.problems[c].units.outward(after.densities[c])
        np.testing.assert_allclose(after_c.weights, r[:, c].sum(axis=0) / r[:, c].sum(), rtol=1e-11)
        for k in range(2):
            filled = X.copy()
            C, m = own.covariances[k], own.means[k]
            gaps = np.isnan(X[:, 1])
            filled[gaps, 1] = m[1] + C[1, 0] / C[0, 0] * (X[gaps, 0] - m[0])
            mean = r[:, c, k] @ filled / r[:, c, k].sum()
            np.testing.assert_allclose(after_c.means[k], mean, rtol=1e-10)


def mixed_frame(n: int = 120) -> tuple[pd.DataFrame, Any]:
    X, truth, y = few_labels(n)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["c"] = np.where(rng.random(n) < 0.8, truth, "else")
    frame["visits"] = rng.poisson(np.where(truth == "outer", 6, 2)).astype(float)
    return frame.mask(rng.random(frame.shape) < 0.05), y


@pytest.mark.parametrize(
    "density",
    [
        GaussianMixture(2, covariance_type="tied", random_state=0),
        MixedMixture(2, random_state=0),
        pytest.param(
            Mixture({"visits": Poisson}, 2, n_init=1, random_state=0), marks=pytest.mark.slow
        ),
    ],
    ids=["gaussian", "mixed", "any law"],
)
def test_the_likelihood_never_falls_and_weights_count_rows(density: Any, tmp_path: Path) -> None:
    frame, y = mixed_frame()
    frame = frame[["a", "b"]] if isinstance(density, GaussianMixture) else frame
    model = DensityClassifier(density, unlabelled=GIVEN).fit(frame, y)
    trace = np.array(model.certificate_.trace)
    assert len(trace) > 2
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()
    assert model.certificate_.details["unlabelled_rows"] == 102
    assert model.class_count_.sum() == pytest.approx(18 + 0.6 * 102)
    assert model.log_likelihood(frame).shape == (120, 2)
    # The value is that of the fitted densities: labels and cells, and cells alone.
    joint = model.predict_joint_log_proba(frame)
    codes = np.array([-1 if label is None else "mo".index(label[0]) for label in y])
    rows = np.where(codes < 0, 0.6 * logsumexp(joint, axis=1), joint[np.arange(120), codes])
    if isinstance(density, GaussianMixture):
        assert model.certificate_.value == pytest.approx(rows.sum(), rel=1e-9)
    weight = 1.0 + (np.arange(120) % 3 == 0)
    twice = np.repeat(np.arange(120), weight.astype(int))
    counted = clone(model).fit(frame, y, weight)
    repeated = clone(model).fit(frame.iloc[twice], y[twice])
    assert counted.certificate_.value == pytest.approx(repeated.certificate_.value, rel=1e-5)
    save(model, tmp_path / "m.novum")
    again = load(tmp_path / "m.novum")
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.unlabelled_weight_ == 0.6


def test_one_component_is_the_gaussian_classifier_with_missing_labels_and_cells() -> None:
    X, _, y = few_labels()
    X[::6, 0] = np.nan
    model = DensityClassifier(GaussianMixture(1), unlabelled=GIVEN).fit(X, y)
    other = GaussianClassifier("full", unlabelled=GIVEN).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-4)
    assert model.certificate_.value == pytest.approx(other.certificate_.value, rel=1e-7)


def test_weight_zero_is_the_fit_to_labelled_rows_and_full_labels_the_plain_one() -> None:
    X, truth, y = few_labels(labelled=60)
    density = Mixture(Normal, 2, tol=1e-12, max_iter=5000, n_init=1, random_state=0)
    none = DensityClassifier(density, unlabelled=UnlabelledRows(weight=0.0)).fit(X, y)
    plain = DensityClassifier(density).fit(X[:60], truth[:60])
    np.testing.assert_allclose(none.log_likelihood(X), plain.log_likelihood(X), rtol=1e-4)
    assert none.unlabelled_weight_ == 0.0
    whole = DensityClassifier(density, unlabelled="em").fit(X, truth)
    np.testing.assert_array_equal(
        whole.predict_proba(X), DensityClassifier(density).fit(X, truth).predict_proba(X)
    )
    assert not hasattr(whole, "unlabelled_weight_")


def test_unlabelled_rows_help_classes_of_several_groups() -> None:
    X, truth, y = few_labels(240, 15)
    X[:, 1] += np.random.default_rng(3).normal(size=240)
    density = GaussianMixture(2, random_state=0)
    both = DensityClassifier(density, unlabelled="em").fit(X, y)
    few = DensityClassifier(density).fit(X[:15], truth[:15])
    Z, labels = split_class(600, seed=9)
    assert both.unlabelled_weight_ > 0
    assert both.score(Z, labels) > max(few.score(Z, labels), 0.95)


def test_first_labels_are_those_of_the_nearest_labelled_row() -> None:
    frame = pd.DataFrame({"x": [0.0, 10.0, 1.0, np.nan, 9.0], "c": list("uvuvv")})
    sample = MixedMixture()._read(frame, None, None, None)
    sample = type(sample)(**{**vars(sample), "target": np.array([1, 0, -1, -1, -1])})
    assert nearest_labels(sample).tolist() == [1, 0, 1, 0, 0]


def test_refusals_of_rows_without_a_label() -> None:
    X, _, y = few_labels()
    with pytest.raises(InputError, match=r"KernelDensity does not\. Choose a mixture"):
        DensityClassifier(KernelDensity(), unlabelled="em").fit(X, y)
    with pytest.raises(InputError, match="None of the 120 rows has a label"):
        DensityClassifier(GaussianMixture(), unlabelled="em").fit(X, [None] * 120)
    with pytest.raises(InputError, match="Class 'outer': n_samples=1 should be"):
        DensityClassifier(GaussianMixture(2), unlabelled=GIVEN).fit(
            [[0.0], [1], [2], [50]], ["middle", None, None, "outer"]
        )
    with pytest.warns(UnlabelledWarning, match="Only class 'a' has labelled rows") as caught:
        DensityClassifier(GaussianMixture(1), unlabelled="em").fit(
            [[0.0], [1], [2]], ["a", "a", None]
        )
    assert caught[0].filename == __file__
