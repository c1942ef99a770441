"""Logistic regression with penalties that have corners: which one, and the fit.

    minimize  sum_i w_i loss_i + penalty(b),

binary or softmax, by Newton's method on working sets with a certified gap (`sparse.composite`).
Because every coefficient but the intercepts is penalized, and both classes occur, there is always
an optimum: also where the classes can be separated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Certificate, Stopwatch, Verdict
from novum.core.runtime import Progress
from novum.core.tables import Sample
from novum.linear.sparse.columns import plain_columns
from novum.linear.sparse.composite import CompositeSolution, minimize
from novum.linear.sparse.losses import LogRows
from novum.linear.sparse.penalties import L1, L2, AdaptiveL1, ElasticNetPenalty, Groups
from novum.numerics import Floats

OBJECTIVE = "sum of log losses + penalty"
SparsePenalty = L1 | ElasticNetPenalty | AdaptiveL1 | Groups


def penalty_of(
    penalty: Any, C: float, l1_ratio: float | None
) -> tuple[SparsePenalty | None, float]:
    """The penalty with corners that parameters ask for, None for a plain L2, and its strength.

    Examples
    --------
    >>> penalty_of("elasticnet", 2.0, 0.5)
    (ElasticNetPenalty(strength=0.5, l1_ratio=0.5), 0.5)
    >>> penalty_of("deprecated", 2.0, 0.0)
    (None, 0.5)
    """
    ratio = 0.0 if l1_ratio is None else float(l1_ratio)
    if isinstance(penalty, (L1, L2, ElasticNetPenalty, AdaptiveL1, Groups)):
        if C != 1.0 or ratio:
            raise InputError(
                f"The strength of the penalty is in {penalty!r}, but C={C:g} and "
                f"l1_ratio={ratio:g} were given too. Leave C and l1_ratio out."
            )
        return (None if isinstance(penalty, L2) else penalty), float(penalty.strength)
    if penalty is None or np.isinf(C):
        return None, 0.0
    if penalty == "l2" and ratio:
        raise InputError(
            f"penalty='l2' has no L1 part, but l1_ratio={ratio:g} was given. Use l1_ratio=0, or "
            "penalty='elasticnet'."
        )
    if penalty == "l1":
        ratio = 1.0
    strength = 1.0 / C
    if ratio == 0:
        return None, strength
    return (L1(strength) if ratio == 1 else ElasticNetPenalty(strength, ratio)), strength


@dataclass(frozen=True, eq=False)
class SparseFit:
    """A fit in the user's columns.

    Attributes
    ----------
    coef : array (m, d)
    intercept : array (m,)
    solution : CompositeSolution
    """

    coef: Floats
    intercept: Floats
    solution: CompositeSolution

    @property
    def steps(self) -> int:
        return self.solution.steps

    @property
    def loss(self) -> float:
        return self.solution.loss

    def certified(self, tol: float, watch: Stopwatch) -> Certificate:
        """Primal and dual value, and what they prove."""
        found, known = self.solution, self.solution.known
        verdict = Verdict.WITHIN_TOLERANCE
        if found.stopped_by is not None and known.relative > tol:
            verdict = Verdict.STOPPED_EARLY
        details: dict[str, Any] = {
            "solver": "newton on working sets",
            "relative_tol": tol,
            "active": int(np.count_nonzero(found.coef)),
            "screened": found.screened,
            "looks": len(found.trace),
        }
        if found.stopped_by is not None:
            details["stopped_by"] = found.stopped_by
        return Certificate(
            objective=OBJECTIVE,
            verdict=verdict,
            value=known.primal,
            primal=known.primal,
            dual=known.dual,
            iterations=found.steps,
            trace=found.trace,
            details=details,
            seconds=watch.seconds,
        )


def fit_sparse(
    sample: Sample,
    weight: Floats,
    value: SparsePenalty,
    *,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    start: Floats | None,
    progress: Progress,
) -> SparseFit:
    """Fits rows in memory, under effective weights (n,); `start` is (m, d + 1)."""
    assert sample.classes is not None
    loss = LogRows(sample.target, weight, len(sample.classes))
    if isinstance(value, Groups) and loss.n_scores > 1:
        raise InputError(
            f"Groups are offered for two classes, but y has {loss.n_classes}. Put the model into "
            "OneVsRestClassifier, or use L1."
        )
    columns = plain_columns(sample, weight, centered=fit_intercept)
    first = None
    if start is not None and start.shape == (loss.n_scores, columns.shape[1] + 1):
        coef = start[:, :-1].astype(np.float64)
        first = (coef, start[:, -1] + coef @ columns.mean)
    options: dict[str, Any] = {
        "fit_intercept": fit_intercept,
        "tol": tol,
        "max_iter": max_iter,
        "progress": progress,
    }
    if isinstance(value, AdaptiveL1):
        ridge = minimize(columns, loss, value.first(sample.schema), **options)
        penalty = value.after(np.abs(ridge.coef).max(axis=0))
    else:
        penalty = value.of(sample.schema)
    found = minimize(columns, loss, penalty, start=first, **options)
    intercept = found.intercept - found.coef @ columns.mean
    if not fit_intercept:
        intercept = np.zeros(loss.n_scores)
    return SparseFit(found.coef, intercept, found)
