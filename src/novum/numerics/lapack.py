"""Factorizations that let other threads run meanwhile.

SciPy's functions hold the interpreter's lock for as long as LAPACK works, so that nobody can wait
for them in a way that Ctrl-C ends. NumPy's do not, and are used wherever they do the job; these are
the rest, called at the addresses that SciPy offers to compiled code:

    potrf    A = L L'               in single and double precision, in place
    potri    A^-1 from L            in place
    syevr    some eigenpairs of a symmetric matrix
    geqrf    A = Q R                reflections

A Cholesky factor is made of panels, and the interpreter has its turn between them: Ctrl-C ends it
within a fraction of a second, and no thread is needed.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char, c_double, c_float, c_int, c_void_p
from functools import cache
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from novum.numerics.types import Array, Floats

# Columns of a panel, and columns to the left of it that are taken into account in one call.
PANEL = 256
_DEPTH = 1024
# Cells up to which reflections take less than a millisecond.
_BRIEF = 2**14
# Rows up to which a Cholesky factor does.
_FEW = 64


def factorize(A: Array) -> bool:
    """Writes `L` of `A = L L'` into the lower triangle of a symmetric matrix in Fortran order.

    Returns
    -------
    bool
        Whether A is positive definite; otherwise what is in it means nothing.

    Examples
    --------
    >>> A = np.asfortranarray([[4.0, 2.0], [2.0, 5.0]])
    >>> factorize(A), np.tril(A).tolist()
    (True, [[2.0, 0.0], [1.0, 2.0]])
    """
    _check(A)
    n = len(A)
    if n <= _FEW:
        # Over before anybody could wait for it, and without the cost of a call by address.
        from scipy.linalg import lapack

        potrf = lapack.dpotrf if A.dtype == np.float64 else lapack.spotrf
        return int(potrf(A, lower=1, clean=0, overwrite_a=1)[1]) == 0
    for start in range(0, n, PANEL):
        width = min(PANEL, n - start)
        rest, below = n - start, n - start - width
        panel = start, start
        for left in range(0, start, _DEPTH):
            # A[start:, panel] -= L[start:, left:left + depth] L[panel, left:left + depth]'
            depth, L = min(_DEPTH, start - left), (start, left)
            _call("gemm", A, b"N", b"T", rest, width, depth, -1.0, L, n, L, n, 1.0, panel, n)
        if _in_place("potrf", A, start, width):
            return False
        if below:
            # L[below, panel] = A[below, panel] (L[panel, panel]')^-1
            target = start + width, start
            _call("trsm", A, b"R", b"L", b"T", b"N", below, width, 1.0, panel, n, target, n)
    return True


def invert(L: Floats) -> bool:
    """Writes the lower triangle of `(L L')^-1` over `L`, which is in Fortran order.

    Examples
    --------
    >>> L = np.asfortranarray([[2.0, 0.0], [1.0, 2.0]])
    >>> invert(L), np.diag(L).tolist()
    (True, [0.3125, 0.25])
    """
    _check(L)
    return _in_place("potri", L, 0, len(L)) == 0


def eigenpairs(A: Floats, first: int, last: int) -> tuple[Floats, Floats]:
    """Eigenvalues `first ... last` of a symmetric matrix, counted from the least, with vectors.

    Examples
    --------
    >>> values, vectors = eigenpairs(np.diag([3.0, 1.0, 2.0]), 1, 2)
    >>> values.tolist(), np.abs(vectors).tolist()
    ([2.0, 3.0], [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    """
    n, m = len(A), last - first + 1
    if not 0 <= first <= last < n:
        raise ValueError(f"There are no eigenvalues {first} to {last} of {n}.")
    own = np.array(A, np.float64, order="F")
    values, vectors = np.empty(n), np.empty((n, m), order="F")
    support = np.empty(2 * m, np.intc)
    n_found, info = c_int(0), c_int(0)
    work, integers = np.empty(1), np.empty(1, np.intc)
    # The first call asks how much working memory the second one needs.
    lengths = -1, -1
    for _ in range(2):
        _call(
            "syevr", own, b"V", b"I", b"L", n, (0, 0), n, 0.0, 0.0, first + 1, last + 1, 0.0,
            n_found, values, vectors, n, support, work, lengths[0], integers, lengths[1], info,
        )  # fmt: skip
        if lengths == (-1, -1):
            lengths = int(work[0]), int(integers[0])
            work, integers = np.empty(lengths[0]), np.empty(lengths[1], np.intc)
    if info.value != 0 or n_found.value != m:
        raise LinAlgError(f"Eigenvalues of a {n} x {n} matrix did not converge.")
    return values[:m], vectors


def reflect(A: Floats) -> Floats:
    """`R` of `A = Q R` in the upper triangle of a matrix, by Householder reflections.

    Examples
    --------
    >>> np.abs(np.triu(reflect(np.array([[3.0], [4.0]])))).round(12).tolist()
    [[5.0], [0.0]]
    """
    m, k = A.shape
    if A.size == 0:
        return np.array(A)
    if A.size <= _BRIEF:
        # SciPy's function costs a microsecond, and is over before anybody could wait for it.
        from scipy.linalg import lapack

        packed, _, _, info = lapack.dgeqrf(A, lwork=64 * k)
        status = int(info)
    else:
        packed, state = np.array(A, np.float64, order="F"), c_int(0)
        tau, work = np.empty(min(m, k)), np.empty(64 * k)
        _call("geqrf", packed, m, k, (0, 0), m, tau, work, 64 * k, state)
        status = state.value
    if status != 0:  # pragma: no cover - LAPACK refuses only malformed calls
        raise LinAlgError(f"LAPACK's geqrf failed with info={status}.")
    return np.asarray(packed)


def _in_place(name: str, A: Array, start: int, width: int) -> int:
    info = c_int(0)
    _call(name, A, b"L", width, (start, start), len(A), info)
    return info.value


def _call(name: str, A: Array, *arguments: Any) -> None:
    """A routine for the numbers of `A`, in which `(i, j)` is the place of an entry."""
    real = c_float if A.dtype == np.float32 else c_double
    given: list[Any] = []
    for argument in arguments:
        match argument:
            case bytes():
                given.append(byref(c_char(argument)))
            case int():
                given.append(byref(c_int(argument)))
            case float():
                given.append(byref(real(argument)))
            case c_int():
                given.append(byref(argument))
            case (i, j):
                given.append(A.ctypes.data + (i + j * len(A)) * A.itemsize)
            case _:
                given.append(argument.ctypes.data)
    _routine(("s" if real is c_float else "d") + name, len(given))(*given)


def _check(A: Array) -> None:
    square = A.ndim == 2 and A.shape[0] == A.shape[1] > 0
    if not (square and A.flags.f_contiguous and A.dtype in (np.float32, np.float64)):
        raise ValueError(
            f"A square matrix of floats in Fortran order is needed, not {A.dtype} of {A.shape}."
        )


@cache
def _routine(name: str, n_arguments: int) -> Any:
    """A routine of BLAS or LAPACK; ctypes lets other threads run while it does."""
    from scipy.linalg import cython_blas, cython_lapack

    offered = {**cython_lapack.__pyx_capi__, **cython_blas.__pyx_capi__}
    capsule = ctypes.py_object(offered[name])
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
        ("PyCapsule_GetName", ctypes.pythonapi)
    )
    address_of = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    address = address_of(capsule, name_of(capsule))
    return ctypes.CFUNCTYPE(None, *[c_void_p] * n_arguments)(address)
