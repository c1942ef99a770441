"""Pegasos on the rows of a table: `v = lambda t w` as a vector, steps by compiled kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.interrupts import Pacer, time_sliced
from novum.linear.perceptron_visits import Visits
from novum.numerics.jit import as_argument
from novum.svm.linear.coordinate import kernel_cells
from novum.svm.linear.design import Design
from novum.svm.online.pegasos_training import PegasosRule

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class RowMachine:
    """The vector of one binary Pegasos under way.

    Parameters
    ----------
    visits : Visits
        Distinct rows, their sides and weights.
    rule : PegasosRule
    start : tuple of array (width + 1,) and float, optional
        `v` and the steps t of earlier passes, over other rows.
    """

    def __init__(
        self, visits: Visits, rule: PegasosRule, start: tuple[Floats, float] | None = None
    ) -> None:
        self._visits, self._rule = visits, rule
        self._design = Design(visits.X, visits.constant)
        self._cells: tuple[Any, ...] = kernel_cells(self._design)
        self._squares = as_argument(self._design.squares[visits.rows])
        self._pacer = Pacer()
        v, steps = (np.zeros(visits.n_columns + 1), 0.0) if start is None else start
        self.v = v.copy()
        self.shares = np.zeros(len(visits.rows))
        self._state = np.array([steps, 1.0, float(v @ v)])

    @property
    def steps(self) -> float:
        return float(self._state[0])

    @property
    def weights(self) -> Floats:
        """`w`, the intercept last."""
        return self.v / (self._rule.penalty * self.steps)

    def take(self, order: Places) -> None:
        """Steps over the rows in this order, in slices after which Ctrl-C is heard."""
        from novum.svm.online.pegasos_kernels import dense_steps, sparse_steps

        kernel = sparse_steps if self._design.is_sparse else dense_steps
        visits, batch = self._visits, self._rule.batch_size
        wrong = np.zeros(batch, np.uint8)
        for start, stop in time_sliced(len(order), block=batch, pacer=self._pacer):
            kernel(
                *self._cells,
                as_argument(visits.rows, np.int64),
                as_argument(visits.sign),
                self._squares,
                float(visits.constant),
                as_argument(order[start:stop], np.int64),
                batch,
                float(self._rule.penalty),
                int(self._rule.projection),
                self.v,
                self.shares,
                self._state,
                wrong,
            )
            self._fold()

    def _fold(self) -> None:
        scale = self._state[1]
        if scale != 1.0:
            self.v *= scale
            self.shares *= scale
            self._state[1] = 1.0

    def margins(self, a: Floats) -> tuple[Floats, float]:
        """`s_i w'z_i` of every row and `|w|^2` for `w = sum_i a_i s_i z_i`."""
        vector = self.vector(a)
        scores = np.asarray(self._visits.X @ vector[:-1])[self._visits.rows]
        scores = scores + self._visits.constant * vector[-1]
        return self._visits.sign * scores, float(vector @ vector)

    def vector(self, a: Floats) -> Floats:
        """`sum_i a_i s_i z_i`, the intercept last."""
        coefficients = np.zeros(self._visits.X.shape[0])
        coefficients[self._visits.rows] = a * self._visits.sign
        whole = coefficients @ self._visits.X
        return np.append(whole, self._visits.constant * coefficients.sum())
