"""Losses of classes: two, any number, and classes with an order; see `losses`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import special

from novum.ensemble.gradient_boosting.losses import Loss
from novum.numerics import Floats

# Scores beyond this are as good as certain, and their exponentials still numbers.
_CERTAIN = 500.0


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """`log(1 + exp(f)) - y f` of two classes.

    Examples
    --------
    >>> LogisticLoss().answers(np.array([[0.0]])).tolist()
    [[0.5, 0.5]]
    """

    takes = "classes"
    most_curved = 0.25

    def start(self, y: Floats, weight: Floats) -> Floats:
        share = np.average(y, weights=weight)
        return np.array([float(special.logit(np.clip(share, 1e-15, 1 - 1e-15)))])

    def values(self, scores: Floats, y: Floats) -> Floats:
        return np.asarray(np.logaddexp(0.0, scores[0]) - y * scores[0])

    def gradients(self, scores: Floats, y: Floats) -> tuple[Floats, Floats | None]:
        p = np.negative(np.maximum(scores, -_CERTAIN))
        np.exp(p, out=p)
        p += 1.0
        np.reciprocal(p, out=p)
        return p - y, p * (1.0 - p)

    def answers(self, scores: Floats) -> Floats:
        p = special.expit(scores[0])
        return np.column_stack([1.0 - p, p])


@dataclass(frozen=True)
class SoftmaxLoss(Loss):
    """`log sum_k exp(f_k) - f_y` of any number of classes, one tree each in a round."""

    takes = "classes"
    has_one_score = False
    most_curved = 0.25

    def start(self, y: Floats, weight: Floats) -> Floats:
        shares = np.bincount(y.astype(np.intp), weight)
        logs = np.log(np.maximum(shares / shares.sum(), 1e-15))
        return np.asarray(logs - logs.mean())

    def values(self, scores: Floats, y: Floats) -> Floats:
        largest = scores.max(axis=0)
        own = scores[y.astype(np.intp), np.arange(len(y))] - largest
        return np.asarray(np.log(np.exp(scores - largest).sum(axis=0)) - own)

    def gradients(self, scores: Floats, y: Floats) -> tuple[Floats, Floats | None]:
        p = self._shares(scores)
        h = p * (1.0 - p)
        p[y.astype(np.intp), np.arange(len(y))] -= 1.0
        return p, h

    @staticmethod
    def _shares(scores: Floats) -> Floats:
        p = np.exp(scores - scores.max(axis=0))
        p /= p.sum(axis=0)
        return p

    def answers(self, scores: Floats) -> Floats:
        return np.ascontiguousarray(self._shares(scores).T)


@dataclass(frozen=True)
class OrdinalLoss(Loss):
    """`-log P(y)` with `P(y <= k) = s(t_k - f)`: one score, and thresholds between the classes.

    Classes are ordered as their labels. The thresholds are fitted again in every round.
    """

    takes = "classes"
    thresholds: tuple[float, ...] = ()

    def start(self, y: Floats, weight: Floats) -> Floats:  # noqa: ARG002
        return np.zeros(1)

    def fitted(self, scores: Floats, y: Floats, weight: Floats) -> Self:
        codes = y.astype(np.intp)
        if not self.thresholds:
            shares = np.cumsum(np.bincount(codes, weight))[:-1] / weight.sum()
            return replace(self, thresholds=tuple(special.logit(shares).tolist()))
        moved = _moved_thresholds(self, scores[0], codes, weight)
        return replace(self, thresholds=tuple(moved.tolist()))

    def _ends(self, f: Floats, codes: Any) -> tuple[Floats, Floats]:
        """`t_y - f` and `t_{y-1} - f`, infinite outside."""
        t = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        return t[codes + 1] - f, t[codes] - f

    def values(self, scores: Floats, y: Floats) -> Floats:
        upper, lower = self._ends(scores[0], y.astype(np.intp))
        return -_log_between(upper, lower)

    def gradients(self, scores: Floats, y: Floats) -> tuple[Floats, Floats | None]:
        upper, lower = self._ends(scores[0], y.astype(np.intp))
        a, b = special.expit(upper), special.expit(lower)
        # Of -log(s(u) - s(l)) along f, where s' = s (1 - s) has cancelled.
        return np.atleast_2d(1.0 - a - b), np.atleast_2d(a * (1 - a) + b * (1 - b))

    def answers(self, scores: Floats) -> Floats:
        below = special.expit(np.asarray(self.thresholds)[:, np.newaxis] - scores[0])
        n = scores.shape[1]
        ends = np.vstack([np.zeros(n), below, np.ones(n)])
        return np.ascontiguousarray(np.diff(ends, axis=0).T)


def _log_between(upper: Floats, lower: Floats) -> Floats:
    """`log(s(upper) - s(lower))` without cancellation."""
    with np.errstate(invalid="ignore", divide="ignore"):
        inner = special.log_expit(upper) + special.log_expit(-lower)
        inner = inner + np.log(-np.expm1(np.minimum(lower - upper, 0.0)))
    return np.asarray(inner)


def _moved_thresholds(loss: OrdinalLoss, f: Floats, codes: Any, weight: Floats) -> Floats:
    """A step of the thresholds towards their minimum, as long as it helps and keeps their order."""
    t = np.array(loss.thresholds)
    K = len(t) + 1
    upper, lower = loss._ends(f, codes)
    a, b = special.expit(upper), special.expit(lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = 1.0 / -np.expm1(np.where(np.isfinite(lower - upper), lower - upper, -np.inf))
    # d/du log(s(u) - s(l)) = s'(u) / (s(u) - s(l)), and so for l.
    at_upper = np.where(codes < K - 1, (1 - a) * gap / np.maximum(1 - b, 1e-300), 0.0)
    at_lower = np.where(codes > 0, b * gap / np.maximum(a, 1e-300), 0.0)
    g = (
        np.bincount(codes, -weight * at_upper, K)[:-1]
        + np.bincount(codes, weight * at_lower, K)[1:]
    )
    curved = weight * (a * (1 - a) + b * (1 - b))
    h = np.bincount(codes, curved, K)
    h = h[:-1] + h[1:] + 1e-12 * weight.sum()
    before = float(weight @ loss.values(f[np.newaxis], codes.astype(float)))
    step = -g / h
    for _ in range(12):
        moved = t + step
        if (np.diff(moved) > 0).all():
            tried = replace(loss, thresholds=tuple(moved.tolist()))
            if float(weight @ tried.values(f[np.newaxis], codes.astype(float))) <= before:
                return moved
        step = step / 2
    return t
