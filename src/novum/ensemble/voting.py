"""Voting: different learners, each trained on all rows, and one answer.

    hard    argmax_k  sum_m w_m [h_m(x) = k]                 ties go to the lowest class label
    soft    argmax_k  sum_m w_m p_m(k | x) / sum_m w_m
    mean    sum_m w_m h_m(x) / sum_m w_m                     for numbers

There is nothing to optimize beyond the members (`novum.ensemble.combining` says why it helps), so a
fit is as good as the weakest of them, and deterministic if they are.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import align_classes, fitted, parameter
from novum.core.runtime import fit_context, fitting
from novum.core.tables import TrainingRows, checked_rows, said_once
from novum.ensemble.certification import certify_members
from novum.ensemble.combining import checked_votes, vote_shares, weighted_mean, winners
from novum.ensemble.members import NamedMembers, member_codes
from novum.numerics import Array, Floats


def _is_soft(model: Any) -> bool:
    if model.voting != "soft":
        raise AttributeError(
            f"predict_proba is not available when voting={model.voting!r}; a majority has no "
            "probabilities. Use voting='soft'."
        )
    return True


class Voting(TransformerMixin, NamedMembers):
    """Shared by the two; see `VotingClassifier`."""

    weights: ArrayLike | None = parameter("array-like", default=None)
    verbose = False

    _votes: Floats | None = fitted()

    def _fit_all(self, training: TrainingRows, params: Any) -> None:
        active = self._checked_members()
        votes = checked_votes(self.weights, [name for name, _ in self.estimators])
        routed = self._fit_params(training, params)
        self._store_members(self._fit_members(training, active, routed))
        kept = np.array([kept for _, kept in self._slots])
        self._votes = None if votes is None else votes[kept]
        if self._votes is not None and not self._votes.any():
            raise InputError("All weights are zero. Give at least one member a positive weight.")

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> Any:
        """`fit(X, y).transform(X)`."""
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.fit(X, y, **more, **fit_params).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that `transform` gives: one for each member."""
        check_is_fitted(self, "n_features_in_")
        _check_feature_names_in(self, input_features, generate_names=False)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}_{name}" for name in self._names], object)

    def _check_state(self) -> None:
        super()._check_state()
        if self._votes is not None and self._votes.shape != (len(self.estimators_),):
            raise ModelFileError("The model's votes do not belong to its members.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


class VotingClassifier(DecisionMixin, ClassifierMixin, Voting):
    """Majority, or mean probability, of different classifiers.

    Parameters
    ----------
    estimators : list of (name, classifier)
        Clones are fitted. `set_params(name="drop")` leaves one out.
    voting : {"hard", "soft"}
        Majority of the predicted labels, or highest mean probability.
    weights : array-like of shape (n_classifiers,), optional
        Votes of each member, not negative; one each by default.
    n_jobs : int, optional
        Members fitted at once. The bits do not depend on it.
    flatten_transform : bool
        Whether `transform` of soft voting puts the members side by side.
    verbose : bool
        Shows a bar on a terminal.

    Attributes
    ----------
    estimators_ : list of fitted classifiers
        They know the classes by their codes 0, 1, ... into `classes_`.
    named_estimators_ : Bunch
    classes_ : array of labels in sorted order
    class_prior_ : array (n_classes,)
        Share of the weight that each class has in training.
    le_ : LabelEncoder
    n_features_in_, feature_names_in_, certificate_

    Notes
    -----
    A tie goes to the lowest class label; votes that differ only by rounding are tied. A member that
    does not know some class gives it probability 0. The table reaches members in the container it
    came in, so nominal and missing cells are theirs to read. Rows of weight zero are absent. With
    `voting="soft"` the model can be re-targeted to other priors and costs (`model.at(point)`).

    Examples
    --------
    >>> from novum.bayes import GaussianNB, LinearDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> members = [("nb", GaussianNB()), ("lda", LinearDiscriminantAnalysis())]
    >>> model = VotingClassifier(members, voting="soft").fit(X, list("aaabbb"))
    >>> model.predict([[-0.8, -1]]).tolist(), model.named_estimators_.nb
    (['a'], GaussianNB())
    """

    voting: str = parameter({"hard", "soft"}, default="hard")
    flatten_transform: bool = parameter(default=True)

    classes_: Array = fitted()
    class_prior_: Floats = fitted()

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit a clone of every member to all rows.

        Parameters
        ----------
        X, y
            Rows of any container the members read, and labels.
        sample_weight : array-like of shape (n,), optional
            Passed on to every member, all of which must take weights.
        **fit_params
            For members that request them under scikit-learn's metadata routing.
        """
        with fitting(self) as watch:
            training = TrainingRows.of(self, X, y, sample_weight, target="classes")
            self._fit_all(training, fit_params)
            if self.voting == "soft":
                self._refuse_members_without_probabilities()
            assert training.classes is not None
            self.classes_, self.class_prior_ = training.classes, training.class_shares
            how = "mean probability" if self.voting == "soft" else "majority"
            self.certificate_ = certify_members(
                self.estimators_,
                f"{how} of {len(self.estimators_)} members",
                names=self._names,
                weights=self._votes,
                seconds=watch.seconds,
            )
        return self

    def predict(self, X: Any) -> Array:
        """The class of every row; of tied classes the first."""
        check_is_fitted(self)
        if self.voting == "soft":
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        codes = self._predictions(X)
        shares = vote_shares(codes, len(self.classes_), self._votes)
        return self.classes_[winners(shares, codes.shape[1])]

    @available_if(_is_soft)
    def predict_proba(self, X: Any) -> Floats:
        """Weighted mean of the members' probabilities (n, n_classes)."""
        check_is_fitted(self)
        table = checked_rows(self, X, reset=False)
        return weighted_mean(
            lambda m: self._probabilities(table, m), len(self.estimators_), self._votes, self.n_jobs
        )

    def transform(self, X: Any) -> Array:
        """What every member says.

        Returns
        -------
        array
            Soft voting: probabilities (n, n_members * n_classes), or (n_members, n, n_classes)
            without `flatten_transform`. Hard voting: codes of classes (n, n_members).
        """
        check_is_fitted(self)
        if self.voting == "hard":
            return self._predictions(X)
        table = checked_rows(self, X, reset=False)
        probabilities = [self._probabilities(table, m) for m in range(len(self.estimators_))]
        return np.hstack(probabilities) if self.flatten_transform else np.stack(probabilities)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that `transform` gives."""
        names = super().get_feature_names_out(input_features)
        if self.voting == "hard":
            return names
        if not self.flatten_transform:
            raise InputError(
                "get_feature_names_out is not supported when `voting='soft'` and "
                "`flatten_transform=False`: the result is no table."
            )
        return np.array([f"{name}{k}" for name in names for k in range(len(self.classes_))], object)

    @property
    def le_(self) -> LabelEncoder:
        """The labels as scikit-learn's encoder, whose codes the members know."""
        encoder = LabelEncoder()
        encoder.classes_ = self.classes_
        return encoder

    @said_once()
    def _predictions(self, X: Any) -> Array:
        table, codes = checked_rows(self, X, reset=False), np.arange(len(self.classes_))
        return np.stack([member_codes(m, table, codes) for m in self.estimators_], axis=1)

    def _probabilities(self, table: Any, m: int) -> Floats:
        member = self.estimators_[m]
        probabilities = np.asarray(member.predict_proba(table))
        return align_classes(probabilities, member.classes_, np.arange(len(self.classes_)))

    def _refuse_members_without_probabilities(self) -> None:
        for name, member in zip(self._names, self.estimators_, strict=True):
            if not hasattr(member, "predict_proba"):
                raise InputError(
                    f"voting='soft' needs probabilities, but {name!r} ({type(member).__name__}) "
                    "has no predict_proba. Use voting='hard', or calibrate it."
                )

    def _check_state(self) -> None:
        super()._check_state()
        if self.class_prior_.shape != self.classes_.shape:
            raise ModelFileError("The model's priors do not belong to its classes.")


class VotingRegressor(RegressorMixin, Voting):
    """Mean of different regressors.

    Parameters
    ----------
    estimators : list of (name, regressor)
        Clones are fitted. `set_params(name="drop")` leaves one out.
    weights : array-like of shape (n_regressors,), optional
        Weights in the mean, not negative; equal by default.
    n_jobs : int, optional
        Members fitted at once. The bits do not depend on it.
    verbose : bool
        Shows a bar on a terminal.

    Attributes
    ----------
    estimators_ : list of fitted regressors
    named_estimators_ : Bunch
    n_features_in_, feature_names_in_, certificate_

    Examples
    --------
    >>> from novum.linear import LinearRegression, Ridge
    >>> model = VotingRegressor([("ols", LinearRegression()), ("ridge", Ridge(2.0))])
    >>> model.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).predict([[2.0]]).tolist()
    [1.75]
    """

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit a clone of every member to all rows; arguments as for `VotingClassifier`."""
        with fitting(self) as watch:
            training = TrainingRows.of(self, X, y, sample_weight, target="one number")
            self._fit_all(training, fit_params)
            self.certificate_ = certify_members(
                self.estimators_,
                f"mean of {len(self.estimators_)} members",
                names=self._names,
                weights=self._votes,
                seconds=watch.seconds,
            )
        return self

    def predict(self, X: Any) -> Floats:
        """Weighted mean of the members' predictions."""
        check_is_fitted(self)
        table = checked_rows(self, X, reset=False)
        members = self.estimators_
        return weighted_mean(
            lambda m: np.asarray(members[m].predict(table)), len(members), self._votes, self.n_jobs
        )

    def transform(self, X: Any) -> Floats:
        """What every member predicts (n, n_members)."""
        check_is_fitted(self)
        return self._predictions(X)

    @said_once()
    def _predictions(self, X: Any) -> Array:
        table = checked_rows(self, X, reset=False)
        return np.stack([np.asarray(m.predict(table)) for m in self.estimators_], axis=1)
