"""What a logistic regression minimizes, as a function of one vector.

    F(V) = sum_i w_i loss(y_i, Q V z_i) + (penalty / 2) |V_x|^2

`V` has shape (q, p): q = 1 for two classes and K - 1 for K (`loss.class_basis`), p columns
with the intercept last, which the penalty leaves alone. Columns are centered, which changes nothing
but the intercept, and much about how round the function is. F is convex, and twice differentiable
with a Hessian that at a nearby point differs by no more than a factor (`logistic.certificate`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from novum.linear.logistic.loss import LossSums, class_basis, reduced_hessian
from novum.linear.logistic.rows import Rows
from novum.numerics import Floats, cached_property, factorize, unit_scale


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a pass says about a point.

    Attributes
    ----------
    value : float
    gradient : array (P,)
    mixed : array (m, m)
        The part of the Hessian that belongs to the intercepts of the scores.
    hessian : array (P, P) or None
        If it was asked for.
    """

    value: float
    gradient: Floats
    mixed: Floats
    hessian: Floats | None = None


@dataclass(frozen=True, eq=False)
class LocalHessian:
    """The Hessian at a point as products with vectors (P,), and an estimate of its diagonal."""

    product: Callable[[Floats], Floats]
    diagonal: Callable[[], Floats]


@dataclass(frozen=True, eq=False)
class Shape:
    """How a vector of parameters becomes coefficients.

    Attributes
    ----------
    n_classes, n_columns : int
    fit_intercept : bool
    penalty : float
    """

    n_classes: int
    n_columns: int
    fit_intercept: bool
    penalty: float

    @cached_property
    def basis(self) -> Floats:
        return class_basis(self.n_classes)

    @property
    def width(self) -> int:
        return self.n_columns + self.fit_intercept

    @property
    def size(self) -> int:
        """Number of free parameters."""
        return self.basis.shape[1] * self.width

    @cached_property
    def penalties(self) -> Floats:
        """The penalty of each parameter, (P,)."""
        one = np.full(self.width, self.penalty)
        if self.fit_intercept:
            one[-1] = 0.0
        return np.tile(one, self.basis.shape[1])

    def coefficients(self, vector: Floats) -> Floats:
        """`W` of shape (m, d + 1), with an intercept of zero where there is none."""
        W = self.basis @ vector.reshape(-1, self.width)
        return W if self.fit_intercept else np.column_stack([W, np.zeros(len(W))])

    def vector(self, W: Floats) -> Floats:
        """The parameters of coefficients (m, d + 1); what is common to all classes is dropped."""
        return np.ascontiguousarray(self.basis.T @ W[:, : self.width]).ravel()

    def evaluation(self, sums: LossSums, vector: Floats) -> Evaluation:
        """Value and derivatives of the penalized loss from the sums of the loss."""
        gradient = self.vector(sums.gradient) + self.penalties * vector
        value = sums.value + 0.5 * float((self.penalties * vector) @ vector)
        hessian = None
        if sums.hessian is not None:
            p = self.width
            hessian = reduced_hessian(sums.hessian[:, :p, :p], self.basis)
            hessian = hessian + np.diag(self.penalties)
        return Evaluation(value, gradient, sums.mixed, hessian)

    def intercept_hessian(self, mixed: Floats) -> Floats:
        """The Hessian by the intercepts, (q, q), from that by the scores (m, m)."""
        return mixed if self.n_classes == 2 else self.basis.T @ mixed @ self.basis

    def null_vector(self, class_weights: Floats) -> Floats:
        """Parameters of the best model without columns."""
        W = np.zeros((len(self.basis), self.n_columns + 1))
        if self.fit_intercept:
            logs = np.log(class_weights)
            W[:, -1] = logs[1] - logs[0] if self.n_classes == 2 else logs
        return self.vector(W)


class PenalizedLoss:
    """The objective over rows in memory."""

    def __init__(self, rows: Rows, shape: Shape) -> None:
        self.rows, self.shape = rows, shape
        self.passes = 0
        self.latest: Evaluation | None = None

    def evaluate(self, vector: Floats, *, hessian: bool = False) -> Evaluation:
        self.passes += 1
        W = self.shape.coefficients(vector)
        return self.shape.evaluation(self.rows.sums(W, hessian=hessian), vector)

    def value_and_gradient(self, vector: Floats) -> tuple[float, Floats]:
        """As the minimizers of `numerics.optimize` take it; `latest` keeps the rest."""
        self.latest = self.evaluate(vector)
        return self.latest.value, self.latest.gradient

    def local(self, vector: Floats) -> tuple[Evaluation, LocalHessian]:
        """Value and gradient, and the Hessian as products."""
        self.passes += 1
        shape = self.shape
        sums, curvature = self.rows.curvature(shape.coefficients(vector))

        def product(v: Floats) -> Floats:
            changed = curvature.product(shape.coefficients(v))
            return shape.vector(changed) + shape.penalties * v

        def diagonal() -> Floats:
            # Classes are treated as if their scores did not know of each other.
            rough = (shape.basis**2).T @ curvature.diagonal()[:, : shape.width]
            return rough.ravel() + shape.penalties

        return shape.evaluation(sums, vector), LocalHessian(product, diagonal)

    def strided(self, stride: int) -> PenalizedLoss:
        return PenalizedLoss(self.rows.strided(stride), self.shape)

    def start(self) -> Floats:
        """The best model without columns."""
        return self.shape.null_vector(self.rows.class_weights)

    def size(self, value: float) -> float:
        """What a decrement is compared with: the root of the objective.

        A loss of 1e-8 of that without columns is as good as none, and no digit of it matters.
        """
        return float(np.sqrt(max(value, 1e-8 * self.value_at_start)))

    @cached_property
    def value_at_start(self) -> float:
        """Its objective, which needs no pass."""
        weights = self.rows.class_weights
        total = float(weights.sum())
        if not self.shape.fit_intercept:
            return total * float(np.log(self.shape.n_classes))
        return -float(weights @ np.log(weights / total))


# --- Factor of a Hessian --------------------------------------------------------------------------


class Factor:
    """Cholesky factor of a Hessian whose columns were first scaled by powers of two.

    Where rounding leaves the Hessian without full rank, the least multiple of the (scaled) identity
    that makes it definite is added: steps get shorter along what is not determined, no other way.
    """

    def __init__(self, hessian: Floats) -> None:
        size = np.sqrt(np.maximum(np.diagonal(hessian), 0.0))
        self.scale = unit_scale(size)
        scaled = hessian * self.scale * self.scale[:, np.newaxis]
        self.ridge = 0.0
        while True:
            raised = np.asfortranarray(scaled + self.ridge * np.eye(len(scaled)))
            if factorize(raised):
                self._factor = raised
                return
            if self.ridge > 1.0:
                raise linalg.LinAlgError("The Hessian is not positive definite.")
            self.ridge = max(1e-14 * len(scaled), 10 * self.ridge)

    def solve(self, vector: Floats) -> Floats:
        """`H^-1 vector`."""
        inner, _ = linalg.lapack.dpotrs(self._factor, self.scale * vector, lower=1)
        return np.asarray(self.scale * inner)

    def step(self, gradient: Floats) -> tuple[Floats, float]:
        """Newton's step `-H^-1 g` and the Newton decrement."""
        solution = self.solve(gradient)
        return -solution, float(np.sqrt(max(0.0, float(gradient @ solution))))

    def norm(self, vector: Floats) -> float:
        """`sqrt(vector' H^-1 vector)`; of a gradient, the Newton decrement."""
        return self.step(vector)[1]

    @cached_property
    def scaled_inverse(self) -> Floats:
        """`(S H S)^-1` for the powers of two `S`."""
        return np.asarray(linalg.lapack.dpotrs(self._factor, np.eye(self.scale.size), lower=1)[0])

    @property
    def inverse(self) -> Floats:
        return self.scaled_inverse * self.scale * self.scale[:, np.newaxis]
