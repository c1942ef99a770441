"""Sets of classes that hold the true one as often as promised.

Class `y` belongs to the set of a new row `x` if it is not stranger there than calibration rows are
in their own classes,

    sum_i w_i [s_i < s_i(x, y)]  <  coverage (W + v_y),

with `s_i` the score of row `i` in its class, `s_i(x, y)` that of the new row, both by the model
without row `i`, and weights that are 1 unless rows count otherwise. One model ("split") makes it a
threshold on scores; folds make it CV+ and the jackknife+.

Where the shares of the classes change from `p(y)` in training to `p'(y)`, rows of class `y` count
`p'(y) / p(y)`, as does the candidate itself: `w_i` and `v_y` above.

References
----------
Romano, Sesia and Candès 2020, NeurIPS 33, section 2; Podkopaev and Ramdas 2021, UAI, for shares of
classes; Vovk 2012, "Conditional validity of inductive conformal predictors", for classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.model_selection import KFold
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, align_classes, fitted, parameter
from novum.core.runtime import check_cancelled, fit_context, fitting, stream
from novum.core.tables import TrainingRows, checked_rows, n_rows_of, rows_of, said_once
from novum.evaluation.conformal.calibration_rows import ConformalLearner, FoldModels
from novum.evaluation.conformal.class_scores import (
    CLASS_SCORES,
    Adaptive,
    LeastAmbiguous,
    class_score,
)
from novum.evaluation.conformal.quantiles import reach
from novum.numerics import Array, Floats, Mask, Positions

_EVERYTHING = "every set holds all classes"


class ConformalClassifier(ClassifierMixin, ConformalLearner):
    """Sets of classes around the predictions of any classifier with probabilities.

    `P(y in set) >= coverage` for new rows drawn like those of the fit, whatever their law; for
    "jackknife+" `2 coverage - 1` is proved, for "cross" somewhat less, and only by class or with
    `cv=KFold(...)`; about `coverage` is what they reach. `certificate_` says how much is proved.

    Parameters
    ----------
    method : {"cross", "split", "jackknife+"}
        "split": scores of rows set aside. "cross": scores of folds (CV+), ten fits. "jackknife+":
        scores of single rows left out, by as many fits as rows.
    conformity_score : {"lac", "aps", "raps"} or value object
        "lac", `1 - p_y`: the smallest sets on average; an empty one says that no class is likely.
        "aps": sets that adapt to how hard a row is. "raps": these with a price for long ones.
        `Adaptive(randomized=False)` and `RegularizedAdaptive(penalty, free)` set more.
    by_class : bool
        Calibrates each class by itself: the coverage holds for the rows of every class.
    target_priors : mapping of class to share, or array of shape (K,), optional
        Shares of the classes among the new rows where they differ from those of the fit.

    Attributes
    ----------
    classes_ : array of K labels
    estimator_ : fitted classifier
        Whose predictions and probabilities are given: of all rows, for "split" of those that train.
    models_ : list of fitted classifiers
        That the calibration rows have not been seen by.
    scores_, codes_, column_ : arrays of shape (n_calibration,)
        Of the calibration rows: score, class and model.
    class_prior_ : array of shape (K,)
    calibration_weight_, calibration_groups_, group_labels_, certificate_
        As in `ConformalRegressor`.
    n_features_in_, feature_names_in_

    Notes
    -----
    With fewer than `coverage / (1 - coverage)` calibration rows (of a class, with `by_class`) sets
    hold all classes, and a warning says so. Randomized scores draw one number for each calibration
    row and each new row, by its place in the table, from `random_state`. Weights count rows.

    References
    ----------
    Sadinle, Lei and Wasserman 2019; Romano, Sesia and Candès 2020; Angelopoulos et al. 2021;
    Podkopaev and Ramdas 2021.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> X = [[float(i)] for i in range(40)]
    >>> y = ["yes" if i in (16, 18) or i >= 20 and i not in (21, 23) else "no" for i in range(40)]
    >>> model = ConformalClassifier(GaussianNB(), coverage=0.9).fit(X, y)
    >>> model.predict_set([[0.0], [19.5], [39.0]]).tolist()
    [[True, False], [True, True], [False, True]]
    """

    conformity_score: Any = parameter(set(CLASS_SCORES), LeastAmbiguous, Adaptive, default="lac")
    by_class: bool = parameter(default=False)
    target_priors: Any = parameter(Mapping, "array-like", None, default=None)

    classes_: Array = fitted()
    class_prior_: Floats = fitted()
    models_: list[Any] = fitted()
    scores_: Floats = fitted()
    codes_: Positions = fitted()
    column_: Positions = fitted()

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit the classifier and calibrate.

        Parameters
        ----------
        X, y
            Rows of any container the classifier reads, and labels.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.
        groups : array-like of shape (n,), optional
            Calibrates each group by itself: the coverage holds in every one of them.
        """
        with fitting(self) as watch:
            self._begin()
            if not hasattr(self.learner, "predict_proba"):
                raise InputError(
                    f"{type(self.learner).__name__} has no predict_proba, which sets of classes "
                    "need. Wrap it in CalibratedClassifierCV."
                )
            training = TrainingRows.of(self, X, y, sample_weight, target="classes", least_classes=2)
            self._check_rows(training)
            self._refuse_single_rows(training)
            self.classes_, self.class_prior_ = training.classes, training.class_shares
            folds = self._calibrated_models(training)
            self.models_, self.column_ = folds.models, folds.column
            self.codes_ = training.target[folds.rows].astype(np.intp)
            probabilities = folds.answers(self._probabilities, training.table)
            draws = stream(self._root(), "scores of calibration rows").random(len(folds.rows))
            scores = class_score(self.conformity_score)(probabilities, draws)
            self.scores_ = scores[np.arange(len(scores)), self.codes_]
            self._class_ratios()
            self._keep_groups(training, groups, folds.rows)
            self.certificate_ = self._certificate(watch.seconds)
        return self

    @said_once()
    def predict(self, X: Any) -> Array:
        """Predictions of the classifier."""
        check_is_fitted(self, "scores_")
        return np.asarray(self.estimator_.predict(checked_rows(self, X, reset=False)))

    @said_once()
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classifier, of shape (n, K)."""
        check_is_fitted(self, "scores_")
        return self._probabilities(self.estimator_, checked_rows(self, X, reset=False))

    @said_once()
    def predict_set(self, X: Any, coverage: float | None = None, *, groups: Any = None) -> Mask:
        """Which classes belong to the set of each row, of shape (n, K) in the order of `classes_`.

        Parameters
        ----------
        X : rows
        coverage : float, optional
            Default: that of the constructor. Sets grow with it.
        groups : array-like of shape (n,)
            Of the new rows, if the model was calibrated by groups.
        """
        check_is_fitted(self, "scores_")
        table, asked = checked_rows(self, X, reset=False), self._asked(coverage)
        n_rows, n_classes = n_rows_of(table), len(self.classes_)
        draws = stream(self._root(), "scores of new rows").random(n_rows)
        members = np.empty((n_rows, n_classes), bool)
        ratios = self._class_ratios()
        for rows, counted, what in self._by_group(n_rows, groups):
            weight = self.calibration_weight_ * counted * ratios[self.codes_]
            # One set of weights for each class, or one for all.
            of_class = [weight * (self.codes_ == k) for k in range(n_classes)]
            sums = self._weight_below(
                rows_of(table, rows), draws[rows], of_class if self.by_class else [weight]
            )
            for k, label in enumerate(self.classes_.tolist()):
                own, whose = weight, what
                if self.by_class:
                    own, whose = of_class[k], f"{what} of class {label!r}"
                if self.by_class or k == ratios.argmax():
                    # In units of the class itself, so that the numbers are those of rows.
                    self._warn_if_few(own / ratios[k], asked, whose, _EVERYTHING)
                members[rows, k] = sums[:, k] < reach(own, asked, float(ratios[k]))
        return members

    # Steps

    def _certificate(self, seconds: float) -> Certificate:
        taxonomy, fault = self.calibration_groups_, ""
        if self.by_class:
            taxonomy = taxonomy * len(self.classes_) + self.codes_
        elif self.target_priors is not None:
            fault = "the shares of the classes in the fit are estimates"
        elif self.method == "cross" and not isinstance(self.cv, KFold):
            # The class of a new row would have a say in which fold it falls into.
            fault = "folds have equal shares of the classes"
        return self._certified(self.column_, taxonomy, fault, seconds)

    def _refuse_single_rows(self, training: TrainingRows) -> None:
        counts = np.bincount(training.target)
        if counts.min() < 2:
            label = training.classes.tolist()[int(counts.argmin())]
            raise InputError(
                f"Class {label!r} has 1 row, but a class needs one to learn from and one to "
                "calibrate with. Pass more rows of it, or leave it out."
            )

    def _calibrated_models(self, training: TrainingRows) -> FoldModels:
        """Sets `estimator_`; models and the rows they have not seen."""
        labels = training.labels
        if self.method == "split":
            split = self._split_model(training, labels)
            (self.estimator_,) = split.models
            return split
        self.estimator_ = self._whole_model(training, labels)
        return self._fold_models(training, labels, labels)

    def _probabilities(self, model: Any, table: Any) -> Floats:
        """Probabilities of all classes; 0 for those that the model has not met."""
        probabilities = np.asarray(model.predict_proba(table), np.float64)
        return align_classes(probabilities, model.classes_, self.classes_)

    def _class_ratios(self) -> Floats:
        """What a row of each class counts: its share among new rows over that in the fit."""
        given, labels = self.target_priors, self.classes_.tolist()
        if given is None:
            return np.ones(len(labels))
        if isinstance(given, Mapping):
            if set(given) != set(labels):
                raise InputError(
                    f"target_priors names the classes {sorted(map(str, given))}, but those of y "
                    f"are {labels}. Give a share for each."
                )
            given = [given[label] for label in labels]
        shares = np.asarray(given, np.float64)
        right = shares.shape == (len(labels),) and (shares > 0).all()
        if not right or not np.isclose(shares.sum(), 1.0, atol=1e-6):
            raise InputError(
                f"target_priors are {len(labels)} shares above 0 that add up to 1, got "
                f"{self.target_priors!r}."
            )
        return np.asarray(shares / self.class_prior_)

    def _weight_below(self, table: Any, draws: Floats, weights: list[Floats]) -> Floats:
        """Weight of the calibration rows less strange than each class, of shape (m, K).

        By the weights of each class, or by those of all.
        """
        score, K = class_score(self.conformity_score), len(self.classes_)
        sums = np.zeros((len(draws), K))
        for number, model in enumerate(self.models_):
            check_cancelled()
            candidates = score(self._probabilities(model, table), draws)
            rows = np.flatnonzero(self.column_ == number)
            rows = rows[np.argsort(self.scores_[rows], kind="stable")]
            known = self.scores_[rows]
            places = np.searchsorted(known, candidates, "left")
            for k in range(K):
                weight = weights[k if len(weights) > 1 else 0][rows]
                running = np.concatenate([[0.0], np.cumsum(weight)])
                sums[:, k] += running[places[:, k]]
        return sums

    # What others ask of a model

    def _check_state(self) -> None:
        super()._check_state()
        n, K = len(self.calibration_weight_), len(self.classes_)
        if not self.scores_.shape == self.codes_.shape == self.column_.shape == (n,):
            raise ModelFileError(f"The scores of {n} calibration rows are damaged.")
        inside = self.codes_.min() >= 0 and self.codes_.max() < K
        inside &= self.column_.min() >= 0 and self.column_.max() < len(self.models_)
        if not inside or not np.isfinite(self.scores_).all() or len(self.class_prior_) != K:
            raise ModelFileError("A calibration row has an unknown class, model or score.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.learner)
        tags.classifier_tags.multi_class = inner.classifier_tags is None or (
            inner.classifier_tags.multi_class
        )
        return tags
