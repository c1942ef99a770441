"""Wins, ties and losses: counts, margin, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.evaluation.comparison.ranks.win_tie_loss import win_tie_loss


@given(st.lists(st.floats(-1, 1), min_size=1), st.floats(0, 0.5))
def test_every_difference_is_counted_once(differences: list[float], margin: float) -> None:
    found = win_tie_loss(differences, margin)
    assert sum(found) == len(differences)
    assert found.wins == sum(d > margin for d in differences)
    back = win_tie_loss([-d for d in differences], margin)
    assert (back.wins, back.losses) == (found.losses, found.wins)


def test_in_words() -> None:
    assert str(win_tie_loss([0.1, 0.0, -0.1, 0.2])) == "2/1/1"


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="first is nan"):
        win_tie_loss([np.nan])
    with pytest.raises(ValueError, match="at least 0; got -1"):
        win_tie_loss([0.1], -1)
