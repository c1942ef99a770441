"""Classification by a vote of neighbors.

P(c | x) = sum over neighbors i of w_i [y_i = c] / sum of w_i
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import fitted, parameter
from novum.core.tables import check_classes, plain_target
from novum.neighbors.nearest import RadiusMixin, rows_to_keep
from novum.neighbors.voters import ChosenNeighborsMixin, TargetsOfNeighbors, Voters
from novum.neighbors.votes import class_votes, vote_weights
from novum.numerics import Array, Floats, Integers


class VotingClassifierModel(DecisionMixin, ClassifierMixin, TargetsOfNeighbors):
    """What classifiers by neighbors share: classes, one target or several."""

    classes_: Any = fitted()
    class_prior_: Any = fitted()
    targets_: Integers = fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _fit(self, X: Any, y: Any) -> None:
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        sample = rows_to_keep(self, X, None, "none")
        labels = plain_target(y)
        self.outputs_2d_ = labels.ndim == 2 and labels.shape[1] > 1
        columns = labels.T if self.outputs_2d_ else [labels]
        labels_and_codes = [check_classes(column, type(self).__name__) for column in columns]
        codes = np.stack([codes for _, codes in labels_and_codes], axis=1)
        if len(codes) != sample.n_rows:
            raise InputError(
                f"X has {sample.n_rows} rows, but y has {len(codes)}: found input variables with "
                "inconsistent numbers of samples. Pass one target for each row."
            )
        self.classes_ = (
            [classes for classes, _ in labels_and_codes]
            if self.outputs_2d_
            else labels_and_codes[0][0]
        )
        self.targets_ = codes.astype(np.int64)
        shares = [np.bincount(column) / len(codes) for column in self.targets_.T]
        self.class_prior_ = shares if self.outputs_2d_ else shares[0]
        self._keep(sample)

    def _check_state(self) -> None:
        super()._check_state()
        codes, sizes = self.targets_, [len(classes) for classes in self._all_classes]
        is_codes = codes.dtype == np.int64 and codes.shape[1:] == (len(sizes),)
        if not is_codes or not ((codes >= 0) & (codes < sizes)).all():
            raise ModelFileError("The file has targets that are no codes of its classes.")

    def _classes_of_rows(self) -> Any:
        return self.targets_[:, 0]

    @property
    def _all_classes(self) -> list[Array]:
        return list(self.classes_) if self.outputs_2d_ else [self.classes_]

    def _shares(self, X: Any) -> list[Floats]:
        """Shares of the votes, target by target."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> Any:
        """Shares of the votes, (n_rows, n_classes); of several targets a list of such."""
        self._check_fitted()
        shares = self._shares(X)
        return shares if self.outputs_2d_ else shares[0]

    def predict(self, X: Any) -> Array:
        """The class of most votes, the first of equals."""
        self._check_fitted()
        pairs = zip(self._all_classes, self._shares(X), strict=True)
        answers = [classes[share.argmax(axis=1)] for classes, share in pairs]
        return np.stack(answers, axis=1) if self.outputs_2d_ else answers[0]


class KNeighborsClassifier(ChosenNeighborsMixin, VotingClassifierModel):
    """A vote of the k nearest rows.

    Parameters
    ----------
    n_neighbors : int or "auto", default=5
        "auto" takes the number of least leave-one-out error up to 50, from one search.
    weights : {"uniform", "distance"} or callable, default="uniform"
        By distance, a neighbor at distance 0 decides alone. A callable makes weights of distances.
    algorithm, leaf_size, p, metric, metric_params, n_jobs, categorical_features
        As for `NearestNeighbors`; `novum.distances.ValueDifference` is learned from the classes.

    Attributes
    ----------
    classes_, class_prior_ : array, or list of arrays of several targets
        Labels, and their shares of the training rows.
    n_neighbors_ : int, that votes
    numbers_, codes_, targets_ : arrays
        The training rows.
    certificate_, schema_, n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    Where more rows are as far as the k-th than there is room for, they share the votes that are
    left, so that answers do not depend on the order of the table.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> KNeighborsClassifier(3).fit(X, y).predict([[1.1], [2.9]]).tolist()
    ['a', 'b']
    >>> KNeighborsClassifier(1).fit(X, y).predict_proba([[1.5]]).tolist()
    [[0.5, 0.5]]
    """

    def _shares(self, X: Any) -> list[Floats]:
        voters = self._voters(X, self.n_neighbors_)
        weights = vote_weights(self.weights, voters.distances)
        return [
            voters.mean(weights, partial(class_votes, codes, n_classes=len(classes)))
            for classes, codes in zip(self._all_classes, self.targets_.T, strict=True)
        ]

    def _losses(self, voters: Voters) -> Floats:
        if self.outputs_2d_:
            raise InputError("The curve is of one target. Fit one target at a time.")
        codes, sides = self.targets_[:, 0], np.eye(len(self.classes_))
        losses = np.empty(voters.rows.shape)
        means = voters.running_means(self.weights, lambda rows: sides[codes[rows]], len(sides))
        for block, shares in means:
            losses[block] = shares.argmax(axis=2) != codes[block, np.newaxis]
        return losses


class RadiusNeighborsClassifier(RadiusMixin, VotingClassifierModel):
    """A vote of all rows within a radius.

    Parameters
    ----------
    radius : float, default=1.0
    weights : as for `KNeighborsClassifier`
    outlier_label : label, "most_frequent", list of such or None, default=None
        The answer where nothing is within the radius, which need not be one of the classes; None
        refuses such rows.
    algorithm, leaf_size, p, metric, metric_params, n_jobs, categorical_features
        As for `NearestNeighbors`.

    Attributes
    ----------
    classes_, numbers_, codes_, targets_, certificate_, schema_
        As for `KNeighborsClassifier`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> RadiusNeighborsClassifier(1.0).fit(X, y).predict([[0.5], [2.9]]).tolist()
    ['a', 'b']
    """

    invariances = ("shift", "row_order")  # The radius has the unit of the columns.

    outlier_label: Any = parameter(default=None)

    def _fit(self, X: Any, y: Any) -> None:
        super()._fit(X, y)
        # What is wrong with the labels is said now.
        self._targets_and_labels()

    def _shares(self, X: Any) -> list[Floats]:
        distances, rows = self.radius_neighbors(X)
        alone = np.array([len(near) == 0 for near in rows])
        if alone.any() and self.outlier_label is None:
            raise InputError(
                f"No neighbors found for test samples {np.flatnonzero(alone)[:5].tolist()}: no "
                f"training row is within {self.radius:g}. Take a larger radius, or give "
                "outlier_label."
            )
        votes = []
        for classes, codes, label in self._targets_and_labels():
            shares = np.zeros((len(rows), len(classes)))
            for query, (apart, near) in enumerate(zip(distances, rows, strict=True)):
                if len(near):
                    weights = vote_weights(self.weights, apart[np.newaxis])
                    shares[query] = class_votes(codes, near[np.newaxis], weights, len(classes))[0]
            shares[alone] = classes == label
            votes.append(shares)
            if alone.any() and not (classes == label).any():
                warnings.warn(
                    f"Outlier label {label!r} is not in training classes. All class probabilities "
                    "of outliers will be assigned with 0.",
                    UserWarning,
                    stacklevel=4,
                )
        return votes

    def predict(self, X: Any) -> Array:
        """The class of most votes, the first of equals; the outlier label where nobody votes."""
        self._check_fitted()
        answers = []
        targets = zip(self._targets_and_labels(), self._shares(X), strict=True)
        for (classes, _, label), share in targets:
            answer = classes[share.argmax(axis=1)]
            alone = ~share.any(axis=1)
            if alone.any():
                answer = answer.astype(np.result_type(answer, np.asarray(label)))
                answer[alone] = label
            answers.append(answer)
        return np.stack(answers, axis=1) if self.outputs_2d_ else answers[0]

    def _targets_and_labels(self) -> list[tuple[Array, Integers, Any]]:
        """Classes and codes of every target, and the answer where nothing is within the radius."""
        labels = self.outlier_label
        if not (self.outputs_2d_ and isinstance(labels, (list, tuple, np.ndarray))):
            labels = [labels] * len(self._all_classes)
        if len(labels) != len(self._all_classes):
            raise InputError(
                f"outlier_label has {len(labels)} labels for {len(self._all_classes)} targets. "
                "Give one for each, or one for all."
            )
        answers = []
        for classes, codes, label in zip(self._all_classes, self.targets_.T, labels, strict=True):
            if isinstance(label, str) and label == "most_frequent":
                label = classes[np.bincount(codes).argmax()]
            is_text = isinstance(label, str)
            if label is not None and is_text != (classes.dtype.kind in "UO"):
                raise InputError(
                    f"outlier_label={label!r} is of another type than the classes "
                    f"{classes[:3].tolist()}. Give one of their type."
                )
            answers.append((classes, codes, label))
        return answers
