"""Sigmoid fits: from a score to the probability of the positive class.

    P(positive | s) = 1 / (1 + exp(-(a s + b)))

*Platt's fit* minimizes the log loss against targets that are moved inwards as if one more case of
each class had been seen,

    t_+ = (N_+ + 1) / (N_+ + 2),        t_- = 1 / (N_- + 2),

which keeps the optimum finite, also where the scores separate the classes. *The prior-weighted fit*
makes a log-likelihood ratio of the score: classes are weighted to a stated effective prior p and
its log-odds are taken off,

    minimize   p / N_+  sum_+ log(1 + exp(-z_i))  +  (1 - p) / N_-  sum_- log(1 + exp(z_i)),
               z_i = a s_i + b + log(p / (1 - p)),

so that  a s + b  is the ratio, best where decisions are taken near that prior.

References: Platt, in Advances in Large Margin Classifiers (1999), 61-74; Brümmer & du Preez,
Computer Speech and Language 20 (2006), section 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from novum.numerics.affine_softmax import AffineSoftmax, fit_affine_softmax
from novum.numerics.isotonic import checked_columns

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SigmoidMap:
    """`1 / (1 + exp(-(slope s + intercept)))`, and how well it was fitted.

    Attributes
    ----------
    slope, intercept : float
    loss, residual : float
        Mean log loss against the targets of the fit, and the norm of its gradient.
    converged : bool

    Examples
    --------
    >>> SigmoidMap(2.0, -1.0).predict([0.5]).tolist()
    [0.5]
    """

    slope: float
    intercept: float
    loss: float = 0.0
    residual: float = 0.0
    converged: bool = True

    def predict(self, scores: ArrayLike) -> Floats:
        """Probabilities at `scores`, of their shape."""
        return np.asarray(special.expit(self.slope * np.asarray(scores, float) + self.intercept))

    def log_odds(self, scores: ArrayLike) -> Floats:
        """`slope s + intercept`."""
        return self.slope * np.asarray(scores, float) + self.intercept


def fit_sigmoid(
    scores: ArrayLike, positive: ArrayLike, weight: ArrayLike | None = None
) -> SigmoidMap:
    """Platt's sigmoid.

    Parameters
    ----------
    scores : array of shape (n,)
        Finite.
    positive : array of shape (n,)
        True or 1 for the positive class. One class alone is fine: its smoothed share is fitted.
    weight : array of shape (n,), optional
        Weight 2 is the case twice, also in the smoothing.

    Examples
    --------
    >>> fitted = fit_sigmoid([-1.0, 1.0], [0, 1])
    >>> fitted.predict([-1.0, 1.0]).round(6).tolist()
    [0.333333, 0.666667]
    """
    s, t, w = checked_columns(scores, positive, weight)
    targets = smoothed_targets(t > 0, w)
    fitted = fit_affine_softmax(
        np.column_stack([np.zeros_like(s), s]), np.column_stack([1 - targets, targets]), w
    )
    return _as_sigmoid(fitted)


def fit_prior_weighted(
    scores: ArrayLike, positive: ArrayLike, prior: float = 0.5, weight: ArrayLike | None = None
) -> SigmoidMap:
    """The affine map `a s + b` that makes log-likelihood ratios of scores, for one prior.

    Parameters
    ----------
    scores : array of shape (n,)
        Finite, and not such that a threshold separates the classes.
    positive : array of shape (n,)
        Both classes occur.
    prior : float
        Effective prior of the positive class, between 0 and 1.
    weight : array of shape (n,), optional

    Returns
    -------
    SigmoidMap
        Its `log_odds` are the ratios; its `predict` holds for equal priors.

    Examples
    --------
    >>> fitted = fit_prior_weighted([-1.0, 1.0, -1.0, 1.0, 1.0], [0, 0, 1, 1, 1])
    >>> fitted.log_odds([-1.0, 1.0]).round(6).tolist()
    [-0.405465, 0.287682]
    """
    s, t, w = checked_columns(scores, positive, weight)
    if not 0 < prior < 1:
        raise ValueError(f"The effective prior lies between 0 and 1, got {prior!r}.")
    is_positive = t > 0
    totals = np.array([w[~is_positive].sum(), w[is_positive].sum()])
    if not totals.all():
        raise ValueError("A prior-weighted fit needs cases of both classes.")
    priors = np.array([1 - prior, prior])
    codes = is_positive.astype(np.intp)
    fitted = fit_affine_softmax(
        np.column_stack([np.zeros_like(s), s]),
        np.eye(2)[codes],
        w * (priors / totals)[codes],
        np.log(priors),
    )
    return _as_sigmoid(fitted)


def smoothed_targets(positive: NDArray[np.bool_], weight: Floats) -> Floats:
    """Platt's targets: as if one more case of each class had been seen.

    Examples
    --------
    >>> smoothed_targets(np.array([True, True, False]), np.ones(3)).round(4).tolist()
    [0.75, 0.75, 0.3333]
    """
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    return np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def _as_sigmoid(fitted: AffineSoftmax) -> SigmoidMap:
    return SigmoidMap(
        fitted.slope, float(fitted.offset[1]), fitted.loss, fitted.residual, fitted.converged
    )
