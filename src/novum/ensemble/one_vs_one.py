"""Every pair of classes by a binary learner of its own, and what the pairs say together.

    f_ij(x) : margin of pair (i, j) for j, learned from the rows of i and j only
    class   : most votes; of equally many the largest sum of margins; then the first class
    P(.|x)  : the probabilities that fit those of all pairs best (pairwise coupling)

With targets of many labels (0/1 indicators, sets) each label has two classes, with and without, so
that all its pairs are one: a member for each label, as in `OneVsRestClassifier`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import MultiOutputMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import (
    add_all_pairs,
    add_one_vs_rest,
    fit_all_pairs,
    fit_one_vs_rest,
    fitted,
    for_members,
    margin,
    member_tables,
    pair_probabilities,
    parameter,
    probability,
    unfitted_members,
)
from novum.core.tables import LabelTarget, as_rows, said_once
from novum.ensemble.multiclass import Params, ReductionClassifier, members_have
from novum.numerics import (
    Coupling,
    Floats,
    Positions,
    couple_least_squares,
    couple_likelihood,
    pair_indices,
    vote_scores,
)


def _has_scores(model: Any) -> bool:
    """Votes are always there; labels of their own have scores if the binary learner has."""
    if getattr(model, "_form", "classes") == "classes":
        return True
    return members_have("decision_function")(model)


class OneVsOneClassifier(MultiOutputMixin, ReductionClassifier):
    """One binary learner for each pair of classes.

    Parameters
    ----------
    estimator : classifier or regressor
        Any learner of two classes. Its margin is its `decision_function`, else the log-odds of its
        probabilities; a regressor learns the numbers 0 and 1 and its margin is what it predicts
        above one half.
    n_jobs : int, optional
        Members fitted, and asked, at once; the results do not depend on it.
    coupling : {"least_squares", "likelihood"}, default="least_squares"
        How `predict_proba` joins the pairs: by Wu, Lin and Weng, or by Hastie and Tibshirani with
        the weights of the classes.

    Attributes
    ----------
    estimators_ : list of n_classes (n_classes - 1) / 2 members
        In the order (0, 1), (0, 2), ..., (1, 2), ...; each says 1 for the second class.
    classes_ : array of shape (n_classes,)
        Labels in sorted order; of an indicator the numbers of its columns.
    class_count_ : array of shape (n_classes,)
        Total weight of the rows of each.
    class_prior_ : array of shape (n_classes,)
        Shares of the classes; absent for targets of many labels.
    pairwise_indices_ : list of arrays, or None
        Rows of each member, for learners on tables of rows against rows (tag `pairwise`).
    multilabel_ : bool
    n_classes_ : int
    certificate_ : Certificate
        The weakest verdict of the members. That of a coupling belongs to a prediction; see
        `couple`.
    n_features_in_, feature_names_in_

    Notes
    -----
    The class of most votes need not be the one of largest coupled probability; both are stated,
    and neither is changed to fit the other. Tables reach the members as they are. A row of weight
    zero is absent. `at(point)` moves a single-label model to other priors and costs.

    References
    ----------
    Wu, Lin and Weng, Probability estimates for multi-class classification by pairwise coupling,
    Journal of Machine Learning Research 5, 2004.
    Hastie and Tibshirani, Classification by pairwise coupling, Annals of Statistics 26, 1998.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> from novum.ensemble.one_vs_one import OneVsOneClassifier
    >>> X = [[0.0], [0.2], [2.0], [2.3], [5.0], [5.2]]
    >>> model = OneVsOneClassifier(GaussianNB()).fit(X, ["low", "low", "mid", "mid", "top", "top"])
    >>> model.predict([[0.1], [5.1]]).tolist()
    ['low', 'top']
    >>> (model.pairwise_margins([[0.1]]) < 0).tolist()
    [[True, True, True]]
    """

    coupling: str = parameter({"least_squares", "likelihood"}, default="least_squares")

    pairwise_indices_: list[Positions] | None = fitted()

    def _fit_members(self, X: Any, labels: LabelTarget, params: Params) -> list[Any]:
        self.pairwise_indices_ = None
        if labels.is_multilabel:
            return fit_one_vs_rest(self.estimator, X, labels, params, n_jobs=self.n_jobs)
        members, rows = fit_all_pairs(self.estimator, X, labels, params, n_jobs=self.n_jobs)
        if get_tags(self.estimator).input_tags.pairwise:
            self.pairwise_indices_ = rows
        return members

    def _add_rows(self, X: Any, labels: LabelTarget, params: Params) -> list[Any]:
        self.pairwise_indices_ = None
        n_members = self._n_members(len(labels.classes), labels.is_multilabel)
        members = getattr(self, "estimators_", None) or unfitted_members(self.estimator, n_members)
        add = add_one_vs_rest if labels.is_multilabel else add_all_pairs
        return add(members, X, labels, params, self.n_jobs)

    def _n_members(self, n_labels: int, multilabel: bool) -> int:
        return n_labels if multilabel else n_labels * (n_labels - 1) // 2

    # Predictions

    def pairwise_margins(self, X: Any) -> Floats:
        """Functional margins of all members, of shape (n_rows, n_members).

        Positive where the second class of the pair is preferred; with many labels, where the row
        has the label.
        """
        return self._answers(margin, X)

    @available_if(_has_scores)
    def decision_function(self, X: Any) -> Floats:
        """Votes of the pairs, with margins that break ties, of shape (n_rows, n_classes).

        A class has its number of votes plus a term between -1/3 and 1/3 that grows with the sum of
        the margins for it. Of two classes the score of the second, of shape (n_rows,); with many
        labels their margins, where the binary learner has a `decision_function`.
        """
        margins = self.pairwise_margins(X)
        if self.multilabel_:
            return margins
        scores = vote_scores(margins)
        return scores[:, 1] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> Any:
        """The class of most votes; of equally many that of largest margins, then the first."""
        margins = self.pairwise_margins(X)
        if self.multilabel_:
            return self._labels_of(margins)
        return self.classes_[vote_scores(margins).argmax(axis=1)]

    @available_if(members_have("predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Coupled probabilities of the classes, or the members' own of each label.

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        check_is_fitted(self)
        if self.multilabel_:
            return self._answers(probability, X)
        return self.couple(X).probabilities

    @available_if(members_have("predict_proba"))
    def couple(self, X: Any) -> Coupling:
        """Coupled probabilities with the objective, residual and gap of every row's problem."""
        check_is_fitted(self)
        if self.multilabel_:
            raise InputError("Labels of their own have no pairs to couple; ask predict_proba.")
        both = self._answers(pair_probabilities, X)
        first, second = both[:, 0::2], both[:, 1::2]
        if self.coupling == "least_squares":
            return couple_least_squares(second, first)
        i, j = pair_indices(len(self.classes_))
        return couple_likelihood(second, self.class_count_[i] + self.class_count_[j], first)

    def _answers(self, answer: Any, X: Any) -> Floats:
        check_is_fitted(self)
        X = as_rows(X)
        rows: Sequence[Any] | None = self.pairwise_indices_
        tables = X if rows is None else member_tables([X[:, own] for own in rows])
        try:
            # A pair has not met the levels of other classes, which is no news to anybody.
            with said_once(by_all=len(self.estimators_)):
                return for_members(answer, self.estimators_, tables, self.n_jobs)
        except NotFittedError as error:
            raise NotFittedError(
                "Some pairs of classes have not met any row yet. Call partial_fit with rows of "
                f"their classes first; rows were seen of {self._seen()}."
            ) from error

    def _seen(self) -> list[Any]:
        return list(self.classes_[self.class_count_ > 0].tolist())
