"""What a fitted logistic regression says about new rows.

    scores  f = b0 + coef x,        p(k | x) = exp(f_k) / sum_l exp(f_l)

Two classes have one score, the log-odds of the second. The log-likelihood ratio takes the training
priors off again: `log p(x | k) / p(x | l) = log p(k | x) / p(l | x) - log pi_k / pi_l`, with
`pi_k` the weights of the classes in training (`class_prior_`), so that the answer can be used under
other priors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.runtime import answered
from novum.core.tables import Coding, Sample, Schema, check_features, check_sample
from novum.core.text import label_text, listed
from novum.numerics import Array, Floats


class LogisticPredictor(DecisionMixin, ClassifierMixin):
    """Reading and prediction of a model with `coef_`, `intercept_`, `classes_` and `schema_`."""

    coef_: Floats
    intercept_: Floats
    classes_: Array
    class_prior_: Floats
    schema_: Schema

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of the second of two classes (n,), or a score for every class (n, K)."""
        scores = self._scores(X)
        return answered(self.coef_, X, scores[:, 0] if scores.shape[1] == 1 else scores)

    def predict(self, X: Any) -> Array:
        """The most probable class of every row."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return self.classes_[(scores[:, 0] > 0).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (n, K)."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            shares = special.expit(np.column_stack([-scores[:, 0], scores[:, 0]]))
        else:
            shares = special.softmax(scores, axis=1)
        return answered(self.coef_, X, np.asarray(shares))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of `predict_proba`, right also where probabilities underflow."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            logs = special.log_expit(np.column_stack([-scores[:, 0], scores[:, 0]]))
        else:
            logs = special.log_softmax(scores, axis=1)
        return answered(self.coef_, X, np.asarray(logs))

    def log_likelihood_ratio(self, X: Any, positive: Any = None, negative: Any = None) -> Floats:
        """`log p(x | positive) / p(x | negative)` of every row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
        positive : label, optional
            The last of two classes by default.
        negative : label, optional
            By default all other classes, in the proportions of `class_prior_`.
        """
        logs = self.predict_log_proba(X) - np.log(self.class_prior_)
        if positive is None and len(self.classes_) != 2:
            raise InputError(
                f"Of {len(self.classes_)} classes it must be said which is positive: "
                f"positive={label_text(self.classes_[-1])}, for example."
            )
        k = len(self.classes_) - 1 if positive is None else self._code(positive)
        if negative is not None:
            return np.asarray(logs[:, k] - logs[:, self._code(negative)])
        shares = np.delete(self.class_prior_, k)
        others = np.delete(logs, k, axis=1)
        rest = special.logsumexp(others, axis=1, b=shares / shares.sum())
        return np.asarray(logs[:, k] - rest)

    @property
    def coef_names_(self) -> tuple[str, ...]:
        """Names of the coefficients; a level is `column=level`, against the first level."""
        check_is_fitted(self)
        return Coding(self.schema_).names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        chosen = getattr(self, "categorical_features", None)
        tags.input_tags.string = chosen is not None
        tags.input_tags.categorical = isinstance(chosen, str) and chosen == "all"
        return tags

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:
        return check_sample(
            self, X, y, sample_weight, target="classes", schema=schema, accept_sparse=True
        )

    def _scores(self, X: Any) -> Floats:
        if not hasattr(self, "coef_"):
            check_is_fitted(self)
        sample = check_features(self, X, accept_sparse=True, tell_unseen=False)
        return Coding(self.schema_).scores(sample, self.coef_.T) + self.intercept_

    def _code(self, label: Any) -> int:
        positions = np.flatnonzero(self.classes_ == label)
        if not positions.size:
            raise InputError(
                f"{label_text(label)} is not one of the classes {listed(self.classes_.tolist())}."
            )
        return int(positions[0])

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        width, K = len(self.coef_names_), len(self.classes_)
        m = 1 if K == 2 else K
        coef, intercept = np.asarray(self.coef_), np.asarray(self.intercept_)
        if K < 2 or coef.shape != (m, width) or intercept.shape != (m,):
            raise ModelFileError(
                f"The model has coefficients of shape {coef.shape} and intercepts of shape "
                f"{intercept.shape} for {width} columns and {K} classes."
            )
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ModelFileError("The model has coefficients that are not finite numbers.")
        prior = np.asarray(self.class_prior_)
        if prior.shape != (K,) or not ((prior >= 0).all() and abs(prior.sum() - 1) < 1e-6):
            raise ModelFileError("The class priors of the model are no probabilities.")
