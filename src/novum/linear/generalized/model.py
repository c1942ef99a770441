"""Generalized linear models: a law for the target, a link for its mean.

    g(E y_i) = b0 + x_i'b + offset_i,        Var y_i = scale V(E y_i) / w_i

    minimize  sum_i w_i d(y_i, m_i) / (2 W) + alpha |b|^2 / 2,        W = sum_i w_i,

with the unit deviance `d` of the law (`generalized.laws`); without a penalty that is maximum
likelihood. Solved by Fisher scoring (`generalized.fit`). For counts and amounts with the log link
the penalty may have corners, and Newton's method on working sets proves a gap (`sparse.composite`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Certificate,
    Learner,
    Stopwatch,
    fitted,
    parameter,
    warn_if_stopped,
)
from novum.core.runtime import answered, fit_context, fitting, round_attributes
from novum.core.tables import Coding, Sample, Schema, check_features, check_sample
from novum.linear.column_range import check_target_range
from novum.linear.generalized.fit import Rows, score_rows
from novum.linear.generalized.inference import (
    GeneralizedInference,
    GeneralizedSummary,
    covariance_of,
    sandwich,
)
from novum.linear.generalized.laws import LAWS, LINKS, Law, Link, NegativeBinomial, Tweedie, law_of
from novum.linear.logistic.inference import ChiSquaredTest
from novum.linear.sparse.composite import fit_sparse
from novum.linear.sparse.losses import AmountRows, CountRows, RowLoss
from novum.linear.sparse.penalties import L1, L2, AdaptiveL1, ElasticNetPenalty, Groups
from novum.numerics import Floats


class GeneralizedRegression(RegressorMixin, Learner):
    """The shared fit; see `GeneralizedLinearModel`."""

    invariances: ClassVar[tuple[str, ...]] = ("row_order", "duplication", "shift")

    coef_: Floats = fitted()
    intercept_: float = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()
    summary_: GeneralizedSummary = fitted()

    alpha: float = parameter(default=0.0, at_least=0)
    penalty: Any = parameter(L1, L2, ElasticNetPenalty, AdaptiveL1, Groups, None, default=None)
    fit_intercept: bool = parameter(default=True)
    max_iter: int = parameter(default=100, at_least=1)
    tol: float = parameter(default=1e-8, above=0)
    warm_start: bool = parameter(default=False)
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
    ) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Text, Boolean and categorical columns are coded inside.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        offset : array-like of shape (n_rows,), optional
            Added to the scores as it is.
        exposure : array-like of shape (n_rows,), optional
            Time or size that means are proportional to, above 0; for the log link.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self) as watch:
            sample = check_sample(self, X, y, sample_weight, accept_sparse=True)
            law, link = self._parts()
            shift = self._offset(offset, exposure, link, sample, sample_weight)
            if self.penalty is not None and not isinstance(self.penalty, L2):
                return self._fit_sparse(sample, shift, law, link, watch)
            rows = Rows.of(sample, self._target(sample, law), shift, self.fit_intercept)
            scoring = score_rows(
                rows,
                law,
                link,
                alpha=self._strength(),
                fit_intercept=self.fit_intercept,
                tol=self.tol,
                max_iter=self.max_iter,
                start=self._earlier(rows),
            )
            self.schema_ = sample.schema
            self.coef_ = scoring.coef
            self.intercept_ = float(scoring.intercept - scoring.coef @ rows.center)
            self.n_iter_ = max(1, scoring.steps)
            covariance, rank = covariance_of(scoring.information, rows.center, self.fit_intercept)
            self.summary_ = self._summary(
                covariance, rank, scoring.mean, rows.y, rows.weight, rows.offset, law, link
            )
            self.certificate_ = scoring.certified(link, self.tol, watch)
            warn_if_stopped(self.certificate_, type(self).__name__)
            round_attributes(self, X, "coef_")
        return self

    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Floats:
        """Means of the rows of `X`, (n_rows,), with their offsets or exposures."""
        check_is_fitted(self)
        sample = check_features(self, X, accept_sparse=True, tell_unseen=False)
        scores = Coding(self.schema_).scores(sample, self.coef_[:, np.newaxis])[:, 0]
        _, link = self._parts()
        shift = self._offset(offset, exposure, link, sample, None)
        return answered(self.coef_, X, link.mean(scores + self.intercept_ + shift))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the deviance that the model explains, 1 - deviance / null deviance."""
        law, _ = self._parts()
        mean = np.asarray(self.predict(X), np.float64)
        target = np.asarray(y, np.float64).ravel()
        weight = np.ones(len(target)) if sample_weight is None else np.asarray(sample_weight)
        constant = np.full_like(target, np.average(target, weights=weight))
        deviance, null = (float(weight @ law.deviance(target, m)) for m in (mean, constant))
        return 1.0 - deviance / null if null > 0 else float(deviance == 0)

    @property
    def coef_names_(self) -> tuple[str, ...]:
        """Names of the coefficients; a level is `column=level`, against the first level."""
        check_is_fitted(self)
        return Coding(self.schema_).names

    # Inference

    def inference(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
        covariance: str = "classical",
    ) -> GeneralizedInference:
        """Standard errors, Wald tests, deviance, AIC and BIC.

        Parameters
        ----------
        X, y, sample_weight, offset, exposure
            The rows of the fit, for a robust covariance only.
        covariance : {"classical", "HC0", "HC1"}, default="classical"
        """
        check_is_fitted(self)
        self._refuse_penalty("Standard errors")
        if covariance not in ("classical", "HC0", "HC1"):
            raise InputError(f"covariance must be 'classical', 'HC0' or 'HC1', got {covariance!r}.")
        summary = self.summary_
        matrix = summary.scale * summary.covariance
        if covariance != "classical":
            if X is None or y is None:
                raise InputError(
                    "A robust covariance needs the rows again: pass them as inference(X, y), with "
                    "the weights and offsets of the fit."
                )
            sample = check_sample(
                self, X, y, sample_weight, schema=self.schema_, accept_sparse=True
            )
            law, link = self._parts()
            shift = self._offset(offset, exposure, link, sample, sample_weight)
            rows = Rows.of(sample, self._target(sample, law), shift, self.fit_intercept)
            matrix = sandwich(rows, law, link, self.coef_, self.intercept_, self.fit_intercept)
            if covariance == "HC1":
                matrix = matrix * summary.rows / summary.df_residual
        first = [self.intercept_] if self.fit_intercept else []
        names = (("(intercept)",) if self.fit_intercept else ()) + self.coef_names_
        return GeneralizedInference(
            names,
            np.concatenate([first, np.asarray(self.coef_, np.float64)]),
            matrix,
            summary.deviance,
            summary.null_deviance,
            summary.pearson,
            summary.scale,
            summary.log_likelihood,
            summary.df_residual,
            summary.rows,
            summary.rank,
        )

    def compare(self, smaller: GeneralizedRegression) -> ChiSquaredTest:
        """The likelihood-ratio test against a model of fewer columns, fitted to the same rows."""
        for model in (self, smaller):
            check_is_fitted(model)
            model._refuse_penalty("Likelihood-ratio tests")
        if self._parts() != smaller._parts():
            raise InputError(
                f"The models differ in law or link ({self._parts()} and {smaller._parts()}), so "
                "they are not nested. Compare them by AIC."
            )
        more = [n for n in smaller.coef_names_ if n not in self.coef_names_]
        if more or (smaller.fit_intercept and not self.fit_intercept):
            raise InputError(
                f"The smaller model has {more or 'an intercept'} that the larger one has not, so "
                "they are not nested. Compare them by AIC."
            )
        a, b = self.summary_, smaller.summary_
        if a.rows != b.rows or not np.isclose(a.null_deviance, b.null_deviance, rtol=1e-9):
            raise InputError(
                "The models were not fitted to the same rows, weights and offsets; fit both anew."
            )
        if not a.rank > b.rank:
            raise InputError(
                f"Both models have {a.rank} coefficients, so there is nothing to test. Take "
                "columns out of the smaller one."
            )
        difference = max(b.deviance - a.deviance, 0.0)
        return ChiSquaredTest.of(difference / a.scale, a.rank - b.rank)

    # Steps of a fit

    def _parts(self) -> tuple[Any, Link]:
        """The law and the link."""
        raise NotImplementedError

    def _strength(self) -> float:
        """Of the penalty, whichever it is."""
        return float(self.alpha if self.penalty is None else self.penalty.strength)

    def _refuse_penalty(self, what: str) -> None:
        if self._strength() > 0:
            named = f"alpha={self.alpha:g}" if self.penalty is None else f"penalty={self.penalty!r}"
            raise InputError(f"{what} do not hold for {named}. Fit with alpha=0 and no penalty.")

    def _offset(
        self, offset: Any, exposure: Any, link: Link, sample: Sample, weight: Any
    ) -> Floats:
        """Offsets of the rows that are kept, with the logarithms of exposures."""
        shift = np.zeros(sample.n_rows)
        for name, values in (("offset", offset), ("exposure", exposure)):
            if values is None:
                continue
            numbers = np.asarray(values, np.float64).ravel()
            counted = np.asarray(1.0 if weight is None else weight) > 0
            if counted.size == numbers.size:
                # Rows of weight zero are gone from the sample.
                numbers = numbers[counted]
            if numbers.size != sample.n_rows:
                raise InputError(
                    f"{name} has {numbers.size} values for {sample.n_rows} rows. Pass one for each."
                )
            wrong = ~np.isfinite(numbers) | (numbers <= 0 if name == "exposure" else False)
            if wrong.any():
                row = int(np.argmax(wrong))
                rule = "finite and above 0" if name == "exposure" else "finite"
                raise InputError(
                    f"{name} must be {rule}, but is {numbers[row]:g} at row {row}. Take the row "
                    "out or correct it."
                )
            if name == "exposure" and link.name != "log":
                raise InputError(
                    f"exposure is for the log link, but the link is {link.name!r}. Use offset."
                )
            shift += np.log(numbers) if name == "exposure" else numbers
        return shift

    def _target(self, sample: Sample, law: Any) -> Floats:
        """The target, which the law must be able to give."""
        target = np.asarray(sample.target, np.float64)
        if target.ndim == 2 and target.shape[1] == 1:
            target = column_or_1d(target, warn=True)
        if target.ndim != 1:
            raise InputError(
                f"{type(self).__name__} has one target, but y has shape {target.shape}. Fit one "
                "model for each."
            )
        check_target_range(target, power=max(2.0, getattr(law, "power", 2.0)))
        wrong = ~law.allows(target)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"Some value(s) of y are out of the valid range of the {law.name} law: "
                f"{target[row]:g} at row {row}. Choose another law, or correct the target."
            )
        return target

    def _fit_sparse(
        self, sample: Sample, shift: Floats, law: Any, link: Link, watch: Stopwatch
    ) -> Self:
        """The fit with a penalty that has corners."""
        losses: dict[str, Callable[[Floats, Floats, Floats], RowLoss]]
        losses = {"poisson": CountRows, "gamma": AmountRows}
        if link.name != "log" or law.name not in losses:
            raise InputError(
                f"penalty={self.penalty!r} is offered for the Poisson and gamma laws with the log "
                f"link, but the law is {law.name} and the link {link.name}. Use L2, or "
                "PenalizedRegression for numbers and LogisticRegression for classes."
            )
        target, total = self._target(sample, law), float(sample.weights.sum())
        if not target.any() and self.fit_intercept:
            raise InputError(
                "Every count of y is 0, so no intercept is best. Add rows with events."
            )
        loss = losses[law.name](target, sample.weights / total, shift)
        earlier = None
        if self.warm_start and hasattr(self, "coef_"):
            earlier = np.append(self.coef_, self.intercept_).astype(float)[np.newaxis]
        fit = fit_sparse(
            sample,
            loss,
            self.penalty,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            max_iter=self.max_iter,
            start=earlier,
        )
        self.schema_ = sample.schema
        self.coef_, self.intercept_ = fit.coef[0], float(fit.intercept[0])
        self.n_iter_ = max(1, fit.steps)
        scores = Coding(sample.schema).scores(sample, fit.coef.T)
        mean = link.mean(scores[:, 0] + self.intercept_ + shift)
        rank = int(np.count_nonzero(fit.coef)) + bool(self.fit_intercept)
        self.summary_ = self._summary(
            np.empty((0, 0)), rank, mean, target, sample.weights, shift, law, link
        )
        self.certificate_ = fit.certified("mean deviance / 2 + penalty", self.tol, watch)
        warn_if_stopped(self.certificate_, type(self).__name__)
        return self

    def _earlier(self, rows: Rows) -> Floats | None:
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        coef = np.asarray(self.coef_, np.float64)
        if coef.size != rows.center.size:
            return None
        return np.append(coef, self.intercept_ + coef @ rows.center)[
            : coef.size + self.fit_intercept
        ]

    def _summary(
        self,
        covariance: Floats,
        rank: int,
        mean: Floats,
        y: Floats,
        weight: Floats,
        offset: Floats,
        law: Any,
        link: Link,
    ) -> GeneralizedSummary:
        total = float(weight.sum())
        variance = np.maximum(law.variance(mean), 1e-300)
        pearson = float(weight @ ((y - mean) ** 2 / variance))
        scale = 1.0
        if law.has_scale:
            scale = pearson / (total - rank) if total > rank else float("nan")
        if offset.any():
            null = score_rows(
                Rows(np.empty((len(y), 0)), np.empty(0), y, weight, offset),
                law, link, alpha=0.0, fit_intercept=True, tol=1e-10, max_iter=100,
            ).mean  # fmt: skip
        else:
            # One mean for all rows: the average solves the equations of every law and link.
            null = np.full_like(y, weight @ y / total)
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihood = law.log_likelihood(y, mean, weight, scale)
            deviance, null_deviance = (float(weight @ law.deviance(y, m)) for m in (mean, null))
        return GeneralizedSummary(
            covariance, deviance, null_deviance, pearson, scale, likelihood, total, rank
        )

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        width = len(self.coef_names_)
        if np.shape(self.coef_) != (width,) or not np.isfinite(self.coef_).all():
            raise ModelFileError(
                f"The model has coefficients of shape {np.shape(self.coef_)} for {width} columns."
            )
        has_corners = self.penalty is not None and not isinstance(self.penalty, L2)
        self.summary_.check(0 if has_corners else width + bool(self.fit_intercept))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        chosen = self.categorical_features
        tags.input_tags.string = chosen is not None
        tags.input_tags.categorical = isinstance(chosen, str) and chosen == "all"
        tags.target_tags.positive_only = bool(np.isfinite(self._tagged_law().lowest))
        return tags

    def _tagged_law(self) -> Any:
        try:
            return self._parts()[0]
        except (InputError, TypeError, AttributeError):
            return Law("gaussian")


class GeneralizedLinearModel(GeneralizedRegression):
    """Regression with a law for the target and a link for its mean, and their inference.

    Minimizes `sum_i w_i d(y_i, m_i) / (2 W) + alpha |b|^2 / 2`, with the unit deviance `d` of the
    law and `g(m_i) = b0 + x_i'b + offset_i`; with `alpha=0` that is maximum likelihood. Solved by
    Fisher scoring.

    Parameters
    ----------
    law : {"gaussian", "bernoulli", "poisson", "gamma"}, NegativeBinomial or Tweedie, \
default="gaussian"
    link : {"identity", "log", "logit", "probit", "inverse"}, optional
        By default the identity for the Gaussian law, the logit for the Bernoulli law, else the log.
    alpha : float, default=0.0
        Strength of an L2 penalty.
    penalty : L1, L2, ElasticNetPenalty, AdaptiveL1 or Groups, optional
        Takes the place of `alpha |b|^2 / 2`. Those with corners are offered for the Poisson and
        gamma laws with the log link; `tol` is then a relative duality gap.
    fit_intercept : bool, default=True
    max_iter : int, default=100
    tol : float, default=1e-8
        Scoring ends when the expected gain of a step is at most `tol^2` times the objective.
    warm_start : bool, default=False
        Starts from the coefficients of the last fit.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns coded by their levels, against the first level.

    Attributes
    ----------
    coef_ : array (n_coef,)
    intercept_ : float
    coef_names_ : tuple of str
    summary_ : GeneralizedSummary
        Deviances, scale, log-likelihood and covariance.
    certificate_ : Certificate
    n_iter_ : int
    schema_, n_features_in_, feature_names_in_

    Notes
    -----
    A step costs `O(n p^2)`; sparse rows are made dense. Weights count repetitions. Missing cells
    are refused; an unseen level counts as the first, with a warning. Of coefficients that are not
    determined those of smallest norm are given. Where likelihood grows for ever (a level without
    events, classes that can be separated) the verdict is `unbounded`, with a warning. With the log
    link and the laws of counts and amounts the objective is convex; with others the optimum is a
    local one.

    References
    ----------
    McCullagh and Nelder, Generalized Linear Models, 2nd ed., 1989.

    Examples
    --------
    >>> from novum.linear import GeneralizedLinearModel
    >>> X, y = [[0], [0], [1], [1]], [1, 3, 5, 7]  # means 2 and 6
    >>> model = GeneralizedLinearModel("poisson").fit(X, y)
    >>> np.exp([model.intercept_, model.coef_[0]]).round(9).tolist()
    [2.0, 3.0]
    >>> (model.inference().standard_errors ** 2).round(9).tolist()  # 1/4, and 1/4 + 1/12
    [0.25, 0.333333333]
    """

    law: Any = parameter(LAWS, NegativeBinomial, Tweedie, default="gaussian", kw_only=False)
    link: str | None = parameter(LINKS, default=None)

    def _parts(self) -> tuple[Any, Link]:
        law = law_of(self.law)
        return law, Link(self.link or law.link)
