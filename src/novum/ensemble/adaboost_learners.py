"""Weak learners of AdaBoost, trained in turn: stumps on codes, or anything with weights.

`StumpLearning` codes the table once and only sums weights in each round. `FittedLearning` clones an
estimator and fits it to the rows with their weights; `adaboost_trees` grows trees of ours on codes.
The weights add up to those that the user gave, so that the first round fits the estimator as it
would be fitted alone, and a learner that counts weight (least samples of a leaf, pseudo-counts,
penalties) counts what it always counts.

Weights of rows are kept as logarithms, or scaled by powers of two: ten thousand rounds neither
overflow nor lose a row.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from novum.core.cross_fitting import takes_weights
from novum.core.errors import InputError
from novum.core.exact_validation import rows_of
from novum.core.randomness import seed
from novum.core.validation import Sample
from novum.ensemble.members import fitted_member, member_codes
from novum.ensemble.rows import TrainingRows
from novum.trees.cells import cells_of
from novum.trees.stumps.stump_growing import Stump, StumpGrower, StumpRules
from novum.trees.stumps.stumps import Stumps

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
Rows = NDArray[np.intp]


class Votes:
    """Votes on rows whose classes are known.

    Parameters
    ----------
    target : codes of classes, (n,)
    weight : float64 array (n,)
    n_classes : int
    """

    def __init__(self, target: Labels, weight: Floats, n_classes: int) -> None:
        self._target, self._weight = target, weight
        self._votes = np.zeros((target.size, n_classes))

    def add(self, answers: NDArray[Any], weight: float) -> None:
        """Adds the votes of one learner."""
        self._votes[np.arange(answers.size), answers] += weight

    def score(self) -> float:
        """Share of the weight that is classified right."""
        right = self._votes.argmax(axis=1) == self._target
        return float(np.average(right, weights=self._weight))


class StumpLearning:
    """Stumps on the codes of a table.

    Parameters
    ----------
    sample : Sample
        Checked rows.
    rows, others : positions of training rows and of held-out ones
    rules : StumpRules
    """

    def __init__(self, sample: Sample, rows: Rows, others: Rows, rules: StumpRules) -> None:
        assert sample.classes is not None
        n_classes = len(sample.classes)
        cells = cells_of(sample)
        self._grower = StumpGrower(
            sample.schema,
            cells[rows] if others.size else cells,
            sample.target[rows],
            n_classes,
            sample.weights[rows],
            rules,
        )
        self._stumps: list[Stump] = []
        self._steps: list[float] = []
        self._other_votes = Votes(sample.target[others], sample.weights[others], n_classes)
        self._other_codes = self._grower.coding.codes(cells[others]) if others.size else None

    def learn(self) -> float:
        self._last = self._grower.grow()
        return self._last.error

    def keep(self, weight: float) -> None:
        self._stumps.append(self._last)
        self._steps.append(weight)
        if self._other_codes is not None:
            codes = self._other_codes[:, max(self._last.column, 0)]
            self._other_votes.add(self._last.answer[self._last.branch[codes]], weight)

    def reweigh(self, step: float) -> None:
        self._grower.reweigh(self._last, float(np.exp(step)))

    def score(self) -> float:
        return self._other_votes.score()

    def committee(self, count: int) -> tuple[Stumps, float]:
        """The first stumps, and the share of the training weight that they misclassify."""
        kept, steps = self._stumps[:count], self._steps[:count]
        return self._grower.packed(kept, steps), self._grower.training_error(kept, steps)


class RowLearning:
    """Learners that answer for every row; a subclass says how one is trained and asked.

    Parameters
    ----------
    target : codes of the classes of the training rows
    weights : float64 array, weights of the training rows as given
    held_out : Votes, on the rows that are held out
    n_classes : int
    """

    def __init__(self, target: Labels, weights: Floats, held_out: Votes, n_classes: int) -> None:
        self._target, self._weights, self._n_classes = target, weights, n_classes
        self._log_weight = np.log(weights)
        self._held_out = held_out
        self._votes = Votes(target, weights, n_classes)
        self._learners: list[Any] = []
        self._steps: list[float] = []

    @abstractmethod
    def _taught(self, weight: Floats, number: int) -> Any:
        """The learner of this round, trained on the weighted rows."""

    @abstractmethod
    def _asked(self, learner: Any, *, held_out: bool) -> NDArray[Any]:
        """Codes of the classes it answers for the training rows, or for those held out."""

    def learn(self) -> float:
        share = np.exp(self._log_weight - self._log_weight.max())
        share /= share.sum()
        # A weight below rounding counts as nothing, but learners divide by sums of weights.
        weight = np.maximum(share, np.finfo(float).eps) * self._weights.sum()
        self._last = self._taught(weight, len(self._learners))
        self._answers = self._asked(self._last, held_out=False)
        self._missed = self._answers != self._target
        return float(share[self._missed].sum()) if not self._missed.all() else 1.0

    def keep(self, weight: float) -> None:
        self._learners.append(self._last)
        self._steps.append(weight)
        self._votes.add(self._answers, weight)

    def reweigh(self, step: float) -> None:
        self._log_weight[self._missed] += step

    def score(self) -> float:
        self._held_out.add(self._asked(self._last, held_out=True), self._steps[-1])
        return self._held_out.score()

    def committee(self, count: int) -> tuple[list[Any], float]:
        """The first learners, and the share of the training weight that they misclassify."""
        votes, kept = self._votes, self._learners[:count]
        if count < len(self._learners):
            votes = Votes(self._target, self._weights, self._n_classes)
            for learner, step in zip(kept, self._steps, strict=False):
                votes.add(self._asked(learner, held_out=False), step)
        return kept, 1.0 - votes.score()


class FittedLearning(RowLearning):
    """Clones of an estimator, each fitted to the weighted rows.

    Parameters
    ----------
    estimator : classifier whose `fit` takes `sample_weight`
    training : TrainingRows
    rows, others : positions of training rows and of held-out ones
    random_state : SeedSequence
    """

    def __init__(
        self,
        estimator: Any,
        training: TrainingRows,
        rows: Rows,
        others: Rows,
        random_state: np.random.SeedSequence,
    ) -> None:
        refuse_unweighted(estimator)
        assert training.classes is not None
        self._estimator, self._random_state = estimator, random_state
        self._classes = training.classes
        self._X = rows_of(training.table, rows) if others.size else training.table
        self._other_X = rows_of(training.table, others)
        weights = np.ones(training.n_rows) if training.weight is None else training.weight
        held_out = Votes(training.target[others], weights[others], len(self._classes))
        super().__init__(training.target[rows], weights[rows], held_out, len(self._classes))

    def _taught(self, weight: Floats, number: int) -> Any:
        learner = seeded(self._estimator, self._random_state, number)
        labels = self._classes[self._target]
        more = {"sample_weight": weight}
        return fitted_member(learner, self._X, labels, more, f"round {number + 1}")

    def _asked(self, learner: Any, *, held_out: bool) -> NDArray[Any]:
        return member_codes(learner, self._other_X if held_out else self._X, self._classes)


class DrawnFits:
    """Clones of a regressor, each fitted to rows that were drawn.

    Parameters
    ----------
    estimator : regressor
    training : TrainingRows
    random_state : SeedSequence
    """

    def __init__(
        self, estimator: Any, training: TrainingRows, random_state: np.random.SeedSequence
    ) -> None:
        self.target = training.target
        self.weight = np.ones(training.n_rows) if training.weight is None else training.weight
        self._estimator, self._table, self._random_state = estimator, training.table, random_state

    def taught(self, drawn: Rows, number: int) -> Any:
        """The learner fitted to the drawn rows."""
        learner = seeded(self._estimator, self._random_state, number)
        rows, y = rows_of(self._table, drawn), self.target[drawn]
        return fitted_member(learner, rows, y, {}, f"round {number + 1}")

    def asked(self, learner: Any) -> Floats:
        """Predictions for all rows."""
        return np.ravel(learner.predict(self._table))


def seeded(estimator: Any, random_state: np.random.SeedSequence, number: int) -> Any:
    """A clone whose random states are its own."""
    copy = clone(estimator)
    states = {
        name: seed(random_state, number, name)
        for name in sorted(copy.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    return copy.set_params(**states)


def refuse_unweighted(estimator: Any) -> None:
    """Says so if an estimator cannot be fitted to weighted rows."""
    if not takes_weights(estimator):
        raise InputError(
            f"{type(estimator).__name__} doesn't support sample_weight in fit, and AdaBoost "
            "teaches by weights. Use a base learner that takes them, such as "
            "DecisionTreeClassifier, GaussianNB or LogisticRegression, or BaggingClassifier, "
            "which resamples."
        )
