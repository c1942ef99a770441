"""Prior shift: classes are more or less common than in training, and look as they did.

With unchanged p(x | c) the posteriors follow from those of training,

    P_new(c | x)  ~  P_old(c | x) pi_new(c) / pi_old(c).

Known new priors go into that formula (`retarget_posteriors`). Unknown ones are estimated from
unlabelled cases, as the weights of a mixture with known components p(x | c) ~ P_old(c | x) /
pi_old(c): EM of Saerens, Latinne & Decaestecker. It trusts the posteriors, so calibrate first.

The black-box way trusts labels only. With A[j, c] = P(predicted j | true c) from labelled cases,
predictions on new cases follow the mixture  sum_c pi_c A[:, c];  its weights of largest likelihood
are A^-1 times the observed shares where that has no negative entry, and the nearest possible ones
in likelihood where it has.

References: Saerens, Latinne & Decaestecker, Neural Computation 14 (2002), 21-41, eq. 2.4 and 2.9;
Lipton, Wang & Smola, ICML 2018, for the black box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novum.core.certificate import Certificate, Verdict, warn_if_stopped
from novum.core.errors import InputError
from novum.core.working_point import WorkingPoint
from novum.evaluation.decisions.labelled_cases import case_weights, class_codes, class_weights
from novum.evaluation.decisions.mixture_weights import Mixture, MixtureWeights

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PriorEstimate:
    """Priors estimated from cases without labels.

    Attributes
    ----------
    classes : tuple of K labels
    priors : array of shape (K,)
    low, high : arrays of shape (K,), or None
        Profile likelihood interval of each prior. It counts the chance in the new cases, and takes
        posteriors or error rates as exact.
    level : float or None
    certificate : Certificate
        How far the likelihood is from its maximum at most.
    """

    classes: tuple[Any, ...]
    priors: Floats
    low: Floats | None
    high: Floats | None
    level: float | None
    certificate: Certificate

    def __repr__(self) -> str:
        lines = []
        for c, (label, prior) in enumerate(zip(self.classes, self.priors, strict=True)):
            span = ""
            if self.low is not None and self.high is not None:
                span = f" [{self.low[c]:.4f}, {self.high[c]:.4f}]"
            lines.append(f"  {label!r}: {prior:.4f}{span}")
        return "\n".join(["Estimated priors", *lines])


def retarget_posteriors(
    posteriors: ArrayLike, training_priors: ArrayLike, priors: ArrayLike
) -> Floats:
    """Posteriors where the classes have other priors than in training.

    Parameters
    ----------
    posteriors : array of shape (n, K)
    training_priors, priors : arrays of shape (K,)
        Of the posteriors as given, and of those wanted.

    Examples
    --------
    >>> retarget_posteriors([[0.5, 0.5]], [0.5, 0.5], [0.9, 0.1]).round(12).tolist()
    [[0.9, 0.1]]
    """
    return _point(np.asarray(priors, float)).retarget(posteriors, training_priors)


def estimate_priors(
    posteriors: ArrayLike,
    training_priors: ArrayLike,
    *,
    classes: Sequence[Any] | None = None,
    level: float | None = 0.95,
    sample_weight: Any = None,
    tol: float = 1e-10,
    max_iter: int = 10_000,
) -> PriorEstimate:
    """Priors of new cases from their posteriors under the training priors, by EM.

    Parameters
    ----------
    posteriors : array of shape (n, K)
        Of the new cases, from a calibrated model.
    training_priors : array of shape (K,)
        That the posteriors belong to, all positive.
    classes : sequence of K labels, optional
    level : float or None
        Of the intervals; None leaves them out.
    sample_weight : array of shape (n,), optional
    tol : float
        Of the gap of the log-likelihood, for each case.
    max_iter : int

    Examples
    --------
    >>> P = [[0.9, 0.1]] * 10 + [[0.1, 0.9]] * 30
    >>> found = estimate_priors(P, [0.5, 0.5])
    >>> found.priors.round(4).tolist(), str(found.certificate.verdict)
    ([0.1875, 0.8125], 'within tolerance')
    """
    trained = np.asarray(training_priors, float)
    point = _point(trained, classes)
    checked = point._checked_posteriors(posteriors)
    if not (point.priors > 0).all():
        unknown = point.classes[int(np.flatnonzero(point.priors <= 0)[0])]
        raise InputError(
            f"Class {unknown!r} has training prior 0: the model knows nothing about it. Leave it "
            "out of the classes."
        )
    if len(checked) == 0:
        raise InputError("There are no cases to estimate priors from.")
    weight = case_weights(sample_weight, len(checked))
    counted = weight > 0
    densities = checked[counted] / point.priors
    return _estimated(Mixture(densities, weight[counted]), point.classes, level, tol, max_iter)


def estimate_priors_from_labels(
    y: Any,
    predicted: Any,
    new_predicted: Any,
    *,
    classes: Sequence[Any] | None = None,
    level: float | None = 0.95,
    tol: float = 1e-10,
    max_iter: int = 10_000,
) -> PriorEstimate:
    """Priors of new cases from the labels that any classifier gives them (black-box shift).

    Parameters
    ----------
    y, predicted : arrays of n labels
        Of held-out cases: the true class and the one predicted. Every class occurs in `y`.
    new_predicted : array of m labels
        Predictions for the new cases.
    classes : sequence of K labels, optional
        Default: those of `y`, sorted.
    level, tol, max_iter
        As for `estimate_priors`.

    Examples
    --------
    Of each class 9 in 10 are recognized; 34 of 100 new cases are called `b`.

    >>> y = ["a"] * 10 + ["b"] * 10
    >>> predicted = ["a"] * 9 + ["b"] + ["b"] * 9 + ["a"]
    >>> found = estimate_priors_from_labels(y, predicted, ["a"] * 66 + ["b"] * 34)
    >>> found.priors.round(4).tolist()
    [0.7, 0.3]
    """
    labels = tuple(np.unique(np.asarray(y)).tolist() if classes is None else classes)
    true, said = class_codes(y, labels), class_codes(predicted, labels)
    new = class_codes(new_predicted, labels)
    if len(true) != len(said):
        raise InputError(f"There are {len(true)} labels and {len(said)} predictions for them.")
    K = len(labels)
    totals = class_weights(true, np.ones(len(true)), labels)
    rates = np.bincount(said * K + true, minlength=K * K).reshape(K, K) / totals
    counts = np.bincount(new, minlength=K).astype(np.float64)
    met = counts > 0
    impossible = np.flatnonzero(met & ~rates.any(axis=1))
    if impossible.size:
        raise InputError(
            f"{int(counts[impossible[0]])} new cases are called {labels[impossible[0]]!r}, which "
            "was never predicted for the held-out cases. Hold out more cases."
        )
    if np.linalg.matrix_rank(rates) < K:
        raise InputError(
            "The classifier's error rates cannot tell the classes apart (its confusion matrix has "
            f"rank {np.linalg.matrix_rank(rates)} for {K} classes), so the priors are not "
            "determined. Unite classes that it confuses."
        )
    return _estimated(Mixture(rates[met], counts[met]), labels, level, tol, max_iter)


# --- Parts ----------------------------------------------------------------------------------------


def _estimated(
    mixture: Mixture, classes: tuple[Any, ...], level: float | None, tol: float, max_iter: int
) -> PriorEstimate:
    if level is not None and not 0 < level < 1:
        raise InputError(f"level is a probability between 0 and 1, or None, got {level!r}.")
    best = mixture.fit(tol=tol, max_iter=max_iter)
    certificate = _certificate(best, tol * float(mixture.weight.sum()))
    warn_if_stopped(certificate, "estimate_priors", stacklevel=4)
    if level is None:
        return PriorEstimate(classes, best.weights, None, None, None, certificate)
    spans = [mixture.profile_interval(c, level, best) for c in range(len(classes))]
    low, high = (np.array(ends) for ends in zip(*spans, strict=True))
    return PriorEstimate(classes, best.weights, low, high, level, certificate)


def _certificate(best: MixtureWeights, tol: float) -> Certificate:
    verdict = Verdict.WITHIN_TOLERANCE if best.converged else Verdict.STOPPED_EARLY
    return Certificate(
        objective="log-likelihood of the priors",
        verdict=verdict,
        value=best.log_likelihood,
        gap=best.gap,
        iterations=best.iterations,
        trace=best.trace,
        details={"tol": tol},
    )


def _point(priors: Floats, classes: Sequence[Any] | None = None) -> WorkingPoint:
    """Priors, checked as those of a working point."""
    if priors.ndim != 1:
        raise InputError(f"Priors are one number for each class, got shape {priors.shape}.")
    labels = tuple(range(len(priors))) if classes is None else tuple(classes)
    return WorkingPoint(labels, priors, 1.0 - np.eye(len(labels)))
