"""Pairs on folds: every number from its own test, Holm over pairs, the four decisions."""

from __future__ import annotations

import numpy as np
import pytest

from novum.evaluation.comparison.fold_pairs import Decision, FoldPair, Question, fold_pairs
from novum.evaluation.comparison.pairs.mcnemar import mcnemar_test
from novum.evaluation.comparison.pairs.power import corrected_power, repeats_needed
from novum.evaluation.comparison.pairs.rope import bayesian_correlated_t_test
from novum.evaluation.comparison.pairs.t_tests import corrected_t_test, five_by_two_f_test
from novum.evaluation.comparison.ranks.multiplicity import holm_adjusted
from novum.evaluation.comparison.score_table import DatasetScores, Plan, ScoreTable

RNG = np.random.default_rng(0)
SCORES = RNG.normal([[0.9], [0.85], [0.6]], 0.03, (3, 20))
HALVES = RNG.normal([[0.9], [0.85], [0.6]], 0.03, (3, 10))
RIGHT = RNG.random((3, 50)) < np.array([[0.9], [0.8], [0.6]])
RATIO = 1 / 9


def table(scores: np.ndarray = SCORES, *, repeatable: bool = True) -> ScoreTable:
    plan = Plan(2, scores.shape[1] // 2, RATIO, "2 x 10 folds", repeatable)
    entry = DatasetScores({"accuracy": scores}, plan, {"accuracy": HALVES}, RIGHT)
    return ScoreTable(("a", "b", "c")[: len(scores)], {"data": entry}, ("accuracy",))


def pair_of(differences: np.ndarray, **question: float) -> FoldPair:
    scores = np.array([0.5 + differences, np.full(differences.size, 0.5)])
    asked = Question("accuracy", **question).checked(("a", "b"))  # type: ignore[arg-type]
    return fold_pairs(table(scores), "data", asked)[0]


def test_every_number_is_that_of_its_test() -> None:
    asked = Question("accuracy", rope=0.02).checked(("a", "b", "c"))
    found = fold_pairs(table(), "data", asked)
    assert [(pair.first, pair.second) for pair in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    first, d = found[0], SCORES[0] - SCORES[1]
    assert first.corrected.p_value == pytest.approx(corrected_t_test(d, RATIO).p_value)
    assert first.posterior == bayesian_correlated_t_test(d, RATIO, rope=0.02)
    assert first.five_by_two_f is not None
    expected = five_by_two_f_test(HALVES[0] - HALVES[1]).p_value
    assert first.five_by_two_f.p_value == pytest.approx(expected)
    assert first.mcnemar == mcnemar_test(np.ones(50, bool), RIGHT[0], RIGHT[1])
    deviation = d.std(ddof=1)
    assert first.power == pytest.approx(corrected_power(0.02, deviation, 20, RATIO))
    assert first.repeats == repeats_needed(0.02, deviation, 10, RATIO)
    assert corrected_power(first.detectable, deviation, 20, RATIO) == pytest.approx(0.8)
    assert first.means == pytest.approx((SCORES[0].mean(), SCORES[1].mean()))


def test_p_values_are_adjusted_over_the_pairs_asked_about() -> None:
    asked = Question("accuracy").checked(("a", "b", "c"))
    found = fold_pairs(table(), "data", asked)
    plain = [pair.corrected.p_value for pair in found]
    np.testing.assert_allclose([p.adjusted_p_value for p in found], holm_adjusted(plain))
    against = Question("accuracy", baseline="c").checked(("a", "b", "c"))
    few = fold_pairs(table(), "data", against)
    assert [(pair.first, pair.second) for pair in few] == [("a", "c"), ("b", "c")]
    np.testing.assert_allclose([p.adjusted_p_value for p in few], holm_adjusted(plain[1:]))


def test_joint_intervals_are_wider() -> None:
    for pair in fold_pairs(table(), "data", Question("accuracy").checked(("a", "b", "c"))):
        assert pair.joint_interval.low < pair.difference.low
        assert pair.joint_interval.high > pair.difference.high
        assert pair.joint_interval.level == pytest.approx(1 - 0.05 / 3)


NOISE = np.tile([-0.01, 0.01], 10)


@pytest.mark.parametrize(
    ("differences", "rope", "decision"),
    [
        (0.2 + NOISE, 0.01, Decision.BETTER),
        (-0.2 + NOISE, 0.01, Decision.BETTER),
        (0.012 + NOISE, 0.01, Decision.SLIGHTLY_BETTER),
        (0.0 + NOISE, 0.05, Decision.EQUAL),
        (0.0 + 5 * NOISE, 0.01, Decision.UNDECIDED),
        (np.zeros(20), 0.0, Decision.EQUAL),
        (np.full(20, 0.25), 0.01, Decision.UNDECIDED),
    ],
)
def test_the_four_decisions(differences: np.ndarray, rope: float, decision: Decision) -> None:
    with np.errstate(all="raise"):
        found = pair_of(differences, rope=rope)
    assert found.decision is decision
    better = decision in (Decision.BETTER, Decision.SLIGHTLY_BETTER)
    assert found.winner == (("a" if differences.mean() > 0 else "b") if better else None)


def test_constant_scores_say_so() -> None:
    found = pair_of(np.full(20, 0.25))
    assert "no spread" in found.corrected.note
    assert found.detectable == 0.0


def test_folds_that_cannot_be_repeated_need_no_number() -> None:
    asked = Question("accuracy").checked(("a", "b", "c"))
    pair = fold_pairs(table(repeatable=False), "data", asked)[0]
    assert pair.repeats is None
    assert pair.power is not None


def test_without_a_region_there_is_no_stated_effect() -> None:
    found = pair_of(NOISE, rope=0.0)
    assert (found.power, found.repeats) == (None, None)
    assert pair_of(NOISE, rope=0.0, effect=0.02).power is not None


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (Question("accuracy", rope=-0.01), "rope is the largest difference.*got -0.01"),
        (Question("accuracy", level=1.5), "between 0 and 1"),
        (Question("accuracy", effect=0.0), "effect is the difference that would matter"),
        (Question("accuracy", baseline="z"), "baseline='z' is none of the models: a, b"),
    ],
)
def test_bad_questions_are_named(question: Question, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        question.checked(("a", "b"))
