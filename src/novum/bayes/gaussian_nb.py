"""Gaussian naive Bayes: every column normal within every class, independently of the others.

    log P(k, x) = log P(k) - 1/2 sum_j [ log(2 pi v_kj) + (x_j - m_kj)^2 / v_kj ]

Mean and variance are those of the class's present cells. The least variance of a column is a part
of that column's own variance, so that the unit of one column has no effect on another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from novum.bayes.column_models import GaussianColumn
from novum.bayes.naive_bayes_engine import NaiveBayesModel
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics, Reading
from novum.core.learners import parameter
from novum.core.tables import Schema
from novum.distributions import GaussianBlock, by_class, pooled
from novum.numerics import Floats


class GaussianNB(NaiveBayesModel):
    """Gaussian naive Bayes with missing cells, removal of rows and exact folds.

    Maximizes `sum_i w_i log P(y_i, x_i)` over the means and variances of every column in every
    class, in closed form.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), optional
        Of the classes; learned by default.
    var_smoothing : float, optional
        scikit-learn's smoothing: this part of the largest variance of all columns is added to every
        variance. By default nothing is added; see Notes.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : arrays of shape (n_classes,)
    theta_, var_ : arrays of shape (n_classes, n_columns)
        Means and variances.
    epsilon_ : float
        What `var_smoothing` added to the variances.
    certificate_, statistics_, schema_
        As everywhere.

    Notes
    -----
    Costs `O(n d)`, one pass. Missing cells (NaN) are skipped in fitting and integrated out in
    prediction, both exactly. scikit-learn adds 1e-9 of the largest variance of any column to all
    variances, which drowns columns in small units. Here a variance is instead at least 1e-9 of the
    same column's variance over all rows, which only matters for a class of one row or with a
    constant column; with `var_smoothing=1e-9` the results are scikit-learn's. A class without a
    cell of a column takes the column's law over all classes. Weights count repetitions.

    References
    ----------
    Mitchell, Machine Learning, 2nd ed. draft chapter "Generative and discriminative classifiers".

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [3.0], [6.0], [8.0]], ["low", "low", "high", "high"])
    >>> model.theta_.ravel().tolist(), model.var_.ravel().tolist()
    ([7.0, 2.0], [1.0, 1.0])
    >>> model.predict([[4.0], [float("nan")]]).tolist()
    ['low', 'high']
    """

    priors: Any = parameter("array-like", None, default=None)
    var_smoothing: float | None = parameter(default=None, at_least=0)

    @property
    def invariances(self) -> tuple[str, ...]:
        """scikit-learn's smoothing ties the columns' units together."""
        units = ("column_scale",) if self.var_smoothing is None else ("common_scale",)
        return ("shift", "row_order", "duplication", *units)

    @property
    def theta_(self) -> Floats:
        return self._block.mean

    @property
    def var_(self) -> Floats:
        return self._block.variance

    @property
    def epsilon_(self) -> float:
        return _epsilon(self.statistics_, self.var_smoothing)

    @property
    def _block(self) -> GaussianBlock:
        block: GaussianBlock = self._blocks[0]
        return block

    def _reading(self, schema: Schema) -> Reading:  # noqa: ARG002
        return Reading()

    def _given_priors(self) -> Any:
        return self.priors

    def _refused_with_em(self) -> str:
        if not self.var_smoothing:
            return ""
        return "var_smoothing adds to the variances of largest likelihood; leave it at None"

    def _leaves_quickly(self) -> bool:
        # The smoothing depends on the variance of all rows.
        return not self.var_smoothing

    def _estimated_blocks(self, statistics: NaiveBayesStatistics) -> tuple[Any, ...]:
        columns = np.arange(statistics.schema.n_columns)
        floors = np.full(columns.size, GaussianColumn().variance_floor)
        block = GaussianBlock.estimate(columns, statistics, floors)
        if self.var_smoothing is None:
            return (block,)
        weight, _, scatter = by_class(statistics.moments, statistics.n_classes)
        present = weight > 0
        variance = scatter / np.where(present, weight, 1.0) + _epsilon(
            statistics, self.var_smoothing
        )
        usable = present & (variance > 0)
        return (replace(block, variance=np.where(usable, variance, block.variance)),)


def _epsilon(statistics: NaiveBayesStatistics, var_smoothing: float | None) -> float:
    if not var_smoothing:
        return 0.0
    variances = pooled(statistics.moments, statistics.n_classes).variance()
    return float(var_smoothing * np.nanmax(variances, initial=0.0))
