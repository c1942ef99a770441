"""A Bayesian network as the density of mixed rows, and as a detector of unusual ones.

    log p(x) = log P(states of x) + sum over numeric columns of log p(x_j | its interval)

Numbers are cut at quantiles of the training rows into intervals, the states of their column; inside
an interval the density is even, and beyond the outermost cuts it falls exponentially, with the mean
excess of the training rows there. The network is the tree of Chow and Liu, the likeliest one, or
what a search finds; missing cells are summed over.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, Verdict, fitted, parameter
from novum.core.runtime import fitting
from novum.core.tables import UNSEEN, Sample, Schema, check_features, check_sample
from novum.graphical.learning.parameters import fit_parameters
from novum.graphical.learning.scores import BDeu
from novum.graphical.learning.search import learn_structure
from novum.graphical.learning.trees import ChowLiu
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.numerics import Floats, Positions


class NetworkDensity(OutlierMixin, Learner):
    """Unusual is what a Bayesian network of the columns gives a low density.

    Parameters
    ----------
    n_intervals : int
        Of a numeric column, with about as many training rows each.
    search : a search of `learn_structure`, or None
        None is `ChowLiu()`, the likeliest tree.
    equivalent_sample_size : float
        Rows that the even prior of the tables counts for.
    false_alarms : float
        Share of the training rows that the offset leaves beyond it.
    categorical_features : as for trees

    Attributes
    ----------
    network_ : BayesianNetwork or None
        Of the columns that differ between rows.
    cuts_ : list of arrays
        Of every numeric column.
    excess_ : list of pairs
        Mean excess below the first cut and above the last, of every numeric column.
    constants_ : list
        Code or number of the columns that do not differ, None for the others; numeric ones first.
    offset_ : float
        `decision_function = score_samples - offset_`.
    n_rows_, n_features_in_, feature_names_in_, schema_, certificate_

    Notes
    -----
    A cell with a level that training did not have, or that differs where all were alike, costs
    log(n + 1).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=300)
    >>> model = NetworkDensity().fit(np.c_[x, x + 0.3 * rng.normal(size=300)])
    >>> model.predict([[1.0, 1.0], [1.5, -1.5], [0.0, 9.0]]).tolist()
    [1, -1, -1]
    """

    invariances: ClassVar[tuple[str, ...]] = ("shift", "column_scale", "common_scale", "row_order")

    n_intervals: int = parameter(default=8, at_least=2)
    search: Any = parameter(default=None)
    equivalent_sample_size: float = parameter(default=10.0, above=0)
    false_alarms: float = parameter(default=0.05, above=0, below=1)
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    network_: BayesianNetwork | None = fitted()
    cuts_: list[Floats] = fitted()
    excess_: list[list[float]] = fitted()
    constants_: list[Any] = fitted()
    n_rows_: int = fitted()
    offset_: float = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cuts the numbers, learns graph and tables, and finds the offset.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Numbers and levels; cells may be missing.
        y : ignored
        """
        del y
        with fitting(self) as watch:
            sample = check_sample(self, X, None, target="none", allow_missing=True)
            if sample.n_rows < 2:
                raise InputError(
                    f"A density of rows needs at least 2 of them, got n_samples = {sample.n_rows}."
                )
            self.schema_, self.n_rows_ = sample.schema, sample.n_rows
            numbers = np.asarray(sample.numeric, np.float64)
            self.cuts_, self.excess_, self.constants_ = [], [], []
            for column in numbers.T:
                self._cut(column[~np.isnan(column)])
            for column in sample.codes.T:
                met = np.unique(column[column >= 0])
                self.constants_.append(None if met.size > 1 else int(met[0]) if met.size else -9)
            table = self._table(sample)[0]
            self.network_ = None
            if table:
                graph = learn_structure(table, search=self.search or ChowLiu()).dag
                self.network_ = fit_parameters(graph, table, BDeu(self.equivalent_sample_size))
            scores = self._scores(sample)
            self.offset_ = float(np.sort(scores)[int(self.false_alarms * len(scores))])
            self.certificate_ = Certificate(
                objective="log density of the training rows",
                verdict=Verdict.LOCAL,
                value=float(scores.sum()),
                details={"columns_in_network": len(table)},
                seconds=watch.seconds,
            )
        return self

    def _cut(self, present: Floats) -> None:
        """Cuts of one numeric column, and how far rows are beyond the outermost."""
        if present.size == 0 or np.ptp(present) == 0:
            self.cuts_.append(np.empty(0))
            self.excess_.append([1.0, 1.0])
            self.constants_.append(float(present[0]) if present.size else math.inf)
            return
        shares = np.arange(1, self.n_intervals) / self.n_intervals
        cuts = np.unique(np.quantile(present, shares, method="inverted_cdf"))
        # A cut with nothing above it cuts nothing off.
        cuts = cuts[cuts < present.max()]
        if cuts.size == 0:
            cuts = np.array([np.sort(present)[0]])
        below, above = cuts[0] - present[present <= cuts[0]], present[present > cuts[-1]] - cuts[-1]
        least = 1e-3 * float(np.ptp(present))
        self.cuts_.append(cuts)
        self.excess_.append([max(float(part.mean()), least) for part in (below, above)])
        self.constants_.append(None)

    def _table(self, sample: Sample) -> tuple[dict[str, Any], Floats]:
        """States of the columns that differ, by name, and the log densities besides; (n,)."""
        numbers, schema = np.asarray(sample.numeric, np.float64), self.schema_
        table: dict[str, Any] = {}
        besides = np.zeros(sample.n_rows)
        surprise = math.log(self.n_rows_ + 1.0)
        q = numbers.shape[1]
        for j, place in enumerate(schema.numeric):
            column, cuts, constant = numbers[:, j], self.cuts_[j], self.constants_[j]
            is_there = ~np.isnan(column)
            if constant is not None:
                besides -= surprise * (is_there & (column != constant) & np.isfinite(constant))
                continue
            state = np.searchsorted(cuts, column, side="left")
            table[schema.names[place]] = np.where(is_there, state.astype(str).astype(object), None)
            besides += np.where(is_there, self._inside(column, state, j), 0.0)
        for j, place in enumerate(schema.categorical):
            codes, constant = sample.codes[:, j], self.constants_[q + j]
            if constant is not None:
                odd = (codes == UNSEEN) | ((codes >= 0) & (codes != constant))
                besides -= surprise * (odd & (constant >= 0))
                continue
            texts = codes.astype(str).astype(object)
            name = schema.names[place]
            met = codes >= 0
            if getattr(self, "network_", None) is not None:
                states = set(self.network_[name].variable.states)  # type: ignore[index]
                met &= np.isin(texts, list(states))
            besides -= surprise * (~met & ((codes >= 0) | (codes == UNSEEN)))
            table[name] = np.where(met, texts, None)
        return table, besides

    def _inside(self, column: Floats, state: Any, j: int) -> Floats:
        """Log density of numbers within their intervals."""
        cuts, (below, above) = self.cuts_[j], self.excess_[j]
        widths = np.concatenate([[1.0], np.diff(cuts), [1.0]])
        logs = -np.log(widths)[state]
        logs = np.where(state == 0, -(cuts[0] - column) / below - math.log(below), logs)
        last = state == len(cuts)
        return np.where(last, -(column - cuts[-1]) / above - math.log(above), logs)

    def _scores(self, sample: Sample) -> Floats:
        table, scores = self._table(sample)
        if self.network_ is None:
            return scores
        return np.asarray(scores + self.network_.log_probabilities(table))

    def score_samples(self, X: Any) -> Floats:
        """Log density of every row, (n_rows,)."""
        check_is_fitted(self, "schema_")
        return self._scores(check_features(self, X, allow_missing=True))

    def decision_function(self, X: Any) -> Floats:
        """`score_samples(X) - offset_`: negative for unusual rows."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Positions:
        """-1 for unusual rows, 1 for the others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        q = len(self.schema_.numeric)
        fits = len(self.cuts_) == len(self.excess_) == q
        fits &= len(self.constants_) == self.schema_.n_columns
        if not fits or any(len(pair) != 2 or min(pair) <= 0 for pair in self.excess_):
            raise ModelFileError("Cuts and columns of the model do not fit together.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = self.categorical_features is not None
        return tags
