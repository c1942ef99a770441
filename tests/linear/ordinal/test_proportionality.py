"""The test of proportional odds: scores by differences, by enumeration, and under both truths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from novum.core.errors import InputError
from novum.linear.ordinal.inference import ScoreStep
from novum.linear.ordinal.links import LINKS
from novum.linear.ordinal.regression import OrdinalRegression
from novum.linear.ordinal.rows import OrdinalRows
from novum.numerics import Array, Floats


def table(n: int, seed: int, odd: float = 0.0) -> tuple[Floats, Array]:
    """Three classes; `odd` moves the effect of the second column at the upper threshold."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    u = rng.random(n)
    first = 1 / (1 + np.exp(-(-1.0 - X @ [0.8, 0.3])))
    second = 1 / (1 + np.exp(-(1.0 - X @ [0.8, 0.3 + odd])))
    return X, np.where(u < first, 0, np.where(u < np.maximum(first, second), 1, 2))


@pytest.mark.parametrize("link", sorted(LINKS))
def test_scores_and_information_are_their_definitions(link: str) -> None:
    rng = np.random.default_rng(0)
    law, m, params = LINKS[link], 3, np.array([-0.7, 0.2, 1.1, 0.5, -0.3])
    z, weight = rng.normal(size=(15, 2)), rng.uniform(1, 2, 15)
    codes = rng.integers(0, 4, 15)
    found = ScoreStep(law, params, m)(OrdinalRows(z, codes, weight))

    def log_likelihoods(theta: Floats, slopes: Floats) -> Floats:
        """Of all classes of all rows, with slopes (m, 2) at each threshold."""
        inner = theta - z @ slopes.T
        below = np.column_stack([np.zeros(15), law.cdf(inner), np.ones(15)])
        return np.log(np.diff(below, axis=1))

    theta, slopes, h = params[:3], np.tile(params[3:], (3, 1)), 1e-6
    scores = np.zeros((15, 4, m, 3))
    for k in range(m):
        for j in range(3):
            up, down = (theta.copy(), slopes.copy()), (theta.copy(), slopes.copy())
            for point, sign in ((up, 1), (down, -1)):
                if j == 0:
                    point[0][k] += sign * h
                else:
                    point[1][k, j - 1] -= sign * h
            scores[:, :, k, j] = (log_likelihoods(*up) - log_likelihoods(*down)) / (2 * h)
    own = scores[np.arange(15), codes]
    np.testing.assert_allclose(found.score, np.einsum("i,ikj->kj", weight, own), atol=1e-6)
    chance = np.exp(log_likelihoods(theta, slopes))
    flat = scores.reshape(15, 4, 9)
    expected = np.einsum("i,ic,ica,icb->ab", weight, chance, flat, flat)
    np.testing.assert_allclose(found.information, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_p_values_are_uniform_under_the_model() -> None:
    joint, single = [], []
    for seed in range(300):
        X, y = table(300, seed)
        found = OrdinalRegression().fit(X, y).proportional_odds_test(X, y)
        joint.append(found.p_value)
        single.append(found.column_p_values[1])
    assert stats.kstest(joint, "uniform").pvalue > 1e-3
    assert stats.kstest(single, "uniform").pvalue > 1e-3


def test_an_effect_that_changes_is_found_in_its_column() -> None:
    X, y = table(3000, 1, odd=1.0)
    found = OrdinalRegression().fit(X, y).proportional_odds_test(X, y)
    assert found.degrees_of_freedom == 2
    assert found.column_degrees_of_freedom == 1
    assert found.p_value < 1e-6
    assert found.column_p_values[1] < 1e-6
    assert found.statistic >= found.column_statistics.max() - 1e-9
    text = repr(found)
    assert "all columns" in text
    assert "x1" in text
    assert "all columns" in found._repr_html_()


def test_units_of_columns_do_not_matter() -> None:
    X, y = table(500, 2, odd=0.3)
    plain = OrdinalRegression().fit(X, y).proportional_odds_test(X, y)
    other = X * [1e6, 1e-6] + [5.0, 0.0]
    moved = OrdinalRegression().fit(other, y).proportional_odds_test(other, y)
    assert moved.statistic == pytest.approx(plain.statistic, rel=1e-6)
    np.testing.assert_allclose(moved.column_statistics, plain.column_statistics, rtol=1e-6)


def test_weights_are_repetitions() -> None:
    X, y = table(200, 3)
    weight = np.random.default_rng(0).integers(0, 3, 200)
    repeated = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    once = OrdinalRegression().fit(*repeated).proportional_odds_test(*repeated)
    model = OrdinalRegression().fit(X, y, weight)
    assert model.proportional_odds_test(X, y, weight).statistic == pytest.approx(once.statistic)


def test_a_constant_column_has_no_test_of_its_own() -> None:
    X, y = table(200, 4)
    wide = np.column_stack([X, np.ones(200)])
    found = OrdinalRegression().fit(wide, y).proportional_odds_test(wide, y)
    plain = OrdinalRegression().fit(X, y).proportional_odds_test(X, y)
    assert found.statistic == pytest.approx(plain.statistic, rel=1e-6)
    assert np.isnan(found.column_statistics[2])
    assert found.degrees_of_freedom == 2


def test_what_cannot_be_tested_is_refused() -> None:
    X, y = table(200, 5)
    model = OrdinalRegression().fit(X, y)
    with pytest.raises(InputError, match="not the estimate of these rows"):
        model.proportional_odds_test(X + 1, y)
    with pytest.raises(InputError, match="one threshold only"):
        OrdinalRegression().fit(X, y > 0).proportional_odds_test(X, y > 0)
    with pytest.raises(InputError, match=r"alpha=0\.5"):
        OrdinalRegression(alpha=0.5).fit(X, y).proportional_odds_test(X, y)
