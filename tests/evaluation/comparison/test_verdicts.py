"""Verdicts: the words follow the numbers, names are safe, nothing is rounded to certainty."""

from __future__ import annotations

import numpy as np
import pytest

from novum.evaluation.comparison.comparison import Comparison, compare_scores

NOISE = np.tile([-0.01, 0.01], 10)


def verdict(differences: np.ndarray, **question: object) -> list[str]:
    scores = {"forest": 0.5 + differences, "tree": np.full(differences.size, 0.5)}
    options = {"n_repeats": 2, **question}
    return compare_scores(scores, 1 / 9, **options).verdict.splitlines()  # type: ignore[arg-type]


def test_better() -> None:
    first, pair = verdict(0.2 + NOISE)
    assert first == (
        "Highest score of 2 models: forest, 0.700 [0.691, 0.709]; it is better than tree."
    )
    assert pair == (
        "forest is better than tree: +0.2000 [0.1914, 0.2086], p < 0.0001, and by more than 0.01 "
        "with probability above 0.99."
    )


def test_the_better_model_comes_first_whichever_way_the_pair_is() -> None:
    pair = verdict(-0.2 + NOISE)[1]
    assert pair.startswith("tree is better than forest: +0.2000 [0.1914, 0.2086]")


def test_better_but_perhaps_too_little() -> None:
    pair = verdict(0.012 + NOISE)[1]
    assert "forest is better than tree" in pair
    assert "may be by too little to matter, as it exceeds 0.01 only with probability" in pair


def test_equal() -> None:
    first, pair = verdict(NOISE, rope=0.05)
    assert "for practical purposes equal to tree" in first
    assert "differ by at most 0.05 with probability above 0.99" in pair


def test_undecided_says_what_would_help() -> None:
    near = verdict(0.03 + 4 * NOISE, rope=0.05)[1]
    assert "are not told apart" in near
    assert "finds a difference of 0.05 with probability" in near
    assert "repeats find a difference of 0.05 with probability 0.8" in near
    far = verdict(5 * NOISE, rope=0.01)[1]
    assert "no number of repeats finds a difference of 0.01" in far
    assert "more rows lower that floor" in far


def test_without_a_region_the_detectable_difference_is_said() -> None:
    assert "with probability 0.8; smaller ones it may miss" in verdict(5 * NOISE, rope=0.0)[1]


def test_no_spread_is_said() -> None:
    same = verdict(np.full(20, 0.25))[1]
    assert "forest is ahead of tree by the same 0.25 in every fold" in same
    assert "no spread, so nothing tells how sure that is; the p-value is undefined" in same
    equal = verdict(np.zeros(20))
    assert "nothing to test" in equal[1]
    assert "equal for practical purposes" in equal[1]


def over_datasets(n: int, shift: float, spread: float = 0.005) -> Comparison:
    rng = np.random.default_rng(n)
    scores = {
        f"set {i}": {
            "forest": 0.6 + shift + spread * rng.normal(size=5),
            "tree": 0.6 + spread * rng.normal(size=5),
        }
        for i in range(n)
    }
    return compare_scores(scores, 1 / 4)


def test_over_data_sets() -> None:
    lines = over_datasets(10, 0.2).verdict.splitlines()
    assert lines[0].startswith("Best mean rank by score of 2 models: forest, 1.00; it is better")
    assert lines[1].startswith("Over 10 data sets the ranks of the models differ (Friedman")
    assert "forest is better than tree: higher on 10 of 10 data sets" in lines[2]
    assert "p = 0.002" in lines[2]
    assert "equal for practical purposes" in over_datasets(10, 0.0, 1e-4).verdict


def test_too_few_data_sets_are_said() -> None:
    assert "With 4 data sets no p-value can be below 0.125" in over_datasets(4, 0.2).verdict


@pytest.mark.parametrize("name", ["a\x1b[2J", "{x}", "%s", "\u202eb", "long" * 100])
def test_any_name_is_safe(name: str) -> None:
    scores = {name: 0.5 + NOISE, "tree": np.full(20, 0.5)}
    text = compare_scores(scores, 1 / 9, measure="{0} %d").verdict
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(len, text.splitlines())) < 800
