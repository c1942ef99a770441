"""Splits of nominal columns from sums by level.

What a split gains depends on a node's rows only through the sums of each level of the column, so
all ways to group the levels are compared without looking at rows again:

    gain(groups) = (sum_b score(group b) - score(node)) / number of targets

with the score of `general.growing_kernels`. `"multiway"` makes every level that occurs a group of
its own, `"single"` sets one level apart, `"subset"` seeks the best two sets: among all pairs of
sets of a few levels, and among the cuts of many levels in one order. With two classes, or one
number as target, the order of the means has the best pair of all (Breiman et al. 1984, theorem
4.5); otherwise the order along the principal axis of the means has a good one (Coppersmith, Hong
and Hosking 1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Protocol

import numpy as np
from scipy import special

from novum.numerics import Codes, Floats, Integers, Mask

# The least weight that is one.
_ANY = np.finfo(np.float64).tiny


class LevelScores(Protocol):
    """Scores of groups of levels; the last place of a group is for the missing cells."""

    @property
    def weight(self) -> Floats:
        """Weight of each level, and of the missing cells."""

    @property
    def n_targets(self) -> int: ...

    def scores(self, groups: Mask) -> Floats:
        """The score of each group, (n_groups,) from (n_groups, n_levels + 1)."""

    @property
    def exhaustive(self) -> int:
        """The most levels of which all pairs of sets are tried."""

    def axis(self, levels: Integers) -> Floats:
        """Numbers by which many levels are put in order."""


@dataclass(frozen=True, eq=False)
class SumScores:
    """Scores from sums: entropy, Gini, squared error.

    Attributes
    ----------
    sums : array (n_levels + 1, n_slots)
    weight : array (n_levels + 1,)
    n_targets : int
    bits : bool
        Entropy, or sums of squares.
    """

    sums: Floats
    weight: Floats
    n_targets: int
    bits: bool
    exhaustive: ClassVar[int] = 8

    def scores(self, groups: Mask) -> Floats:
        chosen = groups.astype(np.float64)
        return scores_of(chosen @ self.sums, chosen @ self.weight, self.n_targets, self.bits)

    def axis(self, levels: Integers) -> Floats:
        weight = self.weight[levels]
        means = self.sums[levels] / weight[:, np.newaxis]
        if self.n_targets == 1 and means.shape[1] <= 2:
            return means[:, -1]
        centered = means - weight @ means / weight.sum()
        covariance = (centered.T * weight) @ centered
        return np.asarray(centered @ np.linalg.eigh(covariance)[1][:, -1])


def scores_of(sums: Floats, weight: Floats, n_targets: int, bits: bool) -> Floats:
    """The score of every row of sums; 0 where there is no weight.

    Examples
    --------
    >>> scores_of(np.array([[1.0, 3.0]]), np.array([4.0]), 1, False).tolist()
    [2.5]
    """
    if bits:
        kept = np.maximum(sums, 0.0)
        inside = special.xlogy(kept, kept).sum(axis=1) - n_targets * special.xlogy(weight, weight)
        return np.asarray(inside / np.log(2.0))
    return np.asarray((sums * sums).sum(axis=1) / np.where(weight > 0, weight, 1.0))


# --- Grouping one column --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Grouping:
    """The best split of one nominal column.

    Attributes
    ----------
    gain : float
    branch : int32 array (n_levels,), of each level; -1 for those that do not occur
    missing_branch : int
        -1 where missing cells go down as fractions.
    """

    gain: float
    branch: Codes
    missing_branch: int = -1

    @property
    def n_branches(self) -> int:
        return max(int(self.branch.max()), self.missing_branch) + 1


def better(first: Grouping | None, second: Grouping | None, margin: float) -> Grouping | None:
    """The second if it gains more than the first, by more than `margin`."""
    if first is None or (second is not None and second.gain > first.gain + margin):
        return second
    return first


def known_or_missing(levels: LevelScores, least: float) -> Grouping | None:
    """All levels in one branch, missing cells in the other."""
    if min(float(levels.weight[:-1].sum()), float(levels.weight[-1])) < max(least, _ANY):
        return None
    whole = _whole(levels, missing=True)
    alone = np.zeros((1, len(levels.weight)), bool)
    alone[0, -1] = True
    parts = _whole(levels, missing=False) + float(levels.scores(alone)[0])
    gain = max((parts - whole) / levels.n_targets, 0.0)
    return Grouping(gain, np.zeros(len(levels.weight) - 1, np.int32), 1)


def missing_as_level(levels: LevelScores, least: float, enough: int | None) -> Grouping | None:
    """One branch for each level that occurs, and one more for missing cells; see `every_level`."""
    present = np.flatnonzero(levels.weight > 0)
    if present.size < 2 or levels.weight[-1] <= 0:
        return None
    if not _heavy_enough(levels.weight[present], least, enough):
        return None
    scores = levels.scores(np.eye(len(levels.weight), dtype=bool)[present])
    branch = np.full(len(levels.weight), -1, np.int32)
    branch[present] = np.arange(present.size)
    gain = float(scores.sum() - _whole(levels, missing=True)) / levels.n_targets
    return Grouping(gain, branch[:-1], int(branch[-1]))


def every_level(
    levels: LevelScores, least: float, enough: int | None, directed: bool
) -> Grouping | None:
    """One branch for each level that occurs.

    Parameters
    ----------
    levels : LevelScores
    least : float
        Weight that a branch must have.
    enough : int, optional
        How many branches must have it; all if None.
    directed : bool
        Whether missing cells join the branch where they cost least.
    """
    present = np.flatnonzero(levels.weight[:-1] > 0)
    if present.size < 2:
        return None
    alone = np.eye(len(levels.weight), dtype=bool)[present]
    scores = levels.scores(alone)
    branch = np.full(len(levels.weight) - 1, -1, np.int32)
    branch[present] = np.arange(present.size)
    weights = levels.weight[present]
    if not (directed and levels.weight[-1] > 0):
        if not _heavy_enough(weights, least, enough):
            return None
        node = _whole(levels, missing=False)
        return Grouping(float(scores.sum() - node) / levels.n_targets, branch)
    joined = alone.copy()
    joined[:, -1] = True
    added = levels.scores(joined) - scores
    for place in range(present.size):
        with_missing = weights + levels.weight[-1] * (np.arange(present.size) == place)
        if not _heavy_enough(with_missing, least, enough):
            added[place] = -np.inf
    towards = int(np.argmax(added))
    if added[towards] == -np.inf:
        return None
    node = _whole(levels, missing=True)
    return Grouping(float(scores.sum() + added[towards] - node) / levels.n_targets, branch, towards)


def every_level_gains(
    table: Floats, starts: Integers, least: float, enough: int | None, how: SumScores
) -> Floats:
    """What `every_level` gains in each of many columns, missing cells left out; NaN for none.

    Parameters
    ----------
    table : array (n_rows, n_slots + 1)
        Sums and, last, weight of the levels of one column after the other, each column's missing
        cells behind its levels.
    starts : array (n_columns + 1,)
        Where each column's rows begin.
    least, enough
        See `every_level`.
    how : SumScores
        For its number of targets and kind of score.
    """
    missing = starts[1:] - 1
    sums, weight = table[:, :-1], table[:, -1].copy()
    known = np.add.reduceat(table, starts[:-1], axis=0) - table[missing]
    weight[missing] = 0.0
    scores = scores_of(sums, weight, how.n_targets, how.bits)
    scores[missing] = 0.0
    node = scores_of(known[:, :-1], known[:, -1], how.n_targets, how.bits)
    present = np.add.reduceat(weight > 0, starts[:-1], dtype=np.int64)
    heavy = np.add.reduceat((weight >= least) & (weight > 0), starts[:-1], dtype=np.int64)
    valid = (present >= 2) & (heavy >= (present if enough is None else enough))
    gains = (np.add.reduceat(scores, starts[:-1]) - node) / how.n_targets
    return np.asarray(np.where(valid, gains, np.nan))


def two_sets(
    levels: LevelScores,
    groups: Mask,
    least: float,
    margin: float,
    directed: bool,
) -> Grouping | None:
    """The best of some ways to make two sets of levels.

    Parameters
    ----------
    levels : LevelScores
    groups : boolean array (n_groups, n_levels)
        The levels of branch 0.
    least : float
        Weight that both branches must have.
    margin : float
        Gains that differ by less are equal, and the first is taken.
    directed : bool
        Whether missing cells are tried in both branches.
    """
    directed = directed and bool(levels.weight[-1] > 0)
    present = levels.weight[:-1] > 0
    node = _whole(levels, missing=directed)
    scores = np.full((len(groups), 2), -np.inf)
    for towards in (0, 1) if directed else (0,):
        with_zero = np.full((len(groups), 1), directed and towards == 0)
        zero = np.hstack([groups, with_zero])
        one = np.hstack([present & ~groups, np.full((len(groups), 1), directed and towards == 1)])
        valid = (zero @ levels.weight >= least) & (one @ levels.weight >= least)
        gains = (levels.scores(zero) + levels.scores(one) - node) / levels.n_targets
        scores[:, towards] = np.where(valid, gains, -np.inf)
    if not np.isfinite(scores).any():
        return None
    at, towards = divmod(int(np.argmax(scores.ravel() >= scores.max() - margin)), 2)
    branch = np.where(groups[at], 0, 1).astype(np.int32)
    branch[~present] = -1
    return Grouping(float(scores[at, towards]), branch, towards if directed else -1)


def single_groups(levels: LevelScores) -> Mask:
    """Each level against the others; branch 0 has the lowest level that occurs.

    Examples
    --------
    >>> three = SumScores(np.ones((4, 2)), np.array([2.0, 2.0, 2.0, 0.0]), 1, True)
    >>> single_groups(three).astype(int).tolist()
    [[1, 0, 0], [1, 0, 1], [1, 1, 0]]
    """
    present = levels.weight[:-1] > 0
    lone = np.eye(present.size, dtype=bool)[present]
    # Of two levels, one against the other is the other against the one.
    return _with_the_lowest(lone if len(lone) > 2 else lone[: len(lone) - 1], present)


def subset_groups(levels: LevelScores) -> Mask:
    """Pairs of sets among which the best, or a good one, is found.

    Examples
    --------
    >>> sums = np.array([[0.0, 2.0], [2.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> subset_groups(SumScores(sums, sums.sum(axis=1), 1, True)).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
    """
    present = levels.weight[:-1] > 0
    codes = np.flatnonzero(present)
    if codes.size < 2:
        return np.zeros((0, present.size), bool)
    if codes.size <= levels.exhaustive:
        groups = np.zeros((2 ** (codes.size - 1) - 1, present.size), bool)
        groups[:, codes] = _all_pairs(int(codes.size))
        return groups
    order = codes[np.argsort(levels.axis(codes), kind="stable")]
    groups = np.zeros((codes.size - 1, present.size), bool)
    for cut in range(codes.size - 1):
        groups[cut, order[: cut + 1]] = True
    return _with_the_lowest(groups, present)


def random_groups(levels: LevelScores, nominal: str, rng: np.random.Generator) -> Mask:
    """One pair of sets at random: a level against the others, or any two sets."""
    present = levels.weight[:-1] > 0
    codes = np.flatnonzero(present)
    group = np.zeros((1, present.size), bool)
    if codes.size < 2:
        return group[:0]
    if nominal == "single":
        group[0, rng.choice(codes)] = True
    else:
        n_chosen = int(rng.integers(1, codes.size))
        group[0, rng.permutation(codes)[:n_chosen]] = True
    return _with_the_lowest(group, present)


@cache
def _all_pairs(n_levels: int) -> Mask:
    """All pairs of sets, in the lexicographic order of the one with the lowest level."""
    bits = np.arange(2 ** (n_levels - 1) - 1)[:, np.newaxis] >> np.arange(n_levels - 1) & 1
    sets = sorted((0, *(1 + np.flatnonzero(row)).tolist()) for row in bits)
    groups = np.zeros((len(sets), n_levels), bool)
    for place, chosen in enumerate(sets):
        groups[place, list(chosen)] = True
    groups.flags.writeable = False
    return groups


def _with_the_lowest(groups: Mask, present: Mask) -> Mask:
    """The same pairs of sets, described by the one that has the lowest level."""
    lowest = int(np.argmax(present))
    return np.where(groups[:, lowest, np.newaxis], groups, present & ~groups)


def _heavy_enough(weights: Floats, least: float, enough: int | None) -> bool:
    heavy = int((weights >= least).sum())
    return heavy >= (len(weights) if enough is None else enough)


def _whole(levels: LevelScores, missing: bool) -> float:
    everything = np.ones((1, len(levels.weight)), bool)
    everything[0, -1] = missing
    return float(levels.scores(everything)[0])
