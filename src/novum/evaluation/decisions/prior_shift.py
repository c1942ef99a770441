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
from numpy.typing import ArrayLike
from scipy import optimize, special

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict, warn_if_stopped
from novum.evaluation.decisions.labelled_cases import case_weights, class_codes, class_weights
from novum.numerics import Floats, SquaredExtrapolation


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


# --- Weights of a mixture -------------------------------------------------------------------------
# Weights of a mixture whose components are known.
#
#     maximize over the simplex    L(pi) = sum_i w_i log sum_c pi_c d_ic
#
# The step of EM multiplies every weight by its mean responsibility,  pi_c <- pi_c g_c / W  with
# g_c = sum_i w_i d_ic / m_i  and  m_i = sum_c pi_c d_ic,  and never lowers L. As L is concave, the
# gradient g bounds how much is left to gain,
#
#     L(pi*) - L(pi)  <=  max_c g_c - W        (W the total weight, since <pi, g> = W),
#
# so the result is proved, not merely stationary. Squared extrapolation shortens the way.
#
# One weight can be held at a given value; the others then share the rest. The values of a weight at
# which twice the loss of likelihood stays below a quantile of chi-squared are its profile interval,
# which needs no normal approximation and ends at 0 or 1 where it should.


@dataclass(frozen=True, eq=False)
class MixtureWeights:
    """Weights of largest likelihood.

    Attributes
    ----------
    weights : array of shape (K,)
    log_likelihood : float
    gap : float
        The log-likelihood is at most this far from its maximum.
    iterations : int
    trace : tuple of float
        Log-likelihood after each step.
    converged : bool
    """

    weights: Floats
    log_likelihood: float
    gap: float
    iterations: int
    trace: tuple[float, ...]
    converged: bool


@dataclass(frozen=True, eq=False)
class Mixture:
    """Known component densities of a sample.

    Parameters
    ----------
    densities : array of shape (n, K)
        Of each component at each row, up to a factor of the row; not all zero in any row.
    weight : array of shape (n,)
        Positive.

    Examples
    --------
    Three rows of four can only come from the second component.

    >>> mixture = Mixture(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]), np.ones(4))
    >>> mixture.fit().weights.round(6).tolist()
    [0.25, 0.75]
    >>> mixture.profile_interval(0, 0.95)[0] > 0
    True
    """

    densities: Floats
    weight: Floats

    def fit(
        self,
        start: Floats | None = None,
        held: int | None = None,
        *,
        tol: float = 1e-10,
        max_iter: int = 10_000,
    ) -> MixtureWeights:
        """The weights of largest likelihood.

        Parameters
        ----------
        start : array of shape (K,), optional
            Where to begin; a weight of zero stays zero. Default: equal weights.
        held : int, optional
            Component whose weight stays as in `start`.
        tol : float
            Of the gap, for each unit of weight.
        max_iter : int
        """
        K = self.densities.shape[1]
        weights = np.full(K, 1 / K) if start is None else start
        value, gradient = self._look(weights)
        method, trace = SquaredExtrapolation(), [value]
        limit = tol * float(self.weight.sum())
        gap = self._gap(weights, gradient, held)
        while gap > limit and len(trace) <= max_iter:
            stepped = self._step(weights, gradient, held)
            proposal = method.propose(weights, stepped)
            value, gradient = self._look(stepped)
            if proposal is not None:
                further = self._inside(proposal, weights, held)
                estimate = self._look(further)
                if estimate[0] >= value:
                    stepped, (value, gradient) = further, estimate
                    method.accepted()
                else:
                    method.refused()
            weights = stepped
            trace.append(value)
            gap = self._gap(weights, gradient, held)
        return MixtureWeights(weights, value, gap, len(trace) - 1, tuple(trace), bool(gap <= limit))

    def profile_interval(
        self, component: int, level: float, best: MixtureWeights | None = None
    ) -> tuple[float, float]:
        """All values of a weight whose likelihood ratio is not refuted at `level`."""
        top = self.fit() if best is None else best
        allowed = float(special.chdtri(1, 1 - level)) / 2
        at = float(top.weights[component])

        def excess(value: float) -> float:
            start = self._with(top.weights, component, value)
            return top.log_likelihood - self._profile(start, component) - allowed

        low = 0.0 if at == 0 or excess(0.0) <= 0 else optimize.brentq(excess, 0.0, at, xtol=1e-8)
        high = 1.0 if at == 1 or excess(1.0) <= 0 else optimize.brentq(excess, at, 1.0, xtol=1e-8)
        return float(low), float(high)

    # Parts

    def _look(self, weights: Floats) -> tuple[float, Floats]:
        """Log-likelihood and its gradient."""
        mixed = self.densities @ weights
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(self.weight @ np.log(mixed))
            gradient = (self.weight / mixed) @ self.densities
        return (value if np.isfinite(value) else -np.inf), gradient

    def _profile(self, start: Floats, held: int) -> float:
        if not np.isfinite(self._look(start)[0]):
            return -np.inf
        return self.fit(start, held, tol=1e-8).log_likelihood

    @staticmethod
    def _step(weights: Floats, gradient: Floats, held: int | None) -> Floats:
        moved = weights * gradient
        if held is None:
            return moved / moved.sum()
        others = np.delete(np.arange(len(weights)), held)
        rest = moved[others].sum()
        if rest > 0:
            moved[others] *= (1 - weights[held]) / rest
        moved[held] = weights[held]
        return moved

    @staticmethod
    def _inside(proposal: Floats, weights: Floats, held: int | None) -> Floats:
        """A proposal pulled back into the simplex; what EM holds positive stays so."""
        positive = np.maximum(proposal, np.minimum(weights, 1e-12))
        if held is None:
            return positive / positive.sum()
        positive[held] = 0.0
        rest = positive.sum()
        positive *= (1 - weights[held]) / rest if rest > 0 else 0.0
        positive[held] = weights[held]
        return positive

    def _gap(self, weights: Floats, gradient: Floats, held: int | None) -> float:
        total = float(self.weight.sum())
        if held is None:
            return max(float(gradient.max()) - total, 0.0)
        others = np.delete(gradient, held)
        share = float(weights[held])
        return max((1 - share) * float(others.max()) + share * float(gradient[held]) - total, 0.0)

    @staticmethod
    def _with(weights: Floats, component: int, value: float) -> Floats:
        """Weights with one of them changed and the others in proportion, none of them zero."""
        others = np.maximum(weights, 1e-6)
        others[component] = 0.0
        changed = others * (1 - value) / others.sum()
        changed[component] = value
        return changed
