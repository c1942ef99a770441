"""The linear systems of Newton's method, over columns or over rows, kept up to date.

A step solves `(I + sum over free rows of c_i z_i z_i' / m) step = -gradient`. Two forms of the same
system, chosen by shape:

    columns   G = sum over free rows of c_i z_i z_i', of the width of the design; rows that become
              free or cease to be are added and taken away, so that late steps cost little
    rows      by Woodbury's identity, (m / c + K_ff) x = Z_f gradient with K = Z Z' summed once

Rounding in a matrix that was updated often shortens the steps a little and moves no optimum: the
gradient is summed anew in every step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novum.linear.logistic_objective import Factor
from novum.svm.linear.design import Design

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Free rows that change, beyond which the matrix is summed anew.
_RENEWED = 0.5


class ColumnSystem:
    """The system of width `Z.width`."""

    def __init__(self, design: Design, weight: Floats) -> None:
        self._design, self._weight = design, weight
        self._free: Mask | None = None
        self._gram = np.zeros((design.width, design.width))

    def solve(self, free: Mask, smoothing: float, vector: Floats) -> Floats:
        """`(I + G / m)^-1 vector`."""
        self._update(free)
        hessian = self._gram / smoothing
        hessian[np.diag_indices_from(hessian)] += 1.0
        return Factor(hessian).solve(vector)

    def _update(self, free: Mask) -> None:
        before = np.zeros_like(free) if self._free is None else self._free
        changed = free ^ before
        count = np.count_nonzero(changed)
        if count > _RENEWED * np.count_nonzero(free):
            self._gram = self._design.gram(np.flatnonzero(free), self._weight)
        elif count:
            entering = np.flatnonzero(changed & free)
            leaving = np.flatnonzero(changed & before)
            self._gram = self._gram + self._design.gram(entering, self._weight)
            self._gram -= self._design.gram(leaving, self._weight)
        self._free = free


class RowSystem:
    """The system of as many unknowns as there are free rows."""

    def __init__(self, design: Design, weight: Floats) -> None:
        self._design, self._weight = design, weight
        self._kernel = design.kernel()

    def solve(self, free: Mask, smoothing: float, vector: Floats) -> Floats:
        """`vector - Z_f' (m / c + K_ff)^-1 Z_f vector`."""
        chosen = np.flatnonzero(free)
        if not len(chosen):
            return vector
        matrix = self._kernel[np.ix_(chosen, chosen)]
        matrix[np.diag_indices_from(matrix)] += smoothing / self._weight[chosen]
        inner = np.zeros(self._design.n_rows)
        inner[chosen] = Factor(matrix).solve(self._design.scores(vector)[chosen])
        return np.asarray(vector - self._design.adjoint(inner))


def system_of(design: Design, weight: Floats) -> ColumnSystem | RowSystem:
    """The smaller of the two systems."""
    wide = design.n_rows < design.width
    return RowSystem(design, weight) if wide else ColumnSystem(design, weight)
