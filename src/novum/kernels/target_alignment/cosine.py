"""Alignment of two kernels, or of a kernel with a target: the cosine of their matrices.

    A(K, M) = <K, M> / (|K| |M|),      <K, M> = sum_ij K_ij M_ij

An aligned kernel says of two objects what the target says: for labels the ideal matrix has

    M_ij = 1 for equal labels,  -1 / (n_classes - 1) for others      (y_i y_j for labels +1, -1)

and for numbers `y_i y_j`. Both matrices are centered first, `Kc = HKH` with `H = I - 11'/n`, which
is subtracting the mean in feature space: without it a kernel of nearly constant values, or classes
of unequal size, look aligned with nearly anything (Cortes, Mohri and Rostamizadeh 2012, figure 1).
`alignment` is the plain cosine, `centered_alignment` the centered one.

References
----------
Cristianini, Shawe-Taylor, Elisseeff and Kandola, "On kernel-target alignment", 2001.
Cortes, Mohri and Rostamizadeh, "Algorithms for learning kernels based on centered alignment", 2012.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.core.tables import check_classes, check_numbers, plain_target
from novum.kernels.protocol import Kernel
from novum.kernels.similarity_matrix import rows_of, similarities
from novum.numerics import Floats, unit_scale

Target = Literal["auto", "classes", "numbers"]


def alignment(a: Any, b: Any, X: Any = None, *, target: Target = "auto") -> float:
    """Cosine of two matrices of similarities.

    Parameters
    ----------
    a : Kernel or square array-like
    b : Kernel, square array-like, or labels or numbers of the objects
        A one-dimensional `b` is a target.
    X : objects, optional
        What the kernels compare.
    target : {"auto", "classes", "numbers"}
        What a target is; "auto" takes floating-point numbers that are not all whole for numbers,
        everything else for labels.

    Returns
    -------
    float
        Between -1 and 1; between 0 and 1 for two positive semi-definite matrices.

    Examples
    --------
    >>> alignment([[1.0, 0.0], [0.0, 1.0]], ["no", "yes"])
    0.7071067811865475
    >>> alignment([[2.0, -2.0], [-2.0, 2.0]], ["no", "yes"])
    1.0
    """
    return _cosine(*_matrices(a, b, X, target))


def centered_alignment(a: Any, b: Any, X: Any = None, *, target: Target = "auto") -> float:
    """Cosine of two centered matrices of similarities; parameters as in `alignment`.

    Examples
    --------
    A constant says nothing, neither alone nor added to another kernel:

    >>> K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> centered_alignment(K + 10, [0, 1]), round(alignment(K + 10, [0, 1]), 4)
    (1.0, 0.0995)
    """
    one, other = _matrices(a, b, X, target)
    return _cosine(centered(one), centered(other))


def centered(K: ArrayLike) -> Floats:
    """`HKH`: similarities after the mean of all objects is subtracted in feature space.

    Examples
    --------
    >>> centered([[4.0, 2.0], [2.0, 2.0]]).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    matrix = np.asarray(K, float)
    rows = matrix.mean(axis=0)
    less = matrix - rows
    less -= (matrix.mean(axis=1) - rows.mean())[:, np.newaxis]
    return less


def ideal_matrix(y: Any, target: Target = "auto") -> Floats:
    """The similarities that a target would have objects have.

    Examples
    --------
    >>> ideal_matrix(["a", "b", "c"])[0].tolist(), ideal_matrix([0.5, -2.0]).tolist()
    ([1.0, -0.5, -0.5], [[0.25, -1.0], [-1.0, 4.0]])
    """
    if _is_numbers(y, target):
        numbers = check_numbers(y, "alignment")
        if numbers.ndim != 1:
            raise InputError(f"A target is one number for each object, got shape {numbers.shape}.")
        return np.outer(numbers, numbers)
    classes, codes = check_classes(y, "alignment")
    if len(classes) < 2:
        raise InputError(
            f"All {len(codes)} labels are equal, so they tell no two objects apart. Give labels of "
            "at least two classes."
        )
    same = codes[:, np.newaxis] == codes
    return np.where(same, 1.0, -1.0 / (len(classes) - 1))


# --- Reading --------------------------------------------------------------------------------------


def matrix_of(a: Any, X: Any = None) -> Floats:
    """The matrix of a kernel on objects, or a matrix itself; finite and symmetric up to rounding.

    Examples
    --------
    >>> matrix_of([[1, 2], [2, 5]]).tolist()
    [[1.0, 2.0], [2.0, 5.0]]
    """
    if isinstance(a, Kernel) and X is None:
        raise InputError(f"The alignment of {a!r} needs objects: pass X.")
    rows, _ = rows_of(a, X if isinstance(a, Kernel) else None)
    K, _ = similarities(rows, np.arange(len(rows)))
    return K / 2 + K.T / 2


def _matrices(a: Any, b: Any, X: Any, target: Target) -> tuple[Floats, Floats]:
    one = matrix_of(a, X)
    other = ideal_matrix(b, target) if is_target(b) else matrix_of(b, X)
    check_pair(one, other)
    return one, other


def is_target(b: Any) -> bool:
    """Whether something is a target: one label or number for each object."""
    return not isinstance(b, Kernel) and np.ndim(b) == 1


def check_pair(one: Floats, other: Floats) -> None:
    """Refuses matrices of different objects."""
    if one.shape != other.shape:
        raise InputError(
            f"The two sides of an alignment are of {len(one)} and of {len(other)} objects; they "
            "must be of the same objects in the same order."
        )


def _is_numbers(y: Any, target: str) -> bool:
    if target not in ("auto", "classes", "numbers"):
        raise InputError(f"target is 'auto', 'classes' or 'numbers', got {target!r}.")
    if target != "auto":
        return target == "numbers"
    values = plain_target(y)
    return values.dtype.kind == "f" and not bool((values == np.round(values)).all())


def _cosine(one: Floats, other: Floats) -> float:
    check_memory(
        8 * one.size, f"The alignment of {len(one)} objects", "Use a sample of the objects."
    )
    # Powers of two keep the squares of extreme entries in range and change no digit.
    one, other = (K * float(unit_scale(np.abs(K).max(keepdims=True))[0, 0]) for K in (one, other))
    sizes = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    if sizes == 0:
        raise InputError(
            "The alignment with a matrix of zeros is not defined; after centering, a kernel that "
            "gives all pairs the same similarity is zero. Choose a kernel that tells objects apart."
        )
    return float(np.clip(np.vdot(one, other) / sizes, -1.0, 1.0))
