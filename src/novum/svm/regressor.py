"""Support vector regression: the flattest function within a tube around the targets.

    min over w, b, xi   |w|^2 / 2 + C sum_i w_i xi_i    so that   |y_i - f(x_i)| <= epsilon + xi_i

Targets inside the tube cost nothing, and their rows have no coefficient.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from novum.svm.parameters import KERNEL_PARAMETERS, SOLVER_PARAMETERS
from novum.svm.regression import SupportVectorRegressor, Tube
from novum.svm.solver import problems
from novum.svm.solver.problem import QuadraticProblem, Solution

Floats = NDArray[np.float64]


class SVR(SupportVectorRegressor):
    """Support vector regressor with any kernel, solved to a proved duality gap.

    Parameters
    ----------
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, max_seconds, \
categorical_features, indefinite
        As in `SVC`.
    C : float, default=1.0
        Price of slack, above zero and finite.
    epsilon : float, default=0.1
        Half-width of the tube.
    units : {"target", "spread"}, default="target"
        Of `C` and `epsilon`: those of the target, or standard deviations of it, so that a target
        in cents gives a hundred times the predictions of one in dollars.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, coef_, kernel_, certificate_, fit_status_, \
shape_fit_
        As in `SVC`, of one machine.
    n_support_ : int array of shape (1,)
    n_iter_ : int
    bound_, unbound_ : int arrays
        Support vectors outside the tube, and on its border.
    xi_ : array of shape (n_rows,)
        How far each target is outside of the tube. NaN for rows of weight zero.
    epsilon_ : float
        Half-width of the tube, in units of the target.
    unit_ : float
        What `C` and `epsilon` were multiplied by.

    Notes
    -----
    Weights count repetitions: weight 2 is the row twice, and weight 0 the row absent. Missing cells
    are refused. Without unbound support vectors the bias is the middle of its admissible interval.

    References
    ----------
    Drucker et al. (1997); Smola and Schoelkopf (2004).

    Examples
    --------
    >>> model = SVR(kernel="linear", C=10.0, epsilon=0.5).fit([[0.0], [1.0], [2.0]], [0, 1, 4])
    >>> model.predict([[1.0]]).round(4).tolist()
    [1.5]
    """

    _objective = "absolute error beyond a tube, and flatness"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_PARAMETERS,
        **SOLVER_PARAMETERS,
        "C": [Interval(Real, 0, None, closed="neither")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "units": [StrOptions({"target", "spread"})],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        units: str = "target",
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        max_seconds: float | None = None,
        categorical_features: Any = "auto",
        indefinite: str = "refuse",
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.units = units
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.categorical_features = categorical_features
        self.indefinite = indefinite

    def _problem(self, target: Floats, price: Floats) -> QuadraticProblem:
        self.unit_ = 1.0 if self.units == "target" else spread_of(target, price)
        return problems.regression(target, price * self.unit_, self.epsilon * self.unit_)

    def _tube(self, solution: Solution) -> Tube:
        return Tube(-float(solution.multipliers[0]), self.epsilon * self.unit_)


def spread_of(target: Floats, weight: Floats) -> float:
    """The weighted standard deviation of a target; 1 where it is constant.

    Examples
    --------
    >>> spread_of(np.array([0.0, 10.0]), np.ones(2))
    5.0
    """
    mean = np.average(target, weights=weight)
    spread = math.sqrt(float(np.average((target - mean) ** 2, weights=weight)))
    return spread if spread > 0 else 1.0
