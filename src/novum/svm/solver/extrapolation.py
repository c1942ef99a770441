"""Extrapolation: the last displacements, recombined to their common minimum.

Rounds on blocks approach the optimum of many unbound variables as block coordinate descent does:
along a path that turns slowly. Between snapshots of a descent some rounds apart, the displacements
`D_k = b_{k+1} - b_k` have known products `K D_k = F_{k+1} - F_k`, so the minimum over all their
combinations costs a system of a few unknowns and no kernel value (Zibulevsky and Elad 2010 call
it sequential subspace optimization):

    min over theta   g' D theta + theta' D'KD theta / 2.

What leaves the box is put on its bound and the sums are restored by the variables of the last
working set. Only these corrections need kernel rows. The result is a feasible direction, and the
step along it minimizes the objective.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from novum.svm.solver.descent import Descent
from novum.svm.solver.feasibility import shifted

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]
# Adds `sum_v amounts_v K_v` over variables `v` to the products it is given.
AddProduct = Callable[[Positions, Floats, Floats], None]

# Rounds between snapshots, and how many displacements are kept.
SPACING = 8
_KEPT = 5


class Extrapolation:
    """Snapshots of a descent, and the steps they suggest."""

    def __init__(self) -> None:
        self._points: list[tuple[Floats, Floats]] = []
        self._rounds = 0

    def forget(self) -> None:
        """Start anew: products were recomputed, so differences to older ones are not `K D`."""
        self._points = []

    def after_round(self, descent: Descent, last: Positions, add_product: AddProduct) -> None:
        """Note the point; every so many rounds move to the minimum over the displacements."""
        self._rounds += 1
        if self._rounds % SPACING:
            return
        self._note(descent)
        if len(self._points) > 1 and self._extrapolate(descent, last, add_product):
            self._note(descent)

    def _note(self, descent: Descent) -> None:
        self._points.append((descent.b.copy(), descent.F.copy()))
        del self._points[: -_KEPT - 1]

    def _extrapolate(self, descent: Descent, last: Positions, add_product: AddProduct) -> bool:
        pairs = list(zip(self._points[:-1], self._points[1:], strict=True))
        D = np.array([later[0] - earlier[0] for earlier, later in pairs])
        KD = np.array([later[1] - earlier[1] for earlier, later in pairs])
        g, terms = descent.gradient(), descent.terms
        H, slopes = D @ descent.to_variables(KD).T, D @ g
        if not (np.isfinite(H).all() and np.isfinite(slopes).all()):
            return False
        theta = _minimum(H, slopes)
        wanted = theta @ D
        target = _feasible(descent, descent.b + wanted, last)
        d = target - descent.b
        slope = float(g @ d)
        if not slope < 0:
            return False
        correction = d - wanted
        corrected = np.flatnonzero(np.abs(correction) > 1e-14 * np.abs(wanted).max())
        change = theta @ KD
        add_product(corrected, correction[corrected], change)
        curvature = float(descent.to_variables(change) @ d)
        share = min(1.0, -slope / curvature) if curvature > 0 else 1.0
        moved = target if share == 1.0 else descent.b + share * d
        descent.b = np.clip(moved, terms.lower, terms.upper)
        descent.F = descent.F + share * change
        return True


def _minimum(H: Floats, slopes: Floats) -> Floats:
    """`theta` of least `slopes' theta + theta' H theta / 2`, tame where directions are alike."""
    H = (H + H.T) / 2
    curvatures = np.diag(H)
    # Displacements without curvature are rounding errors, or lead to infinity.
    real = curvatures > 1e-12 * max(curvatures.max(), 1e-250)
    scale = np.where(real, 1 / np.sqrt(np.where(real, curvatures, 1.0)), 0.0)
    solved = np.linalg.lstsq(H * np.outer(scale, scale), -slopes * scale, rcond=1e-6)[0]
    return np.asarray(solved * scale)


def _feasible(descent: Descent, x: Floats, last: Positions) -> Floats:
    """`x` on the bounds where it left the box, the sums restored within the last working set."""
    terms = descent.terms
    target = np.clip(x, terms.lower, terms.upper)
    if not terms.is_grouped:
        return target
    for part in terms.segments:
        inside = last[(last >= part.start) & (last < part.stop)]
        missing = float(descent.b[part].sum() - target[part].sum())
        low, high = terms.lower[inside], terms.upper[inside]
        total = float(target[inside].sum()) + missing
        if missing == 0.0:
            continue
        if not low.sum() <= total <= high.sum():
            # No room in the working set: this group stays where it is.
            target[part] = descent.b[part]
        elif inside.size:
            target[inside] = shifted(x[inside], low, high, total)
    return target
