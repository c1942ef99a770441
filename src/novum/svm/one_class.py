"""One-class classification: the hyperplane between the data and the origin.

    min over w, rho, xi   |w|^2 / 2 - rho + sum_i w_i xi_i / (nu W)
                          so that   <w, phi(x_i)> >= rho - xi_i

`nu` bounds the share of rows below the hyperplane from above and the share of support vectors from
below. Scores are scaled as scikit-learn's: coefficients sum to `nu W`, W the sum of the weights.
"""

from __future__ import annotations

import warnings
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novum.svm.novelty import NoveltyMachine
from novum.svm.objects import KernelSample
from novum.svm.parameters import KERNEL_PARAMETERS, SHARE, SOLVER_PARAMETERS
from novum.svm.solver import problems
from novum.svm.solver.problem import QuadraticProblem, Solution
from novum.svm.solver.vanishing import VANISHING, VanishingMarginWarning

Floats = NDArray[np.float64]


class OneClassSVM(NoveltyMachine):
    """Support of a distribution: a half-space in the feature space that holds most of the data.

    Parameters
    ----------
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, max_seconds, \
categorical_features, indefinite
        As in `SVC`.
    nu : float, default=0.5
        Largest share of training rows outside, above 0 and at most 1.

    Attributes
    ----------
    offset_ : float
        Scores from this are inside: `decision_function = score_samples - offset_`.
    intercept_ : array of shape (1,)
        `-offset_`.
    support_, support_vectors_, dual_coef_, coef_, n_support_, kernel_, certificate_, fit_status_, \
n_iter_, shape_fit_
        As in `SVC`, of one machine.
    bound_, unbound_ : int arrays
        Support vectors outside, and on the border.
    margin_ : float
        Distance of the hyperplane from the origin, `rho / |w|`.
    xi_ : array of shape (n_rows,)
        How far each row is outside, in units of the scores. NaN for rows of weight zero.

    Notes
    -----
    For kernels with constant `k(x, x)`, such as the Gaussian, the region is that of `SVDD`.

    References
    ----------
    Schoelkopf, Platt, Shawe-Taylor, Smola and Williamson (2001).

    Examples
    --------
    >>> model = OneClassSVM(nu=0.4, gamma=0.1).fit([[0.0], [0.1], [0.2], [0.1], [3.0]])
    >>> model.predict([[0.1], [5.0]]).tolist()
    [1, -1]
    """

    _objective = "distance of the data from the origin"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_PARAMETERS,
        **SOLVER_PARAMETERS,
        "nu": SHARE,
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
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
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.categorical_features = categorical_features
        self.indefinite = indefinite

    def _problem(self, sample: KernelSample, prepared: Any) -> QuadraticProblem:
        del prepared
        return problems.one_class(sample.weight, float(self.nu))

    def _store(
        self, sample: KernelSample, prepared: Any, problem: QuadraticProblem, found: Solution
    ) -> None:
        scale = float(self.nu * sample.weight.sum())
        b, rho = found.coefficients, float(found.multipliers[0])
        norm = sqrt(max(float(b @ found.gradient), 0.0))
        slack = scale * np.maximum(rho - found.gradient, 0.0)
        self._keep(sample, prepared, scale * b[np.newaxis])
        self._keep_slack(sample, slack, (b >= problem.upper) & (b > 0))
        self.offset_ = scale * rho
        self.intercept_ = np.array([-self.offset_])
        self.margin_ = rho / norm if norm > 0 else 0.0
        if found.stopped_by == VANISHING:
            warnings.warn(
                f"nu={self.nu:.6g} leaves no hyperplane between the rows and the origin: the best "
                "margin is zero. Choose a larger nu, or a kernel such as 'rbf' for which the "
                "origin is outside.",
                VanishingMarginWarning,
                stacklevel=5,
            )

    @property
    def coef_(self) -> Floats:
        """Weights of the columns, for a linear kernel, of shape (1, n_columns)."""
        return self._column_weights

    def score_samples(self, X: Any) -> Floats:
        """`<w, phi(x)>` in the scale of `dual_coef_`, of shape (n,)."""
        return self._with_border(self._scores(X)[:, 0])
