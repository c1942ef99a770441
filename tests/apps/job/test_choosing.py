"""The leaderboard against the comparison of `novum.evaluation`, and the rule that takes a model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from novum.apps.job.choosing import (
    Choice,
    choose,
    comparison_record,
    difference_that_matters,
    fold_scores,
    title_of,
)
from novum.apps.job.planning import STACK, STACK_TITLE
from novum.apps.job.record import Standing
from novum.apps.job.record_json import to_json
from novum.evaluation import compare_scores
from novum.evaluation.measures.catalog import measure
from tests.apps.job.runs import trials_of

ACCURACY = measure("accuracy")
RMSE = measure("rmse")


def standing(choice: Choice, name: str) -> Standing:
    return next(row for row in choice.leaderboard if row.family == name)


SCORES = {
    "constant": (0.50, 0.50, 0.52, 0.48, 0.50),
    "tree": (0.80, 0.78, 0.81, 0.83, 0.79),
    "linear": (0.88, 0.86, 0.90, 0.89, 0.85),
}


def test_the_best_mean_is_taken_and_ordered_first() -> None:
    choice = choose(trials_of(SCORES), ACCURACY, "binary")
    assert choice.family == "linear"
    assert [row.family for row in choice.leaderboard] == ["linear", "tree", "constant"]
    assert [row.is_chosen for row in choice.leaderboard] == [True, False, False]
    assert "logistic regression" in choice.reason
    assert "best" in choice.reason
    assert standing(choice, "tree").fold_scores == SCORES["tree"]


def test_scores_have_the_corrected_interval_by_hand() -> None:
    """Nadeau and Bengio: variance (1/n + n_test/n_train) s^2, with n - 1 degrees of freedom."""
    choice = choose(trials_of(SCORES), ACCURACY, "binary")
    for name, values in SCORES.items():
        half = stats.t.ppf(0.975, 4) * np.std(values, ddof=1) * math.sqrt(1 / 5 + 1 / 4)
        found = standing(choice, name).score
        assert found.value == pytest.approx(np.mean(values), rel=1e-12)
        assert found.low == pytest.approx(np.mean(values) - half, rel=1e-9)
        assert found.high == pytest.approx(np.mean(values) + half, rel=1e-9)


def test_differences_and_tests_are_those_of_the_evaluation() -> None:
    """Models by Holm against the chosen one; the constant answer by a test of its own."""
    others = {
        "forest": (0.84, 0.86, 0.87, 0.85, 0.83),
        "naive_bayes": (0.86, 0.83, 0.89, 0.86, 0.84),
    }
    scores = {**SCORES, **others}
    choice = choose(trials_of(scores), ACCURACY, "binary")

    def direct(*names: str) -> Any:
        some = {title_of(name, "binary"): scores[name] for name in ("linear", *names)}
        return compare_scores(some, 0.25, rope=0.01, baseline="logistic regression")

    models = direct("tree", *others)
    assert standing(choice, "linear").difference is None
    assert standing(choice, "linear").p_value is None
    for name in ("tree", "constant", *others):
        row = standing(choice, name)
        family = direct("constant") if name == "constant" else models
        pair: Any = family.pair(title_of(name, "binary"), "logistic regression")
        sign = 1.0 if pair.first == row.title else -1.0
        assert row.difference is not None
        assert row.difference.value == pytest.approx(
            np.mean(scores[name]) - np.mean(scores["linear"]), rel=1e-9
        )
        assert row.difference.value == pytest.approx(sign * pair.difference.estimate, rel=1e-12)
        assert row.difference.low is not None
        assert row.difference.high is not None
        assert row.difference.low < row.difference.value < row.difference.high
        assert row.p_value is not None
        # Words and intervals agree.
        assert (row.difference.high < 0) == (row.p_value < 0.05)
        assert row.p_value == pytest.approx(pair.adjusted_p_value, rel=1e-12)
        assert row.probability_equivalent == pytest.approx(pair.posterior.inside, rel=1e-12)


def test_errors_are_shown_with_their_own_sign_and_smaller_is_better() -> None:
    scores = {"constant": (-3.0, -3.2, -2.9), "linear": (-1.0, -1.1, -0.9)}
    choice = choose(trials_of(scores), RMSE, "regression")
    best = standing(choice, "linear")
    assert choice.family == "linear"
    assert best.title == "ridge regression"
    assert best.score.value == pytest.approx(1.0)
    assert best.score.low is not None
    assert best.score.high is not None
    assert 0 <= best.score.low < 1.0 < best.score.high


def test_scores_of_folds_have_the_sign_of_their_mean() -> None:
    """A report draws both on one axis."""
    scores = {"constant": (-3.0, -3.2, -2.9), "linear": (-1.0, -1.1, -0.9)}
    for row in choose(trials_of(scores), RMSE, "regression").leaderboard:
        assert np.mean(row.fold_scores) == pytest.approx(row.score.value, rel=1e-9)


def test_intervals_stay_within_the_limits_of_the_measure() -> None:
    scores = {"constant": (0.0, 0.02, 0.1), "tree": (1.0, 0.99, 0.9)}
    choice = choose(trials_of(scores), ACCURACY, "binary")
    assert standing(choice, "tree").score.high == 1.0
    assert standing(choice, "constant").score.low == 0.0
    numbers = choose(
        trials_of({"constant": (-1.0, -3.0, -0.1), "tree": (-0.1, -1.0, -0.1)}), RMSE, "regression"
    )
    assert {row.score.low for row in numbers.leaderboard} == {0.0}


# --- The stack ------------------------------------------------------------------------------------


def test_a_stack_must_be_ahead_by_more_than_what_matters() -> None:
    near = {**SCORES, STACK: tuple(score + 0.009 for score in SCORES["linear"])}
    choice = choose(trials_of(near), ACCURACY, "binary")
    assert choice.family == "linear"
    assert choice.leaderboard[0].family == STACK
    assert standing(choice, "linear").is_chosen
    assert not standing(choice, STACK).is_chosen
    assert "0.009" in choice.reason
    far = {**SCORES, STACK: tuple(score + 0.011 for score in SCORES["linear"])}
    choice = choose(trials_of(far), ACCURACY, "binary")
    assert (choice.family, choice.leaderboard[0].title) == (STACK, STACK_TITLE)
    assert standing(choice, STACK).settings == (("members", "random forest, logistic regression"),)


def test_what_matters_is_a_hundredth_of_the_scale() -> None:
    assert difference_that_matters(ACCURACY, {}) == 0.01
    assert difference_that_matters(measure("matthews_corrcoef"), {}) == 0.01
    assert difference_that_matters(RMSE, {"constant": [-4.0, -6.0]}) == pytest.approx(0.05)
    assert difference_that_matters(RMSE, {"tree": [-4.0]}) == 0.01
    assert difference_that_matters(RMSE, {"constant": [0.0]}) == 0.01


# --- Properties -----------------------------------------------------------------------------------

folds = st.lists(st.floats(0, 1), min_size=4, max_size=4)
NAMES = ("constant", "tree", "linear", "forest", STACK)
tables = st.lists(folds, min_size=2, max_size=5).map(
    lambda rows: dict(zip(NAMES, map(tuple, rows), strict=False))
)


@settings(max_examples=30)
@given(scores=tables)
def test_every_leaderboard_is_sorted_complete_and_can_be_written(
    scores: dict[str, tuple[float, ...]],
) -> None:
    choice = choose(trials_of(scores), ACCURACY, "binary")
    board = choice.leaderboard
    means = [row.score.value for row in board]
    assert means == sorted(means, reverse=True)  # type: ignore[type-var]
    assert sorted(row.family for row in board) == sorted(scores)
    assert [row.family for row in board if row.is_chosen] == [choice.family]
    best_single = max(np.mean(v) for name, v in scores.items() if name != STACK)
    taken = np.mean(scores[choice.family])
    assert taken >= best_single - 1e-12
    if choice.family == STACK:
        assert taken > best_single + 0.01 - 1e-12
    for row in board:
        assert row.p_value is None or 0 <= row.p_value <= 1
        assert row.probability_equivalent is None or 0 <= row.probability_equivalent <= 1
        if row.p_value is not None and row.difference is not None:
            assert row.difference.low is not None
            assert row.difference.high is not None
            excludes = row.difference.low > 0 or row.difference.high < 0
            assert excludes == (row.p_value < 0.05) or row.p_value == pytest.approx(0.05)
    to_json(board)
    to_json(comparison_record(choice))


def test_equal_means_go_to_the_family_that_stands_first() -> None:
    scores = {"constant": (0.5, 0.6), "tree": (0.6, 0.5), "linear": (0.55, 0.55)}
    assert choose(trials_of(scores), ACCURACY, "binary").family == "constant"


# --- What is shown --------------------------------------------------------------------------------


def test_times_are_medians_and_settings_the_most_frequent() -> None:
    candidates = {"linear": (1, 2, 2, 1, 0), "tree": (3, 3, 0, 1, 3)}
    choice = choose(trials_of(SCORES, candidates), ACCURACY, "binary")
    row = standing(choice, "linear")
    assert (row.fit_seconds, row.search_seconds) == (2.0, 0.0)
    # 0.5 k seconds for 20 rows are 25 k seconds for 1000.
    assert row.predict_seconds == pytest.approx(50.0)
    # Candidates 1 and 2 are equally frequent: the preferred one.
    assert row.settings == (("C", "0.1"),)
    assert standing(choice, "tree").settings == (("min_samples_leaf", "25"),)
    assert standing(choice, "constant").settings == ()


def test_the_record_of_the_comparison() -> None:
    choice = choose(trials_of(SCORES), ACCURACY, "binary")
    record = comparison_record(choice)
    assert record.names == tuple(row.title for row in choice.leaderboard)
    # The best is first on every fold, the constant last.
    assert record.average_ranks == (1.0, 2.0, 3.0)
    assert [pair[:2] for pair in record.pairs] == [
        ("decision tree", "logistic regression"),
        ("the same answer for every row", "logistic regression"),
    ]
    for first, second, difference, low, high, p_value, _ in record.pairs:
        by_title = {row.title: np.array(row.fold_scores) for row in choice.leaderboard}
        expected = np.mean(by_title[first] - by_title[second])
        assert difference == pytest.approx(expected, rel=1e-9)
        assert low is not None
        assert high is not None
        assert low <= difference <= high
        assert p_value is not None
        assert 0 <= p_value <= 1
    # Friedman's test and Nemenyi's difference are for several tables, and this is one.
    assert record.critical_difference is None
    assert record.friedman_p_value is None
    assert record.verdict == (
        "Logistic regression is compared with each of the others; 2 of 2 can be told from it."
    )


def test_scores_of_folds_in_their_order() -> None:
    trials = trials_of(SCORES)
    assert fold_scores(trials, "tree", ACCURACY).tolist() == list(SCORES["tree"])
    # Scorers turn losses round; the leaderboard shows them as they are.
    assert fold_scores(trials, "tree", RMSE).tolist() == [-score for score in SCORES["tree"]]
    assert title_of(STACK, "binary") == STACK_TITLE
    assert title_of("forest", "regression") == "random forest"


@pytest.mark.parametrize("name", ["rmse", "mae", "log_loss", "brier_score", "bayes_risk"])
def test_the_comparison_of_losses_is_not_inverted(name: str) -> None:
    scores = {
        "constant": (-0.50, -0.51, -0.52, -0.48, -0.50),
        "tree": (-0.30, -0.28, -0.31, -0.33, -0.29),
        "linear": (-0.10, -0.12, -0.11, -0.09, -0.13),
    }
    choice = choose(trials_of(scores), measure(name), "binary")
    record = comparison_record(choice)
    assert record is not None
    assert [row.family for row in choice.leaderboard] == ["linear", "tree", "constant"]
    assert record.average_ranks == (1.0, 2.0, 3.0)
    assert "2 of 2 can be told from it" in record.verdict
    by_title = {row.title: np.array(row.fold_scores) for row in choice.leaderboard}
    for first, second, difference, *_, decision in record.pairs:
        expected = np.mean(by_title[first] - by_title[second])
        assert difference == pytest.approx(expected, rel=1e-9)
        assert decision == f"{first if difference < 0 else second} is better"
    for row in choice.leaderboard[1:]:
        assert row.difference is not None
        assert row.difference.low is not None
        assert row.difference.low > 0
