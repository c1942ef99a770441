"""Weights of a sum of kernels by centered alignment with a target.

With centered matrices `K_k` and the centered ideal matrix `M` of the target,

    each alone   v_k  proportional to  max(0, A(K_k, M))
    together     v = argmin over v >= 0 of  v'Gv - 2 a'v,     G_kl = <K_k, K_l>,   a_k = <K_k, M>

The second maximizes the alignment of `sum_k v_k K_k` with M over all non-negative weights (Cortes,
Mohri and Rostamizadeh 2012, proposition 9): a quadratic program of as many variables as kernels,
solved as non-negative least squares. Neither needs a learner, so both are where learning weights
jointly with one (`novum.svm.learn_weights`) starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, optimize

from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.kernels.target_alignment.cosine import (
    Target,
    centered,
    check_pair,
    ideal_matrix,
    is_target,
    matrix_of,
)
from novum.numerics import EPSILON, Floats


@dataclass(frozen=True, eq=False)
class AlignmentWeights:
    """Weights of kernels, and what they reach.

    Attributes
    ----------
    weights : array of shape (n_kernels,)
        Non-negative, with sum 1.
    alignment : float
        Centered alignment of the weighted sum with the target.
    single : array of shape (n_kernels,)
        Centered alignment of every kernel alone; 0 for one that is constant.
    violation : float
        Largest violation of the optimality conditions, as a share of the largest `a_k`; None where
        nothing is optimized.
    """

    weights: Floats
    alignment: float
    single: Floats
    violation: float | None = None


@dataclass(frozen=True, eq=False)
class _Products:
    """Inner products of centered matrices of length one: all pairs, and with the target."""

    pairs: Floats
    target: Floats
    sizes: Floats


def single_weights(
    kernels: Sequence[Any], y: Any, X: Any = None, *, target: Target = "auto"
) -> AlignmentWeights:
    """Weights proportional to every kernel's own centered alignment.

    Parameters
    ----------
    kernels : sequence of Kernel or square array-likes
    y : labels or numbers of the objects, a Kernel, or a square array-like
    X : objects, optional
    target : {"auto", "classes", "numbers"}
        What `y` is; see `alignment`.

    Examples
    --------
    >>> good = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> single_weights([good, np.ones((2, 2))], [0, 1]).weights.tolist()
    [1.0, 0.0]
    """
    products = _products(kernels, y, X, target)
    # The weights are of kernels of equal length: a large scale of a kernel is no merit.
    return _answer(products, _per_size(np.maximum(products.target, 0.0), products.sizes), None)


def joint_weights(
    kernels: Sequence[Any], y: Any, X: Any = None, *, target: Target = "auto"
) -> AlignmentWeights:
    """Non-negative weights whose sum of kernels has the largest centered alignment.

    Parameters are those of `single_weights`.

    Examples
    --------
    Two halves of the ideal matrix of four objects, and one kernel that contradicts it:

    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> a, b = np.outer(y, y) + np.diag([4.0, 0, 0, 0]), np.outer(y, y) + np.diag([0, 0, 0, 4.0])
    >>> other = np.outer([1.0, -1.0, 1.0, -1.0], [1.0, -1.0, 1.0, -1.0])
    >>> joint_weights([a, b, other], y).weights.round(6).tolist()
    [0.5, 0.5, 0.0]
    """
    products = _products(kernels, y, X, target)
    values, vectors = linalg.eigh(products.pairs)
    # The same problem as |Rv - b|^2 with R'R = G and R'b = a; equal kernels make G singular.
    kept = values > len(values) * EPSILON * max(float(values[-1]), 1.0)
    root = vectors[:, kept].T * np.sqrt(values[kept])[:, np.newaxis]
    goal = (vectors[:, kept].T @ products.target) / np.sqrt(values[kept])
    solution, _ = optimize.nnls(root, goal)
    slope = products.pairs @ solution - products.target
    size = float(np.abs(products.target).max())
    worst = max(float((-slope).max()), float(np.abs(slope[solution > 0]).max(initial=0.0)), 0.0)
    return _answer(products, _per_size(solution, products.sizes), worst / size if size else 0.0)


def _products(kernels: Sequence[Any], y: Any, X: Any, target: Target) -> _Products:
    if isinstance(kernels, np.ndarray) and kernels.ndim != 3:
        kernels = ()
    if not len(kernels):
        raise InputError("Give a list of at least one kernel or matrix to weight.")
    goal = centered(ideal_matrix(y, target) if is_target(y) else matrix_of(y, X))
    goal_size = float(np.linalg.norm(goal))
    if goal_size == 0:
        raise InputError("The target tells no two objects apart, so no kernel is aligned with it.")
    check_memory(
        8 * goal.size * (len(kernels) + 2),
        f"Aligning {len(kernels)} kernels on {len(goal)} objects",
        "Use a sample of the objects.",
    )
    flat = np.empty((len(kernels), goal.size))
    sizes = np.empty(len(kernels))
    for k, kernel in enumerate(kernels):
        matrix = matrix_of(kernel, X)
        check_pair(matrix, goal)
        flat[k] = centered(matrix).ravel()
        sizes[k] = np.linalg.norm(flat[k])
        # What centering leaves of a constant is rounding of it, and no direction.
        if sizes[k] <= len(goal) * EPSILON * np.linalg.norm(matrix):
            sizes[k] = 0.0
    safe = np.where(sizes > 0, sizes, np.inf)
    flat /= safe[:, np.newaxis]
    return _Products(flat @ flat.T, flat @ goal.ravel() / goal_size, sizes)


def _per_size(weights: Floats, sizes: Floats) -> Floats:
    """Weights of the kernels themselves, from weights of kernels of length one."""
    return np.divide(weights, sizes, out=np.zeros_like(weights), where=sizes > 0)


def _answer(products: _Products, weights: Floats, violation: float | None) -> AlignmentWeights:
    total = float(weights.sum())
    if not total > 0:
        raise InputError(
            "No kernel is aligned with the target: all centered alignments are zero or negative "
            f"({', '.join(f'{value:.3g}' for value in products.target)}). Choose other kernels."
        )
    scaled = weights * products.sizes
    length = float(np.sqrt(scaled @ products.pairs @ scaled))
    reached = float(np.clip(products.target @ scaled / length, -1.0, 1.0))
    return AlignmentWeights(weights / total, reached, products.target, violation)
