"""Bagging: many fits of one learner, each to rows drawn anew, and their mean.

    h(x) = 1/M sum_m h_m(x),        h_m fitted to a bootstrap sample of the rows

The mean has the bias of one member and, if the members correlate by r, a variance of
r s^2 + (1 - r) s^2 / M in place of s^2: what bagging gains is the part of the variance that differs
from sample to sample, so it suits learners that change much when a few rows do.

A member has not seen about 37 % of the rows. Asking for each row only the members that have not
seen it gives the out-of-bag prediction, an honest estimate that needs no rows held back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import align_classes, fitted
from novum.core.tables import TrainingRows, checked_rows
from novum.ensemble.bagging_model import Bagging
from novum.ensemble.combining import log_mean, weighted_mean
from novum.ensemble.members import member_codes
from novum.numerics import Array, Floats


def _has_scores(model: Any) -> bool:
    return hasattr(model._base(), "decision_function")


class BaggingClassifier(DecisionMixin, ClassifierMixin, Bagging):
    """Mean of the probabilities (or votes) of classifiers fitted to resampled rows.

    Parameters
    ----------
    estimator : classifier, optional
        Any that follows scikit-learn; Novum's decision tree by default.
    n_estimators : int
        Members.
    max_samples : None, int or float
        Rows drawn for each: as many as there are, that number, or that fraction of the rows or,
        with weights, of the total weight.
    max_features : int or float
        Columns drawn for each.
    bootstrap, bootstrap_features : bool
        Whether rows, and columns, are drawn with replacement.
    oob_score : bool
        Whether to compute out-of-bag predictions and their score; needs `bootstrap`.
    warm_start : bool
        Whether `fit` adds members to those of the last fit. The members are the same as if all
        had been fitted at once.
    n_jobs : int, optional
        Members at once. The bits do not depend on it.
    random_state : None, int, Generator, RandomState or SeedSequence
        Member m has a stream of its own: the first 10 members of 20 are those of 10.
    verbose : int
        Shows a bar on a terminal.

    Attributes
    ----------
    estimator_ : the base learner, not fitted
    estimators_ : list of fitted classifiers
        They know the classes by their codes 0, 1, ... into `classes_`. A draw that has one class
        only gives a member that always names it.
    estimators_samples_, estimators_features_ : lists of int arrays
        Rows and columns drawn for each member.
    classes_, n_classes_
    class_prior_ : array (n_classes,)
        Share of the weight that each class has in training.
    oob_score_ : float
        Weighted accuracy of the out-of-bag predictions.
    oob_decision_function_ : array (n_rows, n_classes)
        Mean probabilities by the members that have not seen the row; NaN for rows that all have
        seen, and for rows of weight zero.
    n_features_in_, feature_names_in_, certificate_

    Notes
    -----
    Weights of rows act as in scikit-learn 1.7 and later: with replacement a row is drawn in
    proportion to its weight, and the members count the draws. Without replacement rows are drawn
    alike, and their weights passed on to the members, which must take them. A row of weight zero is
    absent. A member whose rows lack a class gives it probability 0. Frames reach the members as
    frames. A tie goes to the lowest class label.

    References
    ----------
    L. Breiman (1996). Bagging predictors. Machine Learning 24, 123-140.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> X, y = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]] * 3, list("aaabbb") * 3
    >>> model = BaggingClassifier(GaussianNB(), 20, oob_score=True, random_state=0).fit(X, y)
    >>> model.predict([[3.0]]).tolist(), model.oob_score_
    (['a'], 1.0)
    """

    classes_: Array = fitted()
    n_classes_: int = fitted()
    class_prior_: Floats = fitted()

    def predict(self, X: Any, **params: Any) -> Array:
        """The class of highest mean probability, or of most votes; of tied ones the first."""
        check_is_fitted(self)
        asked = self._asked_params("predict", params)
        return self.classes_[self._mean_probability(X, asked).argmax(axis=1)]

    def predict_proba(self, X: Any, **params: Any) -> Floats:
        """Mean of the members' probabilities, or shares of their votes (n, n_classes)."""
        check_is_fitted(self)
        return self._mean_probability(X, self._asked_params("predict_proba", params))

    def predict_log_proba(self, X: Any, **params: Any) -> Floats:
        """Logarithm of `predict_proba`, also where the members' probabilities underflow."""
        check_is_fitted(self)
        asked = self._asked_params("predict_log_proba", params)
        if not all(hasattr(member, "predict_log_proba") for member in self.estimators_):
            with np.errstate(divide="ignore"):
                return np.log(self._mean_probability(X, asked))
        table, more = checked_rows(self, X, reset=False), asked.get("predict_log_proba", {})
        return log_mean(
            lambda m: self._by_class(table, m, "predict_log_proba", more),
            len(self.estimators_),
            self.n_jobs,
        )

    @available_if(_has_scores)
    def decision_function(self, X: Any, **params: Any) -> Floats:
        """Mean of the members' scores; to a member that does not know a class it scores lowest."""
        check_is_fitted(self)
        more = self._asked_params("decision_function", params).get("decision_function", {})
        table = checked_rows(self, X, reset=False)
        return weighted_mean(
            lambda m: self._by_class(table, m, "decision_function", more),
            len(self.estimators_),
            n_jobs=self.n_jobs,
        )

    # What the family asks

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from novum.trees import DecisionTreeClassifier

        return DecisionTreeClassifier()

    def _read(self, X: Any, y: Any, sample_weight: Any, *, grows: bool) -> TrainingRows:
        training = TrainingRows.of(self, X, y, sample_weight, target="classes", reset=not grows)
        assert training.classes is not None
        if grows and not np.array_equal(training.classes, self.classes_):
            raise InputError(
                f"warm_start adds members for the classes {self.classes_.tolist()}, but y has "
                f"{training.classes.tolist()}. Set warm_start=False."
            )
        self.classes_, self.n_classes_ = training.classes, len(training.classes)
        self.class_prior_ = training.class_shares
        return training

    def _by_class(self, table: Any, m: int, method: str, more: Any) -> Floats:
        member = self.estimators_[m]
        probabilities = np.asarray(getattr(member, method)(self._seen_by(table, m), **more))
        return align_classes(probabilities, member.classes_, np.arange(self.n_classes_), method)

    def _mean_probability(self, X: Any, asked: Any) -> Floats:
        table = checked_rows(self, X, reset=False)
        return weighted_mean(
            lambda m: self._probability(self._seen_by(table, m), m, asked),
            len(self.estimators_),
            n_jobs=self.n_jobs,
        )

    def _probability(self, seen: Any, m: int, asked: Any) -> Floats:
        """Probabilities by one member of rows with its columns, or 1 for the class it names."""
        member, codes = self.estimators_[m], np.arange(self.n_classes_)
        if hasattr(member, "predict_proba"):
            probabilities = np.asarray(member.predict_proba(seen, **asked.get("predict_proba", {})))
            return align_classes(probabilities, member.classes_, codes)
        return np.eye(len(codes))[member_codes(member, seen, codes, **asked.get("predict", {}))]

    def _judge_out_of_bag(self, training: TrainingRows) -> None:
        sums, asked = self._out_of_bag(training, lambda seen, m: self._probability(seen, m, {}))
        if sums.ndim == 1:
            sums = np.zeros((training.n_given, self.n_classes_))
        with np.errstate(invalid="ignore"):
            self.oob_decision_function_ = np.where(
                asked[:, None] > 0, sums / asked[:, None], np.nan
            )
        kept = np.arange(training.n_given) if training.kept is None else training.kept
        known = asked[kept] > 0
        weight = None if training.weight is None else training.weight[known]
        self.oob_score_ = np.nan
        if known.any():
            named = sums[kept[known]].argmax(axis=1)
            self.oob_score_ = float(
                accuracy_score(training.target[known], named, sample_weight=weight)
            )

    def _check_state(self) -> None:
        super()._check_state()
        if self.class_prior_.shape != self.classes_.shape or self.n_classes_ != len(self.classes_):
            raise ModelFileError("The model's priors do not belong to its classes.")


class BaggingRegressor(RegressorMixin, Bagging):
    """Mean of regressors fitted to resampled rows.

    Parameters and attributes are those of `BaggingClassifier`, but for those of classes; targets
    may have several columns.

    Parameters
    ----------
    estimator : regressor, optional
        Any that follows scikit-learn; Novum's regression tree by default.
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features, oob_score, warm_start, \
n_jobs, random_state, verbose
        As for `BaggingClassifier`.

    Attributes
    ----------
    oob_prediction_ : array (n_rows,) or (n_rows, n_targets)
        Mean of the members that have not seen the row; NaN for rows that all have seen, and for
        rows of weight zero.
    oob_score_ : float
        Weighted R^2 of the out-of-bag predictions.
    estimator_, estimators_, estimators_samples_, estimators_features_, n_features_in_, \
feature_names_in_, certificate_

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 5.0, 7.0, 9.0]
    >>> model = BaggingRegressor(LinearRegression(), random_state=0).fit(X, y)
    >>> model.predict([[5.0]]).round(6).tolist()
    [11.0]
    """

    def predict(self, X: Any, **params: Any) -> Floats:
        """Mean of the members' predictions."""
        check_is_fitted(self)
        more = self._asked_params("predict", params).get("predict", {})
        table = checked_rows(self, X, reset=False)
        return weighted_mean(
            lambda m: np.asarray(self.estimators_[m].predict(self._seen_by(table, m), **more)),
            len(self.estimators_),
            n_jobs=self.n_jobs,
        )

    # What the family asks

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from novum.trees import DecisionTreeRegressor

        return DecisionTreeRegressor()

    def _read(self, X: Any, y: Any, sample_weight: Any, *, grows: bool) -> TrainingRows:
        return TrainingRows.of(self, X, y, sample_weight, target="numbers", reset=not grows)

    def _judge_out_of_bag(self, training: TrainingRows) -> None:
        sums, asked = self._out_of_bag(
            training, lambda seen, m: np.asarray(self.estimators_[m].predict(seen))
        )
        if sums.ndim < training.target.ndim:
            sums = np.zeros((training.n_given, *training.target.shape[1:]))
        many = asked.reshape(-1, *[1] * (sums.ndim - 1))
        with np.errstate(invalid="ignore"):
            self.oob_prediction_ = np.where(many > 0, sums / many, np.nan)
        kept = np.arange(training.n_given) if training.kept is None else training.kept
        known = asked[kept] > 0
        weight = None if training.weight is None else training.weight[known]
        self.oob_score_ = np.nan
        if np.count_nonzero(known) > 1:
            predicted = self.oob_prediction_[kept[known]]
            self.oob_score_ = float(
                r2_score(training.target[known], predicted, sample_weight=weight)
            )
