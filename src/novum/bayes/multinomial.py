"""Multinomial naive Bayes: counts of events, such as words, drawn with class-wise probabilities.

    log P(k, x) = log P(k) + sum_j x_j log t_kj,   t_kj = (N_kj + alpha_j) / sum_l (N_kl + alpha_l)

`N_kj` is the total count of column j in class k. The score of a class is linear in the counts:
its weights are `log t_kj` and its constant is `log P(k)`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novum.bayes.discrete_blocks import count_block, expected_totals
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics
from novum.bayes.pseudo_counts import PSEUDO_COUNT_CONSTRAINTS, CountModel

Floats = NDArray[np.float64]


class MultinomialNB(CountModel):
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PSEUDO_COUNT_CONSTRAINTS

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
    def intercept_(self) -> Floats:
        return self.class_log_prior_

    def _estimated_blocks(self, statistics: NaiveBayesStatistics) -> tuple[Any, ...]:
        n_columns = statistics.schema.n_columns
        expected = expected_totals(statistics.totals, statistics.missing, statistics.class_count)
        alpha = self._checked_alpha(n_columns)
        return (count_block(np.arange(n_columns), expected, statistics.class_count, alpha),)
