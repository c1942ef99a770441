"""Coupling by likelihood: closed forms, brute force, the published iteration, sure losers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

from novum.numerics import couple_likelihood, pair_indices
from novum.numerics.pair_coupling import n_classes_of


def divergence(pairs: np.ndarray, p: np.ndarray, weight: np.ndarray) -> float:
    """The formula, pair by pair."""
    total = 0.0
    for k, (i, j) in enumerate(itertools.combinations(range(len(p)), 2)):
        r, mu = pairs[k], p[j] / (p[i] + p[j])
        total += weight[k] * (special.rel_entr(r, mu) + special.rel_entr(1 - r, 1 - mu))
    return total / weight.sum()


def published_iteration(pairs: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Hastie and Tibshirani's updates, run to the end."""
    n_classes = n_classes_of(len(pairs))
    r, n = np.zeros((2, n_classes, n_classes))
    for k, (i, j) in enumerate(itertools.combinations(range(n_classes), 2)):
        r[i, j], r[j, i], n[i, j], n[j, i] = 1 - pairs[k], pairs[k], weight[k], weight[k]
    p = np.full(n_classes, 1 / n_classes)
    for _ in range(20_000):
        mu = p[:, None] / (p[:, None] + p)
        p = p * (n * r).sum(axis=1) / (n * mu).sum(axis=1)
        p /= p.sum()
    return p


@given(st.lists(st.floats(-12, 0), min_size=2, max_size=7))
def test_consistent_pairs_give_their_probabilities_back(logs: list[float]) -> None:
    p = np.exp(logs)
    p /= p.sum()
    i, j = pair_indices(len(p))
    found = couple_likelihood([p[j] / (p[i] + p[j])], first=[p[i] / (p[i] + p[j])])
    # The gradient is met to 1e-14, and a class of probability 1e-5 has curvature 1e-5.
    np.testing.assert_allclose(found.probabilities[0], p, rtol=1e-6, atol=1e-10)
    assert found.residual[0] < 1e-13
    assert found.gap is None


@pytest.mark.parametrize("n_classes", [3, 4, 8])
def test_brute_force_and_the_published_iteration_agree(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    n_pairs = n_classes * (n_classes - 1) // 2
    pairs, weight = rng.uniform(0.02, 0.98, n_pairs), rng.uniform(0.5, 20, n_pairs)
    found = couple_likelihood([pairs], weight)
    np.testing.assert_allclose(
        found.probabilities[0], published_iteration(pairs, weight), atol=1e-11
    )
    best = optimize.minimize(
        lambda theta: divergence(pairs, np.exp(theta), weight), np.zeros(n_classes), tol=1e-12
    )
    np.testing.assert_allclose(found.probabilities[0], special.softmax(best.x), atol=1e-5)
    assert found.objective[0] == pytest.approx(best.fun, rel=1e-9)


@given(st.integers(2, 6), st.data())
def test_every_row_is_solved(n_classes: int, data: st.DataObject) -> None:
    n_pairs = n_classes * (n_classes - 1) // 2
    values = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300, 1e-12]))
    pairs = np.array(data.draw(st.lists(values, min_size=n_pairs, max_size=n_pairs)))
    found = couple_likelihood([pairs])
    p = found.probabilities[0]
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    assert found.residual[0] < 1e-13
    assert found.objective[0] >= 0


def test_sure_losers_have_probability_zero_and_the_others_share() -> None:
    # 0 and 1 beat 2 surely and each other with 1/4 and 3/4; 2 against 2 does not matter.
    found = couple_likelihood([[0.75, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.4]])
    expected = [[0.25, 0.75, 0.0], [1 / 3] * 3, [1.0, 0.0, 0.0]]
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-14)


def test_weights_say_which_pair_to_trust() -> None:
    pairs = [[0.9, 0.5, 0.9]]
    trusted = couple_likelihood(pairs, [1e9, 1.0, 1.0]).probabilities[0]
    assert trusted[1] / (trusted[0] + trusted[1]) == pytest.approx(0.9, abs=1e-6)


def test_rows_do_not_depend_on_each_other() -> None:
    pairs = np.random.default_rng(0).uniform(size=(500, 6)) ** 4
    whole = couple_likelihood(pairs).probabilities
    for row in (0, 17, 499):
        np.testing.assert_array_equal(whole[row], couple_likelihood(pairs[[row]]).probabilities[0])


@pytest.mark.parametrize("weight", [[1.0, 2.0], [1.0, 0.0, 1.0], [1.0, np.inf, 1.0]])
def test_impossible_weights_are_refused(weight: list[float]) -> None:
    with pytest.raises(ValueError, match="one positive number for each of the 3 pairs"):
        couple_likelihood([[0.5, 0.5, 0.5]], weight)
