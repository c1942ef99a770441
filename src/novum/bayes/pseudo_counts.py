"""What scikit-learn's count models have in common: pseudo-counts, priors, and linear weights.

    p = (N + alpha) / (sum of N + sum of alpha)

`alpha` is added to every count before shares are taken; it is the parameter of a beta or Dirichlet
prior. A model of this family differs in what it counts.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from novum.bayes.discrete_blocks import CountBlock
from novum.bayes.naive_bayes_engine import NaiveBayesModel
from novum.bayes.naive_bayes_statistics import Reading
from novum.core.errors import InputError
from novum.core.schema import Schema

Floats = NDArray[np.float64]

PSEUDO_COUNT_CONSTRAINTS: dict[str, list[Any]] = {
    "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
    "force_alpha": ["boolean"],
    "fit_prior": ["boolean"],
    "class_prior": ["array-like", None],
}

# scikit-learn's least alpha where `force_alpha` is off.
_LEAST_ALPHA = 1e-10


class PseudoCountModel(NaiveBayesModel):
    """Shared priors and smoothing; see `MultinomialNB`, `BernoulliNB` and `CategoricalNB`."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    @property
    def class_log_prior_(self) -> Floats:
        """Logarithms of the priors; a class that never occurred has `-inf`."""
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _given_priors(self) -> Any:
        if self.class_prior is not None:
            return self.class_prior
        return None if self.fit_prior else "uniform"

    def _checked_alpha(self, n_columns: int) -> Floats:
        """Pseudo-counts of shape (1,) or (n_columns,)."""
        found = np.atleast_1d(np.asarray(self.alpha, float))
        if np.ndim(self.alpha) > 0 and found.shape != (n_columns,):
            raise InputError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {found.size} elements instead of {n_columns}."
            )
        if not (np.isfinite(found) & (found >= 0)).all():
            raise InputError("All values in alpha must be greater than 0, or 0 for no smoothing.")
        if found.min() < _LEAST_ALPHA and not self.force_alpha:
            warnings.warn(
                "alpha too small will result in numeric errors, setting alpha = "
                f"{_LEAST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged.",
                UserWarning,
                stacklevel=2,
            )
            return np.maximum(found, _LEAST_ALPHA)
        return found


class CountModel(PseudoCountModel):
    """Shared by models that are linear in the counts; see `MultinomialNB` and `ComplementNB`."""

    _sparse_allowed = True

    @property
    def feature_count_(self) -> Floats:
        """Totals of the columns in every class."""
        return self.statistics_.totals

    @property
    def feature_log_prob_(self) -> Floats:
        """Weights of the score."""
        block: CountBlock = self._blocks[0]
        return block.weights.T

    @property
    def coef_(self) -> Floats:
        """Weights of the score, by the name that linear models give them."""
        return self.feature_log_prob_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _reading(self, schema: Schema) -> Reading:  # noqa: ARG002
        return Reading(counted=None)
