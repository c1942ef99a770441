"""Nu-regression: the tube is as narrow as the share of rows outside allows.

    min over w, b, xi, epsilon   |w|^2 / 2 + C (nu W epsilon + sum_i w_i xi_i)
                                 so that   |y_i - f(x_i)| <= epsilon + xi_i

`nu` bounds the share of rows outside the tube from above, and the share of support vectors from
below; W is the sum of the weights. The multipliers of the two sides are `-epsilon - b` and
`epsilon - b`.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from novum.svm.parameters import KERNEL_PARAMETERS, SHARE, SOLVER_PARAMETERS
from novum.svm.regression import SupportVectorRegressor, Tube
from novum.svm.solver import problems
from novum.svm.solver.problem import QuadraticProblem, Solution

Floats = NDArray[np.float64]


class NuSVR(SupportVectorRegressor):
    """Support vector regressor that chooses the width of its tube.

    Parameters
    ----------
    nu : float, default=0.5
        Largest share of rows outside the tube, above 0 and at most 1.
    C : float, default=1.0
        Price of slack, above zero and finite.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, max_seconds, \
categorical_features, indefinite
        As in `SVC`.

    Attributes
    ----------
    epsilon_ : float
        Half-width of the tube that was found.
    support_, support_vectors_, dual_coef_, intercept_, coef_, n_support_, n_iter_, bound_, \
unbound_, xi_, kernel_, certificate_, fit_status_, shape_fit_
        As in `SVR`.

    References
    ----------
    Schoelkopf, Smola, Williamson and Bartlett (2000).

    Examples
    --------
    >>> model = NuSVR(kernel="linear", C=100.0, nu=0.4).fit([[0.0], [1.0], [2.0]], [0, 1, 4])
    >>> round(model.epsilon_, 4)
    0.5
    """

    _objective = "absolute error beyond a tube, its width, and flatness"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_PARAMETERS,
        **SOLVER_PARAMETERS,
        "C": [Interval(Real, 0, None, closed="neither")],
        "nu": SHARE,
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        max_seconds: float | None = None,
        categorical_features: Any = "auto",
        indefinite: str = "refuse",
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.categorical_features = categorical_features
        self.indefinite = indefinite

    def _problem(self, target: Floats, price: Floats) -> QuadraticProblem:
        return problems.nu_regression(target, price, float(self.nu))

    def _tube(self, solution: Solution) -> Tube:
        above, below = (float(r) for r in solution.multipliers)
        return Tube(-(above + below) / 2, max((below - above) / 2, 0.0))
