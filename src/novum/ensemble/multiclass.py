"""What reductions of many classes to two have in common.

    read y  ->  binary problems  ->  members, fitted side by side  ->  margins, votes, probabilities

The loops and the arithmetic are in `core.learners.multiclass` and `numerics.pair_coupling`; here
are the parts that make an estimator of them: weights and other metadata, priors, certificates,
files.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Certificate,
    ConstantPredictor,
    Learner,
    Stopwatch,
    check_rows,
    fitted,
    parameter,
    takes_weights,
    without_zero_weights,
)
from novum.core.runtime import fit_context, fitting
from novum.core.tables import (
    FORMS,
    LabelTarget,
    as_rows,
    labels_like,
    read_labels,
    share_of_equal_rows,
    with_checked_weight,
)
from novum.ensemble.certification import certify_members
from novum.numerics import Array, Floats

Params = Mapping[str, Any]


def members_have(method: str) -> Callable[[Any], bool]:
    """A test, for `available_if`, whether the learner inside has that method."""

    def check(model: Any) -> bool:
        learned = [m for m in _members(model) if not isinstance(m, ConstantPredictor)]
        for member in learned or [model.estimator]:
            getattr(member, method)
        return True

    return check


def _members(model: Any) -> list[Any]:
    one = [model.estimator_] if hasattr(model, "estimator_") else []
    return list(getattr(model, "estimators_", one))


class ReductionClassifier(DecisionMixin, ClassifierMixin, MetaEstimatorMixin, Learner):
    """Shared fit; see `OneVsRestClassifier` and `OneVsOneClassifier`."""

    estimator: Any = parameter(HasMethods(["fit"]), kw_only=False)
    n_jobs: int | None = parameter(default=None)

    estimators_: list[Any] = fitted()
    classes_: Array = fitted()
    class_count_: Floats = fitted()
    class_prior_: Floats = fitted()
    certificate_: Certificate = fitted()
    n_features_in_: int = fitted()
    feature_names_in_: Array = fitted()
    _form: str = fitted()

    # What a reduction says

    @abstractmethod
    def _fit_members(self, X: Any, labels: LabelTarget, params: Params) -> list[Any]:
        """One fitted member for each binary problem."""

    @abstractmethod
    def _add_rows(self, X: Any, labels: LabelTarget, params: Params) -> list[Any]:
        """Members with rows added."""

    @abstractmethod
    def _n_members(self, n_labels: int, multilabel: bool) -> int:
        """How many binary problems there are."""

    # Fits

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fits one member for each binary problem.

        Parameters
        ----------
        X : table of any kind that the binary learner takes
        y : labels, 0/1 indicator (array or sparse matrix), or sets of labels
            Indicators and sets may give a row several labels, or none.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts; the binary learner must take it.
        **fit_params
            Further arguments of its `fit`, under scikit-learn's metadata routing.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self) as watch:
            params = self._routed("fit", sample_weight, fit_params)
            X, labels = self._read(X, y)
            if get_tags(self.estimator).input_tags.pairwise:
                params = with_checked_weight(params, labels.n_rows)
            else:
                X, labels, params = without_zero_weights(X, labels, params)
            self._refuse_one_class(labels)
            counts = labels.counts(params.get("sample_weight"))
            self._store(X, self._fit_members(X, labels, params), labels, counts, watch)
        return self

    @available_if(members_have("partial_fit"))
    @fit_context(prefer_skip_nested_validation=False)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, **params: Any
    ) -> Self:
        """Adds rows to every member they concern.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; a batch need not have all classes.
        classes : array-like
            All labels that will ever occur. Needed in the first call; of an indicator, the numbers
            of its columns.
        **params
            Further arguments of the learner's `partial_fit`, under metadata routing.
        """
        with fitting(self) as watch:
            routed = self._routed("partial_fit", sample_weight, params)
            known = self._known_classes(classes)
            X, batch = self._read(X, y)
            labels = _on_classes(batch, known)
            routed = with_checked_weight(routed, labels.n_rows)
            counts = labels.counts(routed.get("sample_weight"))
            if hasattr(self, "estimators_"):
                if labels.form != self._form:
                    raise InputError(
                        f"Earlier rows had {self._form} as y, but these have {labels.form}."
                    )
                counts = counts + self.class_count_
            self._store(X, self._add_rows(X, labels, routed), labels, counts, watch)
        return self

    def _read(self, X: Any, y: Any) -> tuple[Any, LabelTarget]:
        name = type(self).__name__
        table, labels = as_rows(X), read_labels(y, name)
        check_rows(table, labels.n_rows, name)
        return table, labels

    def _known_classes(self, classes: Any) -> Array:
        if not hasattr(self, "classes_"):
            if classes is None:
                raise InputError("classes must be passed on the first call to partial_fit.")
            return np.unique(np.asarray(classes))
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise InputError(
                f"classes are {self.classes_.tolist()} since the first call to partial_fit, but "
                f"this one gives {np.unique(classes).tolist()}. Leave `classes` out, or fit anew."
            )
        return self.classes_

    def _store(
        self, X: Any, members: list[Any], labels: LabelTarget, counts: Floats, watch: Stopwatch
    ) -> None:
        self.estimators_ = members
        self.classes_ = labels.classes
        self.class_count_ = counts
        self._form = labels.form
        self.__dict__.pop("class_prior_", None)
        if not labels.is_multilabel and counts.sum() > 0:
            self.class_prior_ = counts / counts.sum()
        store_features(self, X, members)
        self.certificate_ = certify_members(
            members, f"{len(members)} binary problems", seconds=watch.seconds
        )

    def _routed(self, method: str, sample_weight: Any, given: Params) -> Params:
        """Arguments for the members' `fit`."""
        return routed_params(self, method, sample_weight, given)

    def _refuse_one_class(self, labels: LabelTarget) -> None:
        if len(labels.classes) < 2 and not labels.is_multilabel:
            raise InputError(
                f"{type(self).__name__} can not be fit when only one class is present: every row "
                f"of y is {labels.classes[0]!s}. Add rows of other classes."
            )

    # Predictions

    @abstractmethod
    def predict(self, X: Any) -> Any:
        """Labels of rows."""

    @property
    def n_classes_(self) -> int:
        """Number of classes, or of labels."""
        return len(self.classes_)

    @property
    def multilabel_(self) -> bool:
        """Whether a row may have several labels."""
        return self._form != "classes"

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows that are predicted right, with all their labels where there are several."""
        predicted = self.predict(X)
        if self.multilabel_:
            return share_of_equal_rows(self._form, y, predicted, sample_weight)
        return float(super().score(X, y, sample_weight))

    def _labels_of(self, margins: Floats) -> Any:
        """Labels whose margins are positive, in the form of the training target."""
        return labels_like(self._form, self.classes_, margins > 0)

    # The contract

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on: what the binary learner does not depend on."""
        return tuple(getattr(self.estimator, "invariances", ()))

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to the binary learner, under scikit-learn's routing."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        mapping.add(caller="partial_fit", callee="partial_fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = get_tags(self.estimator)
        tags.input_tags = copy.copy(base.input_tags)
        tags.non_deterministic = base.non_deterministic
        tags.classifier_tags.multi_label = True
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        if self._form not in FORMS or np.ndim(self.classes_) != 1:
            raise ModelFileError("The model's target is damaged.")
        n_members = self._n_members(len(self.classes_), self.multilabel_)
        if len(self.estimators_) != n_members:
            raise ModelFileError(
                f"The model has {len(self.estimators_)} members, but {len(self.classes_)} classes "
                f"need {n_members}."
            )
        if np.shape(self.class_count_) != np.shape(self.classes_):
            raise ModelFileError("The model has counts for another number of classes.")


# --- Parts that other estimators of members share -------------------------------------------------


def routed_params(
    model: Any, method: str, sample_weight: Any, given: Params, *, passes_all: bool = False
) -> Params:
    """Arguments for the `fit` of the model's only learner: its weights and routed metadata.

    Without routing, a model that `passes_all` hands on whatever it is given, as scikit-learn's
    learners of several targets do.
    """
    more = {} if sample_weight is None else {"sample_weight": sample_weight}
    if _routing_enabled():
        return dict(process_routing(model, method, **more, **given).estimator[method])
    if passes_all:
        more = {**given, **more}
    else:
        _raise_for_params(given, model, method)
    if sample_weight is not None and not takes_weights(model.estimator):
        raise InputError(
            f"Underlying estimator {type(model.estimator).__name__} does not support sample "
            "weights: its fit takes no sample_weight. Leave the weights out, or choose a learner "
            "that takes them."
        )
    return more


def store_features(model: Any, X: Any, members: list[Any]) -> None:
    """Number and names of the columns, as the members read them.

    Given similarities have as many columns as rows, and a member has seen those of its rows only.
    """
    for name in ("n_features_in_", "feature_names_in_"):
        model.__dict__.pop(name, None)
    known = next((m for m in members if hasattr(m, "n_features_in_")), None)
    if known is not None and not get_tags(model.estimator).input_tags.pairwise:
        model.n_features_in_ = known.n_features_in_
        if hasattr(known, "feature_names_in_"):
            model.feature_names_in_ = known.feature_names_in_
    elif len(getattr(X, "shape", ())) == 2:
        model.n_features_in_ = X.shape[1]


def _on_classes(batch: LabelTarget, classes: Array) -> LabelTarget:
    """The labels of a batch, as codes into all classes."""
    if batch.form in ("indicator", "sparse indicator"):
        if len(batch.classes) != len(classes):
            raise InputError(
                f"y has {len(batch.classes)} columns, but there are {len(classes)} labels."
            )
        return batch
    strange = np.setdiff1d(batch.classes, classes)
    if strange.size:
        raise InputError(
            f"The batch contains {strange.tolist()}, while labels must be among "
            f"{classes.tolist()}. Name all labels in the first call to partial_fit."
        )
    place = np.searchsorted(classes, batch.classes)
    if batch.codes is not None:
        return LabelTarget("classes", classes, codes=place[batch.codes].astype(np.int64))
    indicator = batch.indicator.tocoo()
    table = sparse.csc_matrix(
        (indicator.data, (indicator.row, place[indicator.col])), shape=(batch.n_rows, len(classes))
    )
    return LabelTarget(batch.form, classes, indicator=table)
