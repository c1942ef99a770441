"""Which rows each tree of a forest learns from.

Tree t has streams of random numbers of its own, functions of the seed and t alone. A bootstrap
sample draws rows with replacement, in proportion to their weights; what a tree is given is how
often each row was drawn. Of N draws among N equal rows a row is missed with probability

    (1 - 1/N)^N  ->  1/e:      about 37 % of the rows are out of the bag of a tree.

Nothing drawn is kept: the same call draws the same rows again.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.runtime import check_memory, key_words, run_tasks, stream
from novum.numerics import Array, Codes, Floats, Integers, cached_property
from novum.trees.forests.forest_routing import added_answers
from novum.trees.forests.forest_value import Forest


@dataclass(frozen=True, eq=False)
class ForestDraws:
    """The draws of the trees `first` to `stop - 1`.

    Parameters
    ----------
    seed_words : uint32 array (4,)
        Root of all streams.
    first, stop : int
        The trees that it is for.
    n_rows : int
        Rows of the table that have a weight.
    n_draws : int
        For each tree; 0 where every tree learns from all rows.
    weight : float64 array (n_rows,), or None if all are alike
        Rows are drawn in proportion to it.
    kept : int64 array (n_rows,), or None for all
        Positions of the rows in the table that `fit` was given.
    checksum : int
        Of the table's cells and targets, to know it again.

    Examples
    --------
    >>> draws = ForestDraws(np.array([1, 2, 3, 4], np.uint32), 0, 2, n_rows=5, n_draws=5)
    >>> len(draws.rows(0)), bool((draws.rows(0) == draws.rows(0)).all())
    (5, True)
    """

    seed_words: NDArray[np.uint32]
    first: int
    stop: int
    n_rows: int
    n_draws: int = 0
    weight: Floats | None = None
    kept: Integers | None = None
    checksum: int = 0

    def __post_init__(self) -> None:
        words = np.asarray(self.seed_words)
        if words.shape != (4,) or words.dtype != np.uint32:
            raise InputError("The seed of a forest is four words of 32 bits.")
        if not 0 <= self.first <= self.stop or self.n_rows < 1 or self.n_draws < 0:
            raise InputError(f"Draws for the trees {self.first} to {self.stop} are none.")
        for name in ("weight", "kept"):
            array = getattr(self, name)
            if array is not None and np.shape(array) != (self.n_rows,):
                raise InputError(f"Draws from {self.n_rows} rows have a {name} of other length.")

    def rows(self, tree: int) -> Integers:
        """The rows drawn for a tree, in the order drawn; all of them without draws."""
        if not self.n_draws:
            return np.arange(self.n_rows)
        if self.weight is None:
            from novum.numerics import stream_scratch, whole_numbers

            rows = np.empty(self.n_draws, np.int64)
            whole_numbers(self._words("rows"), tree, self.n_rows, stream_scratch(), rows)
            return rows
        rng = stream(self._root, "rows", tree)
        # A row of weight zero has an interval of length zero, open on the right: none falls in.
        return np.searchsorted(self._cumulative, rng.random(self.n_draws), side="right")

    def counts(self, trees: range) -> Codes:
        """How often each row was drawn for each of the trees, (n_trees, n_rows)."""
        counts = np.empty((len(trees), self.n_rows), np.int32)
        if self.weight is None and self.n_draws:
            from novum.numerics import draw_counts, stream_scratch

            draw_counts(self._words("rows"), trees.start, self.n_draws, stream_scratch(), counts)
            return counts
        for place, tree in enumerate(trees):
            counts[place] = np.bincount(self.rows(tree), minlength=self.n_rows)
        return counts

    def out_of_bag(self, tree: int) -> Integers:
        """The rows that a tree has not seen."""
        return np.flatnonzero(self.counts(range(tree, tree + 1))[0] == 0)

    def given_rows(self, tree: int) -> Codes:
        """`rows` as positions in the table that `fit` was given."""
        rows = self.rows(tree)
        return np.asarray(rows if self.kept is None else self.kept[rows], np.int32)

    def growing_stream(self, tree: int) -> np.random.Generator:
        """The random numbers by which a tree is grown."""
        return stream(self._root, "growing", tree)

    def growing_seeds(self, trees: range) -> NDArray[np.uint64]:
        """The first word of the growing streams of the trees, (n_trees,)."""
        from novum.numerics import positive_words, stream_scratch

        seeds = np.empty(len(trees), np.uint64)
        positive_words(self._words("growing"), trees.start, stream_scratch(), seeds)
        return seeds

    def seed(self, tree: int) -> int:
        """A number that names the streams of a tree, for the `random_state` of its estimator."""
        return int(stream(self._root, "estimator", tree).integers(2**31))

    def _words(self, kind: str) -> NDArray[np.uint32]:
        """The words of all streams of a kind; a tree's number follows them."""
        return np.concatenate([self.seed_words, np.array(key_words(kind), np.uint32)])

    @cached_property
    def _root(self) -> np.random.SeedSequence:
        return np.random.SeedSequence([int(word) for word in self.seed_words])

    @cached_property
    def _cumulative(self) -> Floats:
        assert self.weight is not None
        sums = np.cumsum(self.weight)
        return sums / sums[-1]


def n_row_draws(max_samples: Any, weight: Floats) -> int:
    """How many rows a bootstrap sample draws, by the rules of scikit-learn.

    Parameters
    ----------
    max_samples : None, int or float
        None draws as many as there are rows, an integer that many, a fraction that part of the
        total weight.
    weight : array (n_rows,)

    Examples
    --------
    >>> n_row_draws(0.5, np.ones(10)), n_row_draws(None, np.ones(10))
    (5, 10)
    """
    if max_samples is None:
        draws = len(weight)
    elif isinstance(max_samples, Integral):
        draws = int(max_samples)
    else:
        total = float(weight.sum())
        draws = max(int(max_samples * total), 1)
        if total != len(weight) and draws < min(10, len(weight)):
            warnings.warn(
                f"max_samples={max_samples} of a total weight of {total:g} is {draws} draws for "
                f"{len(weight)} rows. Give max_samples as a number of rows, or weights of mean 1.",
                stacklevel=2,
            )
    check_memory(
        8 * draws,
        f"Drawing {draws} rows for each tree",
        "Give max_samples as a number of rows, or divide the weights by their mean.",
    )
    return draws


def checksum(*arrays: Array) -> int:
    """A number by which arrays are known again; it changes with any of their bytes.

    Examples
    --------
    >>> checksum(np.zeros(3)) == checksum(np.zeros(3)) != checksum(np.zeros(4))
    True
    """
    crc = 0
    for array in arrays:
        crc = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data, crc)
    return crc


# --- Out-of-bag predictions -----------------------------------------------------------------------
#
# Out-of-bag predictions: every row is judged by the trees that have not seen it.
#
#     oob(x_i) = mean over the trees t without row i in their bootstrap sample of tree_t(x_i)
#
# These are about 37 % of the trees, so the error estimates that of a smaller forest on new rows,
# without a held-out part.

# Trees whose answers wait to be added in their order.
_BATCH = 16


def draws_of(draws: Sequence[ForestDraws], tree: int) -> ForestDraws:
    """The draws that a tree belongs to."""
    return next(draw for draw in draws if draw.first <= tree < draw.stop)


def check_same_rows(draws: Sequence[ForestDraws]) -> None:
    """Refuses trees that were drawn from different tables, which have no common bag."""
    if any(draw.n_rows != draws[-1].n_rows for draw in draws):
        raise InputError(
            "Out-of-bag predictions need trees drawn from one table, but earlier trees were "
            "fitted to another number of rows. Set warm_start=False."
        )
    if not all(draw.n_draws for draw in draws):
        raise InputError(
            "Out of bag estimation only available if bootstrap=True: without it every tree has "
            "seen all rows."
        )


def out_of_bag_answers(
    forest: Forest, draws: Sequence[ForestDraws], rows: Array, n_jobs: int | None = None
) -> tuple[Floats, Integers]:
    """Means over the trees that have not seen a row of what they say of it, and their number.

    Parameters
    ----------
    forest : Forest
    draws : sequence of ForestDraws
    rows : array (n_rows, n_columns), the training rows as nodes ask about them
    n_jobs : int, optional

    Returns
    -------
    answers : array (n_rows, n_values); NaN for a row that every tree has seen
    asked : array (n_rows,)
    """
    check_same_rows(draws)
    sums, asked = np.zeros((len(rows), forest.n_values)), np.zeros(len(rows), np.int64)

    def run(tree: int) -> tuple[Integers, Floats]:
        unseen = draws_of(draws, tree).out_of_bag(tree)
        return unseen, added_answers(forest, rows[unseen], first=tree, last=tree + 1)

    for start in range(0, forest.n_trees, _BATCH):
        batch = range(start, min(start + _BATCH, forest.n_trees))
        for unseen, answers in run_tasks(run, batch, n_jobs):
            sums[unseen] += answers
            asked[unseen] += 1
    with np.errstate(invalid="ignore"):
        return sums / np.where(asked > 0, asked, np.nan)[:, np.newaxis], asked


def warn_if_seen_by_all(asked: Integers) -> None:
    """Says how many rows have no out-of-bag prediction."""
    never = int((asked == 0).sum())
    if never:
        warnings.warn(
            f"Some inputs do not have OOB scores: {never} of {len(asked)} rows were drawn for "
            "every tree. Their out-of-bag prediction is NaN, and they count in no score. Use more "
            "trees.",
            stacklevel=2,
        )


def in_given_order(answers: Floats, kept: Integers | None, n_given: int) -> Floats:
    """Answers with a place for every row that `fit` was given; NaN for rows of weight zero."""
    if kept is None:
        return answers
    placed = np.full((n_given, *answers.shape[1:]), np.nan)
    placed[kept] = answers
    return placed
