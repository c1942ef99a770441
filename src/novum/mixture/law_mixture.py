"""Mixtures of any law of `novum.distributions`, for whole rows or column by column.

    p(x) = sum_k w_k p_k(x)                    one law of vectors for all columns
    p(x) = sum_k w_k prod_j p_kj(x_j)          a law for each column

Laws of numbers and labels make columns independent within a component, so that a missing cell drops
out of the product, which is its exact marginal. `Bernoulli` and `Categorical` columns make latent
classes, `Poisson` ones groups of counts; `MultivariateStudentT` groups that outliers do not move,
`LowRankNormal` groups with directions of their own (mixtures of probabilistic PCA). The climb is
that of `distributions.mixture`: it asks a law for nothing but sums that add.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import count, fitted, parameter
from novum.core.runtime import RandomSource
from novum.core.sums import Fitted
from novum.core.tables import Kind, Sample, Schema
from novum.distributions import (
    Bernoulli,
    Categorical,
    Component,
    LawEM,
    MixtureLaw,
    Multinomial,
    MultinomialShares,
    MultivariateBernoulli,
    MultivariateNormal,
    MultivariateStudentT,
    Normal,
    ProductLaw,
    StudentT,
    first_mixture,
)
from novum.mixture.gaussian_starts import first_groups
from novum.mixture.mixed_table import (
    MixedTable,
    TableMixture,
    fewer_rows,
    level_starts,
    start_rows,
)
from novum.mixture.mixture_model import check_draws
from novum.numerics import Floats, Integers

_OF_COUNTS = (Multinomial, MultinomialShares)
_LOCATED = (Normal, StudentT, MultivariateNormal, MultivariateStudentT)


class TableEM(LawEM):
    """The climb over samples; categories are codes, after the numbers."""

    is_extrapolated = False

    is_anchored = False

    def __getstate__(self) -> dict[str, Any]:
        """Without what starts are made of, which workers of a cluster do not need."""
        return {name: value for name, value in vars(self).items() if name != "begin"}

    def log_units(self, sample: Sample) -> float:
        """Rows are seen in their own units."""
        del sample
        return 0.0

    def prepared(self, sample: Sample) -> tuple[Floats, Floats]:
        """Rows and weights; those without any cell say nothing and are left out."""
        rows = cells_of(sample)
        missing = np.isnan(rows)
        _refuse_missing_cells(self.component, missing)
        empty = missing.all(axis=1)
        return (rows[~empty], sample.weights[~empty]) if empty.any() else (rows, sample.weights)

    def step(self, params: MixtureLaw, chunk: Any, /) -> Any:
        rows, weights = self.prepared(chunk) if isinstance(chunk, Sample) else chunk
        if not self.is_anchored:
            return super().step(params, (rows, weights))
        return params.expected_statistics(rows, weights, component=self.component)

    def log_joint(self, params: MixtureLaw, sample: Sample) -> Floats:
        """`log w_k + log p_k(x)` of the present cells, (n, K)."""
        return params.log_joint(cells_of(sample))

    def anchored(self, sample: Sample) -> TableEM:
        """The problem in which components have seen a share of these rows in advance, no others."""
        rows, weights = self.prepared(sample)
        prior = [(rows, self.share * weights)] if self.share > 0 else []
        prior += [] if self.further is None else [self.further]
        together = copy(self)
        together.is_anchored = True
        together.further = None
        if prior:
            cells, counts = zip(*prior, strict=True)
            together.further = np.concatenate(cells), np.concatenate(counts)
        return together


class Mixture(TableMixture):
    """Mixture of any law.

    Parameters
    ----------
    component : class of laws, Component, or mapping, optional
        A law of numbers or labels for every column; a law of vectors for whole rows; or laws of
        single columns by name or number, `{"visits": Poisson}`. Columns without a law are normal
        where they hold numbers, and categorical otherwise. `Component` adds what a sample does not
        tell, `Component(Binomial, {"trials": 10})`.
    prior_count : float
        Rows, distributed as the whole table, that every component has seen in advance: no
        component shrinks onto a few rows, and no probability is zero. A declared level that no row
        has counts there as if one row more were spread evenly over the levels of its column. 0 is
        plain maximum likelihood.

    Attributes
    ----------
    weights_ : array (K,)
    components_ : tuple of K laws
        Of whole rows: the law of vectors, or a `ProductLaw` with one for each column.
    prior_share_ : float
        The part of every row that each component has seen in advance.
    unmet_ : array (m, 3)
        Declared levels that no row has: number of the column, code of the level (of a Bernoulli
        column 0 or 1, of an outcome of trials 1), and what each component has seen of it.
    law_ : MixtureLaw
        The law itself: density, sample, moments, marginals.
    log_likelihood_, lower_bound_, converged_, n_iter_, n_components_, certificate_, choice_
        As of `GaussianMixture`; the certificate is of the likelihood with the prior rows.

    Notes
    -----
    Missing cells are exact where columns have laws of their own, and in laws of vectors whose
    expected sums have a closed form: `MultivariateNormal`, `MultivariateStudentT` and
    `LowRankNormal` (conditional moments, by pattern), `MultivariateBernoulli`, `Multinomial` (what
    is missing are the trials that are left) and `MultinomialShares`. Others need complete rows.
    `Multinomial` rows of different totals have the law given their totals, `MultinomialShares`.
    A pass costs K densities and K sums of the law. `MixedMixture` has compiled passes for normal
    and categorical columns.

    Examples
    --------
    Visits to a shop, from two kinds of customers.

    >>> from novum.distributions import Poisson
    >>> rng = np.random.default_rng(0)
    >>> visits = 1.0 * np.vstack([rng.poisson([1, 6], (60, 2)), rng.poisson([8, 2], (40, 2))])
    >>> visits[::9, 1] = np.nan
    >>> model = Mixture(Poisson, 2, random_state=0).fit(visits)
    >>> [[round(law.rate) for law in part.laws] for part in model.components_]
    [[1, 7], [8, 2]]
    >>> model.weights_.round(1).tolist()
    [0.6, 0.4]
    """

    _has_impossible_rows = True

    component: Any = parameter(default=None, kw_only=False)
    n_components: int | str = parameter(count(1), {"auto"}, default=1, kw_only=False)

    components_: Any = fitted()
    prior_share_: float = fitted()
    unmet_: Floats = fitted()

    @property
    def invariances(self) -> tuple[str, ...]:
        own = self.component
        located = own is None or (isinstance(own, type) and issubclass(own, _LOCATED))
        return (*(("shift", "column_scale") if located else ()), "row_order", "duplication")

    # Steps of a fit

    def _problem(self, sums: MixedTable, n_components: int) -> TableEM:
        sums.refuse_empty_columns()
        component = self._component(sums.schema)
        if component.law is Multinomial and "trials" not in component.known:
            component = _with_trials(sums.kept.rows)
        _refuse_lawless_columns(component, sums)
        share = self.prior_count / sums.weight
        self.unmet_ = _unmet(component, sums, self.prior_count)
        further = _rows_of_unmet(component, self.unmet_, self.schema_)
        begin = partial(_first, component, sums, n_components, self.init_params, share, further)
        return TableEM(component, begin, share, further)

    def _component(self, schema: Schema) -> Component:
        """The law of a whole row: that of vectors, or the product of the columns' laws."""
        given = self.component
        by_name: dict[int, Any] = {}
        if isinstance(given, Mapping):
            names = list(schema.names)
            for key, law in given.items():
                if not (key in names or (isinstance(key, int) and 0 <= key < len(names))):
                    raise InputError(f"There is no column {key!r}; columns are {names}.")
                by_name[names.index(key) if key in names else key] = law
        elif given is not None:
            component = Component.of(given)
            if not component.is_of_numbers:
                if schema.numeric.size < schema.n_columns:
                    raise InputError(
                        f"{component.law.__name__} is a law of numbers, and some columns hold "
                        "categories. Give a law for each column, or leave them out."
                    )
                return component
            by_name = dict.fromkeys(range(schema.n_columns), component)
        numeric: list[Component] = []
        others: list[Component] = []
        for j, column in enumerate(schema.columns):
            is_number = column.kind is Kind.NUMERIC
            component = Component.of(by_name.get(j, Normal if is_number else Categorical))
            if not component.is_of_numbers:
                raise InputError(
                    f"{component.law.__name__} is a law of vectors; a single column such as "
                    f"{column.name!r} needs a law of numbers or labels."
                )
            if is_number == issubclass(component.law, Categorical):
                what = "numbers" if is_number else "categories"
                raise InputError(
                    f"Column {column.name!r} holds {what}, which {component.law.__name__} is not "
                    "a law of. Choose another law, or say by categorical_features what it holds."
                )
            if not is_number:
                component = Component(Categorical, {"levels": tuple(range(column.n_levels))})
            (numeric if is_number else others).append(component)
        return Component(ProductLaw, {"laws": (*numeric, *others)})

    def _store(self, problem: TableEM, solution: Fitted[Any, Any]) -> None:
        law = solution.params
        self.prior_share_ = problem.share
        order = np.argsort(-law.weights, kind="stable")
        self.weights_ = np.array(law.weights[order])
        self.components_ = tuple(_named(law.components[k], self.schema_) for k in order)
        self.log_likelihood_ = solution.statistics.log_likelihood
        self.lower_bound_ = self.log_likelihood_ / solution.statistics.weight

    # Answers

    @property
    def law_(self) -> MixtureLaw:
        """The law of the fitted mixture, of rows in the order of the columns."""
        check_is_fitted(self, "components_")
        return MixtureLaw.of(self.weights_, self.components_)

    def _coded_law(self) -> MixtureLaw:
        laws = [_coded(part, self.schema_) for part in self.components_]
        return MixtureLaw.of(self.weights_, laws)

    def _joint_of(self, sample: Sample) -> Floats:
        return self._coded_law().log_joint(cells_of(sample))

    def _fitted_problem(self) -> tuple[TableEM, MixtureLaw]:
        component, law = self._component(self.schema_), self._coded_law()
        if component.law is Multinomial:
            own = law.components[0]
            known = {"trials": own.trials} if isinstance(own, Multinomial) else {}
            component = Component(type(own), known)
        further = _rows_of_unmet(component, self.unmet_, self.schema_)
        return TableEM(component, None, self.prior_share_, further), law

    @property
    def _n_free(self) -> int:
        component = self._component(self.schema_)
        laws = [_coded(law, self.schema_) for law in self.components_]
        return sum(n_free(law, component) for law in laws) + len(laws) - 1

    def sample(self, n_samples: int = 1, random_state: RandomSource = None) -> tuple[Any, Integers]:
        """Rows drawn from the law, and the components that they come from."""
        check_draws(n_samples)
        source = self.random_state if random_state is None else random_state
        return self.law_.sample_with_components(int(n_samples), source)

    def _check_state(self) -> None:
        sizes = {getattr(part, "n_coordinates", None) for part in self.components_}
        fits = sizes == {self.schema_.n_columns}
        fits &= np.shape(self.weights_) == (len(self.components_),)
        fits &= self.unmet_.ndim == 2 and self.unmet_.shape[1] == 3
        if not fits or not np.isin(self.unmet_[:, 0], np.arange(self.schema_.n_columns)).all():
            raise InputError("Weights, laws and schema of this mixture do not fit together.")
        _ = self.law_


# --- Rows and laws --------------------------------------------------------------------------------


def cells_of(sample: Sample) -> Floats:
    """Numbers, then codes of categories; what is missing or was never met is NaN."""
    X = np.asarray(sample.numeric, np.float64)
    if not sample.codes.shape[1]:
        return X
    return np.hstack([X, np.where(sample.codes >= 0, sample.codes, np.nan)])


def _order(schema: Schema) -> Any:
    """Where the columns of the table stand among numbers first and categories after them."""
    is_number = np.array([c.kind is Kind.NUMERIC for c in schema.columns], bool)
    order = np.empty(len(is_number), np.int64)
    order[is_number] = np.arange(is_number.sum())
    order[~is_number] = is_number.sum() + np.arange((~is_number).sum())
    return order


def _named(law: Any, schema: Schema) -> Any:
    """A law of cells as one of rows: columns in the table's order, levels by name."""
    if not isinstance(law, ProductLaw):
        return law
    laws = [law.laws[j] for j in _order(schema)]
    pairs = zip(laws, schema.columns, strict=True)
    return ProductLaw(
        tuple(
            part if column.kind is Kind.NUMERIC else Categorical(part.probabilities, column.levels)
            for part, column in pairs
        )
    )


def _coded(law: Any, schema: Schema) -> Any:
    """The inverse of `_named`."""
    if not isinstance(law, ProductLaw):
        return law
    laws: list[Any] = [None] * len(law.laws)
    for j, part in zip(_order(schema), law.laws, strict=True):
        laws[j] = Categorical(part.probabilities) if isinstance(part, Categorical) else part
    return ProductLaw(tuple(laws))


def _with_trials(rows: Floats) -> Component:
    """The law of rows of counts: of one total, where all complete rows have it, or given totals."""
    complete = rows[~np.isnan(rows).any(axis=1)].sum(axis=1)
    if complete.size and (complete == complete[0]).all():
        trials = complete[0]
        if trials == np.floor(trials) and (np.nansum(rows, axis=1) <= trials).all():
            return Component(Multinomial, {"trials": int(trials)})
    return Component(MultinomialShares)


def _refuse_missing_cells(component: Component, missing: Any) -> None:
    if not component.takes_missing_cells and missing.any():
        raise InputError(
            f"{int(missing.sum())} cells are missing, and {component.law.__name__} has no closed "
            "form for the others alone. Choose a law of single columns, MultivariateNormal, "
            "MultivariateStudentT or LowRankNormal, or fill the cells first."
        )


def _refuse_lawless_columns(component: Component, table: MixedTable) -> None:
    """Names the column, or the rows, of which the law has no maximum of the likelihood."""
    kept = table.kept
    _refuse_missing_cells(component, np.isnan(kept.rows))
    if component.law is not ProductLaw:
        names, parts = ["of the table"], [(component, kept.rows)]
    else:
        order = np.argsort(_order(table.schema))
        names = [f"of column {table.schema.names[j]!r}" for j in order]
        parts = list(zip(component.known["laws"], kept.rows.T, strict=True))
    for name, (part, cells) in zip(names, parts, strict=True):
        there = ~np.isnan(cells) if cells.ndim == 1 else slice(None)
        try:
            part.first(cells[there], kept.weights[there])
        except InputError as error:
            raise InputError(
                f"The cells {name} give no {part.law.__name__} law (n_samples = {table.rows:g}). "
                f"{error}"
            ) from None


def _unmet(component: Component, table: MixedTable, prior_count: float) -> Floats:
    """Column, level and prior count of every declared level that no row has, (m, 3).

    One row more than there are, spread evenly over the levels, is in the prior rows.
    """
    met: dict[int, Any] = {}
    moments, order = table.columns, _order(table.schema)
    starts = level_starts(table.schema)
    for j, column in enumerate(table.schema.columns):
        law = component.known["laws"][order[j]].law if component.law is ProductLaw else None
        if column.kind is not Kind.NUMERIC:
            q = order[j] - len(moments.mean)
            met[j] = table.counts[starts[q] : starts[q + 1]] > 0
        elif Bernoulli is law or component.law is MultivariateBernoulli:
            mean = moments.mean[order[j]]
            met[j] = np.array([mean < 1, mean > 0])
        elif component.law in _OF_COUNTS:
            # One of as many outcomes as there are columns.
            met[j] = np.array([True, moments.mean[order[j]] > 0])
    count = prior_count / (table.weight + 1.0)
    d = table.schema.n_columns if component.law in _OF_COUNTS else 0
    pairs = [(j, levels) for j, levels in met.items() if count > 0]
    rows = [(j, a, count / (d or len(own))) for j, own in pairs for a in np.flatnonzero(~own)]
    return np.array(rows, np.float64).reshape(-1, 3)


def _rows_of_unmet(
    component: Component, unmet: Floats, schema: Schema
) -> tuple[Floats, Floats] | None:
    """These levels as rows that have nothing else, with their counts as weights."""
    if not len(unmet):
        return None
    places = _order(schema)[unmet[:, 0].astype(np.int64)]
    # A row of counts that has one outcome only says as much of it as it has trials.
    trials = max(1, component.known.get("trials", 1)) if component.law in _OF_COUNTS else 1
    rows = np.full((len(unmet), schema.n_columns), 0.0 if component.law in _OF_COUNTS else np.nan)
    rows[np.arange(len(unmet)), places] = unmet[:, 1] * trials
    return rows, unmet[:, 2] / trials


def n_free(law: Any, component: Component) -> int:
    """Free numbers of a law: those of its parameters that are not known and not tied."""
    if isinstance(law, ProductLaw):
        return sum(map(n_free, law.laws, component.known["laws"]))
    if hasattr(law, "n_free"):
        return int(law.n_free)
    total = 0
    for item in fields(law):
        if item.name in component.known or item.name in ("trials", "levels"):
            continue
        value = np.asarray(getattr(law, item.name))
        d = len(value) if value.ndim else 1
        total += d * (d + 1) // 2 if value.ndim == 2 else value.size
        # Probabilities of exclusive outcomes sum to one.
        total -= item.name == "probabilities" and isinstance(law, (Categorical, *_OF_COUNTS))
    return total


def _first(
    component: Component,
    table: MixedTable,
    K: int,
    method: str,
    share: float,
    further: tuple[Floats, Floats] | None,
    rng: np.random.Generator,
) -> MixtureLaw:
    """The mixture of first groups of the rows that the first pass has kept."""
    kept = fewer_rows(table.kept)
    p = len(table.columns.mean)
    variance = table.columns.scatter / np.where(table.columns.weight > 0, table.columns.weight, 1)
    unit = np.sqrt(np.where(variance > 0, variance, 1.0))
    kinds = [c.kind is Kind.ORDINAL for c in table.schema.columns if c.kind is not Kind.NUMERIC]
    X, codes = (kept.rows[:, :p] - table.columns.mean) / unit, kept.rows[:, p:]
    rows = start_rows(X, codes, kept.weights, level_starts(table.schema), kinds)
    groups = first_groups(rows, kept, K, method, rng)
    # Fewer rows than there are: each has more of the prior rows.
    more = table.weight / float(kept.weights.sum())
    return first_mixture(component, kept.rows, kept.weights, groups, K, share * more, further)
