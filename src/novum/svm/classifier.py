"""Support vector classification: the hyperplane of largest margin in a kernel's feature space.

    min over w, b, xi   |w|^2 / 2 + C sum_i w_i xi_i
                        so that   y_i (<w, phi(x_i)> + b) >= 1 - xi_i,    xi_i >= 0

Its dual is one of the programs of `novum.svm.solver.problems`; most coefficients of `w = sum b_i
phi(x_i)` vanish, and rows without one could be left out without any effect. `C = inf` allows no
slack: hard margins, which exist exactly where the classes can be separated.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from novum.core.learners import Stopwatch, parameter
from novum.core.runtime import fitting
from novum.core.text import label_text
from novum.numerics import Floats
from novum.svm.binary_machine import (
    BinaryMachine,
    BinaryTask,
    nu_margin,
    nu_program,
    soft_margin,
    soft_program,
)
from novum.svm.classification import SupportVectorClassifier
from novum.svm.parameters import PRICE, SHARE
from novum.svm.solver.certification import cache_bytes_of, stopping_of
from novum.svm.solver.problem import QuadraticProblem, Solution
from novum.svm.solver.problems import check_nu, feasible_nu


class SVC(SupportVectorClassifier):
    """Support vector classifier with any kernel, solved to a proved duality gap.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack, above zero. `inf` gives hard margins, and an error where there are none.
    probability : bool, "sigmoid" or "isotonic", default=False
        Whether probabilities are fitted to decision values of five machines of rows held out:
        True and "sigmoid" by Platt's method, "isotonic" by any function that never falls.
    tol : float, default=1e-3
        Relative duality gap to be reached. Once it is, steps go on until no decision value of a
        training row misses its condition of optimality by more than `tol / 4`, which LIBSVM's rule
        with the same number allows twice; see `certificate_.residual`.
    class_weight : dict, "balanced" or None
        Factors of the price of slack of classes.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What `decision_function` gives of more than two classes.
    break_ties : bool, default=False
        Whether `predict` decides between equal votes by the decision values.
    random_state : None, int or generator
        Shuffles the objects before they are dealt to the folds of `probability`. None deals them
        in an order of their own: rows of a table by a digest of their cells and labels, whatever
        the order of the table; precomputed similarities and objects of other kinds, which are not
        compared, in the order in which they are given. The same data as vectors and as a matrix
        thus have different folds.
    multiclass : {"pairs", "rest"}, default="pairs"
        More than two classes by a machine for every pair, or for each class against the rest.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    support_ : int array of shape (n_support,)
        Positions of the support vectors in `X`, class by class.
    support_vectors_ : array of shape (n_support, n_columns), CSR matrix or list of objects
    n_support_ : int array of shape (n_classes,)
    dual_coef_ : array of shape (n_classes - 1, n_support)
        Signed coefficients in LIBSVM's layout; of machines against the rest (n_classes, n_support).
    intercept_ : array of shape (n_machines,)
        The bias: the mean over unbound support vectors, or the middle of the admissible interval
        where there are none.
    coef_ : array of shape (n_machines, n_columns)
        For linear kernels.
    bound_, unbound_ : int arrays
        Support vectors with a coefficient at its upper end (in one machine at least), and others.
    margin_ : float, or array of shape (n_machines,)
        `1 / |w|`.
    xi_ : array of shape (n_rows,), or (n_rows, n_classes - 1) or (n_rows, n_classes)
        Slack; of pairs against each of the other classes. NaN for rows of weight zero.
    margin_error_bound_ : MarginErrorBound, or a tuple of them
        The terms of the bound of the error probability.
    certificate_ : Certificate
        `primal`, `dual`, `gap`, `relative_gap`, `residual` (the largest violation of the
        Karush-Kuhn-Tucker conditions); sums over all machines, the parts in its details.
    class_weight_, class_prior_ : arrays of shape (n_classes,)
    calibration_ : tuple of SigmoidMap or IsotonicMap
        With `probability`.
    kernel_ : Kernel
    fit_status_ : int
        0 where the tolerance was reached.
    n_iter_ : int array of shape (n_machines,)
    shape_fit_ : tuple of int

    Notes
    -----
    Weights count repetitions: weight 2 is the row twice, and weight 0 the row absent. Missing cells
    are refused. A fit costs about `n_rows * n_support` similarities. Duplicates with different
    labels are fine for finite `C`. Levels and symbols not met in training have no similarity of
    their own: levels count as the reference, symbols as none.

    References
    ----------
    Cortes and Vapnik (1995); Fan, Chen and Lin (2005) for the choice of working sets; Platt (1999);
    Chang and Lin, LIBSVM (2011).

    Examples
    --------
    >>> model = SVC(kernel="linear", C=float("inf")).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.support_.tolist(), round(model.margin_, 6)
    ([1, 2], 1.0)
    >>> model.decision_function([[1.5], [2.5]]).round(6).tolist()
    [-0.5, 0.5]
    """

    _objective = "hinge loss with a large margin"
    C: float = parameter(PRICE, default=1.0)

    def _program(self, task: BinaryTask) -> QuadraticProblem:
        return soft_program(task, float(self.C))

    def _machine(
        self,
        task: BinaryTask,
        problem: QuadraticProblem,
        watch: Stopwatch,
        start: Floats | None = None,
        solution: Solution | None = None,
    ) -> BinaryMachine:
        stopping, cache_bytes = stopping_of(self, watch), cache_bytes_of(self)
        return soft_margin(task, problem, stopping, cache_bytes, start, solution)

    def path(
        self, X: Any, y: Any, prices: Iterable[float], sample_weight: Any = None
    ) -> list[Self]:
        """Models of several values of C, each started from the one before.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; read and prepared once.
        prices : iterable of float
            Values of C in the order of fitting; rising ones start best.

        Returns
        -------
        list of SVC
            Fitted, one for each price; this model does not change.

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
        >>> [len(model.support_) for model in SVC(kernel="linear").path(X, y, [0.1, 10.0])]
        [4, 2]
        """
        models: list[Self] = []
        earlier: tuple[float, list[BinaryMachine]] | None = None
        reader = clone(self)
        with fitting(reader):
            plan = reader._plan(X, y, sample_weight)
        read = {name: value for name, value in vars(reader).items() if name.endswith("_")}
        for price in prices:
            model = clone(self).set_params(C=price)
            model._validate_params()
            model._refuse_combinations()
            with fitting(model) as watch:
                vars(model).update(read)
                machines = model._learn(plan, watch, _scaled_starts(earlier, float(price)))
                model._warn_if_stopped()
            earlier = float(price), machines
            models.append(model)
        return models


def _scaled_starts(
    earlier: tuple[float, list[BinaryMachine]] | None, price: float
) -> list[Floats] | None:
    """Coefficients of the last price, scaled so that those at their bound stay at it."""
    if earlier is None:
        return None
    ratio = price / earlier[0] if np.isfinite(price) and np.isfinite(earlier[0]) else 1.0
    return [ratio * machine.solution.coefficients for machine in earlier[1]]


# --- A share of margin errors in place of a price -------------------------------------------------
#
#     min over w, b, rho, xi   |w|^2 / 2 - nu rho + sum_i w_i xi_i / W
#                              so that   y_i (<w, phi(x_i)> + b) >= rho - xi_i,    rho >= 0
#
# `nu` bounds the share of margin errors from above and the share of support vectors from below. A
# solution exists only where `nu` is at most twice the share of the smaller class. The machine is
# divided by `rho`; it is then the one of `SVC` with the price `C = 1 / (rho W)`.


class ReducedShareWarning(UserWarning):
    """Weights of classes do not allow the chosen share of margin errors; a smaller is taken."""


class NuSVC(SupportVectorClassifier):
    """Support vector classifier with a chosen share of margin errors.

    Parameters
    ----------
    nu : float, default=0.5
        Largest share of margin errors, above 0; at most twice the share of the smaller class of
        every pair, or an error says how large it may be; where only `class_weight` is to blame,
        the largest feasible one is taken with a warning.
    probability, class_weight, decision_function_shape, break_ties, random_state, multiclass
        As in `SVC`.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, bound_, \
unbound_, margin_, xi_, margin_error_bound_, certificate_, class_weight_, class_prior_, \
calibration_, kernel_, fit_status_, n_iter_, shape_fit_
        As in `SVC`; coefficients and margins are those of the machine divided by `rho`, the
        certificate is that of the problem above.

    References
    ----------
    Schoelkopf, Smola, Williamson and Bartlett (2000).

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> NuSVC(nu=0.5, kernel="linear").fit(X, y).predict([[1.9], [2.1]]).tolist()
    [0, 1]
    """

    _objective = "margin errors with a large margin"
    nu: float = parameter(SHARE, default=0.5)

    def _check_task(self, task: BinaryTask) -> None:
        check_nu(float(self.nu), task.sign, task.count, task.labels)
        largest = feasible_nu(task.sign, task.weight)
        if self.nu > largest:
            warnings.warn(
                f"class_weight makes the lighter of classes {label_text(task.labels[0])} and "
                f"{label_text(task.labels[1])} so light that no nu above {largest:.6g} is "
                f"feasible; this is taken in place of {self.nu:.6g}. Weigh the classes less "
                "unevenly, or choose a smaller nu.",
                ReducedShareWarning,
                stacklevel=6,
            )

    def _program(self, task: BinaryTask) -> QuadraticProblem:
        return nu_program(task, float(self.nu))

    def _machine(
        self,
        task: BinaryTask,
        problem: QuadraticProblem,
        watch: Stopwatch,
        start: Floats | None = None,
        solution: Solution | None = None,
    ) -> BinaryMachine:
        stopping, cache_bytes = stopping_of(self, watch), cache_bytes_of(self)
        return nu_margin(task, problem, float(self.nu), stopping, cache_bytes, start, solution)
