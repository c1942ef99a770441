"""What the solvers of linear machines return, and how long they may work."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from novum.core.runtime import OutOfTime, check_cancelled, is_late
from novum.numerics import Floats
from novum.svm.solver.descent import spent_time
from novum.svm.solver.problem import Stopping


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """A point and its proof.

    Attributes
    ----------
    vector : array (width,) or (width, n_classes)
        Coefficients, that of the constant last.
    primal, dual : float
    gap : float
        `primal - dual`, summed without cancellation where the method allows it.
    residual : float
        The largest violation of the optimality conditions.
    iterations : int
        Newton steps, or passes over the rows or columns.
    method : str
    stopped_by : str or None
        None where the tolerance was met; "max_iter", "max_seconds" or "precision".
    trace : tuple of float
        Relative gaps.
    """

    vector: Floats
    primal: float
    dual: float
    gap: float
    residual: float
    iterations: int
    method: str
    stopped_by: str | None = None
    trace: tuple[float, ...] = field(default=())

    @property
    def relative_gap(self) -> float:
        return relative(self.gap, self.primal, self.dual)


def relative(gap: float, primal: float, dual: float) -> float:
    """The gap over the larger magnitude of the two values; 0 where nothing is left."""
    if not np.isfinite(gap):
        return float(np.inf)
    size = max(abs(primal), abs(dual))
    return gap / size if size > 0 else 0.0


class Budget:
    """Iterations and seconds that are left; one for all classes of a fit.

    Examples
    --------
    >>> budget = Budget(Stopping(max_iter=1))
    >>> budget.spent, budget.step(), budget.spent
    (None, None, 'max_iter')
    """

    def __init__(self, stopping: Stopping) -> None:
        self.iterations = 0
        self._most = stopping.max_iter
        limit = stopping.max_seconds
        self._deadline = None if limit is None else time.perf_counter() + limit

    def step(self) -> None:
        """Counts one iteration; ends it if the caller was interrupted."""
        if not is_late():
            check_cancelled()
        self.iterations += 1

    def restarted(self) -> Budget:
        """Iterations counted anew, the same deadline."""
        other = Budget(Stopping(max_iter=self._most))
        other._deadline = self._deadline
        return other

    @property
    def is_late(self) -> bool:
        """Whether no time is left."""
        is_spent = self._deadline is not None and time.perf_counter() >= self._deadline
        return is_spent or is_late()

    def check(self) -> None:
        """Raise `OutOfTime` where no time is left."""
        if self.is_late:
            raise OutOfTime

    @property
    def spent(self) -> str | None:
        """What has run out, if anything."""
        if self._most is not None and self.iterations >= self._most:
            return "max_iter"
        return spent_time() if self.is_late else None
