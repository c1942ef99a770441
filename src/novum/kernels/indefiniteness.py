"""Evidence that a symmetric matrix is, or is not, positive semi-definite.

    K is positive semi-definite   iff   c'Kc >= 0 for every c   iff   no eigenvalue is negative

Computed eigenvalues are those of a matrix within `n eps |K|` of K, and entries known to a relative
`accuracy` move them by at most `accuracy |K|_F` (Weyl). An eigenvalue above minus the sum of both,
the tolerance, is no evidence against K. One below it gives a witness, its eigenvector c rounded to
26 bits: all products `c_i c_j K_ij` are then sums of two doubles, and `c'Kc` is summed exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from novum.core.runtime import long_call
from novum.numerics import (
    EPSILON,
    Floats,
    definiteness_of,
    eigenpairs,
    factorize,
    one_blas_thread,
    two_product,
    unit_scale,
)

WITNESS_BITS = 26


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the eigenvalues of a symmetric matrix say.

    Attributes
    ----------
    smallest, largest : float
        Eigenvalues.
    tolerance : float
        How far an eigenvalue of a positive semi-definite matrix may come out below zero.
    solver_error, entry_error : float
        The two parts of the tolerance.
    witness : array of shape (n,), or None
        A vector with `c'Kc < 0`, whatever the errors of the entries; None without such a proof.
    value : float, or None
        `c'Kc` at the witness, computed exactly and rounded once.
    is_doubtful : bool
        An eigenvalue is below minus the tolerance, but no witness proves it.
    """

    smallest: float
    largest: float
    tolerance: float
    solver_error: float
    entry_error: float
    witness: Floats | None = None
    value: float | None = None
    is_doubtful: bool = False


def evidence_of(K: Floats, accuracy: float) -> Evidence:
    """Evidence for and against a finite, exactly symmetric matrix.

    Examples
    --------
    >>> found = evidence_of(np.array([[1.0, 2.0], [2.0, 1.0]]), accuracy=0.0)
    >>> round(found.smallest, 12), found.value < 0
    (-1.0, True)
    """
    n = len(K)
    # A power of two changes no digit and keeps squares of extreme entries in range.
    unit = float(unit_scale(np.abs(K).max(keepdims=True))[0, 0])
    scaled = K * unit
    with one_blas_thread():
        values = long_call(
            lambda: np.linalg.eigvalsh(scaled), 4 / 3 * n**3, f"eigenvalues of a {n} x {n} matrix"
        )
    smallest, largest = float(values[0]), float(values[-1])
    solver_error = n * EPSILON * max(abs(smallest), abs(largest))
    entry_error = accuracy * float(np.linalg.norm(scaled))
    tolerance = solver_error + entry_error
    witness = value = None
    suspicious = smallest < -tolerance
    if suspicious:
        witness, value = _verified(scaled, _lowest_vector(scaled), entry_error)
    elif accuracy == 0:
        # Exact entries are judged in units of their own: no eigenvalue of another size hides them.
        witness, value = _verified(scaled, definiteness_of(scaled).witness, 0.0)
    return Evidence(
        smallest / unit,
        largest / unit,
        tolerance / unit,
        solver_error / unit,
        entry_error / unit,
        witness,
        None if value is None else value / unit,
        suspicious and witness is None,
    )


def is_nearly_psd(K: Floats, tolerance: float) -> bool:
    """Whether no eigenvalue is below minus the tolerance, by a factor of the shifted matrix.

    A third of the operations of the eigenvalues, and no eigenvalue known.

    Examples
    --------
    >>> is_nearly_psd(np.ones((3, 3)), 1e-12), is_nearly_psd(-np.eye(3), 1e-12)
    (True, False)
    """
    shifted = np.array(K, order="F")
    shifted[np.diag_indices_from(shifted)] += tolerance
    with one_blas_thread():
        return factorize(shifted)


def exact_form(K: Floats, c: Floats) -> float:
    """`c'Kc` rounded once, for a vector of at most 26 bits; exact where nothing underflows.

    Examples
    --------
    >>> exact_form(np.array([[1.0, 1e-30], [1e-30, -1.0]]), np.array([1.0, 1.0]))
    2e-30
    """

    def terms() -> Iterator[float]:
        for i in np.flatnonzero(c):
            product, error = two_product(K[i], c[i] * c)
            yield from product.tolist()
            yield from error.tolist()

    return math.fsum(terms())


def _lowest_vector(K: Floats) -> Floats:
    with one_blas_thread():
        _, vectors = long_call(
            lambda: eigenpairs(K, 0, 0),
            4 / 3 * len(K) ** 3,
            f"eigenvector of a {len(K)} x {len(K)} matrix",
        )
    return np.asarray(vectors[:, 0])


def _verified(
    K: Floats, direction: Floats | None, entry_error: float
) -> tuple[Floats | None, float | None]:
    """The witness and its value, if it proves that K is indefinite; else nothing."""
    if direction is None or not np.isfinite(direction).all() or not direction.any():
        return None, None
    # Fixed point: entries of less than 2^-26 of the largest vanish, sums of the others are short.
    step = 2.0 ** (math.frexp(float(np.abs(direction).max()))[1] - WITNESS_BITS)
    witness = np.round(direction / step) * step
    value = exact_form(K, witness)
    return (witness, value) if value < -entry_error * float(witness @ witness) else (None, None)
