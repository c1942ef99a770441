"""Conjugate pairs for counts: beta with trials, Dirichlet with categories.

    Beta(a, b),   s successes and f failures   ->  Beta(a + s, b + f)
    Dirichlet(a), n_k observations of level k  ->  Dirichlet(a + n)

    evidence of a sequence = B(a + n) / B(a),    B(a) = prod Gamma(a_k) / Gamma(sum a_k)

Counts of several trials in one observation have the same posterior; their evidence gains the
(multi)nomial coefficient of each observation, which only the observations themselves tell.

References
----------
Bernardo and Smith, "Bayesian Theory", 2000, appendix A; Minka, "Bayesian inference, entropy and the
multinomial distribution", 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.distributions.conjugacy_knowns import KnownLevels, KnownTrials
from novum.distributions.conjugacy_predictives import BetaBinomial, DirichletMultinomial
from novum.distributions.multivariate.dirichlet import Dirichlet
from novum.distributions.multivariate.multinomial import Multinomial, MultinomialStatistics
from novum.distributions.univariate.bernoulli import Bernoulli, BernoulliStatistics
from novum.distributions.univariate.beta import Beta
from novum.distributions.univariate.binomial import Binomial, BinomialStatistics
from novum.distributions.univariate.categorical import Categorical, CategoricalStatistics
from novum.numerics import Floats

# --- Beta -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BetaBernoulli:
    """Unknown probability of single trials."""

    prior: Beta
    likelihood: type[Bernoulli]

    sums: ClassVar[type] = BernoulliStatistics

    def statistics(self, data: Any, weight: ArrayLike | None) -> BernoulliStatistics:
        return Bernoulli.statistics(data, weight)

    def update(self, statistics: BernoulliStatistics) -> Beta:
        failures = statistics.weight - statistics.successes
        return Beta(self.prior.a + statistics.successes, self.prior.b + failures)

    def predict(self) -> Bernoulli:
        return Bernoulli(self.prior.mean)

    def log_evidence(self, statistics: BernoulliStatistics) -> float:
        return _log_beta_ratio(self.prior, self.update(statistics))

    def law(self, parameter: float) -> Bernoulli:
        return Bernoulli(float(parameter))


@dataclass(frozen=True)
class BetaBinomialTrials:
    """Unknown probability of trials that are observed as counts of successes."""

    prior: Beta
    likelihood: KnownTrials

    sums: ClassVar[type] = BinomialStatistics

    def statistics(self, data: Any, weight: ArrayLike | None) -> BinomialStatistics:
        return Binomial.statistics(data, weight, trials=self.likelihood.trials)

    def update(self, statistics: BinomialStatistics) -> Beta:
        check_trials(self.likelihood, statistics.trials)
        failures = statistics.weight * statistics.trials - statistics.successes
        return Beta(self.prior.a + statistics.successes, self.prior.b + failures)

    def predict(self) -> BetaBinomial:
        return BetaBinomial(self.likelihood.trials, self.prior.a, self.prior.b)

    def log_evidence(self, statistics: BinomialStatistics) -> float:
        return _log_beta_ratio(self.prior, self.update(statistics))

    def log_coefficients(self, data: Any, weight: ArrayLike | None) -> float:
        k = np.asarray(data, float).ravel()
        return _weighted_sum(log_choose(self.likelihood.trials, k), weight)

    def law(self, parameter: float) -> Binomial:
        return Binomial(self.likelihood.trials, float(parameter))


def _log_beta_ratio(prior: Beta, after: Beta) -> float:
    return float(special.betaln(after.a, after.b) - special.betaln(prior.a, prior.b))


# --- Dirichlet ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DirichletCategorical:
    """Unknown shares of categories; without `KnownLevels` they are 0, 1, ..."""

    prior: Dirichlet
    likelihood: type[Categorical] | KnownLevels

    sums: ClassVar[type] = CategoricalStatistics

    def statistics(self, data: Any, weight: ArrayLike | None) -> CategoricalStatistics:
        return Categorical.statistics(data, weight, levels=_levels(self.prior, self.likelihood))

    def update(self, statistics: CategoricalStatistics) -> Dirichlet:
        counts = _level_counts(self.prior, self.likelihood, statistics)
        return Dirichlet(self.prior.concentration + counts)

    def predict(self) -> Categorical:
        return self.law(self.prior.mean)

    def log_evidence(self, statistics: CategoricalStatistics) -> float:
        return _log_polya(self.prior, _level_counts(self.prior, self.likelihood, statistics))

    def law(self, parameter: Floats) -> Categorical:
        if isinstance(self.likelihood, KnownLevels):
            return Categorical(parameter, tuple(self.likelihood.levels))
        return Categorical(parameter)


@dataclass(frozen=True)
class DirichletMultinomialTrials:
    """Unknown shares of outcomes that are observed as rows of counts."""

    prior: Dirichlet
    likelihood: KnownTrials

    sums: ClassVar[type] = MultinomialStatistics

    def statistics(self, data: Any, weight: ArrayLike | None) -> MultinomialStatistics:
        return Multinomial.statistics(data, weight, trials=self.likelihood.trials)

    def update(self, statistics: MultinomialStatistics) -> Dirichlet:
        return Dirichlet(self.prior.concentration + self._counts(statistics))

    def predict(self) -> DirichletMultinomial:
        return DirichletMultinomial(self.likelihood.trials, self.prior.concentration)

    def log_evidence(self, statistics: MultinomialStatistics) -> float:
        return _log_polya(self.prior, self._counts(statistics))

    def log_coefficients(self, data: Any, weight: ArrayLike | None) -> float:
        rows = np.atleast_2d(np.asarray(data, float))
        left = float(self.likelihood.trials) - np.cumsum(rows, axis=1) + rows
        return _weighted_sum(log_choose(left, rows).sum(axis=1), weight)

    def law(self, parameter: Floats) -> Multinomial:
        return Multinomial(self.likelihood.trials, parameter)

    def _counts(self, statistics: MultinomialStatistics) -> Floats:
        check_trials(self.likelihood, statistics.trials)
        if statistics.counts.size != self.prior.n_coordinates:
            raise InputError(
                f"Counts of {statistics.counts.size} outcomes do not fit a Dirichlet of "
                f"{self.prior.n_coordinates}. Give one concentration for each outcome."
            )
        return statistics.counts


def _levels(prior: Dirichlet, likelihood: Any) -> tuple[Any, ...]:
    if not isinstance(likelihood, KnownLevels):
        return tuple(range(prior.n_coordinates))
    if len(likelihood.levels) != prior.n_coordinates:
        raise InputError(
            f"A Dirichlet of {prior.n_coordinates} concentrations cannot be the prior of "
            f"{len(likelihood.levels)} levels. Give one concentration for each level."
        )
    return tuple(likelihood.levels)


def _level_counts(prior: Dirichlet, likelihood: Any, statistics: CategoricalStatistics) -> Floats:
    levels = _levels(prior, likelihood)
    try:
        return statistics.with_levels(levels).counts
    except InputError as error:
        raise InputError(
            f"{error} Name the levels in the order of the prior: KnownLevels([...])."
        ) from error


def _log_polya(prior: Dirichlet, counts: Floats) -> float:
    """`log B(a + n) - log B(a)`, each level by its own rising factorial."""
    a, total = prior.concentration, prior.total
    terms = special.gammaln(a + counts) - special.gammaln(a)
    rest = special.gammaln(total + counts.sum()) - special.gammaln(total)
    return float(terms[counts > 0].sum() - rest)


def check_trials(likelihood: KnownTrials, trials: int) -> None:
    if trials != likelihood.trials:
        raise InputError(
            f"Statistics of {trials} trials do not fit KnownTrials({likelihood.trials})."
        )


# --- Coefficients ---------------------------------------------------------------------------------


def log_choose(n: ArrayLike, k: ArrayLike) -> Floats:
    """Logarithm of the binomial coefficient, by the beta function.

    >>> round(float(np.exp(log_choose(5, 2))), 9)
    10.0
    """
    top, part = np.asarray(n, float), np.asarray(k, float)
    return np.asarray(-np.log1p(top) - special.betaln(part + 1, top - part + 1))


def _weighted_sum(terms: Floats, weight: ArrayLike | None) -> float:
    if weight is None:
        return float(terms.sum())
    weights = np.asarray(weight, float).ravel()
    # Rows of weight 0 are absent, whatever they hold.
    return float(weights[weights > 0] @ terms[weights > 0])
