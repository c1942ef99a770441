"""Classifiers in a chain; see `novum.ensemble.chains` for the method."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_response_method, check_is_fitted

from novum.core.errors import InputError
from novum.core.label_sets import share_of_equal_rows
from novum.core.multiclass_members import margin
from novum.ensemble.chains import Chain
from novum.ensemble.multiclass import members_have
from novum.ensemble.target_columns import Floats, TargetColumns, read_label_columns

_LEAST_LOG = float(np.log(np.finfo(float).smallest_subnormal))
_METHODS = {"predict", "predict_proba", "predict_log_proba", "decision_function"}


class ClassifierChain(ClassifierMixin, Chain):
    """Classifiers in a chain: each sees the predictions of those before it.

    Parameters
    ----------
    estimator : classifier
        Cloned for each target.
    order : array-like of n_targets positions, or "random", optional
        The order of the chain; that of the columns by default.
    cv : int, splitter or iterable, optional
        Train members on cross-fitted predictions of earlier targets in place of the targets.
    chain_method : method or list of methods, default="predict"
        What is passed along: "predict", "predict_proba", "predict_log_proba" or
        "decision_function", of a list the first that the learner has. All but "predict" need
        targets of two classes, and pass what they say for the second.
    random_state : int, Generator, RandomState or None
        Of the random order, and of members whose `random_state` is None.
    verbose : bool, default=False
        Show progress on a terminal.

    Attributes
    ----------
    estimators_ : list of n_targets members, in the order of the chain
    classes_ : list of arrays
        The classes of each member, in the order of the chain.
    order_ : array of shape (n_targets,)
    chain_method_ : str
    certificate_ : Certificate
        The weakest verdict of the members.
    n_features_in_, feature_names_in_

    Notes
    -----
    A target of one class only gets a constant member, with a warning.

    References
    ----------
    Read, Pfahringer, Holmes and Frank, Classifier chains for multi-label classification, Machine
    Learning 85, 2011.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> from novum.ensemble.classifier_chain import ClassifierChain
    >>> X = [[0.0], [0.1], [0.2], [2.0], [2.1], [2.3]]
    >>> topics = [{"art"}, {"art"}, {"art"}, {"law", "tax"}, {"law", "tax"}, {"law", "tax"}]
    >>> model = ClassifierChain(GaussianNB()).fit(X, topics)
    >>> [sorted(row) for row in model.predict([[0.05], [2.2]])]
    [['art'], ['law', 'tax']]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Chain._parameter_constraints,
        "chain_method": [list, tuple, StrOptions(_METHODS)],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        order: ArrayLike | str | None = None,
        cv: Any = None,
        chain_method: str | list[str] = "predict",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.cv = cv
        self.chain_method = chain_method
        self.random_state = random_state
        self.verbose = verbose

    @property
    def classes_(self) -> list[NDArray[Any]]:
        """The classes of each member, in the order of the chain."""
        return [np.asarray(member.classes_) for member in self.estimators_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The checks of classifiers expect one array of classes; scikit-learn skips them here too.
        tags._skip_test = True
        return tags

    def _chain_method(self) -> str:
        return self.chain_method_

    def _read(self, y: Any) -> TargetColumns:
        targets = read_label_columns(y, type(self).__name__)
        self.chain_method_ = _check_response_method(self.estimator, self.chain_method).__name__
        assert targets.classes is not None
        for t, classes in enumerate(targets.classes):
            if self.chain_method_ != "predict" and len(classes) > 2:
                raise InputError(
                    f"chain_method={self.chain_method_!r} passes one number along the chain, but "
                    f"target {t} has {len(classes)} classes. Use chain_method='predict'."
                )
        return targets

    def _feature(self, member: Any, answer: Any) -> Floats:
        found = np.asarray(answer)
        if self.chain_method_ == "predict" or found.dtype.kind not in "f":
            return _numbers(found.ravel(), np.asarray(member.classes_)).reshape(-1, 1)
        second = found[:, -1:] if found.ndim == 2 else found.reshape(-1, 1)
        # The logarithm of zero is no number a learner can read; this is that of the least float.
        return np.maximum(second, _LEAST_LOG)

    # Predictions

    @available_if(members_have("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Probability of the second class of each target, of shape (n_rows, n_targets).

        Each is conditional on the earlier targets as predicted. Where a target has more than two
        classes, a list with one array of shape (n_rows, n_classes) for each target.
        """
        tables = self._answers(X, lambda member, table: member.predict_proba(table))
        if all(len(classes) <= 2 for classes in self.classes_):
            return np.column_stack([table[:, -1] for table in tables])
        return tables

    @available_if(members_have("predict_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of `predict_proba`."""
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(part) for part in found] if isinstance(found, list) else np.log(found)

    @available_if(members_have("decision_function"))
    def decision_function(self, X: Any) -> Floats:
        """Margin of the second class of each target, of shape (n_rows, n_targets)."""
        check_is_fitted(self)
        if any(len(classes) > 2 for classes in self.classes_):
            raise InputError("A target of more than two classes has no single margin.")
        return np.column_stack(self._answers(X, margin))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose targets are all predicted right."""
        found = self.predict(X)
        return share_of_equal_rows(self._form, y, found, sample_weight)


def _numbers(labels: NDArray[Any], classes: NDArray[Any]) -> Floats:
    if labels.dtype.kind in "biuf":
        return labels.astype(float)
    return np.searchsorted(classes, labels).astype(float)
