"""Kernels from a Python function, in scikit-learn's two conventions.

    matrix:  f(X, Z)  gives all similarities at once       (its support vector machines)
    pair:    f(x, z)  gives the similarity of two objects  (its `pairwise_kernels`)

Nothing is known of the function, so nothing is promised of its Gram matrices; what it returns is
checked: shape, real and finite numbers, and symmetry where a whole Gram matrix is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.kernels.precomputed import check_symmetric
from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.kernels.vectors.vector_rows import as_single, read_vectors
from novum.numerics import Array, Floats

Form = Literal["matrix", "pair"]
# Objects whose diagonal is cut from one small Gram matrix.
DIAGONAL_BLOCK = 32


@dataclass(frozen=True, repr=False)
class FromCallable(Kernel):
    """A kernel that a function computes.

    Parameters
    ----------
    function : callable
        Of two arrays of rows (lists of objects) giving the matrix of similarities, or of two rows
        (objects) giving one number.
    form : {"matrix", "pair"}, default="matrix"
        Which of the two.
    takes : {"vectors", "objects"}, default="vectors"
        Whether it compares rows of numbers or anything else.
    psd : bool, default=False
        The user's word that every Gram matrix is positive semi-definite.

    Notes
    -----
    Equal where the functions are the same object. Model files cannot hold functions.

    Examples
    --------
    >>> kernel = FromCallable(lambda a, b: min(a, b), form="pair", takes="objects")
    >>> kernel.gram([1, 2, 3])
    array([[1., 1., 1.],
           [1., 2., 2.],
           [1., 2., 3.]])
    """

    function: Callable[[Any, Any], Any]
    form: Form = "matrix"
    takes: Takes = "vectors"  # type: ignore[misc]
    psd: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(
                f"FromCallable needs a function of two arguments, got {label_text(self.function)}."
            )
        if self.form not in ("matrix", "pair"):
            raise InputError(
                f"form={self.form!r} is not one of 'matrix' (the function gives a whole matrix) "
                "and 'pair' (it gives the similarity of two objects)."
            )
        if self.takes not in ("vectors", "objects"):
            raise InputError(f"takes={self.takes!r} is not one of 'vectors' and 'objects'.")

    def __repr__(self) -> str:
        # A function by its name: its address would differ from run to run.
        settings = f"form={self.form!r}, takes={self.takes!r}, psd={self.psd!r}"
        return f"FromCallable({_name(self.function)}, {settings})"

    @property
    def is_psd_by_construction(self) -> bool:
        return self.psd

    def prepare(self, X: Any, like: CallableRows | None = None) -> CallableRows:
        if self.takes == "objects":
            return CallableRows(self, read_objects(X, _name(self.function)))
        rows = read_vectors(X, _name(self.function), None if like is None else like.objects)
        return CallableRows(self, rows)


@dataclass(frozen=True, eq=False)
class CallableRows(Prepared):
    """Objects for a function of two of them: an array of rows, or a tuple."""

    kernel: FromCallable
    objects: Any

    def __len__(self) -> int:
        return int(self.objects.shape[0]) if hasattr(self.objects, "shape") else len(self.objects)

    def take(self, rows: Any) -> CallableRows:
        if hasattr(self.objects, "shape"):
            return CallableRows(self.kernel, self.objects[rows])
        return CallableRows(self.kernel, taken(self.objects, rows))

    def diagonal(self) -> Floats:
        if self.kernel.form == "pair":
            return np.array([_number(self.kernel, x, x) for x in self.objects], np.float64)
        blocks = []
        for start in range(0, len(self), DIAGONAL_BLOCK):
            part = self.take(slice(start, start + DIAGONAL_BLOCK))
            blocks.append(np.diagonal(part.cross(part)))
        return np.concatenate(blocks) if blocks else np.empty(0)

    def cross(self, other: CallableRows, dtype: DTypeLike = np.float64) -> Array:
        if not (len(self) and len(other)):
            # Functions need not know what to do with nothing.
            return np.empty((len(self), len(other)), dtype)
        if self.kernel.form == "pair":
            cells = [[_number(self.kernel, x, z) for z in other.objects] for x in self.objects]
            K = np.array(cells, np.float64).reshape(len(self), len(other))
        else:
            left, right = _argument(self.objects), _argument(other.objects)
            K = _checked(self.kernel, self.kernel.function(left, right), (len(self), len(other)))
        return K if np.dtype(dtype) == np.float64 else as_single(K, self.kernel)

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        K = self.cross(self)
        check_symmetric(K, f"What the kernel function {_name(self.kernel.function)!r} returned")
        K = (K + K.T) / 2
        return K if np.dtype(dtype) == np.float64 else as_single(K, self.kernel)


# --- Objects --------------------------------------------------------------------------------------


def read_objects(X: Any, kernel: str) -> tuple[Any, ...]:
    """A sequence of any objects as a tuple; refuses what is no sequence of objects.

    Examples
    --------
    >>> read_objects(["ab", "c"], "Spectrum")
    ('ab', 'c')
    """
    if isinstance(X, (str, bytes)) or not (hasattr(X, "__len__") or hasattr(X, "__iter__")):
        raise InputError(
            f"{kernel} compares the objects of a sequence, got {label_text(X)}. Pass a list of "
            "them, also for a single one."
        )
    objects = tuple(X)
    if not objects:
        raise InputError(f"{kernel} was given no objects (0 samples). Pass at least one.")
    return objects


def taken(objects: Sequence[Any], rows: Any) -> tuple[Any, ...]:
    """Some of the objects, by a slice, positions or a mask."""
    if isinstance(rows, slice):
        return tuple(objects[rows])
    return tuple(objects[i] for i in np.arange(len(objects))[rows])


def _argument(objects: Any) -> Any:
    """What the function gets: its own list of objects, or the array."""
    return list(objects) if isinstance(objects, tuple) else objects


# --- Checks ---------------------------------------------------------------------------------------


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _number(kernel: FromCallable, x: Any, z: Any) -> float:
    result = kernel.function(x, z)
    try:
        number = float(result)
    except (TypeError, ValueError):
        shape = f" of shape {np.shape(result)}" if np.ndim(result) else ""
        raise InputError(
            f"The kernel function {_name(kernel.function)!r} must return one number for a pair of "
            f"objects, but returned {type(result).__name__}{shape}. If it returns the matrix of "
            "all pairs, say form='matrix'."
        ) from None
    if not np.isfinite(number):
        raise InputError(
            f"The kernel function {_name(kernel.function)!r} returned {number} for the pair "
            f"{label_text(x)}, {label_text(z)}. Similarities must be finite numbers."
        )
    return number


def _checked(kernel: FromCallable, result: Any, shape: tuple[int, int]) -> Floats:
    name = _name(kernel.function)
    values = np.asarray(result.toarray() if hasattr(result, "toarray") else result)
    if values.shape != shape:
        raise InputError(
            f"The kernel function {name!r} returned shape {values.shape} for {shape[0]} and "
            f"{shape[1]} objects; it must return shape {shape}. If it compares one pair of "
            "objects, say form='pair'."
        )
    if values.dtype.kind not in "biuf":
        raise InputError(
            f"The kernel function {name!r} returned {values.dtype} entries; similarities must be "
            "real numbers."
        )
    # The caller may overwrite what it gets, and the function may keep what it returned.
    K = np.array(values, np.float64, order="C")
    bad = np.argwhere(~np.isfinite(K))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"The kernel function {name!r} returned {K[row, column]} for objects {row} and "
            f"{column} ({len(bad)} such entries in all). Similarities must be finite numbers."
        )
    return K
