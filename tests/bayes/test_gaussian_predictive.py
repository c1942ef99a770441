"""Predictive laws: the chain rule with the evidence, quadrature over the posterior, mixtures."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from novum.bayes.gaussian import GaussianClassifier
from novum.bayes.gaussian_covariance import STRUCTURES
from novum.bayes.gaussian_predictive import (
    WeakPrior,
    compare_structures,
    log_evidence,
    predictive_densities,
)
from novum.bayes.gaussian_statistics import GaussianStatistics
from novum.core.errors import InputError
from novum.numerics import Floats
from tests.bayes.normal_classes import normal_classes, with_holes

PRIOR = WeakPrior(0.5, 2.0, np.array([0.3, -0.2]), np.array([[2.0, 0.4], [0.4, 1.0]]))


def sums(X: Floats, y: object, covariance: str = "full") -> GaussianStatistics:
    found: GaussianStatistics = GaussianClassifier(covariance).statistics(X, y)
    return found


@pytest.mark.parametrize("structure", STRUCTURES)
def test_evidence_is_the_product_of_predictions_one_row_after_the_other(structure: str) -> None:
    X, y = normal_classes(2, 2, 4)
    seen = sums(X[:1], y[:1]).zero().with_classes([0, 1])
    total = 0.0
    for row, label in zip(X, y, strict=True):
        law = predictive_densities(seen, structure, PRIOR)
        total += law.log_density(row[None])[0, label]
        seen = seen + sums(row[None], [label])
    assert log_evidence(seen, structure, PRIOR) == pytest.approx(total, rel=1e-11)


@pytest.mark.parametrize("structure", ["diagonal", "spherical"])
def test_evidence_with_missing_cells_is_the_same_product(structure: str) -> None:
    X, y = normal_classes(2, 2, 6)
    X = with_holes(X, 0.3)
    seen = sums(X[:1], y[:1], structure).zero().with_classes([0, 1])
    total = 0.0
    for row, label in zip(X, y, strict=True):
        law = predictive_densities(seen, structure, PRIOR)
        total += law.log_density(row[None])[0, label]
        seen = seen + sums(row[None], [label], structure)
    assert log_evidence(seen, structure, PRIOR) == pytest.approx(total, rel=1e-11)


def test_one_column_is_the_integral_over_mean_and_variance() -> None:
    """All structures agree in one column, with quadrature over the posterior."""
    x = np.array([[0.4], [1.1], [-0.3]])
    prior = WeakPrior(0.5, 2.0, np.array([0.2]), np.array([1.5]))
    # Precision ~ Gamma(v0/2, A0/2) with v0 = 2 + 2 and A0 = 2 * 1.5; mean given it normal.
    shape, rate = 2.0, 1.5
    # The rule of equal steps is exact to rounding for analytic functions that vanish at the ends.
    log_precision, standard = np.linspace(-16, 5, 1500)[:, None], np.linspace(-12, 12, 500)
    precision = np.exp(log_precision)
    mean = 0.2 + standard / np.sqrt(0.5 * precision)
    weight = stats.gamma(shape, scale=1 / rate).pdf(precision) * precision * (21 / 1499)
    weight = weight * stats.norm.pdf(standard) * (24 / 499)

    def integral(points: Floats) -> float:
        density = stats.norm(mean, 1 / np.sqrt(precision)).pdf(points.reshape(-1, 1, 1))
        return float((weight * density.prod(axis=0)).sum())

    evidence = integral(x)
    predicted = integral(np.vstack([x, [[0.8]]])) / evidence
    for structure in STRUCTURES:
        statistics = sums(x, [0, 0, 0])
        found = np.exp(log_evidence(statistics, structure, prior))
        assert found == pytest.approx(evidence, rel=1e-8)
        law = predictive_densities(statistics, structure, prior)
        found = np.exp(law.log_density(np.array([[0.8]])))[0, 0]
        assert found == pytest.approx(predicted, rel=1e-8)


def test_full_predictive_is_the_textbook_formula() -> None:
    X, _ = normal_classes(1, 2, 7)
    k0, v0 = 0.5, 2.0 + 2 + 1
    A0 = 2.0 * np.asarray(PRIOR.covariance)
    m, S, n = X.mean(axis=0), np.cov(X.T, bias=True) * len(X), len(X)
    k, v = k0 + n, v0 + n
    away = m - PRIOR.mean
    A = A0 + S + k0 * n / k * np.outer(away, away)
    df = v - 2 + 1
    location = (k0 * np.asarray(PRIOR.mean) + n * m) / k
    law = stats.multivariate_t(location, A * (k + 1) / (k * df), df=df)
    points = np.random.default_rng(0).normal(size=(5, 2))
    found = predictive_densities(sums(X, [0] * n), "full", PRIOR).log_density(points)[:, 0]
    np.testing.assert_allclose(found, law.logpdf(points), rtol=1e-11)


def test_a_student_law_is_the_mixture_over_posterior_draws() -> None:
    X, _ = normal_classes(1, 2, 5)
    statistics = sums(X, [0] * 5)
    k, v = 0.5 + 5, 5.0 + 5
    m = X.mean(axis=0)
    away = m - PRIOR.mean
    A = 2.0 * np.asarray(PRIOR.covariance) + np.cov(X.T, bias=True) * 5
    A = A + 0.5 * 5 / k * np.outer(away, away)
    rng = np.random.default_rng(0)
    C = stats.invwishart(df=v, scale=A).rvs(20_000, random_state=rng)
    location = (0.5 * np.asarray(PRIOR.mean) + 5 * m) / k
    means = location + np.einsum(
        "nij,nj->ni", np.linalg.cholesky(C / k), rng.normal(size=(20_000, 2))
    )
    point = np.array([0.5, 0.5])
    u = point - means
    q = np.einsum("ni,ni->n", u, np.linalg.solve(C, u[:, :, None])[:, :, 0])
    values = np.exp(-0.5 * q) / (2 * np.pi * np.sqrt(np.linalg.det(C)))
    found = np.exp(predictive_densities(statistics, "full", PRIOR).log_density(point[None]))[0, 0]
    # Four standard errors of the mean over the draws.
    assert abs(values.mean() - found) < 4 * values.std() / np.sqrt(len(values))


def test_few_rows_are_uncertain_and_many_are_the_likely_law() -> None:
    X, y = normal_classes(2, 3, 4)
    model = GaussianClassifier(estimate="predictive").fit(X, y)
    likely = GaussianClassifier(floor=1e-6).fit(X, y)
    points = np.random.default_rng(1).normal(scale=5, size=(20, 3))
    odds, too_sure = (np.abs(m.log_likelihood_ratio(points)) for m in (model, likely))
    assert (odds < too_sure / 2).all()
    X, y = normal_classes(2, 3, 20_000)
    a = GaussianClassifier(estimate="predictive").fit(X, y).predict_proba(X[:100])
    b = GaussianClassifier().fit(X, y).predict_proba(X[:100])
    np.testing.assert_allclose(a, b, atol=2e-3)


def test_a_class_without_rows_has_the_law_of_the_prior() -> None:
    X, y = normal_classes(2, 2, 10)
    model = GaussianClassifier(estimate="predictive", class_prior=[0.3, 0.3, 0.4])
    model.fit_stream([(X, y)], classes=[0, 1, 2])
    assert np.isfinite(model.log_likelihood(X)).all()
    # Far from all rows the widest law wins.
    assert model.predict([[30.0, -30.0]]).tolist() == [2]


# --- Choice of the structure ----------------------------------------------------------------------


@pytest.mark.parametrize("structure", STRUCTURES)
def test_evidence_finds_the_structure_that_made_the_rows(structure: str) -> None:
    rng = np.random.default_rng(0)
    root = np.array([[1.0, 0.9], [0.0, 0.6]])
    shapes = {
        "full": [root, np.array([[0.5, -1.0], [0.0, 2.0]])],
        "tied": [root, root],
        "diagonal": [np.diag([1.0, 3.0]), np.diag([2.0, 0.5])],
        "spherical": [np.eye(2), 2 * np.eye(2)],
    }[structure]
    X = np.vstack([3 * k + rng.normal(size=(200, 2)) @ A for k, A in enumerate(shapes)])
    y = np.repeat([0, 1], 200)
    choice = compare_structures(sums(X, y))
    assert choice.best == structure
    assert choice.probability.sum() == pytest.approx(1)
    model = GaussianClassifier("evidence").fit(X, y)
    assert model.covariance_structure_ == structure
    assert model.log_evidence_ == pytest.approx(choice.log_evidence.max())
    same = GaussianClassifier(structure).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), same.predict_proba(X), atol=1e-12)


def test_evidence_is_absent_after_em() -> None:
    X, y = normal_classes(2, 2, 30)
    model = GaussianClassifier().fit(with_holes(X, 0.1), y)
    assert not hasattr(model, "log_evidence_")
    with pytest.raises(AttributeError, match="complete rows"):
        _ = model.log_evidence_
    assert np.isfinite(GaussianClassifier("diagonal").fit(with_holes(X, 0.1), y).log_evidence_)


# --- The prior as a value -------------------------------------------------------------------------


def test_priors_are_values() -> None:
    assert WeakPrior(mean=[1.0, 2.0]) == WeakPrior(mean=np.array([1.0, 2.0]))  # type: ignore[arg-type]
    assert hash(WeakPrior()) == hash(WeakPrior())
    assert WeakPrior(mean_rows=2.0) != WeakPrior()
    assert "mean=[1.0]" in repr(WeakPrior(mean=[1.0]))  # type: ignore[arg-type]
    variances = WeakPrior(mean=np.zeros(2), covariance=np.array([2.0, 3.0]))
    matrix = WeakPrior(mean=np.zeros(2), covariance=np.diag([2.0, 3.0]))
    X, y = normal_classes(2, 2, 5)
    for structure in STRUCTURES:
        a, b = (log_evidence(sums(X, y), structure, prior) for prior in (variances, matrix))
        assert a == b


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mean_rows": 0.0}, "mean_rows is a number of rows above 0"),
        ({"covariance_rows": np.inf}, "covariance_rows is a number"),
        ({"mean": [np.nan]}, "mean of a prior is finite"),
    ],
)
def test_priors_that_make_no_sense_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        WeakPrior(**wrong)  # type: ignore[arg-type]


def test_a_prior_of_another_width_is_refused() -> None:
    X, y = normal_classes(2, 3, 5)
    prior = WeakPrior(mean=np.zeros(2))
    with pytest.raises(InputError, match="A prior for 3 columns"):
        GaussianClassifier(estimate="predictive", parameter_prior=prior).fit(X, y)
