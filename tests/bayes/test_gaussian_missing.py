"""EM: the gradient vanishes, the likelihood never falls, brute force finds nothing better."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import optimize, stats

from novum.bayes import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from novum.bayes.gaussian import GaussianClassifier
from novum.bayes.gaussian_covariance import SingularCovarianceWarning
from novum.bayes.gaussian_missing import MissingMoments
from novum.core.learners import ConvergenceWarning, Verdict
from novum.numerics import Array, Floats
from tests.bayes.normal_classes import normal_classes, with_holes


def observed_log_likelihood(X: Floats, y: Array, means: Floats, matrices: Floats) -> float:
    """Row by row, by scipy."""
    total = 0.0
    for row, k in zip(X, y, strict=True):
        known = ~np.isnan(row)
        if known.any():
            square = matrices[k][np.ix_(known, known)]
            total += stats.multivariate_normal(means[k][known], square).logpdf(row[known])
    return total


def table() -> tuple[Floats, Array]:
    X, y = normal_classes(2, 2, 25)
    return with_holes(X, 0.25), y


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_the_certificate_holds_the_likelihood_of_the_present_cells(covariance: str) -> None:
    X, y = table()
    model = GaussianClassifier(covariance).fit(X, y)
    matrices = np.broadcast_to(model.covariances_, (2, 2, 2))
    value = observed_log_likelihood(X, y, model.means_, matrices)
    assert model.certificate_.value == pytest.approx(value, abs=1e-6)
    assert model.certificate_.verdict is Verdict.LOCAL
    trace = np.array(model.certificate_.trace)
    assert (np.diff(trace) >= -1e-9).all()
    assert len(trace) > 3
    rows = model.log_likelihood(X)[np.arange(len(y)), y]
    assert rows.sum() == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_no_direction_is_likelier(covariance: str) -> None:
    """The numeric gradient of the likelihood at the result is zero."""
    X, y = table()
    model = GaussianClassifier(covariance, tol=1e-14, max_iter=5000).fit(X, y)
    shape = model.covariances_.shape

    def value(parameters: Floats) -> float:
        means, roots = parameters[:4].reshape(2, 2), parameters[4:].reshape(shape)
        matrices = roots @ np.swapaxes(roots, -1, -2)
        return observed_log_likelihood(X, y, means, np.broadcast_to(matrices, (2, 2, 2)))

    found = np.concatenate([model.means_.ravel(), np.linalg.cholesky(model.covariances_).ravel()])
    gradient = optimize.approx_fprime(found, value, 1e-6)
    # Forward differences of step 1e-6 are off by that times a curvature of about a hundred.
    assert np.abs(gradient).max() < 2e-3


def test_a_direct_search_finds_the_same_maximum() -> None:
    X, y = table()
    X, y = X[y == 0], y[y == 0]
    model = GaussianClassifier(tol=1e-14, max_iter=5000).fit(X, y)

    def loss(parameters: Floats) -> float:
        a, b, c = parameters[2:]
        root = np.array([[np.exp(a), 0.0], [b, np.exp(c)]])
        return -observed_log_likelihood(X, y, parameters[None, :2], (root @ root.T)[None])

    best = optimize.minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-7})
    assert model.certificate_.value == pytest.approx(-best.fun, abs=1e-8)
    np.testing.assert_allclose(model.means_[0], best.x[:2], atol=1e-4)


def test_nothing_missing_is_the_closed_form() -> None:
    X, y = normal_classes(3, 2, 20)
    holes = np.vstack([X, np.full((3, 2), np.nan)])
    labels = np.concatenate([y, [0, 1, 2]])
    plain = GaussianClassifier().fit(X, y)
    model = GaussianClassifier(tol=1e-14).fit(holes, labels)
    np.testing.assert_allclose(model.means_, plain.means_, rtol=1e-12)
    np.testing.assert_allclose(model.covariances_, plain.covariances_, rtol=1e-10)
    assert model.class_count_.tolist() == [21, 21, 21]


def test_a_monotone_pattern_has_a_closed_form() -> None:
    """First column complete, second partly missing: regression on the complete rows."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    z = 2 * x + 1 + rng.normal(size=80)
    X = np.column_stack([x, np.where(np.arange(80) % 3 == 0, np.nan, z)])
    model = GaussianClassifier(tol=1e-15, max_iter=10_000).fit(X, np.zeros(80, int))
    seen = ~np.isnan(X[:, 1])
    slope, intercept = np.polyfit(x[seen], z[seen], 1)
    rest = np.mean((z[seen] - intercept - slope * x[seen]) ** 2)
    mean = [x.mean(), intercept + slope * x.mean()]
    covariance = [[x.var(), slope * x.var()], [slope * x.var(), slope**2 * x.var() + rest]]
    np.testing.assert_allclose(model.means_[0], mean, rtol=1e-6)
    np.testing.assert_allclose(model.covariances_[0], covariance, rtol=1e-6)


def test_weights_are_repetitions() -> None:
    X, y = table()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    a = GaussianClassifier(tol=1e-13).fit(X, y, weight.astype(float))
    b = GaussianClassifier(tol=1e-13).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(a.covariances_, b.covariances_, rtol=1e-9)


def test_few_rows_stay_above_the_floor_and_monotone() -> None:
    rng = np.random.default_rng(0)
    X, y = with_holes(rng.normal(size=(9, 4)), 0.2), np.arange(9) % 3
    with pytest.warns(SingularCovarianceWarning):
        model = GaussianClassifier(floor=1e-3, tol=1e-3).fit(X, y)
    assert (np.diff(model.certificate_.trace) >= -1e-9).all()
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_an_early_stop_is_reported() -> None:
    X, y = table()
    with pytest.warns(ConvergenceWarning, match="stopped early after 2 iterations"):
        model = GaussianClassifier(max_iter=2).fit(X, y)
    assert not model.certificate_.converged
    assert model.certificate_.residual is not None
    assert model.certificate_.residual > 1e-6


@pytest.mark.parametrize(
    "model",
    [
        GaussianClassifier("evidence"),
        GaussianClassifier(estimate="predictive"),
        GaussianClassifier("tied", estimate="predictive"),
    ],
)
def test_predictive_laws_and_choices_take_the_expected_moments(model: GaussianClassifier) -> None:
    X, y = normal_classes(2, 2, 200)
    plain = model.fit(X, y).predict_proba(X)
    found = model.fit(with_holes(X, 0.02), y).predict_proba(X)
    assert np.abs(found - plain).max() < 0.05
    assert not hasattr(model, "statistics_")


def test_chunks_on_a_cluster_are_read_in_every_pass() -> None:
    dask = pytest.importorskip("dask")
    X, y = table()
    chunks = [dask.delayed((X[i::3], y[i::3])) for i in range(3)]
    found = GaussianClassifier(tol=1e-6).fit_stream(chunks)
    expected = GaussianClassifier(tol=1e-6).fit(X, y)
    np.testing.assert_allclose(found.covariances_, expected.covariances_, rtol=1e-9)


def test_starting_values_are_those_of_the_columns() -> None:
    X, y = table()
    columns = GaussianClassifier("diagonal").statistics(X, y)
    start = MissingMoments(columns, "tied", 1e-9).start(np.random.default_rng(0))
    assert start.matrices.shape == (1, 2, 2)
    within = np.zeros(2)
    for k, j in itertools.product((0, 1), (0, 1)):
        cells = X[y == k, j]
        within[j] += np.nansum((cells - np.nanmean(cells)) ** 2)
    expected = within / (~np.isnan(X)).sum(axis=0)
    np.testing.assert_allclose(np.diagonal(start.matrices[0]), expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::novum.bayes.gaussian_covariance.AbsentColumnWarning")
@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
        GaussianClassifier(covariance="tied", floor=1e-9),
        GaussianClassifier(estimate="predictive"),
    ],
    ids=str,
)
def test_rows_without_any_cell_count_for_the_prior_alone(model: GaussianClassifier) -> None:
    X, codes = normal_classes(3, 2, 12)
    y = np.where(codes == 0, "first", "other")
    nothing = np.full(X.shape, np.nan)
    shares = [np.mean(y == "first"), np.mean(y != "first")]
    empty = model.fit(nothing, y)
    np.testing.assert_allclose(empty.predict_proba(nothing[:1]), [shares])
    np.testing.assert_allclose(empty.predict_proba(X[:3]), [shares] * 3)
    # A class of empty rows only is there with its prior, and means and spread of the other.
    half = np.where((y == "first")[:, None], np.nan, X)
    probabilities = model.fit(half, y).predict_proba(np.vstack([nothing[:1], X[:3]]))
    np.testing.assert_allclose(probabilities[0], shares)
    assert (probabilities > 0).all()
