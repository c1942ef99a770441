"""Kernel perceptron: a boundary in the feature space of any kernel, learned from its mistakes.

    yhat = sign(f(x)),    f(x) = sum_i a_i k(x_i, x) + b,
    a mistake at row i:   a_i <- a_i + t_i,   b <- b + t_i

for a row of side `t_i`. The coefficient of a row is how often it was a mistake. If the classes can
be separated in the feature space, the rule ends after at most `(R / margin)^2` mistakes (Novikoff
1962), and the certificate has both numbers; if not, the best coefficients seen are kept. It is
`novum.linear.Perceptron` where the kernel is linear. Many classes are each against the rest.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, Stopwatch, parameter, warn_if_stopped
from novum.core.runtime import RandomSource, fit_context, fitting, run_tasks, seed_sequence
from novum.core.tables import check_classes
from novum.core.text import label_text
from novum.linear import Margins, Training, certify, class_factors, margins_of, places_among
from novum.numerics import Array, Floats
from novum.svm.kernel_machine import KernelMachine
from novum.svm.members import Member, members_of
from novum.svm.objects import KernelSample
from novum.svm.online.kernel_perceptron_passes import Columns, DualRun, DualVisits, train_dual
from novum.svm.solver.certification import cache_bytes_of


class KernelPerceptron(KernelMachine, ClassifierMixin, Learner):
    """Classifier trained on its mistakes, with a proof where the kernel separates the classes.

    Parameters
    ----------
    kernel : str, callable or Kernel, default="rbf"
        "linear", "poly", "rbf", "sigmoid", "cosine", "precomputed", a function of two matrices, or
        a kernel of `novum.kernels` on any objects.
    gamma : "scale", "auto" or float
        Of "rbf", "poly" and "sigmoid", as in `SVC`.
    fit_intercept : bool
    max_iter : int
        Passes over the rows; for `rule="batch"` steps.
    tol : float or None
        A pass gains if it lowers the error of the best coefficients by more than this share of all
        weight. `None` trains until the classes are separated or a limit is reached.
    n_iter_no_change : int
        Passes in a row without a gain that end the training.
    shuffle : bool
        A new random order in every pass. Without it rows are visited as they stand.
    random_state : int, generator or None
        Of the order of visits.
    rule : {"stochastic", "averaged", "batch"}
        Visit by visit; the mean over all visits; or all mistakes of a pass at once.
    class_weight : dict, "balanced" or None
    n_jobs : int, optional
        Classes trained at once, where the kernel matrix is small enough to be shared; results do
        not depend on it.
    cache_size : float
        Megabytes for columns of the kernel matrix.
    max_seconds : float, optional
        Time after which no further pass is begun.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    support_, support_vectors_
        Rows that were mistakes, their positions and themselves.
    dual_coef_ : array of shape (n_members, n_support)
        Coefficients `a`; one member for two classes, else one for each class.
    intercept_ : array of shape (n_members,)
    mistakes_ : array of shape (n_members, n_rows)
        How often each row moved its coefficient in the whole training.
    n_iter_ : int
        Passes, the most of all classes.
    certificate_ : Certificate
        Its details say whether the rows are separable, the mistakes and their bound, the longest
        row, the margin reached and the largest possible, in the feature space with a constant.

    Notes
    -----
    A mistake costs a column of the kernel matrix, a visit without one nothing. Weights count
    repetitions. Rows of vectors and tables that are equal are one row, and with `shuffle` their
    order does not matter; other objects are visited as they are. Missing cells are refused.

    References
    ----------
    Aizerman, Braverman and Rozonoer 1964; Freund and Schapire 1999; Novikoff 1962.

    Examples
    --------
    Exclusive or, which no straight line separates:

    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    >>> model.predict(X).tolist(), model.certificate_.details["separable"]
    ([0, 1, 1, 0], 'yes')
    """

    fit_intercept: bool = parameter(default=True)
    max_iter: int = parameter(default=1000, at_least=1)
    tol: float | None = parameter(default=1e-3, at_least=0)
    n_iter_no_change: int = parameter(default=20, at_least=1)
    shuffle: bool = parameter(default=True)
    random_state: RandomSource = parameter(default=0)
    rule: str = parameter({"stochastic", "averaged", "batch"}, default="stochastic")
    class_weight: dict[Any, float] | str | None = parameter({"balanced"}, dict, default=None)
    n_jobs: int | None = parameter(default=None)
    cache_size: float = parameter(default=200, above=0)
    max_seconds: float | None = parameter(default=None, above=0)

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on."""
        canonical = self.shuffle or self.rule == "batch"
        return ("row_order", "duplication") if canonical else ()

    # Fitting

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains until the classes are separated, nothing is gained, or a limit is reached.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, sequence of objects or square matrix
            What the kernel takes.
        y : array-like of shape (n_rows,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n_rows,), optional
        """
        with fitting(self) as watch:
            sample = self._read(X, y, sample_weight, "classes")
            self.classes_ = _checked_classes(sample)
            prepared = self._prepared(sample)
            members = members_of(sample.target, len(self.classes_), "rest")
            runs = self._train(sample, prepared, members, watch)
            self._store(sample, prepared, runs)
            self.certificate_ = self._certified(runs, watch)
            warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=4)
        return self

    def _train(
        self, sample: KernelSample, prepared: Any, members: list[Member], watch: Stopwatch
    ) -> list[DualRun]:
        root = seed_sequence(self.random_state)
        columns = Columns(prepared, float(self.fit_intercept), cache_bytes_of(self))
        training = self._training()

        def member(number: int) -> DualRun:
            visits = self._visits(sample, members[number])
            left = self.max_seconds
            left = None if left is None else max(float(left) - watch.seconds, 0.0)
            return train_dual(columns, visits, training, root, left)

        # Columns that come and go are for one class after the other: which of them are computed
        # together must not depend on the threads.
        return run_tasks(member, range(len(members)), self.n_jobs if columns.holds_all else 1)

    def _training(self) -> Training:
        return Training(
            self.rule, 1.0, self.max_iter, self.tol, self.n_iter_no_change, self.shuffle
        )

    def _visits(self, sample: KernelSample, member: Member) -> DualVisits:
        """All objects in their own order, or the rows as they stand where nothing is shuffled."""
        factors = self._class_factors(sample)
        weight = sample.weight * factors[sample.target]
        if self.shuffle or self.rule == "batch":
            return DualVisits(np.arange(len(weight)), member.sign, weight)
        rows = sample.row_weight * factors[sample.row_target]
        return DualVisits(sample.group.astype(np.int64), member.sign[sample.group], rows)

    def _class_factors(self, sample: KernelSample) -> Floats:
        counts = np.bincount(sample.target, sample.weight, len(self.classes_)).astype(float)
        return class_factors(self.classes_, counts, self.class_weight)

    def _store(self, sample: KernelSample, prepared: Any, runs: list[DualRun]) -> None:
        coefficients = np.array([each.run.weights for each in runs])
        self.intercept_ = float(self.fit_intercept) * coefficients.sum(axis=1)
        self._keep(sample, prepared, coefficients)
        moves = sample.to_rows(np.array([each.moves for each in runs]))
        self.mistakes_ = np.zeros((len(runs), sample.n_rows))
        self.mistakes_[:, sample.rows] = moves
        self.n_iter_ = max(len(each.run.trace) for each in runs)

    def _certified(self, trained: list[DualRun], watch: Stopwatch) -> Certificate:
        runs, proofs = [each.run for each in trained], [each.proof for each in trained]
        return certify(runs, proofs, self._training(), watch.seconds)

    # Prediction

    def decision_function(self, X: Any) -> Floats:
        """Values of `f`, of shape (n,) for two classes and (n, n_classes) for more."""
        scores = self._scores(X) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Array:
        """The class of the largest value; of two, the last one where the value is positive."""
        scores = self._scores(X) + self.intercept_
        codes = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[codes]

    def margins(self, X: Any, y: Any) -> Margins:
        """Functional margins, and geometric ones in the feature space, of rows of known classes.

        Examples
        --------
        >>> model = KernelPerceptron(kernel="linear").fit([[-1.0], [3.0]], ["no", "yes"])
        >>> found = model.margins([[-1.0], [3.0], [5.0]], ["no", "yes", "no"])
        >>> (found.geometric > 0).tolist()
        [True, True, False]
        """
        scores = self._scores(X) + self.intercept_
        classes, codes = check_classes(y, type(self).__name__)
        if len(codes) != len(scores):
            raise InputError(f"X has {len(scores)} rows, but y has {len(codes)}.")
        return margins_of(scores, self._normals(), places_among(self.classes_, classes)[codes])

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients of the support rows, of shape (n_members, n_support)."""
        return self.expansion_

    @property
    def coef_(self) -> Floats:
        """Coefficients of the columns, of shape (n_members, n_coefs), for the linear kernel."""
        return self._column_weights

    def _normals(self) -> Floats:
        """Vectors with the inner products of the members' normals in the feature space."""
        gram = np.zeros((len(self.expansion_), len(self.expansion_)))
        if len(self.support_) and self.support_objects_ is not None:
            gram = self.expansion_ @ self._support.gram(np.float64) @ self.expansion_.T
        values, vectors = np.linalg.eigh(gram)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    def _check_state(self) -> None:
        super()._check_state()
        members = 1 if len(self.classes_) == 2 else len(self.classes_)
        shapes = (len(self.expansion_), len(self.intercept_), len(self.mistakes_))
        if any(size != members for size in shapes):
            raise ModelFileError(
                f"A model of {len(self.classes_)} classes has {shapes[0]} expansions, {shapes[1]} "
                f"intercepts and {shapes[2]} rows of mistakes."
            )
        if not np.isfinite(self.intercept_).all():
            raise ModelFileError("The model has intercepts that are not finite numbers.")


def _checked_classes(sample: KernelSample) -> Array:
    assert sample.classes is not None
    if len(sample.classes) < 2:
        raise InputError(
            f"KernelPerceptron needs rows of at least two classes, but there is one class only: "
            f"all {len(sample.rows)} rows are of class {label_text(sample.classes[0])}. Add rows "
            "of another."
        )
    return sample.classes
