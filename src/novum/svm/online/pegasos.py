"""Pegasos: a linear support vector machine by stochastic subgradient steps.

    minimize   alpha / 2 (|w|^2 + b^2) + mean of max(0, 1 - s_i (w'x_i + b)),      s_i = -1 or 1

Steps of length `1 / (alpha t)` along the subgradient of a few rows approach the optimum like
`1 / (alpha t)` whatever the number of rows (`pegasos_training`). What the rows contributed to the
weights is a dual point, so that every fit knows a bound of its distance to the optimum.
`LinearSVC` finds the optimum itself; Pegasos learns from rows as they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Certificate,
    Learner,
    Verdict,
    parameter,
    positive_labels,
)
from novum.core.runtime import RandomSource, fit_context, fitting, seed, seed_sequence, stream
from novum.core.tables import LabelTarget, Sample, check_classes, check_sample
from novum.core.text import listed
from novum.linear import Visits, class_factors, labels_among, visits_of
from novum.numerics import Array, Floats
from novum.svm.linear.design import design_of
from novum.svm.linear.machine import LinearClassifier, check_two_classes, hyperplanes
from novum.svm.linear.solution import Budget
from novum.svm.online.pegasos_training import PegasosRule, PegasosRun, RowMachine, drawing, train
from novum.svm.solver.problem import Stopping

OBJECTIVE = "alpha |w|^2 / 2 + mean hinge loss"


class _Rows(NamedTuple):
    """The design, the labels and the weights of a fit, class weights included."""

    X: Any
    labels: LabelTarget
    weight: Floats | None


class Pegasos(LinearClassifier, Learner):
    """Linear support vector machine trained by stochastic subgradient steps.

    Parameters
    ----------
    alpha : float
        The penalty `lambda`; in terms of `LinearSVC(loss="hinge")`, `alpha = 1 / (C n)`.
    batch_size : int
        Rows of one step.
    projection : bool
        Whether every step ends in the ball of radius `1 / sqrt(alpha)`, which holds the optimum.
    average : bool
        Whether the weights are the mean of those at the ends of all passes, later ones counting
        more.
    fit_intercept : bool
        The intercept is the coefficient of a constant column of 1 and penalized with the others.
    tol : float
        Relative duality gap at which the training may end.
    max_iter : int
        Passes over the rows.
    max_seconds : float, optional
        Wall-clock time after which no further pass is begun.
    class_weight : dict, "balanced" or None
        Factors of the weights of classes.
    random_state : int, generator or None
        Of the order of rows.
    categorical_features : "auto", "all", None, mask, names or indices
        Columns to be coded by their levels.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_, intercept_ : arrays of shape (n_classes, n_coefs) and (n_classes,); 1 of two classes
    coef_names_ : tuple of str
    sums_ : array of shape (n_members, n_coefs + 1)
        `alpha t w` after the last step, where `partial_fit` goes on.
    t_ : float
        Steps.
    n_iter_ : int
        Passes, the most of all classes.
    certificate_ : Certificate
        `primal`, and `dual` from the shares of the rows in the weights.

    Notes
    -----
    A step costs the cells of its rows. Weights count repetitions; equal rows are united and the
    order of the table does not matter. Missing cells are refused. The smaller `alpha`, the more
    passes are needed: the gap falls like `1 / (alpha t)`.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro and Cotter (2011).

    Examples
    --------
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]
    >>> model = Pegasos(alpha=0.1, tol=0.01).fit(X, y)
    >>> model.predict(X).tolist(), model.certificate_.relative_gap <= 0.01
    (['no', 'no', 'yes', 'yes'], True)
    """

    alpha: float = parameter(default=0.01, above=0)
    batch_size: int = parameter(default=1, at_least=1)
    projection: bool = parameter(default=True)
    average: bool = parameter(default=False)
    fit_intercept: bool = parameter(default=True)
    tol: float = parameter(default=1e-3, above=0)
    max_iter: int = parameter(default=1000, at_least=1)
    max_seconds: float | None = parameter(default=None, at_least=0)
    class_weight: dict[Any, float] | str | None = parameter({"balanced"}, dict, default=None)
    random_state: RandomSource = parameter(default=0)
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    intercept_scaling = 1.0
    invariances: ClassVar[tuple[str, ...]] = ("row_order", "duplication")

    # Fitting

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains until the gap is small or the passes are used up.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        """
        stopping = Stopping(float(self.tol), self.max_iter, self.max_seconds)
        with fitting(self) as watch:
            sample = check_sample(self, X, y, sample_weight, target="classes", accept_sparse=True)
            classes = check_two_classes(sample.classes, sample.n_rows, type(self).__name__)
            rows = self._rows(sample, LabelTarget("classes", classes, codes=sample.target))
            trained = self._train(rows, stopping)
            self.schema_, self.classes_ = sample.schema, classes
            self._store([m.vector(run.a) for m, run in trained], [m for m, _ in trained])
            solutions = [run.solution for _, run in trained]
            self.n_iter_ = max(f.iterations for f in solutions)
            self._certify(solutions, OBJECTIVE, stopping, watch, float(self.alpha))
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One pass over further rows, with shorter and shorter steps.

        Earlier rows are gone, so nothing is proved: the certificate has the value on these rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like, optional
            All labels that may come; needed in the first call.
        """
        if self.class_weight == "balanced":
            raise InputError(
                "class_weight='balanced' is not supported for partial_fit: it needs all rows at "
                "once. Pass a dict of weights, or sample_weight."
            )
        with fitting(self):
            first = not hasattr(self, "coef_")
            if not first:
                _check_columns(self, X)
            schema = None if first else self.schema_
            sample = check_sample(
                self, X, y, sample_weight, target="classes", schema=schema, accept_sparse=True
            )
            known = self._known_classes(classes)
            rows = self._rows(sample, labels_among(known, sample))
            root = seed(self.random_state, "steps", 0 if first else int(self.t_))
            machines = []
            for number, k in enumerate(positive_labels(rows.labels)):
                visits = self._visits(rows, k)
                start = None if first else (self.sums_[number], self.t_)
                machine = RowMachine(visits, self._rule(), start)
                machine.take(drawing(visits.weight, stream(root, int(k)))())
                machines.append(machine)
            self.schema_, self.classes_ = sample.schema if first else self.schema_, known
            self._store([machine.weights for machine in machines], machines)
            self.n_iter_ = 1
            self.certificate_ = Certificate(
                objective=OBJECTIVE,
                verdict=Verdict.STOPPED_EARLY,
                iterations=1,
                details={"stopped_by": "partial_fit", "steps": self.t_},
            )
        return self

    # Steps of a fit

    def _train(self, rows: _Rows, stopping: Stopping) -> list[tuple[RowMachine, PegasosRun]]:
        root, budget, rule = seed_sequence(self.random_state), Budget(stopping), self._rule()
        trained = []
        for k in positive_labels(rows.labels):
            visits, rng = self._visits(rows, k), stream(root, "draws", int(k))
            machine = RowMachine(visits, rule)
            run = train(machine, visits.weight, rule, stopping, budget.restarted(), rng)
            trained.append((machine, run))
        return trained

    def _rule(self) -> PegasosRule:
        return PegasosRule(float(self.alpha), self.batch_size, self.projection, self.average)

    def _rows(self, sample: Sample, labels: LabelTarget) -> _Rows:
        design = design_of(sample, 1.0)
        if self.class_weight is None:
            return _Rows(design.X, labels, sample.weight)
        assert labels.codes is not None
        factors = class_factors(labels.classes, labels.counts(sample.weight), self.class_weight)
        return _Rows(design.X, labels, sample.weights * factors[labels.codes])

    def _visits(self, rows: _Rows, label: int) -> Visits:
        visits = visits_of(rows.X, rows.labels.column(label), rows.weight, self.fit_intercept, True)
        if visits.scale != 1.0:
            raise InputError(
                "All cells of X are below 1e-120 in size, whose squares leave the range of double "
                "precision. Rescale the columns by a power of ten."
            )
        return visits

    def _known_classes(self, classes: Any) -> Array:
        if classes is None:
            if not hasattr(self, "coef_"):
                raise InputError(
                    "classes must be passed on the first call to partial_fit: all labels that may "
                    "come."
                )
            return self.classes_
        known = check_classes(np.asarray(classes), type(self).__name__)[0]
        check_two_classes(known, len(known), type(self).__name__)
        if hasattr(self, "coef_") and known.tolist() != self.classes_.tolist():
            raise InputError(
                f"`classes` lists {listed(known.tolist())}, which is not the same as on last call "
                f"to partial_fit, was: {listed(self.classes_.tolist())}. Pass the same classes, or "
                "leave them out."
            )
        return known

    def _store(self, weights: Sequence[Floats], machines: Sequence[RowMachine]) -> None:
        vectors = np.array(weights)
        self.coef_, self.intercept_ = np.ascontiguousarray(vectors[:, :-1]), vectors[:, -1].copy()
        self.sums_ = np.array([machine.v for machine in machines])
        self.t_ = machines[0].steps

    def _check_state(self) -> None:
        super()._check_state()
        wanted = (hyperplanes(self.classes_), len(self.coef_names_) + 1)
        if np.shape(self.sums_) != wanted or not np.isfinite(self.sums_).all():
            raise ModelFileError(
                f"The model has sums of shape {np.shape(self.sums_)}; finite ones of shape "
                f"{wanted} are needed for its columns and classes."
            )


def _check_columns(model: Pegasos, X: Any) -> None:
    """Refuses other columns than those of the first call, in scikit-learn's words."""
    _check_feature_names(model, X, reset=False)
    if hasattr(X, "shape"):
        _check_n_features(model, X, reset=False)
