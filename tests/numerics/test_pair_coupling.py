"""Coupling by least squares: closed forms, brute force, optimality proofs, votes and their ties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from sklearn.utils.multiclass import _ovr_decision_function

from novum.numerics import couple_least_squares, normalize_one_vs_rest, pair_indices, vote_scores
from novum.numerics.pair_coupling import n_classes_of

# Some pairs are sure, as trees and small samples make them.
probabilities = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 1e-300, 1e-12]))


@st.composite
def pair_rows(draw: st.DrawFn, most: int = 6) -> np.ndarray:
    n_classes = draw(st.integers(2, most))
    n_pairs = n_classes * (n_classes - 1) // 2
    return np.array(draw(st.lists(probabilities, min_size=n_pairs, max_size=n_pairs)))


def consistent(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    i, j = pair_indices(len(p))
    return p[j] / (p[i] + p[j]), p[i] / (p[i] + p[j])


def objective(pairs: np.ndarray, p: np.ndarray) -> float:
    """The formula, pair by pair."""
    total = 0.0
    for k, (i, j) in enumerate(itertools.combinations(range(len(p)), 2)):
        total += (pairs[k] * p[i] - (1 - pairs[k]) * p[j]) ** 2
    return total


def fixed_point(pairs: np.ndarray) -> np.ndarray:
    """Algorithm 2 of Wu, Lin and Weng, run to the end."""
    n_classes = n_classes_of(len(pairs))
    r = np.zeros((n_classes, n_classes))
    for k, (i, j) in enumerate(itertools.combinations(range(n_classes), 2)):
        r[i, j], r[j, i] = 1 - pairs[k], pairs[k]
    Q = -r.T * r + np.diag((r**2).sum(axis=0))
    p = np.full(n_classes, 1 / n_classes)
    for _ in range(5000):
        for t in range(n_classes):
            p[t] = (-(Q[t] @ p) + Q[t, t] * p[t] + p @ Q @ p) / Q[t, t]
            p /= p.sum()
    return p


# --- Least squares --------------------------------------------------------------------------------


@given(st.lists(st.floats(-30, 0), min_size=2, max_size=8))
def test_consistent_pairs_give_their_probabilities_back(logs: list[float]) -> None:
    p = np.exp(logs)
    p /= p.sum()
    second, first = consistent(p)
    found = couple_least_squares([second], [first])
    # Thirteen orders of magnitude lie between the classes, and each keeps its digits.
    np.testing.assert_allclose(found.probabilities[0], p, rtol=1e-11)
    assert found.objective[0] < 1e-28


def test_two_classes_are_the_pair_itself() -> None:
    pairs = np.array([[0.0], [1.0], [0.25], [1e-300]])
    np.testing.assert_array_equal(couple_least_squares(pairs).probabilities[:, 1], pairs[:, 0])
    both = couple_least_squares([[1.0]], [[1e-200]])
    assert both.probabilities.tolist() == [[1e-200, 1.0]]


def test_sure_votes_have_their_closed_forms() -> None:
    # 0 beats all; a cycle of sure votes; 0 and 1 are equal and beat 2 surely.
    rows = [[0.0, 0.0, 0.3], [0.0, 1.0, 0.0], [0.5, 0.0, 0.0]]
    expected = [[1.0, 0.0, 0.0], [1 / 3] * 3, [0.5, 0.5, 0.0]]
    np.testing.assert_allclose(couple_least_squares(rows).probabilities, expected, atol=1e-15)


def test_tiny_probabilities_keep_their_size() -> None:
    second, first = consistent(np.array([1.0, 1e-200, 1e-100]))
    found = couple_least_squares([second], [first]).probabilities[0]
    np.testing.assert_allclose(found, [1.0, 1e-200, 1e-100], rtol=1e-12)
    # A hundred equal rare classes feed each other as much as the frequent one does.
    many = np.r_[1.0, np.full(100, 1e-12)]
    second, first = consistent(many / many.sum())
    found = couple_least_squares([second], [first]).probabilities[0]
    np.testing.assert_allclose(found, many / many.sum(), rtol=1e-11)


@given(pair_rows())
def test_optimality_is_proved(pairs: np.ndarray) -> None:
    found = couple_least_squares([pairs])
    p = found.probabilities[0]
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1.0, abs=1e-14)
    assert found.objective[0] == pytest.approx(objective(pairs, p), rel=1e-9, abs=1e-25)
    # Rounding of a handful of terms of size at most K.
    assert found.residual[0] < 1e-13
    assert 0 <= found.gap[0] < 1e-13


@given(pair_rows(most=5), st.integers(0, 2**32 - 1))
def test_no_other_probabilities_are_better(pairs: np.ndarray, seed: int) -> None:
    found = couple_least_squares([pairs])
    best = objective(pairs, found.probabilities[0])
    others = np.random.default_rng(seed).dirichlet(np.full(len(found.probabilities[0]), 0.5), 50)
    assert best - found.gap[0] - 1e-15 <= min(objective(pairs, p) for p in others)


@pytest.mark.parametrize("n_classes", [3, 5, 9])
def test_brute_force_and_the_published_iteration_agree(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    pairs = rng.uniform(0.05, 0.95, n_classes * (n_classes - 1) // 2)
    found = couple_least_squares([pairs]).probabilities[0]
    np.testing.assert_allclose(found, fixed_point(pairs), atol=1e-12)
    best = optimize.minimize(
        lambda p: objective(pairs, p),
        np.full(n_classes, 1 / n_classes),
        bounds=[(0, 1)] * n_classes,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    np.testing.assert_allclose(found, best.x, atol=1e-5)


def test_rows_do_not_depend_on_each_other() -> None:
    pairs = np.random.default_rng(0).uniform(size=(40_000, 10))
    whole = couple_least_squares(pairs).probabilities
    some = [0, 1, 29_126, 29_127, 39_999]  # on both sides of a border of blocks
    np.testing.assert_array_equal(whole[some], couple_least_squares(pairs[some]).probabilities)


def test_no_rows_give_no_rows() -> None:
    found = couple_least_squares(np.empty((0, 3)))
    assert found.probabilities.shape == (0, 3)
    assert found.residual.shape == (0,)


@pytest.mark.parametrize(
    ("pairs", "first", "message"),
    [
        ([[0.5, 0.5]], None, "2 pairs do not come from a whole number of classes"),
        ([[0.5, 1.5, 0.5]], None, "has 1.5 in row 0 for pair 1"),
        ([[np.nan]], None, "has nan in row 0"),
        ([0.5], None, r"shape \(1,\)"),
        ([[0.5]], [[0.4]], "pair 0 in row 0 sum to 0.9"),
        ([[0.5]], [[0.4], [0.6]], "first has"),
    ],
)
def test_impossible_pairs_are_named(pairs: list, first: list | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        couple_least_squares(pairs, first)


# --- One against the rest -------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6).filter(any))
def test_one_vs_rest_is_the_share(values: list[float]) -> None:
    p = np.maximum(np.array([values]), 1e-300)
    found = normalize_one_vs_rest(np.log(p))
    np.testing.assert_allclose(found, p / p.sum(), rtol=1e-11)


def test_one_vs_rest_beyond_the_range_of_floats() -> None:
    found = normalize_one_vs_rest([[-5000.0, -5000.0 + np.log(3)], [-np.inf, -np.inf]])
    np.testing.assert_allclose(found, [[0.25, 0.75], [0.5, 0.5]], rtol=1e-12)


# --- Votes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7])
def test_votes_are_scikit_learns(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    margins = rng.normal(size=(200, n_classes * (n_classes - 1) // 2)).round(1)
    expected = _ovr_decision_function((margins > 0).astype(int), margins, n_classes)
    np.testing.assert_allclose(vote_scores(margins), expected, rtol=1e-14)


def test_margins_break_ties_of_votes_and_the_first_class_the_rest() -> None:
    # 0 beats 1, 1 beats 2, 2 beats 0: one vote each. The largest sum of margins wins.
    assert vote_scores([[-1.0, 1.0, -5.0]]).argmax(axis=1).tolist() == [1]
    assert vote_scores([[-1.0, 1.0, -1.0]]).argmax(axis=1).tolist() == [0]


@given(
    st.lists(
        st.sampled_from([-np.inf, -1e300, -1.0, 0.0, 2.0, 1e300, np.inf]), min_size=6, max_size=6
    )
)
def test_margins_of_any_size_never_outweigh_a_vote(margins: list[float]) -> None:
    scores = vote_scores([margins])[0]
    votes = np.zeros(4)
    for k, (i, j) in enumerate(itertools.combinations(range(4), 2)):
        votes[j if margins[k] > 0 else i] += 1
    assert np.isfinite(scores).all()
    assert (np.abs(scores - votes) < 0.34).all()
