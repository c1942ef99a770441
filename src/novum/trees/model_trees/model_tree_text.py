"""A model tree as text: the questions, and below them the numbered linear models of the leaves.

all rows [weight 209, deviation 160.8]
├─ MMAX <= 14000: LM 1 [weight 150, error 14.1 %]
└─ MMAX > 14000: LM 2 [weight 59, error 38.9 %]

LM 1: y = 5.2 + 0.01 MMAX
LM 2: y = -231.2 + 0.02 MMAX + 1.4 CACH

Errors are those of the leaf's own model on its training rows, in percent of the deviation of all
rows. The models printed are those that predict, with the models above them smoothed in.
"""

from __future__ import annotations

from novum.core.errors import InputError
from novum.trees.model_trees.model_tree_models import NodeModels, smoothed_model
from novum.trees.reading.questions import DIGITS, branch_text, column_digits, number_text
from novum.trees.tree import Tree


def model_tree_text(
    tree: Tree,
    models: NodeModels,
    smoothing: float,
    *,
    max_depth: int | None = None,
    target: int = 0,
    digits: int = DIGITS,
) -> str:
    """The tree and the models of its leaves.

    Parameters
    ----------
    tree : Tree
    models : NodeModels
    smoothing : float
    max_depth : int, optional
        Questions from the root that are shown; nodes there count as leaves.
    target : int
        Whose coefficients are printed, where there are several targets.
    digits : int
        Significant digits.
    """
    if max_depth is not None and max_depth < 0:
        raise InputError(f"max_depth is at least 0, got {max_depth!r}.")
    digits_of = column_digits(tree, digits)
    lines, ends = [], list[int]()
    # Nodes that wait, each with what stands before it and before all below it.
    pending = [(0, "", "")]
    while pending:
        node, before, below = pending.pop()
        is_end = tree.is_leaf(node) or int(tree.depths[node]) == max_depth
        if is_end:
            ends.append(node)
        head = before + _condition(tree, node, digits_of)
        model = f": LM {len(ends)}" if is_end else ""
        lines.append(f"{head}{model} [{_figures(tree, models, node, is_end, digits)}]")
        children = [] if is_end else list(tree.children(node))
        for rank in range(len(children) - 1, -1, -1):
            last = rank == len(children) - 1
            stroke, deeper = ("└─ ", "   ") if last else ("├─ ", "│  ")
            pending.append((children[rank], below + stroke, below + deeper))
    width = len(str(len(ends)))
    for number, node in enumerate(ends, 1):
        model = smoothed_model(tree, models, node, smoothing, target).text(digits)
        lines.append(("\n" if number == 1 else "") + f"LM {number:<{width}}: y = {model}")
    return "\n".join(lines)


def _condition(tree: Tree, node: int, digits_of: list[int]) -> str:
    parent = int(tree.parent[node])
    if parent < 0:
        return "all rows"
    branch = node - int(tree.first_child[parent])
    return branch_text(tree, parent, branch, digits_of[int(tree.column[parent])])


def _figures(tree: Tree, models: NodeModels, node: int, is_end: bool, digits: int) -> str:
    weight = f"weight {number_text(float(tree.weight[node]), digits)}"
    deviation, error = float(models.deviation[0]), float(models.error[node])
    if not is_end:
        return f"{weight}, deviation {number_text(float(models.deviation[node]), digits)}"
    return f"{weight}, error {100 * error / deviation if deviation else 0.0:.1f} %"
