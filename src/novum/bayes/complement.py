"""Complement naive Bayes: weights of a class from the counts of all the other classes.

    q_kj = (N_j - N_kj + alpha_j) / sum_l (N_l - N_kl + alpha_l)
    score_k(x) = - sum_j x_j log q_kj,     or with weights divided by their sum (`norm`)

The other classes together have far more rows than a rare class, so its weights vary less. The
scores are not a probability law; they are normalized to posteriors as scikit-learn does.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from novum.bayes.discrete_blocks import CountBlock, expected_totals
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics
from novum.bayes.pseudo_counts import PSEUDO_COUNT_CONSTRAINTS, CountModel
from novum.core.errors import InputError
from novum.core.validation import Sample

Floats = NDArray[np.float64]


class ComplementNB(CountModel):
    """Complement naive Bayes on dense or sparse counts, for classes of unequal size.

    Parameters
    ----------
    alpha : float or array-like of shape (n_columns,), default=1.0
        Pseudo-count of each column.
    force_alpha : bool, default=True
        If false, an alpha below 1e-10 is raised to that, with a warning.
    fit_prior, class_prior
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
    _leave_one_out: Any = None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PSEUDO_COUNT_CONSTRAINTS,
        "norm": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    @property
    def feature_all_(self) -> Floats:
        return np.asarray(self.statistics_.totals.sum(axis=0))

    @property
    def intercept_(self) -> Floats:
        return np.zeros(len(self.classes_))

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
