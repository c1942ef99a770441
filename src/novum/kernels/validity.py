"""Is a similarity a kernel? What can be proved from its matrix, and what learners do about it.

A function `k` is a kernel iff it is symmetric and all its Gram matrices are positive semi-definite,
`c'Kc >= 0` for every vector c. Three answers are possible:

    valid      it is one by construction, or this matrix has no negative eigenvalue beyond the
               stated tolerance (`novum.kernels.indefiniteness`), which proves nothing of others
    invalid    it is not symmetric, or there is a witness c with `c'Kc < 0`, verified exactly
    undecided  only a random principal submatrix was looked at, and it has no such fault

A violated principal submatrix proves the whole invalid: its witness, filled up with zeros, is one
of the whole. With an indefinite matrix the problem of a support vector machine is not convex and
its solution has no meaning, so learners refuse it (`refuse_indefinite`) or project it (`admitted`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.kernels.indefiniteness import Evidence, evidence_of, is_nearly_psd
from novum.kernels.protocol import Kernel
from novum.kernels.similarity_matrix import (
    asymmetry_of,
    checked_accuracy,
    entry_accuracy,
    is_crooked,
    rows_of,
    similarities,
)
from novum.numerics import EPSILON, Floats, Positions

Answer = Literal["valid", "invalid", "undecided"]

# Rows of which a learner looks at all pairs; the factor then takes about a second.
LEARNER_ROWS = 4096
# What a learner that has both ways of treating an indefinite kernel tells its user.
ADVICE = (
    'Set indefinite="project" to learn with the nearest kernel, or choose one that is positive '
    "semi-definite by construction."
)


class IndefiniteKernelError(InputError):
    """A similarity that is not positive semi-definite was given to a learner that needs it."""


@dataclass(frozen=True, eq=False, repr=False)
class KernelVerdict:
    """Whether a similarity is a kernel, and how we know.

    Attributes
    ----------
    verdict : {"valid", "invalid", "undecided"}
    reason : str
        The verdict in a sentence.
    smallest_eigenvalue, largest_eigenvalue : float, or None
        Of the matrix looked at; None where its Cholesky factor answered the question.
    tolerance : float
        Eigenvalues down to minus this are no evidence against a kernel.
    tolerance_reason : str
        What the tolerance is made of.
    asymmetry : float
        Largest `|K_ij - K_ji|`.
    asymmetry_at : (int, int), or None
        Where; None for a matrix that is exactly symmetric.
    n_objects, n_checked : int
        How many there are, and how many of them were looked at.
    by_construction : bool
        Whether the kernel promises to be positive semi-definite.
    witness : array of shape (n_objects,), or None
        A vector with `c'Kc < 0` where the matrix is indefinite.
    witness_value : float, or None
        `c'Kc`, computed exactly and rounded once.
    """

    verdict: Answer
    reason: str
    smallest_eigenvalue: float | None
    largest_eigenvalue: float | None
    tolerance: float
    tolerance_reason: str
    asymmetry: float
    asymmetry_at: tuple[int, int] | None
    n_objects: int
    n_checked: int
    by_construction: bool
    witness: Floats | None = None
    witness_value: float | None = None

    @property
    def is_valid(self) -> bool:
        return self.verdict == "valid"

    def __repr__(self) -> str:
        smallest = self.smallest_eigenvalue
        lines = [
            f"{self.verdict}: {self.reason}",
            f"  objects              {self.n_checked} of {self.n_objects} looked at",
            f"  smallest eigenvalue  {'not computed' if smallest is None else f'{smallest:.6g}'}",
            f"  tolerance            {self.tolerance:.3g}: {self.tolerance_reason}",
            f"  asymmetry            {self.asymmetry:.3g}",
        ]
        if self.witness_value is not None:
            lines.append(f"  witness              c'Kc = {self.witness_value:.6g}")
        return "\n".join(lines)


# --- Checking -------------------------------------------------------------------------------------


def check_kernel(
    kernel: Any,
    X: Any = None,
    *,
    accuracy: float | None = None,
    max_rows: int = 2000,
    random_state: RandomSource = 0,
) -> KernelVerdict:
    """Whether a kernel, or a matrix of similarities, is symmetric and positive semi-definite.

    Parameters
    ----------
    kernel : Kernel or square array-like
        With objects `X`, or the matrix itself.
    X : objects, optional
        What the kernel compares.
    accuracy : float, optional
        Relative error of an entry. By default 16 roundings of the matrix's precision; 0 for
        integers, which are exact. Entries that all are single-precision numbers count as such.
    max_rows : int
        Of more objects, a random principal submatrix of this many is looked at.
    random_state : int, generator or None
        Of the submatrix.

    Returns
    -------
    KernelVerdict

    Examples
    --------
    >>> found = check_kernel([[1, 2], [2, 1]])
    >>> found.verdict, round(found.smallest_eigenvalue, 9), found.witness_value < 0
    ('invalid', -1.0, True)
    >>> check_kernel([[2.0, 1.0], [1.0, 2.0]]).verdict
    'valid'
    """
    rows, promised = rows_of(kernel, X)
    n = len(rows)
    chosen = np.arange(n)
    if n > max_rows:
        drawn = stream(random_state, "principal submatrix").permutation(n)
        chosen = np.sort(drawn[: max(1, max_rows)])
    K, precision = similarities(rows, chosen)
    trusted = entry_accuracy(K, precision) if accuracy is None else checked_accuracy(accuracy)
    return _judged(K, trusted, n, chosen, promised)


def _judged(
    K: Floats, accuracy: float, n: int, chosen: Positions, promised: str | None
) -> KernelVerdict:
    asymmetry, at = asymmetry_of(K)
    evidence = evidence_of(K if at is None else K / 2 + K.T / 2, accuracy)
    fault = None
    if at is not None and is_crooked(K, asymmetry, accuracy):
        i, j = int(chosen[at[0]]), int(chosen[at[1]])
        fault = f"entries ({i}, {j}) and ({j}, {i}) are {K[at]:.6g} and {K[at[::-1]]:.6g}"
    answer, reason = _answer(evidence, fault, len(K), n, promised)
    witness = None
    if evidence.witness is not None:
        witness = np.zeros(n)
        witness[chosen] = evidence.witness
    return KernelVerdict(
        verdict=answer,
        reason=reason,
        smallest_eigenvalue=evidence.smallest,
        largest_eigenvalue=evidence.largest,
        tolerance=evidence.tolerance,
        tolerance_reason=(
            f"{len(K)} eps |K| = {evidence.solver_error:.2g} for the computed eigenvalues, and "
            f"{evidence.entry_error:.2g} for entries known to {accuracy:.2g} of their size"
        ),
        asymmetry=asymmetry,
        asymmetry_at=None if at is None else (int(chosen[at[0]]), int(chosen[at[1]])),
        n_objects=n,
        n_checked=len(K),
        by_construction=promised is not None,
        witness=witness,
        witness_value=evidence.value,
    )


def _answer(
    evidence: Evidence, fault: str | None, n_checked: int, n: int, promised: str | None
) -> tuple[Answer, str]:
    part = "" if n_checked == n else f"in a random principal submatrix of {n_checked} objects: "
    broken = part if promised is None else f"{part}{promised} promises to be a kernel, but it is "
    if fault is not None:
        return "invalid", f"{broken}not symmetric, {fault}."
    if evidence.witness is not None:
        return "invalid", (
            f"{broken}not positive semi-definite, the smallest eigenvalue is "
            f"{evidence.smallest:.6g}, "
            f"and c'Kc = {evidence.value:.6g} at the witness."
        )
    seen = f"{part}symmetric, the smallest eigenvalue is {evidence.smallest:.6g}"
    if evidence.is_doubtful:
        return "undecided", f"{seen}, below minus the tolerance, but no witness proves it."
    if promised is not None:
        return "valid", f"{promised} is positive semi-definite by construction, and here {seen}."
    if n_checked < n:
        return "undecided", f"{seen}, no evidence against it; the rest was not looked at."
    return "valid", (
        f"{seen}, not below minus the tolerance {evidence.tolerance:.2g}: positive semi-definite "
        "up to rounding on these objects."
    )


# --- Learners -------------------------------------------------------------------------------------


def refuse_indefinite(
    kernel: Any, prepared: Any = None, advice: str = ADVICE
) -> KernelVerdict | None:
    """Raises `IndefiniteKernelError` if a learner cannot use this similarity.

    Parameters
    ----------
    kernel : Kernel or square array
        One that is positive semi-definite by construction is not looked at.
    prepared : Prepared, optional
        The training objects, for a kernel.
    advice : str
        What the message says is to be done.

    Returns
    -------
    KernelVerdict or None
        What was found; None without a look.

    Notes
    -----
    Up to 4096 objects all pairs are looked at, by a Cholesky factor; of more a random principal
    submatrix, which can prove the similarity invalid and not that it is valid.

    Examples
    --------
    >>> try:
    ...     refuse_indefinite(-np.eye(2))
    ... except IndefiniteKernelError as error:
    ...     print(str(error)[:62])
    The similarities of these 2 objects are no kernel: not positiv
    """
    if isinstance(kernel, Kernel) and kernel.is_psd_by_construction:
        return None
    verdict = _learner_verdict(kernel, prepared)
    if verdict.verdict == "invalid":
        name = "the precomputed matrix" if not isinstance(kernel, Kernel) else repr(kernel)
        raise IndefiniteKernelError(
            f"The similarities of these {verdict.n_objects} objects are no kernel: "
            f"{verdict.reason} ({name}; the tolerance is {verdict.tolerance:.2g}.) The problem to "
            f"be solved would have no single optimum. {advice}"
        )
    return verdict


def admitted(
    kernel: Kernel, prepared: Any, indefinite: str = "refuse", advice: str = ADVICE
) -> Any:
    """The prepared objects of a similarity that is fit for learning.

    Parameters
    ----------
    kernel : Kernel
    prepared : Prepared
        All training objects.
    indefinite : {"refuse", "project"}
        What to do with an indefinite matrix: raise, or clip its negative eigenvalues.
    advice : str
        What the message says is to be done.

    Returns
    -------
    Prepared
        `prepared` itself, or `ProjectedRows`, which know how new objects are projected and how an
        expansion in them is one in the original kernel (`unprojected`).

    Examples
    --------
    >>> from novum.kernels.precomputed import Precomputed
    >>> rows = Precomputed().prepare([[1.0, 0.0], [0.0, -1.0]])
    >>> admitted(Precomputed(), rows, "project").gram().tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    if indefinite not in ("refuse", "project"):
        raise InputError(
            f'indefinite is "refuse" (raise an error) or "project" (clip negative eigenvalues), '
            f"got {indefinite!r}."
        )
    if kernel.is_psd_by_construction or len(prepared) == 0:
        return prepared
    if indefinite == "refuse":
        refuse_indefinite(kernel, prepared, advice)
        return prepared
    if len(prepared) <= LEARNER_ROWS and _learner_verdict(kernel, prepared).is_valid:
        return prepared
    from novum.kernels.projection import projected

    return projected(prepared)


def _learner_verdict(kernel: Any, prepared: Any) -> KernelVerdict:
    rows = prepared if prepared is not None else rows_of(kernel, None)[0]
    n = len(rows)
    if n > LEARNER_ROWS:
        drawn = np.sort(stream(0, "principal submatrix").permutation(n)[:LEARNER_ROWS])
    else:
        drawn = np.arange(n)
    K, precision = similarities(rows, drawn)
    accuracy = entry_accuracy(K, precision)
    asymmetry, at = asymmetry_of(K)
    tolerance = (len(K) * EPSILON + accuracy) * float(np.linalg.norm(K))
    if (
        accuracy == 0
        or is_crooked(K, asymmetry, accuracy)
        or not is_nearly_psd(K if at is None else K / 2 + K.T / 2, tolerance)
    ):
        return _judged(K, accuracy, n, drawn, None)
    whole = len(K) == n
    return KernelVerdict(
        verdict="valid" if whole else "undecided",
        reason=f"no eigenvalue of {len(K)} of the {n} objects is below minus the tolerance.",
        smallest_eigenvalue=None,
        largest_eigenvalue=None,
        tolerance=tolerance,
        tolerance_reason=f"({len(K)} eps + {accuracy:.2g}) |K|_F, for the factor and the entries",
        asymmetry=asymmetry,
        asymmetry_at=None,
        n_objects=n,
        n_checked=len(K),
        by_construction=False,
    )
