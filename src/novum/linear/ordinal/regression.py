"""Ordinal regression: classes with an order, by thresholds on one latent score.

    P(class <= k | x) = F(theta_k - x'b),      theta_1 < ... < theta_K-1,

with `F` logistic (proportional odds, McCullagh 1980) or normal (ordered probit). A positive
coefficient moves rows to higher classes. The negative log-likelihood is convex, so Newton's method
with a checked step finds the one optimum, from sums over any engine (`ordinal.newton`). Where the
classes are separated there is none; then the certificate says so and names the direction. Penalties
with corners have Newton's method on working sets, with a certified gap (`sparse.composite`).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    ConvergenceWarning,
    Learner,
    Stopwatch,
    Verdict,
    parameter,
    warn_if_stopped,
)
from novum.core.runtime import fit_context, fitting
from novum.core.sums import ChunkPasses, set_feature_names
from novum.core.tables import Coding, Sample, Schema, check_features, check_sample
from novum.core.text import label_text
from novum.linear.ordinal.inference import (
    OrdinalInference,
    ProportionalOddsTest,
    proportional_odds_test,
)
from novum.linear.ordinal.links import LINKS, Link
from novum.linear.ordinal.newton import OrdinalFit, OrdinalLikelihood, fit_ordinal
from novum.linear.ordinal.rows import (
    CoordinatePasses,
    Coordinates,
    MemoryPasses,
    OrdinalSummary,
    Passes,
    check_width,
    declared_order,
    order_of,
)
from novum.linear.sparse.composite import fit_sparse
from novum.linear.sparse.losses import OrderedRows
from novum.linear.sparse.penalties import L1, L2, AdaptiveL1, ElasticNetPenalty, Groups
from novum.numerics import Array, Floats


class OrdinalRegression(DecisionMixin, ClassifierMixin, Learner):
    """Classes with an order, by thresholds on a linear score.

    Minimizes `-sum_i w_i log P(y_i | x_i) + alpha |coef|^2 / 2`; thresholds carry no penalty.

    Parameters
    ----------
    link : {"logit", "probit"}
        Law of the latent noise: proportional odds, or ordered probit.
    alpha : float
        Strength of the penalty, in units of log-likelihood; `1 / C` of a logistic regression.
    penalty : L1, L2, ElasticNetPenalty, AdaptiveL1 or Groups, optional
        Takes the place of `alpha |coef|^2 / 2`. Those with corners need the logit link and rows in
        memory.
    classes : array-like, optional
        All classes from lowest to highest. By default the declared order of an ordered categorical
        or Enum, or the size of numbers; text is taken by the alphabet, with a warning.
    tol : float
        Newton decrement at which to stop, as a share of the root of the total weight; with a
        penalty that has corners the relative duality gap, 1e-8 at least.
    max_iter : int
    categorical_features : "auto", "all", None, mask, names or indices
        Columns to be coded by their levels.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        In their order; declared classes without rows are left out, with a warning.
    coef_ : array of shape (n_coefs,)
    thresholds_ : array of shape (n_classes - 1,)
    class_prior_ : array of shape (n_classes,)
        Shares of the classes in training.
    covariance_ : array
        Inverse of the observed information, coefficients first. NaN for coefficients that the rows
        leave open, and everywhere if the classes are separated; empty for a penalty with corners.
    rank_ : int
        Coefficients that the rows determine.
    n_iter_ : int
    certificate_ : Certificate
        With the logit link it bounds the distance to the optimum. Separated classes have the
        verdict `unbounded`, and the details the direction of the coefficients.
    coef_names_ : tuple of str

    Notes
    -----
    A pass costs `n p^2`. Collinear and constant columns are no trouble: among equally likely
    coefficients those of smallest norm are given. `fit_stream` and `fit_file` take chunks, files
    and Dask collections, which are read once for each step. Missing cells are refused.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> y = ["low", "mid", "low", "high", "mid", "high"]
    >>> model = OrdinalRegression(classes=["low", "mid", "high"]).fit(X, y)
    >>> model.predict([[0.0], [9.0]]).tolist()
    ['low', 'high']
    >>> bool(model.coef_[0] > 0), bool(model.thresholds_[0] < model.thresholds_[1])
    (True, True)
    """

    link: str = parameter({"logit", "probit"}, default="logit", kw_only=False)
    alpha: float = parameter(default=0.0, at_least=0)
    penalty: Any = parameter(L1, L2, ElasticNetPenalty, AdaptiveL1, Groups, None, default=None)
    classes: Any = parameter("array-like", None, default=None)
    tol: float = parameter(default=1e-10, above=0)
    max_iter: int = parameter(default=100, at_least=1)
    categorical_features: Any = parameter(default="auto")

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; a penalty compares columns with each other."""
        known = ("shift", "row_order", "duplication")
        return known if self._strength() > 0 else (*known, "column_scale", "common_scale")

    # Fitting

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
            Classes; see the parameter `classes` for their order.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        """
        with fitting(self) as watch:
            sample = self._read(X, y, sample_weight, None)
            if self._has_corners():
                self._fit_sparse(sample, declared_order(y), watch)
                return self
            check_width(sample.schema, len(_labels(sample)))
            summary = OrdinalSummary.of(sample)
            coordinates = self._coordinates(summary, declared_order(y))
            self._fit_passes(summary, coordinates, MemoryPasses(sample, coordinates))
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_stream(self, chunks: Any, *, schema: Schema | None = None, classes: Any = None) -> Self:
        """Fits to chunks `(X, y)` or `(X, y, weight)`, reading them once for each step.

        Parameters
        ----------
        chunks : list, callable or Dask collections
            A callable returns a fresh iterator of chunks.
        schema : Schema, optional
            Reads every chunk alike; without it the levels of all chunks are united first.
        classes : array-like, optional
            The order of the classes, if the parameter `classes` does not say it.
        """
        with fitting(self):
            self._fit_chunks(ChunkPasses.over(chunks, self, schema), classes)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_file(self, path: Any, *, target: str, **options: Any) -> Self:
        """Fits to a CSV, Parquet or ARFF file, which may be larger than memory.

        Parameters
        ----------
        path : path of the file
        target : str
            Name of the column with the classes.
        **options
            `weight`, `features`, `kinds`, `chunk_rows`, `memory_limit` and `client`, as in
            `LinearRegression.fit_file`.
        """
        with fitting(self):
            self._fit_chunks(ChunkPasses.over_file(path, self, target=target, **options), None)
        return self

    # Steps of a fit

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:
        return check_sample(
            self, X, y, sample_weight, target="classes", schema=schema, accept_sparse=True
        )

    def _strength(self) -> float:
        """Of the penalty, whichever it is."""
        return float(self.alpha if self.penalty is None else self.penalty.strength)

    def _has_corners(self) -> bool:
        return self.penalty is not None and not isinstance(self.penalty, L2)

    def _fit_sparse(self, sample: Sample, declared: Any, watch: Stopwatch) -> None:
        if self.link != "logit":
            raise InputError(
                f"penalty={self.penalty!r} is offered for the logit link, got {self.link!r}. Use "
                "link='logit', or L2."
            )
        labels = _labels(sample)
        order = self._order(labels, declared)
        places = {label: k for k, label in enumerate(order.tolist())}
        codes = np.array([places[label] for label in labels.tolist()])[sample.target]
        prior = np.bincount(codes, sample.weights, len(order)) / sample.weights.sum()
        start = self._link().quantile(np.cumsum(prior)[:-1])
        fit = fit_sparse(
            sample,
            OrderedRows(codes, sample.weights, start),
            self.penalty,
            fit_intercept=True,
            tol=max(self.tol, 1e-8),
            max_iter=self.max_iter,
        )
        self.schema_, self.classes_, self.class_prior_ = sample.schema, order, prior
        self.coef_, self.thresholds_ = fit.coef[0], fit.thresholds
        self.rank_, self.n_iter_ = int(np.count_nonzero(fit.coef)), max(1, fit.steps)
        self.weight_, self.log_likelihood_ = float(sample.weights.sum()), -fit.loss
        self.covariance_ = np.empty((0, 0))
        objective = "negative log-likelihood + penalty"
        self.certificate_ = fit.certified(objective, max(self.tol, 1e-8), watch)
        warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=5)

    def _fit_chunks(self, passes: ChunkPasses, classes: Any) -> None:
        if self._has_corners():
            raise InputError(
                f"A fit over chunks has the L2 penalty only, got {self.penalty!r}. Use `fit` with "
                "the rows in memory."
            )
        summary = passes(OrdinalSummary.of)
        check_width(summary.schema, len(summary.labels))
        coordinates = self._coordinates(summary, None if classes is None else tuple(classes))
        set_feature_names(self, summary.schema)
        later = replace(passes, schema=summary.schema)
        self._fit_passes(summary, coordinates, CoordinatePasses(later, coordinates))

    def _coordinates(self, summary: OrdinalSummary, declared: Any) -> Coordinates:
        return Coordinates.of(summary, self._order(summary.sorted_labels, declared))

    def _order(self, labels: Array, declared: Any) -> Array:
        """The classes that occur, from lowest to highest."""
        if len(labels) < 2:
            raise InputError(
                "OrdinalRegression needs rows of two classes or more, but there is one class only: "
                f"all rows are of class {label_text(labels[0])}. Add rows of another."
            )
        return order_of(labels, self.classes, declared, type(self).__name__)

    def _fit_passes(
        self, summary: OrdinalSummary, coordinates: Coordinates, passes: Passes
    ) -> None:
        prior = _shares(summary, coordinates.order)
        start = np.zeros(coordinates.n_thresholds + coordinates.rank)
        start[: coordinates.n_thresholds] = self._link().quantile(np.cumsum(prior)[:-1])
        problem = OrdinalLikelihood(self._link(), coordinates, self._strength(), start)
        fit = fit_ordinal(problem, passes, self.tol, self.max_iter)
        self.schema_ = summary.schema
        self.classes_, self.class_prior_ = coordinates.order, prior
        self._store(fit, summary)
        if fit.separated is None:
            warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=5)
        else:
            self._warn_separated(coordinates.spread)

    def _store(self, fit: OrdinalFit, summary: OrdinalSummary) -> None:
        coordinates = fit.problem.coordinates
        p, jacobian = len(coordinates.center), coordinates.jacobian()
        values = jacobian @ fit.params
        self.coef_, self.thresholds_ = values[:p].copy(), values[p:].copy()
        self.rank_, self.n_iter_ = coordinates.rank, max(1, fit.certificate.iterations or 1)
        self.weight_ = float(summary.columns.weight)
        self.log_likelihood_ = -fit.sums.value
        hessian = fit.problem.derivatives(fit.params, fit.sums)[1]
        details = {**fit.certificate.details, "rank": coordinates.rank, "columns": p}
        if fit.separated is not None:
            self.covariance_ = np.full((len(values), len(values)), np.nan)
            moved = jacobian @ fit.separated.direction
            details["separation"] = "complete" if fit.separated.complete else "quasi-complete"
            details["direction"] = tuple(moved[:p].tolist())
            self.certificate_ = replace(fit.certificate, details=details)
            return
        self.covariance_ = jacobian @ np.linalg.pinv(hessian, hermitian=True) @ jacobian.T
        known = fit.problem.distance(fit.params, fit.sums)
        bound = None
        if known is not None:
            largest = max(float(np.linalg.eigvalsh(self.covariance_)[-1]), 0.0)
            bound = known[1] * float(np.sqrt(largest))
        self.certificate_ = replace(fit.certificate, details=details, distance_bound=bound)
        if self._strength() == 0:
            self.covariance_[coordinates.undetermined] = np.nan
            self.covariance_[:, coordinates.undetermined] = np.nan

    def _warn_separated(self, spread: Floats) -> None:
        details = self.certificate_.details
        sizes = spread * np.abs(np.array(details["direction"], float))
        names = [
            self.coef_names_[j]
            for j in np.argsort(-sizes, kind="stable")[:3]
            if sizes[j] > 1e-6 * sizes.max()
        ]
        warnings.warn(
            f"OrdinalRegression: the classes are separated ({details['separation']}), mainly along "
            f"{', '.join(map(repr, names))}, so the likelihood grows without end and the "
            "coefficients are those of the last step. Fit with alpha > 0, or leave out the columns "
            "that separate them.",
            ConvergenceWarning,
            stacklevel=5,
        )

    def _link(self) -> Link:
        return LINKS[self.link]

    # Prediction

    def latent_score(self, X: Any) -> Floats:
        """`x'b`, the place of each row on the scale of the thresholds, of shape (n,)."""
        check_is_fitted(self)
        sample = check_features(self, X, accept_sparse=True, tell_unseen=False)
        return Coding(self.schema_).scores(sample, self.coef_[:, np.newaxis])[:, 0]

    def predict_cumulative(self, X: Any) -> Floats:
        """`P(class <= k)` of each class, of shape (n, n_classes); the last column is 1."""
        score = self.latent_score(X)[:, np.newaxis]
        below = self._link().cdf(self.thresholds_ - score)
        return np.column_stack([below, np.ones(len(below))])

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`, with all digits in the tails."""
        score = self.latent_score(X)[:, np.newaxis]
        ends = np.concatenate([[-np.inf], self.thresholds_, [np.inf]])
        logs = self._link().log_interval(ends[1:] - score, ends[:-1] - score)
        return logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, of shape (n, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """The most likely class of each row; of equally likely ones the lowest."""
        places = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[places]

    def expected_rank(self, X: Any) -> Floats:
        """`sum_k k P(class k)` with the lowest class as 0, of shape (n,)."""
        proba = self.predict_proba(X)
        return proba @ np.arange(proba.shape[1])

    # Inference

    def inference(self) -> OrdinalInference:
        """Standard errors, tests, intervals and odds ratios; needs `alpha=0`."""
        check_is_fitted(self)
        self._require_likelihood("Standard errors")
        spread = np.sqrt(np.maximum(np.diag(self.covariance_), 0.0))
        shares = self.class_prior_
        labels = [str(label) for label in self.classes_.tolist()]
        steps = [f"{a}|{b}" for a, b in pairwise(labels)]
        return OrdinalInference(
            (*self.coef_names_, *steps),
            len(self.coef_),
            np.concatenate([self.coef_, self.thresholds_]),
            spread,
            self.log_likelihood_,
            float(self.weight_ * (shares * np.log(shares)).sum()),
            self.rank_,
            self.weight_,
            self.link,
        )

    def proportional_odds_test(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> ProportionalOddsTest:
        """Score test that a column shifts all thresholds alike; needs the rows of the fit.

        A small p value says that one coefficient for all thresholds is too few.
        """
        check_is_fitted(self)
        self._require_likelihood("The test of proportional odds")
        if len(self.classes_) == 2:
            raise InputError(
                "Two classes have one threshold only, so there is no assumption to test."
            )
        sample = clone(self)._read(X, y, sample_weight, self.schema_)
        coordinates = Coordinates.of(OrdinalSummary.of(sample), self.classes_)
        inner = coordinates.loadings.T @ self.coef_
        thresholds = self.thresholds_ - coordinates.center @ self.coef_
        return proportional_odds_test(
            self._link(),
            coordinates,
            np.concatenate([thresholds, inner]),
            MemoryPasses(sample, coordinates),
            self.coef_names_,
        )

    def _require_likelihood(self, what: str) -> None:
        if self._strength() > 0:
            named = f"alpha={self.alpha!r}" if self.penalty is None else repr(self.penalty)
            raise InputError(
                f"{what} belong to the optimum of the likelihood, and {named} moves the "
                "coefficients away from it. Fit with alpha=0 and no penalty."
            )
        if self.certificate_.verdict is Verdict.UNBOUNDED:
            raise InputError(
                f"{what} do not exist: the classes are separated, so the likelihood has no "
                "optimum. Fit with alpha > 0, or leave out the columns that separate them."
            )

    # State

    @property
    def coef_names_(self) -> tuple[str, ...]:
        """Names of the coefficients; a level is `column=level`, against the first level."""
        check_is_fitted(self)
        return Coding(self.schema_).names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        chosen = self.categorical_features
        tags.input_tags.string = chosen is not None
        tags.input_tags.categorical = isinstance(chosen, str) and chosen == "all"
        # One score cannot tell classes apart that have no order, as in scikit-learn's check.
        tags.classifier_tags.poor_score = True
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        p, m = len(self.coef_names_), len(self.classes_) - 1
        shapes = {"coef_": (p,), "thresholds_": (m,), "class_prior_": (m + 1,)}
        for name, shape in shapes.items():
            values = np.asarray(getattr(self, name))
            if values.shape != shape or not np.isfinite(values).all():
                raise ModelFileError(
                    f"The model has {name} of shape {values.shape}, or with cells that are no "
                    f"numbers, for {p} columns and {m + 1} classes."
                )
        if np.shape(self.covariance_) != ((0, 0) if self._has_corners() else (p + m, p + m)):
            raise ModelFileError(f"The model has a covariance of shape {self.covariance_.shape}.")
        if not (np.diff(self.thresholds_) > 0).all():
            raise ModelFileError("The model has thresholds that are not in order.")


def _labels(sample: Sample) -> Array:
    assert sample.classes is not None
    return sample.classes


def _shares(summary: OrdinalSummary, order: Array) -> Floats:
    """Share of the weight of each class, in their order."""
    weights = dict(zip(summary.labels, summary.weights, strict=True))
    counts = np.array([weights[label] for label in order.tolist()])
    return counts / counts.sum()
