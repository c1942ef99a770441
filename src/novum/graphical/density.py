"""The joint distribution of a table's rows as a network that is learned from it.

    log p(x) = sum over nodes of  log P(state | states of parents) + log density inside its interval

Structure by score, tables by counts, or by EM where cells are missing (`novum.graphical.learning`);
numbers inside their intervals by `novum.graphical.interval_laws`. A row is unusual where its
density is small. Of a missing cell the expected value counts: the score of a row is

    E[ log p(known cells, missing cells) | known cells ],

so that rows with many and with few gaps are comparable, and a row of which nothing is known is an
average one. A level that training did not have is missing to the others, and costs what Laplace's
rule still allows for it: log(rows + levels + 1).

How often an ordinary row is called novel is judged by the training rows, each left out of the
tables: its counts are taken away, which is exact for rows without gaps and one step of EM for
others. The structure is that of all rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Certificate,
    Learner,
    NoveltyMixin,
    fitted,
    parameter,
    share_line,
)
from novum.core.runtime import RandomSource, check_cancelled, fit_context, fitting, stream
from novum.core.tables import (
    MISSING,
    UNSEEN,
    Kind,
    Sample,
    Schema,
    as_table,
    check_features,
    check_sample,
    output_library,
    with_levels,
    with_numbers,
)
from novum.core.text import listed
from novum.graphical.inference.batches import batch_log_evidence, batch_marginals
from novum.graphical.inference.explanation import most_probable_codes
from novum.graphical.interval_laws import NumberStates
from novum.graphical.learning.coded_table import CodedTable, coded_sample, known_columns
from novum.graphical.learning.constraints import Constraints
from novum.graphical.learning.discretization import (
    ByScore,
    Discretization,
    EqualFrequency,
    check_discretization,
)
from novum.graphical.learning.expectation import RowFamilies, drawn_rows, fit_expectation
from novum.graphical.learning.expectation_kernels import add_expected
from novum.graphical.learning.parameters import MEstimate, TablePrior, family_counts, pseudo_counts
from novum.graphical.learning.scores import Criterion
from novum.graphical.learning.search import Search, learn_structure
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.naive_network import (
    ColumnStates,
    check_column_states,
    state_codes,
    states_of_columns,
)
from novum.numerics import Floats, Integers


class BayesianNetworkDensity(NoveltyMixin, Learner):
    """The distribution of rows as a learned network: novel rows, and missing cells filled.

    Parameters
    ----------
    criterion : Criterion, optional
        What the structure maximizes; `BIC()` by default.
    search : Search, optional
        As in `learn_structure`.
    constraints : Constraints, optional
    prior : TablePrior, optional
        Of the tables; `MEstimate(1.0)` by default, so that nothing is impossible.
    numbers : {"frequency", "score"} or a value, default="frequency"
        How columns of numbers become intervals: with about as many rows each
        (`EqualFrequency(6)`); by the score of the graph, in turns with the search (`ByScore()`);
        or where one of the columns changes (`MinimumDescription(column)`), those that say nothing
        of it by frequency.
    false_alarms : float, default=0.05
        Share of the training rows that the offset leaves beyond it, each left out of the tables.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"

    Attributes
    ----------
    network_ : BayesianNetwork
        Of the columns that have any present cell.
    offset_ : float
        `decision_function = score_samples - offset_`.
    training_scores_ : array (n_rows,)
        Of the training rows, each left out.
    false_alarm_rate_ : float
        Share of the training rows beyond the offset.
    false_alarm_interval_ : list of two floats
        Holds the rate for new ordinary rows with 95 % confidence.
    column_states_ : tuple of ColumnStates or None
        How cells became states; None of a column without any present cell.
    certificate_, schema_, n_features_in_, feature_names_in_
        As everywhere; the certificate is that of the structure.

    Notes
    -----
    Cells are taken as missing at random, given what is known of their row. Scores of numbers are
    densities, in one over the units of their columns.

    Examples
    --------
    >>> rain = ["no"] * 50 + ["yes"] * 50
    >>> rows = np.array([rain, ["dry"] * 49 + ["wet"] * 51], dtype=object).T
    >>> model = BayesianNetworkDensity().fit(rows)
    >>> model.predict([["yes", "wet"], ["yes", "dry"]]).tolist()
    [1, -1]
    >>> model.impute(np.array([["no", None]], dtype=object)).tolist()
    [['no', 'dry']]
    """

    invariances: Any = ("row_order", "duplication")

    criterion: Any = parameter(Criterion, None, default=None, kw_only=False)
    search: Any = parameter(Search, None, default=None)
    constraints: Any = parameter(Constraints, None, default=None)
    prior: Any = parameter(object, default=None)
    numbers: Any = parameter(object, default="frequency")
    false_alarms: float = parameter(default=0.05, above=0, below=1)
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    network_: BayesianNetwork = fitted()
    column_states_: Any = fitted()
    number_states_: Any = fitted()
    n_present_: Floats = fitted()
    training_scores_: Floats = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns structure and tables, and finds the offset.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Numbers and levels; cells may be missing.
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        """
        del y
        with fitting(self):
            sample = check_sample(self, X, None, sample_weight, target="none", allow_missing=True)
            if sample.n_rows < 2:
                raise InputError(
                    "BayesianNetworkDensity needs at least 2 rows to learn what goes together, "
                    f"got {sample.n_rows} sample."
                )
            rule = check_discretization(self.numbers)
            numbers: Discretization = _CutOnce(rule)
            if isinstance(rule, ByScore):
                numbers = replace(rule, start=_CutOnce(rule.start))
            learned = learn_structure(
                self._table(sample), self.criterion, self.search, self.constraints, numbers=numbers
            )
            table = learned.table
            states = states_of_columns(table, sample.schema)
            self.schema_, self.column_states_ = sample.schema, states
            self.number_states_ = self._number_states(states, sample)
            present = table.codes >= 0
            self.n_present_ = (present * sample.weights).sum(axis=1)
            prior: TablePrior = MEstimate(1.0) if self.prior is None else self.prior
            counts = (
                fit_expectation(learned.dag, table, prior).counts
                if table.has_missing
                else family_counts(learned.dag, table)
            )
            self.network_, self.certificate_ = counts.network(prior), learned.certificate
            cells = counts.counts + pseudo_counts(prior, counts.shapes, table.names)
            self.training_scores_ = self._scores(sample, left_out=cells)
            self.offset_ = share_line(self.training_scores_, self.false_alarms, sample.weights)
            self._judge_line(self.training_scores_, sample.weights)
        return self

    def _table(self, sample: Sample) -> CodedTable:
        """The columns with any known cell, numbers as they are."""
        table = known_columns(coded_sample(sample), sample.schema)
        names = [name for name in sample.schema.names if name not in table.names]
        if not table.n_variables:
            raise InputError(
                "Every cell of the table is missing, so there is nothing to learn from. Give rows "
                "with known cells."
            )
        if names:
            warnings.warn(
                f"Nothing is known of {listed(names)}: every cell is missing. The network is that "
                "of the other columns.",
                UserWarning,
                stacklevel=4,
            )
        return table

    def _number_states(
        self, states: tuple[ColumnStates | None, ...], sample: Sample
    ) -> tuple[NumberStates | None, ...]:
        return tuple(
            None if item.cuts is None else NumberStates.of(item, cells, sample.weights)
            for item, cells in self._node_cells(states, sample)
        )

    def _node_cells(
        self, states: tuple[ColumnStates | None, ...], sample: Sample
    ) -> list[tuple[ColumnStates, Any]]:
        """The cells of each node: numbers, or codes of levels."""
        numbers, levels = iter(sample.numeric.T), iter(sample.codes.T)
        cells = [
            next(numbers if column.kind is Kind.NUMERIC else levels)
            for column in sample.schema.columns
        ]
        return [(item, own) for item, own in zip(states, cells, strict=True) if item is not None]

    # Scores

    def score_samples(self, X: Any) -> Floats:
        """The log density of each row, its missing cells expected; (n_rows,)."""
        return self._scores(self._rows(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the known cells, missing ones summed over."""
        del y
        sample = self._rows(X)
        logs = batch_log_evidence(self.network_.arrays, self._codes(sample))
        return float(np.mean(logs + self._inside(sample)))

    def _rows(self, X: Any) -> Sample:
        check_is_fitted(self)
        return check_features(self, X, allow_missing=True, tell_unseen=False)

    def _codes(self, sample: Sample) -> Integers:
        codes = state_codes(self.column_states_, sample)
        for node, strange in enumerate(self._strange(sample)):
            codes[strange, node] = -1
        return codes

    def _strange(self, sample: Sample) -> list[Any]:
        """Cells of each node that training has not seen the like of."""
        return [
            cells == UNSEEN if numbers is None else numbers.strange(cells)
            for numbers, (_, cells) in zip(
                self.number_states_, self._node_cells(self.column_states_, sample), strict=True
            )
        ]

    def _inside(self, sample: Sample) -> Floats:
        """What numbers inside their intervals, and cells that are no states, add to a score."""
        logs, codes = np.zeros(sample.n_rows), self._codes(sample)
        nodes = self._node_cells(self.column_states_, sample)
        strange = self._strange(sample)
        for node, (item, cells) in enumerate(nodes):
            numbers = self.number_states_[node]
            if numbers is not None:
                logs += numbers.log_density(cells, codes[:, node])
            levels = len(item.axis.states)
            logs -= strange[node] * np.log(self.n_present_[node] + levels + 1.0)
        return logs

    def _scores(self, sample: Sample, left_out: Floats | None = None) -> Floats:
        """Scores of rows; of training rows, whose counts are given, each without its own part."""
        codes = self._codes(sample).astype(np.int32)
        rows, inverse = np.unique(codes, axis=0, return_inverse=True)
        weights = np.bincount(inverse.ravel(), sample.weights, len(rows))
        inside = [
            np.zeros(len(axis.states)) if numbers is None else numbers.expected_log_density
            for axis, numbers in zip(self.network_.variables, self.number_states_, strict=True)
        ]
        scores = _row_scores(self.network_, rows, inside, left_out, np.minimum(weights, 1.0))
        return np.asarray(scores[inverse.ravel()] + self._inside(sample))

    # Missing cells

    def impute(
        self,
        X: Any,
        method: str = "most_probable",
        *,
        draws: int | None = None,
        random_state: RandomSource = None,
    ) -> Any:
        """The rows with their missing cells filled from what the network says given the others.

        Parameters
        ----------
        X : table
            Cells that are present stay as they are.
        method : {"most_probable", "expected"}
            The most probable states of all missing cells of a row together; or of each cell its
            expected number, and its most probable level. A number is the mean of its interval.
        draws : int, optional
            So many tables in place of one, each with missing cells drawn from their joint
            distribution given the known cells of their row.
        random_state : None, int or generator
            For draws.

        Returns
        -------
        table of the kind of `X`, or a list of them with `draws`
            Columns of which training knew no cell keep their gaps.
        """
        if method not in ("most_probable", "expected"):
            raise InputError(f"method is 'most_probable' or 'expected', got {method!r}.")
        if draws is not None and (isinstance(draws, bool) or int(draws) != draws or draws < 1):
            raise InputError(f"draws is a number of tables of at least 1, got {draws!r}.")
        sample = self._rows(X)
        codes = self._codes(sample)
        if draws is None:
            if method == "expected":
                return self._filled(X, sample, *self._expected_cells(codes))
            return self._filled(X, sample, self._most_probable(codes))
        tables = []
        table = CodedTable(self.network_.variables, np.ascontiguousarray(codes.T.astype(np.int32)))
        for number in range(int(draws)):
            rng = stream(random_state, "cells", number)
            drawn = drawn_rows(self.network_, table, 1, rng).codes.T.astype(np.int64)
            numbers = [
                None if own is None else own.drawn(drawn[:, node], rng)
                for node, own in enumerate(self.number_states_)
            ]
            tables.append(self._filled(X, sample, drawn, numbers))
        return tables

    def _most_probable(self, codes: Integers) -> Integers:
        rows, inverse = np.unique(codes, axis=0, return_inverse=True)
        filled = rows.copy()
        for place in np.flatnonzero((rows < 0).any(axis=1)).tolist():
            check_cancelled()
            evidence = Evidence(rows[place].astype(np.int64))
            filled[place] = most_probable_codes(self.network_.arrays, evidence)[0][0]
        return filled[inverse.ravel()]

    def _expected_cells(self, codes: Integers) -> tuple[Integers, list[Floats | None]]:
        d = codes.shape[1]
        chances = batch_marginals(self.network_.arrays, codes.astype(np.int64), range(d))
        best = np.stack([table.argmax(axis=1) for table in chances], axis=1)
        numbers = [
            None if own is None else table @ own.means
            for own, table in zip(self.number_states_, chances, strict=True)
        ]
        return best, numbers

    def _filled(
        self, X: Any, sample: Sample, codes: Integers, numbers: list[Floats | None] | None = None
    ) -> Any:
        """The table with states, or numbers, in its missing cells."""
        schema = self.schema_
        cells = sample.numeric.copy()
        nodes = {name: node for node, name in enumerate(self.network_.names)}
        for j, i in enumerate(schema.numeric):
            node = nodes.get(schema.names[i])
            if node is not None:
                own = numbers[node] if numbers is not None else None
                values = self.number_states_[node].means[codes[:, node]] if own is None else own
                gone = np.isnan(cells[:, j])
                cells[gone, j] = values[gone]
        out = with_numbers(as_table(X), schema, cells, output_library(self))
        for j, i in enumerate(schema.categorical):
            node = nodes.get(schema.names[i])
            if node is not None:
                gone = sample.codes[:, j] == MISSING
                for state in np.unique(codes[gone, node]).tolist():
                    level = self.network_.variables[node].states[state]
                    out = with_levels(out, {int(i): (gone & (codes[:, node] == state), level)})
        return out

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        if not isinstance(self.network_, BayesianNetwork):
            raise ModelFileError("The model has no network.")
        check_column_states(self.column_states_, self.schema_)
        axes = tuple(item.axis for item in self.column_states_ if item is not None)
        if self.network_.variables != axes:
            raise ModelFileError("The model's columns are not the nodes of its network.")
        fits = len(self.number_states_) == len(axes) == len(self.n_present_)
        for axis, numbers in zip(axes, self.number_states_, strict=False):
            if numbers is not None:
                size = len(axis.states)
                fits = fits and numbers.means.shape == (size,) and numbers.cuts.shape == (size - 1,)
                fits = fits and numbers.scales.shape in ((size,), (0,))
        if not fits or self.n_features_in_ != len(self.schema_.names):
            raise ModelFileError("The model's numbers do not belong to its columns.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


@dataclass(frozen=True)
class _CutOnce(Discretization):
    """A rule whose intervals end somewhere, so that their numbers have a density."""

    rule: Discretization

    def states(self, table: CodedTable, place: int) -> ColumnStates:
        item = self.rule.states(table, place)
        if item.cuts is not None and not item.cuts.size:
            return EqualFrequency().states(table, place)
        return item


def _row_scores(
    network: BayesianNetwork,
    rows: Any,
    inside: list[Floats],
    cells: Floats | None,
    leaving: Floats,
) -> Floats:
    """E[log p(row) | known cells] of different rows.

    `inside` is what a missing number adds in each state of its node. With the counts `cells` of all
    families, pseudo-counts among them, so much of each row as `leaving` says is taken out first.
    """
    families = RowFamilies(CodedTable(network.variables, rows[:0].T), network.graph.parents)
    families.rows, families.weights = rows, np.ones(len(rows))
    starts, members, strides, firsts, cards = families.families
    tables = np.concatenate([item.table.ravel() for item in network.conditionals])
    sums = None
    if cells is not None:
        ends = [*firsts.tolist(), len(cells)]
        sums = np.concatenate(
            [
                np.repeat(cells[a:b].reshape(-1, card).sum(axis=1), card)
                for a, b, card in zip(ends[:-1], ends[1:], cards.tolist(), strict=True)
            ]
        )
    scores, complete = np.zeros(len(rows)), (rows >= 0).all(axis=1)
    known, left = rows[complete].astype(np.int64), leaving[complete]
    with np.errstate(divide="ignore"):
        for node in range(len(cards)):
            own = slice(starts[node], starts[node + 1])
            places = firsts[node] + known[:, members[own]] @ strides[own]
            if cells is None or sums is None:
                scores[complete] += np.log(tables[places])
            else:
                # Rounding may leave less than nothing of a cell that held this row alone.
                rest = np.maximum(cells[places] - left, 0.0)
                scores[complete] += np.log(rest) - np.log(np.maximum(sums[places] - left, 0.0))
    logs = np.empty(len(rows))
    for row in np.flatnonzero(~complete).tolist():
        used = tables
        counts = _expected_counts(families, used, row, logs)
        if cells is not None:
            used = families.normalized(np.maximum(cells - leaving[row] * counts, 0.0))
            counts = _expected_counts(families, used, row, logs)
        seen = counts > 0
        scores[row] = float(counts[seen] @ np.log(used[seen]))
        for node in np.flatnonzero(rows[row] < 0).tolist():
            begin = int(firsts[node])
            own_cells = counts[begin : begin + network.conditionals[node].table.size]
            scores[row] += float(own_cells.reshape(-1, cards[node]).sum(axis=0) @ inside[node])
    return np.where(np.isnan(scores), -np.inf, scores)


def _expected_counts(families: RowFamilies, tables: Floats, row: int, logs: Floats) -> Floats:
    """The posterior of every family in one row."""
    counts = np.zeros(families.n_cells)
    add_expected(
        families.families, tables, families.rows, families.weights, row, row + 1, counts, logs
    )
    if np.isnan(logs[row]):
        families.add_by_trees(tables, np.array([row]), counts, logs)
    return counts
