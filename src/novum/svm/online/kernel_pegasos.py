"""Pegasos in the feature space of any kernel: the same steps, in coefficients of the objects.

    f(x) = 1 / (alpha t) sum_i shares_i s_i k(x_i, x)

with `shares_i` the number of steps in which object i had a margin below 1 (in batches of k, their
sum of `1 / k`). The sum runs over all objects, and the same t scales it in training and in
prediction. The values of all objects are kept up to date: a step costs a row of the kernel matrix.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from novum.core.errors import ModelFileError
from novum.core.learners import Learner, parameter, warn_if_stopped
from novum.core.runtime import (
    RandomSource,
    check_cancelled,
    fit_context,
    fitting,
    seed_sequence,
    stream,
)
from novum.linear import class_factors
from novum.numerics import Array, Floats, Integers, as_argument
from novum.svm.kernel_machine import KernelMachine
from novum.svm.linear.fit import certify
from novum.svm.linear.machine import check_two_classes, hyperplanes
from novum.svm.linear.solution import Budget
from novum.svm.members import members_of
from novum.svm.objects import KernelSample
from novum.svm.online.kernel_perceptron_passes import Columns
from novum.svm.online.pegasos import OBJECTIVE
from novum.svm.online.pegasos_training import PegasosRule, PegasosRun, train
from novum.svm.solver.certification import cache_bytes_of
from novum.svm.solver.problem import Stopping

# Objects whose rows of the kernel matrix are computed together.
_BLOCK = 128


class KernelPegasos(KernelMachine, ClassifierMixin, Learner):
    """Kernel support vector machine trained by stochastic subgradient steps.

    Parameters
    ----------
    alpha : float
        The penalty `lambda`; in terms of `SVC`, `alpha = 1 / (C n)`.
    kernel : str, callable or Kernel
        "linear", "poly", "rbf", "sigmoid", "cosine", "precomputed", a function of two matrices, or
        a kernel of `novum.kernels` on any objects.
    gamma : "scale", "auto" or float
    batch_size : int
        Objects of one step.
    projection : bool
        Whether every step ends in the ball of radius `1 / sqrt(alpha)`, which holds the optimum.
    average : bool
        Whether the answer is the mean of those at the ends of all passes, later ones counting more.
    fit_intercept : bool
        The intercept is the coefficient of a constant feature of 1 and penalized like all.
    tol : float
        Relative duality gap at which the training may end.
    max_iter : int
        Passes over the objects.
    max_seconds : float, optional
        Wall-clock time after which no further pass is begun.
    cache_size : float
        Megabytes for the kernel matrix; beyond it its rows are computed in every pass.
    class_weight : dict, "balanced" or None
    random_state : int, generator or None
        Of the order of objects.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    support_, support_vectors_
        Objects with a share, their positions and themselves.
    dual_coef_ : array of shape (n_members, n_support)
        `shares_i s_i / (alpha t)`; one member for two classes, else one for each class.
    intercept_ : array of shape (n_members,)
    n_iter_ : int
        Passes, the most of all classes.
    certificate_ : Certificate
        `primal`, and `dual` from the shares of the objects.

    Notes
    -----
    Weights count repetitions; equal rows are united and their order does not matter. Objects that
    are no rows of a table are visited as they are. Missing cells are refused.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro and Cotter (2011), section 4.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelPegasos(alpha=0.05, gamma=1.0, tol=0.01).fit(X, y)
    >>> model.predict(X).tolist(), model.certificate_.relative_gap <= 0.01
    ([0, 1, 1, 0], True)
    """

    alpha: float = parameter(default=0.01, above=0)
    batch_size: int = parameter(default=1, at_least=1)
    projection: bool = parameter(default=True)
    average: bool = parameter(default=False)
    fit_intercept: bool = parameter(default=True)
    tol: float = parameter(default=1e-3, above=0)
    max_iter: int = parameter(default=1000, at_least=1)
    max_seconds: float | None = parameter(default=None, above=0)
    cache_size: float = parameter(default=200, above=0)
    class_weight: dict[Any, float] | str | None = parameter({"balanced"}, dict, default=None)
    random_state: RandomSource = parameter(default=0)

    invariances: ClassVar[tuple[str, ...]] = ("row_order", "duplication")

    # Fitting

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains until the gap is small or the passes are used up.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, sequence of objects or square matrix
            What the kernel takes.
        y : array-like of shape (n_rows,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        """
        stopping = Stopping(float(self.tol), self.max_iter, self.max_seconds)
        with fitting(self) as watch:
            sample = self._read(X, y, sample_weight, "classes")
            name = type(self).__name__
            self.classes_ = check_two_classes(sample.classes, sample.n_rows, name)
            prepared = self._prepared(sample)
            runs, signs = self._train(sample, prepared, stopping)
            coefficients = np.array([run.a * s for run, s in zip(runs, signs, strict=True)])
            self.intercept_ = float(self.fit_intercept) * coefficients.sum(axis=1)
            self._keep(sample, prepared, coefficients)
            solutions = [run.solution for run in runs]
            self.n_iter_ = max(f.iterations for f in solutions)
            self.certificate_ = certify(
                solutions, OBJECTIVE, stopping, watch.seconds, modulus=float(self.alpha)
            )
            warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=4)
        return self

    def _train(
        self, sample: KernelSample, prepared: Any, stopping: Stopping
    ) -> tuple[list[PegasosRun], list[Floats]]:
        rule = PegasosRule(float(self.alpha), self.batch_size, self.projection, self.average)
        counts = np.bincount(sample.target, sample.weight, len(self.classes_)).astype(float)
        factors = class_factors(self.classes_, counts, self.class_weight)
        weight = sample.weight * factors[sample.target]
        columns = Columns(prepared, float(self.fit_intercept), cache_bytes_of(self))
        root, budget = seed_sequence(self.random_state), Budget(stopping)
        columns.rows.check = budget.check
        runs, signs = [], []
        for member in members_of(sample.target, len(self.classes_), "rest"):
            machine = ObjectMachine(columns, member.sign, rule, budget)
            rng = stream(root, "draws", int(member.positive))
            runs.append(train(machine, weight, rule, stopping, budget.restarted(), rng))
            signs.append(member.sign)
        return runs, signs

    # Prediction and scikit-learn

    @property
    def dual_coef_(self) -> Floats:
        """Signed coefficients of the support objects, of shape (n_members, n_support)."""
        return self.expansion_

    def decision_function(self, X: Any) -> Floats:
        """`f(x)`, of shape (n,) for two classes and (n, n_classes) for more."""
        scores = self._scores(X) + self.intercept_
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)

    def predict(self, X: Any) -> Array:
        """The class of the largest value; of two, the last one where the value is positive."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        chosen = self.categorical_features
        tags.input_tags.string = chosen is not None
        tags.input_tags.categorical = isinstance(chosen, str) and chosen == "all"
        return tags

    def _check_state(self) -> None:
        super()._check_state()
        members = hyperplanes(self.classes_)
        if len(self.expansion_) != members or np.shape(self.intercept_) != (members,):
            raise ModelFileError(
                f"The model has {len(self.expansion_)} expansions and intercepts of shape "
                f"{np.shape(self.intercept_)} for {len(self.classes_)} classes."
            )


class ObjectMachine:
    """The shares of the objects in one binary machine under way, and its values."""

    def __init__(
        self, columns: Columns, sign: Floats, rule: PegasosRule, budget: Budget | None = None
    ) -> None:
        self._budget = Budget(Stopping()) if budget is None else budget
        self._columns, self._sign, self._rule = columns, as_argument(sign), rule
        self.shares = np.zeros(len(columns))
        self._values = np.zeros(len(columns))
        self._state = np.array([0.0, 1.0, 0.0])

    @property
    def steps(self) -> float:
        return float(self._state[0])

    def take(self, order: Integers) -> None:
        """Steps over the objects in this order, as far as time allows."""
        from novum.svm.online.pegasos_kernels import kernel_steps

        batch = self._rule.batch_size
        wrong = np.zeros(batch, np.uint8)
        block = batch * max(1, _BLOCK // batch)
        for start in range(0, len(order), block):
            check_cancelled()
            if start and self._budget.is_late:
                break
            chosen = as_argument(order[start : start + block], np.int64)
            kernel_steps(
                as_argument(self._rows(chosen)),
                self._sign,
                float(self._columns.constant),
                chosen,
                batch,
                float(self._rule.penalty),
                int(self._rule.projection),
                self._values,
                self.shares,
                self._state,
                wrong,
            )
            scale, self._state[1] = self._state[1], 1.0
            self._values *= scale
            self.shares *= scale

    def _rows(self, chosen: Integers) -> Floats:
        kernel_rows = self._columns.rows
        if self._columns.holds_all:
            return np.asarray(kernel_rows.gram()[chosen])
        return np.asarray(kernel_rows.prepared.take(chosen).cross(kernel_rows.prepared, np.float64))

    def margins(self, a: Floats) -> tuple[Floats, float]:
        """`s_i f(x_i)` of every object and `|w|^2` for `w = sum_i a_i s_i phi(x_i)`."""
        values = self._columns.values(a * self._sign)
        return self._sign * values, float((a * self._sign) @ values)
