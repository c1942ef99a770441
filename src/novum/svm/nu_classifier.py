"""Nu-classification: the share of margin errors is chosen, not the price of slack.

    min over w, b, rho, xi   |w|^2 / 2 - nu rho + sum_i w_i xi_i / W
                             so that   y_i (<w, phi(x_i)> + b) >= rho - xi_i,    rho >= 0

`nu` bounds the share of margin errors from above and the share of support vectors from below. A
solution exists only where `nu` is at most twice the share of the smaller class. The machine is
divided by `rho`; it is then the one of `SVC` with the price `C = 1 / (rho W)`.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novum.core.certificate import Stopwatch
from novum.core.randomness import RandomSource
from novum.core.text import label_text
from novum.svm.binary_machine import BinaryMachine, BinaryTask, nu_margin, nu_program
from novum.svm.classification import CLASSIFIER_PARAMETERS, SupportVectorClassifier
from novum.svm.parameters import SHARE
from novum.svm.solver.certification import cache_bytes_of, stopping_of
from novum.svm.solver.problem import QuadraticProblem, Solution
from novum.svm.solver.problems import check_nu, feasible_nu

Floats = NDArray[np.float64]


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
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, \
max_iter, decision_function_shape, break_ties, random_state, multiclass, max_seconds, \
categorical_features, indefinite
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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**CLASSIFIER_PARAMETERS, "nu": SHARE}

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: RandomSource = None,
        multiclass: str = "pairs",
        max_seconds: float | None = None,
        categorical_features: Any = "auto",
        indefinite: str = "refuse",
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multiclass = multiclass
        self.max_seconds = max_seconds
        self.categorical_features = categorical_features
        self.indefinite = indefinite

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
        watch: Stopwatch,
        start: Floats | None = None,
        found: Solution | None = None,
    ) -> BinaryMachine:
        stopping, cache_bytes = stopping_of(self, watch), cache_bytes_of(self)
        return nu_margin(task, float(self.nu), stopping, cache_bytes, start, found)
