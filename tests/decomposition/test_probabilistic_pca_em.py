"""EM steps: against the posterior and regressions written out row by row; monotone; bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Sample, Schema
from novum.decomposition.low_rank_normal import NOISE_FLOOR, LowRankNormal
from novum.decomposition.probabilistic_pca_em import (
    ColumnSums,
    CompleteRows,
    MissingCells,
    log_likelihood,
    principal,
)
from novum.numerics import Floats, moments_of
from tests.decomposition.component_tables import low_rank_table, with_holes


def sample_of(X: Floats, weight: Floats | None = None) -> Sample:
    n, d = X.shape
    return Sample(Schema.of_array(d), X, np.empty((n, 0), np.int32), weight=weight)


def problem_of(X: Floats, q: int) -> tuple[MissingCells, Sample]:
    sample = sample_of(X)
    return MissingCells(ColumnSums.of(sample), q), sample


def step_by_definition(law: LowRankNormal, X: Floats) -> LowRankNormal:
    """One EM step, row by row and column by column."""
    n, d = X.shape
    q, s2, W, m = law.n_latent, law.noise_variance, law.loadings, law.mean
    means, seconds = [], []
    for row in X:
        o = ~np.isnan(row)
        M = W[o].T @ W[o] + s2 * np.eye(q)
        z = np.linalg.solve(M, W[o].T @ (row[o] - m[o]))
        means.append(z)
        seconds.append(s2 * np.linalg.inv(M) + np.outer(z, z))
    new, mean, squares, cells = np.zeros((d, q)), np.zeros(d), 0.0, 0
    for j in range(d):
        A, b = np.zeros((q + 1, q + 1)), np.zeros(q + 1)
        rows = [i for i in range(n) if not np.isnan(X[i, j])]
        for i in rows:
            A += np.block([[seconds[i], means[i][:, None]], [means[i][None, :], np.ones((1, 1))]])
            b += X[i, j] * np.append(means[i], 1.0)
        theta = np.linalg.solve(A, b)
        new[j], mean[j] = theta[:q], theta[q]
        for i in rows:
            squares += (X[i, j] - mean[j]) ** 2 - 2 * (X[i, j] - mean[j]) * new[j] @ means[i]
            squares += new[j] @ seconds[i] @ new[j]
        cells += len(rows)
    return LowRankNormal(mean, new, squares / cells)


@given(st.integers(0, 300))
@settings(max_examples=10)
def test_a_step_is_the_definition(seed: int) -> None:
    X = with_holes(low_rank_table(25, 4, 2, seed=seed), 0.25, seed)
    problem, sample = problem_of(X, 2)
    law = problem.start(np.random.default_rng(seed))
    found = problem.update(law, problem.step(law, sample))
    expected = step_by_definition(law, X)
    np.testing.assert_allclose(found.loadings, expected.loadings, atol=1e-9)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-9)
    assert found.noise_variance == pytest.approx(expected.noise_variance, rel=1e-8)


@given(st.integers(0, 300), st.integers(0, 2))
@settings(max_examples=10)
def test_no_step_lowers_the_likelihood(seed: int, q: int) -> None:
    X = with_holes(low_rank_table(30, 4, 2, seed=seed), 0.3, seed)
    problem, sample = problem_of(X, q)
    law = problem.start(np.random.default_rng(seed))
    before = -np.inf
    for _ in range(15):
        sums = problem.step(law, sample)
        value = problem.objective(law, sums)
        assert value == pytest.approx(law.log_density_observed(X).sum(), rel=1e-10)
        assert value >= before - 1e-9 * abs(value)
        before, law = value, problem.update(law, sums)


def test_sums_of_parts_are_the_sum() -> None:
    X = with_holes(low_rank_table(30, 4, 2), 0.3)
    problem, sample = problem_of(X, 2)
    law = problem.start(np.random.default_rng(0))
    whole = problem.step(law, sample)
    parts = problem.step(law, sample_of(X[:11])) + problem.step(law, sample_of(X[11:]))
    for name in ("design", "targets", "squares", "log_likelihood"):
        np.testing.assert_allclose(
            getattr(parts, name), getattr(whole, name), rtol=1e-10, atol=1e-12
        )


def test_complete_rows_take_the_same_step_from_their_moments() -> None:
    X = low_rank_table(40, 5, 2)
    moments = moments_of(X)
    complete = CompleteRows(moments, 2)
    law = complete.start(np.random.default_rng(0))
    found = complete.update(law, complete.step(law, moments))
    expected = step_by_definition(law, X)
    # The mean of complete rows is known from the beginning and does not move.
    np.testing.assert_allclose(found.mean, X.mean(axis=0), atol=1e-12)
    centered = LowRankNormal(X.mean(axis=0), law.loadings, law.noise_variance)
    again = complete.update(centered, moments)
    np.testing.assert_allclose(again.loadings, found.loadings, rtol=1e-12)
    assert log_likelihood(found, moments) > log_likelihood(law, moments)
    assert log_likelihood(expected, moments) > log_likelihood(law, moments)


def test_the_bound_of_complete_rows_is_the_best_there_is() -> None:
    X = low_rank_table(40, 5, 2)
    moments = moments_of(X)
    problem = CompleteRows(moments, 2)
    rng = np.random.default_rng(0)
    for _ in range(5):
        law = problem.start(rng)
        assert problem.bound(law, moments) >= problem.objective(law, moments)
    best = LowRankNormal.from_statistics(moments, 2)
    assert problem.bound(best, moments) == pytest.approx(log_likelihood(best, moments), rel=1e-12)
    assert problem.residual(best, moments) < 1e-10


def test_vectors_and_back() -> None:
    problem, _ = problem_of(with_holes(low_rank_table(30, 4, 2), 0.2), 2)
    law = problem.start(np.random.default_rng(0))
    back = problem.from_vector(problem.to_vector(law))
    assert back is not None
    np.testing.assert_allclose(back.loadings, law.loadings, rtol=1e-12)
    np.testing.assert_allclose(back.mean, law.mean, rtol=1e-12)
    assert back.noise_variance == pytest.approx(law.noise_variance)
    vector = problem.to_vector(law)
    vector[-1] = -1e9
    lowest = problem.from_vector(vector)
    assert lowest is not None
    assert lowest.noise_variance == pytest.approx(NOISE_FLOOR * problem.variance)
    assert problem.from_vector(np.full_like(vector, np.nan)) is None


def test_principal_turns_loadings_and_keeps_the_law() -> None:
    rng = np.random.default_rng(0)
    law = LowRankNormal(np.zeros(5), rng.normal(size=(5, 3)), 0.5)
    turned = principal(law)
    np.testing.assert_allclose(turned.covariance, law.covariance, atol=1e-12)
    products = turned.loadings.T @ turned.loadings
    np.testing.assert_allclose(products, np.diag(np.diagonal(products)), atol=1e-10)
    assert (np.diff(np.diagonal(products)) <= 0).all()


def test_columns_without_cells_or_spread_are_refused() -> None:
    X = low_rank_table(10, 3, 1)
    X[:, 1] = np.nan
    with pytest.raises(InputError, match="Column 'x1' has no present cell"):
        problem_of(X, 1)
    with pytest.raises(InputError, match="there is no variance"):
        problem_of(np.ones((4, 2)), 1)
