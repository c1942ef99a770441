"""Pairs over data sets: signed ranks of the means, ranks, counts, decisions."""

from __future__ import annotations

import numpy as np
import pytest

from novum.evaluation.comparison.dataset_pairs import rank_report
from novum.evaluation.comparison.fold_pairs import Decision, Question
from novum.evaluation.comparison.ranks.friedman import (
    baseline_p_values,
    friedman_test,
    nemenyi_p_values,
)
from novum.evaluation.comparison.ranks.multiplicity import holm_adjusted
from novum.evaluation.comparison.ranks.signed_rank import signed_rank_test
from novum.evaluation.comparison.score_table import ScoreTable, table_of_scores

MODELS = ("a", "b", "c")


def table(means: np.ndarray, spread: float = 0.02, seed: int = 0) -> ScoreTable:
    rng = np.random.default_rng(seed)
    scores = {
        f"set {i}": {
            model: mean + spread * rng.normal(size=10)
            for model, mean in zip(MODELS, row, strict=False)
        }
        for i, row in enumerate(means)
    }
    return table_of_scores(scores, "accuracy", 1 / 9)


MEANS = np.random.default_rng(1).uniform(0.5, 0.7, (12, 1)) + np.array([0.15, 0.12, 0.0])


def test_every_number_is_that_of_its_test() -> None:
    data = table(MEANS)
    means = data.means("accuracy")
    found = rank_report(data, Question("accuracy").checked(MODELS))
    assert found.friedman == friedman_test(means)
    differences = [means[:, i] - means[:, j] for i, j in ((0, 1), (0, 2), (1, 2))]
    plain = [signed_rank_test(d).p_value for d in differences]
    np.testing.assert_allclose([p.signed_rank.p_value for p in found.pairs], plain)
    np.testing.assert_allclose([p.adjusted_p_value for p in found.pairs], holm_adjusted(plain))
    nemenyi = nemenyi_p_values(found.friedman.mean_ranks, 12)
    assert [p.rank_p_value for p in found.pairs] == [nemenyi[0, 1], nemenyi[0, 2], nemenyi[1, 2]]
    for pair, d in zip(found.pairs, differences, strict=True):
        assert pair.counts_by_estimate.wins == int((d > 0).sum())
        assert sum(pair.counts) == 12
        significant = [p.corrected.significant for p in pair.by_dataset]
        assert pair.counts.ties == 12 - sum(significant)


def test_against_a_baseline() -> None:
    data = table(MEANS)
    found = rank_report(data, Question("accuracy", baseline="c").checked(MODELS))
    assert [(p.first, p.second) for p in found.pairs] == [("a", "c"), ("b", "c")]
    expected = baseline_p_values(found.friedman.mean_ranks, 12, 2)
    assert [p.rank_p_value for p in found.pairs] == expected[:2].tolist()


@pytest.mark.parametrize(
    ("shift", "spread", "decision"),
    [
        (0.2, 0.001, Decision.BETTER),
        (0.011, 0.005, Decision.SLIGHTLY_BETTER),
        (0.0, 0.001, Decision.EQUAL),
        (0.0, 0.3, Decision.UNDECIDED),
    ],
)
def test_the_four_decisions(shift: float, spread: float, decision: Decision) -> None:
    means = np.full((15, 2), 0.5)
    means[:, 0] += shift
    found = rank_report(table(means, spread), Question("accuracy").checked(("a", "b")))
    assert found.pairs[0].decision is decision
    better = decision in (Decision.BETTER, Decision.SLIGHTLY_BETTER)
    assert found.pairs[0].winner == ("a" if better else None)


def test_means_of_the_same_scores_are_ties() -> None:
    # The same ten numbers in another order: their means differ in the last bit.
    values = np.random.default_rng(3).random(10)
    scores = {
        str(i): {"a": values + i, "b": np.random.default_rng(i).permutation(values) + i}
        for i in range(6)
    }
    found = rank_report(table_of_scores(scores, "s", 0.1), Question("s").checked(("a", "b")))
    assert found.friedman.mean_ranks == (1.5, 1.5)
    assert found.pairs[0].counts_by_estimate == (0, 6, 0)
