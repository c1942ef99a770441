"""Why a row is predicted as it is: its way through the tree in words.

Every question on the way is told with the row's cell, the answer, and how the answer changes the
class shares (the mean). Where a cell gives no answer the row goes down every branch with a share of
itself, and all of them are told. The end names the smallest change of one cell that would change
the prediction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.display import Heading, Paragraph, Table, aligned, notebook
from novum.numerics import Floats
from novum.trees.reading.conditions import branch_condition, known
from novum.trees.reading.node_values import NodeValues
from novum.trees.reading.questions import (
    DIGITS,
    answer_text,
    cell_text,
    column_digits,
    name_text,
    number_text,
)
from novum.trees.reading.single_row import Change, Visit, answer_of_row, changes, outcome_of, visits
from novum.trees.tree import Question, Tree

_ALL_DIGITS = 17


# --- Results --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Step:
    """One question that was put to the row.

    Attributes
    ----------
    node : int
    depth : int
        Questions before this one.
    share : float
        How much of the row is here; 1 as long as every cell has answered.
    column : str
    cell : str
        What the row has there.
    answers : tuple of (str, float)
        The branches the row takes, each with its share; one of share 1 where the cell answers.
    before, after : array
        Class shares, or the mean: of the training rows here, and of those down the branches.
    """

    node: int
    depth: int
    share: float
    column: str
    cell: str
    answers: tuple[tuple[str, float], ...]
    before: Floats
    after: Floats

    @property
    def text(self) -> str:
        """`petal width is 1.3, so <= 1.75`."""
        told = f"{self.column} is {self.cell}"
        if len(self.answers) == 1:
            answer = self.answers[0][0]
            if self.cell == "missing":
                return told if answer == self.cell else f"{told} and goes with {answer}"
            return told if answer == f"= {self.cell}" else f"{told}, so {answer}"
        parts = ", ".join(f"{words} with {share:.3g}" for words, share in self.answers)
        return f"{told}, so every branch: {parts}"


@dataclass(frozen=True, eq=False)
class Explanation:
    """The prediction of one row, with its reasons.

    Attributes
    ----------
    prediction : label, or float in a regression
    answer : array
        Class shares of the prediction, or the mean.
    steps : tuple of Step
        In the order they are asked; a row that went down several branches tells one after another.
    leaves : tuple of (node, share)
        Where the row ends.
    changes : tuple of Change
        For each column on the way its smallest change that leads to another prediction; the one
        that leaves the way last comes first.
    """

    prediction: Any
    answer: Floats
    steps: tuple[Step, ...]
    leaves: tuple[tuple[int, float], ...]
    changes: tuple[Change, ...]
    start: Floats = field(repr=False)
    values: NodeValues = field(repr=False)

    @property
    def head(self) -> str:
        """The prediction with the share of its class."""
        if self.values.labels is None:
            return f"prediction: {number_text(float(self.answer[0]))}"
        share = float(self.answer[int(np.argmax(self.answer))])
        return f"prediction: {name_text(self.prediction)} (share {number_text(share, 3)})"

    @property
    def counterfactual(self) -> str:
        """The smallest change of one cell that changes the prediction, as a sentence."""
        if not self.changes:
            return "No change of a single cell on the way changes the prediction."
        change = self.changes[0]
        text = (
            number_text(change.prediction)
            if self.values.labels is None
            else name_text(change.prediction)
        )
        return f"With {change.words} it would be {text}."

    def rows(self) -> list[tuple[str, str]]:
        """What was asked and what was known after it, line by line."""
        told = [("all rows", self.values.answer_text(self.start))]
        for step in self.steps:
            part = "" if step.share == 1 else f"({step.share:.3g} of the row) "
            told.append((part + step.text, self.values.answer_text(step.after)))
        if len(self.leaves) > 1:
            ends = f"{len(self.leaves)} leaves, by the row's share in each"
            told.append((ends, self.values.answer_text(self.answer)))
        return told

    def __str__(self) -> str:
        lines = aligned(self.rows(), [False, False])
        return "\n".join([self.head, *(f"  {line}" for line in lines), self.counterfactual])

    def _repr_html_(self) -> str:
        table = Table("", ["", ""], self.rows())
        return notebook(Heading(self.head), table, Paragraph(self.counterfactual))


# --- From row to reasons --------------------------------------------------------------------------


def explain(
    tree: Tree, cells_row: ArrayLike, *, target: int = 0, digits: int = DIGITS
) -> Explanation:
    """The way of one row through the tree, in words.

    Parameters
    ----------
    tree : Tree
    cells_row : array of shape (number of columns,)
        Numbers and codes of levels, NaN where missing.
    target : int
        Which target, where there are several.
    digits : int
        Significant digits; more where a cell would not be told from the threshold.

    Returns
    -------
    Explanation
    """
    row = np.asarray(cells_row, float)
    if row.shape != (tree.schema.n_columns,):
        raise InputError(
            f"One row of {tree.schema.n_columns} cells is explained at a time, got an array of "
            f"shape {row.shape}."
        )
    values = NodeValues.of(tree, target)
    way = visits(tree, row)
    digits_of = column_digits(tree, digits)
    answer = answer_of_row(tree, values, way)
    return Explanation(
        prediction=values.decoded(outcome_of(answer, values)),
        answer=answer,
        steps=tuple(
            _step(tree, row, visit, values, digits_of)
            for visit in way
            if not tree.is_leaf(visit.node)
        ),
        leaves=tuple((visit.node, visit.share) for visit in way if tree.is_leaf(visit.node)),
        changes=tuple(changes(tree, row, values, digits_of)),
        start=values.answer(0),
        values=values,
    )


def _step(tree: Tree, row: Floats, visit: Visit, values: NodeValues, digits_of: list[int]) -> Step:
    node, column = visit.node, int(tree.column[visit.node])
    below = tree.children(node)
    taken = [visit.branch] if visit.branch >= 0 else range(len(below))
    shares = [1.0] if visit.branch >= 0 else [float(tree.share[child]) for child in below]
    cell = float(row[column])
    digits = _digits_apart(tree, node, cell, digits_of[column])
    about = tree.schema.columns[column]
    conditions = [branch_condition(tree, node, branch) for branch in taken]
    answers = [known(one) if one.has_values else one for one in conditions]
    return Step(
        node=node,
        depth=int(tree.depths[node]),
        share=visit.share,
        column=name_text(about.name),
        cell=cell_text(about, cell, digits),
        answers=tuple(
            (answer_text(about, answer, digits), share)
            for answer, share in zip(answers, shares, strict=True)
        ),
        before=values.answer(node),
        after=values.answers([below[branch] for branch in taken], shares),
    )


def _digits_apart(tree: Tree, node: int, cell: float, digits: int) -> int:
    """Digits by which the cell, as it is written, is on its side of the written threshold."""
    threshold = float(tree.threshold[node])
    if tree.question[node] != Question.THRESHOLD or cell != cell:
        return digits
    while digits < _ALL_DIGITS:
        written = float(number_text(cell, digits)) <= float(number_text(threshold, digits))
        if written == (cell <= threshold):
            break
        digits += 1
    return digits
