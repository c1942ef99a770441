"""Several targets by one learner each, independent of each other.

    y_t = h_t(x),   t = 1, ..., T

For targets that belong together, chains (`novum.ensemble.chains`) let later ones see earlier ones.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Certificate,
    Learner,
    Stopwatch,
    fitted,
    member_with_rows,
    parameter,
    unfitted_members,
)
from novum.core.runtime import fit_context, fitting, run_tasks
from novum.core.tables import as_rows, share_of_equal_rows
from novum.ensemble.certification import certify_members
from novum.ensemble.chains import checked_targets, fitted_member
from novum.ensemble.multiclass import members_have, routed_params, store_features
from novum.ensemble.target_columns import (
    TargetColumns,
    joined,
    read_label_columns,
    read_number_columns,
)
from novum.numerics import Array, Floats


class MultiOutput(MetaEstimatorMixin, Learner):
    """Shared by `MultiOutputClassifier` and `MultiOutputRegressor`."""

    estimator: Any = parameter(HasMethods(["fit", "predict"]), kw_only=False)
    n_jobs: int | None = parameter(default=None)

    estimators_: list[Any] = fitted()
    certificate_: Certificate = fitted()
    _form: str = fitted()
    _names: Array | None = fitted()

    @abstractmethod
    def _read(self, y: Any) -> TargetColumns:
        """The targets, checked."""

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fits one member for each target.

        Parameters
        ----------
        X : table of any kind that the learner takes
        y : array-like of shape (n_rows, n_targets)
            For classifiers also a sparse 0/1 matrix or a sequence of sets of labels.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts; the learner must take it.
        **fit_params
            Further arguments of its `fit`; under scikit-learn's metadata routing those it asks for.
        """
        with fitting(self) as watch:
            params = routed_params(self, "fit", sample_weight, fit_params, passes_all=True)
            X, targets, params = checked_targets(self._read, X, y, params, type(self).__name__)
            unfitted = unfitted_members(self.estimator, len(targets.columns))
            members = run_tasks(
                lambda task: fitted_member(task[1], X, targets, task[0], params),
                enumerate(unfitted),
                self.n_jobs,
            )
            self._store(X, members, targets, watch)
        return self

    def _add_rows(self, X: Any, y: Any, classes: Any, sample_weight: Any, params: Any) -> Self:
        """Members with rows added; `classes` of each target where they ask for them."""
        with fitting(self) as watch:
            routed = routed_params(self, "partial_fit", sample_weight, params)
            X, targets, routed = checked_targets(self._read, X, y, routed, type(self).__name__)
            members = getattr(self, "estimators_", None)
            first = members is None
            members = members or unfitted_members(self.estimator, len(targets.columns))
            if len(members) != len(targets.columns):
                raise InputError(
                    f"y has {len(targets.columns)} targets, but earlier rows had {len(members)}."
                )
            given = classes if first else None
            tasks = [(m, targets.columns[t], _labels(given, t)) for t, m in enumerate(members)]
            added = run_tasks(
                lambda task: member_with_rows(task[0], X, *task[1:], routed), tasks, self.n_jobs
            )
            self._store(X, added, targets, watch)
        return self

    def _store(self, X: Any, members: list[Any], targets: TargetColumns, watch: Stopwatch) -> None:
        self.estimators_ = members
        self._form, self._names = targets.form, targets.names
        store_features(self, X, members)
        self.certificate_ = certify_members(
            members, f"{len(members)} targets", seconds=watch.seconds
        )

    def predict(self, X: Any) -> Any:
        """Predictions of all targets, of shape (n_rows, n_targets), or in the targets' own form."""
        check_is_fitted(self)
        table = as_rows(X)
        columns = run_tasks(
            lambda member: np.asarray(member.predict(table)).ravel(), self.estimators_, self.n_jobs
        )
        return joined(self._form, self._names, columns)

    # The contract

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on: what the learner does not depend on."""
        return tuple(getattr(self.estimator, "invariances", ()))

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to the learner, under scikit-learn's routing."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        mapping.add(caller="partial_fit", callee="partial_fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = get_tags(self.estimator)
        tags.input_tags = copy.copy(base.input_tags)
        tags.non_deterministic = base.non_deterministic
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        if not isinstance(self.estimators_, list) or not self.estimators_:
            raise ModelFileError("The model has no members.")


class MultiOutputRegressor(RegressorMixin, MultiOutput):
    """One regression for each target.

    Parameters
    ----------
    estimator : regressor
        Cloned for each target.
    n_jobs : int, optional
        Members fitted, and asked, at once; the results do not depend on it.

    Attributes
    ----------
    estimators_ : list of n_targets members
    certificate_ : Certificate
        The weakest verdict of the members.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> from novum.ensemble.multioutput import MultiOutputRegressor
    >>> X, Y = [[0.0], [1.0], [2.0]], [[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]]
    >>> MultiOutputRegressor(LinearRegression()).fit(X, Y).predict([[3.0]]).round(6).tolist()
    [[6.0, 1.0]]
    """

    def _read(self, y: Any) -> TargetColumns:
        return read_number_columns(y, type(self).__name__)

    @available_if(members_have("partial_fit"))
    @fit_context(prefer_skip_nested_validation=False)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Adds rows to every member.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        **params
            Further arguments of the learner's `partial_fit`, under metadata routing.
        """
        return self._add_rows(X, y, None, sample_weight, params)


class MultiOutputClassifier(ClassifierMixin, MultiOutput):
    """One classifier for each target.

    Parameters
    ----------
    estimator : classifier
        Cloned for each target; targets may have any number of classes it can learn.
    n_jobs : int, optional
        Members fitted, and asked, at once; the results do not depend on it.

    Attributes
    ----------
    estimators_ : list of n_targets members
    classes_ : list of n_targets arrays
    certificate_ : Certificate
        The weakest verdict of the members.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> from novum.ensemble.multioutput import MultiOutputClassifier
    >>> X, Y = [[0.0], [0.1], [2.0], [2.1]], [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]]
    >>> MultiOutputClassifier(GaussianNB()).fit(X, Y).predict([[0.0]]).tolist()
    [['a', 'x']]
    """

    def _read(self, y: Any) -> TargetColumns:
        return read_label_columns(y, type(self).__name__)

    @available_if(members_have("partial_fit"))
    @fit_context(prefer_skip_nested_validation=False)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, **params: Any
    ) -> Self:
        """Adds rows to every member.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : list of n_targets arrays
            All labels of each target; in the first call, for classifiers that ask for them.
        **params
            Further arguments of the learner's `partial_fit`, under metadata routing.
        """
        return self._add_rows(X, y, classes, sample_weight, params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The checks of classifiers expect one array of classes; scikit-learn skips them here too.
        tags._skip_test = True
        return tags

    @property
    def classes_(self) -> list[Array]:
        """The classes of each target."""
        return [np.asarray(member.classes_) for member in self.estimators_]

    @available_if(members_have("predict_proba"))
    def predict_proba(self, X: Any) -> list[Floats]:
        """Probabilities of the classes of each target: a list of (n_rows, n_classes) arrays."""
        check_is_fitted(self)
        table = as_rows(X)
        return run_tasks(lambda member: member.predict_proba(table), self.estimators_, self.n_jobs)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose targets are all predicted right."""
        predicted = self.predict(X)
        return share_of_equal_rows(self._form, y, predicted, sample_weight)


def _labels(classes: Any, target: int) -> Any:
    return None if classes is None else classes[target]
