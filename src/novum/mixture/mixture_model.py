"""What all mixtures share: the way of a fit, and the answers of a fitted model.

A kind of mixture says how rows are read and first summed, what its EM problem is (`SumProblem`),
and the log joint densities of rows and components; from these follow fits in memory, of streams,
files and clusters, memberships, likelihoods, and the criteria that weigh fit against size.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from dataclasses import fields as dataclass_fields
from hashlib import sha256
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, caller_level
from novum.core.learners import (
    Certificate,
    ConvergenceWarning,
    Learner,
    Verdict,
    fitted,
    parameter,
    warn_if_stopped,
)
from novum.core.runtime import fit_context, fitting
from novum.core.sums import (
    Additive,
    ChunkPasses,
    Fitted,
    PassesMixin,
    StopRule,
    fit_sums,
    set_feature_names,
    sum_blocks,
    total,
)
from novum.core.tables import Sample, Schema, check_features, checked_weight
from novum.distributions import refuse_overflow
from novum.numerics import Array, Floats, Integers, SquaredExtrapolation, log_sum_exp

Total = Callable[[Callable[[Any], Any]], Any]

# Rows of a block in memory, as in `core.sums`: the partition must not depend on the machine.
_BLOCK_ROWS = 131_072


@dataclass(frozen=True, eq=False)
class ExpectedStatistics(Additive):
    """Sums of one pass over some rows, which add to those of all rows.

    Attributes
    ----------
    schema : Schema
    rows : float
        How many there are.
    under : str
        A fingerprint of the parameters under which expectations were taken; others do not add.
    sums
        As the kind of mixture has them.
    log_units : float
        What the log-likelihood of the sums has more than that of the rows in their own units.
    """

    schema: Schema
    rows: float
    under: str
    sums: Any
    log_units: float

    _fixed: ClassVar[tuple[str, ...]] = ("under",)


class MixtureModel(
    PassesMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, Learner
):
    """A mixture of K laws with weights, fitted by expectation and maximization.

    Parameters
    ----------
    n_components : int or "auto"
        "auto" takes the number of smallest BIC and tells why in `choice_`.
    tol : float
        EM ends when a step changes the objective per row by less.
    max_iter : int
        Steps of a start; with 0 the model is the start.
    n_init : int
        Starts, of which the best is kept.
    random_state : int, RandomState, Generator or None
    on_interrupt : {"raise", "keep"}
        What Ctrl-C does: end without a result, or keep the best parameters so far.
    """

    _why_passes = "EM makes several passes"

    # Whether a law may lack some rows, such as fractions among counts.
    _has_impossible_rows: ClassVar[bool] = False

    # Declared by every kind of mixture, in the order of its own constructor.
    n_components: int | str

    tol: float = parameter(default=1e-5, at_least=0)
    max_iter: int = parameter(default=500, at_least=0)
    n_init: int = parameter(default=1, at_least=1)
    random_state: Any = parameter("random_state", np.random.Generator, default=None)
    on_interrupt: str = parameter({"raise", "keep"}, default="raise")

    weights_: Floats = fitted()
    n_components_: int = fitted()
    converged_: bool = fitted()
    n_iter_: int = fitted()
    lower_bound_: float = fitted()
    log_likelihood_: float = fitted()
    certificate_: Certificate = fitted()
    schema_: Schema = fitted()
    choice_: Any = fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # What a kind of mixture says

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:
        raise NotImplementedError

    def _first_sums(self) -> Callable[[Sample], Any]:
        """The step of the first pass; its sum has `schema`, `weight` and `rows`."""
        raise NotImplementedError

    def _problem(self, sums: Any, n_components: int) -> Any:
        """The EM problem, with a method `prepared` from samples to rows as its steps want them."""
        raise NotImplementedError

    def _store(self, problem: Any, solution: Fitted[Any, Any]) -> None:
        """Fitted attributes of the law itself, `weights_` among them."""
        raise NotImplementedError

    def _joint_of(self, sample: Sample) -> Floats:
        """`log w_k + log p_k(x)` of the present cells of every row, (n, K)."""
        raise NotImplementedError

    @property
    def _n_free(self) -> int:
        """Free parameters of the fitted law."""
        raise NotImplementedError

    def _fitted_problem(self) -> tuple[Any, Any]:
        """The EM problem of the fitted model, without starts, and its parameters."""
        raise NotImplementedError

    def _climbed(self, problem: Any, over: Total, options: dict[str, Any]) -> Fitted[Any, Any]:
        return fit_sums(problem, over, **options)

    # Fitting

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        schema: Schema | None = None,
    ) -> Self:
        """Fits the mixture.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Cells may be missing.
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        schema : Schema, optional
            Reads `X` by this schema, also levels that it does not have.
        """
        with fitting(self):
            self._fit_sample(self._read(X, y, sample_weight, schema))
        return self

    def _fit_sample(self, sample: Sample) -> None:
        """Fits to rows that were read; also for learners that have a mixture in every class."""
        sums = sum_blocks(self._first_sums(), sample)
        _refuse_no_cells(sums)
        n_components = self.n_components
        self.__dict__.pop("choice_", None)
        if n_components == "auto":
            from novum.mixture.choosing import chosen_of_sample

            self.choice_ = chosen_of_sample(self, sample, sums)
            n_components = self.choice_.n_components
        self._run(sums, int(n_components), sample=sample)

    def _climb(self, sample: Sample) -> tuple[Any, Any]:
        """The EM problem of the fitted model, with the prior of these rows, and its parameters.

        A climb of its own may then go over any rows: what is summed does not change the prior.
        """
        problem, params = self._fitted_problem()
        return problem.anchored(sample), params

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> Integers:
        """`fit(X).predict(X)`."""
        return self.fit(X, y, sample_weight).predict(X)

    def statistics(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> ExpectedStatistics:
        """Expected sums of rows under the fitted parameters: one E-step; the model stays as it is.

        Sums of parts of a table, wherever they are computed, add to that of the whole.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
        """
        check_is_fitted(self, "weights_")
        problem, params = self._fitted_problem()
        sample = clone(self)._read(X, y, sample_weight, self.schema_)
        starts = range(0, sample.n_rows, _BLOCK_ROWS)
        parts = [sample.rows(slice(s, s + _BLOCK_ROWS)) for s in starts]
        sums = total(problem.step(params, problem.prepared(part)) for part in parts)
        logs = problem.log_units(sample)
        under = _fingerprint(params)
        return ExpectedStatistics(sample.schema, float(sample.n_rows), under, sums, logs)

    def fit_statistics(self, statistics: ExpectedStatistics) -> Self:
        """The likeliest parameters of expected sums: one M-step.

        Summing over parts and taking this step again and again is the fit to all of them. The
        log-likelihood that the model shows is that of the parameters before the step, and the
        residual of `certificate_` how much the step has changed.

        Parameters
        ----------
        statistics : ExpectedStatistics
            Of `statistics`, or a sum of such, under the parameters of this model.
        """
        check_is_fitted(self, "weights_")
        problem, params = self._fitted_problem()
        if not isinstance(statistics, ExpectedStatistics) or statistics.under != _fingerprint(
            params
        ):
            raise InputError(
                "Expected sums of rows under the parameters of this model, as its `statistics` "
                "gives them; these were taken under others."
            )
        problem.offset = statistics.log_units
        with fitting(self):
            self.schema_ = statistics.schema
            value = problem.objective(params, statistics.sums)
            residual = problem.residual(params, statistics.sums)
            certificate = Certificate(
                objective=problem.objective_name,
                verdict=Verdict.STOPPED_EARLY,
                value=value,
                residual=residual,
                iterations=1,
                details={"stopped_by": "one step"},
            )
            after = problem.update(params, statistics.sums)
            self._keep(problem, Fitted(after, statistics.sums, value, certificate))
        return self

    def _fit_passes(self, passes: ChunkPasses) -> Self:
        if self.n_components == "auto":
            raise InputError(
                "n_components='auto' compares fits of rows in memory. Choose a number for streams "
                "and files, such as that of `choose_components` on some of the rows."
            )
        with fitting(self):
            sums = passes(self._first_sums())
            _refuse_no_cells(sums)
            set_feature_names(self, sums.schema)
            self._run(sums, int(self.n_components), passes=passes)
        return self

    def _run(
        self,
        sums: Any,
        n_components: int,
        *,
        sample: Sample | None = None,
        passes: Total | None = None,
    ) -> None:
        """From the first sums to the fitted model, over rows in memory or passes over chunks."""
        if sums.rows < n_components:
            raise InputError(
                f"n_samples={sums.rows:g} should be >= n_components={n_components}: there are "
                "fewer rows than components. Ask for fewer components."
            )
        self.schema_ = sums.schema
        problem = self._problem(sums, n_components)
        if sample is not None:
            starts = range(0, sample.n_rows, _BLOCK_ROWS)
            blocks = [problem.prepared(sample.rows(slice(s, s + _BLOCK_ROWS))) for s in starts]

            def over(step: Callable[[Any], Any]) -> Any:
                return total(step(block) for block in blocks)
        else:
            assert passes is not None
            over = passes  # type: ignore[assignment]
        options: dict[str, Any] = {
            "stop": StopRule(tol=self.tol, max_iter=self.max_iter),
            "n_init": self.n_init,
            "random_state": self.random_state,
            "acceleration": SquaredExtrapolation if problem.is_extrapolated else None,
            "on_interrupt": self.on_interrupt,
        }
        solution = self._climbed(problem, over, options)
        if self.max_iter > 0:
            level = caller_level() + 1
            warn_if_stopped(solution.certificate, type(self).__name__, stacklevel=level)
        self._keep(problem, solution)
        dead = int((self.weights_ == 0).sum())
        if dead:
            warnings.warn(
                f"{dead} of {n_components} components have lost all rows: there are fewer groups "
                "than components. Ask for fewer components.",
                ConvergenceWarning,
                stacklevel=caller_level(),
            )

    def _keep(self, problem: Any, solution: Fitted[Any, Any]) -> None:
        """Fitted attributes."""
        self.certificate_ = solution.certificate
        self.converged_ = bool(self.certificate_.converged)
        self.n_iter_ = max(min(1, self.max_iter), self.certificate_.iterations or 0)
        self.log_likelihood_ = solution.value
        self.lower_bound_ = solution.value / problem.scale(solution.params, solution.statistics)
        self._store(problem, solution)
        self.n_components_ = len(self.weights_)

    # Answers

    def _joint(self, X: Any) -> Floats:
        check_is_fitted(self, "weights_")
        joint = self._joint_of(check_features(self, X, allow_missing=True))
        if not self._has_impossible_rows:
            refuse_overflow(joint.max(axis=1))
        return joint

    def score_samples(self, X: Any) -> Floats:
        """Log-density of the present cells of every row."""
        return log_sum_exp(self._joint(X), axis=1)

    def predict_proba(self, X: Any) -> Floats:
        """The probability of every component for every row, (n_rows, K)."""
        joint = self._joint(X)
        total = log_sum_exp(joint, axis=1, keepdims=True)
        # A row that no component can have tells nothing of them.
        possible = np.isfinite(total)
        return np.where(possible, np.exp(joint - np.where(possible, total, 0.0)), self.weights_)

    def transform(self, X: Any) -> Floats:
        """The probabilities of the components as columns, for the steps that follow."""
        return self.predict_proba(X)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def predict(self, X: Any) -> Integers:
        """The number of the most probable component of every row."""
        return np.asarray(self._joint(X).argmax(axis=1))

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Mean log-density of rows; of rows that the fit has not seen, the held-out likelihood."""
        del y
        logs = self.score_samples(X)
        return float(np.average(logs, weights=_weights(sample_weight, logs)))

    def bic(self, X: Any, sample_weight: ArrayLike | None = None) -> float:
        """`p log n - 2 log L` with p free parameters; smaller is better."""
        logs = self.score_samples(X)
        weights = _weights(sample_weight, logs)
        return float(self._n_free * np.log(weights.sum()) - 2.0 * (weights @ logs))

    def aic(self, X: Any, sample_weight: ArrayLike | None = None) -> float:
        """`2 p - 2 log L`; smaller is better."""
        logs = self.score_samples(X)
        return float(2.0 * self._n_free - 2.0 * (_weights(sample_weight, logs) @ logs))

    def icl(self, X: Any, sample_weight: ArrayLike | None = None) -> float:
        """BIC plus twice the entropy of memberships, which overlap costs; smaller is better."""
        return self.bic(X, sample_weight) + 2.0 * self.membership_entropy(X, sample_weight)

    def membership_entropy(self, X: Any, sample_weight: ArrayLike | None = None) -> float:
        """`-sum_ik w_i r_ik log r_ik` in nats: 0 where every row is sure of its component."""
        joint = self._joint(X)
        return _entropy(joint, _weights(sample_weight, joint))

    def _entropy_of(self, sample: Sample) -> float:
        return _entropy(self._joint_of(sample), sample.weights)


def check_draws(n_samples: int) -> None:
    if n_samples < 1:
        raise InputError(
            f"Invalid value for 'n_samples': {n_samples!r}. The sampling requires at least one "
            "sample."
        )


def _refuse_no_cells(sums: Any) -> None:
    if not sums.rows > 0:
        raise InputError(
            "No row has a present cell, so there is nothing to learn from. Give rows with some."
        )


def _fingerprint(params: Any) -> str:
    """Equal for equal parameters, bit by bit."""
    digest = sha256()

    def add(value: Any) -> None:
        if is_dataclass(value):
            digest.update(type(value).__name__.encode())
            for item in dataclass_fields(value):
                add(getattr(value, item.name))
        elif isinstance(value, tuple):
            for item in value:
                add(item)
        else:
            array = np.asarray(value)
            digest.update(str(value).encode() if array.dtype == object else array.tobytes())

    add(params)
    return digest.hexdigest()[:16]


def _entropy(joint: Floats, weights: Floats) -> float:
    logs = joint - log_sum_exp(joint, axis=1, keepdims=True)
    # What is impossible adds nothing.
    logs = np.where(np.isfinite(logs), logs, 0.0)
    terms = np.exp(logs) * logs
    return max(0.0, -float(weights @ terms.sum(axis=1)))


def _weights(sample_weight: ArrayLike | None, rows: Array) -> Floats:
    weights = checked_weight(sample_weight, len(rows))
    return np.ones(len(rows)) if weights is None else weights
