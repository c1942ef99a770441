"""Reduced-error pruning: a subtree stays only if it pays on rows it was not grown from.

With E(t) the validation errors of node t as a leaf and E(T_t) those of the leaves below it,

    improvement(t) = E(T_t) - E(t).

The greedy procedure of the textbooks (`order="greedy"`) cuts the node of largest improvement, again
and again while that is at least 0: a tie prunes. A cut lowers the improvement of the nodes above
by its own and changes no other, so the largest improvement never rises, and a queue whose stale
entries are put back when they come up finds each in logarithmic time.

`order="bottom_up"` decides every node after the nodes below it. Its tree has the fewest errors of
all pruned trees and, of these, the fewest leaves. The greedy one need not: where cutting two
children saves 3 errors each and cutting their parent 4, greedy takes the 4.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Floats, Mask
from novum.trees.pruning.task import TIE, PruningRule, PruningTask, node_errors, sums_below
from novum.trees.tree import Question, Tree

ORDERS = ("greedy", "bottom_up")


@dataclass(frozen=True, eq=False)
class ReducedError(PruningRule):
    """Prune by the errors on validation rows.

    Parameters
    ----------
    validation : float or tuple, default 0.3
        Share of the training rows that is held out (classes alike, by `random_state`), or rows to
        validate on: `(X, y)` or `(X, y, sample_weight)`.
    order : {"greedy", "bottom_up"}, default "greedy"
        Largest improvement first, as the textbooks have it, or the smallest of the best trees.

    Notes
    -----
    Errors are weights of wrongly classified rows, or sums of squared errors; with several targets
    their mean. A row with missing cells counts in every leaf it reaches with its share there. A
    subtree that no validation row reaches is a tie, so it is cut. Kept nodes are as they were: the
    held-out rows choose the leaves and do not enter their values. Of equal improvements the one
    farther down is cut first, which leaves the choice above it open.

    References
    ----------
    Quinlan, Simplifying decision trees, 1987. Mitchell, Machine Learning, 1997, section 3.7.1.1.
    Elomaa and Kaariainen, An analysis of reduced error pruning, 2001.

    Examples
    --------
    >>> ReducedError(0.25).held_out_fraction
    0.25
    """

    validation: float | tuple[Any, ...] = 0.3
    order: str = "greedy"

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise InputError(f"order is one of {', '.join(ORDERS)}, got {self.order!r}.")
        if isinstance(self.validation, Real) and not isinstance(self.validation, bool):
            if not 0 < self.validation < 1:
                raise InputError(
                    "ReducedError holds out a share of the rows between 0 and 1, got "
                    f"validation={self.validation!r}."
                )
        elif not (isinstance(self.validation, tuple) and len(self.validation) in (2, 3)):
            raise InputError(
                "validation is a share of the rows or a tuple (X, y) or (X, y, sample_weight), got "
                f"{type(self.validation).__name__}."
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReducedError):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def held_out_fraction(self) -> float:
        return 0.0 if isinstance(self.validation, tuple) else float(self.validation)

    @property
    def validation_part(self) -> tuple[Any, ...] | None:
        return self.validation if isinstance(self.validation, tuple) else None

    def prune(self, tree: Tree, task: PruningTask) -> Tree:
        """The tree without the subtrees that do not pay on `task.held_out`."""
        if task.held_out is None or not task.held_out.weight.any():
            raise InputError("ReducedError needs validation rows, and there are none.")
        errors = node_errors(tree, task.held_out)
        cuts = greedy_cuts if self.order == "greedy" else bottom_up_cuts
        return tree.cut(cuts(tree, errors))

    @property
    def _identity(self) -> tuple[Any, ...]:
        # Tables have no truth value to compare by, so given rows are the same only as objects.
        given = self.validation_part
        return (self.order, self.validation if given is None else tuple(map(id, given)))


# --- Cuts -----------------------------------------------------------------------------------------


def greedy_cuts(tree: Tree, errors: Floats) -> Mask:
    """The nodes cut by taking the largest improvement first, until every cut would add errors.

    Parameters
    ----------
    tree : Tree
    errors : float64 array (n_nodes,)
        Of each node as a leaf.

    Returns
    -------
    boolean array (n_nodes,)
    """
    below = sums_below(tree, errors)
    inner = tree.question != Question.LEAF
    cut = np.zeros(tree.n_nodes, bool)
    queue = [(-_improvement(below[t], errors[t]), -t) for t in np.flatnonzero(inner).tolist()]
    heapq.heapify(queue)
    while queue:
        stored, minus_node = heapq.heappop(queue)
        node = -minus_node
        if not inner[node]:
            continue
        improvement = _improvement(below[node], errors[node])
        if improvement < -stored:
            heapq.heappush(queue, (-improvement, minus_node))
            continue
        if improvement < 0:
            break
        cut[node] = True
        _close(tree, inner, node)
        _pass_up(tree, below, node, errors[node] - below[node])
    return cut


def bottom_up_cuts(tree: Tree, errors: Floats) -> Mask:
    """The cuts that leave the fewest errors and, of all such trees, the fewest leaves."""
    cut = np.zeros(tree.n_nodes, bool)
    best = np.where(tree.question == Question.LEAF, errors, 0.0)
    for node in range(tree.n_nodes - 1, -1, -1):
        if not tree.is_leaf(node) and _improvement(best[node], errors[node]) >= 0:
            cut[node], best[node] = True, errors[node]
        if node > 0:
            best[tree.parent[node]] += best[node]
    return cut


def _improvement(below: float, as_leaf: float) -> float:
    """`below - as_leaf`, with sums that differ only by rounding made equal."""
    difference = float(below - as_leaf)
    if abs(difference) <= TIE * max(below, as_leaf):
        return 0.0
    # 33 bits are TIE; what follows them depends on the order of the sums.
    mantissa, exponent = math.frexp(difference)
    return math.ldexp(round(math.ldexp(mantissa, 33)), exponent - 33)


def _close(tree: Tree, inner: Mask, node: int) -> None:
    """Takes the node and all below it from the inner nodes."""
    pending = [node]
    while pending:
        current = pending.pop()
        inner[current] = False
        pending.extend(child for child in tree.children(current) if inner[child])


def _pass_up(tree: Tree, below: Floats, node: int, change: float) -> None:
    """Adds a change of the errors below a node to the node and to all above it."""
    while node >= 0:
        below[node] += change
        node = int(tree.parent[node])
