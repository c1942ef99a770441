"""Rules of open sets: scipy's densities, brute-force distances, definitions of margins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.spatial import distance

from novum.core.errors import InputError
from novum.evaluation.open_set.rules import Density, Distance, Margin, open_set_rule

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)) * [1.0, 10.0, 0.1]
codes = np.arange(60) % 2
new = rng.normal(size=(7, 3)) * [1.0, 10.0, 0.1]


@pytest.mark.parametrize("covariance", ["tied", "full"])
def test_normal_densities_are_scipys(covariance: str) -> None:
    found = Density(covariance=covariance).fit(None, X, codes, None).known_scores(None, new)
    parts = [X[codes == k] for k in range(2)]
    each = [np.cov(part.T, ddof=0) for part in parts]
    used = [(each[0] + each[1]) / 2] * 2 if covariance == "tied" else each
    mixed = sum(
        0.5 * stats.multivariate_normal(part.mean(axis=0), matrix).pdf(new)
        for part, matrix in zip(parts, used, strict=True)
    )
    # The floor of 1e-9 of a column's variance moves densities by about as much.
    np.testing.assert_allclose(found, np.log(mixed), atol=1e-6)


def test_columns_without_spread_are_no_trouble() -> None:
    flat = X.copy()
    flat[:, 1] = 3.0
    density = Density().fit(None, flat, codes, None)
    distances = Distance().fit(None, flat, codes, None)
    assert np.isfinite(density.known_scores(None, flat)).all()
    np.testing.assert_array_equal(distances.known_scores(None, flat), 0.0)


@pytest.mark.parametrize("k", [1, 4])
def test_distances_are_those_of_all_pairs(k: int) -> None:
    found = Distance(k).fit(None, X, codes, None).known_scores(None, new)
    unit = X.std(axis=0)
    everything = np.sort(distance.cdist(new / unit, X / unit), axis=1)
    np.testing.assert_allclose(-found, everything[:, k - 1], rtol=1e-10)


def test_margins_by_definition() -> None:
    P = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    assert Margin().known_scores(P).tolist() == [0.5, 1.0]
    np.testing.assert_allclose(Margin("difference").known_scores(P), [0.2, 1.0])


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Density(covariance="round"), "covariance is 'tied' or 'full'"),
        (Distance(0), "n_neighbors is a positive integer"),
    ],
)
def test_bad_settings_are_named(rule: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rule.fit(None, X, codes, None)
    with pytest.raises(InputError, match="'posterior' or 'difference'"):
        Margin("slim").known_scores(np.array([[1.0, 0.0]]))
    with pytest.raises(InputError, match="'rule' parameter"):
        open_set_rule(3)
