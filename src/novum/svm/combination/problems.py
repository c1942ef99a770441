"""Learners as functions of the weights of their kernels.

    support vectors   J(d) = max over feasible b   -p'b - sum_k d_k b'K_k b / 2
    ridge             J(d) = max over a   alpha (2 a'y - alpha a'W^-1 a) - alpha sum_k d_k a'K_k a

Objects are prepared once for every kernel. Where all kernel matrices fit into memory they are kept,
and a step of the weights costs their weighted sum; else blocks are computed when they are needed.
A solution is the start of the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from novum.core.memory import memory_limit
from novum.kernels.precomputed import Precomputed
from novum.kernels.protocol import Array, Prepared
from novum.svm.combination.weights import Evaluation
from novum.svm.ridge.solution import RidgeSystem
from novum.svm.solver.problem import QuadraticProblem, Stopping
from novum.svm.solver.row_cache import pieces
from novum.svm.solver.solving import solve

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

# The share of the memory limit that kept kernel matrices may take.
_MATRIX_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class WeightedRows(Prepared):
    """Objects for a weighted sum of kernels, prepared once for each of them.

    Attributes
    ----------
    parts : tuple of Prepared
    factors : tuple of float
        At least 0; a kernel of factor 0 costs nothing.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> rows = Linear().prepare(np.array([[1.0], [2.0]]))
    >>> WeightedRows((rows, rows), (0.5, 1.0)).gram().tolist()
    [[1.5, 3.0], [3.0, 6.0]]
    """

    parts: tuple[Any, ...]
    factors: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, rows: Any) -> WeightedRows:
        return WeightedRows(tuple(part.take(rows) for part in self.parts), self.factors)

    def diagonal(self) -> Floats:
        return np.asarray(sum(f * part.diagonal() for f, part in self._used()))

    def cross(self, other: WeightedRows, dtype: DTypeLike = np.float64) -> Array:
        found: Any = None
        for number, factor in enumerate(self.factors):
            if factor == 0.0:
                continue
            block = self.parts[number].cross(other.parts[number], dtype)
            block *= block.dtype.type(factor)
            found = block if found is None else np.add(found, block, out=found)
        return np.asarray(found)

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        found: Any = None
        for factor, part in self._used():
            block = part.gram(dtype)
            block *= block.dtype.type(factor)
            found = block if found is None else np.add(found, block, out=found)
        return np.asarray(found)

    def _used(self) -> list[tuple[float, Any]]:
        return [(f, part) for f, part in zip(self.factors, self.parts, strict=True) if f != 0.0]


def kept_parts(parts: Sequence[Any]) -> tuple[Any, ...]:
    """The same objects with their kernel matrices, where all of those fit into memory."""
    m = len(parts[0])
    if 8 * m * m * len(parts) > _MATRIX_SHARE * memory_limit():
        return tuple(parts)
    return tuple(Precomputed().prepare(part.gram(np.float64)) for part in parts)


def square_of(part: Any, coefficients: Floats) -> float:
    """`b'Kb` over the objects that have a coefficient."""
    used = np.flatnonzero(coefficients)
    b, some, total = coefficients[used], part.take(used), 0.0
    for piece in pieces(len(used), len(used)):
        total += float(b[piece] @ (some.take(piece).cross(some, np.float64) @ b))
    return max(total, 0.0)


# --- The two kinds of learner ---------------------------------------------------------------------


class MachineProblem:
    """Support vector machines that share their kernel: one program, or one for each pair.

    Parameters
    ----------
    parts : tuple of Prepared
        m objects for every kernel.
    scales : array of shape (n_kernels,)
        What each kernel is multiplied by before its weight.
    programs : sequence of (rows, QuadraticProblem)
        The objects of each program, and the program over them.
    stopping : Stopping
        Of one solution.
    cache_bytes : int
    """

    def __init__(
        self,
        parts: tuple[Any, ...],
        scales: Floats,
        programs: Sequence[tuple[Positions, QuadraticProblem]],
        stopping: Stopping,
        cache_bytes: int,
    ) -> None:
        self.parts, self.scales, self.programs = parts, scales, programs
        self.stopping, self.cache_bytes = stopping, cache_bytes
        self.starts: list[Floats | None] = [None] * len(programs)

    def __call__(self, weights: Floats) -> Evaluation:
        factors = tuple((weights * self.scales).tolist())
        linear, upper, squares = 0.0, 0.0, np.zeros(len(self.parts))
        for number, (rows, program) in enumerate(self.programs):
            parts = tuple(part.take(rows) for part in self.parts)
            found = solve(
                WeightedRows(parts, factors),
                program,
                self.stopping,
                cache_bytes=self.cache_bytes,
                start=self.starts[number],
            )
            self.starts[number] = found.coefficients
            linear -= float(program.linear @ found.coefficients)
            upper += found.gap - found.value
            of_objects = np.bincount(program.rows, found.coefficients, len(rows)).astype(float)
            squares += [square_of(part, of_objects) for part in parts]
        return Evaluation(linear, squares * self.scales / 2, upper)


class RidgeProblem:
    """Kernel ridge regression.

    Parameters
    ----------
    parts, scales
        As in `MachineProblem`.
    weight : array of shape (m,)
    targets : array of shape (m, n_targets)
    alpha : float
        Above 0.
    """

    def __init__(
        self,
        parts: tuple[Any, ...],
        scales: Floats,
        weight: Floats,
        targets: Floats,
        alpha: float,
    ) -> None:
        self.parts, self.scales = parts, scales
        self.weight, self.targets, self.alpha = weight, targets, alpha

    def __call__(self, weights: Floats) -> Evaluation:
        rows = WeightedRows(self.parts, tuple((weights * self.scales).tolist()))
        found = RidgeSystem(rows.gram(np.float64), self.weight).solve(self.targets, self.alpha)
        a, alpha = found.coefficients, self.alpha
        own = float((a * a / self.weight[:, np.newaxis]).sum())
        linear = alpha * (2 * float((a * self.targets).sum()) - alpha * own)
        squares = np.array([sum(square_of(part, each) for each in a.T) for part in self.parts])
        return Evaluation(linear, alpha * squares * self.scales, found.value)
