"""The objective of a linear model under any loss, with a bound of its minimum.

    f(w, b) = sum_i c_i l(x_i'w + b, t_i) / sum_i c_i + alpha |w|^2 / 2

with weights c. For slopes a_i in the domain of the conjugate of l with `sum_i c_i a_i = 0` (needed
for a free intercept only), Fenchel's inequality gives for alpha > 0

    f >= -sum_i c_i l*(a_i, t_i) / C - |sum_i c_i a_i x_i / C|^2 / (2 alpha),     C = sum_i c_i,

at any w. The slopes of the loss at the present scores make the two sides meet at the optimum. Where
they do not add up to zero, those of the sign that outweighs are scaled down: every domain is an
interval that contains zero, so they stay inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from novum.core.errors import InputError
from novum.core.tables import check_numbers
from novum.linear.column_range import check_range, check_sparse_range
from novum.numerics import (
    Floats,
    HingeLoss,
    LogisticLoss,
    Loss,
    PerceptronLoss,
    Positions,
    SquaredHingeLoss,
)

_OF_SIDES = (LogisticLoss, HingeLoss, SquaredHingeLoss, PerceptronLoss)


@dataclass(frozen=True, eq=False)
class LinearObjective:
    """Value, gradient and lower bound; parameters are `(w, b)`, or `w` without an intercept.

    Attributes
    ----------
    loss : Loss
    X : array or CSR matrix of shape (n, d)
    target, weight : arrays of shape (n,)
        Weights sum to one.
    alpha : float
    fit_intercept : bool
    """

    loss: Loss
    X: Any
    target: Floats
    weight: Floats
    alpha: float
    fit_intercept: bool

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_params(self) -> int:
        return int(self.X.shape[1]) + self.fit_intercept

    def scores(self, params: Floats, rows: Positions | None = None) -> Floats:
        X = self.X if rows is None else self.X[rows]
        w, b = self.parts(params)
        return np.asarray(X @ w + b)

    def parts(self, params: Floats) -> tuple[Floats, float]:
        """Coefficients and intercept."""
        return (params[:-1], float(params[-1])) if self.fit_intercept else (params, 0.0)

    def value_and_gradient(self, params: Floats) -> tuple[float, Floats]:
        scores, (w, _) = self.scores(params), self.parts(params)
        value = float(self.weight @ self.loss.value(scores, self.target))
        slopes = self.weight * self.loss.gradient(scores, self.target)
        return value + 0.5 * self.alpha * float(w @ w), self._gradient(self.X, slopes, params)

    def batch_gradient(self, params: Floats, rows: Positions) -> Floats:
        """The gradient of some rows, whose expectation over equal batches is that of all."""
        slopes = self.loss.gradient(self.scores(params, rows), self.target[rows])
        share = self.weight[rows] * (self.n_rows / len(rows))
        return self._gradient(self.X[rows], share * slopes, params)

    def lower_bound(self, params: Floats) -> float | None:
        """A value that no parameters go below; None without a penalty."""
        if not self.alpha > 0:
            return None
        dual = self.loss.gradient(self.scores(params), self.target)
        if self.fit_intercept:
            dual = self._balanced(dual)
        conjugates = self.loss.conjugate(dual, self.target)
        if not np.isfinite(conjugates).all():
            return None
        pull = np.asarray(self.X.T @ (self.weight * dual)).ravel()
        return -float(self.weight @ conjugates) - float(pull @ pull) / (2 * self.alpha)

    def lipschitz(self) -> float:
        """A Lipschitz constant of the gradient: smoothness times the largest eigenvalue."""
        if not np.isfinite(self.loss.smoothness):
            return np.inf
        return self.loss.smoothness * self._largest_curvature() + self.alpha

    def _gradient(self, X: Any, slopes: Floats, params: Floats) -> Floats:
        w, _ = self.parts(params)
        slope = np.asarray(X.T @ slopes).ravel() + self.alpha * w
        return np.append(slope, slopes.sum()) if self.fit_intercept else slope

    def _balanced(self, dual: Floats) -> Floats:
        mass = self.weight * dual
        up, down = float(mass[mass > 0].sum()), -float(mass[mass < 0].sum())
        if up == down:
            return dual
        factor = min(up, down) / max(up, down)
        return np.where((dual > 0) == (up > down), factor * dual, dual)

    def _largest_curvature(self) -> float:
        """Largest eigenvalue of the weighted second moments of (x, 1)."""
        n, d = self.X.shape
        if sparse.issparse(self.X) or min(n, d) > 500:
            # The trace bounds the largest eigenvalue, and costs one pass.
            squares = self.X.multiply(self.X) if sparse.issparse(self.X) else np.square(self.X)
            return float(np.asarray(self.weight @ squares).sum()) + self.fit_intercept
        rows = np.sqrt(self.weight)[:, np.newaxis] * self.X
        if self.fit_intercept:
            rows = np.column_stack([rows, np.sqrt(self.weight)])
        return float(np.linalg.norm(rows, 2)) ** 2 * (1 + 1e-12)


def linear_objective(
    loss: Loss,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    alpha: float,
    fit_intercept: bool,
) -> LinearObjective:
    """The checked objective; refuses what is no loss, table, target or weight."""
    if not isinstance(loss, Loss):
        raise InputError(
            f"A loss has value, gradient, curvature and conjugate, got {loss!r}. Pass one of "
            "novum.numerics.losses, such as LogisticLoss()."
        )
    if not (np.isfinite(alpha) and alpha >= 0):
        raise InputError(f"alpha must be a finite number of at least 0, got {alpha!r}.")
    table, target = _checked_table(X), check_numbers(y, type(loss).__name__)
    if target.ndim != 1 or len(target) != table.shape[0]:
        raise InputError(
            f"X has {table.shape[0]} rows, but y has shape {target.shape}. Pass one target for "
            "each row."
        )
    if isinstance(loss, _OF_SIDES) and not np.isin(target, (-1.0, 1.0)).all():
        wrong = int(np.argmin(np.isin(target, (-1.0, 1.0))))
        raise InputError(
            f"{type(loss).__name__} compares with sides -1 and +1, but y holds {target[wrong]} at "
            f"row {wrong}. Code the two classes as -1 and +1."
        )
    weight = _checked_weight(sample_weight, table.shape[0])
    return LinearObjective(loss, table, target, weight, float(alpha), bool(fit_intercept))


def _checked_table(X: Any) -> Any:
    table = sparse.csr_matrix(X, dtype=float) if sparse.issparse(X) else np.asarray(X)
    if table.ndim != 2 or 0 in table.shape:
        raise InputError(
            f"X must be a table with rows and columns, got shape {table.shape}. Reshape it."
        )
    if not sparse.issparse(table):
        try:
            table = table.astype(float)
        except (TypeError, ValueError) as error:
            raise InputError(
                "X holds cells that are no numbers. Code categories as numbers first."
            ) from error
    cells = table.data if sparse.issparse(table) else table
    if not np.isfinite(cells).all():
        raise InputError("X holds missing or infinite cells. Fill them in or select other rows.")

    def names() -> list[str]:
        return [f"x{j}" for j in range(table.shape[1])]

    if sparse.issparse(table):
        check_sparse_range(table, names)
    else:
        size = np.abs(table).max(axis=0)
        check_range(np.zeros_like(size), size, names)
    return table


def _checked_weight(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    weight = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight, float)
    allowed = np.isfinite(weight) & (weight >= 0)
    if weight.shape != (n_rows,) or not allowed.all() or not weight.any():
        raise InputError(
            f"sample_weight needs one finite number of at least 0 for each of the {n_rows} rows, "
            "not all zero."
        )
    return weight / weight.sum()
