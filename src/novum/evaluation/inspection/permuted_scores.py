"""Scores of a model whose columns are permuted, the model asked as seldom as possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import _num_samples

from novum.core.errors import InputError
from novum.core.runtime import check_cancelled
from novum.core.tables import cells_of, column_names, rows_of, set_columns
from novum.evaluation.measures.scorers import Scorer
from novum.numerics import Floats, Positions

# Cells of the copies of a table whose permutations are answered at once.
_MOST_CELLS = 2_000_000


@dataclass(frozen=True, eq=False)
class Question:
    """What is permuted and how it is judged.

    Attributes
    ----------
    units : tuple of lists of positions
    scorers : mapping of names to scorers
    n_repeats : int
    max_samples : int or float
    """

    units: tuple[list[int], ...]
    scorers: Mapping[str, Any]
    n_repeats: int
    max_samples: float

    def scores(self, model: Any, part: tuple[Any, Any, Any]) -> Floats:
        """All scores of a part of the table, of shape (n_scores,)."""
        table, target, weight = part
        more = {} if weight is None else {"sample_weight": weight}
        scores = [score(model, table, target, **more) for score in self.scorers.values()]
        for one in scores:
            if isinstance(one, Mapping):
                raise InputError(
                    f"scoring returned several scores at once: {', '.join(map(str, one))}. Give "
                    "scoring as a list or dict of scorers, each with one number."
                )
        return np.array(scores, np.float64)

    def scores_of_parts(
        self, model: Any, whole: tuple[Any, Any, Any], parts: Sequence[Positions]
    ) -> Floats:
        """Scores of some of the rows, of shape (n_parts, n_scores).

        A scorer that judges answers row by row asks the model once for all parts.
        """
        table, target, weight = whole
        scorers = list(self.scorers.values())
        if not all(
            isinstance(score, Scorer) and target is not None and score.judges_rows(target)
            for score in scorers
        ):
            return np.array([self.scores(model, part_of(whole, rows)) for rows in parts])
        given = [score.answers(model, table) for score in scorers]
        return np.array(
            [
                [
                    score.judged(
                        model, target[rows], answers[rows], None if weight is None else weight[rows]
                    )
                    for score, answers in zip(scorers, given, strict=True)
                ]
                for rows in parts
            ]
        )

    def drawn(self, n_rows: int, rng: np.random.RandomState) -> Positions:
        """The rows that are permuted."""
        wanted = self.max_samples
        if not isinstance(wanted, Real) or isinstance(wanted, bool) or wanted <= 0:
            raise InputError(f"max_samples is a number of rows or a share, got {wanted!r}.")
        count = int(wanted) if isinstance(wanted, Integral) else int(wanted * n_rows)
        if not 1 <= count <= n_rows:
            raise InputError(
                f"max_samples must be <= n_samples and leave a row: {wanted!r} of {n_rows} rows "
                f"are {count}."
            )
        if count == n_rows:
            return np.arange(n_rows)
        return np.asarray(sample_without_replacement(n_rows, count, random_state=rng), np.intp)


class Permutations:
    """The permutations of the rows of a part: every column has the same, as in scikit-learn.

    Parameters
    ----------
    question : Question
    part : (table, target, weight)
    seed : int
    """

    def __init__(self, question: Question, part: tuple[Any, Any, Any], seed: int) -> None:
        self._question = question
        rng = np.random.RandomState(seed)
        self._rows = question.drawn(_num_samples(part[0]), rng)
        n = self._rows.size
        shuffled, order = np.arange(n), np.arange(n)
        self._orders = []
        for _ in range(question.n_repeats):
            rng.shuffle(shuffled)
            # scikit-learn permutes the permuted column on, so the orders are composed.
            order = order[shuffled]
            self._orders.append(order)
        cells = max(n * len(column_names(part[0])), 1)
        # Permutations that a model answers in one call: a call costs as much as some hundred rows.
        self._at_once = max(1, min(question.n_repeats, _MOST_CELLS // cells))
        self._copies = part_of(part, np.tile(self._rows, self._at_once))

    def scores(
        self, model: Any, unit: list[int], blocks: Sequence[Positions] = ()
    ) -> tuple[Floats, Floats]:
        """Scores with some columns permuted: of all rows, and of blocks as means.

        Returns
        -------
        arrays of shape (n_repeats, n_scores) and (n_blocks, n_scores)
        """
        n, blocks_of_scores = self._rows.size, []
        for first in range(0, len(self._orders), self._at_once):
            check_cancelled()
            orders = self._orders[first : first + self._at_once]
            copies = self._copies
            if len(orders) < self._at_once:
                copies = part_of(copies, np.arange(n * len(orders)))
            order = np.concatenate(orders)
            columns = {place: cells_of(copies[0], place, order) for place in unit}
            parts = [
                copy * n + rows for copy in range(len(orders)) for rows in (np.arange(n), *blocks)
            ]
            permuted = (set_columns(copies[0], columns), *copies[1:])
            scores = self._question.scores_of_parts(model, permuted, parts)
            blocks_of_scores.append(scores.reshape(len(orders), 1 + len(blocks), -1))
        together = np.concatenate(blocks_of_scores)
        return together[:, 0], together[:, 1:].mean(axis=0)


def part_of(part: tuple[Any, Any, Any], rows: Positions) -> tuple[Any, Any, Any]:
    table, target, weight = part
    return (
        rows_of(table, rows),
        None if target is None else target[rows],
        None if weight is None else weight[rows],
    )
