"""Logistic regression: the probability of a class as a function of a linear score.

    minimize  sum_i w_i log(1 + exp(-y_i (b0 + x_i'b))) + |b|^2 / (2 C),        y_i = -1 or 1,

for two classes, and for K the softmax loss `log sum_l exp(f_l) - f_y` with a score for every class.
The intercept is not penalized. The function is convex, and close to its optimum its Hessian is
known to within a factor, so that the fit proves how far from the optimum it is
(`logistic.certificate`), or that there is none (`logistic.separation`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import (
    Certificate,
    Learner,
    Stopwatch,
    deferred,
    fitted,
    parameter,
    warn_if_stopped,
)
from novum.core.runtime import (
    CallbackSupport,
    Progress,
    fit_context,
    fitting,
    round_attributes,
    track,
)
from novum.core.sums import ChunkPasses, set_feature_names
from novum.core.tables import Coding, Sample, Schema
from novum.core.text import label_text, listed
from novum.linear.class_labels import class_factors
from novum.linear.column_range import check_range, check_sparse_range
from novum.linear.logistic.fit import LogisticFit, fit_rows
from novum.linear.logistic.inference import LogisticInference
from novum.linear.logistic.information import (
    Covariance,
    LogisticSummary,
    check_inference,
    infer,
    rows_summary,
)
from novum.linear.logistic.objective import Shape
from novum.linear.logistic.prediction import LogisticPredictor
from novum.linear.logistic.rows import DenseRows, Rows, SparseRows, middle_and_spread, sparse_middle
from novum.linear.logistic.separation import Separation
from novum.linear.logistic.streaming import FirstPass, fit_passes
from novum.linear.sparse.composite import fit_sparse
from novum.linear.sparse.losses import LogRows
from novum.linear.sparse.penalties import (
    L1,
    L2,
    AdaptiveL1,
    ElasticNetPenalty,
    Groups,
    SparsePenalty,
    logistic_penalty,
)
from novum.numerics import Array, Floats

# Names of scikit-learn's solvers that have no counterpart here: the cost rule chooses.
_OTHER_SOLVERS = ("liblinear", "sag", "saga")


class LogisticRegression(LogisticPredictor, CallbackSupport, Learner):
    """Logistic regression with a proof of its optimum, inference, and fits over chunks.

    Minimizes `sum_i w_i loss_i + |coef|^2 / (2 C)`; `loss` is the negative log-likelihood of the
    row's class, binary or softmax. Solved by Newton's method, L-BFGS started from a subsample's
    Hessian, or Newton with conjugate gradients, whichever costs least (`logistic.fit`).

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet", None} or a penalty, default="deprecated"
        As in scikit-learn 1.9, `C` and `l1_ratio` decide; None stands for `C=inf`. A value such as
        `L1(0.1)`, `ElasticNetPenalty(0.1, 0.5)`, `AdaptiveL1(0.1)` or `Groups(0.1)` is added to the
        sum of the losses as it is, in place of `C`.
    C : float, default=1.0
        Inverse strength of the penalty; `inf` for none.
    l1_ratio : float, default=0.0
        Share of the L1 penalty: `(l1_ratio |b|_1 + (1 - l1_ratio) |b|^2 / 2) / C`.
    dual : bool, default=False
        Without effect: the optimum is the same.
    tol : float, default=1e-6
        The fit ends when the expected gap to the optimum is at most `tol^2` times the objective,
        whatever the units of the columns; with an L1 penalty or groups, when the duality gap is
        proved to be at most `tol` times the objective.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1
        Without effect: the intercept is never penalized.
    class_weight : mapping of labels, "balanced" or None
        Factors of the weights of the classes.
    random_state
        Without effect: nothing is random.
    solver : {"auto", "newton-cholesky", "lbfgs", "newton-cg", "gradient"}, default="auto"
        "auto" takes the one of least estimated cost. "gradient" is gradient descent, for teaching.
        scikit-learn's "liblinear", "sag" and "saga" are accepted and mean "auto".
    max_iter : int, default=100
        Steps that see all rows.
    verbose : int, default=0
        Shows progress on a terminal.
    warm_start : bool, default=False
        Starts from the coefficients of the last fit.
    n_jobs : int, optional
        Threads that sum blocks of rows. The result does not depend on it.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns coded by their levels, against the first level.
    prior : array-like (n_classes,) or mapping of labels, optional
        Priors of the application: classes are weighted so that they hold in training.

    Attributes
    ----------
    coef_ : array (1, n_coef) for two classes, (n_classes, n_coef) for more
        The coefficients of more than two classes sum to zero over the classes.
    intercept_ : array (1,) or (n_classes,)
    coef_names_ : tuple of str
    classes_ : array (n_classes,)
    class_prior_ : array (n_classes,)
        Shares of the classes in the (re-weighted) training rows.
    certificate_ : Certificate
    separation_ : Separation or None
        Direction along which the likelihood grows for ever, if there is no optimum.
    summary_ : LogisticSummary
        What inference needs of the rows.
    n_iter_ : array (1,)
    schema_, n_features_in_, feature_names_in_

    Notes
    -----
    A pass costs `O(n d)`, with the Hessian `O(n P^2)` for `P = (K - 1)(d + 1)` parameters. Weights
    count repetitions. Sparse rows stay sparse. Missing cells are refused; an unseen level counts as
    the first, with a warning. With an L1 penalty or groups the solver is Newton's method on working
    sets (`sparse.composite`), and inference is refused. Without a penalty, columns that say nothing
    new do not matter: of all coefficients of one likelihood those of smallest norm are given.
    If the classes can be separated there is no optimum: the verdict is `unbounded`, with a warning
    and the direction.

    References
    ----------
    Hosmer, Lemeshow and Sturdivant, Applied Logistic Regression, 3rd ed., 2013. Albert and
    Anderson, "On the existence of maximum likelihood estimates in logistic regression models",
    1984. Bach, "Self-concordant analysis for logistic regression", 2010.

    Examples
    --------
    >>> from novum.linear.logistic.regression import LogisticRegression
    >>> X, y = [[0], [0], [0], [1], [1], [1]], [0, 0, 1, 0, 1, 1]
    >>> model = LogisticRegression(C=float("inf")).fit(X, y)  # odds 1:2, then 2:1
    >>> np.exp(model.intercept_).round(9), np.exp(model.coef_).round(9)
    (array([0.5]), array([[4.]]))
    >>> model.certificate_.verdict.value, model.certificate_.distance_bound < 1e-6
    ('proved', True)
    """

    invariances: ClassVar[tuple[str, ...]] = ("shift", "row_order", "duplication")

    coef_: Floats = fitted()
    certificate_: Certificate = deferred()
    separation_: Separation | None = fitted()
    summary_: LogisticSummary = fitted()

    penalty: Any = parameter(
        {"l1", "l2", "elasticnet", "deprecated"},
        *(L1, L2, ElasticNetPenalty, AdaptiveL1, Groups, None),
        default="deprecated",
        kw_only=False,
    )
    C: float = parameter(Interval(Real, 0, None, closed="right"), default=1.0)
    l1_ratio: float | None = parameter(default=0.0, at_least=0, at_most=1)
    dual: bool = parameter(default=False)
    tol: float = parameter(default=1e-6, above=0)
    fit_intercept: bool = parameter(default=True)
    intercept_scaling: float = parameter(default=1, above=0)
    class_weight: Any = parameter(Mapping, {"balanced"}, None, default=None)
    random_state: Any = parameter("random_state", default=None)
    solver: str = parameter(
        {"auto", "newton-cholesky", "lbfgs", "newton-cg", "gradient"} | set(_OTHER_SOLVERS),
        default="auto",
    )
    max_iter: int = parameter(default=100, at_least=0)
    verbose: int = parameter("verbose", default=0)
    warm_start: bool = parameter(default=False)
    n_jobs: int | None = parameter(default=None)
    categorical_features: Any = parameter(str, None, "array-like", default="auto")
    prior: Any = parameter("array-like", Mapping, None, default=None)

    # Fit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Text, Boolean and categorical columns are coded inside.
        y : array-like of shape (n_rows,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        self : fitted estimator
        """
        chosen, strength = self._penalty()
        with fitting(self) as watch, track(self, "fit", self.max_iter, X=X, y=y) as progress:
            start = self._earlier() if self.warm_start else None
            sample = self._read(X, y, sample_weight, None)
            if chosen is not None:
                self._fit_sparse(sample, chosen, strength, start, progress, watch)
                round_attributes(self, X, "coef_", "intercept_")
                return self
            read = self._rows(sample)
            shape = Shape(len(read.classes), read.rows.n_columns, self.fit_intercept, strength)
            m = 1 if shape.n_classes == 2 else shape.n_classes
            if start is not None and start.shape != (m, shape.n_columns + 1):
                start = None
            solver = "auto" if self.solver in _OTHER_SOLVERS else self.solver
            fit = fit_rows(
                read.rows,
                sample,
                shape,
                solver=solver,
                tol=self.tol,
                max_iter=self.max_iter,
                start=start,
                progress=progress,
                watch=watch,
            )
            self._store(fit, sample.schema, read.classes, read.rows.class_weights)
            round_attributes(self, X, "coef_", "intercept_")
        return self

    def fit_stream(self, chunks: Any, *, schema: Schema | None = None, classes: Any = None) -> Self:
        """Fits to chunks `(X, y)` or `(X, y, weight)`, in several passes.

        Parameters
        ----------
        chunks : list, callable or Dask collections
            A list of chunks, a callable that returns a fresh iterator of them, a pair of Dask
            arrays or frames `(X, y)`, or a list of delayed chunks or futures.
        schema : Schema, optional
            Reads every chunk alike; without it the first pass unites the levels of the chunks.
        classes : array-like, optional
            All labels that must occur.
        """
        return self._fit_passes(ChunkPasses.over(chunks, self, schema), classes)

    def fit_file(
        self,
        path: Any,
        *,
        target: str,
        weight: str | None = None,
        features: Iterable[str] | None = None,
        kinds: Mapping[str, Any] | None = None,
        chunk_rows: int = 65_536,
        memory_limit: str | None = None,
        client: Any = None,
    ) -> Self:
        """Fits to a CSV, Parquet or ARFF file, which may be larger than memory.

        Parameters are those of `StatisticsMixin.fit_file`; the file is read once per step.
        """
        passes = ChunkPasses.over_file(
            path,
            self,
            target=target,
            chunk_rows=chunk_rows,
            client=client,
            weight=weight,
            features=features,
            kinds=kinds,
            memory_limit=memory_limit,
        )
        return self._fit_passes(passes)

    def _fit_passes(self, passes: ChunkPasses, classes: Any = None) -> Self:
        self._validate_params()
        chosen, strength = self._penalty()
        if chosen is not None:
            raise InputError(
                f"A fit over chunks has the L2 penalty only, got {chosen!r}. Use `fit` with the "
                "rows in memory, or l1_ratio=0."
            )
        with fitting(self), track(self, "fit", self.max_iter) as progress:
            known: FirstPass = passes(FirstPass.of)
            _check_classes(known.classes, type(self).__name__, classes)
            passes = replace(passes, schema=known.schema)
            factors = class_factors(
                known.classes, known.class_weights, self.class_weight, self.prior
            )
            fit = fit_passes(
                passes,
                known,
                factors,
                penalty=strength,
                fit_intercept=self.fit_intercept,
                tol=self.tol,
                max_iter=self.max_iter,
                progress=progress,
            )
            set_feature_names(self, known.schema)
            self._store(fit, known.schema, known.classes, known.class_weights * factors)
        return self

    # Inference

    def inference(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        covariance: Covariance = "classical",
        reference: Any = None,
    ) -> LogisticInference:
        """Standard errors, Wald and likelihood-ratio tests, intervals and odds ratios.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit: for a robust covariance, and where the model kept no information
            matrix (more than 500 parameters, or a solver without Hessian).
        covariance : {"classical", "HC0", "HC1"}
            The inverse information, or the sandwich that holds when the model is wrong; "HC1"
            corrects it for the number of parameters.
        reference : label, optional
            Of more than two classes, the one that others are compared with; the first by default.

        Examples
        --------
        >>> X, y = [[0], [0], [0], [1], [1], [1]], [0, 0, 1, 0, 1, 1]
        >>> found = LogisticRegression(C=float("inf")).fit(X, y).inference()
        >>> found.odds_ratios.round(9), (found.standard_errors**2).round(9)
        (array([0.5, 4. ]), array([1.5, 3. ]))
        """
        check_is_fitted(self)
        chosen, _ = self._penalty()
        if chosen is not None:
            raise InputError(
                f"Standard errors do not hold where a penalty has chosen the columns ({chosen!r}). "
                "Fit the columns of interest with C=inf on other rows."
            )
        check_inference(covariance, self.separation_)
        summary, scores = self.summary_, None
        if X is not None or covariance != "classical" or summary.information is None:
            if X is None or y is None:
                raise InputError(
                    "This needs the rows again: pass them as inference(X, y), with the weights of "
                    "the fit where it had some."
                )
            sample = clone(self)._read(X, y, sample_weight, self.schema_)
            summary, scores = rows_summary(self, self._rows(sample).rows)
        return infer(self, summary, scores, covariance, reference)

    # Steps of a fit

    def _penalty(self) -> tuple[SparsePenalty | None, float]:
        """A penalty with corners, or None for a plain L2 penalty, and the strength."""
        return logistic_penalty(self.penalty, float(self.C), self.l1_ratio)

    def _fit_sparse(
        self,
        sample: Sample,
        penalty: SparsePenalty,
        strength: float,
        start: Floats | None,
        progress: Progress,
        watch: Stopwatch,
    ) -> None:
        classes, weight, totals = self._weighted(sample)
        loss = LogRows(sample.target, weight, len(classes))
        if isinstance(penalty, Groups) and loss.n_scores > 1:
            raise InputError(
                f"Groups are offered for two classes, but y has {loss.n_classes}. Put the model "
                "into OneVsRestClassifier, or use L1."
            )
        fit = fit_sparse(
            sample,
            loss,
            penalty,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            max_iter=self.max_iter,
            start=start,
            progress=progress,
        )
        self.schema_, self.classes_ = sample.schema, classes
        self.class_prior_ = totals / totals.sum()
        self.coef_, self.intercept_ = fit.coef, fit.intercept
        self.certificate_, self.separation_ = (
            fit.certified("sum of log losses + penalty", self.tol, watch),
            None,
        )
        d = fit.coef.shape[1]
        self.summary_ = LogisticSummary(
            totals, fit.loss, strength, np.zeros(d), np.arange(d), np.empty((d, 0)), None
        )
        self.n_iter_ = np.array([max(1, fit.steps)], np.int32)
        warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=5)

    def _weighted(self, sample: Sample) -> tuple[Array, Floats, Floats]:
        """Classes, effective weights of the rows, and of the classes."""
        assert sample.classes is not None
        classes, weight = sample.classes, sample.weights
        _check_classes(classes, type(self).__name__)
        totals = np.bincount(sample.target, weight, len(classes)).astype(np.float64)
        factors = class_factors(classes, totals, self.class_weight, self.prior)
        return classes, weight * factors[sample.target], totals * factors

    def _rows(self, sample: Sample) -> _Read:
        """The rows under effective weights."""
        classes, weight, _ = self._weighted(sample)
        codes, K, centered = sample.target, len(classes), self.fit_intercept

        def names() -> tuple[str, ...]:
            return Coding(sample.schema).names

        if sample.is_sparse:
            X = sample.numeric
            check_sparse_range(X, names)
            center, spread = sparse_middle(X, weight, centered=centered)
            rows: Rows = SparseRows(X, codes, weight, center, spread, K, n_jobs=self.n_jobs)
        else:
            center, spread = middle_and_spread(sample, weight, centered=centered)
            rows = DenseRows(sample, codes, weight, center, spread, K, n_jobs=self.n_jobs)
        check_range(center, spread, names)
        return _Read(rows, classes)

    def _earlier(self) -> Floats | None:
        """Coefficients and intercepts of the last fit, (m, n_coef + 1)."""
        if not hasattr(self, "coef_"):
            return None
        return np.column_stack([self.coef_, self.intercept_])

    def _store(self, fit: LogisticFit, schema: Schema, classes: Array, weights: Floats) -> None:
        self.schema_ = schema
        self.classes_ = classes
        self.class_prior_ = weights / weights.sum()
        self.coef_, self.intercept_ = fit.coef, fit.intercept
        self.certificate_, self.separation_ = fit.certificate, fit.separation
        self.summary_ = LogisticSummary.of(fit, weights, self._penalty()[1])
        self.n_iter_ = np.array([fit.minimum.iterations], np.int32)
        if fit.separation is not None:
            fit.separation.warn(type(self).__name__)
        elif not fit.minimum.converged:
            warn_if_stopped(fit.certificate, type(self).__name__, stacklevel=5)

    def _check_state(self) -> None:
        super()._check_state()
        self.summary_.check(len(self.classes_), len(self.coef_names_))


@dataclass(frozen=True, eq=False)
class _Read:
    rows: Rows
    classes: Array


def _check_classes(classes: Array, learner: str, wanted: Any = None) -> None:
    if len(classes) < 2:
        raise InputError(
            f"{learner} needs samples of at least 2 classes in the data, but the data contains "
            f"only one class: {label_text(classes[0])}. Add rows of another class."
        )
    if wanted is not None:
        missing = [label for label in np.asarray(wanted).tolist() if label not in classes.tolist()]
        extra = [label for label in classes.tolist() if label not in np.asarray(wanted).tolist()]
        if missing or extra:
            raise InputError(
                f"`classes` lists {listed(np.asarray(wanted).tolist())}, but the rows have "
                f"{listed(classes.tolist())}. A class without rows cannot be learned."
            )
