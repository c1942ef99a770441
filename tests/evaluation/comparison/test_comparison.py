"""A comparison as a value: pairs, other questions, what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from novum.evaluation.comparison.comparison import Comparison, compare_scores
from novum.evaluation.comparison.dataset_pairs import DatasetPair
from novum.evaluation.comparison.fold_pairs import FoldPair
from novum.evaluation.comparison.pairs.t_tests import corrected_t_test

RNG = np.random.default_rng(0)
SCORES = {name: RNG.normal(mean, 0.02, 20) for name, mean in (("a", 0.9), ("b", 0.88), ("c", 0.5))}


def one(**options: object) -> Comparison:
    return compare_scores(SCORES, 1 / 9, **options)  # type: ignore[arg-type]


def several() -> Comparison:
    scores = {
        f"set {i}": {name: RNG.normal(mean, 0.02, 10) for name, mean in (("a", 0.9), ("b", 0.8))}
        for i in range(8)
    }
    return compare_scores(scores, 1 / 4)


def test_scores_and_means() -> None:
    found = one()
    assert found.models == ("a", "b", "c")
    assert found.datasets == ("data",)
    np.testing.assert_array_equal(found.scores["data"]["b"], SCORES["b"])
    interval = corrected_t_test(SCORES["b"], 1 / 9).interval
    assert interval is not None
    assert tuple(found.mean("b")) == pytest.approx(tuple(interval))


def test_pairs_of_one_data_set_and_of_several() -> None:
    found = one()
    assert found.ranks is None
    assert all(isinstance(pair, FoldPair) for pair in found.pairs)
    pair = found.pair("c", "a")
    assert (pair.first, pair.second) == ("a", "c")
    many = several()
    assert isinstance(many.pair("a", "b"), DatasetPair)
    single = many.pair("a", "b", dataset="set 3")
    assert isinstance(single, FoldPair)
    assert single.dataset == "set 3"


def test_other_questions_of_the_same_scores() -> None:
    found = one()
    assert found.question.effect == 0.01
    wider = found.judged(rope=0.1)
    assert wider.question.effect == 0.1
    assert wider.table is found.table
    assert wider.pair("a", "b").decision == "equal for practical purposes"
    assert len(found.judged(baseline="c").pairs) == 2
    assert found.judged(level=0.99).mean("a").half_width > found.mean("a").half_width
    kept = one(effect=0.03).judged(rope=0.1)
    assert kept.question.effect == 0.03


def test_copies_say_the_same() -> None:
    found = one()
    for copied in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert repr(copied) == repr(found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: one().pair("a", "z"), "'z' is none of the models: a, b, c"),
        (lambda: one(baseline="a").pair("b", "c"), "against the baseline 'a'"),
        (lambda: one().judged(measure="recall"), "'recall' was not measured. Known are score"),
        (lambda: one().judged(color="red"), "not color"),
        (lambda: several().mean("a"), "None is none of the data sets.*Name one"),
        (lambda: one(rope=-1.0), "rope is the largest difference"),
        (lambda: compare_scores({"a": [1, 2]}, 0.1), "at least 2 models, got only 'a'"),
        (lambda: compare_scores({}, 0.1), "at least 2 models, got none"),
        (
            lambda: compare_scores({"a": [1, 2], "b": [1, np.nan]}, 0.1),
            "nan of model 'b'",
        ),
    ],
)
def test_bad_input_is_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


# --- Losses ---------------------------------------------------------------------------------------

LOSSES = {"line": RNG.normal(5.0, 0.3, 10), "mean": RNG.normal(9.0, 0.3, 10)}


def losses(scores: dict[str, Any], greater_is_better: bool = False) -> Comparison:
    return compare_scores(
        scores, 1 / 4, measure="rmse", greater_is_better=greater_is_better, rope=0.05
    )


def turned_round(scores: dict[str, Any]) -> dict[str, Any]:
    nested = any(isinstance(value, dict) for value in scores.values())
    return {name: turned_round(v) if nested else -v for name, v in scores.items()}


@pytest.mark.parametrize("several", [False, True])
def test_losses_are_judged_as_scores_turned_round_and_shown_as_they_are(several: bool) -> None:
    given: dict[str, Any] = LOSSES
    if several:
        given = {
            f"set {i}": {"line": RNG.normal(5.0, 0.3, 10), "mean": RNG.normal(9.0, 0.3, 10)}
            for i in range(8)
        }
    found, mirrored = losses(given), losses(turned_round(given), greater_is_better=True)
    pair, mirror = found.pair("line", "mean"), mirrored.pair("line", "mean")
    assert pair.winner == mirror.winner == "line"
    assert pair.decision is mirror.decision
    assert pair.adjusted_p_value == pytest.approx(mirror.adjusted_p_value, rel=1e-9)
    assert pair.difference.estimate == pytest.approx(-mirror.difference.estimate, rel=1e-12)
    assert -5 < pair.difference.low < pair.difference.high < -3
    if several:
        assert found.ranks is not None
        assert mirrored.ranks is not None
        assert found.ranks.friedman.mean_ranks == mirrored.ranks.friedman.mean_ranks == (1.0, 2.0)
        assert found.ranks.diagram.names[0] == "line"
        assert isinstance(pair, DatasetPair)
        assert isinstance(mirror, DatasetPair)
        assert pair.counts == mirror.counts
        assert pair.counts_by_estimate == mirror.counts_by_estimate
        assert "line is better than mean: lower on 8 of 8 data sets" in found.verdict
    else:
        assert found.mean("line").estimate == pytest.approx(LOSSES["line"].mean())
        assert found.verdict.startswith("Lowest rmse of 2 models: line, ")
        assert "line is better than mean: -" in found.verdict
        shown = found.to_frame().to_pylist()[0]
        assert shown["probability_first"] > 0.99
        assert shown["probability_second"] < 0.01
        assert shown["first_mean"] == pytest.approx(LOSSES["line"].mean())
    assert "(less is better)" in repr(found)
    assert "-5." not in repr(found).split("Pairs")[0]
    axes = found.plot("scores")
    assert axes.get_ylabel() == "rmse (less is better)"
    assert axes.get_ylim()[0] > 0
