"""Wins, ties and losses: counts, margin, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.evaluation.comparison.ranks.signed_rank import win_tie_loss

# Steps of 1e-6, which no tolerance for rounding joins.
steps = st.integers(-(10**6), 10**6).map(lambda k: k / 10**6)


@given(st.lists(steps, min_size=1), steps.map(abs))
def test_every_difference_is_counted_once(differences: list[float], margin: float) -> None:
    found = win_tie_loss(differences, margin)
    assert sum(found) == len(differences)
    assert found.wins == sum(d > margin for d in differences)
    back = win_tie_loss([-d for d in differences], margin)
    assert (back.wins, back.losses) == (found.losses, found.wins)


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=1), st.integers(0, 9))
def test_decimal_scores_count_as_their_integers(pairs: list[tuple[int, int]], margin: int) -> None:
    whole = win_tie_loss([a - b for a, b in pairs], margin)
    assert win_tie_loss([a / 100 - b / 100 for a, b in pairs], margin / 100) == whole


def test_in_words() -> None:
    assert str(win_tie_loss([0.1, 0.0, -0.1, 0.2])) == "2/1/1"


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="first is nan"):
        win_tie_loss([np.nan])
    with pytest.raises(ValueError, match="at least 0; got -1"):
        win_tie_loss([0.1], -1)
