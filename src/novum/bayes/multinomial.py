"""Multinomial naive Bayes: counts of events, such as words, drawn with class-wise probabilities.

    log P(k, x) = log P(k) + sum_j x_j log t_kj,   t_kj = (N_kj + alpha_j) / sum_l (N_kl + alpha_l)

`N_kj` is the total count of column j in class k. The score of a class is linear in the counts:
its weights are `log t_kj` and its constant is `log P(k)`.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from novum.bayes.discrete_blocks import CountBlock, count_block, expected_totals
from novum.bayes.naive_bayes_engine import NaiveBayesModel
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics, Reading
from novum.core.errors import InputError
from novum.core.schema import Schema

Floats = NDArray[np.float64]

COUNT_CONSTRAINTS: dict[str, list[Any]] = {
    "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
    "force_alpha": ["boolean"],
    "fit_prior": ["boolean"],
    "class_prior": ["array-like", None],
}

# scikit-learn's least alpha where `force_alpha` is off.
_LEAST_ALPHA = 1e-10


class MultinomialNB(NaiveBayesModel):
    """Multinomial naive Bayes on dense or sparse counts.

    Parameters
    ----------
    alpha : float or array-like of shape (n_columns,), default=1.0
        Pseudo-count of each column: the parameter of a Dirichlet prior.
    force_alpha : bool, default=True
        If false, an alpha below 1e-10 is raised to that, with a warning.
    fit_prior : bool, default=True
        Whether the class priors are learned; equal otherwise.
    class_prior : array-like of shape (n_classes,), optional
        Given priors.

    Attributes
    ----------
    classes_, class_count_, class_prior_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_columns)
    coef_, intercept_ : arrays of shape (n_classes, n_columns) and (n_classes,)
        The log-linear weights: `feature_log_prob_` and `class_log_prior_`.
    certificate_, statistics_, schema_
        As everywhere.

    Notes
    -----
    Costs one pass over the stored cells. Counts may be fractions, but not negative. A missing count
    in a dense table is skipped: in fitting, the column's rate is that of the present cells (exact
    for independent Poisson counts); in prediction, the present counts are multinomial given their
    sum. NaN in a sparse table is refused, since an absent cell there is a zero.

    References
    ----------
    McCallum and Nigam, "A comparison of event models for naive Bayes text classification", 1998.

    Examples
    --------
    >>> from novum.bayes import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 0], [1, 1], [0, 3]], ["a", "a", "b"])
    >>> np.exp(model.feature_log_prob_).round(4).tolist()
    [[0.6667, 0.3333], [0.2, 0.8]]
    >>> model.predict([[0, 1]]).tolist()
    ['b']
    """

    _sparse_allowed = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = COUNT_CONSTRAINTS

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    @property
    def class_log_prior_(self) -> Floats:
        return log_priors(self.class_prior_)

    @property
    def feature_count_(self) -> Floats:
        return self.statistics_.totals

    @property
    def feature_log_prob_(self) -> Floats:
        block: CountBlock = self._blocks[0]
        return block.weights.T

    @property
    def coef_(self) -> Floats:
        return self.feature_log_prob_

    @property
    def intercept_(self) -> Floats:
        return self.class_log_prior_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags

    def _reading(self, schema: Schema) -> Reading:  # noqa: ARG002
        return Reading(counted=None)

    def _given_priors(self) -> Any:
        return given_priors(self.class_prior, self.fit_prior)

    def _estimated_blocks(self, statistics: NaiveBayesStatistics) -> tuple[Any, ...]:
        n_columns = statistics.schema.n_columns
        expected = expected_totals(statistics.totals, statistics.missing, statistics.class_count)
        alpha = checked_alpha(self.alpha, self.force_alpha, n_columns)
        return (count_block(np.arange(n_columns), expected, statistics.class_count, alpha),)


# --- Shared by the count models -------------------------------------------------------------------


def checked_alpha(alpha: Any, force_alpha: bool, n_columns: int) -> Floats:
    """Pseudo-counts of shape (1,) or (n_columns,)."""
    found = np.atleast_1d(np.asarray(alpha, float))
    if np.ndim(alpha) > 0 and found.shape != (n_columns,):
        raise InputError(
            "When alpha is an array, it should contains `n_features`. "
            f"Got {found.size} elements instead of {n_columns}."
        )
    if not (np.isfinite(found) & (found >= 0)).all():
        raise InputError("All values in alpha must be greater than 0, or 0 for no smoothing.")
    if found.min() < _LEAST_ALPHA and not force_alpha:
        warnings.warn(
            f"alpha too small will result in numeric errors, setting alpha = {_LEAST_ALPHA:.1e}. "
            "Use `force_alpha=True` to keep alpha unchanged.",
            UserWarning,
            stacklevel=2,
        )
        return np.maximum(found, _LEAST_ALPHA)
    return found


def given_priors(class_prior: Any, fit_prior: bool) -> Any:
    """What the engine takes: given priors, "uniform", or None to learn them."""
    if class_prior is not None:
        return class_prior
    return None if fit_prior else "uniform"


def log_priors(priors: Floats) -> Floats:
    """Their logarithms; a class that never occurred has `-inf`."""
    with np.errstate(divide="ignore"):
        return np.log(priors)
