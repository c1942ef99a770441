"""Support vector data description: the smallest sphere around the data.

    min over o, R, xi   R^2 + C sum_i w_i xi_i    so that   |phi(x_i) - o|^2 <= R^2 + xi_i

The center is `o = sum_i a_i phi(x_i)` with coefficients that sum to one, so that

    |phi(x) - o|^2 = k(x, x) - 2 sum_i a_i k(x_i, x) + sum_ij a_i a_j k(x_i, x_j),

and objects inside the sphere have no coefficient. `C = inf` leaves no object outside.
"""

from __future__ import annotations

from math import sqrt
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from novum.core.errors import InputError
from novum.kernels.validity import admitted
from novum.svm.novelty import NoveltyMachine
from novum.svm.objects import KernelSample
from novum.svm.parameters import KERNEL_PARAMETERS, SHARE, SOLVER_PARAMETERS
from novum.svm.solver import problems
from novum.svm.solver.problem import QuadraticProblem, Solution

Floats = NDArray[np.float64]


class SVDD(NoveltyMachine):
    """Smallest enclosing hypersphere in a kernel's feature space, for novelty detection.

    Parameters
    ----------
    nu : float, default=0.1
        Largest share of training rows outside, above 0 and at most 1. The price of slack is
        `C = 1 / (nu W)`, W the sum of the weights.
    C : float, optional
        The price of slack in place of `nu`: at least `1 / W`; `inf` encloses all rows.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, max_seconds, \
categorical_features
        As in `SVC`.
    indefinite : {"refuse"}
        A similarity that is not positive semi-definite has no distances, and is refused.

    Attributes
    ----------
    radius_ : float
        R: the distance of unbound support vectors from the center.
    offset_ : float
        `-R^2`: `decision_function = score_samples - offset_` is `R^2` minus the squared distance.
    center_norm_ : float
        `|o|` in the feature space.
    center_ : array of shape (n_columns,)
        `o`, for a linear kernel.
    support_, support_vectors_, dual_coef_, n_support_, kernel_, certificate_, fit_status_, \
n_iter_, shape_fit_
        As in `SVC`; coefficients sum to one.
    bound_, unbound_ : int arrays
        Support vectors outside, and on the surface.
    xi_ : array of shape (n_rows,)
        By how much the squared distance of each row exceeds `R^2`. NaN for rows of weight zero.

    Notes
    -----
    Distances of new objects need `k(x, x)`, which a precomputed kernel does not know.

    References
    ----------
    Tax and Duin (2004).

    Examples
    --------
    Three points on a line: the sphere is the segment between the outer two.

    >>> model = SVDD(C=float("inf"), kernel="linear").fit([[0.0], [1.0], [4.0]])
    >>> round(model.radius_, 6), model.center_.round(6).tolist()
    (2.0, [2.0])
    >>> model.distance([[5.0]]).round(6).tolist(), model.predict([[3.0], [5.0]]).tolist()
    ([3.0], [1, -1])
    """

    _objective = "squared radius, and squared distances beyond it"
    _scale = 2.0
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_PARAMETERS,
        **SOLVER_PARAMETERS,
        "nu": SHARE,
        "C": [Interval(Real, 0, None, closed="right"), None],
        "indefinite": [StrOptions({"refuse"})],
    }

    def __init__(
        self,
        *,
        nu: float = 0.1,
        C: float | None = None,
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

    def _prepared(self, sample: KernelSample) -> Any:
        return admitted(
            self.kernel_,
            sample.prepared,
            advice="A sphere has no projected form: choose a kernel that is positive semi-definite "
            "by construction, or use OneClassSVM with indefinite='project'.",
        )

    def _problem(self, sample: KernelSample, prepared: Any) -> QuadraticProblem:
        total = float(sample.weight.sum())
        price = 1.0 / (self.nu * total) if self.C is None else float(self.C)
        if price * total < 1 - problems.ROUNDING:
            raise InputError(
                f"C={price:.6g} is too small for a sphere: the {total:.6g} rows could all be left "
                f"outside for less than any center costs. Choose C of at least {1 / total:.6g}."
            )
        if price * total <= 1:
            return problems.sphere(prepared.diagonal(), sample.weight / total)
        # Coefficients sum to one, so that a bound of two is none.
        return problems.sphere(prepared.diagonal(), np.minimum(price * sample.weight, 2.0))

    def _store(
        self, sample: KernelSample, prepared: Any, problem: QuadraticProblem, found: Solution
    ) -> None:
        a = found.coefficients
        expansion = found.gradient - problem.linear
        center = max(float(a @ expansion), 0.0)
        square = max(center - 2.0 * float(found.multipliers[0]), 0.0)
        distances = prepared.diagonal() - 2.0 * expansion + center
        self._keep(sample, prepared, a[np.newaxis])
        slack = np.maximum(distances - square, 0.0)
        self._keep_slack(sample, slack, (a >= problem.upper) & (a > 0))
        self.radius_ = sqrt(square)
        self.center_norm_ = sqrt(center)
        self.offset_ = -square

    @property
    def center_(self) -> Floats:
        """The center, for a linear kernel, of shape (n_columns,)."""
        return self._column_weights.ravel()

    def distance(self, X: Any) -> Floats:
        """Distances from the center in the feature space, of shape (n,)."""
        return np.sqrt(-self.score_samples(X))

    def score_samples(self, X: Any) -> Floats:
        """Minus the squared distance from the center, of shape (n,)."""
        new = self._prepared_new(X)
        squares = new.diagonal() - 2.0 * self._scores_of(new)[:, 0] + self.center_norm_**2
        return self._with_border(-np.maximum(squares, 0.0))
