"""Laws of classes for EM over missing labels: naive Bayes, and normal laws with and without gaps.

What `core.sums.unlabelled` asks of a family: densities under some parameters, sums of rows, the
best parameters for sums, and the log prior under which those are best,

    naive Bayes     pseudo-counts a are Dirichlet priors with the log density  sum a log p,
    normal laws     none: the floor of variances is a constraint. It is relative to the columns'
                    variances over all rows, which EM does not change.

A class of few labelled rows has hardly any spread, and nothing would be near to it. First
parameters are therefore drawn to the spread of the columns, as if each class had a few rows more;
the fit itself is not.
"""

from __future__ import annotations

import copy
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
from novum.bayes.gaussian_missing import ExpectedSums, MissingMoments, MomentParameters
from novum.bayes.gaussian_statistics import GaussianStatistics
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics
from novum.core.sums import sum_blocks
from novum.core.tables import Sample
from novum.distributions import ColumnDensities, MatrixDensities, by_class, pooled
from novum.numerics import ColumnMoments, Floats

# What an unlabelled row counts in every class at the start: what only such rows have, a level or
# a gap, is part of the laws from then on.
_TRACE = 1e-9


# --- Naive Bayes ----------------------------------------------------------------------------------


class NaiveLaws:
    """Naive Bayes: parameters are fitted models, as the closed form gives them from sums."""

    def __init__(self, model: Any, sample: Sample) -> None:
        self.model = copy.copy(model)
        labelled = sample.rows(np.flatnonzero(sample.target >= 0))
        first: NaiveBayesStatistics = _with_spread(sum_blocks(model._sum, labelled))
        others = np.flatnonzero(sample.target < 0)
        for k in range(first.n_classes if len(others) else 0):
            shared = replace(sample.rows(others), target=np.full(len(others), k, np.int64))
            first = first + _TRACE * sum_blocks(model._sum, shared)
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
        found: NaiveBayesStatistics = self.model._sum(sample)
        return found

    def estimate(self, sums: NaiveBayesStatistics, class_weight: Floats, params: Any) -> Any:  # noqa: ARG002
        return self._fitted(sums)

    def log_prior(self, params: Any) -> float:
        return float(sum(block.log_prior() for block in params._blocks))

    def _fitted(self, sums: NaiveBayesStatistics) -> Any:
        model = copy.copy(self.model)
        model._estimate(sums)
        return model


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
    sample : Sample
        Every class has a labelled row.
    weight : float
        Of a row without a label.
    structure : {"full", "tied", "diagonal", "spherical"}
    floor : float
        Least variance relative to that of the columns over all rows.
    given_prior : array (K,) or None
    """

    def __init__(
        self, sample: Sample, weight: float, structure: str, floor: float, given_prior: Any
    ) -> None:
        assert sample.classes is not None
        self.structure, self.floor, self.given_prior = structure, floor, given_prior
        self.classes = sample.classes
        labelled = sample.rows(np.flatnonzero(sample.target >= 0))
        self.first = labelled
        columns = partial(GaussianStatistics.of, by_column=True)
        self.columns = sum_blocks(columns, labelled)
        everything = replace(
            sample,
            target=np.zeros(sample.n_rows, np.int64),
            classes=sample.classes[:1],
            weight=sample.weights * np.where(sample.target >= 0, 1.0, weight or 1.0),
        )
        self.reference = reference_variances(sum_blocks(columns, everything))
        # The scale of starts: within the classes, where labelled rows of a class differ at all.
        within = reference_variances(self.columns)
        self.spread = np.where(np.isfinite(within), np.minimum(within, self.reference), 1.0)
        self.cells = MissingMoments(self.columns, structure, floor)
        self.cells.reference = self.reference

    @property
    def by_column(self) -> bool:
        return self.structure in BY_COLUMN

    def start(self) -> NormalParameters:
        prior = self._prior(self.columns.weight)
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
        sums = sum_blocks(partial(self.cells.step, self.cells.start(None)), self.first)  # type: ignore[arg-type]
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
        prior = self._prior(class_weight)
        if self.by_column:
            return self._from_columns(sums, prior)
        return self._from_cells(sums, prior, _moments_of(params.estimate))

    def log_prior(self, params: NormalParameters) -> float:  # noqa: ARG002
        return 0.0

    def statistics(self, sums: Any, class_weight: Floats) -> GaussianStatistics:
        """The expected sums as those of rows that all have labels."""
        found = sums if self.by_column else self.cells.expected(sums)
        return replace(found, weight=class_weight)

    def _prior(self, class_weight: Floats) -> Floats:
        if self.given_prior is not None:
            return np.asarray(self.given_prior, np.float64)
        return class_weight / class_weight.sum()

    def _from_columns(self, sums: GaussianStatistics, prior: Floats) -> NormalParameters:
        found = estimate(sums, self.structure, self.floor, reference=self.reference)
        present = np.ones(len(prior), bool)
        densities = ColumnDensities.normal(found.means, found.covariances, present)
        return NormalParameters(prior, found, densities)

    def _from_cells(
        self, sums: ExpectedSums, prior: Floats, before: MomentParameters | None
    ) -> NormalParameters:
        before = self.cells.start(None) if before is None else before  # type: ignore[arg-type]
        moments = self.cells.update(before, sums)
        raised = [raised_to_floor(C, self.reference, self.floor) for C in moments.matrices]
        found = GaussianEstimate.of_matrices(self.structure, moments.means, raised)
        present = np.ones(len(prior), bool)
        densities = MatrixDensities.normal(found.means, found.covariances, present, found.roots)
        return NormalParameters(prior, found, densities)


def _moments_of(found: GaussianEstimate) -> MomentParameters:
    matrices = found.covariances if found.covariances.ndim == 3 else found.covariances[None]
    return MomentParameters(found.means, matrices)
