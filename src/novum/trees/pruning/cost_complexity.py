"""Cost-complexity pruning: leaves must be paid for.

For a price alpha of a leaf, the best pruned tree minimizes

    R(T) + alpha |T|,        R(T) = sum over leaves of (weight / root's weight) impurity.

The smallest minimizers for growing alpha are nested: each is cut from the one before at its
weakest links, the nodes t of least

    g(t) = (R(t) - R(T_t)) / (|T_t| - 1),

and that least g is the alpha at which the cut begins to pay. A cut can only raise the g of nodes
above it, so a queue whose stale entries are put back finds the whole path. R(t) - R(T_t) is kept
as a sum of what each split below t saves, so that small savings far down keep their digits.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Floats, Integers, Mask
from novum.trees.pruning.task import TIE, PruningRule, PruningTask, fold_numbers, node_errors
from novum.trees.tree import Question, Tree

CROSS_VALIDATION = "cross_validation"
CHOICES = ("one_standard_error", "minimum")
# A split that saves less than this part of the root's impurity saves nothing but rounding.
NOTHING = 1e-14


# --- The path -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CostComplexityPath:
    """The nested trees of all prices.

    Attributes
    ----------
    tree : Tree
        Before pruning.
    alphas : float64 array (n_steps,), ascending from 0
        From `alphas[i]` on, until the next, tree `i` is the smallest best one.
    impurities : float64 array (n_steps,), R of each tree
    n_leaves : int64 array (n_steps,)
    cut_at : int64 array (n_nodes,)
        The step whose tree is the first with this node cut; `n_steps` for leaves, and for nodes
        that go only together with one above them.
    """

    tree: Tree
    alphas: Floats
    impurities: Floats
    n_leaves: Integers
    cut_at: Integers

    @property
    def n_steps(self) -> int:
        return int(self.alphas.size)

    def step_of(self, alpha: float) -> int:
        """The step of the best tree at this price."""
        return int(np.searchsorted(self.alphas, alpha, side="right")) - 1

    def pruned(self, step: int) -> Tree:
        """The tree of a step."""
        return self.tree.cut(self.cut_at <= step)

    def totals(self, of_nodes: Floats) -> Floats:
        """For the tree of every step, the sum over its leaves, (n_steps,)."""
        return leaf_totals(self.tree, self.cut_at, self.n_steps, of_nodes)


def cost_complexity_path(tree: Tree) -> CostComplexityPath:
    """All trees that are best for some price of a leaf.

    Parameters
    ----------
    tree : Tree

    Returns
    -------
    CostComplexityPath
        Links that are equally weak are cut in one step, so the alphas differ; the first, 0, has the
        splits that save nothing cut. scikit-learn lists every cut on its own, beginning with the
        tree as it is.
    """
    risk = tree.weight * tree.impurity / tree.weight[0]
    cut_at, alphas = _weakest_links(tree, risk)
    n_steps = len(alphas)
    cut_at[cut_at < 0] = n_steps
    impurities = leaf_totals(tree, cut_at, n_steps, risk)
    n_leaves = leaf_totals(tree, cut_at, n_steps, np.ones(tree.n_nodes)).round().astype(np.int64)
    return CostComplexityPath(tree, np.array(alphas), impurities, n_leaves, cut_at)


def leaf_totals(tree: Tree, cut_at: Integers, n_steps: int, of_nodes: Floats) -> Floats:
    """For each step, the sum over the nodes that are leaves in its tree."""
    gone_at = np.full(tree.n_nodes, n_steps)
    for node in range(1, tree.n_nodes):
        parent = tree.parent[node]
        gone_at[node] = min(gone_at[parent], cut_at[parent])
    leaf_from = np.where(tree.question == Question.LEAF, 0, cut_at)
    chosen = leaf_from < gone_at
    changes = np.zeros(n_steps + 1)
    np.add.at(changes, leaf_from[chosen], of_nodes[chosen])
    np.subtract.at(changes, gone_at[chosen], of_nodes[chosen])
    return np.cumsum(changes[:-1])


def _weakest_links(tree: Tree, risk: Floats) -> tuple[Integers, list[float]]:
    """The step at which each node is cut, -1 for never, and the alphas of the steps."""
    saved, n_splits = _savings(tree, risk)
    cut_at = np.full(tree.n_nodes, -1, np.int64)
    open_nodes = tree.question != Question.LEAF
    strengths = saved / np.maximum(n_splits, 1)
    queue = [(float(strengths[t]), -t) for t in np.flatnonzero(open_nodes).tolist()]
    heapq.heapify(queue)
    alphas = [0.0]
    while queue:
        stored, minus_node = heapq.heappop(queue)
        node = -minus_node
        if not open_nodes[node]:
            continue
        strength = float(saved[node] / n_splits[node])
        if strength > stored:
            heapq.heappush(queue, (strength, minus_node))
            continue
        if strength > alphas[-1] * (1 + TIE) + NOTHING * risk[0]:
            alphas.append(strength)
        cut_at[node] = len(alphas) - 1
        _cut(tree, node, open_nodes, saved, n_splits)
    return cut_at, alphas


def _savings(tree: Tree, risk: Floats) -> tuple[Floats, Floats]:
    """R(t) - R(T_t) and |T_t| - 1 of every node."""
    saved = np.where(tree.question == Question.LEAF, 0.0, risk)
    np.subtract.at(saved, tree.parent[1:], risk[1:])
    # Impurities are concave, so a split never costs; what is left below 0 is rounding.
    saved = np.maximum(saved, 0.0)
    n_splits = np.maximum(tree.n_children - 1.0, 0.0)
    for node in range(tree.n_nodes - 1, 0, -1):
        parent = tree.parent[node]
        saved[parent] += saved[node]
        n_splits[parent] += n_splits[node]
    return saved, n_splits


def _cut(tree: Tree, node: int, open_nodes: Mask, saved: Floats, n_splits: Floats) -> None:
    """Makes a node a leaf: nothing below it can be cut, and those above lose what it saved."""
    pending = [node]
    while pending:
        current = pending.pop()
        open_nodes[current] = False
        pending.extend(child for child in tree.children(current) if open_nodes[child])
    lost, fewer = saved[node], n_splits[node]
    while node >= 0:
        saved[node] -= lost
        n_splits[node] -= fewer
        node = int(tree.parent[node])


# --- The rule -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CostComplexity(PruningRule):
    """Prune to the smallest tree that minimizes impurity plus `alpha` for each leaf.

    Parameters
    ----------
    alpha : float or "cross_validation", default 0.0
        Price of a leaf, on the scale of the impurity of a node. 0 cuts only splits that save
        nothing.
    folds : int, default 10
        Of the cross-validation.
    rule : {"one_standard_error", "minimum"}, default "one_standard_error"
        The smallest tree whose cross-validated error is within one standard error of the least, or
        with the least.

    References
    ----------
    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984, chapter 3.

    Examples
    --------
    >>> CostComplexity(0.01).alpha
    0.01
    """

    alpha: float | str = 0.0
    folds: int = 10
    rule: str = "one_standard_error"

    def __post_init__(self) -> None:
        if isinstance(self.alpha, Real) and not isinstance(self.alpha, bool):
            valid = bool(np.isfinite(self.alpha) and self.alpha >= 0)
        else:
            valid = self.alpha == CROSS_VALIDATION
        if not valid:
            raise InputError(
                "alpha is the price of a leaf, a finite number of at least 0, or "
                f"{CROSS_VALIDATION!r}; got {self.alpha!r}."
            )
        if not isinstance(self.folds, Integral) or self.folds < 2:
            raise InputError(f"folds is an integer of at least 2, got {self.folds!r}.")
        if self.rule not in CHOICES:
            raise InputError(f"rule is one of {', '.join(CHOICES)}, got {self.rule!r}.")

    def prune(self, tree: Tree, task: PruningTask) -> Tree:
        """The tree of the given price, or of the price that cross-validation finds."""
        if tree.n_leaves == 1:
            return tree
        if not isinstance(self.alpha, str):
            path = cost_complexity_path(tree)
            return path.pruned(path.step_of(float(self.alpha)))
        validation = validate_path(tree, task, int(self.folds))
        return validation.path.pruned(validation.choice(self.rule))


# --- Cross-validation -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PathValidation:
    """Cross-validated errors of the trees of a path.

    Attributes
    ----------
    path : CostComplexityPath
    errors : float64 array (n_steps,)
        Share of wrong rows, or mean squared error, over all rows when left out.
    standard_errors : float64 array (n_steps,)
        Of `errors`, as means over independent rows.
    """

    path: CostComplexityPath
    errors: Floats
    standard_errors: Floats

    def choice(self, rule: str) -> int:
        """The step that a rule chooses: the last whose error is small enough."""
        least = int(self.errors.argmin())
        room = self.standard_errors[least] if rule == "one_standard_error" else 0.0
        limit = self.errors[least] * (1 + TIE) + room
        return int(np.flatnonzero(self.errors <= limit)[-1])


def validate_path(tree: Tree, task: PruningTask, n_folds: int) -> PathValidation:
    """The errors of a path's trees on rows that trees like them were not grown from.

    For each fold a tree is grown from the other folds and pruned at the prices
    `sqrt(alpha_i alpha_(i+1))`, which stand for the ranges of the steps of the whole tree.

    Parameters
    ----------
    tree : Tree
        Grown from all rows of the task.
    task : PruningTask
        With `grow` and `rng`.
    n_folds : int
    """
    if task.grow is None or task.rng is None:
        raise InputError("Cross-validation needs a task with `grow` and `rng`.")
    path = cost_complexity_path(tree)
    prices = np.append(np.sqrt(path.alphas[:-1] * path.alphas[1:]), np.inf)
    folds = fold_numbers(task.targets, task.n_classes, n_folds, task.rng)
    sums = np.zeros((2, path.n_steps))
    for fold in range(n_folds):
        grown = cost_complexity_path(task.grow(np.flatnonzero(folds != fold)))
        part = task.rows(np.flatnonzero(folds == fold))
        steps = [grown.step_of(float(price)) for price in prices]
        for power in (1, 2):
            sums[power - 1] += grown.totals(node_errors(grown.tree, part, power=power))[steps]
    weight = task.weight.sum()
    errors, squares = sums / weight
    variances = np.maximum(squares - errors**2, 0.0)
    return PathValidation(path, errors, np.sqrt(variances / weight))
