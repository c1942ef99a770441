"""Linear support vector classification: a hyperplane with a wide margin, proved optimal.

    minimize   |w|^2 / 2 + (b / s)^2 / 2 + C sum_i c_i loss(y_i (w'x_i + b)),     y_i = -1 or 1,

with the hinge `loss(m) = max(0, 1 - m)` or its square. The intercept is the coefficient of a
constant column of `s` (`intercept_scaling`) and penalized with the others, as in LIBLINEAR. The
penalty may be the sum of the magnitudes instead, for coefficients of which many are zero
(`linear_lasso`). Several classes are each against the rest, or learned together by the margins of
Crammer and Singer (`linear_multiclass`). The method is chosen by shape (`linear_fit`); whatever
the method, a fit ends with a true duality gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval

from novum.core.errors import InputError
from novum.core.learners import Learner, parameter
from novum.core.runtime import RandomSource, fit_context, fitting, seed_sequence, stream
from novum.core.tables import Sample, check_sample
from novum.linear import class_factors
from novum.numerics import Floats
from novum.svm.linear.design import Design, design_of
from novum.svm.linear.fit import solve_losses
from novum.svm.linear.lasso import solve_lasso
from novum.svm.linear.losses import hinge_losses
from novum.svm.linear.machine import LinearClassifier, check_two_classes
from novum.svm.linear.multiclass import solve_multiclass
from novum.svm.linear.small import is_small, solve_small
from novum.svm.linear.solution import Budget, LinearSolution
from novum.svm.solver.problem import Stopping


class LinearSVC(LinearClassifier, Learner):
    """Linear support vector classification with a proof of its optimum.

    Parameters
    ----------
    penalty : {"l2", "l1"}
        "l1" leaves many coefficients at zero; it goes with the squared hinge.
    loss : {"squared_hinge", "hinge"}
    dual : "auto" or bool
        Without effect: the optimum is the same, and the method is chosen by shape.
    tol : float
        Relative duality gap at which a fit may end.
    C : float
        Weight of the losses against the penalty.
    multi_class : {"ovr", "crammer_singer"}
        Several classes each against the rest, or all margins at once; the latter has its own loss,
        `max over k of 1[k != y] + f_k - f_y`, and ignores `loss` and `penalty`.
    fit_intercept : bool
    intercept_scaling : float
        The constant cell of each row whose coefficient is the intercept; the larger, the less the
        intercept is penalized.
    class_weight : dict, "balanced" or None
        Factors of the weights of classes.
    verbose : int
        Without effect.
    random_state : int, generator or None
        Of the order of visits, where a method visits rows or columns at random.
    max_iter : int
        Newton steps, or passes over the rows or columns, for each class.
    max_seconds : float, optional
        Wall-clock time after which the fit ends, with a warning.
    categorical_features : "auto", "all", None, mask, names or indices
        Columns to be coded by their levels.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_, intercept_ : arrays of shape (n_classes, n_coefs) and (n_classes,); 1 of two classes
    coef_names_ : tuple of str
    certificate_ : Certificate
        `primal`, `dual` and `gap`, summed over the classes, and `distance_bound`.
    n_iter_ : int
        The most of all classes.

    Notes
    -----
    Weights count repetitions. Sparse rows stay sparse. Missing cells are refused. Columns should be
    of like size, since the penalty is on their coefficients.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi and Sundararajan (2008), dual coordinate descent. Yan and Li (2020),
    semismooth Newton and augmented Lagrangians. Crammer and Singer (2001); Keerthi et al. (2008).

    Examples
    --------
    >>> model = LinearSVC(C=100.0, loss="hinge", intercept_scaling=100.0)
    >>> model = model.fit([[-1.0], [0.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.coef_.round(3), model.intercept_.round(3)  # the margin is from 0 to 2
    (array([[1.]]), array([-1.]))
    >>> model.certificate_.relative_gap < 1e-9
    True
    """

    penalty: str = parameter({"l1", "l2"}, default="l2", kw_only=False)
    loss: str = parameter({"hinge", "squared_hinge"}, default="squared_hinge", kw_only=False)
    dual: bool | str = parameter({"auto"}, default="auto")
    tol: float = parameter(default=1e-3, above=0)
    C: float = parameter(Interval(Real, 0, None, closed="right"), default=1.0)
    multi_class: str = parameter({"ovr", "crammer_singer"}, default="ovr")
    fit_intercept: bool = parameter(default=True)
    intercept_scaling: float = parameter(default=1.0, above=0)
    class_weight: dict[Any, float] | str | None = parameter({"balanced"}, dict, default=None)
    verbose: int = parameter("verbose", default=0)
    random_state: RandomSource = parameter(default=None)
    max_iter: int = parameter(default=1000, at_least=1)
    max_seconds: float | None = parameter(default=None, at_least=0)
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; to the tolerance only where rows and columns are many."""
        newton = self.penalty == "l2" and self.multi_class == "ovr"
        return ("row_order", "duplication") if newton else ()

    # Fitting

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the hyperplanes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        """
        stopping = self._stopping()
        self._refuse_unknown()
        with fitting(self) as watch:
            sample = check_sample(self, X, y, sample_weight, target="classes", accept_sparse=True)
            classes = check_two_classes(sample.classes, sample.n_rows, type(self).__name__)
            design = design_of(sample, self._constant)
            solutions = self._solve(design, sample, self._weight(sample), stopping)
            self.schema_, self.classes_ = sample.schema, classes
            self.coef_, self.intercept_ = self._split(self._vectors(solutions))
            self.n_iter_ = max(1, *(f.iterations for f in solutions))
            modulus = None if self.penalty == "l1" and self.multi_class == "ovr" else 1.0
            self._certify(solutions, self._objective(), stopping, watch, modulus)
        return self

    def _refuse_unknown(self) -> None:
        if self.penalty == "l1" and self.loss == "hinge" and self.multi_class == "ovr":
            raise InputError(
                "penalty='l1' with loss='hinge' is a linear program, which LinearSVC does not "
                "solve. Use loss='squared_hinge' with it, or penalty='l2'."
            )

    def _solve(
        self, design: Design, sample: Sample, weight: Floats, stopping: Stopping
    ) -> Sequence[LinearSolution]:
        assert sample.classes is not None
        budget, K = Budget(stopping), len(sample.classes)
        if self.multi_class == "crammer_singer":
            rng = stream(self.random_state, "visits")
            return [solve_multiclass(design, sample.target, weight, K, stopping, budget, rng)]
        squared = self.loss == "squared_hinge"
        sides = [np.where(sample.target == k, 1.0, -1.0) for k in ([1] if K == 2 else range(K))]
        machines = [hinge_losses(side, weight, squared=squared) for side in sides]
        if self.penalty == "l2" and is_small(design, machines[0]):
            return solve_small(design, machines, stopping, budget)
        root = seed_sequence(self.random_state)
        solve = solve_lasso if self.penalty == "l1" else solve_losses
        return [
            solve(design, losses, stopping, budget.restarted(), stream(root, "visits", k))
            for k, losses in enumerate(machines, start=int(K == 2))
        ]

    def _weight(self, sample: Sample) -> Floats:
        """C times the weight of each row, class weights included."""
        assert sample.classes is not None
        totals = np.bincount(sample.target, sample.weights, len(sample.classes)).astype(float)
        factors = class_factors(sample.classes, totals, self.class_weight)
        return np.asarray(float(self.C) * sample.weights * factors[sample.target])

    def _vectors(self, solutions: Sequence[LinearSolution]) -> Floats:
        """The vectors of the scores, shape (m, width)."""
        if self.multi_class == "ovr":
            return np.array([f.vector for f in solutions])
        W = solutions[0].vector.T
        # Two classes have one score, the difference of the two.
        return W if len(W) > 2 else W[1:] - W[:1]

    def _objective(self) -> str:
        if self.multi_class == "crammer_singer":
            return "|W|^2 / 2 + C sum of the losses of Crammer and Singer"
        norm = "|w|^2 / 2" if self.penalty == "l2" else "|w|_1"
        return f"{norm} + C sum of {self.loss.replace('_', ' ')} losses"
