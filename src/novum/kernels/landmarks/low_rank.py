"""Low-rank form of any kernel: similarities through a few landmarks.

    k(x, z) ~ phi(x)'phi(z),      phi(x) = K_LL^(-1/2) k(L, x),      L the landmarks

The landmarks are part of the kernel, so the form is a kernel as any other: of the same value for
training and new objects, and positive semi-definite by construction. On the training objects it
is `LL'`, exact in the landmarks' rows. Landmarks chosen by pivoted Cholesky come with the trace of
what is left, which bounds every error (`novum.kernels.landmarks.pivoted_cholesky`). Strings, graphs
and trees become rows of r numbers, with which learners work at the price of a linear kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict
from novum.core.runtime import long_call
from novum.core.text import label_text
from novum.kernels.feature_rows import FeatureRows
from novum.kernels.landmarks.pivoted_cholesky import pivoted_cholesky
from novum.kernels.parameters import positive_integer
from novum.kernels.precomputed import Precomputed
from novum.kernels.protocol import Kernel, Takes
from novum.kernels.similarity_matrix import objects_at
from novum.kernels.validity import IndefiniteKernelError, refuse_indefinite
from novum.numerics import EPSILON, Floats, Positions, cached_property, one_blas_thread


@dataclass(frozen=True, eq=False)
class LowRank(Kernel):
    """A kernel through given landmarks: `k(x, L) K_LL^+ k(L, z)`.

    Parameters
    ----------
    kernel : Kernel
        What is approximated; its similarities of the landmarks are positive semi-definite.
    landmarks : objects
        What the kernel compares; equal landmarks do no harm.

    Notes
    -----
    Exact wherever one of the two objects is a landmark. A similarity costs one of the kernel for
    each landmark, once for each object. `low_rank` chooses the landmarks.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> LowRank(Linear(), [[2.0, 0.0]]).gram([[2.0, 0.0], [1.0, 5.0], [0.0, 1.0]]).tolist()
    [[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """

    kernel: Kernel
    landmarks: Any

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel) or isinstance(self.kernel, Precomputed):
            raise InputError(
                "LowRank approximates a kernel of novum.kernels that compares objects, got "
                f"{label_text(self.kernel)}."
            )
        # The landmarks are read, and refused where they cannot be, when the kernel is made.
        if len(self._basis[0]) == 0:
            raise InputError("LowRank needs at least one landmark.")

    @cached_property
    def _basis(self) -> tuple[Any, Floats]:
        """The prepared landmarks, and what turns similarities to them into features."""
        rows = self.kernel.prepare(self.landmarks)
        try:
            refuse_indefinite(self.kernel, rows)
        except IndefiniteKernelError as error:
            raise IndefiniteKernelError(
                f"{self.kernel!r} is no kernel on these {len(rows)} landmarks, so it has no "
                "low-rank form. Choose one that is positive semi-definite by construction, or use "
                'Nystroem with indefinite="project".'
            ) from error
        return rows, inverse_root(rows.gram())

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        return self.kernel.takes

    @property
    def is_psd_by_construction(self) -> bool:
        return True

    def prepare(self, X: Any, like: FeatureRows | None = None) -> FeatureRows:  # noqa: ARG002
        # The landmarks fix the code, so it is the same for the training and for new objects.
        landmarks, root = self._basis
        return FeatureRows.of(self.kernel.prepare(X, landmarks).cross(landmarks) @ root)

    @property
    def feature_map(self) -> Any:
        """Objects to a matrix with a column for each landmark."""
        return self._features

    def _features(self, X: Any) -> Floats:
        return self.prepare(X).features


@dataclass(frozen=True, eq=False)
class LowRankForm:
    """The low-rank form of a kernel on training objects.

    Attributes
    ----------
    kernel : LowRank
        The form as a kernel, for learners and for new objects.
    positions : int array of shape (r,)
        Where the landmarks stand in the training, in the order chosen.
    factor : array of shape (n, r)
        `L` with `K ~ LL'`.
    certificate : Certificate
        The trace error with the bounds that follow from it.
    """

    kernel: LowRank
    positions: Positions
    factor: Floats
    certificate: Certificate

    def transform(self, X: Any) -> Floats:
        """Rows of the factor for new objects."""
        return self.kernel.prepare(X).features


def low_rank(
    kernel: Kernel, X: Any, rank: int | None = None, tolerance: float = 0.0
) -> LowRankForm:
    """The low-rank form of a kernel on these objects: `K ~ LL'` with a bound of the error.

    Parameters
    ----------
    kernel : Kernel
    X : objects
    rank : int, optional
        Landmarks at most; without it as many as the tolerance needs.
    tolerance : float
        Share of `trace(K)` that may be left.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> form = low_rank(Linear(), [[2.0, 0.0], [1.0, 0.0], [0.0, 1.0]], rank=1)
    >>> form.factor.ravel().tolist(), form.positions.tolist(), form.certificate.value
    ([2.0, 1.0, 0.0], [0], 1.0)
    >>> form.transform([[3.0, 4.0]]).tolist()
    [[3.0]]
    """
    if rank is not None:
        rank = positive_integer(rank, "The rank of a low-rank form")
    if not 0 <= tolerance < 1:
        raise InputError(
            "The tolerance of a low-rank form is a share of the trace, at least 0 and below 1, got "
            f"{label_text(tolerance)}."
        )
    rows = kernel.prepare(X)
    factor = pivoted_cholesky(rows, rank or len(rows), tolerance)
    # Objects without any similarity leave nothing to choose; one keeps the form alive.
    chosen = factor.landmarks if len(factor.landmarks) else np.zeros(1, np.intp)
    form = LowRank(kernel, objects_at(X, chosen))
    certificate = low_rank_certificate(kernel, factor.errors, factor.residual, chosen, tolerance)
    return LowRankForm(form, chosen, form.prepare(X).features, certificate)


def inverse_root(K: Floats) -> Floats:
    """`K^(-1/2)` on the directions in which K is positive beyond rounding, zero on the others.

    Examples
    --------
    >>> inverse_root(np.array([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    with one_blas_thread():
        values, vectors = long_call(
            lambda: np.linalg.eigh(K), 9.0 * len(K) ** 3, f"eigenvectors of {len(K)} landmarks"
        )
    kept = values > len(K) * EPSILON * float(np.abs(values).max(initial=0.0))
    basis = vectors[:, kept]
    return np.asarray((basis / np.sqrt(values[kept])) @ basis.T)


def low_rank_certificate(
    kernel: Kernel,
    errors: Floats,
    residual: Floats,
    landmarks: Positions,
    tolerance: float = 0.0,
    seconds: float | None = None,
) -> Certificate:
    """What is known of the error `E = K - LL'` from its diagonal and traces.

    The trace is bounded below by zero, so it is its own gap. The spectral norm lies between the
    largest entry of the diagonal and the trace, provided that K is positive semi-definite.
    """
    total, left = float(errors[0]), float(errors[-1])
    rounding = len(residual) * EPSILON * total
    verdict = Verdict.LOCAL
    if left <= rounding:
        verdict = Verdict.PROVED
    elif left <= tolerance * total:
        verdict = Verdict.WITHIN_TOLERANCE
    details: dict[str, Any] = {
        "rank": len(landmarks),
        "relative_trace_error": left / total if total > 0 else 0.0,
        "spectral_bound": left,
        "largest_residual": float(residual.max(initial=0.0)),
    }
    if tolerance > 0:
        details["tol"] = tolerance * total
    if not kernel.is_psd_by_construction:
        details["assumes"] = "a positive semi-definite kernel"
    return Certificate(
        objective="trace of the error K - LL'",
        verdict=verdict,
        value=left,
        lower_bound=0.0,
        iterations=len(landmarks),
        trace=errors.tolist(),
        details=details,
        seconds=seconds,
    )
