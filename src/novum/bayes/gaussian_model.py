"""What all Gaussian classifiers have in common: one fit, from rows or from statistics.

    read  ->  sum (moments of classes)  ->  estimate laws of classes  ->  store
    read  ->  EM over the rows, where cells of correlated columns are missing  ->  store

A learner of this family says which structure its covariances have and how they are estimated.
Prediction is Bayes' rule with the laws that were stored,

    p(k | x) = p(k) p(x | k) / sum_j p(j) p(x | j).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.bayes.explanation import checked_row_count
from novum.bayes.gaussian_covariance import (
    BY_COLUMN,
    Adjustment,
    GaussianEstimate,
    certify,
    estimate,
    report_absent,
    report_singular,
)
from novum.bayes.gaussian_leave_one_out import leave_one_out, refitted_without
from novum.bayes.gaussian_missing import MissingMoments
from novum.bayes.gaussian_statistics import (
    GaussianStatistics,
    MissingCellsError,
    checked_class_prior,
    code_of,
)
from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, fitted, warn_if_stopped
from novum.core.runtime import RandomSource, fit_context, fitting, stream
from novum.core.sums import (
    ChunkPasses,
    PartlyLabelledRows,
    StatisticsMixin,
    StopRule,
    count_unlabelled,
    fit_sums,
    set_feature_names,
    sum_blocks,
)
from novum.core.tables import Sample, Schema, check_features, check_sample
from novum.core.text import label_text
from novum.distributions import ColumnDensities, MatrixDensities, refuse_overflow
from novum.numerics import Array, Floats, Positions, log_sum_exp

Total = Callable[[Callable[[Any], Any]], Any]
Densities = MatrixDensities | ColumnDensities


def _adds_up(model: GaussianModel) -> bool:
    """Whether the fit is a function of sums; scikit-learn hides `partial_fit` otherwise."""
    if not model._is_additive():
        raise AttributeError(
            f"{model!r} is fitted to all rows at once and cannot add to them. Leave out "
            "shrinkage='auto' and covariance_estimator."
        )
    return True


class GaussianModel(StatisticsMixin, DecisionMixin, ClassifierMixin, Learner):
    """Shared fit and prediction; see `GaussianClassifier`."""

    statistics_: GaussianStatistics = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()
    classes_: Array = fitted()
    class_count_: Floats = fitted()
    class_prior_: Floats = fitted()
    means_: Floats = fitted()
    densities_: Densities = fitted()
    unlabelled_weight_: float = fitted()

    # What a learner of the family says

    def _structure(self) -> str:
        """Structure of the covariances."""
        raise TypeError(f"{type(self).__name__} does not say which covariances it has.")

    def _given_prior(self) -> ArrayLike | None:
        """Class priors that were given, or None."""
        return None

    def _floor(self) -> float:
        return 1e-9

    def _stop_rule(self) -> StopRule:
        return StopRule(tol=1e-9, max_iter=1000)

    def _adjustment(self) -> Adjustment | None:
        """A change of every covariance before the floor, such as a shrinkage."""
        return None

    def _has_formula(self) -> bool:
        """Whether leaving a row out is the plain normal formula."""
        return self._adjustment() is None

    def _laws(self, statistics: GaussianStatistics) -> tuple[Densities, Certificate]:
        """Laws of the classes; stores what is particular to the learner."""
        return self._likely_laws(statistics, self._structure())

    def _likely_laws(
        self, statistics: GaussianStatistics, structure: str
    ) -> tuple[Densities, Certificate]:
        estimated = estimate(statistics, structure, self._floor(), self._adjustment())
        return self._store_estimate(estimated, statistics), certify(estimated, statistics)

    def _fit_rows(self, sample: Sample) -> None:
        """A fit that is not a function of sums, for learners that have one."""
        raise TypeError(
            f"{type(self).__name__} cannot be fitted to {sample.n_rows} rows one by one."
        )

    # Fit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Numbers; missing cells are allowed.
        y : array-like of shape (n_rows,)
            Labels; some may be missing where the learner has `unlabelled="em"`.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self):
            sample = self._read(X, y, sample_weight, None)
            if (sample.target < 0).any():
                self._fit_partly(PartlyLabelledRows.of(sample))
                return self
            if not self._is_additive():
                self._fit_rows(sample)
                return self
            try:
                # One block: blocks of rows would have to be merged, and memory stays small anyway.
                statistics = self._sum(sample)
            except MissingCellsError:
                self._fit_missing(partial(sum_blocks, sample=sample))
                return self
            self._estimate(statistics)
        return self

    def fit_stream(self, chunks: Any, *, schema: Schema | None = None, classes: Any = None) -> Self:
        """Fits to chunks `(X, y)` or `(X, y, weight)` that come one after the other.

        Cells may be missing if the chunks can be read again: a list, a callable that returns a
        fresh iterator, or Dask collections. See `StatisticsMixin.fit_stream`.
        """
        try:
            return super().fit_stream(chunks, schema=schema, classes=classes)
        except MissingCellsError:
            passes = ChunkPasses.over(chunks, self, schema, reason="Cells are missing")
        return self._fit_incomplete(passes, classes)

    def fit_file(self, path: Any, *, target: str, **options: Any) -> Self:
        """Fits to a CSV, Parquet or ARFF file; with missing cells in several passes.

        Parameters are those of `StatisticsMixin.fit_file`.
        """
        try:
            return super().fit_file(path, target=target, **options)
        except MissingCellsError:
            passes = ChunkPasses.over_file(path, self, target=target, **options)
        return self._fit_incomplete(passes)

    def _fit_incomplete(self, passes: ChunkPasses, classes: Any = None) -> Self:
        """EM over cells that are missing, and over labels if such are missing too."""
        if getattr(self, "unlabelled", None) is not None and passes(count_unlabelled):
            return self._fit_partly_in_passes(passes, classes)
        with fitting(self):
            self._fit_missing(passes, classes)
        return self

    @available_if(_adds_up)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Adds rows to those the model has learned from; the first call starts anew.

        `classes` lists labels that may still come.
        """
        super().partial_fit(X, y, sample_weight)
        if classes is not None:
            labels = np.union1d(self.statistics_.classes, classes)
            self.fit_statistics(self.statistics_.with_classes(labels))
        return self

    def _fit_missing(self, total: Total, classes: Any = None) -> None:
        """EM over rows that `total` can go through again and again."""
        columns = total(partial(GaussianStatistics.of, by_column=True))
        columns = columns if classes is None else columns.with_classes(classes)
        problem = MissingMoments(columns, self._structure(), self._floor())
        fitted = fit_sums(problem, total, stop=self._stop_rule())
        warn_if_stopped(fitted.certificate, type(self).__name__)
        report_absent(columns, type(self).__name__)
        set_feature_names(self, columns.schema)
        # The last M-step is a fit to the expected moments like any other.
        densities, _ = self._laws(problem.expected(fitted.statistics))
        # Rows without a present cell have no moments, but a class.
        densities = replace(densities, present=columns.weight > 0)
        self._store(columns, densities, fitted.certificate)
        self.__dict__.pop("statistics_", None)

    # Steps of a fit

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:
        sample = check_sample(
            self,
            X,
            y,
            sample_weight,
            target="classes" if getattr(self, "unlabelled", None) is None else "partial classes",
            schema=schema,
            allow_missing=self._is_additive(),
        )
        if not sample.schema.is_numeric:
            name = sample.schema.categorical_columns[0].name
            raise InputError(
                f"{type(self).__name__} models numbers, but column {name!r} holds categories. Use "
                "NaiveBayes, which takes both, or leave the column out."
            )
        return sample

    def _sum(self, sample: Sample) -> GaussianStatistics:
        return GaussianStatistics.of(sample, self._structure() in BY_COLUMN)

    def _estimate(self, statistics: GaussianStatistics) -> None:
        densities, certificate = self._laws(statistics)
        self._store(statistics, densities, certificate)
        self.statistics_ = statistics

    def _store_estimate(
        self, estimate: GaussianEstimate, statistics: GaussianStatistics
    ) -> Densities:
        """Stores means and covariances, says what was odd, and gives the normal laws."""
        name = type(self).__name__
        report_absent(statistics, name)
        report_singular(estimate, statistics.classes, statistics.weight, self._floor(), name)
        self.means_, self.covariances_ = estimate.means, estimate.covariances
        self.covariance_structure_ = estimate.structure
        present = statistics.weight > 0
        if estimate.roots is None:
            return ColumnDensities.normal(estimate.means, estimate.covariances, present)
        return MatrixDensities.normal(estimate.means, estimate.covariances, present, estimate.roots)

    def _store(
        self, statistics: GaussianStatistics, densities: Densities, certificate: Certificate
    ) -> None:
        self.class_prior_ = checked_class_prior(
            self._given_prior(), statistics, densities.present, type(self).__name__
        )
        self.classes_, self.class_count_ = statistics.classes, statistics.weight
        self.schema_, self.densities_ = statistics.schema, densities
        self.certificate_ = certificate
        self.n_iter_ = max(1, certificate.iterations or 1)
        self.__dict__.pop("unlabelled_weight_", None)

    # Prediction

    def predict(self, X: Any, noise: ArrayLike | None = None) -> Array:
        """The likeliest class of every row."""
        rows = self._rows(X)
        if noise is not None:
            return self.classes_[self._joint(rows, noise).argmax(axis=1)]
        return self.classes_[self._best(rows)]

    def predict_proba(self, X: Any, noise: ArrayLike | None = None) -> Floats:
        """Posterior probabilities of the classes (n_rows, n_classes).

        Parameters
        ----------
        X : array-like or data frame
            Missing cells are integrated out.
        noise : float, array (d,), (n, d) or (n, d, d), optional
            Variances, or covariances, of known Gaussian noise on the features of all rows or of
            each row; the true features are integrated out. A table is always variances.
        """
        scores = self._joint(self._rows(X), noise, relative=True)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        return scores

    def predict_log_proba(self, X: Any, noise: ArrayLike | None = None) -> Floats:
        """Logarithms of `predict_proba`, right also where probabilities underflow."""
        scores = self._joint(self._rows(X), noise, relative=True)
        scores -= scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def decision_function(self, X: Any) -> Floats:
        """`log p(k) p(x | k)` of every class; of two classes the last minus the first."""
        scores = self._joint(self._rows(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def log_likelihood(self, X: Any, noise: ArrayLike | None = None) -> Floats:
        """`log p(x | k)` of the present cells of every row, under every class (n, K)."""
        return self._log_density(self._rows(X), noise)

    def log_likelihood_ratio(
        self, X: Any, positive: Any = None, negative: Any = None, noise: ArrayLike | None = None
    ) -> Floats:
        """`log p(x | positive) / p(x | negative)` of every row.

        Parameters
        ----------
        X : array-like or data frame
        positive : label, optional
            The last of two classes by default.
        negative : label, optional
            By default all other classes, in the proportions of `class_prior_`.
        noise : optional
            As in `predict_proba`.
        """
        rows = self._rows(X)
        if positive is None and len(self.classes_) != 2:
            raise InputError(
                f"Of {len(self.classes_)} classes it must be said which is positive: "
                f"positive={label_text(self.classes_[-1])}, for example."
            )
        code = len(self.classes_) - 1 if positive is None else code_of(positive, self.classes_)
        logs = self._log_density(rows, noise)
        if negative is not None:
            return logs[:, code] - logs[:, code_of(negative, self.classes_)]
        weights = np.delete(self.class_prior_, code)
        # Classes that are all impossible have no proportions.
        shares = (
            weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))
        )
        return logs[:, code] - log_sum_exp(np.delete(logs, code, axis=1), axis=1, weight=shares)

    def sample(
        self, n: int, label: Any = None, random_state: RandomSource = None
    ) -> tuple[Floats, Array]:
        """New rows from the model, and their labels.

        Parameters
        ----------
        n : int
        label : label, optional
            All rows from this class; else classes are drawn by `class_prior_`.
        random_state : None, int, Generator, RandomState or SeedSequence
        """
        check_is_fitted(self)
        n = checked_row_count(n)
        rng = stream(random_state, "sample")
        if label is None:
            codes = rng.choice(len(self.classes_), size=n, p=self.class_prior_)
        else:
            codes = np.full(n, code_of(label, self.classes_))
        X = np.empty((n, self.means_.shape[1]))
        for k in np.unique(codes):
            if not self.densities_.present[k]:
                raise InputError(
                    f"Class {label_text(self.classes_[k])} has no rows to learn a law from."
                )
            rows = np.flatnonzero(codes == k)
            X[rows] = self.densities_.sample(int(k), len(rows), rng)
        return X, self.classes_[codes]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._is_additive()
        return tags

    # Parts of a prediction

    def _rows(self, X: Any) -> Floats:
        if not hasattr(self, "densities_"):
            check_is_fitted(self)
        rows: Floats = check_features(self, X, allow_missing=self._is_additive()).numeric
        return rows

    def _log_prior(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_)

    def _best(self, rows: Floats) -> Positions:
        return self.densities_.best(rows, self._log_prior())

    def _log_density(self, rows: Floats, noise: ArrayLike | None) -> Floats:
        if noise is None:
            return self.densities_.log_density(rows)
        from novum.bayes.noise import checked_noise, noisy_log_density

        if not self.densities_.is_normal:
            raise InputError(
                "Noise is integrated out in closed form for normal laws only. Fit with "
                "estimate='maximum_likelihood'."
            )
        known = checked_noise(noise, rows)
        law = self.densities_
        return noisy_log_density(rows, law.location, self._matrices(), law.present, known)

    def _joint(
        self, rows: Floats, noise: ArrayLike | None = None, relative: bool = False
    ) -> Floats:
        """`log p(k) p(x | k)`; if `relative`, up to a term that all classes of a row share."""
        law = self.densities_
        if relative and noise is None and law.is_normal and law.is_shared:
            assert isinstance(law, MatrixDensities)
            if law.linear_scores_are_safe and not np.isnan(np.sum(rows)):
                scores = law.linear_scores(rows, self._log_prior())
                refuse_overflow(scores.max(axis=1))
                return scores
        scores = self._log_density(rows, noise)
        top = scores.max(axis=1)
        refuse_overflow(top)
        # Relative to the likeliest class the prior counts, whatever the size of the densities.
        return (scores - top[:, np.newaxis] if relative else scores) + self._log_prior()

    def _matrices(self) -> Floats:
        """Covariance matrices of all classes (K, d, d)."""
        law = self.densities_
        if isinstance(law, ColumnDensities):
            return law.variances[:, :, None] * np.eye(law.variances.shape[1])
        return np.broadcast_to(law.matrices, (len(law.location), *law.matrices.shape[1:]))

    # What others ask of a model

    def _leave_one_out(self, sample: Sample) -> tuple[Array, Floats]:
        """Labels of the rows by the model of the others, and how safe the formula is."""
        kept = sample if sample.weight is None else sample.rows(sample.weight > 0)
        statistics = sum_blocks(self._sum, kept)
        model = clone(self)
        complete = not np.isnan(np.sum(sample.numeric))
        if not (self._has_formula() and complete):
            return refitted_without(model, sample, statistics)
        estimated = estimate(statistics, self._structure(), self._floor())
        model._estimate(statistics)
        assert sample.classes is not None
        codes = np.searchsorted(statistics.classes, sample.classes)[sample.target]
        known = model.densities_.log_density(sample.numeric)
        left = leave_one_out(sample, codes, statistics, estimated, known, self._floor())
        log_prior = np.broadcast_to(model._log_prior(), known.shape)
        if self._given_prior() is None:
            weight = np.ones(sample.n_rows) if sample.weight is None else sample.weight
            counts = np.repeat(statistics.weight[None], sample.n_rows, axis=0)
            counts[np.arange(sample.n_rows), codes] -= weight
            log_prior = np.log(np.maximum(counts, 1e-300))
        scores = np.nan_to_num(left.log_density + log_prior, nan=-np.inf)
        return statistics.classes[scores.argmax(axis=1)], left.remainder

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        K, d = len(self.classes_), self.schema_.n_columns
        law = self.densities_
        if law.location.shape != (K, d) or self.class_prior_.shape != (K,):
            raise ModelFileError(
                f"The model has laws of shape {law.location.shape} for {K} classes and {d} columns."
            )
        prior = self.class_prior_
        if not ((prior >= 0).all() and abs(prior.sum() - 1) < 1e-6):
            raise ModelFileError("The class priors of the model are no probabilities.")
        try:
            law.check()
        except (ValueError, np.linalg.LinAlgError) as error:
            raise ModelFileError(f"The laws of the model are damaged: {error}") from error
