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
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from novum.core.certificate import Certificate, Verdict
from novum.core.progress import Progress
from novum.ensemble.boosting_stop import BestRound

Floats = NDArray[np.float64]

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
    found = Rounds(n_classes, tuple(errors), tuple(weights), stopped_by)
    return found if best is None else found.first(max(best.rounds, 1))


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
