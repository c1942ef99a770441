"""AdaBoost.R2: boosting of regressors by resampling (Drucker 1997).

With weights p_i of the rows that sum to 1, round t draws as many rows as there are, row i with
probability p_i, fits a learner h_t to them and measures its relative losses on all rows,

    l_i = |h_t(x_i) - y_i| / max_j |h_t(x_j) - y_j|,      L_i = l_i, l_i^2 or 1 - exp(-l_i),

their mean e = sum_i p_i L_i, and beta = e / (1 - e), the smaller the better. Then

    p_i <- p_i beta^(1 - L_i),        alpha_t = log(1 / beta),

and the prediction is the median of the learners' predictions, weighted by alpha_t. Rows are drawn
and not weighted, as in Drucker's paper and in scikit-learn, so that any regressor can be boosted
and learners differ even where they would ignore weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, column_or_1d

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Certificate,
    Stopwatch,
    Verdict,
    parameter,
    warn_if_stopped,
)
from novum.core.runtime import Progress, fit_context, fitting, seed_sequence, stream, track
from novum.core.tables import (
    TrainingRows,
    check_sample,
    checked_rows,
    plain_target,
)
from novum.ensemble.adaboost_learners import DrawnFits, DrawnTrees, grows_on_codes
from novum.ensemble.adaboost_rounds import BoostedCommittee
from novum.ensemble.members import shared_invariances
from novum.numerics import Floats
from novum.trees import CellRows, DecisionTreeRegressor, cells_of, tree_values

# Rows whose medians are taken at once.
_BLOCK = 4096


class AdaBoostRegressor(RegressorMixin, BoostedCommittee):
    """AdaBoost.R2: weighted median of regressors fitted to rows drawn by how badly they were met.

    Parameters
    ----------
    estimator : regressor, optional
        Base learner; a decision tree of depth 3 by default.
    learning_rate : float
        Factor of the logarithm of every beta.
    loss : {"linear", "square", "exponential"}
        Of relative errors.
    random_state : None, int, Generator, RandomState or SeedSequence
        For the drawn rows, and for base learners with a random state.

    Attributes
    ----------
    estimator_ : the base learner, not fitted
    estimators_ : list of fitted regressors
    estimator_weights_ : array (n_rounds,), log(1 / beta) of each
    estimator_errors_ : array (n_rounds,), mean loss of each in its round
    feature_importances_ : array (n_columns,)
    certificate_ : Certificate
        Mean loss of the learners, round by round.
    n_features_in_, feature_names_in_, schema_ (of Novum's trees)

    Notes
    -----
    A learner without any error decides: its weight exceeds those of all others together by 1, and
    boosting ends. A learner whose mean loss is one half or more says nothing about which rows are
    hard, and boosting ends without it; if it is the first, it stays alone with weight 1
    (scikit-learn: 0, with the same predictions). Weights of rows are chances to be drawn: weight 2
    is the row twice in distribution, not to the bit.

    References
    ----------
    H. Drucker (1997). Improving regressors using boosting techniques. ICML, 107-115.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> model = AdaBoostRegressor(LinearRegression(), random_state=0).fit(X, y)
    >>> model.predict([[5.0]]).round(9).tolist()
    [5.0]
    """

    loss: str = parameter({"linear", "square", "exponential"}, default="linear")

    # Fit

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the learners, one after the other.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            As far as the base learner takes it.
        y : array-like of shape (n_rows,)
            Numbers.
        sample_weight : array-like of shape (n_rows,), optional
            Chances of the rows to be drawn in the first round.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self) as watch:
            self._fit(X, y, sample_weight, watch)
        warn_if_stopped(self.certificate_, type(self).__name__)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, watch: Stopwatch) -> None:
        base = self._base()
        root = seed_sequence(self.random_state)
        drawn = self._learning(base, X, y, sample_weight, root)
        with track(self, total=self.n_estimators, X=X, y=y) as progress:
            stopped_by = self._boost(drawn, root, progress)
        self.estimator_ = base
        self.certificate_ = self._certified(stopped_by, watch.seconds)

    def _base(self) -> Any:
        """The base learner, as given or by default."""
        if self.estimator is not None:
            return self.estimator
        return DecisionTreeRegressor(max_depth=3, missing="auto")

    def _learning(
        self, base: Any, X: Any, y: Any, sample_weight: Any, root: np.random.SeedSequence
    ) -> DrawnFits | DrawnTrees:
        """The learners on their rows."""
        if not grows_on_codes(base):
            self.__dict__.pop("schema_", None)
            training = TrainingRows.of(self, X, y, sample_weight, target="one number")
            return DrawnFits(base, training, root)
        target = y if y is None else column_or_1d(plain_target(y), warn=True)
        sample = check_sample(
            self, X, target, sample_weight, allow_missing=True, accept_sparse=True
        )
        self.schema_ = sample.schema
        rows = CellRows(sample.schema, cells_of(sample), sample.targets, sample.weights, None)
        return DrawnTrees(base, rows, root)

    def _boost(
        self, drawn: DrawnFits | DrawnTrees, root: np.random.SeedSequence, progress: Progress
    ) -> str:
        """Runs the rounds and stores the learners; says what ended them."""
        log_weight, n_rows = np.log(drawn.weight), drawn.target.size
        learners: list[Any] = []
        weights: list[float] = []
        errors: list[float] = []
        stopped_by = "n_estimators"
        for number in range(self.n_estimators):
            share = np.exp(log_weight - log_weight.max())
            share /= share.sum()
            rows = np.sort(stream(root, "rows", number).choice(n_rows, n_rows, p=share))
            learner = drawn.taught(rows, number)
            losses = relative_losses(drawn.asked(learner), drawn.target, self.loss)
            error = float(share @ losses)
            step = self._step(error, weights)
            if step is None and learners:
                stopped_by = "loss of one half"
                break
            learners.append(learner)
            errors.append(error)
            weights.append(1.0 if step is None else step)
            asked = progress.advance(note=f"loss {error:.4g}")
            if step is None or error == 0.0 or asked:
                stopped_by = "zero error" if error == 0.0 else "loss of one half"
                stopped_by = stopped_by if step is None or error == 0.0 else "callback"
                break
            log_weight -= (1 - losses) * step
        self._trees = learners if isinstance(drawn, DrawnTrees) else []
        self._members = [] if isinstance(drawn, DrawnTrees) else learners
        self.estimator_weights_, self.estimator_errors_ = np.array(weights), np.array(errors)
        return stopped_by

    def _step(self, error: float, weights: list[float]) -> float | None:
        """Weight of a learner with this mean loss; None if it is to end boosting."""
        if error == 0.0:
            return 1.0 + sum(weights)
        return None if error >= 0.5 else self.learning_rate * math.log((1 - error) / error)

    def _certified(self, stopped_by: str, seconds: float) -> Certificate:
        asked = stopped_by == "callback"
        return Certificate(
            objective=f"mean relative {self.loss} loss of the learner of a round",
            verdict=Verdict.STOPPED_EARLY if asked else Verdict.LOCAL,
            value=float(self.estimator_errors_[-1]),
            iterations=len(self.estimator_weights_),
            trace=self.estimator_errors_.tolist(),
            details={"stopped_by": stopped_by},
            seconds=seconds,
        )

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; which rows are drawn depends on their order."""
        known = shared_invariances([self._base()])
        return tuple(name for name in known if name not in ("row_order", "duplication"))

    # Prediction

    def predict(self, X: Any) -> Floats:
        """Weighted median of the learners' predictions, (n,)."""
        return weighted_medians(self._predictions(X), self.estimator_weights_)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """`predict` after each round."""
        predictions = self._predictions(X)
        for count in range(1, len(self.estimator_weights_) + 1):
            yield weighted_medians(predictions[:, :count], self.estimator_weights_[:count])

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Share of the variance explained after each round."""
        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))

    def _predictions(self, X: Any) -> Floats:
        """What each learner predicts, (n, n_rounds)."""
        check_is_fitted(self)
        if self._members:
            table = checked_rows(self, X, reset=False)
            predictions = [np.ravel(member.predict(table)) for member in self._members]
        else:
            cells = self._cells(X)
            predictions = [tree_values(tree, cells)[:, 0] for tree in self._trees]
        return np.column_stack(predictions)

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        count = (len(self._members) + len(self._trees),)
        if self.estimator_weights_.shape != count or self.estimator_errors_.shape != count:
            raise ModelFileError(f"The model has {count[0]} learners, but other weights or errors.")
        if not (self.estimator_weights_ > 0).all():
            raise ModelFileError("The model's learners have weights that are not positive.")
        for tree in self._trees:
            tree.check()
            if tree.schema != self.schema_ or tree.value.shape[1] != 1:
                raise ModelFileError("A tree of the model has other columns or targets.")


# --- Losses and medians ---------------------------------------------------------------------------


def relative_losses(predicted: Any, target: Floats, loss: str) -> Floats:
    """Losses of predictions between 0 and 1, the largest error counting as 1.

    Examples
    --------
    >>> relative_losses([1.0, 2.0, 5.0], np.array([1.0, 1.0, 3.0]), "square").tolist()
    [0.0, 0.25, 1.0]
    """
    predictions = np.ravel(predicted)
    if predictions.shape != target.shape or not np.isfinite(predictions).all():
        raise InputError(
            "A base learner predicts numbers that are not finite, or not one for each row. Check "
            "its fit on rows drawn from the table."
        )
    errors = np.abs(predictions - target)
    largest = errors.max()
    relative = errors / largest if largest > 0 else errors
    if loss == "square":
        return relative**2
    return relative if loss == "linear" else 1 - np.exp(-relative)


def weighted_medians(values: Floats, weights: Floats) -> Floats:
    """Of each row the least value up to which half of the weight lies.

    Examples
    --------
    >>> weighted_medians(np.array([[3.0, 1.0, 2.0]]), np.array([1.0, 1.0, 3.0])).tolist()
    [2.0]
    """
    medians = np.empty(len(values))
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        order = np.argsort(block, axis=1, kind="stable")
        reached = np.cumsum(weights[order], axis=1)
        place = (reached >= 0.5 * reached[:, -1:]).argmax(axis=1)
        rows = np.arange(len(block))
        medians[start : start + _BLOCK] = block[rows, order[rows, place]]
    return medians
