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
from numpy.typing import NDArray
from sklearn.base import clone

from novum.core.certificate import Certificate, Stopwatch, Verdict, warn_if_stopped
from novum.core.errors import InputError
from novum.core.text import label_text
from novum.kernels.precomputed import Precomputed
from novum.kernels.protocol import Kernel
from novum.kernels.validity import admitted
from novum.numerics.blas_threads import one_blas_thread
from novum.svm.classifier import SVC
from novum.svm.combination.problems import MachineProblem, RidgeProblem, kept_parts
from novum.svm.combination.weights import Limits, Saddle, find_weights
from novum.svm.objects import KernelSample
from novum.svm.regressor import SVR
from novum.svm.ridge.kernel_ridge import KernelRidge
from novum.svm.solver import problems
from novum.svm.solver.certification import cache_bytes_of
from novum.svm.solver.problem import QuadraticProblem, Stopping

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]
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
        found = find_weights(problem, len(chosen), float(norm), limits)
    factors = found.weights * scales
    used = [float(f) * kernel for f, kernel in zip(factors, chosen, strict=True) if f > 0]
    combined = sum(used[1:], start=used[0])
    fitted = clone(learner).set_params(kernel=combined).fit(X, y, sample_weight)
    certificate = _certified(found, reader, tol, watch.seconds)
    warn_if_stopped(certificate, "learn_weights")
    return KernelWeights(found.weights, scales, chosen, combined, fitted, certificate)


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


def _certified(found: Saddle, reader: Any, tol: float, seconds: float) -> Certificate:
    within = found.stopped_by is None
    details = {
        "relative_tol": tol,
        "stopped_by": found.stopped_by,
        "kernels_used": int(np.count_nonzero(found.weights)),
    }
    return Certificate(
        objective=f"{type(reader).__name__} with the best combination of kernels",
        verdict=Verdict.WITHIN_TOLERANCE if within else Verdict.STOPPED_EARLY,
        value=found.upper,
        primal=found.upper,
        dual=found.lower,
        iterations=found.iterations,
        trace=found.trace,
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
