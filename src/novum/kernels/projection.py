"""The nearest kernel to an indefinite similarity: negative eigenvalues are clipped to zero.

With `K = U diag(l) U'` on the training objects and `P` the projection on the eigenvectors of
positive eigenvalues, `K+ = PK` is the positive semi-definite matrix nearest to K in the Frobenius
norm (Higham 1988), and the eigenvectors are features of every object:

    phi(x) = diag(l+)^(-1/2) U+' k(x),      k(x) = similarities of x to the training objects,

so that `<phi(x), phi(x_i)> = (P k(x))_i` for a training object: new rows are projected by the same
linear map as the training (Chen, Gupta and Recht 2009), and any two objects have a similarity that
is positive semi-definite. An expansion with coefficients b in the projected similarity is one with
coefficients `Pb` in the original.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import check_memory, long_call
from novum.kernels.feature_rows import FeatureRows
from novum.kernels.similarity_matrix import similarities
from novum.numerics import EPSILON, Floats, checked_symmetric, one_blas_thread


@dataclass(frozen=True, eq=False)
class ClippedMatrix:
    """A matrix without its negative eigenvalues.

    Attributes
    ----------
    matrix : array of shape (n, n)
        `K+`, exactly symmetric.
    vectors : array of shape (n, r)
        Eigenvectors that were kept; `P = U+ U+'`.
    values : array of shape (r,)
        Their eigenvalues.
    smallest : float
        The most negative eigenvalue of K, or the smallest if none is negative.
    n_clipped : int
        Eigenvalues below minus the rounding.
    change : float
        `|K - K+| / |K|` in the Frobenius norm.
    """

    matrix: Floats
    vectors: Floats
    values: Floats
    smallest: float
    n_clipped: int
    change: float

    @property
    def map(self) -> Floats:
        """`P`: what turns similarities to the training objects into projected ones."""
        return np.asarray(self.vectors @ self.vectors.T)


def project(K: ArrayLike) -> ClippedMatrix:
    """The positive semi-definite matrix nearest to a symmetric one.

    Examples
    --------
    >>> found = project([[1.0, 2.0], [2.0, 1.0]])
    >>> found.matrix.round(9).tolist(), found.n_clipped, round(found.change, 4)
    ([[1.5, 1.5], [1.5, 1.5]], 1, 0.3162)
    """
    matrix = _checked(K)
    values, vectors = _eigen(matrix)
    # Directions of rounding are no features: their coordinates would be noise over noise.
    rounding = len(matrix) * EPSILON * float(np.abs(values).max())
    kept = values > rounding
    basis = np.ascontiguousarray(vectors[:, kept])
    clipped = (basis * values[kept]) @ basis.T
    size = float(np.linalg.norm(values))
    lost = float(np.linalg.norm(np.minimum(values, 0.0)))
    return ClippedMatrix(
        (clipped + clipped.T) / 2,
        basis,
        values[kept],
        float(values[0]),
        int((values < -rounding).sum()),
        lost / size if size else 0.0,
    )


def shift(K: ArrayLike) -> tuple[Floats, float]:
    """`K + s I` with the smallest `s >= 0` that leaves no negative eigenvalue, and `s`.

    It adds s to the similarity of every object with itself and changes no other, so similarities of
    new objects stay as they are.

    Examples
    --------
    >>> K, s = shift([[1.0, 2.0], [2.0, 1.0]])
    >>> K.round(9).tolist(), round(s, 9)
    ([[2.0, 2.0], [2.0, 2.0]], 1.0)
    """
    matrix = _checked(K).copy()
    amount = max(0.0, -float(_eigen(matrix)[0][0]))
    matrix[np.diag_indices_from(matrix)] += amount
    return matrix, amount


# --- Prepared objects -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ProjectedRows(FeatureRows):
    """Objects in a projected similarity.

    Attributes
    ----------
    training : Prepared
        All training objects, in the original similarity.
    clipped : ClippedMatrix
        Their matrix, and what was changed.
    """

    training: Any
    clipped: ClippedMatrix

    def project(self, new: Any) -> ProjectedRows:
        """New objects, prepared like the original training objects."""
        similarities = new.cross(self.training, np.float64)
        return self.with_features(similarities @ (self.clipped.vectors / self._roots))

    def unprojected(self, coefficients: ArrayLike) -> Floats:
        """Coefficients of all training objects in the original similarity.

        `sum_i b_i k+(x_i, x)` over these rows is `sum_j c_j k(x_j, x)` over the training.
        """
        along = np.asarray(coefficients, float) @ self.features
        return np.asarray((self.clipped.vectors / self._roots) @ along)

    @property
    def _roots(self) -> Floats:
        return np.sqrt(self.clipped.values)


def projected(training: Any) -> ProjectedRows:
    """The prepared training objects in the projected similarity.

    Examples
    --------
    >>> from novum.kernels.precomputed import Precomputed
    >>> rows = projected(Precomputed().prepare([[1.0, 2.0], [2.0, 1.0]]))
    >>> rows.gram().round(9).tolist(), rows.unprojected([1.0, 0.0]).round(9).tolist()
    ([[1.5, 1.5], [1.5, 1.5]], [0.5, 0.5])
    """
    K, _ = similarities(training, np.arange(len(training)))
    clipped = project(K / 2 + K.T / 2)
    features = clipped.vectors * np.sqrt(clipped.values)
    return ProjectedRows(FeatureRows.of(features).rows, training, clipped)


# --- Parts ----------------------------------------------------------------------------------------


def _checked(K: ArrayLike) -> Floats:
    try:
        return checked_symmetric(K)
    except ValueError as error:
        raise InputError(f"This matrix cannot be projected. {error}") from None


def _eigen(matrix: Floats) -> tuple[Floats, Floats]:
    n = len(matrix)
    check_memory(
        4 * 8 * n * n,
        f"Projecting the similarities of {n} objects",
        "Choose a kernel that is positive semi-definite by construction, or fewer objects.",
    )
    with one_blas_thread():
        values, vectors = long_call(
            lambda: np.linalg.eigh(matrix), 9.0 * n**3, f"eigenvectors of a {n} x {n} matrix"
        )
    return values, vectors
