"""Stacking: a learner that learns how to combine the others.

    z_i = (h_1(x_i), ..., h_M(x_i))        each h_m fitted without the fold of row i
    H   = final learner fitted to (z_i, y_i)
    x  -> H(h_1(x), ..., h_M(x))           each h_m fitted to all rows

What members say about their own training rows is too good, and would teach the final learner to
trust whoever overfits; cross-fitted predictions (`core.learners.cross_fitting`) are what they
will say about new rows. All members are cross-fitted on the same folds. For members whose
statistics add up, the folds cost no more than one fit.

Unless one is given, the final learner of classes is a Gaussian classifier with one covariance whose
parameters are integrated out (linear discriminant analysis that stays calm where probabilities are
collinear, constant or few), and that of numbers is ridge regression with a penalty chosen by exact
leave-one-out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metadata_routing import _routing_enabled
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import DecisionMixin
from novum.core.errors import ModelFileError
from novum.core.learners import fitted, parameter
from novum.core.tables import TrainingRows, said_once
from novum.ensemble.stacking_model import Stacking, final_has
from novum.numerics import Array, Floats


class StackingClassifier(DecisionMixin, ClassifierMixin, Stacking):
    """A classifier fitted to the cross-fitted predictions of others.

    Parameters
    ----------
    estimators : list of (name, estimator)
        Members: classifiers, or regressors of the class codes. `set_params(name="drop")` leaves
        one out.
    final_estimator : classifier, optional
        `LogisticRegression()` by default.
    cv : int, splitter, iterable of (train, test) or "prefit", optional
        Folds of the cross-fitting; five with equal shares of the classes by default. "prefit"
        takes the members as they are, and the final learner sees what they say of rows that,
        for its sake, they should not have been trained on.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}
        What members are asked; "auto" the first of these that they have.
    n_jobs : int, optional
        Members, then folds, at once. The bits do not depend on it.
    passthrough : bool
        Whether the final learner sees the table too, behind the predictions. A frame with columns
        other than numbers stays a frame, which the final learner must read.
    verbose : int
        Shows a bar on a terminal.

    Attributes
    ----------
    estimators_ : list of fitted members
        They know the classes by their codes 0, 1, ... into `classes_`, unless `cv="prefit"`.
    named_estimators_ : Bunch
    final_estimator_ : classifier
    stack_method_ : list of str
    classes_ : array of labels in sorted order; a list of such for several labels
    class_prior_ : array (n_classes,)
        Share of the weight that each class has in training.
    n_features_in_, feature_names_in_, certificate_

    Notes
    -----
    Of probabilities of two classes the final learner sees the second only, and the default one
    takes probabilities closer to 0 or 1 than 1.5e-8 for 0 or 1. A class that some fold
    does not train on has probability 0 there, with an `AbsentClassWarning`. Targets may be an
    indicator of several labels if members and final learner take them.

    References
    ----------
    D. H. Wolpert (1992). Stacked generalization. Neural Networks 5, 241-259.

    Examples
    --------
    >>> from novum.bayes import GaussianNB, QuadraticDiscriminantAnalysis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    >>> members = [("nb", GaussianNB()), ("qda", QuadraticDiscriminantAnalysis())]
    >>> model = StackingClassifier(members).fit(X, y)
    >>> model.predict([[1.0, 1.0]]).tolist(), model.transform(X).shape
    (['up'], (60, 2))
    """

    classes_: Any = fitted()
    class_prior_: Floats = fitted()

    stack_method: str = parameter(
        {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
    )

    @final_has("predict")
    @said_once()
    def predict(self, X: Any, **predict_params: Any) -> Array:
        """The class of every row; arguments are passed on to the final learner."""
        check_is_fitted(self)
        final, more = self.final_estimator_, self._predict_params(predict_params)
        predicted = np.asarray(final.predict(self._seen_by_final(X), **more))
        if isinstance(self.classes_, list):
            pairs = zip(self.classes_, predicted.T.astype(np.intp), strict=True)
            return np.stack([labels[codes] for labels, codes in pairs], axis=1)
        return self.classes_[predicted.astype(np.intp)]

    @final_has("predict_proba")
    @said_once()
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes (n, n_classes); of several labels that each is there."""
        check_is_fitted(self)
        probabilities = self.final_estimator_.predict_proba(self._seen_by_final(X))
        if isinstance(probabilities, list):
            return np.stack([np.asarray(part)[:, -1] for part in probabilities], axis=1)
        return np.asarray(probabilities)

    @final_has("decision_function")
    @said_once()
    def decision_function(self, X: Any) -> Floats:
        """Scores by the final learner."""
        check_is_fitted(self)
        return np.asarray(self.final_estimator_.decision_function(self._seen_by_final(X)))

    # What the family asks

    def _final(self) -> Any:
        if self.final_estimator is not None:
            return self.final_estimator
        from novum.linear import LogisticRegression

        final = LogisticRegression()
        return final.set_fit_request(sample_weight=True) if _routing_enabled() else final

    def _read(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        training = TrainingRows.of(self, X, y, sample_weight, target="labels")
        self.classes_ = training.classes
        self.__dict__.pop("class_prior_", None)
        if isinstance(self.classes_, np.ndarray):
            self.class_prior_ = training.class_shares
        return training

    def _method(self) -> str:
        return self.stack_method

    def _member_labels(self) -> Any:
        if isinstance(self.classes_, list) or self._is_prefit():
            return self.classes_
        return np.arange(len(self.classes_))

    def _check_state(self) -> None:
        super()._check_state()
        if isinstance(self.classes_, np.ndarray) and (
            self.class_prior_.shape != self.classes_.shape
            or len(self.final_estimator_.classes_) != len(self.classes_)
        ):
            raise ModelFileError("The model's final learner does not belong to its classes.")


class StackingRegressor(RegressorMixin, Stacking):
    """A regressor fitted to the cross-fitted predictions of others.

    Parameters
    ----------
    estimators : list of (name, regressor)
        Members. `set_params(name="drop")` leaves one out.
    final_estimator : regressor, optional
        `RidgeCV()` of `novum.linear` by default.
    cv, n_jobs, passthrough, verbose
        As for `StackingClassifier`; five folds in the order of the rows by default.

    Attributes
    ----------
    estimators_, named_estimators_, final_estimator_, stack_method_, n_features_in_, \
feature_names_in_, certificate_

    Examples
    --------
    >>> from novum.linear import LinearRegression, Ridge
    >>> members = [("ols", LinearRegression()), ("ridge", Ridge())]
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> model = StackingRegressor(members, final_estimator=LinearRegression()).fit(X, y)
    >>> model.predict([[6.0]]).round(6).tolist()
    [6.0]
    """

    @final_has("predict")
    @said_once()
    def predict(self, X: Any, **predict_params: Any) -> Any:
        """What the final learner predicts; arguments are passed on to it."""
        check_is_fitted(self)
        more = self._predict_params(predict_params)
        return self.final_estimator_.predict(self._seen_by_final(X), **more)

    # What the family asks

    def _final(self) -> Any:
        if self.final_estimator is not None:
            return self.final_estimator
        from novum.linear import RidgeCV

        return RidgeCV().set_fit_request(sample_weight=True) if _routing_enabled() else RidgeCV()

    def _read(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        return TrainingRows.of(self, X, y, sample_weight, target="one number")
