"""The rounds of AdaBoost: weights of learners, and what they prove.

With K classes, weights w_i of the rows and a learner h of weighted error e, SAMME gives

    alpha = log((1 - e) / e) + log(K - 1),      w_i <- w_i exp(alpha [h(x_i) != y_i]),

which minimizes the exponential loss of the votes V_k(x) = sum_t alpha_t [h_t(x) = k],

    L = mean_i exp(sum_t alpha_t / K - V_{y_i}(x_i)),

over alpha. With two classes it is AdaBoost's mean exp(-y F(x)). A row is only voted down if the
votes for its class are at most half of all, so with A = sum_t |alpha_t|

    training error <= mean_i exp(A / 2 - V_{y_i}(x_i))
                    = prod_t (1 - e_t + e_t exp(alpha_t)) exp(-alpha_t / 2),

for any number of classes and any learning rate. With two classes and learning rate 1 the factors
are 2 sqrt(e_t (1 - e_t)), and the bound is L itself.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import Certificate, Learner, Verdict, fitted, parameter
from novum.core.runtime import CallbackSupport, Progress, RandomSource
from novum.core.tables import Schema, check_features
from novum.ensemble.adaboost_learners import fitted_tree
from novum.ensemble.members import combine_input_tags
from novum.numerics import Floats, Integers, Mask
from novum.trees import Tree, cells_of

# An error this close to guessing is guessing: after a round the last learner's error is exactly
# (K - 1) / K up to rounding.
GUESSING = 1e-10
# exp(300)^2 still fits; a learner beyond it leaves the other rows nothing to say anyway.
LARGEST_STEP = 300.0


class WeakLearning(Protocol):
    """Learners that are trained one after the other on rows with weights."""

    def learn(self) -> float:
        """Trains the next learner; returns the share of the weight that it misses."""

    def keep(self, weight: float) -> None:
        """Takes the last learner into the committee, with this weight of its vote."""

    def reweigh(self, step: float) -> None:
        """Multiplies the weights of the rows that the last learner misses by exp(step)."""

    def score(self) -> float:
        """Share of the held-out weight that the committee classifies right."""


@dataclass(frozen=True)
class Rounds:
    """What happened in the rounds.

    Attributes
    ----------
    n_classes : int
    errors : tuple of float, weighted error of each learner
    weights : tuple of float, weight of each learner's vote
    stopped_by : str
    """

    n_classes: int
    errors: tuple[float, ...]
    weights: tuple[float, ...]
    stopped_by: str

    def first(self, count: int) -> Rounds:
        """The first rounds alone."""
        return Rounds(self.n_classes, self.errors[:count], self.weights[:count], self.stopped_by)

    @property
    def losses(self) -> Floats:
        """Exponential loss after each round."""
        return np.exp(np.minimum(self._logs((self.n_classes - 1) / self.n_classes), 700.0))

    @property
    def error_bounds(self) -> Floats:
        """Bound of the training error after each round; above 1 it says nothing."""
        return np.exp(np.minimum(self._logs(0.5), 700.0))

    def _logs(self, right: float) -> Floats:
        """Sums over rounds of log((1 - e) + e exp(alpha)) - right alpha."""
        alpha, error = np.abs(self.weights), np.array(self.errors)
        # A learner whose vote is turned round errs where it was right.
        error = np.where(np.array(self.weights) < 0, 1 - error, error)
        with np.errstate(divide="ignore"):
            grown = np.logaddexp(np.log1p(-error), np.log(error) + alpha)
        return np.cumsum(grown - right * alpha)


def boost(
    weak: WeakLearning,
    n_classes: int,
    n_rounds: int,
    learning_rate: float,
    weight: float,
    progress: Progress,
    best: BestRound | None = None,
) -> Rounds:
    """Runs the rounds.

    Parameters
    ----------
    weak : WeakLearning
    n_classes, n_rounds : int
    learning_rate : float
        Factor of every weight.
    weight : float
        Of all training rows.
    progress : Progress
    best : BestRound, optional
        Decides by the scores on held-out rows when to stop.
    """
    errors: list[float] = []
    weights: list[float] = []
    stopped_by = "n_estimators"
    for _ in range(n_rounds):
        error = weak.learn()
        if is_guess(error, n_classes):
            stopped_by = "guessing"
            break
        perfect = error == 0.0 or error == 1.0
        if perfect:
            step = deciding_weight(weights, weight, n_classes)
            step = step if error == 0.0 else -step
        else:
            step = learning_rate * learner_weight(error, n_classes)
        errors.append(error)
        weights.append(step)
        weak.keep(step)
        over = best is not None and best.is_over(weak.score())
        asked = progress.advance(note=f"error {error:.4g}")
        if perfect or over or asked:
            stopped_by = "zero error" if perfect else "early stopping" if over else "callback"
            break
        weak.reweigh(max(-LARGEST_STEP, min(step, LARGEST_STEP)))
    rounds = Rounds(n_classes, tuple(errors), tuple(weights), stopped_by)
    return rounds if best is None else rounds.first(max(best.rounds, 1))


def learner_weight(error: float, n_classes: int) -> float:
    """The weight that minimizes the exponential loss: log odds of being right, against guessing.

    It is 0 for guessing; below 0 the answer is worse than that, and with two classes the opposite
    is as much better.

    Examples
    --------
    >>> round(learner_weight(0.2, 2), 4), learner_weight(0.5, 2), round(learner_weight(0.5, 3), 4)
    (1.3863, 0.0, 0.6931)
    """
    return math.log((1 - error) / error) + math.log(n_classes - 1)


def deciding_weight(weights: list[float], weight: float, n_classes: int) -> float:
    """The weight of a learner without error, which theory gives as infinite.

    It exceeds the weights of all others together, so that this learner decides, by the weight of a
    learner that missed half a row of all rows and the half, `log(2 W + 1) + log(K - 1)`.

    Examples
    --------
    >>> round(deciding_weight([0.5], 4.0, 2), 4)
    2.6972
    """
    return sum(map(abs, weights)) + math.log(2 * weight + 1) + math.log(max(n_classes - 1, 1))


def is_guess(error: float, n_classes: int) -> bool:
    """Whether a learner is no better than guessing; with two classes worse is as good as better."""
    chance = 1 - 1 / n_classes
    if n_classes == 1:
        return False
    if n_classes == 2:
        return abs(error - chance) <= GUESSING
    return error >= chance - GUESSING


def certify(rounds: Rounds, training_error: float, seconds: float) -> Certificate:
    """The loss, its trace, and the bound beside the training error.

    The `residual` is how far the last learner was from guessing, from 0 to 1: where all learners
    only guess, the loss has no direction left to fall in.
    """
    losses, last = rounds.losses, rounds.errors[-1]
    edge = abs(1 - last * rounds.n_classes / max(rounds.n_classes - 1, 1))
    asked = rounds.stopped_by == "callback"
    return Certificate(
        objective="exponential loss of the votes, minimized one learner at a time",
        verdict=Verdict.STOPPED_EARLY if asked else Verdict.LOCAL,
        value=float(losses[-1]),
        residual=None if rounds.stopped_by == "zero error" else edge,
        iterations=len(rounds.errors),
        trace=losses.tolist(),
        details={
            "training_error": training_error,
            "training_error_bound": float(rounds.error_bounds[-1]),
            "stopped_by": rounds.stopped_by,
        },
        seconds=seconds,
    )


# --- Early stopping -------------------------------------------------------------------------------
#
# When boosting stops before its last round: rows held out say that it no longer gets better.


@dataclass(frozen=True)
class EarlyStopping:
    """Hold out rows, and keep the rounds up to the best score on them.

    Boosting ends when `patience` rounds in a row have not raised the best score by more than `tol`,
    and the learners after the best round are dropped. The rows held out train nothing.

    Parameters
    ----------
    validation : float, int or "out_of_bag"
        Share of the rows (below 1), or how many, of every class alike; or the rows that a round
        has not drawn, for learners that draw rows.
    patience : int
        Rounds without a better score after which boosting ends.
    tol : float
        A score is better if it exceeds the best by more than this.
    one_standard_error : bool
        Whether gradient boosting keeps the fewest rounds whose score is within one standard error
        of the best.

    Examples
    --------
    >>> EarlyStopping(validation=0.2)
    EarlyStopping(validation=0.2, patience=10, tol=0.0, one_standard_error=False)
    """

    validation: float | str = 0.1
    patience: int = 10
    tol: float = 0.0
    one_standard_error: bool = False

    @property
    def is_out_of_bag(self) -> bool:
        """Whether rounds are judged by the rows that they have not drawn."""
        return self.validation == "out_of_bag"

    def __post_init__(self) -> None:
        self._check_validation()
        if not (isinstance(self.patience, Integral) and self.patience >= 1):
            raise InputError(f"patience is a whole number of at least 1, got {self.patience!r}.")
        if not (isinstance(self.tol, Real) and math.isfinite(self.tol) and self.tol >= 0):
            raise InputError(f"tol is a number of at least 0, got {self.tol!r}.")

    def _check_validation(self) -> None:
        if self.is_out_of_bag:
            return
        share = isinstance(self.validation, Real) and 0 < self.validation < 1
        count = isinstance(self.validation, Integral) and self.validation >= 1
        if not (share or count) or isinstance(self.validation, bool):
            raise InputError(
                "validation is a share of the rows between 0 and 1, a number of rows or "
                f"'out_of_bag', got {self.validation!r}."
            )

    def held_out(self, target: Integers, rng: np.random.Generator) -> Mask:
        """Marks the rows to hold out: of each class the same share, never all of a class.

        Parameters
        ----------
        target : codes of classes, (n,)
        rng : Generator
        """
        if isinstance(self.validation, str):
            raise InputError(
                "This learner draws no rows, so that none are out of its bag. Hold out a share of "
                "the rows: EarlyStopping(validation=0.1)."
            )
        share = self.validation if self.validation < 1 else self.validation / target.size
        marked = np.zeros(target.size, bool)
        for code in np.unique(target):
            rows = np.flatnonzero(target == code)
            count = min(round(share * rows.size), rows.size - 1)
            marked[rng.permutation(rows)[:count]] = True
        if not marked.any():
            raise InputError(
                f"{self!r} of {target.size} rows in {np.unique(target).size} classes holds out no "
                "row. Hold out a larger share, or leave early stopping out."
            )
        return marked


class BestRound:
    """Which round had the best score, and whether to go on.

    Examples
    --------
    >>> best = BestRound(EarlyStopping(patience=2))
    >>> [best.is_over(score) for score in (0.5, 0.7, 0.7, 0.6)], best.rounds
    ([False, False, False, True], 2)
    """

    def __init__(self, rule: EarlyStopping) -> None:
        self._rule = rule
        self._done = 0
        self._score = -math.inf
        self.rounds = 0

    def is_over(self, score: float) -> bool:
        """Takes the score of one more round; true when patience has run out."""
        self._done += 1
        if score > self._score + self._rule.tol:
            self._score, self.rounds = score, self._done
        return self._done - self.rounds >= self._rule.patience


# --- Committees -----------------------------------------------------------------------------------


class BoostedCommittee(CallbackSupport, MetaEstimatorMixin, Learner):
    """What boosted classifiers and regressors share: parameters, learners, importances.

    Parameters
    ----------
    n_estimators : int
        Rounds at most.
    """

    estimator: Any = parameter(HasMethods(["fit", "predict"]), None, default=None, kw_only=False)
    n_estimators: int = parameter(default=50, at_least=1)
    learning_rate: float = parameter(default=1.0, above=0)
    random_state: RandomSource = parameter(default=None)

    estimator_: Any = fitted()
    estimator_weights_: Floats = fitted()
    estimator_errors_: Floats = fitted()
    certificate_: Certificate = fitted()
    schema_: Schema = fitted()
    n_features_in_: int = fitted()
    _members: list[Any] = fitted()
    _trees: list[Tree] = fitted()

    @abstractmethod
    def _base(self) -> Any:
        """The base learner, as given or by default."""

    @property
    def estimators_(self) -> list[Any]:
        """The fitted learners; those on codes are made into estimators when they are asked for."""
        if not hasattr(self, "_members"):
            name = type(self).__name__
            raise AttributeError(f"{name} is not fitted yet and has no estimators_.")
        return self._members or [
            fitted_tree(self.estimator_, tree, self) for tree in self._all_trees()
        ]

    def _all_trees(self) -> list[Tree]:
        """The learners that are trees of ours."""
        return self._trees

    @property
    def feature_importances_(self) -> Floats:
        """Mean of the learners' importances, weighted by how much they count."""
        check_is_fitted(self)
        members = self.estimators_
        if not all(hasattr(member, "feature_importances_") for member in members):
            raise AttributeError(
                f"{type(self.estimator_).__name__} has no feature_importances_, so the committee "
                "has none. Permutation importances need none."
            )
        share = np.abs(self.estimator_weights_)
        share = share / share.sum()
        return np.asarray(share @ np.array([member.feature_importances_ for member in members]))

    @property
    def categorical_features(self) -> Any:
        """Which columns are nominal: what the base learner says."""
        return getattr(self._base(), "categorical_features", None)

    def _cells(self, X: Any) -> Floats:
        return cells_of(check_features(self, X, allow_missing=True, accept_sparse=True))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "certificate_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        combine_input_tags(tags, [self._base()])
        return tags
