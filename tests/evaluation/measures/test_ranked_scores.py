"""Ranked scores: thresholds decide as they say, resampled sums are those of repeated rows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.evaluation.measures.reading import read_scored
from novum.evaluation.measures.separation import rank_scores

floats = st.floats(allow_nan=False, width=64)
rows = st.lists(st.tuples(st.booleans(), floats), min_size=2, max_size=20).filter(
    lambda found: 0 < sum(row[0] for row in found) < len(found)
)


@given(rows)
def test_every_threshold_accepts_its_part_of_the_ranking(found: Any) -> None:
    y, s = np.array([row[0] for row in found]), np.array([row[1] for row in found])
    ranked = rank_scores(read_scored(y, s))
    tp, fp = ranked.accepted()
    for k, threshold in enumerate(ranked.thresholds):
        above = s > threshold if k < len(tp) - 1 else np.full(len(s), True)
        assert tp[k] == (above & y).sum()
        assert fp[k] == (above & ~y).sum()


@given(rows, st.integers(0, 2**32 - 1))
def test_resampled_sums_are_those_of_repeated_rows(found: Any, seed: Any) -> None:
    y, s = np.array([row[0] for row in found]), np.array([row[1] for row in found])
    ranked = rank_scores(read_scored(y, s))
    weights = np.random.default_rng(seed).integers(0, 4, (3, len(s))).astype(float)
    tp, fp = ranked.accepted(weights)
    for row, hits, alarms in zip(weights, tp, fp, strict=True):
        for k, value in enumerate(ranked.values):
            assert hits[k + 1] == row[(s >= value) & y].sum()
            assert alarms[k + 1] == row[(s >= value) & ~y].sum()


def test_counts_are_confusion_matrices() -> None:
    ranked = rank_scores(read_scored([0, 1, 1], [1.0, 2.0, 2.0], sample_weight=[2, 1, 0.5]))
    assert ranked.counts().tolist() == [
        [[2, 0], [1.5, 0]],
        [[2, 0], [0, 1.5]],
        [[0, 2], [0, 1.5]],
    ]


def test_neighboring_floats_are_told_apart() -> None:
    low = 1.0
    high = np.nextafter(low, 2)
    ranked = rank_scores(read_scored([0, 1], [low, high]))
    assert low <= ranked.thresholds[1] < high
    assert ranked.thresholds[0] == np.inf
    assert ranked.thresholds[-1] == -np.inf


@pytest.mark.parametrize("big", [1e308, 1.7e308])
def test_halfway_between_huge_scores_is_finite(big: Any) -> None:
    thresholds = rank_scores(read_scored([0, 1], [big / 1.1, big])).thresholds
    assert big / 1.1 <= thresholds[1] < big
