"""What a fitted probabilistic PCA does with rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from novum.core.errors import InputError
from novum.decomposition.latent_projection import free_parameters
from novum.decomposition.probabilistic_pca import ProbabilisticPCA
from tests.decomposition.component_tables import low_rank_table, with_holes


def fitted(q: int = 2) -> ProbabilisticPCA:
    return ProbabilisticPCA(q).fit(low_rank_table(60, 4, 2))


def test_transform_is_the_posterior_mean() -> None:
    model, X = fitted(), low_rank_table(7, 4, 2, seed=1)
    posterior = model.posterior(X)
    np.testing.assert_array_equal(model.transform(X), posterior.mean)
    assert posterior.covariance.shape == (2, 2)
    # Shrunk projections: sqrt(l - s2) / l along each axis.
    above = model.explained_variance_ - model.noise_variance_
    expected = (X - model.mean_) @ model.components_.T * np.sqrt(above) / model.explained_variance_
    np.testing.assert_allclose(posterior.mean, expected, rtol=1e-9)
    assert model.posterior(with_holes(X, 0.3)).covariance.shape == (7, 2, 2)


def test_a_row_without_cells_has_the_prior() -> None:
    posterior = fitted().posterior(np.full((1, 4), np.nan))
    np.testing.assert_allclose(posterior.mean, [[0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(posterior.covariance[0], np.eye(2), atol=1e-12)


def test_posteriors_are_calibrated() -> None:
    law = fitted().law_
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(5000, 2))
    X = law.mean + Z @ law.loadings.T + np.sqrt(law.noise_variance) * rng.normal(size=(5000, 4))
    mean, covariance = law.posterior(X)
    squares = np.einsum("ij,jk,ik->i", Z - mean, np.linalg.inv(covariance), Z - mean)
    # Squared distances follow a chi-square law of 2 degrees: 95 % are below 5.991.
    assert abs(np.mean(squares < 5.991) - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 5000)


def test_zero_components_are_a_sphere() -> None:
    model, X = fitted(0), low_rank_table(60, 4, 2)
    assert model.transform(X).shape == (60, 0)
    np.testing.assert_allclose(
        model.get_covariance(), np.var(X, axis=0).mean() * np.eye(4), rtol=1e-12
    )
    holes = with_holes(X, 0.2)
    np.testing.assert_allclose(
        model.fill_missing(holes)[np.isnan(holes)][0],
        model.mean_[np.argwhere(np.isnan(holes))[0, 1]],
    )


def test_free_parameters() -> None:
    assert [free_parameters(3, q) for q in range(3)] == [4, 7, 9]
    # With d - 1 components the law is any normal law: d means and d (d + 1) / 2 covariances.
    assert free_parameters(5, 4) == 5 + 15


def test_odd_calls_are_refused() -> None:
    with pytest.raises(InputError, match="Coordinates have 3 columns, but there are 2"):
        fitted().inverse_transform(np.zeros((1, 3)))
    with pytest.raises(NotFittedError):
        ProbabilisticPCA().sample(3)
    with pytest.raises(ValueError, match=r"expecting 4 features|are expected"):
        fitted().transform(np.zeros((2, 3)))
