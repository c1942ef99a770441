"""What a pruning rule is, what it is given, and which rows it is judged on.

A rule turns a grown tree into one with fewer leaves. It is a frozen value with `prune(tree, task)`;
the task holds the rows that the tree was grown from and, for rules that ask for them, other rows
that the tree has not seen:

    held_out_fraction = f    the learner keeps a share f of the rows back, drawn by `held_out_rows`
    validation_part          rows that the user gave, read by `read_validation_part`

Errors of a rule are sums over rows of (share at the node) x weight x loss, with the loss
[class is not the node's most likely] or (y - value)^2, the mean of the losses of several targets.
Such sums add up over the leaves of a tree, so one pass over the rows prices every pruned tree.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Schema, check_classes, check_numbers, check_sample, plain_target
from novum.numerics import Array, Floats, Integers, Positions, cached_property
from novum.trees.routing import route
from novum.trees.training import cells_of
from novum.trees.tree import Question, Tree

Grow = Callable[[Positions], Tree]

# Errors that differ by less than this, relative to themselves, are equal: sums in another order.
TIE = 1e-10


# --- What a rule is given -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PruningTask:
    """Rows with their targets, and how to grow trees from parts of them.

    Attributes
    ----------
    cells : float64 array (n, n_columns)
        As by `novum.trees.training.cells_of`.
    targets : array (n, n_targets)
        Codes of classes, or numbers. The code -1 is a class that training did not have.
    weight : float64 array (n,)
    n_classes : tuple of int, one for each target, or None for numbers
    held_out : PruningTask, optional
        Rows the tree was not grown from.
    grow : function from an index array to Tree, optional
        Grows a tree without pruning from some of the rows.
    rng : Generator, optional
    """

    cells: Floats
    targets: Array
    weight: Floats
    n_classes: tuple[int, ...] | None
    held_out: PruningTask | None = None
    grow: Grow | None = None
    rng: np.random.Generator | None = None

    def __post_init__(self) -> None:
        n, n_targets = len(self.cells), 1 if self.n_classes is None else len(self.n_classes)
        shape = self.targets.shape
        wrong_targets = len(shape) != 2 or (self.n_classes is not None and shape[1] != n_targets)
        if wrong_targets or shape[0] != n or self.weight.shape != (n,):
            raise InputError(
                f"{n} rows of cells need targets of shape (rows, targets) and one weight each, got "
                f"targets of shape {shape} and weights of shape {self.weight.shape}."
            )

    @property
    def n_rows(self) -> int:
        return len(self.cells)

    @cached_property
    def stats(self) -> Floats:
        """What nodes sum up, (n, S): weights by class of each target, or [w, w y.., w y^2..]."""
        weight = self.weight[:, np.newaxis]
        if self.n_classes is None:
            return np.hstack([weight, weight * self.targets, weight * self.targets**2])
        codes = self.targets.T[:, :, np.newaxis]
        parts = [of == np.arange(k) for of, k in zip(codes, self.n_classes, strict=True)]
        return weight * np.hstack(parts)

    def rows(self, chosen: Positions) -> PruningTask:
        """Some of the rows, on their own."""
        return PruningTask(
            self.cells[chosen], self.targets[chosen], self.weight[chosen], self.n_classes
        )


class PruningRule(Protocol):
    """A way to prune; a value that may be a parameter of a tree."""

    @property
    def held_out_fraction(self) -> float:
        """The share of the rows that the tree must not be grown from."""
        return 0.0

    @property
    def validation_part(self) -> tuple[Any, ...] | None:
        """Rows that the user gave to judge the tree by: X, y and, if any, their weights."""
        return None

    def prune(self, tree: Tree, task: PruningTask) -> Tree:
        """The pruned tree; the given one is not changed."""
        ...


# --- Which rows -----------------------------------------------------------------------------------


def held_out_rows(
    targets: Array,
    n_classes: tuple[int, ...] | None,
    fraction: float,
    rng: np.random.Generator,
) -> tuple[Positions, Positions]:
    """Rows to grow from and rows to hold out, both in ascending order.

    Classes (combinations of classes, with several targets) are divided alike, and each keeps at
    least one row to grow from.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> growing, held = held_out_rows(np.zeros((10, 1)), None, 0.3, rng)
    >>> growing.size, held.size
    (7, 3)
    """
    shuffled, start = _by_stratum(targets, n_classes, rng)
    ends = np.append(start[1:], len(targets))
    # Rounding the running total instead of every class keeps the share of small classes right.
    quota = np.diff(np.floor(np.append(0, ends) * fraction + 0.5)).astype(int)
    taken = np.minimum(quota, ends - start - 1)
    place = np.arange(len(targets)) - np.repeat(start, ends - start)
    is_held = place < np.repeat(taken, ends - start)
    if not is_held.any():
        raise InputError(
            f"A share of {fraction} of {len(targets)} rows holds out no row to prune by "
            f"(n_samples={len(targets)}). Give more rows or a larger share, pass rows to validate "
            "on (`ReducedError(validation=(X, y))`), or choose a rule that needs none, such as "
            "`CostComplexity`."
        )
    return np.sort(shuffled[~is_held]), np.sort(shuffled[is_held])


def fold_numbers(
    targets: Array,
    n_classes: tuple[int, ...] | None,
    n_folds: int,
    rng: np.random.Generator,
) -> Positions:
    """The fold of every row, `0 .. n_folds - 1`: equally many rows, and of each class.

    Examples
    --------
    >>> np.bincount(fold_numbers(np.zeros((7, 1)), None, 3, np.random.default_rng(0))).tolist()
    [3, 2, 2]
    """
    if n_folds > len(targets):
        raise InputError(
            f"{n_folds} folds need at least {n_folds} rows, got {len(targets)}. Ask for fewer "
            "folds."
        )
    shuffled, _ = _by_stratum(targets, n_classes, rng)
    folds = np.empty(len(targets), np.intp)
    folds[shuffled] = np.arange(len(targets)) % n_folds
    return folds


def _by_stratum(
    targets: Array, n_classes: tuple[int, ...] | None, rng: np.random.Generator
) -> tuple[Positions, Positions]:
    """Rows in random order, those of a class side by side, and where each class begins."""
    order = rng.permutation(len(targets))
    if n_classes is None:
        return order, np.zeros(1, np.intp)
    _, stratum = np.unique(targets[order], axis=0, return_inverse=True)
    shuffled = order[np.argsort(stratum.ravel(), kind="stable")]
    sizes = np.bincount(stratum.ravel())
    return shuffled, np.cumsum(sizes) - sizes


def read_validation_part(
    estimator: Any,
    schema: Schema,
    classes: tuple[Array, ...] | None,
    part: tuple[Any, ...],
) -> PruningTask:
    """The user's validation rows, read as the learner reads its training rows.

    Parameters
    ----------
    estimator : estimator
        Gives its name to messages; not changed.
    schema : Schema
        Of the training rows.
    classes : tuple of label arrays, one for each target, or None for numbers
        Of the training rows. A row of another class is wrong in every tree, so it counts in the
        errors and decides nothing.
    part : (X, y) or (X, y, sample_weight)
    """
    X, y, weight = (*part, None)[:3]
    target = plain_target(y)
    # The rows' places go through the check in the place of targets, so that rows of weight zero
    # leave both.
    sample = check_sample(
        copy(estimator),
        X,
        np.arange(len(target), dtype=float),
        weight,
        schema=schema,
        allow_missing=True,
        accept_sparse=True,
    )
    kept = sample.target.astype(np.intp)
    name = type(estimator).__name__
    if classes is None:
        numbers = np.asarray(check_numbers(y, name))
        targets: Array = numbers.reshape(len(numbers), -1)
    else:
        targets = _class_codes(target, classes, name)
    n_classes = None if classes is None else tuple(map(len, classes))
    return PruningTask(cells_of(sample), targets[kept], sample.weights, n_classes)


def _class_codes(labels: Array, classes: tuple[Array, ...], name: str) -> Integers:
    columns = labels.reshape(len(labels), -1)
    if columns.shape[1] != len(classes):
        raise InputError(
            f"The validation part has {columns.shape[1]} target columns, but the training rows "
            f"have {len(classes)}. Give both the same targets."
        )
    codes = np.full(columns.shape, -1, np.int64)
    for j, known in enumerate(classes):
        met, met_codes = check_classes(columns[:, j], name)
        place = {label: code for code, label in enumerate(known.tolist())}
        translation = np.array([place.get(label, -1) for label in met.tolist()], np.int64)
        codes[:, j] = translation[met_codes]
    return codes


# --- Errors ---------------------------------------------------------------------------------------


def node_errors(tree: Tree, part: PruningTask, *, power: int = 1) -> Floats:
    """Errors of the part's rows in every node, if it were a leaf, (n_nodes,).

    Parameters
    ----------
    tree : Tree
    part : PruningTask
    power : int
        Sums this power of the losses: 2 for their variance.
    """
    shares = route(tree, part.cells)
    row = np.repeat(np.arange(part.n_rows), np.diff(shares.indptr))
    node = shares.indices
    losses = np.zeros(node.size)
    start = 0
    for target in range(part.targets.shape[1]):
        truth = part.targets[row, target]
        if part.n_classes is None:
            losses += (truth - tree.value[node, target]) ** 2
        else:
            stop = start + part.n_classes[target]
            # Of equally heavy classes the first is predicted.
            losses += truth != tree.value[:, start:stop].argmax(axis=1)[node]
            start = stop
    losses = (losses / part.targets.shape[1]) ** power
    weighted = shares.data * part.weight[row] * losses
    return np.asarray(np.bincount(node, weighted, minlength=tree.n_nodes), np.float64)


def sums_below(tree: Tree, of_nodes: Floats) -> Floats:
    """For every node, the sum over the leaves below it (over itself, for a leaf)."""
    sums = np.where(tree.question == Question.LEAF, of_nodes, 0.0)
    for node in range(tree.n_nodes - 1, 0, -1):
        sums[tree.parent[node]] += sums[node]
    return sums
