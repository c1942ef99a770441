"""C4.5's pruning by pessimistic errors, with subtree raising.

A leaf of weight N that is wrong for weight e of its training rows is charged the upper end of a
confidence interval of its error rate: with f = (e + 1/2) / N and z the normal quantile of
1 - confidence,

    U(e, N) = N (f + z^2/2N + z sqrt(f/N - f^2/N + z^2/4N^2)) / (1 + z^2/N)         1 <= e < N - 1/2
    U(0, N) = N (1 - confidence^(1/N)),    straight in between,    U(e, N) = N beyond.

First every subtree that is not wrong for less training weight than its root would be is cut. Then,
from the leaves up, a node takes whichever is charged least, with 0.1 in favor of the smaller tree:

    a leaf,    the subtree on its heaviest branch with all of the node's rows,    the tree as it is.

The second is subtree raising: the rows of the other branches are sent down the raised subtree, so
its counts, shares and charges are those of more rows than it was grown from, and it is pruned once
more. The rules are those of Weka's J48 to the constant.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special

from novum.core.errors import InputError
from novum.numerics import Floats
from novum.trees.pruning.knots import Knot, Rows, Spread, knots_of, tree_of
from novum.trees.pruning.task import PruningTask
from novum.trees.tree import Question, Tree

TOLERANCE = 1e-6
# What the errors of a subtree must save to be kept: in training, and pessimistically.
COLLAPSE_SLACK = 1e-3
PRUNE_SLACK = 0.1


@dataclass(frozen=True)
class Pessimistic:
    """Pruning by pessimistic errors on the training rows, as in C4.5 and Weka's J48.

    Parameters
    ----------
    confidence : float in (0, 0.5], default=0.25
        Smaller prunes more: J48's `-C`.
    raising : bool, default=True
        Whether a subtree may take the place of its parent; J48's `-S` turns it off.

    Notes
    -----
    For trees with one target of classes. No rows are held out. Nodes of a raised subtree have the
    counts, shares and gains of the rows that were sent down; impurities are measured as at the root
    (entropy or Gini).

    References
    ----------
    J. R. Quinlan, C4.5: Programs for Machine Learning, 1993, chapter 4.

    Examples
    --------
    >>> round(Pessimistic().charged(6.0, 0.0) / 6, 3)
    0.206
    """

    confidence: float = 0.25
    raising: bool = True

    def __post_init__(self) -> None:
        number = isinstance(self.confidence, int | float | np.number)
        if not (number and 0 < self.confidence <= 0.5):
            raise InputError(
                f"confidence is a number above 0 and at most 0.5, got {self.confidence!r}."
            )
        if not isinstance(self.raising, bool | np.bool_):
            raise InputError(f"raising is true or false, got {self.raising!r}.")

    @property
    def held_out_fraction(self) -> float:
        return 0.0

    @property
    def validation_part(self) -> None:
        return None

    def prune(self, tree: Tree, task: PruningTask) -> Tree:
        """The pruned tree.

        Parameters
        ----------
        tree : Tree
            Grown from the rows of `task`.
        task : PruningTask
        """
        if tree.classes is None:
            raise InputError(
                "Pessimistic pruning counts wrong classes and cannot prune a tree of numbers. "
                "Choose CostComplexity or ReducedError."
            )
        if len(tree.classes) != 1:
            raise InputError(
                f"Pessimistic pruning is for one target, the tree has {len(tree.classes)}. "
                "Choose CostComplexity or ReducedError, or fit one tree for each target."
            )
        smaller = collapsed(tree)
        root = knots_of(smaller)
        spread = Spread.of(smaller, task.cells, task.targets[:, 0])
        changed = self._prune(root, spread, (np.arange(task.n_rows), task.weight))
        return tree_of(root, smaller) if changed else smaller

    def charged(self, weight: float, wrong: float) -> float:
        """Pessimistic errors of a leaf: `U(wrong, weight)`."""
        if weight < TOLERANCE:
            return 0.0
        return wrong + self._surcharge(weight, wrong)

    def _surcharge(self, n: float, e: float) -> float:
        if e < 1:
            none = n * (1 - self.confidence ** (1 / n))
            return none if e == 0 else none + e * (self._surcharge(n, 1.0) - none)
        if e + 0.5 >= n:
            return max(n - e, 0.0)
        z = float(special.ndtri(1 - self.confidence))
        f = (e + 0.5) / n
        root = math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
        return n * (f + z * z / (2 * n) + z * root) / (1 + z * z / n) - e

    def _prune(self, root: Knot, spread: Spread, rows: Rows) -> bool:
        """Prune all below `root` in place; whether anything changed."""
        changed = False
        # A node is looked at twice: before its sons to divide its rows, and after them to decide.
        waiting: list[tuple[Knot, Rows, bool]] = [(root, rows, False)]
        while waiting:
            knot, at_knot, divided = waiting.pop()
            if not knot.sons:
                continue
            if not divided:
                waiting.append((knot, at_knot, True))
                parts = spread.divide(knot, at_knot, [son.share for son in knot.sons])
                waiting.extend((s, p, False) for s, p in zip(knot.sons, parts, strict=True))
                continue
            choice = self._choice(knot, spread, at_knot)
            if choice is None:
                continue
            changed = True
            if choice is knot:
                knot.become_leaf()
            else:
                knot.become(choice)
                spread.refill(knot, at_knot)
                waiting.append((knot, at_knot, False))
        return changed

    def _choice(self, knot: Knot, spread: Spread, rows: Rows) -> Knot | None:
        """The knot itself to become a leaf, its son to be raised, or None to stay."""
        largest = _heaviest(knot)
        raised = math.inf
        if self.raising:
            raised = sum(self._charged_value(v) for v in spread.leaf_values(largest, rows))
        leaf = self._charged_value(knot.value)
        whole = sum(self._charged_value(below.value) for below in _leaves(knot))
        if leaf <= min(whole, raised) + PRUNE_SLACK + TOLERANCE:
            return knot
        return largest if raised <= whole + PRUNE_SLACK + TOLERANCE else None

    def _charged_value(self, value: Floats) -> float:
        weight = float(value.sum())
        return self.charged(weight, max(weight - float(value.max()), 0.0))


def collapsed(tree: Tree) -> Tree:
    """The tree without subtrees that are no better than a leaf on their own training rows.

    Examples
    --------
    >>> from novum.core.tables import Schema
    >>> from novum.trees.tree import single_leaf
    >>> leaf = single_leaf(Schema.of_array(1), (np.array([0, 1]),), np.array([1.0, 2.0]), 3.0)
    >>> collapsed(leaf).n_leaves
    1
    """
    own = np.where(tree.weight > 0, tree.value.sum(axis=1) - tree.value.max(axis=1), 0.0)
    below = np.where(tree.question == Question.LEAF, own, 0.0)
    for node in range(tree.n_nodes - 1, 0, -1):
        below[tree.parent[node]] += below[node]
    useless = (tree.question != Question.LEAF) & (below >= own - COLLAPSE_SLACK)
    return tree.cut(useless) if useless.any() else tree


def _heaviest(knot: Knot) -> Knot:
    """The son of largest weight, of equal ones the last."""
    weight, chosen = 0.0, knot.sons[0]
    for son in knot.sons:
        total = float(son.value.sum())
        if total >= weight - TOLERANCE:
            weight, chosen = total, son
    return chosen


def _leaves(knot: Knot) -> Iterator[Knot]:
    waiting = [knot]
    while waiting:
        current = waiting.pop()
        if current.sons:
            waiting.extend(current.sons)
        else:
            yield current
