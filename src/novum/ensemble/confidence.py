"""How sure a classifier is: scores of any of them, and what makes probabilities of them.

    p = softmax(b z),     b of least log loss on held-out labels

Few labels prove little: however well they fit, the mean of the largest p is at most
(right + 1) / (held out + 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from novum.core.errors import InputError
from novum.core.learners import align_classes
from novum.numerics import Array, Floats, Integers, fit_temperature

_LEAST_LOG = -700.0


def class_scores(model: Any, X: Any, classes: Array) -> Floats:
    """Finite scores of all classes whose softmax are the model's probabilities, if it has such."""
    if hasattr(model, "predict_log_proba"):
        logs = np.asarray(model.predict_log_proba(X), np.float64)
        logs = align_classes(logs, model.classes_, classes, "predict_log_proba")
        return np.maximum(logs, _LEAST_LOG)
    if hasattr(model, "predict_proba"):
        shares = align_classes(np.asarray(model.predict_proba(X)), model.classes_, classes)
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(shares), _LEAST_LOG)
    if not hasattr(model, "decision_function"):
        raise InputError(
            f"{type(model).__name__} has neither predict_proba nor decision_function, so nothing "
            "tells how sure it is. Choose a learner that has one."
        )
    scores = np.asarray(model.decision_function(X), np.float64)
    if scores.ndim == 1:
        scores = np.c_[-scores / 2, scores / 2]
    return np.asarray(align_classes(scores, model.classes_, classes, "decision_function"))


def inverse_temperature(scores: Floats, codes: Integers) -> float:
    """What multiplies scores for least log loss, no surer than the share of right answers allows.

    Examples
    --------
    Four right answers of four prove no more than 5/6.

    >>> z = np.array([[0.0, 9.0]] * 4)
    >>> b = inverse_temperature(z, np.array([1, 1, 1, 1]))
    >>> softmax(b * z, axis=1)[0].round(4).tolist()
    [0.1667, 0.8333]
    """
    best = fit_temperature(scores, codes).inverse_temperature
    right = int((scores.argmax(axis=1) == codes).sum())
    limit = (right + 1.0) / (len(codes) + 2.0)

    def excess(b: float) -> float:
        return float(softmax(b * scores, axis=1).max(axis=1).mean()) - limit

    if excess(best) <= 0:
        return float(best)
    if excess(0.0) >= 0:
        return 0.0
    return float(brentq(excess, 0.0, best, rtol=1e-12, maxiter=500))
