"""What the support vector classifiers share: machines of pairs, decisions, probabilities.

A member of the family says how one hyperplane between two classes is found (`_machine`); this
module makes a classifier of any number of classes of it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from types import MethodType
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Stopwatch, deferred, later, parameter
from novum.core.runtime import RandomSource, fit_context, fitting
from novum.core.text import label_text
from novum.linear import class_factors
from novum.numerics import Array, Floats, Mask, Positions, SigmoidMap, vote_scores
from novum.svm.binary_machine import BinaryMachine, BinaryTask, fit_map, probabilities
from novum.svm.kernel_machine import ProgramMachine, read_only
from novum.svm.margins import MarginErrorBound, margin_error_bound
from novum.svm.members import Member, in_layout, members_of, pair_values
from novum.svm.objects import KernelSample
from novum.svm.solver.certification import cache_bytes_of, stopping_of
from novum.svm.solver.problem import QuadraticProblem, Solution
from novum.svm.solver.small import MOST_VARIABLES
from novum.svm.solver.solving import solve_pairs

# Decision values of machines, and the sums they are made of, that exist at once: 32 MB.
BLOCK_MARGINS = 2**22


class Plan(NamedTuple):
    """The binary problems of a fit."""

    sample: KernelSample
    prepared: Any
    members: list[Member]
    tasks: list[BinaryTask]


class _WithProbability:
    """A method that is there if `probability` was asked for, and otherwise says how to ask."""

    def __init__(self, method: Any) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self._method
        if not model.probability:
            raise AttributeError(
                f"This {owner.__name__!r} has no attribute {self._method.__name__!r}, as its "
                "probability is False. Set probability=True and fit again.",
                name=self._method.__name__,
                obj=model,
            )
        return MethodType(self._method, model)


class SupportVectorClassifier(DecisionMixin, ClassifierMixin, ProgramMachine):
    """The part of SVC and NuSVC that does not depend on how a hyperplane is found."""

    probability: bool | str = parameter({"sigmoid", "isotonic"}, default=False)
    class_weight: dict[Any, float] | str | None = parameter({"balanced"}, dict, default=None)
    decision_function_shape: str = parameter({"ovo", "ovr"}, default="ovr")
    break_ties: bool = parameter(default=False)
    multiclass: str = parameter({"pairs", "rest"}, default="pairs")
    random_state: RandomSource = parameter(default=None)

    margin_: float | Floats = deferred()
    margin_error_bound_: MarginErrorBound | tuple[MarginErrorBound, ...] = deferred()

    @abstractmethod
    def _program(self, task: BinaryTask) -> QuadraticProblem:
        """The quadratic program of one binary problem."""

    @abstractmethod
    def _machine(
        self,
        task: BinaryTask,
        problem: QuadraticProblem,
        watch: Stopwatch,
        start: Floats | None = None,
        solution: Solution | None = None,
    ) -> BinaryMachine:
        """The hyperplane of one binary problem; `solution` is the solution, where that is known."""

    def _check_task(self, task: BinaryTask) -> None:
        """Refuses a problem without solution."""

    # Fitting

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds the hyperplanes to the relative duality gap `tol`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            What the kernel takes; similarities of all pairs where it is precomputed.
        y : array-like of shape (n_rows,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts; the price of its slack is `C` times this.
        """
        self._refuse_combinations()
        with fitting(self) as watch:
            plan = self._plan(X, y, sample_weight)
            self._learn(plan, watch)
            self._warn_if_stopped()
        return self

    def _refuse_combinations(self) -> None:
        if self.multiclass == "rest" and self.decision_function_shape == "ovo":
            raise InputError(
                "decision_function_shape='ovo' asks for one value for each pair of classes, which "
                "multiclass='rest' has not got. Set decision_function_shape='ovr'."
            )
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InputError(
                "break_ties must be False when decision_function_shape is 'ovo'. Set "
                "decision_function_shape='ovr'."
            )

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> Plan:
        sample = self._read(X, y, sample_weight, "classes")
        classes = sample.classes
        assert classes is not None
        if len(classes) < 2:
            raise InputError(
                f"{type(self).__name__} needs rows of at least two classes, but there is one class "
                f"only: all {len(sample.rows)} rows are of class {label_text(classes[0])}. Add "
                "rows of another, or use OneClassSVM or SVDD."
            )
        counts = np.bincount(sample.target, sample.weight, len(classes)).astype(np.float64)
        self.classes_ = classes
        self.class_prior_ = counts / counts.sum()
        self.class_weight_ = class_factors(classes, counts, self.class_weight)
        prepared = self._prepared(sample)
        members = members_of(sample.target, len(classes), self.multiclass)
        tasks = [self._task(sample, prepared, member) for member in members]
        for task in tasks:
            self._check_task(task)
        return Plan(sample, prepared, members, tasks)

    def _task(self, sample: KernelSample, prepared: Any, member: Member) -> BinaryTask:
        count = sample.weight[member.rows]
        rest = "the rest" if member.negative < 0 else self.classes_[member.negative]
        return BinaryTask(
            objects=prepared,
            sign=member.sign,
            weight=count * self.class_weight_[sample.target[member.rows]],
            count=count,
            labels=(rest, self.classes_[member.positive]),
            rows=None if len(count) == len(prepared) else member.rows,
        )

    def _learn(
        self, plan: Plan, watch: Stopwatch, starts: list[Floats] | None = None
    ) -> list[BinaryMachine]:
        rows = [member.rows for member in plan.members]
        machines = self._machines(plan.prepared, watch, rows, plan.tasks, starts)
        self._store_support(plan, machines)
        self._store_margins(plan, machines)
        if self.probability:
            method = "isotonic" if self.probability == "isotonic" else "sigmoid"
            kinds = plan.sample.kinds
            self.calibration_ = tuple(
                fit_map(
                    task,
                    partial(self._machines, task.prepared, watch),
                    method,
                    self.random_state,
                    kinds[member.rows],
                )
                for task, member in zip(plan.tasks, plan.members, strict=True)
            )
        solutions = [machine.solution for machine in machines]
        self._certify(solutions, watch)
        self.n_iter_ = np.array([solution.iterations for solution in solutions], np.int32)
        return machines

    def _machines(
        self,
        prepared: Any,
        watch: Stopwatch,
        rows: list[Positions],
        tasks: list[BinaryTask],
        starts: list[Floats] | None = None,
    ) -> list[BinaryMachine]:
        """The hyperplanes of problems on some of the objects each."""
        machines = []
        programs = [self._program(task) for task in tasks]
        for k, together in enumerate(self._solved_together(prepared, rows, programs, watch)):
            solution, start = together, None if starts is None else starts[k]
            if together is not None and together.stopped_by is not None:
                solution, start = None, together.coefficients
            machines.append(self._machine(tasks[k], programs[k], watch, start, solution))
        return machines

    def _solved_together(
        self,
        prepared: Any,
        rows: list[Positions],
        programs: list[QuadraticProblem],
        watch: Stopwatch,
    ) -> Sequence[Solution | None]:
        """Solutions of small programs on one Gram matrix; None for what is to be solved alone."""
        m, largest = len(prepared), max(map(len, rows), default=0)
        is_whole = m <= MOST_VARIABLES or 8 * m * m <= cache_bytes_of(self)
        if not rows or not is_whole or largest > MOST_VARIABLES or self.max_iter != -1:
            return [None] * len(rows)
        return solve_pairs(prepared, programs, rows, stopping_of(self, watch))

    def _store_support(self, plan: Plan, machines: list[BinaryMachine]) -> None:
        sample, m, K = plan.sample, len(plan.prepared), len(self.classes_)
        values = [machine.coefficients for machine in machines]
        if hasattr(plan.prepared, "unprojected"):
            # Each machine needs all objects then, and has a row of its own.
            table = np.zeros((len(machines), m))
            for number, member in enumerate(plan.members):
                table[number, member.rows] = values[number]
        else:
            table = np.asarray(in_layout(plan.members, values, m, K))
        codes = sample.row_target
        kept = self._keep(sample, plan.prepared, table, order=codes)
        self.n_support_ = np.bincount(codes[kept], minlength=K).astype(np.int32)
        self.intercepts_ = np.array([machine.intercept for machine in machines])

    def _store_margins(self, plan: Plan, machines: list[BinaryMachine]) -> None:
        m, K = len(plan.prepared), len(self.classes_)
        self._keep_slack(plan.sample, _slack_of, plan.members, machines, m, K)
        self.margin_ = later(_margins_of, machines)
        counts = [task.count for task in plan.tasks]
        diagonal, rows = plan.prepared.diagonal(), [member.rows for member in plan.members]
        self.margin_error_bound_ = later(_bounds_of, machines, counts, diagonal, rows)

    # The model in scikit-learn's terms

    @property
    def _is_paired(self) -> bool:
        """Whether the machines stand for pairs of more than two classes."""
        return len(self.classes_) > 2 and self.multiclass == "pairs"

    @property
    def dual_coef_(self) -> Floats:
        """Signed coefficients: one row for two classes, LIBSVM's layout for pairs of more.

        There the first class of a pair is the positive one, as in LIBSVM.
        """
        return read_only(-self.expansion_) if self._is_paired else self.expansion_

    @property
    def intercept_(self) -> Floats:
        """The bias of every machine, in the sign of `dual_coef_`."""
        return read_only(-self.intercepts_) if self._is_paired else self.intercepts_

    @property
    def coef_(self) -> Floats:
        """Weights of the columns, for a linear kernel, of shape (n_members, n_columns)."""
        if not self._is_in_pairs_layout:
            return read_only(-self._column_weights) if self._is_paired else self._column_weights
        vectors = self._linear_vectors
        sums = [
            np.asarray(self.expansion_[:, a:b] @ vectors[a:b]) for a, b in pairwise(self._segments)
        ]
        return read_only(-pair_values(np.array(sums).transpose(2, 0, 1)).T)

    @property
    def probA_(self) -> Floats:  # noqa: N802
        """LIBSVM's slopes `A` of `1 / (1 + exp(A f + B))`, of Platt's method."""
        return np.array([-g.slope for g in self._sigmoids])

    @property
    def probB_(self) -> Floats:  # noqa: N802
        """LIBSVM's offsets `B`."""
        return np.array([g.intercept for g in self._sigmoids])

    @property
    def _sigmoids(self) -> tuple[SigmoidMap, ...]:
        if not hasattr(self, "calibration_"):
            raise AttributeError(
                "Slopes and offsets are there after a fit with probability=True or 'sigmoid'."
            )
        maps: tuple[Any, ...] = self.calibration_
        if not all(isinstance(g, SigmoidMap) for g in maps):
            raise AttributeError("An isotonic fit has no slopes; see calibration_.")
        return maps

    @property
    def _segments(self) -> tuple[int, ...]:
        return (0, *np.cumsum(self.n_support_).tolist())

    @property
    def _is_in_pairs_layout(self) -> bool:
        """A projected kernel has a row for every machine instead."""
        return self._is_paired and len(self.expansion_) == len(self.classes_) - 1

    # Predicting

    def _by_blocks(self, X: Any, finish: Callable[[Floats], Array]) -> Array:
        """What `finish` makes of decision values, which many classes have too many of at once."""
        new = self._prepared_new(X)
        size = max(1, BLOCK_MARGINS // (2 * len(self.intercepts_)))
        if len(new) <= size:
            return finish(self._margins(new))
        starts = range(0, len(new), size)
        parts = [finish(self._margins(new.take(slice(s, min(s + size, len(new)))))) for s in starts]
        return np.concatenate(parts)

    def _margins(self, new: Any) -> Floats:
        """Decision values of the machines, positive for the second class of a pair."""
        if self._is_in_pairs_layout:
            return pair_values(self._scores_of(new, self._segments)) + self.intercepts_
        return self._scores_of(new) + self.intercepts_

    def decision_function(self, X: Any) -> Floats:
        """Values whose signs or sizes decide.

        Returns
        -------
        array of shape (n,), (n, n_classes) or (n, n_pairs)
            Of two classes the distance to the hyperplane times `|w|`, positive for the second. Of
            more, `decision_function_shape="ovr"` gives the votes of all pairs with their sizes as
            a fraction (or the machines against the rest), "ovo" one value for each pair, positive
            for its first class as in scikit-learn.
        """
        return self._by_blocks(X, self._decisions)

    def _decisions(self, margins: Floats) -> Floats:
        if len(self.classes_) == 2:
            return margins[:, 0]
        if self.multiclass == "rest":
            return margins
        return -margins if self.decision_function_shape == "ovo" else vote_scores(margins)

    def predict(self, X: Any) -> Array:
        """The class on whose side of the hyperplanes an object lies.

        Of pairs the class with the most votes; of several such classes the first, or with
        `break_ties=True` the one with the larger decision values.
        """
        return self._by_blocks(X, self._classes_of)

    def _classes_of(self, margins: Floats) -> Array:
        if len(self.classes_) == 2:
            codes = (margins[:, 0] > 0).astype(np.intp)
        elif self.multiclass == "rest":
            codes = margins.argmax(axis=1)
        else:
            votes = vote_scores(margins)
            codes = (votes if self.break_ties else np.rint(votes)).argmax(axis=1)
        return self.classes_[codes]

    @_WithProbability
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, of shape (n, n_classes).

        They come from decision values of rows held out, and `predict` from those of the machine
        itself; where the two are close to a tie they may name different classes.
        """
        check_is_fitted(self)
        if not hasattr(self, "calibration_"):
            raise NotFittedError(
                f"predict_proba is not available when fitted with probability=False, as this "
                f"{type(self).__name__} was. Fit it again with probability=True."
            )
        paired = self.multiclass == "pairs" or len(self.classes_) == 2
        return self._by_blocks(X, lambda m: probabilities(self.calibration_, m, paired=paired))

    @_WithProbability
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of `predict_proba`; an impossible class has `-inf`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _check_state(self) -> None:
        super()._check_state()
        n_members = len(self.intercepts_)
        K = len(self.classes_)
        expected = {2: 1}.get(K, K if self.multiclass == "rest" else K * (K - 1) // 2)
        if n_members != expected or len(self.expansion_) not in (expected, K - 1):
            raise ModelFileError(
                f"{n_members} machines with coefficients of shape {self.expansion_.shape} do not "
                f"fit {K} classes"
            )
        counts = self.n_support_
        if counts.shape != (K,) or counts.dtype.kind != "i" or (counts < 0).any():
            raise ModelFileError(f"The model does not count the support of {K} classes.")
        if counts.sum() != len(self.support_) or np.iscomplexobj(self.intercepts_):
            raise ModelFileError("The support and the intercepts of the model are of another one.")


def _slack_of(
    members: list[Member], machines: list[BinaryMachine], m: int, n_classes: int
) -> tuple[Floats, Mask]:
    """The slack of the objects, and which have a coefficient at its bound in some machine."""
    slack = in_layout(members, [machine.slack for machine in machines], m, n_classes)
    bound = in_layout(members, [machine.bound for machine in machines], m, n_classes)
    return slack[0] if len(machines) == 1 else slack, np.asarray(bound.any(axis=0))


def _margins_of(machines: list[BinaryMachine]) -> float | Floats:
    margins = [machine.margin for machine in machines]
    return margins[0] if len(margins) == 1 else np.array(margins)


def _bounds_of(
    machines: list[BinaryMachine], counts: list[Floats], diagonal: Floats, rows: list[Positions]
) -> MarginErrorBound | tuple[MarginErrorBound, ...]:
    bounds = tuple(
        margin_error_bound(
            machine.slack,
            count,
            diagonal[chosen],
            machine.norm,
            machine.intercept,
            machine.violation,
        )
        for machine, count, chosen in zip(machines, counts, rows, strict=True)
    )
    return bounds[0] if len(bounds) == 1 else bounds
