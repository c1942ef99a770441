"""Gaussian classifier: every class a normal law, or the Student t law that the rows predict.

    p(k | x)  ~  p(k) N(x; m_k, C_k)                    estimate="maximum_likelihood"
    p(k | x)  ~  p(k) t_v(x; m_k, C_k)                  estimate="predictive"

Means and covariances in closed form maximize the likelihood of the rows given their classes; the
predictive law integrates them out under a weak prior instead, so that a class with few rows is as
uncertain as it should be. Both are functions of the classes' weights, means and scatters
(`gaussian_statistics`), which add up over rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from novum.bayes.discriminants import (
    BoundaryKind,
    Hyperplane,
    Quadric,
    check_two_classes,
    equal_covariances,
    hyperplane_between,
    quadric_between,
)
from novum.bayes.error_probability import ErrorProbability, bayes_error
from novum.bayes.gaussian_covariance import STRUCTURES
from novum.bayes.gaussian_model import Densities, GaussianModel
from novum.bayes.gaussian_predictive import (
    CovarianceChoice,
    WeakPrior,
    compare_structures,
    log_evidence,
    predictive_densities,
)
from novum.bayes.gaussian_statistics import GaussianStatistics, code_of
from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict, parameter
from novum.core.runtime import RandomSource
from novum.core.sums import PartlyLabelledRows, StopRule, UnlabelledRows, fit_partly_labelled
from novum.core.text import label_text
from novum.distributions import ColumnDensities
from novum.numerics import Floats


class GaussianClassifier(GaussianModel):
    """Bayes' rule with a Gaussian law for each class.

    Maximizes `sum_i w_i log N(x_i; m_k(i), C_k(i))`, solved in closed form from sums over the
    rows; by EM where cells of correlated columns are missing.

    Parameters
    ----------
    covariance : {"full", "tied", "diagonal", "spherical", "evidence"}
        A matrix for each class, one matrix for all, variances for each class and column, or one
        variance for each class. "evidence" takes the one of largest `log_evidence_`.
    estimate : {"maximum_likelihood", "predictive"}
        Normal laws with the most likely moments, or posterior predictive Student t laws.
    class_prior : array-like of shape (n_classes,), optional
        Priors in the order of `classes_`; the classes' shares of the weight by default.
    parameter_prior : WeakPrior, optional
        Prior of the moments, for `estimate="predictive"` and for the evidence.
    unlabelled : None, "em" or UnlabelledRows
        What rows whose label is missing are for: an error, or rows that EM gives to the classes by
        their probabilities, with a weight chosen by held-out labels; for largest likelihood and a
        given structure only.
    floor : float
        Smallest variance of a class in any direction, relative to the variance of the columns
        within the classes (with unlabelled rows: over all rows). Classes without spread are raised
        to it, with a warning; 0 refuses them.
    tol, max_iter : float, int
        EM stops when a step raises the log-likelihood per row by at most `tol`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_, class_prior_ : arrays of shape (n_classes,)
        Weights and priors of the classes. A class that was only declared has both zero.
    means_ : array of shape (n_classes, n_columns)
    covariances_ : array
        (K, d, d) full, (d, d) tied, (K, d) diagonal, (K,) spherical. Of predictive laws the
        covariance of each law: (K, d, d) full and tied, (K, d) diagonal and spherical.
    covariance_structure_ : str
        The structure fitted, also where `covariance="evidence"` chose it.
    densities_ : MatrixDensities or ColumnDensities
    log_evidence_ : float
        Log marginal likelihood of the rows given their classes; absent after EM.
    statistics_ : GaussianStatistics
        Absent after EM, whose fit is not a function of sums.
    unlabelled_weight_ : float
        How much an unlabelled row counted; only after a fit with such rows.
    schema_, certificate_, n_features_in_

    Notes
    -----
    A fit costs O(n d^2), or O(n d) without correlations; a prediction O(n K d^2) at most. Missing
    cells are integrated out exactly at prediction; at a fit they are exact for uncorrelated columns
    and cost EM passes with a factorization per pattern of missing cells otherwise. Predictive laws,
    and the choice by evidence, then take the moments that EM expects as if they had been seen,
    which is a little too certain.

    Weights count repetitions. Ties go to the class that stands first. Fits do not depend on the
    offsets of columns nor on their units (spherical ones on a common unit only).

    References
    ----------
    Duda, Hart and Stork, "Pattern Classification", 2nd ed., 2001, sections 2.6 and 3.2.

    Examples
    --------
    >>> X = [[0.0], [2.0], [4.0], [6.0]]
    >>> model = GaussianClassifier(covariance="tied").fit(X, ["a", "a", "b", "b"])
    >>> model.means_.ravel().tolist(), model.covariances_.tolist()
    ([1.0, 5.0], [[1.0]])
    >>> model.predict_proba([[3.0], [np.nan]]).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    >>> model.hyperplane("a", "b").values([3.0]).tolist()
    0.0
    """

    covariance: str = parameter({*STRUCTURES, "evidence"}, default="full", kw_only=False)
    estimate: str = parameter({"maximum_likelihood", "predictive"}, default="maximum_likelihood")
    class_prior: ArrayLike | None = parameter("array-like", default=None)
    parameter_prior: WeakPrior | None = parameter(default=None)
    unlabelled: Any = parameter({"em"}, UnlabelledRows, None, default=None)
    floor: float = parameter(default=1e-9, at_least=0, below=1)
    tol: float = parameter(default=1e-9, at_least=0)
    max_iter: int = parameter(default=1000, at_least=1)

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; see `core.learners.contracts`."""
        units = "common_scale" if self.covariance in ("spherical", "evidence") else "column_scale"
        return ("shift", units, "row_order", "duplication")

    @property
    def log_evidence_(self) -> float:
        """`log p(rows | classes)` with means and covariances integrated out."""
        if not hasattr(self, "statistics_"):
            raise AttributeError(
                "log_evidence_ needs a fit to complete rows, or to uncorrelated columns."
            )
        return log_evidence(self.statistics_, self.covariance_structure_, self._prior())

    # Boundaries of the fitted laws

    def hyperplane(self, a: Any, b: Any) -> Hyperplane:
        """The plane on which classes `a` and `b` are equally likely; `a` is on its positive side.

        Raises
        ------
        InputError
            If the two classes have different covariances; `boundary` gives the quadric.
        """
        i, j, matrices = self._two(a, b)
        if not equal_covariances(matrices[i], matrices[j]):
            raise InputError(
                f"Classes {a!r} and {b!r} have different covariances, so their boundary is no "
                "hyperplane. Use boundary() and boundary_kind(), or covariance='tied'."
            )
        ratio = self._log_prior_ratio(i, j)
        return hyperplane_between(self.means_[i], self.means_[j], matrices[i], ratio)

    def boundary(self, a: Any, b: Any) -> Quadric:
        """The quadric on which classes `a` and `b` are equally likely."""
        i, j, matrices = self._two(a, b)
        ratio = self._log_prior_ratio(i, j)
        return quadric_between(self.means_[i], matrices[i], self.means_[j], matrices[j], ratio)

    def boundary_kind(self, a: Any, b: Any) -> BoundaryKind:
        """Shape of the boundary between two classes, by the eigenvalues of its quadratic form."""
        return self.boundary(a, b).kind

    def error_probability(self, random_state: RandomSource = 0) -> ErrorProbability:
        """Probability of error of the Bayes rule if the fitted normal laws are the true ones."""
        matrices = self._normal_matrices("The error probability")
        known = self.densities_.present & (self.class_prior_ > 0)
        return bayes_error(
            self.means_[known], matrices[known], self.class_prior_[known], random_state=random_state
        )

    def _two(self, a: Any, b: Any) -> tuple[int, int, Floats]:
        matrices = self._normal_matrices("A boundary in closed form")
        i, j = code_of(a, self.classes_), code_of(b, self.classes_)
        check_two_classes(i, j)
        return i, j, matrices

    def _normal_matrices(self, what: str) -> Floats:
        check_is_fitted(self)
        if not self.densities_.is_normal:
            raise InputError(f"{what} is for normal laws: fit with estimate='maximum_likelihood'.")
        return self._matrices()

    def _log_prior_ratio(self, i: int, j: int) -> float:
        for k in (i, j):
            if self.class_prior_[k] == 0:
                raise InputError(
                    f"Class {label_text(self.classes_[k])} has prior 0: it wins nowhere and has "
                    "no boundary."
                )
        return float(np.log(self.class_prior_[i] / self.class_prior_[j]))

    # What the family asks

    def _fit_partly(self, rows: PartlyLabelledRows) -> None:
        """EM over the labels that are missing."""
        from novum.bayes.partial_labels import NormalLaws

        if not self._has_formula():
            raise InputError(
                "unlabelled='em' climbs a likelihood: it needs estimate='maximum_likelihood' and "
                "one of covariance='full', 'tied', 'diagonal' or 'spherical', or put "
                "GaussianClassifier into novum.ensemble.SelfTraining."
            )

        def laws_of(some: PartlyLabelledRows, weight: float) -> NormalLaws:
            return NormalLaws(some, weight, self._structure(), self._floor(), self._given_prior())

        rule = UnlabelledRows.of(self.unlabelled)
        estimate = fit_partly_labelled(laws_of, rows, rule, type(self).__name__)
        sums, laws = estimate.fitted.statistics, estimate.laws
        expected = laws.statistics(sums.expected, sums.class_weight)
        densities = self._store_estimate(estimate.fitted.params.estimate, expected)
        self._store(expected, densities, estimate.fitted.certificate)
        self.class_prior_ = estimate.fitted.params.prior
        self.unlabelled_weight_ = estimate.weight
        self.__dict__.pop("statistics_", None)

    def _structure(self) -> str:
        return "full" if self.covariance == "evidence" else self.covariance

    def _given_prior(self) -> ArrayLike | None:
        return self.class_prior

    def _floor(self) -> float:
        return float(self.floor)

    def _stop_rule(self) -> StopRule:
        return StopRule(tol=float(self.tol), max_iter=int(self.max_iter))

    def _prior(self) -> WeakPrior:
        return self.parameter_prior or WeakPrior()

    def _has_formula(self) -> bool:
        return self.covariance != "evidence" and self.estimate == "maximum_likelihood"

    def _laws(self, statistics: GaussianStatistics) -> tuple[Densities, Certificate]:
        structure = self._structure()
        if self.covariance == "evidence":
            structure = compare_structures(statistics, self._prior()).best
        if self.estimate == "predictive":
            return self._predictive_laws(statistics, structure)
        return self._likely_laws(statistics, structure)

    def _predictive_laws(
        self, statistics: GaussianStatistics, structure: str
    ) -> tuple[Densities, Certificate]:
        densities = predictive_densities(statistics, structure, self._prior())
        self.means_, self.covariances_ = densities.location, _covariances(densities)
        self.covariance_structure_ = structure
        certificate = Certificate(
            objective="log evidence of the rows given their classes",
            verdict=Verdict.PROVED,
            value=log_evidence(statistics, structure, self._prior()),
            iterations=0,
            details={"structure": structure},
        )
        return densities, certificate


def _covariances(densities: Densities) -> Floats:
    """Covariances of Student laws, which exist for more than two degrees of freedom."""
    v = densities.degrees
    if isinstance(densities, ColumnDensities):
        return densities.variances * v / (v - 2)
    return densities.matrices * (densities.factor * v / (v - 2))[:, None, None]


def choose_covariance(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    parameter_prior: WeakPrior | None = None,
) -> CovarianceChoice:
    """Compare covariance structures by their evidence.

    Parameters
    ----------
    X, y, sample_weight
        As in `GaussianClassifier.fit`, without missing cells.
    parameter_prior : WeakPrior, optional

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, [1, 5], (60, 2)), rng.normal(3, [4, 1], (60, 2))])
    >>> choose_covariance(X, [0] * 60 + [1] * 60).best
    'diagonal'
    """
    statistics = GaussianClassifier().statistics(X, y, sample_weight)
    return compare_structures(statistics, parameter_prior)
