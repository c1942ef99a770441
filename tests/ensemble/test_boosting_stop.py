"""Early stopping: which rows are held out, and when patience ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.ensemble.adaboost_rounds import BestRound, EarlyStopping


@given(st.lists(st.integers(0, 3), min_size=20, max_size=60), st.floats(0.2, 0.8))
def test_every_class_gives_its_share_and_keeps_a_row(labels: list[int], share: float) -> None:
    target = np.unique(labels, return_inverse=True)[1]
    marked = EarlyStopping(share).held_out(target, np.random.default_rng(0))
    for code in np.unique(target):
        count, held = (target == code).sum(), marked[target == code].sum()
        assert held == min(round(share * count), count - 1)


def test_a_number_of_rows() -> None:
    marked = EarlyStopping(10).held_out(np.arange(40) % 2, np.random.default_rng(0))
    assert marked.sum() == 10


def test_the_choice_is_random_and_repeatable() -> None:
    target = np.zeros(50, np.int64)
    one, same, other = (
        EarlyStopping(0.5).held_out(target, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert (one == same).all()
    assert (one != other).any()


def test_no_row_to_hold_out_is_said() -> None:
    with pytest.raises(InputError, match="of 3 rows in 3 classes holds out no row"):
        EarlyStopping(0.5).held_out(np.arange(3), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"validation": 0.0}, "validation is a share"),
        ({"validation": 1.5}, "validation is a share"),
        ({"validation": True}, "validation is a share"),
        ({"validation": "all"}, "validation is a share"),
        ({"patience": 0}, "patience is a whole number"),
        ({"tol": -1.0}, "tol is a number"),
        ({"tol": np.nan}, "tol is a number"),
    ],
)
def test_impossible_rules_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        EarlyStopping(**params)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(1, 5))
def test_patience_by_definition(scores: list[int], patience: int) -> None:
    best = BestRound(EarlyStopping(patience=patience))
    done = 0
    for score in scores:
        done += 1
        if best.is_over(float(score)):
            break
    seen = scores[:done]
    assert best.rounds == seen.index(max(seen)) + 1
    assert done - best.rounds == patience or done == len(scores)
    assert done - best.rounds <= patience


def test_a_score_within_tol_is_not_better() -> None:
    best = BestRound(EarlyStopping(patience=3, tol=0.1))
    assert [best.is_over(score) for score in (0.5, 0.55, 0.6)] == [False, False, False]
    assert best.rounds == 1
