"""Each class against the rest, for any binary learner; with many labels, each label for itself.

    f_k(x) : margin of member k, which learned "is it k?" from all rows
    class  : argmax_k f_k(x), the first of equal ones
    P(k|x) : P_k(x) / sum_l P_l(x), from the members' own probabilities

Of two classes one member is enough. With targets of many labels (0/1 indicators, sets) the labels
are predicted where their margins are positive, and probabilities are not normalized: a row may have
any number of labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.learners import (
    add_one_vs_rest,
    fit_one_vs_rest,
    for_members,
    log_probability,
    margin,
    pair_probabilities,
    parameter,
    probability,
    unfitted_members,
)
from novum.core.tables import LabelTarget, as_rows
from novum.ensemble.multiclass import Params, ReductionClassifier, members_have
from novum.numerics import Floats, normalize_one_vs_rest


class OneVsRestClassifier(MultiOutputMixin, ReductionClassifier):
    """One binary learner for each class, which tells it from all others.

    Parameters
    ----------
    estimator : classifier or regressor
        Any learner of two classes. Its margin is its `decision_function`, else the log-odds of its
        probabilities; a regressor learns the numbers 0 and 1 and its margin is what it predicts
        above one half.
    n_jobs : int, optional
        Members fitted, and asked, at once; the results do not depend on it.
    verbose : int, default=0
        joblib's messages.

    Attributes
    ----------
    estimators_ : list of n_classes members, or one for two classes
    classes_ : array of shape (n_classes,)
        Labels in sorted order; of an indicator the numbers of its columns.
    class_count_ : array of shape (n_classes,)
        Total weight of the rows of each.
    class_prior_ : array of shape (n_classes,)
        Shares of the classes; absent for targets of many labels.
    multilabel_ : bool
    n_classes_ : int
    label_binarizer_ : LabelBinarizer
    certificate_ : Certificate
        The weakest verdict of the members.
    n_features_in_, feature_names_in_

    Notes
    -----
    Tables reach the members as they are, with names, kinds and missing cells. A row of weight zero
    is absent. A label that no row or every row has gets a constant member, with a warning. Sums of
    probabilities that are too small for a float are normalized by their logarithms; where all
    members say zero, every class gets the same probability. `at(point)` moves a single-label model
    to other priors and costs.

    References
    ----------
    Rifkin and Klautau, In defense of one-vs-all classification, Journal of Machine Learning
    Research 5, 2004.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> from novum.ensemble.one_vs_rest import OneVsRestClassifier
    >>> X = [[0.0], [0.2], [2.0], [2.3], [5.0], [5.2]]
    >>> model = OneVsRestClassifier(GaussianNB()).fit(X, ["low", "low", "mid", "mid", "top", "top"])
    >>> model.predict([[0.1], [5.1]]).tolist()
    ['low', 'top']
    >>> topics = [{"art"}, {"art"}, {"art", "law"}, {"art", "law"}, {"law"}, set()]
    >>> found = OneVsRestClassifier(GaussianNB()).fit(X, topics).predict([[0.1], [2.1]])
    >>> [sorted(row) for row in found]
    [['art'], ['art', 'law']]
    """

    verbose: int = parameter("verbose", default=0)

    def _fit_members(self, X: Any, labels: LabelTarget, params: Params) -> list[Any]:
        return fit_one_vs_rest(
            self.estimator, X, labels, params, n_jobs=self.n_jobs, verbose=self.verbose
        )

    def _add_rows(self, X: Any, labels: LabelTarget, params: Params) -> list[Any]:
        n_members = self._n_members(len(labels.classes), labels.is_multilabel)
        members = getattr(self, "estimators_", None) or unfitted_members(self.estimator, n_members)
        return add_one_vs_rest(members, X, labels, params, self.n_jobs)

    def _n_members(self, n_labels: int, multilabel: bool) -> int:
        return 1 if n_labels == 2 and not multilabel else n_labels

    # Predictions

    def predict(self, X: Any) -> Any:
        """The class of largest margin, the first of equal ones; with many labels all above zero.

        Returns
        -------
        array of shape (n_rows,), or what the training target was: an indicator (n_rows, n_classes)
        or an array of frozensets
        """
        margins = self.margins(X)
        if self.multilabel_:
            return self._labels_of(margins)
        if margins.shape[1] == 1:
            return self.classes_[(margins[:, 0] > 0).astype(np.intp)]
        return self.classes_[margins.argmax(axis=1)]

    def margins(self, X: Any) -> Floats:
        """Functional margins of all members, of shape (n_rows, n_members).

        Positive where a member says yes: its `decision_function`, else the log-odds of its
        probabilities, else what a regressor predicts above one half.
        """
        check_is_fitted(self)
        return for_members(margin, self.estimators_, as_rows(X), self.n_jobs)

    @available_if(members_have("decision_function"))
    def decision_function(self, X: Any) -> Floats:
        """Margins of the members, of shape (n_rows, n_classes), or (n_rows,) for two classes.

        Where the binary learner has a `decision_function`; `margins` are always there.
        """
        margins = self.margins(X)
        return margins[:, 0] if margins.shape[1] == 1 and not self.multilabel_ else margins

    @available_if(members_have("predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, or of each label for itself, of shape (n_rows, n_classes).

        Those of classes sum to one; those of labels are the members' own.
        """
        check_is_fitted(self)
        X = as_rows(X)
        if self.multilabel_:
            return for_members(probability, self.estimators_, X, self.n_jobs)
        if len(self.estimators_) == 1:
            return pair_probabilities(self.estimators_[0], X)
        return normalize_one_vs_rest(for_members(log_probability, self.estimators_, X, self.n_jobs))

    @property
    def label_binarizer_(self) -> LabelBinarizer:
        """scikit-learn's translation between labels and 0/1 columns."""
        binarizer = LabelBinarizer(sparse_output=True)
        if self.multilabel_:
            return binarizer.fit(np.eye(len(self.classes_), dtype=int))
        return binarizer.fit(self.classes_)
