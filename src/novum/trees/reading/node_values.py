"""What the nodes of a tree say about one target: a class with its shares, or a mean.

A classifier keeps the class weights of all targets side by side in `Tree.value`; a regression keeps
one mean for each target. `NodeValues` is the view of one target that all readings share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Array, Floats
from novum.trees.reading.questions import DIGITS, name_text, number_text
from novum.trees.tree import Tree

_SHOWN_CLASSES = 4


@dataclass(frozen=True, eq=False)
class NodeValues:
    """One target of a tree.

    Attributes
    ----------
    labels : array of class labels, or None for numbers
    values : array of shape (n_nodes, n_classes), class weights; (n_nodes, 1), means
    impurity : array of shape (n_nodes,)
        Of the node by the criterion; over all targets where there are several.
    weight : array of shape (n_nodes,)
    """

    labels: Array | None
    values: Floats
    impurity: Floats
    weight: Floats

    @classmethod
    def of(cls, tree: Tree, target: int = 0) -> NodeValues:
        n_targets = tree.value.shape[1] if tree.classes is None else len(tree.classes)
        if not 0 <= target < n_targets:
            known = "only target 0" if n_targets == 1 else f"targets 0 to {n_targets - 1}"
            raise InputError(f"The tree has {known}, got target={target!r}.")
        if tree.classes is None:
            return cls(None, tree.value[:, target : target + 1], tree.impurity, tree.weight)
        start = sum(len(labels) for labels in tree.classes[:target])
        labels = tree.classes[target]
        values = tree.value[:, start : start + len(labels)]
        return cls(labels, values, tree.impurity, tree.weight)

    # What a node predicts

    def outcome(self, node: int) -> float:
        """The code of the most common class, of several the first; the mean of numbers."""
        row = self.values[node]
        return float(row[0]) if self.labels is None else float(np.argmax(row))

    def prediction(self, node: int) -> Any:
        """The label of the most common class, of several the first; the mean of numbers."""
        return self.decoded(self.outcome(node))

    def decoded(self, outcome: float) -> Any:
        """The label of a class code; a mean is itself."""
        if self.labels is None:
            return outcome
        label = self.labels[int(outcome)]
        return label.item() if isinstance(label, np.generic) else label

    def answers(self, nodes: list[int], shares: list[float]) -> Floats:
        """Class shares, or the mean, of a row that is in the nodes with these shares of itself."""
        rows = [self.answer(node) for node in nodes]
        return np.asarray(np.array(shares) @ np.array(rows))

    def answer(self, node: int) -> Floats:
        """Class shares of a node, or its mean; equal shares where no training weight came."""
        row = self.values[node]
        if self.labels is None:
            return row
        total = row.sum()
        return row / total if total > 0 else np.full(len(row), 1 / len(row))

    # Words

    def prediction_text(self, node: int, digits: int = DIGITS) -> str:
        return self.outcome_text(self.outcome(node), digits)

    def outcome_text(self, outcome: float, digits: int = DIGITS) -> str:
        return number_text(outcome, digits) if self.labels is None else self.label_text(outcome)

    def label_text(self, code: float) -> str:
        assert self.labels is not None
        return name_text(self.labels[int(code)])

    def counts_text(self, node: int, digits: int = DIGITS) -> str:
        """Class weights from the largest down, without zeros; weight and deviation of numbers."""
        if self.labels is None:
            weight = number_text(float(self.weight[node]), digits)
            return f"weight {weight}, impurity {number_text(float(self.impurity[node]), digits)}"
        return self._listed(self.values[node], digits)

    def answer_text(self, answer: Floats, digits: int = 3) -> str:
        """Class shares from the largest down, or a mean."""
        return (
            number_text(float(answer[0])) if self.labels is None else self._listed(answer, digits)
        )

    def _listed(self, row: Floats, digits: int) -> str:
        order = [int(k) for k in np.argsort(-row, kind="stable") if row[k] > 0]
        if not order:
            return "no weight"
        shown = [
            f"{self.label_text(k)} {number_text(float(row[k]), digits)}"
            for k in order[:_SHOWN_CLASSES]
        ]
        if len(order) > _SHOWN_CLASSES:
            rest = math.fsum(row[k] for k in order[_SHOWN_CLASSES:])
            more = len(order) - _SHOWN_CLASSES
            shown.append(f"{more} other classes {number_text(rest, digits)}")
        return ", ".join(shown)
