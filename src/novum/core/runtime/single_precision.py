"""float32 in, float32 out, where scikit-learn keeps it.

A model that was fitted to float32 cells shows its coefficients in float32 and answers rows of
float32 in float32, so that a pipeline in single precision stays in it. Everything in between is
computed in double precision: only what is stored or returned is rounded, once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.numerics import Array


def is_single(X: Any) -> bool:
    """Whether all cells of an array, a sparse matrix or a frame are float32.

    Examples
    --------
    >>> is_single(np.ones((2, 1), np.float32)), is_single([[1.0]]), is_single(np.ones(2))
    (True, False, False)
    """
    dtype = getattr(X, "dtype", None)
    if dtype is not None:
        return bool(dtype == np.float32)
    dtypes = getattr(X, "dtypes", None)
    return dtypes is not None and {str(each).lower() for each in dtypes} == {"float32"}


def round_attributes(model: Any, X: Any, *names: str) -> None:
    """Rounds fitted attributes of a model to float32 if it was fitted to such cells.

    Numbers beyond the range of float32 are kept as they are, and then all of them are.
    """
    if not is_single(X):
        return
    with np.errstate(over="ignore"):
        rounded = {name: np.asarray(getattr(model, name), np.float32) for name in names}
    if all(np.isfinite(values).all() for values in rounded.values()):
        for name, values in rounded.items():
            setattr(model, name, values if values.ndim else values[()])


def answered(coef: Array, X: Any, values: Array) -> Array:
    """Answers for the rows of `X` by a model with these coefficients: float32 if both are.

    Examples
    --------
    >>> coef, X = np.ones(1, np.float32), np.ones((2, 1), np.float32)
    >>> answered(coef, X, np.ones(2)).dtype, answered(coef, X.astype(float), np.ones(2)).dtype
    (dtype('float32'), dtype('float64'))
    """
    return values.astype(np.float32) if coef.dtype == np.float32 and is_single(X) else values


def kept_float(X: Any) -> type[np.floating[Any]]:
    """The type of numbers that a transformation of `X` returns: float32 where `X` is float32.

    Examples
    --------
    >>> kept_float(np.zeros((2, 2), np.float32)), kept_float([[1.0]])
    (<class 'numpy.float32'>, <class 'numpy.float64'>)
    """
    return np.float32 if is_single(X) else np.float64
