"""Squared extrapolation of a slow fixed-point iteration (SQUAREM, scheme S3).

A map F with x2 = F(x1), x1 = F(x0) that contracts linearly moves along one direction in the end.
With  r = x1 - x0  and  v = (x2 - x1) - r  the point

    x' = x0 - 2 a r + a^2 v,        a = -|r| / |v|

is what a one-dimensional secant step, applied twice, predicts as the limit. For a = -1 it is x2,
so a <= -1 never goes back. The point need not be better; whoever uses it compares and falls back.

Reference: Varadhan and Roland, Scandinavian Journal of Statistics 35 (2008), 335-353, eq. 6-8.
"""

from __future__ import annotations

import numpy as np

from novum.numerics.types import Floats


class SquaredExtrapolation:
    """Proposals for an iteration that reports its steps one by one; holds the state of one run.

    Parameters
    ----------
    longest : float
        Largest |a| at first; grows fourfold while proposals of that length succeed, and shrinks
        fourfold again, never below its first value, when one is refused.

    Examples
    --------
    The map x -> 1 + x/2 has the fixed point 2, which two plain steps foretell exactly.

    >>> method = SquaredExtrapolation(longest=4.0)
    >>> x0 = np.array([0.0]); x1 = 1 + x0 / 2; x2 = 1 + x1 / 2
    >>> method.propose(x0, x1) is None
    True
    >>> method.propose(x1, x2).tolist()
    [2.0]
    """

    def __init__(self, longest: float = 4.0) -> None:
        if not longest >= 1:
            raise ValueError(f"The longest extrapolation must be at least 1, got {longest!r}.")
        self._longest = float(longest)
        self._cap = float(longest)
        self._at_cap = False
        self._before: Floats | None = None

    def propose(self, point: Floats, image: Floats) -> Floats | None:
        """A point beyond `image = F(point)`, or `None` when a plain step is due.

        Two plain steps in a row are needed for one proposal, so plain and extrapolated steps
        alternate; the plain one after a proposal also repairs what the extrapolation disturbed.
        """
        before, self._before = self._before, point
        if before is None:
            return None
        self._before = None
        first = point - before
        change = (image - point) - first
        size = float(np.linalg.norm(change))
        if not size > 0:
            return None
        length = float(np.linalg.norm(first)) / size
        self._at_cap = length >= self._cap
        length = min(max(length, 1.0), self._cap)
        proposal = before + 2 * length * first + length**2 * change
        return proposal if length > 1 and np.isfinite(proposal).all() else None

    def accepted(self) -> None:
        """The last proposal was no worse than the plain step before it."""
        if self._at_cap:
            self._cap *= 4

    def refused(self) -> None:
        """The last proposal was worse and the plain step was taken."""
        self._cap = max(self._longest, self._cap / 4) if self._at_cap else self._cap
