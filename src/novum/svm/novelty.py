"""What the learners of one class share: a region around the training objects, and who is outside.

    decision(x) = score(x) - offset,        at least 0 inside

Nothing is known of what is outside; a share of the training objects may be left there.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin, _fit_context

from novum.core.certificate import Stopwatch, warn_if_stopped
from novum.core.fitting import fitting
from novum.svm.kernel_machine import KernelMachine
from novum.svm.objects import KernelSample
from novum.svm.solver.certification import cache_bytes_of, certify, stopping_of
from novum.svm.solver.problem import QuadraticProblem, Solution
from novum.svm.solver.solving import solve
from novum.svm.solver.vanishing import solve_or_vanish

Floats = NDArray[np.float64]

# Relative to the offset; sums of similarities are right to more digits than this.
BORDER = 1e-9


class NoveltyMachine(KernelMachine, OutlierMixin, BaseEstimator):
    """The part of OneClassSVM and SVDD that does not depend on the form of the region."""

    _objective: ClassVar[str]
    # The objective in units of the program's.
    _scale: ClassVar[float] = 1.0

    offset_: float

    @abstractmethod
    def _problem(self, sample: KernelSample, prepared: Any) -> QuadraticProblem:
        """The program, one variable for each object."""

    @abstractmethod
    def _store(
        self, sample: KernelSample, prepared: Any, problem: QuadraticProblem, found: Solution
    ) -> None:
        """The fitted attributes."""

    @abstractmethod
    def score_samples(self, X: Any) -> Floats:
        """How typical objects are; the larger, the more."""

    @_fit_context(prefer_skip_nested_validation=True)
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
            warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=4)
        return self

    def _learn(self, sample: KernelSample, watch: Stopwatch) -> None:
        prepared = self._prepared(sample)
        problem = self._problem(sample, prepared)
        stopping = stopping_of(self, watch)
        solver = solve if problem.linear.any() else solve_or_vanish
        found = solver(prepared, problem, stopping, cache_bytes=cache_bytes_of(self))
        self._store(sample, prepared, problem, found)
        self.n_support_ = np.array([len(self.support_)], np.int32)
        self.certificate_ = certify(
            self._objective, [found], self.tol, watch.seconds, scale=self._scale
        )
        self.fit_status_ = 0 if self.certificate_.converged else 1
        self.n_iter_ = found.iterations

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients, none below zero, of shape (1, n_support)."""
        return self.expansion_

    def decision_function(self, X: Any) -> Floats:
        """`score_samples(X) - offset_`: positive inside, negative outside."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.intp]:
        """1 for objects inside or on the border, -1 for those outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _with_border(self, scores: Floats) -> Floats:
        """Scores with those at the offset that differ from it by rounding.

        Support vectors are on the border by construction: they do not count as outside.
        """
        is_on = np.abs(scores - self.offset_) <= BORDER * abs(self.offset_)
        return np.where(is_on, self.offset_, scores)
