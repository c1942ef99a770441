"""Sequential minimal optimization on a whole Gram matrix, without compiled code.

The steps are those of `smo_kernels`, in double precision and on all variables at once: for small
problems, whose fit should not wait for a compiler.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novum.svm.solver.optimality import Terms

Floats = NDArray[np.float64]

_TAU = 1e-13


def plain_steps(Q: Floats, terms: Terms, b: Floats, g: Floats, tol: float, max_steps: int) -> int:
    """Move `b`, and `g` with it, until no pair of a group violates by more than `tol`.

    Parameters
    ----------
    Q : array of shape (n_variables, n_variables)
    terms : Terms
        With groups; see `with_slack`.
    b, g : arrays of shape (n_variables,)
        Coefficients and gradient; changed in place.

    Returns
    -------
    int
        Steps taken.
    """
    diagonal, lower, upper = np.diag(Q).copy(), terms.lower, terms.upper
    up = np.where(b < upper, 0.0, np.inf)
    low = np.where(b > lower, 0.0, -np.inf)
    segments = terms.segments
    for step in range(max_steps):
        worst, part = tol, None
        for segment in segments:
            if segment.stop > segment.start:
                violation = (g[segment] + low[segment]).max() - (g[segment] + up[segment]).min()
                if violation > worst:
                    worst, part = violation, segment
        if part is None:
            return step
        i = part.start + int((g[part] + up[part]).argmin())
        excess = (g[part] + low[part]) - g[i]
        total = diagonal[i] + diagonal[part]
        curvature = np.maximum(total - 2 * Q[i, part], _TAU * total + 1e-300)
        gain = np.where(excess > 0, excess, 0.0)
        j = part.start + int((gain * (gain / curvature)).argmax())
        rise, fall = upper[i] - b[i], b[j] - lower[j]
        move = min((g[j] - g[i]) / curvature[j - part.start], rise, fall)
        b[i] = upper[i] if move >= rise else b[i] + move
        b[j] = lower[j] if move >= fall else b[j] - move
        for k in (i, j):
            up[k] = 0.0 if b[k] < upper[k] else np.inf
            low[k] = 0.0 if b[k] > lower[k] else -np.inf
        g += move * (Q[i] - Q[j])
    return max_steps
