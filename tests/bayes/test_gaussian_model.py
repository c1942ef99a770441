"""What all Gaussian classifiers share: scikit-learn's checks, the contracts, files, nasty input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from novum.bayes.gaussian import GaussianClassifier
from novum.bayes.gaussian_covariance import AbsentColumnWarning
from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError, ModelFileError, NotAdditiveError
from novum.core.files import load, save
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.core.sums.contracts import statistics_checks
from novum.numerics import Array, Floats
from tests.bayes.normal_classes import normal_classes, with_holes

MODELS = [
    GaussianClassifier(),
    GaussianClassifier("tied"),
    GaussianClassifier("diagonal"),
    GaussianClassifier("spherical"),
    GaussianClassifier("evidence"),
    GaussianClassifier("full", estimate="predictive"),
    GaussianClassifier("tied", estimate="predictive"),
    GaussianClassifier("diagonal", estimate="predictive"),
    GaussianClassifier("spherical", estimate="predictive"),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis("lsqr", shrinkage=0.2),
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(reg_param=0.1),
]
FROM_ROWS = [
    LinearDiscriminantAnalysis("lsqr", shrinkage="auto"),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
]


# --- scikit-learn's checks and the contracts ------------------------------------------------------


@pytest.mark.filterwarnings("ignore::novum.bayes.gaussian_covariance.SingularCovarianceWarning")
@parametrize_with_checks([*MODELS, *FROM_ROWS], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("model", [*MODELS, *FROM_ROWS], ids=repr)
def test_contract(model: Any, check: Check) -> None:
    check(Case(model, *normal_classes(3, 3, 50)))


@pytest.mark.parametrize("check", statistics_checks(), ids=check_name)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_contract_of_sums(model: Any, check: Check) -> None:
    check(Case(model, *normal_classes(3, 3, 50)))


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_contract_with_missing_cells(covariance: str, check: Check) -> None:
    X, y = normal_classes(3, 2, 30)
    check(Case(GaussianClassifier(covariance, tol=1e-12), with_holes(X, 0.15), y))


# --- Prediction -----------------------------------------------------------------------------------


def test_posteriors_are_bayes_rule_with_the_class_densities() -> None:
    X, y = normal_classes(3, 3, 40)
    for model in MODELS:
        model = model.fit(X, y)
        joint = np.exp(model.log_likelihood(X)) * model.class_prior_
        expected = joint / joint.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), expected, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X), model.classes_[expected.argmax(axis=1)])


def test_log_posteriors_survive_where_probabilities_underflow() -> None:
    X, y = normal_classes(2, 2, 50)
    found = GaussianClassifier("tied").fit(X, y).predict_log_proba([[4e3, 4e3]])
    assert np.isfinite(found).all()
    assert found.min() < -800


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_a_row_without_any_cell_has_the_prior(covariance: str) -> None:
    X, y = normal_classes(3, 2, 20)
    prior = [0.2, 0.3, 0.5]
    model = GaussianClassifier(covariance, class_prior=prior).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(np.full((1, 2), np.nan)), [prior], rtol=1e-12)
    assert model.predict(np.full((1, 2), np.nan)).tolist() == [2]


def test_a_likely_class_without_prior_hides_no_other() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(center, size=(30, 1)) for center in (0.0, 60.0, -45.0)])
    y = np.repeat(["far", "near", "third"], 30)
    model = GaussianClassifier(class_prior=[0.5, 0.0, 0.5]).fit(X, y)
    logs = model.log_likelihood([[61.0]])[0]
    ratio = model.log_likelihood_ratio([[61.0]], positive="far")
    np.testing.assert_allclose(ratio, [logs[0] - logs[2]], rtol=1e-12)
    certain = GaussianClassifier(class_prior=[1.0, 0.0, 0.0]).fit(X, y)
    against = certain.log_likelihood_ratio([[61.0]], positive="far")
    np.testing.assert_allclose(against, [logs[0] - logs[1] - np.log(0.5)], rtol=1e-12)


def test_likelihood_ratios_of_two_classes_of_a_pair_and_against_the_rest() -> None:
    X, y = normal_classes(3, 2, 30)
    model = GaussianClassifier(class_prior=[0.5, 0.2, 0.3]).fit(X, y)
    logs = model.log_likelihood(X)
    np.testing.assert_allclose(
        model.log_likelihood_ratio(X, positive=2, negative=0), logs[:, 2] - logs[:, 0]
    )
    rest = np.log((0.5 * np.exp(logs[:, 0]) + 0.2 * np.exp(logs[:, 1])) / 0.7)
    np.testing.assert_allclose(model.log_likelihood_ratio(X, 2), logs[:, 2] - rest, rtol=1e-9)
    with pytest.raises(InputError, match="which is positive"):
        model.log_likelihood_ratio(X)
    with pytest.raises(InputError, match="'x' is not one of the classes"):
        model.log_likelihood_ratio(X, "x")
    pair = GaussianClassifier().fit(X[y < 2], y[y < 2])
    logs = pair.log_likelihood(X)
    np.testing.assert_allclose(pair.log_likelihood_ratio(X), logs[:, 1] - logs[:, 0])


def test_another_working_point_moves_priors_and_costs() -> None:
    X, y = normal_classes(2, 2, 50)
    model = GaussianClassifier().fit(X, y)
    point = WorkingPoint.binary(prior=0.9, cost_fn=5, cost_fp=1)
    joint = np.exp(model.log_likelihood(X)) * [0.1, 0.9]
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.at(point).predict_proba(X), expected, atol=1e-10)
    ratio = model.log_likelihood_ratio(X)
    np.testing.assert_array_equal(model.at(point).predict(X), (ratio > point.threshold).astype(int))


# --- Streams, files and missing cells -------------------------------------------------------------


def chunks_of(X: Floats, y: Array) -> list[tuple[Floats, Array]]:
    return [(X[rows], y[rows]) for rows in np.array_split(np.arange(len(y)), 4)]


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_streams_with_missing_cells_equal_the_fit_in_memory(covariance: str) -> None:
    X, y = normal_classes(3, 3, 40)
    X = with_holes(X, 0.2)
    expected = GaussianClassifier(covariance).fit(X, y)
    for chunks in (chunks_of(X, y), lambda: iter(chunks_of(X, y))):
        found = GaussianClassifier(covariance).fit_stream(chunks)
        np.testing.assert_allclose(found.covariances_, expected.covariances_, rtol=1e-9)
        np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-10)
        assert found.certificate_.converged
        assert not hasattr(found, "statistics_")


def test_a_stream_that_cannot_be_read_again_is_refused_with_the_remedy() -> None:
    X, y = normal_classes(2, 2, 40)
    chunks = iter(chunks_of(with_holes(X, 0.2), y))
    with pytest.raises(InputError, match="callable that returns a fresh iterator"):
        GaussianClassifier().fit_stream(chunks)


def test_chunks_that_change_between_passes_are_noticed() -> None:
    X, y = normal_classes(2, 2, 40)
    X = with_holes(X, 0.2)
    passes = iter([0, 0, 5, 5, 5])

    def chunks() -> list[tuple[Floats, Array]]:
        return chunks_of(X, y + next(passes))

    with pytest.raises(InputError, match="did not occur in the first pass"):
        GaussianClassifier().fit_stream(chunks)


def test_files_with_missing_cells_equal_the_fit_in_memory(tmp_path: Path) -> None:
    X, y = normal_classes(2, 3, 60)
    frame = pd.DataFrame(with_holes(X, 0.2), columns=["a", "b", "c"])
    expected = GaussianClassifier().fit(frame, y)
    frame.assign(target=y).to_csv(tmp_path / "table.csv", index=False)
    found = GaussianClassifier().fit_file(tmp_path / "table.csv", target="target", chunk_rows=50)
    np.testing.assert_allclose(found.covariances_, expected.covariances_, rtol=1e-9)
    assert found.feature_names_in_.tolist() == ["a", "b", "c"]


def test_declared_classes_without_rows_are_never_predicted() -> None:
    X, y = normal_classes(2, 2, 30)
    for points in (X, with_holes(X, 0.1)):
        model = GaussianClassifier().fit_stream([(points, y)], classes=[0, 1, 7])
        assert model.classes_.tolist() == [0, 1, 7]
        assert model.class_count_.tolist() == [30, 30, 0]
        assert (model.predict_proba(X)[:, 2] == 0).all()
        assert np.isneginf(model.log_likelihood(X)[:, 2]).all()
        with pytest.raises(InputError, match="no rows to learn a law from"):
            model.sample(3, label=7)
    with pytest.raises(InputError, match=r"Class 7 has prior 0\.2 but no rows"):
        GaussianClassifier(class_prior=[0.4, 0.4, 0.2]).fit_stream([(X, y)], classes=[0, 1, 7])


def test_classes_can_be_declared_before_their_rows_come() -> None:
    X, y = normal_classes(3, 2, 20)
    model = GaussianClassifier().partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    assert model.class_count_.tolist() == [20, 20, 0]
    model.partial_fit(X[y == 2], y[y == 2])
    expected = GaussianClassifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    with pytest.raises(NotAdditiveError, match="without keeping sums"):
        GaussianClassifier().fit(with_holes(X, 0.1), y).partial_fit(X, y)


def test_a_class_of_weight_zero_is_absent() -> None:
    X, y = normal_classes(3, 2, 20)
    model = GaussianClassifier().fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_a_column_that_is_missing_everywhere_has_no_influence(covariance: str) -> None:
    X, y = normal_classes(2, 2, 40)
    plain = GaussianClassifier(covariance).fit(X, y)
    wide = np.column_stack([X, np.full(len(X), np.nan)])
    with pytest.warns(AbsentColumnWarning, match=r"no present cell \('x2'\)"):
        model = GaussianClassifier(covariance).fit(wide, y)
    # EM stops when a step gains 1e-9 per row; with nothing to find that is at once.
    np.testing.assert_allclose(model.predict_proba(wide), plain.predict_proba(X), atol=1e-8)


def test_a_column_that_is_missing_in_one_class_is_reported() -> None:
    X, y = normal_classes(2, 2, 40)
    X[y == 1, 0] = np.nan
    with pytest.warns(AbsentColumnWarning, match="column 'x0' has no present cell in class 1"):
        model = GaussianClassifier("diagonal").fit(X, y)
    assert model.means_[1, 0] == pytest.approx(np.nanmean(X[:, 0]))


# --- Sampling -------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimate", ["maximum_likelihood", "predictive"])
@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_samples_have_the_moments_of_the_laws(covariance: str, estimate: str) -> None:
    X, y = normal_classes(2, 2, 40)
    model = GaussianClassifier(covariance, estimate=estimate, class_prior=[0.25, 0.75]).fit(X, y)
    n = 40_000
    drawn, labels = model.sample(n, random_state=0)
    # Four standard errors of a share, and of a mean.
    assert abs((labels == 1).mean() - 0.75) < 4 * np.sqrt(0.25 * 0.75 / n)
    law = model.densities_
    for k in range(2):
        rows = drawn[labels == k]
        deviation = rows.std(axis=0)
        assert (
            np.abs(rows.mean(axis=0) - law.location[k]) < 4 * deviation / len(rows) ** 0.5
        ).all()
        expected = model._matrices()[k]
        if estimate == "predictive":
            expected = model.covariances_[k]
            expected = np.diag(expected) if expected.ndim == 1 else expected
        size = np.sqrt(np.outer(np.diagonal(expected), np.diagonal(expected)))
        # Fourth moments of Student laws with 40 degrees of freedom are near those of normals.
        assert (np.abs(np.cov(rows.T) - expected) < 5 * size * np.sqrt(2.3 / len(rows))).all()
    assert (model.sample(5, label=1, random_state=1)[1] == 1).all()
    np.testing.assert_array_equal(
        model.sample(5, random_state=3)[0], model.sample(5, random_state=3)[0]
    )


# --- Files and nasty input ------------------------------------------------------------------------


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2], MODELS[6], MODELS[8], MODELS[9]], ids=repr)
def test_model_files_keep_everything(model: Any, tmp_path: Path) -> None:
    X, y = normal_classes(3, 2, 20)
    fitted = model.fit(X, np.array(["a", "b", "c"])[y])
    save(fitted, tmp_path / "model.novum")
    restored = load(tmp_path / "model.novum")
    assert restored.statistics_.isclose(fitted.statistics_, rtol=0.0)
    assert restored.predict_proba(X).tobytes() == fitted.predict_proba(X).tobytes()
    restored.partial_fit(X, np.array(["a", "b", "c"])[y])
    assert restored.class_count_.tolist() == [40, 40, 40]


def test_damaged_laws_are_refused() -> None:
    X, y = normal_classes(2, 2, 20)
    model = GaussianClassifier().fit(X, y)
    for damage in ("matrices", "location", "class_prior_"):
        broken = GaussianClassifier().fit(X, y)
        if damage == "class_prior_":
            broken.class_prior_ = np.array([0.5, 0.9])
        else:
            object.__setattr__(
                broken.densities_, damage, np.zeros_like(getattr(model.densities_, damage))[:1]
            )
        with pytest.raises(ModelFileError):
            broken._check_state()


def test_unfitted_models_say_so() -> None:
    for method in ("predict", "log_likelihood", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(GaussianClassifier(), method)([[1.0]])
    with pytest.raises(NotFittedError):
        GaussianClassifier().sample(1)


def test_a_row_beyond_all_squares_is_refused_and_not_guessed() -> None:
    X, y = normal_classes(3, 2, 40)
    for covariance in ("full", "diagonal", "spherical"):
        model = GaussianClassifier(covariance).fit(X, y)
        for method in (model.predict, model.predict_proba):
            with pytest.raises(InputError, match="Row 1 lies so far from all classes"):
                method([[0.0, 0.0], [1e200, 0.0]])
    many = np.vstack([X, [[1e200, 0.0]]])
    with pytest.raises(InputError, match="Row 120 lies so far"):
        GaussianClassifier().fit(X, y).predict(many)


def test_categories_are_refused_by_name() -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0], "color": ["red", "blue"]})
    with pytest.raises(InputError, match="'color'"):
        GaussianClassifier().fit(frame, [0, 1])


def test_a_file_with_categories_is_refused_by_name(tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0], "color": ["red", "blue"], "y": [0, 1]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match="column 'color' holds categories"):
        GaussianClassifier().fit_file(tmp_path / "t.csv", target="y")
