"""Mixtures of tables whose columns are of different kinds, each with a law of its own.

    p(x) = sum_k w_k prod_j p_kj(x_j)

    numeric   normal N(m_kj, v_kj)
    nominal   categorical, a probability for every level
    ordinal   binomial: code c of L levels has probability C(L-1, c) q^c (1-q)^(L-1-c)

Within a component columns are independent, so a missing cell simply drops out of the product: that
is its exact marginal. With nominal columns alone this is latent class analysis. EM has closed
forms; levels get a few expected counts in advance, in proportion to their share in the whole
table, so that no probability is zero; what is maximized is the likelihood times that prior.

References
----------
Lazarsfeld and Henry, Latent Structure Analysis, 1968. McLachlan and Peel, Finite Mixture Models,
2000, section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import special
from sklearn.utils.validation import check_is_fitted

from novum.clustering import KeptRows
from novum.core.errors import InputError
from novum.core.learners import count, fitted, parameter
from novum.core.runtime import RandomSource, stream
from novum.core.sums import Additive, Fitted, SumProblem
from novum.core.tables import Kind, Sample, Schema
from novum.mixture.gaussian_em import Units
from novum.mixture.gaussian_starts import first_groups
from novum.mixture.mixed_table import (
    LevelGroups,
    MixedTable,
    TableMixture,
    fewer_rows,
    level_starts,
    start_rows,
)
from novum.mixture.mixture_model import check_draws
from novum.mixture.row_blocks import calls, in_blocks
from novum.numerics import Floats, Integers, as_argument

# Terms of one call of the kernel: a tenth of a second.
_CALL_TERMS = 2**23


@dataclass(frozen=True, eq=False)
class MixedParameters:
    """Weights (K,), means and variances (K, p), log-probabilities of all levels (K, L)."""

    weights: Floats
    means: Floats
    variances: Floats
    levels: Floats


@dataclass(frozen=True, eq=False)
class MixedSums(Additive):
    """Expected sums of one pass; linear and square ones about the means of the parameters."""

    weight: Floats
    seen: Floats
    linear: Floats
    square: Floats
    counts: Floats
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Rows in standard units: numbers in blocks (`row_blocks`), codes of groups of columns."""

    numeric: Floats
    codes: Any
    weights: Floats


# --- EM -------------------------------------------------------------------------------------------


class MixedEM(SumProblem[MixedParameters, MixedSums]):
    """EM of a mixture of independent columns."""

    objective_name = "log-likelihood of the present cells, with prior counts of levels"
    direction = "maximize"
    is_extrapolated = True

    def __init__(
        self, schema: Schema, units: Units, offset: float, prior: Floats, floor: float, K: int
    ) -> None:
        self.schema, self.units, self.offset, self.prior = schema, units, offset, prior
        self.floor, self.K = floor, K
        self.starts, self.groups = level_starts(schema), LevelGroups.of(schema)
        kinds = [c.kind for c in schema.columns if c.kind is not Kind.NUMERIC]
        self.is_ordinal = [kind is Kind.ORDINAL for kind in kinds]
        self.begin: Callable[[np.random.Generator], MixedParameters]
        self.like: MixedParameters

    @classmethod
    def of(cls, table: MixedTable, floor: float, prior_count: float, K: int) -> MixedEM:
        """The problem of a table, of which the first pass is known."""
        columns, starts = table.columns, level_starts(table.schema)
        variance = columns.scatter / np.where(columns.weight > 0, columns.weight, 1.0)
        units = Units(columns.mean, np.sqrt(np.where(variance > 0, variance, 1.0)))
        prior = np.empty(starts[-1])
        for a, b in pairwise(starts):
            total = table.counts[a:b].sum()
            share = (table.counts[a:b] + 1.0 / max(b - a, 1)) / (total + 1.0)
            prior[a:b] = prior_count * share
        offset = float(columns.weight @ np.log(units.unit))
        return cls(table.schema, units, offset, prior, floor, K)

    def __getstate__(self) -> dict[str, Any]:
        """Without what starts are made of, which workers of a cluster do not need."""
        return {name: value for name, value in vars(self).items() if name != "begin"}

    def start(self, rng: np.random.Generator, /) -> MixedParameters:
        self.like = self.begin(rng)
        return self.like

    def log_units(self, sample: Sample) -> float:
        """What the log-likelihood of rows has more in standard units."""
        return self.units.log_units(sample)

    def prepared(self, sample: Sample) -> MixedRows:
        """Rows in standard units; those without any cell say nothing and are left out."""
        X = self.units.rows(np.asarray(sample.numeric))
        known = ~np.isnan(X).all(axis=1) | (sample.codes >= 0).any(axis=1)
        codes = self.groups.codes(sample.codes[known])
        return MixedRows(in_blocks(X[known]), codes, as_argument(sample.weights[known]))

    def step(self, params: MixedParameters, chunk: Sample | MixedRows, /) -> MixedSums:
        rows = self.prepared(chunk) if isinstance(chunk, Sample) else chunk
        K, p = params.means.shape
        weight, counts = np.zeros(K), np.zeros((K, self.groups.starts[-1]))
        seen, linear, square = np.zeros((K, p)), np.zeros((K, p)), np.zeros((K, p))
        tables = self.groups.tables(params.levels, self.starts)
        sums = [weight, seen, linear, square, counts]
        value = passed(params, tables, self.groups.starts, rows, None, sums)
        counts = self.groups.level_counts(counts, self.starts)
        return MixedSums(weight, seen, linear, square, counts, value)

    def log_joint(self, params: MixedParameters, sample: Sample) -> Floats:
        """`log w_k + log p_k(x)` of the present cells in the units of the table, (n, K)."""
        X = self.units.rows(np.asarray(sample.numeric))
        rows = MixedRows(in_blocks(X), self.groups.codes(sample.codes), np.ones(len(X)))
        joint = np.empty((len(X), len(params.weights)))
        tables = self.groups.tables(params.levels, self.starts)
        passed(params, tables, self.groups.starts, rows, joint, None)
        return joint - self.units.log_units_of_rows(X)[:, None]

    def log_prior(self, params: MixedParameters) -> float:
        """Of the levels; one without prior counts may be impossible, which costs nothing."""
        there = self.prior > 0
        return float((params.levels[:, there] @ self.prior[there]).sum())

    def anchored(self, sample: Sample) -> MixedEM:
        """The same problem: its prior counts are given."""
        del sample
        return self

    def objective(self, params: MixedParameters, statistics: MixedSums, /) -> float:
        return statistics.log_likelihood - self.offset + self.log_prior(params)

    def scale(self, params: MixedParameters, statistics: MixedSums, /) -> float:
        del params
        return float(statistics.weight.sum())

    def update(self, params: MixedParameters, statistics: MixedSums, /) -> MixedParameters:
        weights = statistics.weight / statistics.weight.sum()
        there = statistics.seen > 1e-12
        counts = np.where(there, statistics.seen, 1.0)
        away = np.where(there, statistics.linear / counts, 0.0)
        variances = np.maximum(statistics.square / counts - away**2, self.floor)
        variances = np.where(there, variances, params.variances)
        levels = self.likeliest_levels(statistics.counts)
        return MixedParameters(weights, params.means + away, variances, levels)

    def likeliest_levels(self, counts: Floats) -> Floats:
        """Log-probabilities of levels from expected counts and the prior."""
        levels = np.empty(counts.shape)
        together = counts + self.prior
        for j, is_ordinal in enumerate(self.is_ordinal):
            part = slice(self.starts[j], self.starts[j + 1])
            own = together[:, part]
            total = own.sum(axis=1, keepdims=True)
            # Without a count at all nothing is known of the column.
            share = np.where(total > 0, own, 1.0) / np.where(total > 0, total, own.shape[1])
            if is_ordinal:
                levels[:, part] = binomial_logs(share)
            else:
                with np.errstate(divide="ignore"):
                    levels[:, part] = np.log(share)
        return levels

    def residual(self, params: MixedParameters, statistics: MixedSums, /) -> float:
        """Largest change of a weight, mean, variance or probability by a further step."""
        after = self.update(params, statistics)
        pairs = [
            (after.weights, params.weights),
            (after.means, params.means),
            (after.variances, params.variances),
            (np.exp(after.levels), np.exp(params.levels)),
        ]
        return float(max(np.abs(a - b).max(initial=0.0) for a, b in pairs))

    def to_vector(self, params: MixedParameters, /) -> Floats:
        logs = np.log(np.maximum(params.weights, 1e-300))
        levels = np.maximum(params.levels, -300.0)
        parts = logs, params.means, np.log(params.variances), levels
        return np.concatenate([part.ravel() for part in parts])

    def from_vector(self, vector: Floats, /) -> MixedParameters | None:
        K, p = self.like.means.shape
        logs, means, spread, levels = np.split(vector, np.cumsum([K, K * p, K * p]))
        if np.abs(spread).max(initial=0.0) > 300 or np.abs(logs).max() > 700:
            return None
        weights = np.exp(logs - logs.max())
        table = levels.reshape(K, -1)
        shares = np.empty_like(table)
        for j in range(len(self.is_ordinal)):
            part = slice(self.starts[j], self.starts[j + 1])
            own = table[:, part]
            own = np.exp(own - own.max(axis=1, keepdims=True, initial=-np.inf))
            shares[:, part] = own / own.sum(axis=1, keepdims=True)
        logs_of = np.log(np.maximum(shares, 1e-300))
        for j, is_ordinal in enumerate(self.is_ordinal):
            if is_ordinal:
                part = slice(self.starts[j], self.starts[j + 1])
                logs_of[:, part] = binomial_logs(shares[:, part])
        variances = np.maximum(np.exp(spread).reshape(K, p), self.floor)
        return MixedParameters(weights / weights.sum(), means.reshape(K, p), variances, logs_of)


def binomial_logs(shares: Floats) -> Floats:
    """Log-probabilities of levels by the likeliest binomial law of observed shares (K, L).

    Examples
    --------
    >>> np.exp(binomial_logs(np.array([[0.25, 0.5, 0.25]]))).round(12).tolist()
    [[0.25, 0.5, 0.25]]
    """
    L = shares.shape[1]
    c = np.arange(L)
    q = (shares @ c) / max(L - 1, 1)
    ways = special.gammaln(L) - special.gammaln(c + 1) - special.gammaln(L - c)
    return ways + special.xlogy(c, q[:, None]) + special.xlog1py(L - 1 - c, -q[:, None])


def passed(
    params: MixedParameters,
    tables: Floats,
    starts: Integers,
    rows: MixedRows,
    joint: Floats | None,
    sums: list[Any] | None,
) -> float:
    """One pass over rows, which writes log joint densities or adds sums; the log-likelihood."""
    from novum.mixture.mixed_kernels import mixed_step

    (K, p), entries = params.means.shape, tables.shape[1]
    if sums is None:
        sums = [np.empty(0), *(np.empty((0, p)) for _ in range(3)), np.empty((0, entries))]
    with np.errstate(divide="ignore"):
        constants = np.log(params.weights)
    arrays = [as_argument(a) for a in (params.means, params.variances, tables)]
    most_rows = _CALL_TERMS / (K * (p + rows.codes.shape[1] + 1))
    value = 0.0
    for part, blocks in calls(len(rows.weights), most_rows):
        out = np.empty((0, K)) if joint is None else joint[part]
        cells = rows.numeric[blocks], rows.codes[part], rows.weights[part], starts
        value += float(mixed_step(*cells, constants, *arrays, out, *sums))
    return value


# --- The estimator --------------------------------------------------------------------------------


class MixedMixture(TableMixture):
    """Mixture for tables of numbers and categories, with missing cells.

    Parameters
    ----------
    reg_covar : float
        No variance is below this share of that of its column.
    prior_count : float
        Counts that every component and categorical column has in advance, in proportion to the
        levels' shares in the whole table; 0 is plain maximum likelihood.

    Attributes
    ----------
    weights_ : array (K,)
    means_, variances_ : array (K, number of numeric columns)
    units_ : array (2, number of numeric columns)
        Centers and units of the numbers, in which the fit saw them.
    level_prior_ : array
        Prior counts of all levels.
    level_probabilities_ : dict
        For every categorical column an array (K, levels), in the order of `schema_`.
    log_likelihood_, lower_bound_, converged_, n_iter_, n_components_, certificate_, choice_
        As of `GaussianMixture`.

    Notes
    -----
    O(n K columns) for each pass. Levels that training did not have count as missing.

    Examples
    --------
    >>> table = [[1.0, "red"], [1.2, "red"], [None, "red"], [7.0, "blue"], [7.3, None]]
    >>> model = MixedMixture(2, random_state=0).fit(table)
    >>> groups = model.predict(table)
    >>> bool(groups[0] == groups[1] == groups[2] != groups[3] == groups[4])
    True
    """

    invariances = ("shift", "column_scale", "row_order", "duplication")

    n_components: int | str = parameter(count(1), {"auto"}, default=1, kw_only=False)
    reg_covar: float = parameter(default=1e-6, above=0)

    means_: Floats = fitted()
    variances_: Floats = fitted()
    level_probabilities_: dict[str, Floats] = fitted()
    units_: Floats = fitted()
    level_prior_: Floats = fitted()

    def _problem(self, sums: MixedTable, n_components: int) -> MixedEM:
        sums.refuse_empty_columns()
        problem = MixedEM.of(sums, self.reg_covar, self.prior_count, n_components)
        problem.begin = partial(_first, problem, sums.kept, self.init_params)
        return problem

    def _store(self, problem: MixedEM, solution: Fitted[Any, Any]) -> None:
        params = solution.params
        order = np.argsort(-params.weights, kind="stable")
        weights = np.where(params.weights > 1e-12, params.weights, 0.0)
        self.weights_ = weights[order] / weights.sum()
        self.means_ = problem.units.center + params.means[order] * problem.units.unit
        self.variances_ = params.variances[order] * problem.units.unit**2
        names = [c.name for c in self.schema_.columns if c.kind is not Kind.NUMERIC]
        self.units_ = np.stack([problem.units.center, problem.units.unit])
        self.level_prior_ = problem.prior
        ends = problem.starts
        self.level_probabilities_ = {
            name: np.exp(params.levels[order][:, ends[j] : ends[j + 1]])
            for j, name in enumerate(names)
        }
        self.log_likelihood_ = solution.statistics.log_likelihood - problem.offset
        self.lower_bound_ = self.log_likelihood_ / float(solution.statistics.weight.sum())

    def _parameters_of_fit(self) -> MixedParameters:
        tables = list(self.level_probabilities_.values())
        with np.errstate(divide="ignore"):
            levels = np.log(np.hstack(tables)) if tables else np.empty((len(self.weights_), 0))
        return MixedParameters(self.weights_, self.means_, self.variances_, levels)

    def _fitted_problem(self) -> tuple[MixedEM, MixedParameters]:
        units, params = Units(*self.units_), self._parameters_of_fit()
        K = len(self.weights_)
        problem = MixedEM(self.schema_, units, 0.0, self.level_prior_, self.reg_covar, K)
        variances = params.variances / units.unit**2
        return problem, replace(params, means=units.rows(params.means), variances=variances)

    def _joint_of(self, sample: Sample) -> Floats:
        params, K = self._parameters_of_fit(), len(self.weights_)
        groups, starts = LevelGroups.of(self.schema_), level_starts(self.schema_)
        codes = groups.codes(sample.codes)
        rows = MixedRows(in_blocks(sample.numeric), codes, np.ones(sample.n_rows))
        joint = np.empty((sample.n_rows, K))
        passed(params, groups.tables(params.levels, starts), groups.starts, rows, joint, None)
        return joint

    @property
    def _n_free(self) -> int:
        K, p = self.means_.shape
        columns = [c for c in self.schema_.columns if c.kind is not Kind.NUMERIC]
        free = sum(1 if c.kind is Kind.ORDINAL else c.n_levels - 1 for c in columns)
        return K * (2 * p + free) + K - 1

    def sample(self, n_samples: int = 1, random_state: RandomSource = None) -> tuple[Any, Integers]:
        """Rows drawn from the law, as an array of numbers and levels, and their components."""
        check_is_fitted(self, "weights_")
        check_draws(n_samples)
        rng = stream(self.random_state if random_state is None else random_state)
        codes = rng.choice(len(self.weights_), int(n_samples), p=self.weights_)
        rows = np.empty((len(codes), self.schema_.n_columns), object)
        numbers = iter(range(self.means_.shape[1]))
        for j, column in enumerate(self.schema_.columns):
            if column.kind is Kind.NUMERIC:
                at = next(numbers)
                spread = np.sqrt(self.variances_[codes, at])
                rows[:, j] = self.means_[codes, at] + spread * rng.standard_normal(len(codes))
                continue
            ends = np.cumsum(self.level_probabilities_[column.name], axis=1)[codes]
            places = (rng.random(len(codes))[:, None] > ends[:, :-1]).sum(axis=1)
            rows[:, j] = [column.levels[place] for place in places]
        return rows, np.asarray(codes)

    def _check_state(self) -> None:
        K, p = np.shape(self.means_)
        kinds = [column.kind is Kind.NUMERIC for column in self.schema_.columns]
        columns = [c for c in self.schema_.columns if c.kind is not Kind.NUMERIC]
        shapes = {c.name: (K, c.n_levels) for c in columns}
        known = {name: np.shape(part) for name, part in self.level_probabilities_.items()}
        fits = np.shape(self.variances_) == (K, p) and np.shape(self.weights_) == (K,)
        if sum(kinds) != p or shapes != known or not fits:
            raise InputError("Weights, laws and schema of this mixture do not fit together.")


def _first(
    problem: MixedEM, kept: KeptRows, method: str, rng: np.random.Generator
) -> MixedParameters:
    """Parameters of first groups: numbers in standard units beside indicators of levels."""
    kept = fewer_rows(kept)
    p = len(problem.units.unit)
    X, codes = problem.units.rows(kept.rows[:, :p]), kept.rows[:, p:]
    rows = start_rows(X, codes, kept.weights, problem.starts, problem.is_ordinal)
    groups = first_groups(rows, kept, problem.K, method, rng)
    # Memberships are not sure yet: every component has a share of all rows.
    R = (0.8 * np.eye(problem.K)[groups] + 0.2 / problem.K) * kept.weights[:, None]
    seen = R.T @ ~np.isnan(X)
    counts = np.where(seen > 0, seen, 1.0)
    means = R.T @ np.nan_to_num(X) / counts
    squares = R.T @ np.nan_to_num(X) ** 2 / counts
    variances = np.maximum(squares - means**2, max(problem.floor, 1e-3))
    levels = np.zeros((problem.K, problem.starts[-1]))
    for j in range(len(problem.is_ordinal)):
        there = ~np.isnan(codes[:, j])
        own = codes[there, j].astype(np.int64)
        for k in range(problem.K):
            part = slice(problem.starts[j], problem.starts[j + 1])
            levels[k, part] = np.bincount(own, R[there, k], part.stop - part.start)
    weight = R.sum(axis=0)
    table = problem.likeliest_levels(levels)
    return MixedParameters(weight / weight.sum(), means, variances, table)
