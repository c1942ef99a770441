"""Probabilistic PCA: principal components as a density, also of rows with missing cells.

    x = m + W z + e,     z ~ N(0, I_q),     e ~ N(0, s2 I)

The likelihood of complete rows is largest at (Tipping and Bishop 1999, eq. 7 and 8)

    s2 = (l_(q+1) + ... + l_d) / (d - q),      W = U (L - s2 I)^(1/2)

with the leading eigenvectors U and eigenvalues L of the covariance: the same axes as PCA's. With
missing cells there is no closed form, and EM maximizes the likelihood of the present ones
(`probabilistic_pca_em`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError, NotAdditiveError
from novum.core.learners import (
    Certificate,
    Learner,
    Stopwatch,
    Verdict,
    count,
    fitted,
    parameter,
    share,
    warn_if_stopped,
)
from novum.core.runtime import fit_context, fitting
from novum.core.sums import (
    ChunkPasses,
    Fitted,
    StatisticsMixin,
    StopRule,
    fit_sums,
    set_feature_names,
    sum_blocks,
)
from novum.core.tables import Sample, Schema
from novum.decomposition.component_choice import (
    ByEvidence,
    ByLikelihood,
    ByVariance,
    component_count,
    log_evidences,
    rule_of,
)
from novum.decomposition.component_statistics import ComponentStatistics
from novum.decomposition.held_out import held_out_scores
from novum.decomposition.latent_projection import LatentProjection, free_parameters
from novum.decomposition.low_rank_normal import (
    LOG_TWO_PI,
    NOISE_FLOOR,
    LowRankNormal,
    law_of_spectrum,
)
from novum.decomposition.numeric_rows import numeric_sample
from novum.decomposition.pca_routes import SUMS_WIDTH, exact_spectrum
from novum.decomposition.probabilistic_pca_em import (
    ColumnSums,
    CompleteRows,
    MissingCells,
    principal,
)
from novum.decomposition.spectrum import Spectrum, spectrum_of_moments
from novum.numerics import Floats, Moments, SquaredExtrapolation

Total = Callable[[Callable[[Sample], Any]], Any]
Climb = Callable[[int, Any], Fitted[LowRankNormal, Any]]

_NOISELESS = (
    "ProbabilisticPCA: {q} components explain all of the variance, so no noise is left and the "
    "likelihood has no maximum. The noise was raised to 1e-9 of the mean variance. Choose fewer "
    "components, or use PCA."
)


class IncompleteRowsError(NotAdditiveError, InputError):
    """Rows with missing cells, whose moments are not sums; fits by EM take them."""


class NoiseFloorWarning(UserWarning):
    """Components leave no noise, and it was raised to a floor."""


class ProbabilisticPCA(LatentProjection, StatisticsMixin, Learner):
    """Probabilistic principal component analysis.

    Parameters
    ----------
    n_components : int, float, "mle", ByVariance, ByEvidence, ByLikelihood or None
        As for `PCA`, below the number of columns; None takes one less than the rank. Where cells
        are missing, None is one less than the columns, `ByEvidence` compares fits by BIC, and the
        rules by variance and likelihood are refused.
    method : {"auto", "closed_form", "em"}
        "auto" is the closed form on complete rows and EM where cells are missing.
    tol : float
        EM stops when a step changes the log-likelihood per row by less.
    max_iter : int
        Steps of EM.
    n_init : int
        Random starts of EM, of which the best is kept.
    random_state : int, RandomState, Generator or None
        Of the starts of EM.

    Attributes
    ----------
    components_ : array (n_components, n_columns)
        Orthonormal principal axes, the largest loading of each positive.
    loadings_ : array (n_columns, n_components)
        W, its columns along the components.
    mean_ : array (n_columns,)
    noise_variance_ : float
    explained_variance_, explained_variance_ratio_ : array (n_components,)
        Most likely variances along the axes (denominator `weight`), noise included.
    log_likelihood_ : float
        Of the rows of the fit.
    log_evidence_ : float
        Minka's approximation for the chosen number of components, up to a constant that does not
        depend on it; absent where cells are missing.
    n_components_, n_iter_, n_features_in_ : int
    component_scores_ : array
        Where a rule compared numbers of components 0, 1, 2, ...: log-evidence up to a constant, or
        mean held-out log-likelihood.
    certificate_ : Certificate
    statistics_ : ComponentStatistics
        Of complete rows.

    Notes
    -----
    Closed form: O(n d min(n, d)), as PCA. EM with missing cells: O(n d q^2) for each pass, over
    rows in memory, chunks, files or a cluster; the certificate is local, with a rising likelihood
    and the finals of all starts. A row without any cell says nothing and costs nothing.

    References
    ----------
    Tipping and Bishop, "Probabilistic principal component analysis", Journal of the Royal
    Statistical Society B 61 (1999), 611-622.

    Examples
    --------
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = ProbabilisticPCA(n_components=1).fit(X)
    >>> model.noise_variance_.__round__(4), model.components_.round(3).tolist()
    (0.0504, [[0.838, 0.545]])
    >>> model.posterior([[3, float("nan")]]).mean.round(2).tolist()
    [[1.38]]
    """

    n_components: Any = parameter(
        count(0),
        share("neither"),
        {"mle"},
        ByVariance,
        ByEvidence,
        ByLikelihood,
        None,
        default=None,
        kw_only=False,
    )
    method: str = parameter({"auto", "closed_form", "em"}, default="auto")
    tol: float = parameter(default=1e-9, at_least=0)
    max_iter: int = parameter(default=2000, at_least=1)
    n_init: int = parameter(default=1, at_least=1)
    random_state: Any = parameter("random_state", np.random.Generator, default=None)

    statistics_: ComponentStatistics = fitted()

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; folds are drawn by what rows hold."""
        if isinstance(self.n_components, ByLikelihood):
            return ("row_order", "duplication")
        return ("shift", "common_scale", "row_order", "duplication")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the law.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Numbers; missing cells are allowed unless `method="closed_form"`.
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self):
            sample = self._read(X, y, sample_weight, None)
            if np.isnan(np.sum(sample.numeric)):
                self._fit_missing(partial(sum_blocks, sample=sample))
                return self
            self._fit_complete(sample)
        return self

    def fit_stream(self, chunks: Any, *, schema: Schema | None = None, classes: Any = None) -> Self:
        """Fits to chunks `(X,)`, `(X, y)` or `(X, y, weight)` that come one after the other.

        Cells may be missing if the chunks can be read again: a list, a callable that returns a
        fresh iterator, or Dask collections. See `StatisticsMixin.fit_stream`.
        """
        try:
            return super().fit_stream(chunks, schema=schema, classes=classes)
        except IncompleteRowsError:
            passes = ChunkPasses.over(chunks, self, schema, reason="Cells are missing")
        with fitting(self):
            self._fit_missing(passes)
        return self

    def fit_file(self, path: Any, *, target: str, **options: Any) -> Self:
        """Fits to a CSV, Parquet or ARFF file; with missing cells in several passes.

        Parameters are those of `StatisticsMixin.fit_file`; the target is left out.
        """
        try:
            return super().fit_file(path, target=target, **options)
        except IncompleteRowsError:
            passes = ChunkPasses.over_file(path, self, target=target, **options)
        with fitting(self):
            self._fit_missing(passes)
        return self

    # Steps of a fit

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:  # noqa: ARG002
        missing = self.method != "closed_form"
        return numeric_sample(
            self, X, sample_weight, schema, allow_missing=missing, accept_sparse=False
        )

    def _sum(self, sample: Sample) -> ComponentStatistics:
        if np.isnan(np.sum(sample.numeric)):
            row, column = np.argwhere(np.isnan(sample.numeric))[0]
            raise IncompleteRowsError(
                f"Column {sample.schema.names[column]!r} has a missing cell at row {row}; sums "
                "need every cell. Use `fit`, `fit_stream` or `fit_file`, which read the rows "
                "several times."
            )
        return ComponentStatistics.of(sample, as_factor=False)

    def _is_additive(self) -> bool:
        return not isinstance(self.n_components, ByLikelihood)

    def _estimate(self, statistics: ComponentStatistics) -> None:
        rule, moments = rule_of(self.n_components), statistics.moments
        spectrum = spectrum_of_moments(moments, statistics.rows)
        self._solve(spectrum, statistics.schema, rule, partial(_climbed_sums, moments))
        self.statistics_ = statistics

    def _fit_complete(self, sample: Sample) -> None:
        """Rows in memory; of wide tables no sums are made."""
        rule, scores = rule_of(self.n_components), None
        if isinstance(rule, ByLikelihood):
            scores = held_out_scores(rule, sample, exact_spectrum)
            rule = int(np.argmax(scores))
        n, d = sample.numeric.shape
        if scores is None and not (n < d and d > SUMS_WIDTH):
            # No cell is missing, which `_sum` would look for again.
            self._estimate(sum_blocks(partial(ComponentStatistics.of, as_factor=False), sample))
            return
        total = partial(sum_blocks, sample=sample)
        self._solve(exact_spectrum(sample), sample.schema, rule, partial(_climbed_rows, total))
        self.__dict__.pop("statistics_", None)
        if scores is not None:
            self.component_scores_ = scores

    def _solve(self, spectrum: Spectrum, schema: Schema, rule: Any, climb: Climb) -> None:
        """The law of complete rows, in closed form or by EM."""
        watch = Stopwatch()
        q, scores = self._count(spectrum, rule)
        law, variance = law_of_spectrum(spectrum, q), spectrum.total / spectrum.weight
        if self.method == "em":
            law, certificate = self._certified(climb(q, self._em_options()))
        else:
            certificate = _closed_form_certificate(law, spectrum, watch)
        self._warn_floor(law, variance / spectrum.n_columns)
        self._store(law, schema, certificate, variance)
        evidences = log_evidences(spectrum)
        self.log_evidence_ = float(evidences[q]) if q < len(evidences) else -np.inf
        self.__dict__.pop("component_scores_", None)
        if scores is not None:
            self.component_scores_ = scores

    def _count(self, spectrum: Spectrum, rule: Any) -> tuple[int, Floats | None]:
        d = spectrum.n_columns
        if not spectrum.total > 0:
            raise InputError(
                "ProbabilisticPCA needs rows that differ, and all of these are the same "
                f"(n_samples={spectrum.rows:g}, 1 sample has no variance). Add rows."
            )
        default = max(min(spectrum.rank, d) - 1, 0)
        q, scores = component_count(rule, spectrum, default, type(self).__name__)
        if q >= d and not isinstance(rule, int):
            q = d - 1
        if q >= d:
            raise InputError(
                f"n_components={q} must be below n_features={d}: in one direction at least there "
                "is noise only. Choose fewer components, or use PCA."
            )
        return q, scores

    def _em_options(self) -> dict[str, Any]:
        return {
            "stop": StopRule(tol=self.tol, max_iter=self.max_iter),
            "n_init": self.n_init,
            "random_state": self.random_state,
            "acceleration": SquaredExtrapolation,
        }

    def _certified(self, fitted: Fitted[LowRankNormal, Any]) -> tuple[LowRankNormal, Certificate]:
        warn_if_stopped(fitted.certificate, type(self).__name__, stacklevel=5)
        return principal(fitted.params), fitted.certificate

    def _fit_missing(self, total: Total) -> None:
        """EM over rows that `total` can go through again and again."""
        sums: ColumnSums = total(ColumnSums.of)
        d, rule = sums.schema.n_columns, rule_of(self.n_components)
        most = min(d - 1, max(int(sums.rows) - 2, 0))
        scores = None
        if isinstance(rule, ByEvidence):
            law, certificate, scores = self._likeliest(sums, total, most)
        elif isinstance(rule, int | None):
            q = most if rule is None else rule
            if q >= d:
                raise InputError(
                    f"n_components={q} must be below n_features={d}: in one direction at least "
                    "there is noise only. Choose fewer components."
                )
            law, certificate = self._certified(self._climbed(sums, total, q))
        else:
            raise InputError(
                f"n_components={self.n_components!r} needs every cell, and some are missing. Give "
                "a number of components, or ByEvidence()."
            )
        set_feature_names(self, sums.schema)
        self._warn_floor(law, float(sums.columns.scatter.sum() / sums.columns.weight.sum()))
        self._store(law, sums.schema, certificate, float(law.variance.sum()))
        for name in ("statistics_", "log_evidence_", "component_scores_"):
            self.__dict__.pop(name, None)
        if scores is not None:
            self.component_scores_ = scores

    def _climbed(self, sums: ColumnSums, total: Total, q: int) -> Fitted[LowRankNormal, Any]:
        return fit_sums(MissingCells(sums, q), total, **self._em_options())

    def _likeliest(
        self, sums: ColumnSums, total: Total, most: int
    ) -> tuple[LowRankNormal, Certificate, Floats]:
        """The fit of largest evidence by BIC; ends when two more components do not raise it."""
        scores: list[float] = []
        best: Fitted[LowRankNormal, Any] | None = None
        for q in range(most + 1):
            fitted = self._climbed(sums, total, q)
            free = free_parameters(sums.schema.n_columns, q)
            scores.append(fitted.value - 0.5 * free * float(np.log(sums.weight)))
            # One component at least, as with complete rows.
            if best is None or q == 1 or scores[-1] > max(scores[1:-1], default=-np.inf):
                best = fitted
            if q >= 3 and max(scores[-2:]) < max(scores[:-2]):
                break
        assert best is not None
        return *self._certified(best), np.array(scores)

    def _warn_floor(self, law: LowRankNormal, variance: float) -> None:
        if law.noise_variance <= NOISE_FLOOR * variance * (1 + 1e-6):
            warnings.warn(_NOISELESS.format(q=law.n_latent), NoiseFloorWarning, stacklevel=5)


def _climbed_sums(moments: Moments, q: int, options: Any) -> Fitted[LowRankNormal, Any]:
    """EM on the sums of complete rows."""
    return fit_sums(CompleteRows(moments, q), lambda step: step(moments), **options)


def _climbed_rows(total: Total, q: int, options: Any) -> Fitted[LowRankNormal, Any]:
    """EM on the rows themselves, where their sums would be too large."""
    return fit_sums(MissingCells(total(ColumnSums.of), q), total, **options)


def _closed_form_certificate(
    law: LowRankNormal, spectrum: Spectrum, watch: Stopwatch
) -> Certificate:
    """The maximum is known; what is left is the residual of the eigenpairs it is made of."""
    q, s2, d, weight = law.n_latent, law.noise_variance, spectrum.n_columns, spectrum.weight
    values = np.maximum(spectrum.squares[:q] / weight, s2)
    logs = d * LOG_TWO_PI + float(np.sum(np.log(values))) + (d - q) * float(np.log(s2))
    squares = float(np.sum(spectrum.squares[:q] / values)) + spectrum.outside(q) / s2
    return Certificate(
        objective="log-likelihood",
        verdict=Verdict.PROVED,
        value=-0.5 * (weight * logs + squares),
        residual=spectrum.residual / float(spectrum.squares[0]),
        details={"components": q, "method": "closed form"},
        seconds=watch.seconds,
    )
