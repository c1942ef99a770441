"""Counts given their totals, and multinomial rows with gaps: sums over all tables, flat maxima."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions import (
    Component,
    Multinomial,
    MultinomialShares,
    MultivariateBernoulli,
)

P = np.array([0.5, 0.2, 0.3])


def test_given_its_total_a_row_is_multinomial() -> None:
    rows = np.array([[3.0, 0, 1], [0, 0, 0], [2, 5, 9]])
    law = MultinomialShares(P)
    expected = [float(Multinomial(int(row.sum()), P).log_density(row)) for row in rows]
    np.testing.assert_allclose(law.log_density(rows), expected, rtol=1e-13, atol=1e-14)
    assert law.log_density([[1.5, 0, 0], [-1, 2, 0]]).tolist() == [-np.inf, -np.inf]
    part = law.log_density_observed([[3.0, np.nan, 1]])[0]
    assert part == pytest.approx(float(Multinomial(4, P[[0, 2]] / 0.8).log_density([3, 1])))
    assert law.marginal([0, 2]).probabilities.tolist() == pytest.approx([0.625, 0.375])
    assert law.sample(5, 0, trials=7).sum(axis=1).tolist() == [7.0] * 5


def test_gaps_of_known_trials_are_summed_out() -> None:
    law, n = Multinomial(6, P), 6
    tables = np.array([t for t in product(range(n + 1), repeat=3) if sum(t) == n], float)
    density = law.density(tables)
    for row in ([2.0, np.nan, np.nan], [np.nan, 1, 3], [4, 1, 1], [np.nan] * 3):
        there = ~np.isnan(row)
        same = (tables[:, there] == np.array(row)[there]).all(axis=1)
        assert float(np.exp(law.log_density_observed(row))) == pytest.approx(density[same].sum())
    assert law.log_density_observed([5.0, np.nan, 3]) == -np.inf
    coins = MultivariateBernoulli([0.2, 0.7])
    assert coins.log_density_observed([np.nan, 1.0]) == pytest.approx(np.log(0.7))


def rows_with_gaps(totals: Any, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.multinomial(totals, P, None if np.ndim(totals) else 60).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    return X, rng.uniform(0.5, 2.0, len(X))


@pytest.mark.parametrize("name", ["known trials", "given totals", "coins"])
def test_em_ends_where_the_observed_likelihood_is_largest(name: str) -> None:
    X, w = rows_with_gaps(20)
    component = Component(Multinomial, {"trials": 20})
    if name == "given totals":
        X, w = rows_with_gaps(np.random.default_rng(1).integers(0, 30, 60))
        component = Component(MultinomialShares)
    if name == "coins":
        X = np.where(np.isnan(X), np.nan, X > 6)
        component = Component(MultivariateBernoulli)
    law, value = component.first(X, w), -np.inf
    for _ in range(400):
        new = float(w @ law.log_density_observed(X))
        assert new >= value - 1e-12 * abs(value)
        value, law = new, component.likeliest(law, component.expected(law, X, w))
    p = law.probabilities
    for j in range(3):
        for h in (-1e-3, 1e-3):
            moved = p + h * (np.eye(3)[j] if name == "coins" else np.eye(3)[j] - p)
            trial = type(law)(**{**vars(law), "probabilities": moved})
            assert float(w @ trial.log_density_observed(X)) < value
    if name == "coins":
        # Columns are independent: those of the present cells alone.
        seen = np.array([np.average(c[~np.isnan(c)], weights=w[~np.isnan(c)]) for c in X.T])
        np.testing.assert_allclose(p, seen, rtol=1e-9)


def test_sums_of_parts_and_weights() -> None:
    X, _ = rows_with_gaps(20)
    complete = np.nan_to_num(X)
    whole = MultinomialShares.statistics(complete)
    parts = MultinomialShares.statistics(complete[:20]) + MultinomialShares.statistics(
        complete[20:]
    )
    assert whole.isclose(parts)
    assert (2.0 * whole).isclose(MultinomialShares.statistics(complete, np.full(60, 2.0)))


def test_refusals() -> None:
    with pytest.raises(InputError, match="draws none without"):
        MultinomialShares(P).sample(3)
    with pytest.raises(InputError, match="without a count"):
        MultinomialShares.fit([[0, 0], [0, 0]])
    with pytest.raises(InputError, match=r"first is 0\.5 at row 1, column 0"):
        MultinomialShares.fit([[1, 2], [0.5, 0]])
    with pytest.raises(InputError, match="sum to 9, more than its 6 trials"):
        Multinomial.completed_statistics([[1, 5.0, 0], [np.nan, 9, 0]])
    with pytest.raises(InputError, match="Every row lacks a count"):
        Multinomial.completed_statistics([[np.nan, 9, 0]])
    with pytest.raises(InputError, match="their shares are not known"):
        MultinomialShares([1.0, 0.0, 0.0]).marginal([1, 2])
