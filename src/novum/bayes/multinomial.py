"""Naive Bayes of counts: pseudo-counts, the multinomial model and its complement.

    multinomial   log P(k, x) = log P(k) + sum_j x_j log t_kj
                  t_kj = (N_kj + alpha_j) / sum_l (N_kl + alpha_l)
    complement    score_k(x) = -sum_j x_j log q_kj,   or with weights divided by their sum (`norm`)
                  q_kj = (N_j - N_kj + alpha_j) / sum_l (N_l - N_kl + alpha_l)

`N_kj` is the total count of column j in class k, `N_j` that in all classes. `alpha` is added to
every count before shares are taken; it is the parameter of a Dirichlet prior. Both scores are
linear in the counts. The other classes together have far more rows than a rare class, so the
complement's weights vary less; its scores are no probability law and are normalized to posteriors
as scikit-learn does.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from novum.bayes.naive_bayes_engine import NaiveBayesModel
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics, Reading
from novum.core.errors import InputError
from novum.core.learners import parameter
from novum.core.tables import Sample, Schema
from novum.distributions import CountBlock, expected_totals
from novum.numerics import Floats

# scikit-learn's least alpha where `force_alpha` is off.
_LEAST_ALPHA = 1e-10


class PseudoCountModel(NaiveBayesModel):
    """Shared priors and smoothing; see `MultinomialNB`, `BernoulliNB` and `CategoricalNB`.

    Parameters
    ----------
    alpha : float or array-like of shape (n_columns,)
        Pseudo-count of each column.
    force_alpha : bool
        If false, an alpha below 1e-10 is raised to that, with a warning.
    fit_prior : bool
        Whether the class priors are learned; equal otherwise.
    class_prior : array-like of shape (n_classes,), optional
        Given priors.
    """

    alpha: Any = parameter(Interval(Real, 0, None, closed="left"), "array-like", default=1.0)
    force_alpha: bool = parameter(default=True)
    fit_prior: bool = parameter(default=True)
    class_prior: Any = parameter("array-like", None, default=None)

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
        alpha = np.atleast_1d(np.asarray(self.alpha, float))
        if np.ndim(self.alpha) > 0 and alpha.shape != (n_columns,):
            raise InputError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {alpha.size} elements instead of {n_columns}."
            )
        if not (np.isfinite(alpha) & (alpha >= 0)).all():
            raise InputError("All values in alpha must be greater than 0, or 0 for no smoothing.")
        if alpha.min() < _LEAST_ALPHA and not self.force_alpha:
            warnings.warn(
                "alpha too small will result in numeric errors, setting alpha = "
                f"{_LEAST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged.",
                UserWarning,
                stacklevel=2,
            )
            return np.maximum(alpha, _LEAST_ALPHA)
        return alpha


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


class MultinomialNB(CountModel):
    """Multinomial naive Bayes on dense or sparse counts.

    Parameters
    ----------
    alpha : float or array-like of shape (n_columns,), default=1.0
        Pseudo-count of each column: the parameter of a Dirichlet prior.

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

    @property
    def intercept_(self) -> Floats:
        return self.class_log_prior_

    def _estimated_blocks(self, statistics: NaiveBayesStatistics) -> tuple[Any, ...]:
        n_columns = statistics.schema.n_columns
        alpha = self._checked_alpha(n_columns)
        return (CountBlock.estimate(np.arange(n_columns), statistics, alpha),)


class ComplementNB(CountModel):
    """Complement naive Bayes on dense or sparse counts, for classes of unequal size.

    Parameters
    ----------
    alpha : float or array-like of shape (n_columns,), default=1.0
        Pseudo-count of each column.
    fit_prior, class_prior : bool, array-like
        As in `MultinomialNB`; used only if there is one class, as in scikit-learn.
    norm : bool, default=False
        Whether the weights of each class are divided by their sum.

    Attributes
    ----------
    classes_, class_count_, class_prior_, class_log_prior_ : arrays of shape (n_classes,)
    feature_all_ : array of shape (n_columns,)
        Totals over all classes.
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_columns)
        Totals, and the weights of the score.
    coef_, intercept_ : arrays of shape (n_classes, n_columns) and (n_classes,)
        The same weights, and zeros.
    certificate_, statistics_, schema_
        As everywhere.

    Notes
    -----
    The scores are no logarithms of probabilities: a missing count adds nothing to them, there are
    no rows to draw, and `at(point)` re-targets their normalized form.

    References
    ----------
    Rennie, Shih, Teevan and Karger, "Tackling the poor assumptions of naive Bayes text
    classifiers", 2003.

    Examples
    --------
    >>> from novum.bayes import ComplementNB
    >>> model = ComplementNB().fit([[2, 0], [1, 1], [0, 3]], ["a", "a", "b"])
    >>> np.exp(-model.feature_log_prob_).round(4).tolist()
    [[0.2, 0.8], [0.6667, 0.3333]]
    """

    # A row is in the complement of every other class, so leaving it out changes all scores.
    _leave_one_out: ClassVar[Any] = None
    norm: bool = parameter(default=False)

    @property
    def feature_all_(self) -> Floats:
        return np.asarray(self.statistics_.totals.sum(axis=0))

    @property
    def intercept_(self) -> Floats:
        return np.zeros(len(self.classes_))

    def _refused_with_em(self) -> str:
        return "the complement's scores are no law of the rows; use MultinomialNB"

    def sample(self, n: int, label: Any = None, random_state: Any = None) -> Any:  # noqa: ARG002
        """Refused: the complement's scores are no law to draw from."""
        check_is_fitted(self)
        raise InputError("ComplementNB has scores, no law to draw from. Use MultinomialNB.")

    def _joint(self, sample: Sample, relative: bool = False) -> Floats:  # noqa: ARG002
        scores = self._log_likelihood(sample)
        # A class that was declared but never met has every row as its complement, and no claim.
        return np.where(self.class_count_ > 0, scores, -np.inf)

    def _estimated_blocks(self, statistics: NaiveBayesStatistics) -> tuple[Any, ...]:
        n_columns = statistics.schema.n_columns
        totals = expected_totals(statistics.totals, statistics.missing, statistics.class_count)
        alpha = self._checked_alpha(n_columns)
        complement = np.maximum(totals.sum(axis=0) - totals, 0.0) + alpha
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(complement) - np.log(complement.sum(axis=1, keepdims=True))
            weights = logs / logs.sum(axis=1, keepdims=True) if self.norm else -logs
        # A column that no other class has outweighs all others, but must not make inf - inf.
        weights = np.where(np.isfinite(weights), weights, np.finfo(float).max / 1e100)
        # With one class and no smoothing the complement is empty and says nothing.
        weights = np.where(complement.sum(axis=1, keepdims=True) > 0, weights, 0.0)
        length = totals.sum(axis=1) / np.maximum(statistics.class_count, np.finfo(float).tiny)
        columns = np.arange(n_columns)
        block = CountBlock(
            columns, np.ascontiguousarray(weights.T), length, alpha, normalized=False
        )
        return (block,)
