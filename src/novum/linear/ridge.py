"""Ridge regression: least squares with a quadratic penalty.

    minimize  sum_i w_i (y_i - b0 - x_i'b)^2 + alpha |b|^2

The same triangular factor as for least squares serves every penalty: the coefficients come from
QR of `[R_x; sqrt(alpha) I]`, so no square of a small number is ever formed. The intercept is free
of the penalty. The penalty is in the user's units: ridge depends on the scale of columns by
definition.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval, StrOptions

from novum.core.errors import InputError
from novum.linear.model import LinearModel
from novum.linear.solution import Floats

# Names of scikit-learn's solvers for what is solved directly here.
_OTHER_SOLVERS = ("svd", "cholesky", "sparse_cg", "sag", "saga", "lbfgs")


class Ridge(LinearModel):
    """Ridge regression with certificate and mergeable statistics.

    Minimizes `sum_i w_i (y_i - b0 - x_i'b)^2 + alpha |b|^2`, solved directly from the triangular
    factor of the table.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        Strength of the penalty, at least 0.
    fit_intercept : bool, default=True
    copy_X : bool, default=True
        Kept for scikit-learn's signature; `X` is never overwritten.
    max_iter : int, optional
        Limit of the iterative solvers.
    tol : float, default=1e-4
        Of the iterative solvers.
    solver : {"auto", "lsqr", "gradient"} or a name of scikit-learn's, default="auto"
        `"auto"` is direct, except for sparse tables of more than 2000 columns. scikit-learn's
        `"svd"`, `"cholesky"`, `"sparse_cg"`, `"sag"`, `"saga"`, and `"lbfgs"` with
        `positive=True`, are accepted and mean `"auto"`: the coefficients are the same.
    positive : bool, default=False
        Restricts the coefficients to be at least zero.
    random_state : optional
        Kept for scikit-learn's signature; nothing here is random.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns coded by their levels, against the first level.

    Attributes
    ----------
    coef_, intercept_, coef_names_, certificate_, statistics_, rank_, singular_, schema_
        As in `LinearRegression`.
    degrees_of_freedom_ : float
        Effective number of coefficients, the trace of the hat matrix, intercept included.

    Notes
    -----
    Costs `O(n p^2)` time, then `O(p^3)` for each further strength. Weights count repetitions.
    Missing cells are refused; an unseen level counts as the first level, with a warning.

    References
    ----------
    Hoerl and Kennard 1970; Golub and Van Loan, Matrix Computations, 4th ed., 6.1.4.

    Examples
    --------
    >>> from novum.linear import Ridge
    >>> model = Ridge(alpha=2.0).fit([[-1.0], [1.0]], [0.0, 4.0])
    >>> round(float(model.coef_[0]), 12), round(float(model.intercept_), 12)
    (1.0, 2.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), np.ndarray, list],
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "max_iter": [None, Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "solver": [StrOptions({"auto", "lsqr", "gradient", *_OTHER_SOLVERS})],
        "positive": ["boolean"],
        "random_state": ["random_state"],
        "categorical_features": [str, None, "array-like"],
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        categorical_features: Any = "auto",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.categorical_features = categorical_features

    @property
    def degrees_of_freedom_(self) -> Floats | float:
        """Effective number of coefficients: `sum s^2 / (s^2 + alpha)`, plus 1 for an intercept."""
        if not hasattr(self, "statistics_"):
            raise NotFittedError(
                "degrees_of_freedom_ is known after a direct fit only: the singular values of the "
                "table are needed. Fit with solver='auto' on dense columns."
            )
        squares = self.singular_[: self.rank_] ** 2
        penalties = self._penalties(self.statistics_.n_targets)
        counts = [float((squares / (squares + alpha)).sum()) for alpha in penalties]
        found = np.array(counts) + self.fit_intercept
        return float(found[0]) if self.statistics_.vector_target else found

    @property
    def _method(self) -> str:
        return "auto" if self.solver in _OTHER_SOLVERS else self.solver

    def _check_solver(self) -> None:
        super()._check_solver()
        if self.positive and self.solver not in ("auto", "lbfgs"):
            raise InputError(
                f"solver={self.solver!r} does not support positive fitting. Set the solver to "
                "'auto' or 'lbfgs', or positive=False."
            )
        if self.solver == "lbfgs" and not self.positive:
            raise InputError(
                "'lbfgs' solver can be used only when positive=True. Use solver='auto'."
            )

    def _penalties(self, n_targets: int) -> Floats:
        alpha = strengths(self.alpha, "alpha").ravel()
        if alpha.size not in (1, n_targets):
            raise InputError(
                f"Number of targets and number of penalties do not correspond: {n_targets} != "
                f"{alpha.size}. Give one alpha, or one for each target."
            )
        return np.broadcast_to(alpha, (n_targets,))


def strengths(values: Any, name: str) -> Floats:
    """Strengths of a penalty as an array: finite numbers of at least 0.

    >>> strengths([0, 1.5], "alpha").tolist()
    [0.0, 1.5]
    """
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if not (np.isfinite(found).all() and (found >= 0).all()):
        raise InputError(f"{name} must be finite numbers of at least 0, got {values!r}.")
    return found
