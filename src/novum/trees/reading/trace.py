"""How a tree was grown, told afterwards: at every node the splits it could have, and the one taken.

The training rows are sent down the fitted tree; at every node the candidates of the rows that
arrive (with their fractions) are scored as when the tree was grown. Pruned trees, random columns
or thresholds and limits on depth show as splits that were better and not taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.display import element
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.reading.candidate_table import Candidates, CandidateSplit
from novum.trees.reading.candidates import candidates
from novum.trees.reading.conditions import path_box
from novum.trees.reading.questions import column_digits, condition_text
from novum.trees.routing import route
from novum.trees.tree import Question, Tree

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class NodeTrace:
    """The choice at one node.

    Attributes
    ----------
    node, depth : int
    path : str
        The conditions that lead here.
    candidates : Candidates
    taken : CandidateSplit or None
        The split that the node has; None in leaves, and where it is not among the candidates
        (sets of levels that were not tried, rows that are not those of the training).
    rank : int or None
        How many candidates are better than the one taken.
    is_leaf : bool
    """

    node: int
    depth: int
    path: str
    candidates: Candidates
    taken: CandidateSplit | None
    rank: int | None
    is_leaf: bool

    def __str__(self) -> str:
        if self.is_leaf:
            end = "a leaf"
        elif self.rank is None or self.taken is None:
            end = "its split is not among these"
        else:
            place = "the best" if self.rank == 0 else f"number {self.rank + 1}"
            end = f"splits by {self.taken.words}, {place} of {self.candidates.n_splits}"
        return f"node {self.node}: {self.path}, {end}\n{self.candidates.text(_SHOWN)}"


@dataclass(frozen=True, eq=False)
class Trace:
    """The choices at all nodes, parents before children, first branches first."""

    nodes: tuple[NodeTrace, ...]

    def __iter__(self) -> Iterator[NodeTrace]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, place: int) -> NodeTrace:
        return self.nodes[place]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.nodes))

    def _repr_html_(self) -> str:
        return element("pre", str(self))


def trace(
    tree: Tree,
    cells: ArrayLike,
    targets: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    criterion: str | GainRatio | None = None,
    nominal: str = "subset",
    missing: str = "fractional",
    min_samples_leaf: float = 0.0,
    target: int = 0,
    max_depth: int | None = None,
    limit: int | None = None,
    leaves: bool = False,
) -> Trace:
    """For each node of a fitted tree the splits that its rows had, and which one was taken.

    Parameters
    ----------
    tree : Tree
    cells, targets, weight
        The training rows, as `candidates` takes them.
    criterion, nominal, missing, min_samples_leaf
        As the tree was grown; the criterion is Gini for classes and squared error for numbers
        unless said.
    target : int
        Whose class weights or means are told.
    max_depth : int, optional
        Nodes deeper than this are left out.
    limit : int, optional
        Keep only the best so many splits of each node.
    leaves : bool
        Whether leaves are told too, with the splits they were not given.

    Returns
    -------
    Trace
    """
    table = np.ascontiguousarray(cells, float)
    if table.ndim != 2 or table.shape[1] != tree.schema.n_columns:
        raise InputError(
            f"The tree knows {tree.schema.n_columns} columns, the cells have shape {table.shape}."
        )
    answers = np.asarray(targets, float)
    weights = np.ones(len(table)) if weight is None else np.asarray(weight, float)
    chosen = criterion or ("gini" if tree.classes is not None else "squared_error")
    shares = route(tree, table).tocsc()
    digits = column_digits(tree)
    nodes = []
    for node in tree.walk():
        too_deep = max_depth is not None and tree.depths[node] > max_depth
        if too_deep or (tree.is_leaf(node) and not leaves):
            continue
        part = np.asarray(shares[:, [node]].todense()).ravel()
        here = np.flatnonzero(part > 0)
        splits = candidates(
            table[here],
            answers[here],
            weights[here] * part[here],
            tree.schema,
            criterion=chosen,
            nominal=nominal,
            missing=missing,
            classes=tree.classes,
            min_samples_leaf=min_samples_leaf,
            target=target,
        )
        nodes.append(_node_trace(tree, node, splits, limit, digits))
    return Trace(tuple(nodes))


def _node_trace(
    tree: Tree, node: int, splits: Candidates, limit: int | None, digits: list[int]
) -> NodeTrace:
    rank = None
    if not tree.is_leaf(node):
        rank = next((k for k, split in enumerate(splits) if _is_taken(tree, node, split)), None)
    columns = tree.schema.columns
    words = [condition_text(columns[j], c, digits[j]) for j, c in path_box(tree, node).items()]
    return NodeTrace(
        node=node,
        depth=int(tree.depths[node]),
        path=" and ".join(words) or "all rows",
        candidates=splits if limit is None else replace(splits, splits=splits.splits[:limit]),
        taken=None if rank is None else splits[rank],
        rank=rank,
        is_leaf=tree.is_leaf(node),
    )


def _is_taken(tree: Tree, node: int, split: CandidateSplit) -> bool:
    """Whether the node sends its rows where the split would."""
    if tree.column[node] != split.column or tree.question[node] != split.question:
        return False
    if split.question is Question.THRESHOLD:
        # Any threshold between two neighboring values of the node parts its rows alike.
        if math.isinf(split.threshold):
            return bool(np.isinf(tree.threshold[node]))
        return bool(split.between[0] <= tree.threshold[node] < split.between[1])
    branches, alone = tree.branches(node), {int(tree.missing_branch[node])} - {-1}
    met = [{int(branches[code]) for code in group} if group else alone for group in split.levels]
    return all(len(one) == 1 for one in met) and len(set().union(*met)) == len(met)
