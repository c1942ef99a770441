"""Scores of classes against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.evaluation.conformal.class_scores import (
    Adaptive,
    LeastAmbiguous,
    RegularizedAdaptive,
    class_score,
)

RNG = np.random.default_rng(0)
PROBABILITIES = RNG.dirichlet(np.ones(6), size=40)
DRAWS = RNG.random(40)


def test_least_ambiguous_is_what_is_missing_to_one() -> None:
    np.testing.assert_array_equal(LeastAmbiguous()(PROBABILITIES, DRAWS), 1 - PROBABILITIES)


@pytest.mark.parametrize("randomized", [True, False])
@pytest.mark.parametrize(("penalty", "free"), [(0.0, 0), (0.1, 2)])
def test_adaptive_scores_by_their_definition(randomized: bool, penalty: float, free: int) -> None:
    score = RegularizedAdaptive(randomized, penalty, free) if free else Adaptive(randomized)
    found = score(PROBABILITIES, DRAWS)
    for row, (p, u) in enumerate(zip(PROBABILITIES, DRAWS, strict=True)):
        for k in range(6):
            before, rank = p[p > p[k]].sum(), 1 + (p > p[k]).sum()
            expected = before + (u if randomized else 1.0) * p[k]
            expected += penalty * max(0, rank - free) if free else 0.0
            assert found[row, k] == pytest.approx(expected, abs=1e-14)


def test_names() -> None:
    assert class_score("raps") == RegularizedAdaptive()
    assert class_score(Adaptive(False)) == Adaptive(False)
    assert [class_score(name).name for name in ("lac", "aps", "raps")] == ["lac", "aps", "raps"]


def test_a_negative_price_is_refused() -> None:
    with pytest.raises(InputError, match="at least 0"):
        RegularizedAdaptive(penalty=-1.0)
