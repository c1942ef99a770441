"""What a trained perceptron proves: margins, separability, and the bound of its mistakes.

Functional margin of a row of side `t`: `t (w'x + b)`. Geometric margin: its distance to the
boundary, `t (w'x + b) / |w|`, negative on the wrong side. With the constant cell of the intercept
among the rows (`x~ = (x, 1)`, `w~ = (w, b)`) the theorem of Novikoff speaks of

    margin = min t <w~, x~> / |w~|,    R = max |x~|,    mistakes <= (R / margin)^2,

for the batch rule times the weight of all rows. The margin of any separating weights is a lower
bound of the best one, so the bound of mistakes computed from it holds as well; the mean of the
mistakes gives an upper bound (see `perceptron.training`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.learners import Certificate, Verdict
from novum.linear.perceptron.training import Run, Training, Visits
from novum.numerics import Floats, Integers

OBJECTIVE = "weight of the training rows on the wrong side"


@dataclass(frozen=True, eq=False)
class Margins:
    """How far rows are on their side of the boundary.

    Attributes
    ----------
    functional : array of shape (n,)
        Score of the row's class; of more than two classes, against the best other class.
    geometric : array of shape (n,)
        Signed distance of the row to that boundary; NaN where there is none.
    """

    functional: Floats
    geometric: Floats

    @property
    def smallest(self) -> float:
        """The geometric margin of the table: positive only if all rows are on their side."""
        return float(self.geometric.min())


def margins_of(scores: Floats, coef: Floats, codes: Integers) -> Margins:
    """Margins from scores (n, K) and coefficients (K, d); of two classes (n, 1) and (1, d)."""
    rows = np.arange(len(codes))
    if scores.shape[1] == 1:
        functional = np.where(codes == 1, 1.0, -1.0) * scores[:, 0]
        lengths = np.full(len(codes), np.linalg.norm(coef[0]))
    else:
        others = scores.copy()
        others[rows, codes] = -np.inf
        rival = others.argmax(axis=1)
        functional = scores[rows, codes] - scores[rows, rival]
        lengths = np.linalg.norm(coef[codes] - coef[rival], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Margins(functional, np.where(lengths > 0, functional / lengths, np.nan))


@dataclass(frozen=True)
class Proof:
    """What one run proves, in the units of the rows with their constant cell.

    Attributes
    ----------
    radius : float
        Length of the longest row.
    margin : float or None
        Of the separating weights that were found, if any were.
    margin_at_most : float or None
        No weights separate with a larger margin; known for a training from zero.
    mistake_bound : float or None
        At most this many mistakes were possible.
    """

    radius: float
    margin: float | None
    margin_at_most: float | None
    mistake_bound: float | None


def proof_of(visits: Visits, run: Run, training: Training, from_zero: bool) -> Proof:
    """Margins and the bound of mistakes, computed on scaled rows, where all numbers have room."""
    unit, radius = 1 / visits.scale, float(visits.norms().max())
    ceiling = None
    if from_zero and run.mistakes > 0:
        ceiling = unit * _length(run.last * unit) / (training.rate * run.mistakes)
    if run.separating is None:
        return Proof(unit * radius, None, ceiling, None)
    weights = run.separating * unit
    margin = float((visits.sign * visits.scores(weights)).min()) / _length(weights)
    ratio = radius / margin if margin > 0 else None
    # A product, unlike a power, may become infinite.
    bound = None if ratio is None else ratio * ratio
    if bound is not None and training.rule == "batch":
        bound *= visits.total
    return Proof(unit * radius, unit * margin, ceiling, bound)


def _length(weights: Floats) -> float:
    largest = float(np.abs(weights).max(initial=0.0))
    return largest * float(np.linalg.norm(weights / largest)) if largest > 0 else 0.0


def certify(
    runs: Sequence[Run], proofs: Sequence[Proof], training: Training, seconds: float
) -> Certificate:
    """One certificate for all binary problems; details are tuples where there are several."""
    separated = all(run.error == 0 for run in runs)
    longest = max(len(run.trace) for run in runs)
    trace = [sum(run.trace[min(i, len(run.trace) - 1)] for run in runs) for i in range(longest)]
    return Certificate(
        objective=OBJECTIVE,
        # Passes without a gain are no optimum, not even a local one.
        verdict=Verdict.PROVED if separated else Verdict.STOPPED_EARLY,
        value=sum(run.error for run in runs),
        lower_bound=0.0 if separated else None,
        iterations=longest,
        trace=tuple(trace),
        details=_details(runs, proofs, training),
        seconds=seconds,
    )


def _details(runs: Sequence[Run], proofs: Sequence[Proof], training: Training) -> dict[str, Any]:
    def joined(values: Sequence[Any]) -> Any:
        return values[0] if len(values) == 1 else tuple(values)

    details = {
        "rule": training.rule,
        "stopped_by": joined([run.stopped_by for run in runs]),
        "tol": training.tol,
        "separable": joined(["yes" if r.separating is not None else "not seen" for r in runs]),
        "mistakes": joined([run.mistakes for run in runs]),
        "mistake_bound": joined([proof.mistake_bound for proof in proofs]),
        "radius": joined([proof.radius for proof in proofs]),
        "margin": joined([proof.margin for proof in proofs]),
        "margin_at_most": joined([proof.margin_at_most for proof in proofs]),
    }
    return {name: value for name, value in details.items() if value is not None}
