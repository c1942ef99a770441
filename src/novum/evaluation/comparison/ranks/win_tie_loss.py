"""Counting wins, ties and losses over data sets.

A description, not a test: with many data sets some of the counted differences are chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from novum.evaluation.comparison.pairs.outcome import checked_rope, checked_values
from novum.numerics.ties import merge_differences


class WinTieLoss(NamedTuple):
    """On how many data sets the first model is better, equal, and worse."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}/{self.ties}/{self.losses}"


def win_tie_loss(differences: ArrayLike, margin: float = 0.0) -> WinTieLoss:
    """Counts differences above, within and below a margin.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        Score of the first model minus that of the second.
    margin : float
        Differences up to this size are ties, also where rounding alone makes them larger.

    Examples
    --------
    >>> win_tie_loss([0.02, 0.0, -0.001, 0.3], margin=0.01)
    WinTieLoss(wins=2, ties=2, losses=0)
    >>> win_tie_loss([0.83 - 0.82], margin=0.01)
    WinTieLoss(wins=0, ties=1, losses=0)
    """
    size = checked_rope(margin)
    found = merge_differences(checked_values(differences, "The differences", 1), size)
    return WinTieLoss(
        int(np.sum(found > size)), int(np.sum(np.abs(found) <= size)), int(np.sum(found < -size))
    )
