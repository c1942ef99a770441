"""Grid worlds: moves, slips, and maps that are wrong."""

from __future__ import annotations

import pytest

from novum.core.errors import InputError
from novum.reinforcement import GridWorld


def test_moves_slip_to_either_side_and_stop_at_walls() -> None:
    process = GridWorld.notes().process
    assert process.transition((3, 1), "up") == pytest.approx(
        {(3, 2): 0.8, (2, 1): 0.1, (4, 1): 0.1}
    )
    assert process.transition((1, 2), "right") == pytest.approx(
        {(1, 2): 0.8, (1, 3): 0.1, (1, 1): 0.1}
    )
    assert process.terminal_states == [(4, 2), (4, 3)]
    assert process.reward((1, 1), "up") == -0.04


def test_maps_that_are_wrong() -> None:
    with pytest.raises(InputError, match="same number of fields; these have 3, 2"):
        _ = GridWorld("...\n..").process
    with pytest.raises(InputError, match="The map has '!' in column 1, row 1"):
        _ = GridWorld("!.").process
    with pytest.raises(InputError, match=r"The end \(9, 9\) is outside of the map"):
        _ = GridWorld("..", ends={(9, 9): 1.0}).process
    with pytest.raises(InputError, match="slip is a probability"):
        _ = GridWorld("..+", slip=2.0).process
