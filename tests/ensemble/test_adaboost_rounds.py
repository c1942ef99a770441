"""The theory of the rounds: formulas against sums over rows, bounds that hold, right ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.learners import Verdict
from novum.core.runtime import SILENT, Progress
from novum.ensemble.adaboost_rounds import (
    BestRound,
    EarlyStopping,
    Rounds,
    boost,
    certify,
    deciding_weight,
    is_guess,
    learner_weight,
)
from novum.numerics import Integers


class Oracle:
    """Weak learners whose answers are given, with plain weights and no scaling."""

    def __init__(self, answers: Integers, target: Integers, K: int) -> None:
        self.answers, self.target = answers, target
        self.weight = np.ones(target.size)
        self.votes = np.zeros((target.size, K))
        self.round = -1
        self.scores: list[float] = []

    def learn(self) -> float:
        self.round += 1
        self.missed = self.answers[self.round] != self.target
        return float(self.weight[self.missed].sum() / self.weight.sum())

    def keep(self, weight: float) -> None:
        self.votes[np.arange(self.target.size), self.answers[self.round]] += weight

    def reweigh(self, step: float) -> None:
        self.weight[self.missed] *= math.exp(step)

    def score(self) -> float:
        return self.scores[self.round]


@st.composite
def oracles(draw: st.DrawFn) -> tuple[Oracle, int]:
    K, n, T = draw(st.integers(2, 4)), draw(st.integers(3, 12)), draw(st.integers(1, 6))
    labels = st.integers(0, K - 1)
    rows = st.lists(labels, min_size=n, max_size=n)
    target = np.array(draw(rows))
    answers = np.array([draw(rows) for _ in range(T)])
    return Oracle(answers, target, K), K


def run(oracle: Oracle, K: int, rate: float = 1.0, rounds: int | None = None) -> Rounds:
    count = len(oracle.answers) if rounds is None else rounds
    return boost(oracle, K, count, rate, float(oracle.target.size), SILENT)


# --- Losses and bounds ----------------------------------------------------------------------------


@given(oracles(), st.floats(0.1, 1.5))
def test_loss_and_bound_are_sums_over_rows(case: tuple[Oracle, int], rate: float) -> None:
    oracle, K = case
    rounds = run(oracle, K, rate)
    if not rounds.errors:
        return
    A = np.abs(rounds.weights).sum()
    own = oracle.votes[np.arange(oracle.target.size), oracle.target]
    # A vote with negative weight is one for the other class.
    own = own - np.minimum(rounds.weights, 0.0).sum()
    assert rounds.losses[-1] == pytest.approx(np.exp(A / K - own).mean(), rel=1e-9)
    assert rounds.error_bounds[-1] == pytest.approx(np.exp(A / 2 - own).mean(), rel=1e-9)


@given(oracles(), st.floats(0.1, 2.0))
def test_the_bound_holds(case: tuple[Oracle, int], rate: float) -> None:
    oracle, K = case
    rounds = run(oracle, K, rate)
    if rounds.errors:
        wrong = (oracle.votes.argmax(axis=1) != oracle.target).mean()
        assert wrong <= rounds.error_bounds[-1] + 1e-12


@given(oracles())
def test_the_exact_weight_never_raises_the_loss(case: tuple[Oracle, int]) -> None:
    rounds = run(*case)
    trace = np.array([1.0, *rounds.losses])
    assert (np.diff(trace) <= 1e-12).all()


@given(st.floats(0.01, 0.99), st.floats(0.9, 1.1))
def test_no_other_weight_gives_a_smaller_loss(error: float, factor: float) -> None:
    for K in (2, 3, 5):
        best = learner_weight(error, K)

        def loss(alpha: float, K: int = K) -> float:
            return (1 - error) * math.exp(-alpha * (K - 1) / K) + error * math.exp(alpha / K)

        assert loss(best) <= loss(best * factor) + 1e-15


@given(oracles())
def test_two_classes_have_the_product_of_the_theory(case: tuple[Oracle, int]) -> None:
    oracle, K = case
    rounds = run(oracle, K)
    if K != 2 or not rounds.errors or rounds.stopped_by == "zero error":
        return
    product = math.prod(2 * math.sqrt(e * (1 - e)) for e in rounds.errors)
    assert rounds.error_bounds[-1] == pytest.approx(product, rel=1e-9)
    assert rounds.losses[-1] == pytest.approx(product, rel=1e-9)


# --- Ends -----------------------------------------------------------------------------------------


def test_a_learner_without_error_decides() -> None:
    target = np.array([0, 1, 0, 1])
    answers = np.array([[0, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]])
    oracle = Oracle(answers, target, 2)
    rounds = run(oracle, 2)
    assert rounds.stopped_by == "zero error"
    assert rounds.errors == (0.25, 0.0)
    assert rounds.weights[1] == pytest.approx(math.log(3) + math.log(9))
    assert (oracle.votes.argmax(axis=1) == target).all()


def test_a_learner_that_is_always_wrong_decides_by_its_opposite() -> None:
    target = np.array([0, 1, 0, 1])
    oracle = Oracle(1 - target[np.newaxis], target, 2)
    rounds = run(oracle, 2)
    assert rounds.stopped_by == "zero error"
    assert rounds.weights[0] == -math.log(9)
    assert (oracle.votes.argmax(axis=1) == target).all()


def test_worse_than_one_half_is_turned_round() -> None:
    target = np.array([0, 1, 0, 1])
    worse = np.array([[1, 0, 1, 1]])
    rounds = run(Oracle(worse, target, 2), 2)
    better = run(Oracle(1 - worse, target, 2), 2)
    assert rounds.weights == pytest.approx((-math.log(3),))
    assert better.weights == pytest.approx((math.log(3),))
    np.testing.assert_allclose(rounds.losses, better.losses)
    np.testing.assert_allclose(rounds.error_bounds, better.error_bounds)


def test_one_half_ends_boosting_without_the_learner() -> None:
    target = np.array([0, 1, 0, 1])
    # The second answers as the first did: reweighted rows make its error one half.
    oracle = Oracle(np.array([[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]), target, 2)
    rounds = run(oracle, 2)
    assert (rounds.stopped_by, rounds.errors) == ("guessing", (0.25,))


@pytest.mark.parametrize(
    ("error", "K", "guess"),
    [
        (0.5, 2, True),
        (0.5 + 1e-12, 2, True),
        (0.5 - 1e-6, 2, False),
        (0.7, 2, False),
        (2 / 3, 3, True),
        (0.9, 3, True),
        (0.6, 3, False),
        (0.0, 1, False),
    ],
)
def test_what_counts_as_a_guess(error: float, K: int, guess: bool) -> None:
    assert is_guess(error, K) == guess


def test_the_weight_of_half_a_missed_row() -> None:
    half = learner_weight(0.5 / (10 + 1), 3)
    assert deciding_weight([], 10.0, 3) == pytest.approx(half)
    assert deciding_weight([1.0, -2.0], 10.0, 3) == pytest.approx(half + 3.0)
    assert deciding_weight([], 5.0, 1) == pytest.approx(math.log(11))


def test_held_out_scores_choose_the_rounds() -> None:
    target = np.array([0, 1, 0, 1, 0])
    answers = np.array([[1, 1, 0, 1, 0], [0, 0, 0, 1, 0], [0, 1, 1, 1, 0], [0, 1, 0, 0, 0]])
    oracle = Oracle(answers, target, 2)
    oracle.scores = [0.5, 0.7, 0.6, 0.7]
    rounds = boost(oracle, 2, 4, 1.0, 5.0, SILENT, BestRound(EarlyStopping(patience=2)))
    assert (rounds.stopped_by, len(rounds.errors)) == ("early stopping", 2)


def test_a_callback_may_end_boosting() -> None:
    class Impatient(Progress):
        def advance(self, *_: object, **__: object) -> bool:
            return True

    target = np.array([0, 1, 0, 1])
    oracle = Oracle(np.array([[0, 1, 0, 0], [0, 0, 0, 1]]), target, 2)
    rounds = boost(oracle, 2, 2, 1.0, 4.0, Impatient())
    assert (rounds.stopped_by, len(rounds.errors)) == ("callback", 1)
    assert certify(rounds, 0.25, 0.1).verdict is Verdict.STOPPED_EARLY


# --- Certificate ----------------------------------------------------------------------------------


def test_the_certificate_shows_loss_bound_and_edge() -> None:
    rounds = Rounds(2, (0.25, 0.4), (math.log(3), math.log(1.5)), "n_estimators")
    found = certify(rounds, 0.125, 0.5)
    bound = 4 * math.sqrt(0.25 * 0.75 * 0.4 * 0.6)
    assert found.value == pytest.approx(bound)
    assert found.trace == pytest.approx((2 * math.sqrt(0.25 * 0.75), bound))
    assert found.residual == pytest.approx(0.2)
    assert found.iterations == 2
    assert found.details["training_error"] == 0.125
    assert found.details["training_error_bound"] == pytest.approx(bound)


def test_endless_weights_overflow_nothing() -> None:
    rounds = Rounds(3, (0.1,) * 2000, (400.0,) * 2000, "n_estimators")
    assert np.isfinite(rounds.losses).all()
    assert np.isfinite(rounds.error_bounds).all()
