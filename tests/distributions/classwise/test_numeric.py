"""Normal and Student's t columns: quadrature, SciPy, and what degenerate columns do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from novum.bayes import StudentTColumn
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics, Reading
from novum.core.errors import ModelFileError
from novum.core.tables import Sample, Schema
from novum.distributions.classwise import numeric as module
from novum.distributions.classwise.numeric import GaussianBlock, StudentTBlock
from novum.numerics import Floats, Integers
from tests.bayes.definitions import log_normal

FLOOR = 1e-9


def sample_of(X: Floats) -> Sample:
    return Sample(Schema.of_array(X.shape[1]), X, np.empty((len(X), 0), np.int32))


def sums_of(X: Floats, y: Integers) -> NaiveBayesStatistics:
    sample = replace(sample_of(X), target=y, classes=np.arange(y.max() + 1))
    return NaiveBayesStatistics.of(sample, Reading())


def fitted(X: Floats, y: Integers) -> GaussianBlock:
    d = X.shape[1]
    return GaussianBlock.estimate(np.arange(d), sums_of(X, y), np.full(d, FLOOR))


def students(X: Floats, y: Integers, *models: StudentTColumn) -> StudentTBlock:
    block: StudentTBlock = StudentTColumn.block(models, np.arange(X.shape[1]), sums_of(X, y))
    return block


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_scores_are_the_definition(
    compiled: bool, offset: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMPILED_FROM_TERMS", 0 if compiled else 2**60)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)) + offset, rng.integers(0, 2, 300)
    X[rng.random(X.shape) < 0.2] = np.nan
    block = fitted(X, y)
    found = block.log_likelihood(sample_of(X))
    parts = block.contributions(sample_of(X))
    np.testing.assert_allclose(found, parts.sum(axis=2), rtol=1e-12, atol=1e-12)
    for i in range(0, 300, 29):
        for k in range(2):
            expected = sum(
                log_normal(
                    None if np.isnan(X[i, j]) else X[i, j] - offset,
                    [None if np.isnan(x) else x - offset for x in X[y == k, j]],
                )
                for j in range(3)
            )
            # The mean is known to half a unit in the last place of the offset: 1e9 eps = 1e-7.
            assert found[i, k] == pytest.approx(expected, rel=1e-9 if offset == 0 else 1e-6)


def test_scores_of_many_rows_in_several_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(1000, 4)), rng.integers(0, 3, 1000)
    block = fitted(X, y)
    expected = block.log_likelihood(sample_of(X))
    monkeypatch.setattr(module, "COMPILED_FROM_TERMS", 0)
    monkeypatch.setattr(module, "_CALL_TERMS", 1)
    np.testing.assert_allclose(block.log_likelihood(sample_of(X)), expected, rtol=1e-12)


def test_a_class_of_one_row_has_the_least_variance_of_its_column() -> None:
    X = np.array([[0.0, 5e-6], [1.0, 6e-6], [7.0, 9e-6]])
    block = fitted(X, np.array([0, 0, 1]))
    np.testing.assert_allclose(block.variance[1], FLOOR * X.var(axis=0), rtol=1e-12)
    np.testing.assert_allclose(block.variance[0], [0.25, 2.5e-13], rtol=1e-12)


def test_a_class_without_cells_takes_the_law_of_all() -> None:
    X = np.array([[1.0], [3.0], [np.nan]])
    block = fitted(X, np.array([0, 0, 1]))
    assert (block.mean.ravel().tolist(), block.variance.ravel().tolist()) == ([2, 2], [1, 1])


def test_columns_without_information_decide_nothing() -> None:
    X = np.array([[np.nan, 4.0, 0.0], [np.nan, 4.0, 0.0]])
    block = fitted(X, np.array([0, 1]))
    found = block.log_likelihood(sample_of(np.array([[3.0, 4.0, 0.0], [-1.0, 5.0, 9.0]])))
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[:, 0], found[:, 1])
    assert np.isnan(block.draw(np.array([0]), np.random.default_rng(0))[0, 0])


# --- Student's t ----------------------------------------------------------------------------------


def predictive_by_quadrature(x: float, cells: Floats, model: StudentTColumn) -> float:
    """Integrates the normal over its mean and precision under the normal-gamma prior."""
    means, logs = np.linspace(-12, 14, 521), np.linspace(-9, 5, 561)
    precision = np.exp(logs)

    def total(extra: bool) -> float:
        # Trapezoids on a grid of both parameters: the integrand is smooth, and gone at the borders.
        grid = np.array([_row(m, precision, cells, x, model, extra) for m in means])
        return float(integrate.trapezoid(integrate.trapezoid(grid * precision, logs), means))

    return total(True) / total(False)


def _row(
    mean: float, precision: Floats, cells: Floats, x: float, model: StudentTColumn, extra: bool
) -> Floats:
    scale = 2 / (model.degrees_of_freedom * model.variance)
    values = stats.gamma.pdf(precision, model.degrees_of_freedom / 2, scale=scale)
    values = values * stats.norm.pdf(mean, model.mean, (model.strength * precision) ** -0.5)
    for cell in [*cells, x] if extra else cells:
        values = values * stats.norm.pdf(cell, mean, precision**-0.5)
    return values


def test_students_t_is_the_posterior_predictive() -> None:
    cells = np.array([0.5, 1.5, 2.5, 0.0, 1.0])
    model = StudentTColumn(strength=2.0, degrees_of_freedom=6.0, mean=0.5, variance=1.5)
    block = students(cells[:, np.newaxis], np.zeros(5, np.int64), model)
    for x in (-1.0, 0.8, 3.0):
        found = block.log_likelihood(sample_of(np.array([[x]])))[0, 0]
        expected = predictive_by_quadrature(x, cells, model)
        assert np.exp(found) == pytest.approx(expected, rel=1e-6)


def test_students_t_is_scipys() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(2, 3, (40, 2)), rng.integers(0, 2, 40)
    models = (StudentTColumn(), StudentTColumn(degrees_of_freedom=3.0))
    block = students(X, y, *models)
    X[5, 0] = np.nan
    found = block.contributions(sample_of(X))
    law = stats.t(block.degrees_of_freedom, block.location, block.scale)
    expected = np.nan_to_num(law.logpdf(X[:, np.newaxis]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(block.log_likelihood(sample_of(X)), expected.sum(axis=2), rtol=1e-12)
    # The prior stands at the mean and variance of all rows.
    far = block.log_likelihood(sample_of(np.array([[1e300, 0.0]])))
    assert np.isfinite(far).all()


def test_students_t_without_cells_says_nothing_unless_the_prior_does() -> None:
    X, y = np.full((2, 1), np.nan), np.array([0, 1])
    silent = students(X, y, StudentTColumn())
    assert silent.log_likelihood(sample_of(np.array([[3.0]]))).tolist() == [[0.0, 0.0]]
    given = students(X, y, StudentTColumn(mean=0.0, variance=1.0))
    found = given.log_likelihood(sample_of(np.array([[3.0]])))[0]
    assert found[0] == found[1] == pytest.approx(stats.t(1, 0, np.sqrt(2)).logpdf(3.0))


def test_damaged_blocks_are_refused() -> None:
    block = GaussianBlock(np.arange(2), np.zeros((2, 2)), np.ones((2, 2)))
    block.check(Schema.of_array(2), 2)
    for damaged in (
        GaussianBlock(np.array([0, 5]), block.mean, block.variance),
        GaussianBlock(block.columns, block.mean, -block.variance),
        GaussianBlock(block.columns, block.mean[:1], block.variance),
        GaussianBlock(block.columns, block.mean * np.nan, block.variance),
    ):
        with pytest.raises(ModelFileError):
            damaged.check(Schema.of_array(2), 2)
