"""Judging open sets: cases of known classes and cases of none.

With known score s, predicted known class h and threshold t,

    correct rate     CCR(t) = share of known cases with h = y and s >= t,
    false acceptance FPR(t) = share of unknown cases with s >= t.

CCR against FPR is the open-set classification rate curve, and the area under it (OSCR) judges
classifier and rule at once; with a perfect classifier it is the area under the ROC of known against
unknown. At the threshold in use, normalized accuracy weighs the accuracy on known cases (an unknown
answer is an error) and the share of unknown cases refused.

References: Dhamija, Günther & Boult, NeurIPS 2018, eq. 3-4; Neal et al., ECCV 2018, for OSCR;
Mendes Júnior et al., Machine Learning 106 (2017), eq. 1, for normalized accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from novum.core.errors import InputError
from novum.core.tables import plain_target
from novum.display import Axis, Chart, Line
from novum.evaluation.decisions.labelled_cases import checked_scores
from novum.numerics import Array, Floats, Mask, at_least, merge_rounding


@dataclass(frozen=True, eq=False)
class OpenSetCurve:
    """Correct known cases against accepted unknown ones, over all thresholds.

    Attributes
    ----------
    thresholds : array of shape (m,)
        Falling from `inf`; cases at or above are accepted.
    correct_rate, false_acceptance_rate : arrays of shape (m,)
        Both rising from 0.
    """

    thresholds: Floats
    correct_rate: Floats
    false_acceptance_rate: Floats

    @property
    def area(self) -> float:
        """Area under the curve (OSCR), from 0 to the closed-set accuracy."""
        # Trapezes of widths that sum to 1 but for rounding: their mean height has its bounds.
        area = float(np.trapezoid(self.correct_rate, self.false_acceptance_rate))
        return min(area, float(self.correct_rate[-1]))

    def correct_rate_at(self, false_acceptance_rate: float) -> float:
        """Largest correct rate with at most this rate of false acceptance, rounding left aside."""
        allowed = at_least(false_acceptance_rate, self.false_acceptance_rate)
        return float(self.correct_rate[allowed].max())

    def plot(self, ax: Any = None, label: str | None = None) -> Any:
        """The curve; gives the axes back."""
        color = 0 if ax is None else len(ax.lines)
        line = Line(self.false_acceptance_rate, self.correct_rate, label or "", color)
        x = Axis("unknown cases accepted", (0.0, 1.0))
        y = Axis("known cases accepted and correct", (0.0, 1.02))
        return Chart(x, y, [line]).plot(ax)


def open_set_curve(
    y: Any, predicted: Any, known_scores: ArrayLike, *, known_classes: Sequence[Any]
) -> OpenSetCurve:
    """The open-set classification rate curve.

    Parameters
    ----------
    y : array of n labels
        Those not among `known_classes` are unknown.
    predicted : array of n labels
        Known classes, as if no case were unknown (`OpenSet.predict_known`).
    known_scores : array of shape (n,)
        Larger is more known (`OpenSet.known_scores`). Scores that differ by rounding alone are
        equal, and accepted together.
    known_classes : sequence of labels

    Examples
    --------
    >>> curve = open_set_curve(
    ...     ["a", "b", "x", "y"], ["a", "a", "a", "b"], [0.9, 0.8, 0.7, 0.1], known_classes="ab"
    ... )
    >>> curve.area
    0.5
    """
    labels, known = _split(y, known_classes)
    said = plain_target(predicted)
    if said.shape != labels.shape:
        raise InputError(f"There are {len(labels)} labels and {len(said)} predictions.")
    scores = merge_rounding(checked_scores(known_scores, len(labels)))
    right = known & (said == labels)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    # Equal scores are accepted together, so the curve has points at their last ones only.
    last = np.flatnonzero(np.r_[ranked[1:] != ranked[:-1], True])
    correct = np.cumsum(right[order])[last] / known.sum()
    accepted = np.cumsum(~known[order])[last] / (~known).sum()
    return OpenSetCurve(np.r_[np.inf, ranked[last]], np.r_[0.0, correct], np.r_[0.0, accepted])


def known_unknown_auroc(y: Any, known_scores: ArrayLike, *, known_classes: Sequence[Any]) -> float:
    """Probability that a known case scores above an unknown one; ties count half.

    Examples
    --------
    >>> known_unknown_auroc(["a", "b", "x"], [0.9, 0.2, 0.2], known_classes="ab")
    0.75
    """
    labels, known = _split(y, known_classes)
    ranks = stats.rankdata(merge_rounding(checked_scores(known_scores, len(labels))))
    n_known, n_unknown = int(known.sum()), int((~known).sum())
    above = ranks[known].sum() - n_known * (n_known + 1) / 2
    return float(above / (n_known * n_unknown))


def normalized_accuracy(
    y: Any, predicted: Any, *, known_classes: Sequence[Any], known_share: float = 0.5
) -> float:
    """Accuracy on known cases and share of unknown cases refused, weighed.

    Parameters
    ----------
    y, predicted : arrays of n labels
        An answer not among `known_classes` means unknown (`OpenSet.predict`).
    known_classes : sequence of labels
    known_share : float
        Weight of the known cases, from 0 to 1.

    Examples
    --------
    >>> normalized_accuracy(["a", "b", "x"], ["a", "?", "?"], known_classes="ab")
    0.75
    """
    if not 0 <= known_share <= 1:
        raise InputError(f"known_share is a weight between 0 and 1, got {known_share!r}.")
    labels, known = _split(y, known_classes)
    said = plain_target(predicted)
    if said.shape != labels.shape:
        raise InputError(f"There are {len(labels)} labels and {len(said)} predictions.")
    classes = set(known_classes)
    refused = np.array([label not in classes for label in said.tolist()])
    right = float(np.mean((said == labels)[known]))
    return known_share * right + (1 - known_share) * float(np.mean(refused[~known]))


def _split(y: Any, known_classes: Sequence[Any]) -> tuple[Array, Mask]:
    """Labels, and which of them are of known classes; both kinds occur."""
    labels = plain_target(y)
    classes = set(known_classes)
    known = np.array([label in classes for label in labels.tolist()], dtype=bool)
    for there, what in ((known.any(), "known"), ((~known).any(), "unknown")):
        if not there:
            raise InputError(
                f"No case is of {'a known' if what == 'known' else 'an unknown'} class; an open "
                "set is judged on both. Pass cases of classes that the model has not been trained "
                f"on as well as of {list(known_classes)!r}."
            )
    return labels, known
