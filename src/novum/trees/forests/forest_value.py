"""All trees of a forest in one set of flat arrays.

Tree t has the nodes `tree_start[t]` to `tree_start[t + 1]`, its root first and parents before their
children; numbers of nodes count through the forest. All that a row needs to go on from a node is
its step, 64 bits, negative in leaves:

    first child (32 bits) | question (2) | column (22) | number of the edge (8)

Where the forest has a coding in bytes, thresholds are edges of it, and rows go down by their codes
alone; otherwise the thresholds are kept beside the steps. What most forests do not need (branches
of missing cells, of levels) is kept only where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Schema
from novum.numerics import (
    Array,
    Codes,
    Floats,
    Integers,
    Mask,
    Positions,
    as_argument,
    cached_property,
)
from novum.trees.growth.coding import NARROW_CODES, TableCoding
from novum.trees.routing import leaf_answers
from novum.trees.tree import Question, Tree

MAX_COLUMNS = 2**22

_ALWAYS = ("step", "value", "weight", "rows", "impurity", "gain")


@dataclass(frozen=True, eq=False)
class Forest:
    """The trees of a forest.

    Attributes
    ----------
    schema : Schema
    classes : tuple of label arrays, one for each target, or None for numbers
    coding : TableCoding or None
        The coding in bytes that steps refer to; None where nodes have thresholds.
    tree_start : int64 array (n_trees + 1,)
    step : int64 array (n_nodes,)
    value : float64 array (n_nodes, n_values)
        What the node says: probabilities of classes, of all targets side by side, or means.
    weight, impurity, gain : float64 arrays (n_nodes,), as in `Tree`
    rows : int32 array (n_nodes,)
    threshold : float64 array (n_nodes,), empty with a coding
    share : float64 array (n_nodes,)
        Share of the parent's known training weight; empty if it follows from the weights.
    missing_branch : int32 array (n_nodes,), empty if all missing cells go down as fractions
    level_start : int32 array (n_nodes,), place in `level_branch`, -1 if none; empty if all none
    level_branch : int8 or int32 array, branches by level of all nominal nodes
    """

    schema: Schema
    classes: tuple[Array, ...] | None
    coding: TableCoding | None
    tree_start: Integers
    step: Integers
    value: Floats
    weight: Floats
    rows: Codes
    impurity: Floats
    gain: Floats
    threshold: Floats
    share: Floats
    missing_branch: Codes
    level_start: Codes
    level_branch: Array

    # Made of

    @classmethod
    def of_tree(cls, tree: Tree, coding: TableCoding | None = None) -> Forest:
        """The forest of one tree.

        Parameters
        ----------
        tree : Tree
        coding : TableCoding, optional
            In bytes; the thresholds of the tree must then be its edges.
        """
        edge = 0 if coding is None else edge_numbers(tree, coding)
        step = (
            tree.first_child.astype(np.int64) << 32
            | tree.question.astype(np.int64) << 30
            | tree.column.astype(np.int64) << 8
            | edge
        )
        few = tree.level_branch.size == 0 or tree.level_branch.max() <= np.iinfo(np.int8).max
        directed = bool((tree.missing_branch >= 0).any())
        nominal = tree.level_branch.size > 0
        return cls(
            tree.schema,
            tree.classes,
            coding,
            np.array([0, tree.n_nodes], np.int64),
            np.where(tree.question == Question.LEAF, -1, step),
            np.ascontiguousarray(leaf_answers(tree)),
            tree.weight,
            tree.rows.astype(np.int32),
            tree.impurity,
            tree.gain,
            tree.threshold if coding is None else np.empty(0),
            tree.share if coding is None or directed else np.empty(0),
            tree.missing_branch if directed else np.empty(0, np.int32),
            tree.level_start if nominal else np.empty(0, np.int32),
            tree.level_branch.astype(np.int8 if few else np.int32),
        )

    @classmethod
    def joined(cls, forests: Sequence[Forest]) -> Forest:
        """One forest of the trees of several, which share schema, classes and coding."""
        first = forests[0]
        if len(forests) == 1:
            return first
        sizes = np.array([forest.n_nodes for forest in forests], np.int64)
        levels = np.array([forest.level_branch.size for forest in forests], np.int64)
        if max(int(sizes.sum()), int(levels.sum())) > np.iinfo(np.int32).max:
            raise InputError(
                f"The forest has {int(sizes.sum())} nodes, more than 2^31. Grow fewer trees, or "
                "smaller ones by min_samples_leaf or max_depth."
            )
        starts, level_starts = np.cumsum(sizes) - sizes, np.cumsum(levels) - levels
        arrays = {
            name: np.concatenate([getattr(forest, name) for forest in forests]) for name in _ALWAYS
        }
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            step = arrays["step"][start : start + size]
            step += (step >= 0) * (start << 32)
        ends = [forest.tree_start[1:] + at for forest, at in zip(forests, starts, strict=True)]
        return cls(
            first.schema,
            first.classes,
            first.coding,
            np.concatenate([[0], *ends]).astype(np.int64),
            **arrays,
            threshold=np.concatenate([forest.threshold for forest in forests]),
            share=_joined_where(forests, "share", lambda forest: forest.shares),
            missing_branch=_joined_where(forests, "missing_branch", _no_branches),
            level_start=_joined_levels(forests, level_starts.tolist()),
            level_branch=np.concatenate([forest.level_branch for forest in forests]),
        )

    # Sizes

    @property
    def n_trees(self) -> int:
        return len(self.tree_start) - 1

    @property
    def n_nodes(self) -> int:
        return int(self.step.size)

    @property
    def n_values(self) -> int:
        return int(self.value.shape[1])

    @property
    def is_coded(self) -> bool:
        """Whether rows go down by codes."""
        return self.coding is not None

    @cached_property
    def largest_tree(self) -> int:
        """Nodes of the largest tree."""
        return int(np.diff(self.tree_start).max())

    # What the steps say

    @property
    def is_leaf(self) -> Mask:
        return self.step < 0

    @property
    def question(self) -> Codes:
        """Of `Question`, (n_nodes,)."""
        return np.where(self.is_leaf, 0, (self.step >> 30) & 3).astype(np.int32)

    @property
    def column(self) -> Codes:
        """Position in the schema, (n_nodes,); -1 in leaves."""
        return np.where(self.is_leaf, -1, (self.step >> 8) & (MAX_COLUMNS - 1)).astype(np.int32)

    @property
    def first_child(self) -> Codes:
        """Number of the first child, (n_nodes,); -1 in leaves."""
        return (self.step >> 32).astype(np.int32)

    # Arrays that follow from the others

    @cached_property
    def thresholds(self) -> Floats:
        """Threshold of every node; NaN where there is none."""
        if self.coding is None:
            return self.threshold
        edges = padded_edges(self.coding)[self.column, self.step & 255]
        return np.where(self.question == Question.THRESHOLD, edges, np.nan)

    @cached_property
    def n_children(self) -> Codes:
        """Number of children: they stand side by side, up to the next ones or the tree's end."""
        inner, first = ~self.is_leaf, self.first_child
        if self.is_coded:
            return np.where(inner, 2, 0).astype(np.int32)
        bounds = np.sort(np.concatenate([first[inner], self.tree_start]))
        last = np.minimum(np.searchsorted(bounds, first, side="right"), bounds.size - 1)
        return np.where(inner, bounds[last] - first, 0).astype(np.int32)

    @property
    def shares(self) -> Floats:
        """Share of the parent's known training weight, (n_nodes,); 1 at roots."""
        if self.share.size:
            return self.share
        first = self.first_child[~self.is_leaf]
        both = self.weight[first] + self.weight[first + 1]
        shares = np.ones(self.n_nodes)
        shares[first], shares[first + 1] = self.weight[first] / both, self.weight[first + 1] / both
        return shares

    @cached_property
    def walk_arrays(self) -> tuple[Any, ...]:
        """The arrays that the kernels of `routing` take."""
        nothing = np.full(self.n_nodes, -1, np.int32)
        return (
            self.question,
            self.column,
            as_argument(self.thresholds),
            self.first_child,
            self.n_children,
            as_argument(self.shares),
            as_argument(self.missing_branch, np.int32) if self.missing_branch.size else nothing,
            as_argument(self.level_start, np.int32) if self.level_start.size else nothing,
            self.level_branch.astype(np.int32),
        )

    @property
    def parts(self) -> Floats:
        """Numbers of siblings that are in the ratio of their shares."""
        return self.share if self.share.size else self.weight

    # Trees

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """The trees one by one."""
        return tuple(map(self.tree, range(self.n_trees)))

    def tree(self, number: int) -> Tree:
        """One of the trees."""
        start, stop = (int(place) for place in self.tree_start[number : number + 2])
        here = slice(start, stop)
        question, column, threshold, first, n_children, share, missing, levels, _ = (
            array[here] for array in self.walk_arrays
        )
        inner = np.flatnonzero(question)
        first_child = np.where(first < 0, -1, first - start).astype(np.int32)
        parent = np.full(stop - start, -1, np.int32)
        order = inner[np.argsort(first_child[inner])]
        parent[1:] = np.repeat(order, n_children[order])
        level_start, level_branch = self._levels(levels, column)
        value = self.value[here]
        if self.classes is not None:
            # The leaf of levels that a node had no rows of has no weight, and says what it does.
            weight = self.weight[here]
            value = value * np.where(weight > 0, weight, weight[parent])[:, np.newaxis]
        return Tree(
            self.schema,
            self.classes,
            question=question,
            column=column,
            threshold=threshold,
            first_child=first_child,
            n_children=n_children,
            parent=parent,
            share=share,
            missing_branch=missing,
            level_start=level_start,
            level_branch=level_branch,
            value=value,
            weight=self.weight[here],
            rows=self.rows[here].astype(np.int64),
            impurity=self.impurity[here],
            gain=self.gain[here],
        )

    def _levels(self, level_start: Codes, column: Codes) -> tuple[Codes, Codes]:
        """The branches of the nominal nodes of one tree."""
        nominal = np.flatnonzero(level_start >= 0)
        if nominal.size == 0:
            return level_start, np.empty(0, np.int32)
        sizes = _n_levels(self.schema)[column[nominal]]
        first = int(level_start[nominal].min())
        last = int((level_start[nominal] + sizes).max())
        moved = np.where(level_start < 0, -1, level_start - first).astype(np.int32)
        return moved, self.level_branch[first:last].astype(np.int32)

    # Files

    def __getstate__(self) -> dict[str, Any]:
        # What is computed from the fields is computed again after loading.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def padded_edges(coding: TableCoding) -> Floats:
    """The edges of a coding in bytes, (n_columns, 256); infinity behind the last."""
    padded = np.full((len(coding.edges), 256), np.inf)
    for j, edges in enumerate(coding.edges):
        padded[j, : edges.size] = edges
    return padded


def edge_numbers(tree: Tree, coding: TableCoding) -> Integers:
    """For every threshold of the tree the number of the edge that it is; 0 where there is none."""
    numbers = np.zeros(tree.n_nodes, np.int64)
    asked = np.flatnonzero(tree.question == Question.THRESHOLD)
    for j in np.unique(tree.column[asked]):
        here = asked[tree.column[asked] == j]
        numbers[here] = np.searchsorted(coding.edges[j], tree.threshold[here])
    return numbers


def _n_levels(schema: Schema) -> Integers:
    return np.array([column.n_levels for column in schema.columns], np.int64)


def _joined_where(
    forests: Sequence[Forest], name: str, otherwise: Callable[[Forest], Array]
) -> Array:
    """The arrays one after the other if any forest has its own; else one that has none."""
    own = [getattr(forest, name) for forest in forests]
    if not any(array.size for array in own):
        return own[0]
    pairs = zip(own, forests, strict=True)
    return np.concatenate([array if array.size else otherwise(f) for array, f in pairs])


def _no_branches(forest: Forest) -> Codes:
    return np.full(forest.n_nodes, -1, np.int32)


def _joined_levels(forests: Sequence[Forest], starts: Sequence[int]) -> Codes:
    moved = [
        np.where(forest.level_start < 0, -1, forest.level_start + start).astype(np.int32)
        for forest, start in zip(forests, starts, strict=True)
    ]
    if not any(array.size for array in moved):
        return moved[0]
    pairs = zip(forests, moved, strict=True)
    return np.concatenate(
        [array if array.size else _no_branches(forest) for forest, array in pairs]
    )


# --- Whether the arrays of a file fit together ----------------------------------------------------
#
# Whether the arrays of a forest fit together, as those of a file that was changed do not.
#
# Kernels do not check indices, so every link is checked here: children stand behind their parent
# and within its tree, so that every way ends; columns, edges and branches exist.

_OF_NODES = ("step", "value", "weight", "rows", "impurity", "gain")
_OPTIONAL = ("threshold", "share", "missing_branch", "level_start")
_TYPES = {
    "tree_start": "int64",
    "step": "int64",
    "value": "float64",
    "weight": "float64",
    "rows": "int32",
    "impurity": "float64",
    "gain": "float64",
    "threshold": "float64",
    "share": "float64",
    "missing_branch": "int32",
    "level_start": "int32",
}


def check_forest(forest: Forest) -> None:
    """Raises `InputError` if the arrays do not make a forest."""
    if not (_sizes_fit(forest) and _coding_fits(forest) and _links_fit(forest)):
        raise InputError("The arrays of this forest do not fit together; the file is damaged.")


def _sizes_fit(forest: Forest) -> bool:
    n, starts = forest.n_nodes, forest.tree_start
    own = all(getattr(forest, name).dtype == kind for name, kind in _TYPES.items())
    return (
        own
        and forest.level_branch.dtype in (np.dtype(np.int8), np.dtype(np.int32))
        and starts.ndim == 1
        and len(starts) > 1
        and int(starts[0]) == 0
        and int(starts[-1]) == n
        and bool((np.diff(starts) > 0).all())
        and all(getattr(forest, name).shape[:1] == (n,) for name in _OF_NODES)
        and all(getattr(forest, name).shape in ((n,), (0,)) for name in _OPTIONAL)
        and forest.step.ndim == forest.weight.ndim == forest.level_branch.ndim == 1
        and forest.value.ndim == 2
        and forest.n_values > 0
        and (forest.classes is None or forest.n_values == sum(map(len, forest.classes)))
        and bool(np.isfinite(forest.value).all())
    )


def _coding_fits(forest: Forest) -> bool:
    coding, n = forest.coding, forest.n_nodes
    if coding is None:
        return len(forest.threshold) == len(forest.share) == n
    n_codes = np.asarray(coding.n_codes)
    nominal = coding.nominal
    edges = np.array([len(column_edges) for column_edges in coding.edges]) + 1
    return (
        coding.schema == forest.schema
        and n_codes.shape == (forest.schema.n_columns,)
        and len(edges) == forest.schema.n_columns
        and bool(((n_codes > 0) & (n_codes <= NARROW_CODES)).all())
        and bool((n_codes[~nominal] == edges[~nominal]).all())
        and forest.level_branch.dtype == np.int8
        and not bool((forest.question == Question.MULTIWAY).any())
    )


def _links_fit(forest: Forest) -> bool:
    inner = np.flatnonzero(~forest.is_leaf)
    question, first = forest.question[inner], forest.first_child[inner].astype(np.int64)
    ends = np.repeat(forest.tree_start[1:], np.diff(forest.tree_start))[inner]
    if not (
        bool((question > 0).all())
        and bool((forest.column[inner] < forest.schema.n_columns).all())
        and bool((first > inner).all())
        and bool((first < ends).all())
    ):
        return False
    n_children = forest.n_children[inner]
    return (
        bool((n_children > 0).all())
        and bool((first + n_children <= ends).all())
        and (
            forest.missing_branch.size == 0
            or bool((forest.missing_branch[inner] < n_children).all())
        )
        and _branches_fit(forest, inner[question >= Question.SUBSET])
    )


def _branches_fit(forest: Forest, nominal: Positions) -> bool:
    if nominal.size == 0:
        return True
    if forest.level_start.size == 0:
        return False
    levels = np.array([column.n_levels for column in forest.schema.columns], np.int64)
    sizes = levels[forest.column[nominal]]
    starts = forest.level_start[nominal].astype(np.int64)
    if bool(((sizes < 1) | (starts < 0) | (starts + sizes > forest.level_branch.size)).any()):
        return False
    place = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    limits = np.repeat(forest.n_children[nominal], sizes)
    return bool((forest.level_branch[place] < limits).all())
