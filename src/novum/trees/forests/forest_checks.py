"""Whether the arrays of a forest fit together, as those of a file that was changed do not.

Kernels do not check indices, so every link is checked here: children stand behind their parent and
within its tree, so that every way ends; columns, edges and branches exist.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.trees.forests.forest_value import Forest
from novum.trees.growth.coding import NARROW_CODES
from novum.trees.tree import Question

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
        and (forest.classes is None or forest.n_values == sum(map(len, forest.classes)))
        and bool(np.isfinite(forest.value).all())
    )


def _coding_fits(forest: Forest) -> bool:
    coding, n = forest.coding, forest.n_nodes
    if coding is None:
        return len(forest.threshold) == len(forest.share) == n
    n_codes = np.asarray(coding.n_codes)
    nominal = coding.nominal
    edges = np.array([len(found) for found in coding.edges]) + 1
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


def _branches_fit(forest: Forest, nominal: NDArray[np.intp]) -> bool:
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
