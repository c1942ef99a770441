"""Expected moments of incomplete rows: conditional laws row by row, stationary points, gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.decomposition import LowRankNormal
from novum.distributions import Component, MultivariateNormal, MultivariateStudentT
from novum.distributions.multivariate.completion import completed, independent_columns
from novum.numerics import Floats

MEAN = np.array([1.0, -2.0, 0.5])
COVARIANCE = np.array([[2.0, 0.6, -0.3], [0.6, 1.5, 0.4], [-0.3, 0.4, 1.0]])


def holes(n: int = 80, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.multivariate_normal(MEAN, COVARIANCE, n)
    X[rng.random(X.shape) < 0.25] = np.nan
    X[0] = np.nan
    return X, rng.uniform(0.5, 2.0, n)


def test_rows_are_completed_by_conditional_laws() -> None:
    X, w = holes(20)
    filled, rest = completed(X, w, MEAN, COVARIANCE)
    law, total = MultivariateNormal(MEAN, COVARIANCE), np.zeros((3, 3))
    for i, row in enumerate(X):
        o, u = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        if not u.size:
            np.testing.assert_array_equal(filled[i], row)
            continue
        part = law.condition(o, row[o]) if o.size else law
        np.testing.assert_allclose(filled[i, u], part.mean, rtol=1e-12)
        total[np.ix_(u, u)] += w[i] * part.covariance
    np.testing.assert_allclose(rest, total, rtol=1e-12)


def test_columns_without_a_cell_are_named() -> None:
    with pytest.raises(InputError, match="no present cell in column 1"):
        independent_columns([[1.0, np.nan], [2.0, np.nan]], None, "MultivariateNormal")


def climbed(component: Component, X: Any, w: Any, steps: int) -> Any:
    """The law after EM steps, none of which lowers the likelihood of the present cells."""
    law = component.first(X, w)
    value = -np.inf
    for _ in range(steps):
        new = float(w @ law.log_density_observed(X))
        assert new >= value - 1e-10 * abs(value)
        value = new
        law = component.likeliest(law, component.expected(law, X, w))
    return law


@pytest.mark.parametrize(
    "component",
    [
        Component(MultivariateNormal),
        Component(MultivariateStudentT, {"degrees_of_freedom": 3.0}),
        pytest.param(Component(MultivariateStudentT), marks=pytest.mark.slow),
        Component(LowRankNormal, {"n_components": 1}),
    ],
    ids=["normal", "t of 3", "t", "low rank"],
)
def test_em_ends_where_the_observed_likelihood_is_flat(component: Component) -> None:
    X, w = holes(120, 1)
    X[5::11] *= 4.0
    law = climbed(component, X, w, 300)
    place = "location" if hasattr(law, "location") else "mean"
    names = [place, "loadings" if hasattr(law, "loadings") else "shape"]
    names = [name for name in names if hasattr(law, name)] + ["noise_variance"]
    best = float(w @ law.log_density_observed(X))
    from dataclasses import replace

    for name in names:
        if not hasattr(law, name):
            continue
        values = np.array(getattr(law, name), float)
        for at in np.ndindex(values.shape):
            slopes = []
            for h in (-1e-4, 1e-4):
                moved = values.copy()
                moved[at] += h
                if name == "shape" and at[0] != at[1]:
                    moved[at[::-1]] += h
                value = moved if moved.ndim else float(moved)
                slopes.append(float(w @ replace(law, **{name: value}).log_density_observed(X)))
            assert abs(slopes[1] - slopes[0]) / 2e-4 < 1e-2, (name, at)
            assert max(slopes) <= best + 1e-9 * abs(best)


def test_rows_seen_in_advance_may_have_gaps() -> None:
    X, w = holes(60, 2)
    component = Component(MultivariateStudentT)
    law = component.first(X, w)
    value = -np.inf
    for _ in range(60):
        prior = 0.2 * w
        new = float(w @ law.log_density_observed(X) + prior @ law.prior_log_density(X))
        assert new >= value - 1e-10 * abs(value)
        value, law = new, component.likeliest(law, component.expected(law, X, w, prior))
