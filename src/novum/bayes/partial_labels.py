"""Laws of classes for EM over missing labels: naive Bayes, normal laws, and mixtures in classes.

What `core.sums.unlabelled` asks of a family: densities under some parameters, sums of rows, the
best parameters for sums, and the log prior under which those are best,

    naive Bayes     pseudo-counts a are Dirichlet priors with the log density  sum a log p,
    normal laws     none: the floor of variances is a constraint. It is relative to the columns'
                    variances over all rows, which EM does not change,
    mixtures        that of the mixture, with the rows of its start as the rows seen in advance.

A class of few labelled rows has hardly any spread, and nothing would be near to it. First
parameters are therefore drawn to the spread of the columns, as if each class had a few rows more;
the fit itself is not. A mixture, of which a class has several laws, starts from a fit to the rows
whose nearest labelled row is of the class.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from novum.bayes.gaussian_covariance import (
    BY_COLUMN,
    GaussianEstimate,
    estimate,
    raised_to_floor,
    reference_variances,
)
from novum.bayes.gaussian_missing import (
    ExpectedSums,
    MissingMoments,
    MomentParameters,
    rounding_of,
)
from novum.bayes.gaussian_statistics import GaussianStatistics
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics
from novum.core.errors import InputError
from novum.core.learners import Certificate, ConvergenceWarning
from novum.core.runtime import check_cancelled
from novum.core.sums import Fitted, PartlyLabelledRows, members_of
from novum.core.tables import Sample
from novum.core.text import label_text
from novum.distributions import ColumnDensities, MatrixDensities, by_class, pooled
from novum.numerics import (
    ColumnMoments,
    Floats,
    Integers,
    as_argument,
    column_moments_of,
    log_sum_exp,
)

# Distances between rows that are in memory at a time.
_DISTANCES = 2**22

# What an unlabelled row counts in every class at the start: what only such rows have, a level or
# a gap, is part of the laws from then on.
_TRACE = 1e-9


# --- Naive Bayes ----------------------------------------------------------------------------------


class NaiveLaws:
    """Naive Bayes: parameters are fitted models, as the closed form gives them from sums."""

    def __init__(self, model: Any, rows: PartlyLabelledRows) -> None:
        self.model = copy.copy(model)
        first: NaiveBayesStatistics = _with_spread(rows.labelled(model._sum))
        if rows.n_unlabelled:
            first = first + _TRACE * rows.unlabelled(partial(_in_every_class, model._sum))
        self.first = first

    def start(self) -> Any:
        return self._fitted(self.first)

    def log_joint(self, params: Any, sample: Sample) -> Floats:
        codes = sample.schema.recode(sample.codes, params.schema_)
        joint: Floats = params._joint(replace(sample, schema=params.schema_, codes=codes))
        return joint

    def class_prior(self, params: Any) -> Floats:
        prior: Floats = params.class_prior_
        return prior

    def sums(self, params: Any, sample: Sample) -> NaiveBayesStatistics:  # noqa: ARG002
        statistics: NaiveBayesStatistics = self.model._sum(sample)
        return statistics

    def estimate(self, sums: NaiveBayesStatistics, class_weight: Floats, params: Any) -> Any:  # noqa: ARG002
        return self._fitted(sums)

    def log_prior(self, params: Any) -> float:
        return float(sum(block.log_prior() for block in params._blocks))

    def _fitted(self, sums: NaiveBayesStatistics) -> Any:
        model = copy.copy(self.model)
        model._estimate(sums)
        return model


def _in_every_class(step: Any, sample: Sample) -> Any:
    """The sums of rows that belong to each class."""
    assert sample.classes is not None
    every = range(len(sample.classes))
    parts = [step(replace(sample, target=np.full(sample.n_rows, k, np.int64))) for k in every]
    return sum(parts[1:], parts[0])


def _with_spread(sums: NaiveBayesStatistics) -> NaiveBayesStatistics:
    """Sums whose numeric columns have, in every class, a row more with the column's own spread."""
    K = sums.n_classes
    weight, mean, scatter = by_class(sums.moments, K)
    if weight.size == 0:
        return sums
    within = scatter.sum(axis=0) / np.maximum(weight.sum(axis=0), np.finfo(float).tiny)
    overall = pooled(sums.moments, K).variance()
    spread = np.where(within > 0, within, np.nan_to_num(overall))
    widened = (scatter + spread) * weight / (weight + 1.0)
    return replace(sums, moments=ColumnMoments(weight.ravel(), mean.ravel(), widened.ravel()))


# --- Normal laws ----------------------------------------------------------------------------------


def prior_of(given: Any, class_weight: Floats) -> Floats:
    """Probabilities of the classes: given ones, or their shares of the weight."""
    if given is not None:
        return np.asarray(given, np.float64)
    return class_weight / class_weight.sum()


@dataclass(frozen=True, eq=False)
class NormalParameters:
    """Priors of the classes and their estimate, with the densities that follow."""

    prior: Floats
    estimate: GaussianEstimate
    densities: Any


class NormalLaws:
    """Normal laws of classes: uncorrelated columns from sums, others by completed rows.

    Parameters
    ----------
    rows : PartlyLabelledRows
        Every class has a labelled row.
    weight : float
        Of a row without a label.
    structure : {"full", "tied", "diagonal", "spherical"}
    floor : float
        Least variance relative to that of the columns over all rows.
    given_prior : array (K,) or None
    """

    def __init__(
        self,
        rows: PartlyLabelledRows,
        weight: float,
        structure: str,
        floor: float,
        given_prior: Any,
    ) -> None:
        self.structure, self.floor, self.given_prior = structure, floor, given_prior
        self.classes = rows.classes
        self.columns = rows.labelled(partial(GaussianStatistics.of, by_column=True))
        self.reference = reference_variances(rows(partial(_of_one_class, weight or 1.0)))
        # The scale of starts: within the classes, where labelled rows of a class differ at all.
        within = reference_variances(self.columns)
        self.spread = np.where(np.isfinite(within), np.minimum(within, self.reference), 1.0)
        self.cells = MissingMoments(self.columns, structure, floor)
        self.cells.reference = self.reference
        self.first: ExpectedSums | None = None
        if not self.by_column:
            self.first = rows.labelled(partial(self.cells.step, self.cells.start(None)))  # type: ignore[arg-type]

    @property
    def by_column(self) -> bool:
        return self.structure in BY_COLUMN

    def start(self) -> NormalParameters:
        prior = prior_of(self.given_prior, self.columns.weight)
        d = len(self.reference)
        if self.by_column:
            moments = tuple(
                ColumnMoments(
                    np.asarray(part.weight),
                    part.mean,
                    (part.scatter + self.spread) * part.weight / (part.weight + 1.0),
                )
                for part in self.columns.moments
            )
            return self._from_columns(replace(self.columns, moments=moments), prior)
        sums = self.first
        assert sums is not None
        rows = np.array([part.weight for part in sums.moments])[:, None, None]
        scatter = np.array([part.scatter for part in sums.moments]) + sums.rest
        more = (d + 1.0) * np.diag(self.spread)
        widened = (scatter + more) * rows / (rows + d + 1.0)
        return self._from_cells(replace(sums, rest=sums.rest + widened - scatter), prior, None)

    def log_joint(self, params: NormalParameters, sample: Sample) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(params.densities.log_density(sample.numeric) + np.log(params.prior))

    def class_prior(self, params: NormalParameters) -> Floats:
        return params.prior

    def sums(self, params: NormalParameters, sample: Sample) -> Any:
        if self.by_column:
            return GaussianStatistics.of(sample, by_column=True)
        return self.cells.step(_moments_of(params.estimate), sample)

    def estimate(
        self, sums: Any, class_weight: Floats, params: NormalParameters
    ) -> NormalParameters:
        prior = prior_of(self.given_prior, class_weight)
        if self.by_column:
            return self._from_columns(sums, prior)
        return self._from_cells(sums, prior, _moments_of(params.estimate))

    def log_prior(self, params: NormalParameters) -> float:  # noqa: ARG002
        return 0.0

    def rounding(self, params: NormalParameters) -> float:
        """Dependent columns leave their directions at the floor, and squares there are noise."""
        return 0.0 if self.by_column else rounding_of(_moments_of(params.estimate).matrices)

    def statistics(self, sums: Any, class_weight: Floats) -> GaussianStatistics:
        """The expected sums as those of rows that all have labels."""
        expected = sums if self.by_column else self.cells.expected(sums)
        return replace(expected, weight=class_weight)

    def _from_columns(self, sums: GaussianStatistics, prior: Floats) -> NormalParameters:
        estimated = estimate(sums, self.structure, self.floor, reference=self.reference)
        present = np.ones(len(prior), bool)
        densities = ColumnDensities.normal(estimated.means, estimated.covariances, present)
        return NormalParameters(prior, estimated, densities)

    def _from_cells(
        self, sums: ExpectedSums, prior: Floats, before: MomentParameters | None
    ) -> NormalParameters:
        before = self.cells.start(None) if before is None else before  # type: ignore[arg-type]
        moments = self.cells.update(before, sums)
        raised = [raised_to_floor(C, self.reference, self.floor) for C in moments.matrices]
        estimated = GaussianEstimate.of_matrices(self.structure, moments.means, raised)
        present = np.ones(len(prior), bool)
        densities = MatrixDensities.normal(
            estimated.means, estimated.covariances, present, estimated.roots
        )
        return NormalParameters(prior, estimated, densities)


def _of_one_class(weight: float, sample: Sample) -> GaussianStatistics:
    """Column sums of all rows together, unlabelled ones with their weight."""
    assert sample.classes is not None
    together = replace(
        sample,
        target=np.zeros(sample.n_rows, np.int64),
        classes=sample.classes[:1],
        weight=sample.weights * np.where(sample.target >= 0, 1.0, weight),
    )
    return GaussianStatistics.of(together, by_column=True)


def _moments_of(estimate: GaussianEstimate) -> MomentParameters:
    matrices = (
        estimate.covariances if estimate.covariances.ndim == 3 else estimate.covariances[None]
    )
    return MomentParameters(estimate.means, matrices)


# --- Mixtures in classes --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MixtureParameters:
    """Priors of the classes (K,), and the parameters of each class's mixture."""

    prior: Floats
    densities: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Expected sums of the mixtures of the classes that have rows, by the code of the class."""

    by_class: dict[int, Any]

    def __add__(self, other: ClassSums) -> ClassSums:
        together = dict(self.by_class)
        for k, sums in other.by_class.items():
            together[k] = together[k] + sums if k in together else sums
        return ClassSums(together)


class MixtureLaws:
    """A mixture in every class: one hidden pair (class c, component k) for every row,

        r(c, k | x)  is proportional to  P(c) w_ck p_ck(x),

    of a labelled row with its own class only. Shares of the classes times memberships within a
    class are those of the pairs, and the M-step of a class is the mixture's own, so the likelihood
    of labels and cells cannot fall.

    Parameters
    ----------
    density : estimator
        A mixture that has read the table, not fitted.
    rows : PartlyLabelledRows
        In memory; every class has a labelled row.
    weight : float
        Of a row without a label.
    given_prior : array (K,) or None
    """

    def __init__(
        self, density: Any, rows: PartlyLabelledRows, weight: float, given_prior: Any
    ) -> None:
        sample = rows.judged
        self.given_prior = given_prior
        weights = sample.weights * np.where(sample.target >= 0, 1.0, weight or 1.0)
        nearest = nearest_labels(sample)
        self.first = np.bincount(nearest, weights, len(rows.classes)).astype(np.float64)
        self.models: list[Any] = []
        self.problems: list[Any] = []
        params = []
        for k, label in enumerate(rows.classes):
            own = np.flatnonzero(nearest == k)
            part = replace(sample.rows(own), target=None, classes=None, weight=weights[own])
            model = copy.copy(density)
            try:
                with warnings.catch_warnings():
                    # A start need not have come to its end.
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    model._fit_sample(part)
            except InputError as error:
                raise InputError(f"Class {label_text(label)}: {error}") from error
            problem, first = model._climb(part)
            self.models.append(model)
            self.problems.append(problem)
            params.append(first)
        self.params = tuple(params)

    def start(self) -> MixtureParameters:
        return MixtureParameters(prior_of(self.given_prior, self.first), self.params)

    def log_joint(self, params: MixtureParameters, sample: Sample) -> Floats:
        pairs = zip(self.problems, params.densities, strict=True)
        logs = [log_sum_exp(problem.log_joint(own, sample), axis=1) for problem, own in pairs]
        with np.errstate(divide="ignore"):
            return np.stack(logs, axis=1) + np.log(params.prior)

    def class_prior(self, params: MixtureParameters) -> Floats:
        return params.prior

    def sums(self, params: MixtureParameters, sample: Sample) -> ClassSums:
        k = int(sample.target[0])
        return ClassSums({k: self.problems[k].step(params.densities[k], sample)})

    def estimate(
        self, sums: ClassSums, class_weight: Floats, params: MixtureParameters
    ) -> MixtureParameters:
        densities = tuple(
            self.problems[k].update(own, sums.by_class[k]) if k in sums.by_class else own
            for k, own in enumerate(params.densities)
        )
        return MixtureParameters(prior_of(self.given_prior, class_weight), densities)

    def log_prior(self, params: MixtureParameters) -> float:
        pairs = zip(self.problems, params.densities, strict=True)
        return float(sum(problem.log_prior(own) for problem, own in pairs))

    def fitted_densities(
        self, params: MixtureParameters, sample: Sample, weights: Floats, certificate: Certificate
    ) -> list[Any]:
        """The mixtures of the classes as estimators; rows belong to classes by `weights` (n, K)."""
        for k, part in members_of(sample, weights):
            model, problem, own = self.models[k], self.problems[k], params.densities[k]
            problem.offset = problem.log_units(part)
            sums = problem.step(own, part)
            model._keep(problem, Fitted(own, sums, problem.objective(own, sums), certificate))
        return self.models


def nearest_labels(sample: Sample) -> Integers:
    """The class of each row, or that of the nearest labelled row; of equals the first.

    Numbers are in units of their columns, levels differ by one, and missing cells stand at the
    column's mean.
    """
    columns = column_moments_of(as_argument(sample.numeric), sample.weight)
    spread = np.sqrt(columns.scatter / np.where(columns.weight > 0, columns.weight, 1.0))
    rows = (sample.numeric - columns.mean) / np.where(spread > 0, spread, 1.0)
    blocks = [np.nan_to_num(rows)]
    for codes, column in zip(sample.codes.T, sample.schema.categorical_columns, strict=True):
        met = codes[:, None] == np.arange(column.n_levels)
        share = sample.weights @ met / max(float(sample.weights @ (codes >= 0)), 1e-300)
        blocks.append(np.where(codes[:, None] >= 0, met, share) / np.sqrt(2.0))
    cells = np.hstack(blocks)
    nearest = np.array(sample.target, np.int64)
    labelled, others = np.flatnonzero(nearest >= 0), np.flatnonzero(nearest < 0)
    squares = (cells[labelled] ** 2).sum(axis=1)
    height = max(1, _DISTANCES // max(1, len(labelled)))
    for start in range(0, len(others), height):
        check_cancelled()
        some = others[start : start + height]
        # Less the square of the row itself, which is the same for all labelled ones.
        apart = squares - 2.0 * (cells[some] @ cells[labelled].T)
        nearest[some] = sample.target[labelled[apart.argmin(axis=1)]]
    return nearest
