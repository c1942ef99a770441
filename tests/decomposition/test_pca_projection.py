"""Projected rows: geometry of reconstruction, densities against scipy, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.exceptions import NotFittedError

from novum.core.errors import InputError
from novum.decomposition.pca import PCA
from tests.decomposition.component_tables import low_rank_table


@given(st.integers(0, 500), st.integers(1, 4), st.booleans())
@settings(max_examples=25)
def test_reconstruction_is_the_nearest_point_of_the_plane(
    seed: int, count: int, whiten: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 4)) @ rng.normal(size=(4, 4)) + 10
    model = PCA(count, whiten=whiten).fit(X)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose((X - back) @ model.components_.T, 0.0, atol=1e-9)
    np.testing.assert_allclose(
        model.reconstruction_error(X), np.sum((X - back) ** 2, axis=1), atol=1e-9
    )


def test_errors_of_new_rows_measure_the_distance_from_the_plane() -> None:
    X = np.column_stack([np.arange(5.0), np.zeros(5), np.zeros(5)])
    model = PCA(1).fit(X)
    found = model.reconstruction_error([[100.0, 3.0, 4.0], [2.0, 0.0, 0.0]])
    np.testing.assert_allclose(found, [25.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("count", [0, 2, 4])
def test_density_is_that_of_the_normal_law(count: int) -> None:
    X = low_rank_table(40, 4, 2)
    model = PCA(count).fit(X)
    law = stats.multivariate_normal(model.mean_, model.get_covariance())
    np.testing.assert_allclose(model.score_samples(X), law.logpdf(X), rtol=1e-9)
    product = model.get_covariance() @ model.get_precision()
    np.testing.assert_allclose(product, np.eye(4), atol=1e-9)


def test_many_rows_are_scored_in_blocks() -> None:
    X = low_rank_table(5000, 30, 3)
    model = PCA(3).fit(X)
    pieces = np.concatenate([model.score_samples(X[i : i + 700]) for i in range(0, 5000, 700)])
    np.testing.assert_allclose(model.score_samples(X), pieces, rtol=1e-12)


def test_a_far_row_keeps_its_digits() -> None:
    X = np.floor(low_rank_table(30, 3, 2) * 2**20) / 2**20 + 2.0**30
    model = PCA(2).fit(X)
    row = X[:1] + np.array([[0.5, 0.0, 0.0]])
    moved = model.transform(row) - model.transform(X[:1])
    np.testing.assert_allclose(moved[0], 0.5 * model.components_[:, 0], atol=1e-13)


def test_laws_without_density_are_refused() -> None:
    X = low_rank_table(10, 4, 2, noise=0.0)
    for count in (2, 4):
        model = PCA(count).fit(X)
        for ask in (lambda m=model: m.score_samples(X), model.get_precision):
            with pytest.raises(InputError, match=r"has no density.*Choose fewer components"):
                ask()
    assert np.isfinite(PCA(1).fit(X).score(X))


def test_coordinates_of_another_width_are_refused() -> None:
    model = PCA(2).fit(low_rank_table(10, 3, 2))
    with pytest.raises(InputError, match="Coordinates have 3 columns, but there are 2"):
        model.inverse_transform(np.zeros((1, 3)))


def test_an_unfitted_model_says_so() -> None:
    for ask in (PCA().get_covariance, PCA().get_precision):
        with pytest.raises(NotFittedError):
            ask()
