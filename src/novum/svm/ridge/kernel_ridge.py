"""Kernel ridge regression: least squares with a penalty, in the feature space of any kernel.

    minimize over f   sum_i w_i (y_i - f(x_i))^2 + alpha |f|^2

The minimum is an expansion `f = sum_i a_i k(x_i, .)` over the training objects, and its
coefficients solve one linear system (`kernel_ridge_solution`). With the linear kernel it is ridge
regression without an intercept. There is no intercept here: center the target, or add a constant
kernel. Rows can be left out exactly (`ridge.solution`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Learner, Stopwatch, fitted, parameter
from novum.core.runtime import fit_context, fitting
from novum.core.tables import Target
from novum.kernels import FromCallable, Kernel
from novum.linear import check_target_range, strengths
from novum.numerics import Floats, Mask, one_blas_thread
from novum.svm.kernel_machine import KernelMachine
from novum.svm.objects import KernelSample
from novum.svm.parameters import AT_LEAST_ZERO
from novum.svm.ridge.solution import (
    LeaveOneOut,
    RidgeSolution,
    RidgeSystem,
    certify,
    check_matrix_memory,
    leave_one_out,
)


class RidgeMachine(KernelMachine, MultiOutputMixin, RegressorMixin, Learner):
    """What kernel ridge regression with a given and with a chosen strength share."""

    invariances = ("row_order", "duplication")

    kernel = "linear"
    gamma: Any = parameter({"scale", "auto"}, AT_LEAST_ZERO, None, default=None)
    degree: Any = parameter(AT_LEAST_ZERO, default=3)
    coef0 = 1
    kernel_params: dict[str, Any] | None = parameter(dict, default=None)

    one_target_: bool = fitted()

    # Reading

    def _read(self, X: Any, y: Any, sample_weight: Any, target: Target) -> KernelSample:
        with _pairwise_function(self):
            return super()._read(X, y, sample_weight, target)

    def _system(self, sample: KernelSample) -> tuple[Any, RidgeSystem, Floats]:
        """The prepared objects, their linear system, and the targets as columns."""
        check_matrix_memory(len(sample.weight))
        prepared = self._prepared(sample)
        target = sample.target
        check_target_range(target, least=0.0)
        columns = target[:, np.newaxis] if target.ndim == 1 else target
        return prepared, RidgeSystem(prepared.gram(np.float64), sample.weight), columns

    def _store(
        self,
        sample: KernelSample,
        prepared: Any,
        solutions: list[tuple[Mask, RidgeSolution]],
        watch: Stopwatch,
    ) -> None:
        coefficients = np.empty((len(solutions[0][0]), len(sample.weight)))
        for chosen, solution in solutions:
            coefficients[chosen] = solution.coefficients.T
        self.one_target_ = sample.target.ndim == 1
        self._keep(sample, prepared, coefficients)
        self.certificate_ = certify(
            [solution for _, solution in solutions], len(sample.weight), watch.seconds
        )

    # Predicting

    def predict(self, X: Any) -> Floats:
        """Values of the function at new objects, of shape (n,) or (n, n_targets)."""
        scores = self._scores(X)
        return scores[:, 0] if self.one_target_ else scores

    @property
    def _score_type(self) -> DTypeLike:
        # Coefficients are errors over alpha and cancel in their sum; targets have any unit.
        return np.float64

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients `a` of all rows of the fit, of shape (n_rows,) or (n_rows, n_targets)."""
        check_is_fitted(self, "expansion_")
        whole = np.zeros((self.shape_fit_[0], len(self.expansion_)))
        whole[self.support_] = self.expansion_.T
        return whole[:, 0] if self.one_target_ else whole

    @property
    def X_fit_(self) -> Any:  # noqa: N802 - scikit-learn's name
        """The objects of the expansion: rows whose coefficient is not zero."""
        return self.support_vectors_

    @property
    def coef_(self) -> Floats:
        """Coefficients of the columns, for the linear kernel only."""
        check_is_fitted(self, "expansion_")
        coef = self._column_weights
        return coef[0] if self.one_target_ else coef

    def _check_state(self) -> None:
        super()._check_state()
        if self.one_target_ and len(self.expansion_) > 1:
            raise ModelFileError("The model of one target has coefficients of several.")


class KernelRidge(RidgeMachine):
    """Kernel ridge regression with certificate and exact leave-one-out.

    Minimizes `sum_i w_i (y_i - f(x_i))^2 + alpha |f|^2` by one factorization.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1
        Strength of the penalty, at least 0. Zero interpolates; where the kernel matrix is singular
        it gives the function of least norm among those of least error.
    kernel : str, callable or Kernel, default="linear"
        "linear", "poly", "rbf", "sigmoid", "cosine", "precomputed", a kernel of `novum.kernels`
        on any objects, or a function of two rows that returns their similarity.
    gamma : float, "scale", "auto" or None
        Of "rbf", "poly" and "sigmoid"; None is "auto", one over the number of columns.
    kernel_params : dict, optional
        Further arguments of a function.

    Attributes
    ----------
    dual_coef_ : array of shape (n_rows,) or (n_rows, n_targets)
    coef_ : array of shape (n_coefs,) or (n_targets, n_coefs)
        Of the linear kernel.
    kernel_ : Kernel
    support_, X_fit_
        Positions of the rows in the expansion, and the rows.
    certificate_ : Certificate
        Its gap and its distance bound, of `f` in the norm of the kernel, follow from the residual.

    Notes
    -----
    `O(n^2)` memory, `O(n^3)` time: from some hundred rows on the factor is made in single
    precision and the solution refined to double precision. Equal rows are one, with the sum of
    their weights. Missing cells are refused.

    References
    ----------
    Saunders, Gammerman and Vovk 1998, "Ridge regression learning algorithm in dual variables".

    Examples
    --------
    >>> model = KernelRidge(alpha=1.0).fit([[1.0], [2.0]], [1.0, 2.0])
    >>> model.predict([[6.0]]).round(12).tolist(), model.coef_.round(12).tolist()
    ([5.0], [0.833333333333])
    """

    alpha: Any = parameter(AT_LEAST_ZERO, "array-like", default=1, kw_only=False)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solves for the coefficients of all objects.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, sequence of objects or square matrix
            What the kernel takes.
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional
        """
        with fitting(self) as watch:
            sample = self._read(X, y, sample_weight, "numbers")
            prepared, system, targets = self._system(sample)
            alphas = self._strengths(targets.shape[1])
            solutions = []
            for alpha in np.unique(alphas):
                chosen = alphas == alpha
                solutions.append((chosen, system.solve(targets[:, chosen], float(alpha))))
            self._store(sample, prepared, solutions, watch)
        return self

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> LeaveOneOut:
        """Every row as the model of all others predicts it, for the price of about three fits.

        Changes nothing about the model. Where a row has a weight above one, one copy is left out.

        Examples
        --------
        >>> found = KernelRidge(alpha=1.0).leave_one_out([[1.0], [2.0]], [1.0, 2.0])
        >>> found.predictions.round(12).tolist()
        [0.8, 1.0]
        """
        reader = type(self)(**self.get_params(deep=False))
        reader._validate_params()
        with one_blas_thread():
            sample = reader._read(X, y, sample_weight, "numbers")
            _, system, targets = reader._system(sample)
            return leave_one_out(sample, system, targets, self._strengths(targets.shape[1]))

    def _influence(self, X: Any) -> tuple[Floats, Floats]:
        """Of a model fitted to the identity: weights of its rows in predictions, and a spread.

        A further object of weight one would have the leverage `v / (1 + v)` with the spread
        `v = (k(x, x) - k_x' (K + alpha W^-1)^-1 k_x) / alpha`. Of shapes (m, n) and (m,).
        """
        with one_blas_thread():
            new = self._prepared_new(X)
            similarities = new.cross(self._support, np.float64)
            shares = similarities @ self.expansion_.T
            explained = (shares[:, self.support_] * similarities).sum(axis=1)
        spread = np.maximum(new.diagonal() - explained, 0.0) / self._strengths(1)[0]
        return shares, np.asarray(spread)

    def _strengths(self, n_targets: int) -> Floats:
        alpha = strengths(self.alpha, "alpha").ravel()
        if alpha.size not in (1, n_targets):
            raise InputError(
                f"Number of targets and number of penalties do not correspond: {n_targets} != "
                f"{alpha.size}. Give one alpha, or one for each target."
            )
        return np.broadcast_to(alpha, (n_targets,))


@contextmanager
def _pairwise_function(machine: Any) -> Iterator[None]:
    """Reads a function as scikit-learn's kernel ridge does: of two rows, with its arguments."""
    given = machine.kernel
    if isinstance(given, (str, Kernel)) or not callable(given):
        yield
        return
    function = partial(given, **machine.kernel_params) if machine.kernel_params else given
    machine.kernel = FromCallable(function, "pair")
    try:
        yield
    finally:
        machine.kernel = given
