"""Log-likelihood ratios of models that give posteriors.

By Bayes' rule the odds of a class after seeing x are its odds before times the likelihood ratio,

    log P(c | x) / P(not c | x)  =  log pi_c / (1 - pi_c)  +  log p(x | c) / p(x | not c),

so the ratio of any model is its log-odds minus the log-odds of the priors it was trained under. It
does not depend on how common the class was in training, which is what makes it the score to carry
to another working point. With more than two classes "not c" is the mixture of the others in the
proportions of training.

`optimal_log_likelihood_ratios` gives what the best monotone recalibration of scores would be for
these very cases (pooling adjacent violators): no non-decreasing map of the scores has a lower
detection cost at any prior, nor a lower Cllr. That is a bound to judge calibration by; as a
calibration it would be fitted to its own test.

Reference: Brümmer & du Preez, Computer Speech and Language 20 (2006), sections 2 and 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation.decisions.labelled_cases import (
    case_weights,
    checked_scores,
    class_codes,
    class_weights,
)
from novum.numerics import Floats, fit_isotonic, log_sum_exp

# Where learners keep the priors they were trained under.
_PRIORS = ("class_prior_", "priors_")


def log_likelihood_ratios(
    model: Any, X: Any, *, training_priors: ArrayLike | None = None
) -> Floats:
    """Log-odds of a fitted classifier minus those of its training priors.

    Parameters
    ----------
    model : fitted classifier
        With `predict_log_proba` or `predict_proba`.
    X : rows
    training_priors : array of shape (K,), optional
        In the order of `model.classes_`. Default: the model's `class_prior_` (or `priors_`).

    Returns
    -------
    array of shape (n,) or (n, K)
        Of two classes the ratio of the last one; of more, that of each class against the others.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> X, y = [[-1.0], [0.0], [1.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1, 1, 1]
    >>> model = GaussianNB().fit(X, y)
    >>> log_likelihood_ratios(model, [[0.0], [1.0], [2.0]]).round(6).tolist()
    [-3.0, 0.0, 3.0]
    """
    check_is_fitted(model)
    logs = _log_posteriors(model, X)
    trained = _training_priors(model, training_priors, logs.shape[1])
    if logs.shape[1] == 2:
        return _difference(logs[:, 1], logs[:, 0]) - special.logit(trained[1])
    return ratios_of_posteriors(logs, trained)


def ratios_of_posteriors(log_posteriors: ArrayLike, priors: ArrayLike) -> Floats:
    """Log-likelihood ratio of each class against the others, of shape (n, K).

    Parameters
    ----------
    log_posteriors : array of shape (n, K)
    priors : array of shape (K,)
        That the posteriors belong to, each between 0 and 1.

    Examples
    --------
    >>> ratios_of_posteriors(np.log([[0.5, 0.25, 0.25]]), [0.5, 0.25, 0.25]).round(12).tolist()
    [[0.0, 0.0, 0.0]]
    """
    logs, shares = np.asarray(log_posteriors, float), np.asarray(priors, float)
    K = logs.shape[1]
    others = [log_sum_exp(np.delete(logs, c, axis=1), axis=1) for c in range(K)]
    return np.column_stack(
        [_difference(logs[:, c], others[c]) - special.logit(shares[c]) for c in range(K)]
    )


def optimal_log_likelihood_ratios(
    y: Any, scores: ArrayLike, *, classes: Any = (0, 1), sample_weight: Any = None
) -> Floats:
    """The log-likelihood ratios that the scores would be under their best monotone calibration.

    Parameters
    ----------
    y : array of n labels
    scores : array of shape (n,)
        Larger speaks for the last of `classes`. Only their order matters.
    classes : pair of labels
    sample_weight : array of shape (n,), optional

    Returns
    -------
    array of shape (n,)
        Infinite where the scores separate some cases of one class from all others.

    Examples
    --------
    >>> optimal_log_likelihood_ratios([0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]).tolist()
    [-inf, 0.0, 0.0, inf]
    """
    codes = class_codes(y, classes)
    numbers = checked_scores(scores, len(codes))
    weight = case_weights(sample_weight, len(codes))
    totals = class_weights(codes, weight, classes)
    # Ranks have the scores' order, and unlike these are finite.
    ranks = np.unique(numbers, return_inverse=True)[1].astype(np.float64)
    counted = weight > 0
    fitted = fit_isotonic(ranks[counted], codes[counted] == 1, (weight / totals[codes])[counted])
    return special.logit(fitted.predict(ranks))


def _log_posteriors(model: Any, X: Any) -> Floats:
    if hasattr(model, "predict_log_proba"):
        logs = np.asarray(model.predict_log_proba(X), float)
    elif hasattr(model, "predict_proba"):
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(model.predict_proba(X), float))
    else:
        raise InputError(
            f"{type(model).__name__} has no predict_proba, so its scores are no log-odds. "
            "Calibrate it: CalibratedClassifierCV(model)."
        )
    if logs.ndim != 2 or logs.shape[1] < 2:
        raise InputError(
            f"Ratios need at least two classes; {type(model).__name__} gives posteriors of shape "
            f"{logs.shape}."
        )
    return logs


def _training_priors(model: Any, given: ArrayLike | None, n_classes: int) -> Floats:
    prior = given
    if prior is None:
        prior = next((getattr(model, name) for name in _PRIORS if hasattr(model, name)), None)
    if prior is None:
        raise InputError(
            f"{type(model).__name__} does not say which priors it was trained under (it has no "
            "class_prior_). Pass training_priors, such as the shares of the classes in its "
            "training set."
        )
    # The checks of a working point are those of any priors.
    classes = tuple(np.asarray(getattr(model, "classes_", np.arange(n_classes))).tolist())
    cost = np.zeros((n_classes, 1))
    priors = WorkingPoint(classes, np.asarray(prior, float), cost, actions=("any",)).priors
    alone = np.flatnonzero((priors <= 0) | (priors >= 1))
    if alone.size:
        raise InputError(
            f"Class {classes[alone[0]]!r} has training prior {priors[alone[0]]:.6g}; the model "
            "knows nothing of its odds. Train on a sample with all classes."
        )
    return priors


def _difference(a: Floats, b: Floats) -> Floats:
    """`a - b` of logarithms, where two impossible events are equally impossible."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(a) & np.isneginf(b), 0.0, a - b)
