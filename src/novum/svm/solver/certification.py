"""What a fit of the family can prove: the two objectives, their gap, the conditions of optimality.

The dual objective at any feasible point bounds the primal optimum from below, and the primal one at
any bias bounds it from above. Several independent problems (pairs of classes) are one problem whose
objective is their sum; the details keep the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.core.learners import Certificate, Stopwatch, Verdict
from novum.svm.solver.problem import Solution, Stopping
from novum.svm.solver.vanishing import VANISHING

BYTES_OF_CACHE_UNIT = 2**20
_REASONS = ("deadline", "max_seconds", "max_iter", "precision")


def stopping_of(model: Any, watch: Stopwatch, tol: float | None = None) -> Stopping:
    """When the next problem of a fit ends, with what is left of the time.

    Parameters
    ----------
    model : estimator
        With `tol`, `max_iter` (-1 for no limit) and `max_seconds`.
    watch : Stopwatch
        Of the whole fit.
    tol : float, optional
        In place of the model's.
    """
    seconds = model.max_seconds
    aim = float(model.tol if tol is None else tol)
    return Stopping(
        tol=aim,
        # LIBSVM's rule, the same distance between the two worst, leaves twice that to each side.
        violation=aim / 4,
        max_iter=None if model.max_iter == -1 else int(model.max_iter),
        max_seconds=None if seconds is None else max(float(seconds) - watch.seconds, 0.0),
    )


def cache_bytes_of(model: Any) -> int:
    """`cache_size`, which is in megabytes as scikit-learn's."""
    return max(1, int(model.cache_size * BYTES_OF_CACHE_UNIT))


def reason_of(solutions: Sequence[Solution]) -> str | None:
    """Why a fit ended before it was done, or None."""
    reasons = {solution.stopped_by for solution in solutions}
    return next((reason for reason in _REASONS if reason in reasons), None)


def certify(
    objective: str,
    solutions: Sequence[Solution],
    tol: float,
    seconds: float,
    *,
    scale: float = 1.0,
    details: dict[str, Any] | None = None,
) -> Certificate:
    """The certificate of a fit that solved one problem or several independent ones.

    Parameters
    ----------
    objective : str
        In words.
    solutions : sequence of Solution
    tol, seconds : float
        Relative gap asked for, and the wall-clock time of the fit.
    scale : float
        The objective in units of the program's.
    details : dict, optional
        More to keep.

    Examples
    --------
    >>> found = Solution(np.zeros(1), np.zeros(1), np.zeros(1), -2.0, 0.001, 0.01, 5)
    >>> certify("hinge loss", [found], 1e-3, 0.1).primal
    2.001
    """
    duals = [-scale * solution.value for solution in solutions]
    gaps = [scale * max(solution.gap, 0.0) for solution in solutions]
    stopped = reason_of(solutions)
    more: dict[str, Any] = {"relative_tol": tol, "stopped_by": stopped, **(details or {})}
    estimated = scale * sum(solution.allowance for solution in solutions)
    if estimated > 0:
        # Said, because a gap is otherwise a proof.
        more["estimated_part_of_gap"] = estimated
    if any(solution.stopped_by == VANISHING for solution in solutions):
        more["vanishing_margins"] = sum(solution.stopped_by == VANISHING for solution in solutions)
        # A relative gap means nothing where the optimum is zero; the absolute one was reached.
        more["relative_tol"] = None
    if len(solutions) > 1:
        sizes = [max(abs(d), abs(d + g)) for d, g in zip(duals, gaps, strict=True)]
        relative = [g / size if 0 < g < np.inf else g for g, size in zip(gaps, sizes, strict=True)]
        more["worst_relative_gap"] = max(relative)
        more["duals"], more["gaps"] = tuple(duals), tuple(gaps)
    dual, gap = float(np.sum(duals)), float(np.sum(gaps))
    return Certificate(
        objective=objective,
        verdict=Verdict.WITHIN_TOLERANCE if stopped is None else Verdict.STOPPED_EARLY,
        value=dual + gap,
        primal=dual + gap,
        dual=dual,
        residual=max(solution.violation for solution in solutions),
        iterations=sum(solution.iterations for solution in solutions),
        trace=tuple(scale * value for value in solutions[0].trace) if len(solutions) == 1 else None,
        details={name: value for name, value in more.items() if value is not None},
        seconds=seconds,
    )
