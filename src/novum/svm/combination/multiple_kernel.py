"""Learning a combination of kernels together with the learner that uses it.

    minimize over d and f   loss(f) + penalty of f in the kernel  sum_k d_k K_k,
    so that   d >= 0,  |d|_p <= 1

for a support vector machine, support vector regression or kernel ridge regression. The problem is
convex in weights and function together; its optimum is bracketed exactly by the evaluations of the
learner (`multiple_kernel_weights`), so that the duality gap of the joint problem is certified, not
only that of the last learner. With p = 1 most weights are zero; the larger p, the more even they
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import clone

from novum.core.errors import InputError
from novum.core.learners import Certificate, Stopwatch, Verdict, warn_if_stopped
from novum.core.runtime import memory_limit
from novum.core.text import label_text
from novum.kernels import Kernel, Precomputed, Prepared, admitted
from novum.linear import check_target_range
from novum.numerics import Array, Floats, Positions, one_blas_thread
from novum.svm.classifier import SVC
from novum.svm.combination.weights import Evaluation, Limits, Saddle, find_weights
from novum.svm.objects import KernelSample
from novum.svm.regression import SVR
from novum.svm.ridge.kernel_ridge import KernelRidge
from novum.svm.ridge.solution import RidgeSystem
from novum.svm.solver import problems
from novum.svm.solver.certification import cache_bytes_of
from novum.svm.solver.problem import QuadraticProblem, Stopping
from novum.svm.solver.row_cache import pieces
from novum.svm.solver.solving import solve

Scaling = Literal["trace"] | None

# One solution is this much tighter than the joint problem, so that it can show its gap.
_INNER_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class KernelWeights:
    """A combination of kernels with the learner that it was learned for.

    Attributes
    ----------
    weights : array of shape (n_kernels,)
        `d`, nonnegative, of norm 1; of the kernels times their `scales`.
    scales : array of shape (n_kernels,)
        1 over the mean similarity of an object with itself, or 1.
    kernels : tuple of Kernel
    combined : Kernel
        `sum_k weights_k scales_k kernels_k` over the weights that are not zero.
    learner : SVC, SVR or KernelRidge
        Fitted with `combined`.
    certificate : Certificate
        Of the joint problem: `primal` and `dual` bracket its optimum.
    """

    weights: Floats
    scales: Floats
    kernels: tuple[Kernel, ...]
    combined: Kernel
    learner: Any
    certificate: Certificate

    def __repr__(self) -> str:
        lines = [
            f"  {weight:8.4f}  {kernel!r}"
            for weight, kernel in zip(self.weights, self.kernels, strict=True)
        ]
        return "\n".join(["KernelWeights", *lines, f"  {self.certificate.sentence}"])


def learn_weights(
    kernels: Sequence[Kernel],
    X: Any,
    y: Any,
    learner: SVC | SVR | KernelRidge,
    *,
    norm: float = 1.0,
    scaling: Scaling = "trace",
    tol: float = 1e-3,
    max_iter: int = 500,
    max_seconds: float | None = None,
    sample_weight: Any = None,
) -> KernelWeights:
    """Nonnegative weights of kernels, learned jointly with a learner to a certified gap.

    Parameters
    ----------
    kernels : sequence of Kernel
        On the same objects, each positive semi-definite.
    X, y, sample_weight
        As the learner's `fit` takes them.
    learner : SVC, SVR or KernelRidge
        Its settings other than `kernel` are used; it is not changed. An `SVC` of more than two
        classes has one combination for all its machines.
    norm : float, default=1.0
        `p` of the weights' norm, at least 1; `inf` gives the plain sum.
    scaling : {"trace", None}, default="trace"
        Whether kernels are first divided by the mean of `k(x, x)`, so that their units do not
        decide. A kernel that is zero everywhere is left as it is.
    tol : float, default=1e-3
        Relative duality gap of the joint problem.
    max_iter : int, default=500
        Solutions of the learner.
    max_seconds : float, optional

    Returns
    -------
    KernelWeights

    Notes
    -----
    Costs some ten to hundred solutions, each begun from the last one. All kernel matrices are kept
    where they fit into half of the memory limit. Of equal kernels any division of their weight is
    as good.

    References
    ----------
    Bach, Lanckriet and Jordan 2004; Rakotomamonjy et al. 2008 (SimpleMKL); Xu et al. 2009 (the
    level method); Kloft et al. 2011 (p-norms).

    Examples
    --------
    The second column alone decides:

    >>> from novum.kernels.parts import on
    >>> from novum.kernels.vectors.linear import Linear
    >>> X = np.array([[1.0, -1.0], [-1.0, -2.0], [1.0, 1.0], [-1.0, 2.0]])
    >>> kernels = [on(0, Linear()), on(1, Linear())]
    >>> learn_weights(kernels, X, [0, 0, 1, 1], SVC(C=10.0)).weights.round(2).tolist()
    [0.0, 1.0]
    """
    watch = Stopwatch()
    chosen = _checked(kernels, learner, norm, scaling, tol, max_iter)
    reader = clone(learner).set_params(kernel=sum(chosen[1:], start=chosen[0]))
    reader._validate_params()
    with one_blas_thread():
        problem, scales = _problem(reader, chosen, X, y, sample_weight, scaling, tol)
        limits = Limits(tol, max_iter, max_seconds)
        saddle = find_weights(problem, len(chosen), float(norm), limits)
    factors = saddle.weights * scales
    used = [float(f) * kernel for f, kernel in zip(factors, chosen, strict=True) if f > 0]
    combined = sum(used[1:], start=used[0])
    fitted = clone(learner).set_params(kernel=combined).fit(X, y, sample_weight)
    certificate = _certified(saddle, reader, tol, watch.seconds)
    warn_if_stopped(certificate, "learn_weights")
    return KernelWeights(saddle.weights, scales, chosen, combined, fitted, certificate)


# --- The learner's problem ------------------------------------------------------------------------


def _problem(
    reader: Any,
    kernels: tuple[Kernel, ...],
    X: Any,
    y: Any,
    sample_weight: Any,
    scaling: Scaling,
    tol: float,
) -> tuple[Any, Floats]:
    """The learner as a function of the weights, and the scales of the kernels."""
    if isinstance(reader, SVC):
        plan = reader._plan(X, y, sample_weight)
        sample = plan.sample
        price = float(reader.C)
        programs = [
            (member.rows, problems.classification(task.sign, price * task.weight))
            for member, task in zip(plan.members, plan.tasks, strict=True)
        ]
    else:
        sample = reader._read(X, y, sample_weight, "numbers")
        check_target_range(sample.target)
        programs = _regression_programs(reader, sample)
    parts = tuple(admitted(kernel, kernel.prepare(sample.objects), "refuse") for kernel in kernels)
    scales = _scales(parts, sample.weight, scaling)
    kept = kept_parts(parts)
    if isinstance(reader, KernelRidge):
        targets = sample.target.reshape(len(sample.weight), -1)
        return RidgeProblem(kept, scales, sample.weight, targets, float(reader.alpha)), scales
    stopping = Stopping(tol=_INNER_SHARE * tol)
    return MachineProblem(kept, scales, programs, stopping, cache_bytes_of(reader)), scales


def _regression_programs(
    reader: Any, sample: KernelSample
) -> list[tuple[Positions, QuadraticProblem]]:
    if isinstance(reader, KernelRidge):
        return []
    if sample.target.ndim != 1:
        raise InputError(
            f"SVR predicts one number for each row, but y has shape {sample.target.shape}. Pass "
            "one target, or use KernelRidge for several."
        )
    price = float(reader.C) * sample.weight
    return [(np.arange(len(price)), reader._problem(sample.target, price))]


def _scales(parts: tuple[Any, ...], weight: Floats, scaling: Scaling) -> Floats:
    if scaling is None:
        return np.ones(len(parts))
    share = weight / weight.sum()
    means = np.array([float(share @ part.diagonal()) for part in parts])
    return np.where(means > 0, 1.0 / np.where(means > 0, means, 1.0), 1.0)


def _certified(saddle: Saddle, reader: Any, tol: float, seconds: float) -> Certificate:
    within = saddle.stopped_by is None
    details = {
        "relative_tol": tol,
        "stopped_by": saddle.stopped_by,
        "kernels_used": int(np.count_nonzero(saddle.weights)),
    }
    return Certificate(
        objective=f"{type(reader).__name__} with the best combination of kernels",
        verdict=Verdict.WITHIN_TOLERANCE if within else Verdict.STOPPED_EARLY,
        value=saddle.upper,
        primal=saddle.upper,
        dual=saddle.lower,
        iterations=saddle.iterations,
        trace=saddle.trace,
        details={name: value for name, value in details.items() if value is not None},
        seconds=seconds,
    )


# --- Checks ---------------------------------------------------------------------------------------


def _checked(
    kernels: Any, learner: Any, norm: Any, scaling: Any, tol: Any, max_iter: Any
) -> tuple[Kernel, ...]:
    chosen = (kernels,) if isinstance(kernels, Kernel) else tuple(kernels)
    if not chosen:
        raise InputError("learn_weights was given no kernels. Give at least one.")
    for number, kernel in enumerate(chosen):
        if not isinstance(kernel, Kernel):
            raise InputError(
                f"Kernel {number} is {label_text(kernel)}, which is no kernel. Give values of "
                "novum.kernels, such as Gaussian(1.0) or Linear()."
            )
        if isinstance(kernel, Precomputed):
            raise InputError(
                f"Kernel {number} is of a matrix, but X is one thing for all kernels. Write the "
                "matrix K as FromCallable(lambda i, j: K[np.ix_(i, j)], takes='objects'), and pass "
                "positions as X."
            )
    if not isinstance(learner, (SVC, SVR, KernelRidge)):
        raise InputError(
            f"learn_weights takes an SVC, SVR or KernelRidge, got {label_text(learner)}. Pass one "
            "with the settings that you want."
        )
    if not (isinstance(norm, Real) and float(norm) >= 1):
        raise InputError(f"norm is a number of at least 1, got {norm!r}.")
    if scaling not in ("trace", None):
        raise InputError(f"scaling is 'trace' or None, got {scaling!r}.")
    if not (isinstance(tol, Real) and 0 < float(tol) < 1):
        raise InputError(f"tol is a relative gap between 0 and 1, got {tol!r}.")
    if not (isinstance(max_iter, int) and max_iter >= 1):
        raise InputError(f"max_iter is a number of solutions of at least 1, got {max_iter!r}.")
    _check_finite_price(learner)
    return chosen


def _check_finite_price(learner: Any) -> None:
    if isinstance(learner, KernelRidge):
        if not (isinstance(learner.alpha, Real) and float(learner.alpha) > 0):
            raise InputError(
                f"The weights of kernels are learned for one alpha above 0, got {learner.alpha!r}."
            )
    elif not np.isfinite(learner.C):
        raise InputError(
            "The weights of kernels are learned for a finite C: with hard margins a kernel that "
            "does not separate the classes has no value. Choose a large C instead."
        )


# --- The problem for given weights ----------------------------------------------------------------
#
#     support vectors   J(d) = max over feasible b   -p'b - sum_k d_k b'K_k b / 2
#     ridge             J(d) = max over a   alpha (2 a'y - alpha a'W^-1 a) - alpha sum_k d_k a'K_k a
#
# Objects are prepared once for every kernel. Where all kernel matrices fit into memory they are
# kept, and a step of the weights costs their weighted sum; else blocks are computed when they are
# needed. A solution is the start of the next one.


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
        total: Any = None
        for number, factor in enumerate(self.factors):
            if factor == 0.0:
                continue
            block = self.parts[number].cross(other.parts[number], dtype)
            block *= block.dtype.type(factor)
            total = block if total is None else np.add(total, block, out=total)
        return np.asarray(total)

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        total: Any = None
        for factor, part in self._used():
            block = part.gram(dtype)
            block *= block.dtype.type(factor)
            total = block if total is None else np.add(total, block, out=total)
        return np.asarray(total)

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
            solution = solve(
                WeightedRows(parts, factors),
                program,
                self.stopping,
                cache_bytes=self.cache_bytes,
                start=self.starts[number],
            )
            self.starts[number] = solution.coefficients
            linear -= float(program.linear @ solution.coefficients)
            upper += solution.gap - solution.value
            of_objects = np.bincount(program.rows, solution.coefficients, len(rows)).astype(float)
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
        solution = RidgeSystem(rows.gram(np.float64), self.weight).solve(self.targets, self.alpha)
        a, alpha = solution.coefficients, self.alpha
        own = float((a * a / self.weight[:, np.newaxis]).sum())
        linear = alpha * (2 * float((a * self.targets).sum()) - alpha * own)
        squares = np.array([sum(square_of(part, each) for each in a.T) for part in self.parts])
        return Evaluation(linear, alpha * squares * self.scales, solution.value)
