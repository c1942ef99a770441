"""What a fit of principal components can prove: residuals of eigenpairs as bounds.

PCA with k axes minimizes the squared reconstruction error

    f(U) = sum_i w_i |x_i - m - U'U (x_i - m)|^2 = trace S - sum_(j<=k) u_j'S u_j

over orthonormal U; the minimum is the sum of the smallest eigenvalues. Let R be the residuals
`S u_j - s_j u_j` of all pairs. There are k eigenvalues of S that differ from s_1, ..., s_k by at
most |R| each, so f is within `k |R|` of what these eigenvalues allow, and the plane of the axes is
within an angle of `sin a <= |R| / (s_k - s_(k+1) - |R|)` of theirs. Routines that find all
eigenvalues, or the leading ones by counting (LAPACK), cannot mistake their order.
"""

from __future__ import annotations

from typing import Any

from novum.core.certificate import Certificate, Verdict
from novum.decomposition.spectrum import Spectrum

OBJECTIVE = "squared reconstruction error"

# Residuals below this share of the largest eigenvalue are rounding of sums over many rows.
_ROUNDING = 1e-9


def certify(spectrum: Spectrum, count: int, seconds: float) -> Certificate:
    """The certificate of the first `count` axes of a spectrum."""
    squares = spectrum.squares
    value = spectrum.outside(count)
    largest = float(squares[0]) if squares.size else 0.0
    relative = spectrum.residual / largest if largest > 0 else 0.0
    gap = min(count * spectrum.residual, value)
    exact = spectrum.iterations is None and relative <= _ROUNDING
    if exact:
        verdict = Verdict.PROVED
    elif spectrum.converged:
        verdict = Verdict.WITHIN_TOLERANCE
    else:
        verdict = Verdict.STOPPED_EARLY
    return Certificate(
        objective=OBJECTIVE,
        verdict=verdict,
        value=value,
        lower_bound=value - gap,
        residual=relative,
        iterations=spectrum.iterations,
        details=_details(spectrum, count),
        seconds=seconds,
    )


def _details(spectrum: Spectrum, count: int) -> dict[str, Any]:
    squares = spectrum.squares
    details: dict[str, Any] = {
        "route": spectrum.route,
        "components": count,
        "explained": float(squares[:count].sum()) / spectrum.total if spectrum.total > 0 else None,
    }
    if 0 < count < len(squares):
        room = float(squares[count - 1] - squares[count]) - spectrum.residual
        details["angle_bound"] = spectrum.residual / room if room > spectrum.residual else None
    return {name: value for name, value in details.items() if value is not None}
