"""Candidate splits as values, and the table in which they are read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from novum.display import aligned, element
from novum.numerics import Array
from novum.trees.reading.questions import name_text, number_text
from novum.trees.tree import Question

_SHOWN = 10


@dataclass(frozen=True)
class CandidateSplit:
    """One split that a node could have.

    Attributes
    ----------
    column : int
    words : str
        `petal width <= 1.75`; `outlook: overcast | rainy | sunny` for more than two branches.
    gain : float
        Impurity removed, per unit of the node's weight.
    split_information : float
        In bits.
    gain_ratio : float
        Gain over information; 0 where that is 0.
    merit : float
        By what the criterion ranks: the gain, or the ratio after C4.5's penalty for thresholds.
    competes : bool
        Whether the criterion lets this split take part.
    branch_weights : tuple of float
        Known weight of each branch.
    question : Question
    threshold : float
        NaN where there is none.
    between : (float, float)
        The neighboring values that the threshold separates.
    levels : tuple of tuples of level codes, one for each branch; empty for thresholds
        A branch without levels is that of missing cells.
    branch_values : tuple of tuples
        For each branch its class weights, or its mean.
    """

    column: int
    words: str
    gain: float
    split_information: float
    gain_ratio: float
    merit: float
    competes: bool
    branch_weights: tuple[float, ...]
    question: Question
    threshold: float = math.nan
    between: tuple[float, float] = (math.nan, math.nan)
    levels: tuple[tuple[int, ...], ...] = ()
    branch_values: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Candidates:
    """The splits of a node, best first.

    Attributes
    ----------
    splits : tuple of CandidateSplit
    impurity : float
        Of the node.
    weight : float
    labels : array of class labels, or None for numbers
    n_splits : int
        All there are; `splits` may hold only the best.
    unlisted : int
        Pairs of sets of levels that were not tried, because there are too many.
    """

    splits: tuple[CandidateSplit, ...]
    impurity: float
    weight: float
    labels: Array | None
    n_splits: int
    unlisted: int = 0

    def __iter__(self) -> Iterator[CandidateSplit]:
        return iter(self.splits)

    def __len__(self) -> int:
        return len(self.splits)

    def __getitem__(self, place: int) -> CandidateSplit:
        return self.splits[place]

    def records(self) -> list[dict[str, Any]]:
        """One plain record for each split, ready for any data frame."""
        names = ("words", "gain", "split_information", "gain_ratio", "merit", "competes")
        return [{name: getattr(split, name) for name in names} for split in self.splits]

    def __str__(self) -> str:
        return self.text()

    def text(self, shown: int = _SHOWN) -> str:
        """A table of the first splits; those that do not compete have a dash before them."""
        head = f"weight {number_text(self.weight)}, impurity {number_text(self.impurity, 4)}"
        rows = [self._row(split) for split in self.splits[:shown]]
        if not rows:
            return f"{head}: no split, all rows are alike"
        lines = aligned([_HEADS, *rows], [False, False, True, True, True, False])
        more = self.n_splits - len(rows)
        if more > 0:
            lines.append(f"  ... {more} more")
        if self.unlisted:
            lines.append(f"  ... {self.unlisted} pairs of sets of levels were not tried")
        return "\n".join([f"{head}, {self.n_splits} splits", *lines])

    def _repr_html_(self) -> str:
        return element("pre", str(self))

    def _row(self, split: CandidateSplit) -> tuple[str, ...]:
        mark = " " if split.competes else "-"
        figures = (split.gain, split.split_information, split.gain_ratio)
        branches = " | ".join(self._branch(split, b) for b in range(len(split.branch_weights)))
        return (mark, split.words, *(f"{figure:.4f}" for figure in figures), branches)

    def _branch(self, split: CandidateSplit, branch: int) -> str:
        values = split.branch_values[branch]
        if self.labels is None:
            weight = number_text(split.branch_weights[branch], 4)
            return f"{weight} of mean {number_text(values[0], 4)}"
        return ", ".join(
            f"{name_text(label)} {number_text(value, 4)}"
            for label, value in zip(self.labels, values, strict=True)
            if value > 0
        )


_HEADS = ("", "split", "gain", "info", "ratio", "branches")
