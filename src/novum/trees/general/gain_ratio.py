"""Gain ratio: how C4.5 chooses among tests.

The information gain of a test favors columns with many values: a column of row numbers separates
everything. C4.5 divides by what the test tells about the row itself,

    gain ratio = gain / information,    information = -sum_b (W_b / W) log2 (W_b / W),

over the branches b and, as one branch more, the rows whose cell is missing. `gain` is in bits for
one row of the node, rows with a missing cell count as rows that gain nothing. Because a small
information makes any gain look large, only tests whose gain is at least the average gain of all
tests compete; because the best of n thresholds was chosen by looking, a threshold pays

    log2(n) / W

of its gain, where n is the number of thresholds tried (Quinlan 1996). The rules of Weka's J48 are
kept to the constant: `TOLERANCE` is what it takes for equal, `SLACK` what a gain may lack to the
average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from novum.core.errors import InputError
from novum.numerics import Floats, Integers, Mask

TOLERANCE = 1e-6
SLACK = 1e-3
# Columns with more levels than this part of the rows do not take part in the average.
MANY_LEVELS = 0.3


@dataclass(frozen=True)
class GainRatio:
    """Choice of splits by gain ratio, as in C4.5 and Weka's J48.

    Parameters
    ----------
    numeric_penalty : bool, default=True
        Whether a threshold pays for having been chosen among many.
    at_least_average : bool, default=True
        Whether only tests of at least average gain compete.
    resolution : float, default=0.0
        Neighboring values of a column that differ by no more than this are one value. J48 has 1e-5
        here; 0 keeps a tree the same when a column is measured in other units.

    Notes
    -----
    With this criterion `min_samples_leaf` is C4.5's `-M`: a split needs two branches with at least
    that known weight, and a threshold needs on both sides

        max(min_samples_leaf, min(25, W / (10 number of classes))),    W known weight of the node.

    A node of less than twice `min_samples_leaf` is a leaf. Of equal tests the first column is
    taken, and of equal thresholds the lowest.

    References
    ----------
    J. R. Quinlan, C4.5: Programs for Machine Learning, 1993, sections 2.2 and 2.4.
    J. R. Quinlan, Improved use of continuous attributes in C4.5, JAIR 4, 1996, equation 6.

    Examples
    --------
    >>> GainRatio().resolution
    0.0
    """

    numeric_penalty: bool = True
    at_least_average: bool = True
    resolution: float = 0.0

    def __post_init__(self) -> None:
        for name in ("numeric_penalty", "at_least_average"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise InputError(f"{name} is true or false, got {getattr(self, name)!r}.")
        number = isinstance(self.resolution, int | float | np.number)
        if not (number and np.isfinite(self.resolution) and self.resolution >= 0):
            raise InputError(f"resolution is a number of at least 0, got {self.resolution!r}.")

    def chosen_column(self, gain: Floats, information: Floats, counted: Mask) -> int:
        """The column whose test is chosen; -1 where none is worth it.

        Parameters
        ----------
        gain : array (n_columns,)
            Of the best test of each column, in bits for one row, penalty taken off; NaN where the
            column has no test.
        information : array (n_columns,)
            Of the same tests.
        counted : boolean array (n_columns,)
            Whether the column takes part in the average.

        Examples
        --------
        >>> gain, information = np.array([0.25, 0.249, np.nan]), np.array([1.5, 1.0, 1.0])
        >>> GainRatio().chosen_column(gain, information, np.ones(3, bool))
        1
        """
        tested = ~np.isnan(gain)
        averaged = tested & counted
        if not averaged.any():
            return -1
        floor = -np.inf
        if self.at_least_average:
            floor = float(gain[averaged].sum() / averaged.sum()) - SLACK
        best, chosen = 0.0, -1
        for column in np.flatnonzero(tested & (information > TOLERANCE)):
            ratio = float(gain[column] / information[column])
            if gain[column] >= floor and ratio > best + TOLERANCE:
                best, chosen = ratio, int(column)
        return chosen


def split_information(weights: Floats, total: float) -> Any:
    """Entropy in bits of the parts of a node of weight `total`, along the last axis.

    The parts are the branches and, if any, the rows whose cell is missing.

    Examples
    --------
    >>> round(float(split_information(np.array([5.0, 4.0, 5.0]), 14.0)), 3)
    1.577
    """
    return information_parts(weights, total).sum(axis=-1)


def information_parts(weights: Floats, total: float) -> Floats:
    """What each part adds to the information; nothing where rounding alone made its weight."""
    shares = np.where(weights > TOLERANCE, weights, 0.0) / total
    return np.asarray(special.entr(shares) / np.log(2.0))


def takes_part(n_levels: Integers, total: float) -> Mask:
    """Which columns take part in the average gain; 0 levels stand for an ordered column.

    Columns with very many levels are left out, unless all columns are of that kind.

    Examples
    --------
    >>> takes_part(np.array([0, 3, 14]), 14.0).tolist()
    [True, True, False]
    """
    few = (n_levels == 0) | (n_levels < MANY_LEVELS * total - TOLERANCE)
    return few if few.any() else np.ones(len(n_levels), bool)
