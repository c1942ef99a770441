"""Bayes' rule with any density for each class: mixture and kernel discriminant analysis.

    P(k | x)  is proportional to  P(k) p_k(x),        p_k fitted to the rows of class k

The density is any estimator with `score_samples`. With Gaussian mixtures a class may have several
groups (mixture discriminant analysis, Hastie and Tibshirani 1996); one component is quadratic
discriminant analysis; kernel densities make no assumption of form. What the density does with
missing cells, categories and weights, the classifier does.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from novum.bayes.naive_bayes_engine import checked_priors
from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError
from novum.core.learners import (
    Certificate,
    Learner,
    certified_together,
    fitted,
    fitted_density,
    parameter,
    schema_for,
    with_inputs_of,
)
from novum.core.runtime import fit_context, fitting
from novum.core.sums import (
    PartlyLabelled,
    PartlyLabelledRows,
    UnlabelledRows,
    fit_partly_labelled,
)
from novum.core.tables import TrainingRows, checked_rows, rows_of
from novum.core.text import label_text
from novum.numerics import Array, Floats

# Change of the log-likelihood per row at which fits end that only compare weights.
_JUDGING_TOL = 1e-4


class DensityClassifier(DecisionMixin, ClassifierMixin, Learner):
    """Bayes' rule with a density for each class.

    Parameters
    ----------
    density : estimator with `score_samples`
        Fitted to the rows of every class: a mixture of any kind, `KernelDensity`,
        `ProbabilisticPCA`.
    priors : array-like of shape (n_classes,), optional
        Of the classes; learned by default.
    unlabelled : None, "em" or UnlabelledRows
        What rows whose label is missing are for: an error, or rows that EM gives to the classes by
        their probabilities, with a weight chosen by held-out labels (`unlabelled_weight_`). For
        mixtures, whose components and classes are then one hidden pair.

    Attributes
    ----------
    densities_ : list of fitted estimators
        One for each class.
    classes_, class_count_, class_prior_ : arrays (n_classes,)
    certificate_ : Certificate
        Of all densities together.
    unlabelled_weight_ : float
        Of a row without a label, where there were such.
    n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    All densities are of the same columns in the same units, so that units cancel. A row that no
    class can have gets the priors. Levels that a class lacks but the table has are rare there, not
    unknown, where the density takes a schema, as mixtures do.

    References
    ----------
    Hastie and Tibshirani, Discriminant analysis by Gaussian mixtures, 1996.

    Examples
    --------
    One class lies on both sides of the other, which no single normal law can say.

    >>> from novum.mixture import GaussianMixture
    >>> X = np.array([[-5.0], [-4.0], [-4.5], [5.0], [4.0], [4.5], [0.0], [0.5], [-0.5]])
    >>> y = list("aaaaaabbb")
    >>> model = DensityClassifier(GaussianMixture(2, covariance_type="tied")).fit(X, y)
    >>> model.predict([[-4.2], [0.1], [4.2]]).tolist()
    ['a', 'b', 'a']
    """

    density: Any = parameter(kw_only=False)
    priors: Any = parameter("array-like", None, default=None)
    unlabelled: Any = parameter({"em"}, UnlabelledRows, None, default=None)

    densities_: Any = fitted()
    classes_: Array = fitted()
    class_count_: Floats = fitted()
    class_prior_: Floats = fitted()
    certificate_: Certificate = fitted()
    unlabelled_weight_: float = fitted()

    def __sklearn_tags__(self) -> Any:
        return with_inputs_of(super().__sklearn_tags__(), self.density)

    @property
    def invariances(self) -> tuple[str, ...]:
        """Those of the density."""
        return tuple(getattr(self.density, "invariances", ()))

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fits a density to the rows of every class.

        Parameters
        ----------
        X : table of n_rows, as the density takes it
        y : array-like of shape (n_rows,)
            Labels of the classes; some may be missing with `unlabelled="em"`.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        """
        with fitting(self):
            target: Literal["classes", "partial classes"]
            target = "classes" if self.unlabelled is None else "partial classes"
            rows = TrainingRows.of(self, X, y, sample_weight, target=target)
            self.__dict__.pop("unlabelled_weight_", None)
            if (rows.target < 0).any():
                self._fit_partly(rows)
                return self
            schema = schema_for(self.density, rows.table)
            weight = np.ones(len(rows.target)) if rows.weight is None else rows.weight
            self.classes_ = rows.classes
            counts = np.bincount(rows.target, weight, len(rows.classes))
            self.class_count_ = counts.astype(np.float64)
            self.class_prior_ = checked_priors(self.priors, self.class_count_)
            self.densities_ = []
            for k, label in enumerate(rows.classes):
                own = np.flatnonzero(rows.target == k)
                part = rows_of(rows.table, own)
                try:
                    fit = fitted_density(self.density, part, rows.weight_of(own), schema)
                except InputError as error:
                    raise InputError(f"Class {label_text(label)}: {error}") from error
                self.densities_.append(fit)
            self.certificate_ = certified_together(self.densities_)
        return self

    def _fit_partly(self, rows: TrainingRows) -> None:
        """EM over the labels that are missing and the components of the classes."""
        from novum.bayes.partial_labels import MixtureLaws

        density = clone(self.density)
        if not hasattr(density, "_climb"):
            raise InputError(
                f"unlabelled='em' climbs a likelihood, which {type(density).__name__} does not. "
                "Choose a mixture of novum.mixture, or put DensityClassifier into "
                "novum.ensemble.SelfTraining."
            )
        sample = density._read(rows.table, None, rows.weight, None)
        sample = replace(sample, target=rows.target, classes=rows.classes)
        counts = np.bincount(rows.target[rows.target >= 0], minlength=len(rows.classes))
        given = None if self.priors is None else checked_priors(self.priors, counts.astype(float))

        whole = PartlyLabelledRows.of(sample)
        # The weight is chosen by many fits, each from a single start.
        quick = copy(density).set_params(n_init=1, tol=max(density.tol, _JUDGING_TOL))
        if hasattr(quick, "moves"):
            quick.set_params(moves=0)

        def laws_of(some: PartlyLabelledRows, weight: float) -> MixtureLaws:
            # All rows, or all that have a label where the others count nothing.
            is_last = some.n_labelled == whole.n_labelled
            return MixtureLaws(density if is_last else quick, some, weight, given)

        rule = UnlabelledRows.of(self.unlabelled)
        name = f"{type(self).__name__} of {type(density).__name__}"
        fit = fit_partly_labelled(laws_of, whole, rule, name, judging_tol=_JUDGING_TOL)
        params, certificate = fit.fitted.params, fit.fitted.certificate
        if not fit.weight > 0:
            sample = sample.rows(np.flatnonzero(sample.target >= 0))
        weights, _ = PartlyLabelled(fit.laws, fit.weight or 1.0).memberships(params, sample)
        self.densities_ = fit.laws.fitted_densities(params, sample, weights, certificate)
        self.classes_, self.class_prior_ = rows.classes, params.prior
        self.class_count_ = weights.sum(axis=0)
        self.certificate_, self.unlabelled_weight_ = certificate, fit.weight

    # Prediction

    def log_likelihood(self, X: Any) -> Floats:
        """`log p(x | k)` of the present cells, of shape (n_rows, n_classes)."""
        check_is_fitted(self, "densities_")
        rows = checked_rows(self, X, reset=False)
        return np.stack([np.asarray(d.score_samples(rows)) for d in self.densities_], axis=1)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """`log P(k, x)`, of shape (n_rows, n_classes)."""
        logs = self.log_likelihood(X)
        with np.errstate(divide="ignore"):
            return logs + np.log(self.class_prior_)

    def predict_log_proba(self, X: Any) -> Floats:
        """Log-probabilities of the classes, of shape (n_rows, n_classes)."""
        joint = self.predict_joint_log_proba(X)
        top = joint.max(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            prior = np.log(self.class_prior_)
        possible = np.isfinite(top)
        joint = np.where(possible, joint - np.where(possible, top, 0.0), prior)
        return np.asarray(joint - np.log(np.exp(joint).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, of shape (n_rows, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row; of equal ones the first."""
        best = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _check_state(self) -> None:
        if not len(self.densities_) == len(self.classes_) == len(self.class_prior_):
            raise InputError("Densities, classes and priors of this model do not fit together.")
