"""Support vector classification: the hyperplane of largest margin in a kernel's feature space.

    min over w, b, xi   |w|^2 / 2 + C sum_i w_i xi_i
                        so that   y_i (<w, phi(x_i)> + b) >= 1 - xi_i,    xi_i >= 0

Its dual is one of the programs of `novum.svm.solver.problems`; most coefficients of `w = sum b_i
phi(x_i)` vanish, and rows without one could be left out without any effect. `C = inf` allows no
slack: hard margins, which exist exactly where the classes can be separated.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from novum.core.certificate import Stopwatch, warn_if_stopped
from novum.core.fitting import fitting
from novum.core.randomness import RandomSource
from novum.svm.binary_machine import BinaryMachine, BinaryTask, soft_margin, soft_program
from novum.svm.classification import CLASSIFIER_PARAMETERS, SupportVectorClassifier
from novum.svm.parameters import PRICE
from novum.svm.solver.certification import cache_bytes_of, stopping_of
from novum.svm.solver.problem import QuadraticProblem, Solution

Floats = NDArray[np.float64]


class SVC(SupportVectorClassifier):
    """Support vector classifier with any kernel, solved to a proved duality gap.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack, above zero. `inf` gives hard margins, and an error where there are none.
    kernel : str, callable or Kernel, default="rbf"
        scikit-learn's names ("linear", "poly", "rbf", "sigmoid", "precomputed"), a function of two
        arrays, or any value of `novum.kernels`, also of strings, graphs or mixed columns.
    degree : int, default=3
        Of the kernel "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        Of "rbf", "poly" and "sigmoid": 1 / (n_columns * variance of all cells), 1 / n_columns, or
        a number.
    coef0 : float, default=0.0
        Of "poly" and "sigmoid".
    shrinking : bool
        Without effect.
    probability : bool, "sigmoid" or "isotonic", default=False
        Whether probabilities are fitted to decision values of five machines of rows held out:
        True and "sigmoid" by Platt's method, "isotonic" by any function that never falls.
    tol : float, default=1e-3
        Relative duality gap to be reached. Once it is, steps go on until no decision value of a
        training row misses its condition of optimality by more than `tol / 4`, which LIBSVM's rule
        with the same number allows twice; see `certificate_.residual`.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix.
    class_weight : dict, "balanced" or None
        Factors of the price of slack of classes.
    verbose : bool
        Without effect.
    max_iter : int, default=-1
        Most steps of the solver for each machine; -1 for no limit.
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
    max_seconds : float, optional
        Most wall-clock time of a fit; what was reached by then is certified.
    categorical_features : "auto", "all", None, mask, names or indices
        Columns to be coded by their levels, where the kernel takes vectors.
    indefinite : {"refuse", "project"}, default="refuse"
        What to do with a kernel that is not positive semi-definite: an error, or the nearest one
        that is.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**CLASSIFIER_PARAMETERS, "C": PRICE}

    def __init__(
        self,
        *,
        C: float = 1.0,
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
        self.C = C
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

    def _program(self, task: BinaryTask) -> QuadraticProblem:
        return soft_program(task, float(self.C))

    def _machine(
        self,
        task: BinaryTask,
        watch: Stopwatch,
        start: Floats | None = None,
        found: Solution | None = None,
    ) -> BinaryMachine:
        stopping, cache_bytes = stopping_of(self, watch), cache_bytes_of(self)
        return soft_margin(task, float(self.C), stopping, cache_bytes, start, found)

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
                warn_if_stopped(model.certificate_, type(self).__name__, stacklevel=4)
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
