"""Bernoulli naive Bayes: which events occur, such as which words a document has at all.

    log P(k, x) = log P(k) + sum_j [ x_j log p_kj + (1 - x_j) log(1 - p_kj) ],   x_j in {0, 1}
    p_kj = (N_kj + alpha) / (W_kj + 2 alpha)

`N_kj` is the weight of rows of class k where event j occurs, `W_kj` that of all rows where it is
known. Unlike in the multinomial model, an event that does not occur counts as well. The score is
linear in x: its weights are the log-odds of `p_kj`.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval

from novum.bayes.multinomial import PseudoCountModel
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics, Reading
from novum.core.errors import InputError
from novum.core.learners import parameter
from novum.core.tables import Sample, Schema
from novum.distributions import BernoulliBlock
from novum.numerics import Floats


class BernoulliNB(PseudoCountModel):
    """Bernoulli naive Bayes on dense or sparse occurrences.

    Parameters
    ----------
    alpha : float or array-like of shape (n_columns,), default=1.0
        Pseudo-count of either outcome: the parameter of a beta prior.
    binarize : float or None, default=0.0
        A cell occurs if it is larger; None says that all cells are 0 or 1 already.

    Attributes
    ----------
    classes_, class_count_, class_prior_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_columns)
    coef_, intercept_ : arrays of shape (n_classes, n_columns) and (n_classes,)
        The log-linear weights: log-odds, and the score of a row without any event.
    certificate_, statistics_, schema_
        As everywhere.

    Notes
    -----
    Costs one pass over the stored cells. Missing cells of a dense table are skipped in fitting and
    integrated out in prediction, exactly; NaN in a sparse table is refused.

    References
    ----------
    McCallum and Nigam, "A comparison of event models for naive Bayes text classification", 1998.

    Examples
    --------
    >>> from novum.bayes import BernoulliNB
    >>> model = BernoulliNB().fit([[1], [1], [1], [0]], ["a", "a", "a", "b"])
    >>> np.exp(model.feature_log_prob_).round(12).ravel().tolist() == [4 / 5, round(1 / 3, 12)]
    True
    """

    _sparse_allowed = True
    binarize: float | None = parameter(Interval(Real, None, None, closed="neither"), default=0.0)

    @property
    def feature_count_(self) -> Floats:
        return self.statistics_.totals

    @property
    def feature_log_prob_(self) -> Floats:
        return self._block.log_one.T

    @property
    def coef_(self) -> Floats:
        return (self._block.log_one - self._block.log_zero).T

    @property
    def intercept_(self) -> Floats:
        return self.class_log_prior_ + self._block.log_zero.sum(axis=0)

    @property
    def _block(self) -> BernoulliBlock:
        block: BernoulliBlock = self._blocks[0]
        return block

    def _reading(self, schema: Schema) -> Reading:  # noqa: ARG002
        return Reading(counted=None, thresholds=(self._threshold(),))

    def _threshold(self) -> float:
        return 0.0 if self.binarize is None else float(self.binarize)

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:
        sample = super()._read(X, y, sample_weight, schema)
        self._refuse_other_than_binary(sample)
        return sample

    def _features(self, X: Any) -> Sample:
        sample = super()._features(X)
        self._refuse_other_than_binary(sample)
        return sample

    def _refuse_other_than_binary(self, sample: Sample) -> None:
        if self.binarize is not None:
            return
        cells = sample.numeric.data if sparse.issparse(sample.numeric) else sample.numeric
        wrong = cells[~((cells == 0) | (cells == 1) | np.isnan(cells))]
        if wrong.size:
            raise InputError(
                f"binarize=None says that all cells are 0 or 1, but {wrong.size} are not, such as "
                f"{wrong.flat[0]}. Give a threshold, such as binarize=0.0."
            )

    def _estimated_blocks(self, statistics: NaiveBayesStatistics) -> tuple[Any, ...]:
        n_columns = statistics.schema.n_columns
        thresholds, alpha = np.array([self._threshold()]), self._checked_alpha(n_columns)
        return (BernoulliBlock.estimate(np.arange(n_columns), statistics, thresholds, alpha),)
