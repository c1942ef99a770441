"""Outcome of a smooth minimization: the point reached and what its gradient proves.

If f is strongly convex with modulus mu, then at every point w with gradient g

    |w - w*| <= |g| / mu        and        f(w) - f(w*) <= |g|^2 / (2 mu),

so a gradient norm becomes a distance to the unknown optimum (Nesterov, Lectures on Convex
Optimization, 2018, eq. 2.1.24-2.1.35). Without such a modulus the norm is all there is to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.numerics.types import Floats


@dataclass(frozen=True, eq=False)
class Outcome:
    """Where a minimizer stopped, why, and what is proved there.

    Parameters
    ----------
    params : array, read-only
        The best point found; its function value is `value`.
    value, gradient_norm : float
        Function value and Euclidean norm of the gradient at `params`.
    iterations : int
        Accepted steps.
    stopped_by : str
        `"tol"` (gradient small enough), `"rounding"` (no float64 step improves value or gradient),
        `"max_iter"`, `"max_seconds"` or `"callback"`.
    trace : tuple of float
        Value at the start and after each step; rises by no more than rounding.
    tol : float
        The tolerance that was asked for, relative to the gradient scale.
    strong_convexity : float, optional
        Modulus mu, if one was declared.
    details : dict
        Counts that one method has and others have not.

    Examples
    --------
    >>> outcome = Outcome(np.zeros(1), 2.0, 0.5, 3, "tol", (4.0, 2.0), strong_convexity=0.25)
    >>> outcome.converged, outcome.distance_bound, outcome.lower_bound
    (True, 2.0, 1.5)
    """

    params: Floats
    value: float
    gradient_norm: float
    iterations: int
    stopped_by: str
    trace: tuple[float, ...]
    tol: float | None = None
    strong_convexity: float | None = None
    details: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        params = np.array(self.params, dtype=np.float64)
        params.flags.writeable = False
        object.__setattr__(self, "params", params)

    @property
    def converged(self) -> bool:
        """Whether the minimizer ended because it was done."""
        return self.stopped_by in ("tol", "rounding")

    @property
    def distance_bound(self) -> float | None:
        """Proved bound of the distance to the minimizer, with a modulus of strong convexity."""
        if self.strong_convexity is None:
            return None
        return self.gradient_norm / self.strong_convexity

    @property
    def lower_bound(self) -> float | None:
        """Proved lower bound of the minimum, with a modulus of strong convexity."""
        if self.strong_convexity is None:
            return None
        return self.value - self.gradient_norm**2 / (2 * self.strong_convexity)

    def evidence(self) -> dict[str, Any]:
        """The fields of a certificate: `Certificate(objective=name, **outcome.evidence())`.

        A minimizer with a bound is optimal within its tolerance; one without is at a local optimum.
        """
        proved = "local" if self.strong_convexity is None else "within tolerance"
        return {
            "verdict": proved if self.converged else "stopped early",
            "value": self.value,
            "lower_bound": self.lower_bound,
            "distance_bound": self.distance_bound,
            "residual": self.gradient_norm,
            "iterations": self.iterations,
            "trace": self.trace,
            "details": {"tol": self.tol, "stopped_by": self.stopped_by, **dict(self.details)},
        }
