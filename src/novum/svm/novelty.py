"""What the learners of one class share: a region around the training objects, and who is outside.

    decision(x) = score(x) - offset,        at least 0 inside

Nothing is known of what is outside; a share of the training objects may be left there.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from math import sqrt
from typing import Any, Self

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import NoveltyMixin, Stopwatch, parameter
from novum.core.runtime import fit_context, fitting
from novum.kernels import admitted
from novum.numerics import Floats, Mask
from novum.svm.kernel_machine import ProgramMachine
from novum.svm.objects import KernelSample
from novum.svm.parameters import PRICE, SHARE
from novum.svm.solver import problems
from novum.svm.solver.certification import cache_bytes_of, stopping_of
from novum.svm.solver.problem import QuadraticProblem, Solution
from novum.svm.solver.solving import solve
from novum.svm.solver.vanishing import VANISHING, VanishingMarginWarning, solve_or_vanish

# Relative to the offset; sums of similarities are right to more digits than this.
BORDER = 1e-9


class NoveltyMachine(NoveltyMixin, ProgramMachine):
    """The part of OneClassSVM and SVDD that does not depend on the form of the region."""

    @abstractmethod
    def _problem(self, sample: KernelSample, prepared: Any) -> QuadraticProblem:
        """The program, one variable for each object."""

    @abstractmethod
    def _store(
        self, sample: KernelSample, prepared: Any, problem: QuadraticProblem, solution: Solution
    ) -> None:
        """The fitted attributes."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Finds the region to the relative duality gap `tol`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            What the kernel takes; similarities of all pairs where it is precomputed.
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        """
        del y
        with fitting(self) as watch:
            sample = self._read(X, None, sample_weight, "none")
            self._learn(sample, watch)
            self._warn_if_stopped()
        return self

    def _learn(self, sample: KernelSample, watch: Stopwatch) -> None:
        prepared = self._prepared(sample)
        problem = self._problem(sample, prepared)
        stopping = stopping_of(self, watch)
        solver = solve if problem.linear.any() else solve_or_vanish
        solution = solver(prepared, problem, stopping, cache_bytes=cache_bytes_of(self))
        self._store(sample, prepared, problem, solution)
        self.n_support_ = np.array([len(self.support_)], np.int32)
        self._certify([solution], watch)
        self.n_iter_ = solution.iterations

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients, none below zero, of shape (1, n_support)."""
        return self.expansion_

    def _with_border(self, scores: Floats) -> Floats:
        """Scores with those at the offset that differ from it by rounding.

        Support vectors are on the border by construction: they do not count as outside.
        """
        is_on = np.abs(scores - self.offset_) <= BORDER * abs(self.offset_)
        return np.where(is_on, self.offset_, scores)

    def _check_state(self) -> None:
        super()._check_state()
        self._check_one_machine(self.offset_)


def _slack_of(
    solution: Solution, upper: Floats, excess: Floats, scale: float = 1.0
) -> tuple[Floats, Mask]:
    """How far objects are outside, and which coefficients are at their bound."""
    b = solution.coefficients
    return scale * np.maximum(excess, 0.0), (b >= upper) & (b > 0)


# --- A half-space ---------------------------------------------------------------------------------
#
#     min over w, rho, xi   |w|^2 / 2 - rho + sum_i w_i xi_i / (nu W)
#                           so that   <w, phi(x_i)> >= rho - xi_i
#
# `nu` bounds the share of rows below the hyperplane from above and the share of support vectors
# from below. Scores are scaled as scikit-learn's: coefficients sum to `nu W`, W the sum of the
# weights.


class OneClassSVM(NoveltyMachine):
    """Support of a distribution: a half-space in the feature space that holds most of the data.

    Parameters
    ----------
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
    nu: float = parameter(SHARE, default=0.5)

    def _problem(self, sample: KernelSample, prepared: Any) -> QuadraticProblem:
        del prepared
        return problems.one_class(sample.weight, float(self.nu))

    def _store(
        self, sample: KernelSample, prepared: Any, problem: QuadraticProblem, solution: Solution
    ) -> None:
        scale = float(self.nu * sample.weight.sum())
        b, rho = solution.coefficients, float(solution.multipliers[0])
        norm = sqrt(max(float(b @ solution.gradient), 0.0))
        self._keep(sample, prepared, scale * b[np.newaxis])
        self._keep_slack(sample, _slack_of, solution, problem.upper, rho - solution.gradient, scale)
        self.offset_ = scale * rho
        self.intercept_ = np.array([-self.offset_])
        self.margin_ = rho / norm if norm > 0 else 0.0
        if solution.stopped_by == VANISHING:
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


# --- A sphere -------------------------------------------------------------------------------------
#
#     min over o, R, xi   R^2 + C sum_i w_i xi_i    so that   |phi(x_i) - o|^2 <= R^2 + xi_i
#
# The center is `o = sum_i a_i phi(x_i)` with coefficients that sum to one, so that
#
#     |phi(x) - o|^2 = k(x, x) - 2 sum_i a_i k(x_i, x) + sum_ij a_i a_j k(x_i, x_j),
#
# and objects inside the sphere have no coefficient. `C = inf` leaves no object outside.


class SVDD(NoveltyMachine):
    """Smallest enclosing hypersphere in a kernel's feature space, for novelty detection.

    Parameters
    ----------
    nu : float, default=0.1
        Largest share of training rows outside, above 0 and at most 1. The price of slack is
        `C = 1 / (nu W)`, W the sum of the weights.
    C : float, optional
        The price of slack in place of `nu`: at least `1 / W`; `inf` encloses all rows.

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
    nu: float = parameter(SHARE, default=0.1)
    C: float | None = parameter(PRICE, default=None)
    indefinite: str = parameter({"refuse"}, default="refuse")

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
        self, sample: KernelSample, prepared: Any, problem: QuadraticProblem, solution: Solution
    ) -> None:
        a = solution.coefficients
        expansion = solution.gradient - problem.linear
        center = max(float(a @ expansion), 0.0)
        square = max(center - 2.0 * float(solution.multipliers[0]), 0.0)
        distances = prepared.diagonal() - 2.0 * expansion + center
        self._keep(sample, prepared, a[np.newaxis])
        self._keep_slack(sample, _slack_of, solution, problem.upper, distances - square)
        self.radius_ = sqrt(square)
        self.center_norm_ = sqrt(center)
        self.offset_ = -square

    @property
    def center_(self) -> Floats:
        """The center, for a linear kernel, of shape (n_columns,)."""
        return self._column_weights.ravel()

    def _check_state(self) -> None:
        super()._check_state()
        self._check_one_machine(self.center_norm_**2)

    def distance(self, X: Any) -> Floats:
        """Distances from the center in the feature space, of shape (n,)."""
        return np.sqrt(-self.score_samples(X))

    def score_samples(self, X: Any) -> Floats:
        """Minus the squared distance from the center, of shape (n,)."""
        new = self._prepared_new(X)
        squares = new.diagonal() - 2.0 * self._scores_of(new)[:, 0] + self.center_norm_**2
        return self._with_border(-np.maximum(squares, 0.0))
