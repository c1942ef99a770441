"""Linear and quadratic discriminant analysis under scikit-learn's names.

Both are Gaussian classifiers (`gaussian_model`): linear with one covariance for all classes, which
makes every boundary a hyperplane,

    delta_k(x) = x' C^-1 m_k - m_k' C^-1 m_k / 2 + log p(k),

quadratic with one covariance for each class,

    delta_k(x) = -(x - m_k)' C_k^-1 (x - m_k) / 2 - log|C_k| / 2 + log p(k).

Covariances are the most likely ones (divided by the weight, not by the weight minus one).
"""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils._param_validation import HasMethods

from novum.bayes.gaussian_covariance import (
    Adjustment,
    GaussianEstimate,
    certify,
    known_means,
    ledoit_wolf,
    mixed_with_identity,
    raised_to_floor,
    reference_variances,
    shrunk,
)
from novum.bayes.gaussian_model import Densities, GaussianModel
from novum.bayes.gaussian_statistics import GaussianStatistics, class_rows
from novum.core.errors import InputError
from novum.core.learners import Certificate, parameter
from novum.core.runtime import answered, kept_float, round_attributes
from novum.core.tables import Sample
from novum.decomposition import directions_of, ratio_shares
from novum.distributions import MatrixDensities
from novum.numerics import Floats, Positions, one_blas_thread

# Directions of `transform`, solved once for the laws of each fit. They are no attribute of a model,
# because asking it must not change it.
_DIRECTIONS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


class DiscriminantAnalysis(GaussianModel):
    """What the two share: shrunk covariances, from sums or, for some shrinkages, from rows."""

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; shrinkage compares columns with each other."""
        plain = self._adjustment() is None and self.covariance_estimator is None
        units = "column_scale" if plain else "common_scale"
        known = ("shift", "row_order", "duplication")
        return known if getattr(self, "reg_param", 0.0) else (*known, units)

    @property
    def priors_(self) -> Floats:
        """Class priors under scikit-learn's name."""
        return self.class_prior_

    def _given_prior(self) -> ArrayLike | None:
        return self.priors

    def _is_additive(self) -> bool:
        return self.shrinkage != "auto" and self.covariance_estimator is None

    def _adjustment(self) -> Adjustment | None:
        if not isinstance(self.shrinkage, Real) or self.shrinkage == 0:
            return None
        return partial(shrunk, amount=float(self.shrinkage))

    def _fit_rows(self, sample: Sample) -> None:
        """A fit whose covariances are not functions of sums."""
        if self.shrinkage is not None and self.covariance_estimator is not None:
            raise InputError("Give either shrinkage or covariance_estimator, not both.")
        statistics = GaussianStatistics.of(sample, by_column=False)
        matrices = np.array([self._of_rows(sample, rows, w) for _, rows, w in class_rows(sample)])
        estimate = self._estimate_of(statistics, matrices)
        self._store(
            statistics, self._store_estimate(estimate, statistics), certify(estimate, statistics)
        )
        self.__dict__.pop("statistics_", None)

    def _of_rows(self, sample: Sample, rows: Positions, weight: Floats | None) -> Floats:
        X = sample.numeric[rows]
        if self.covariance_estimator is None:
            return ledoit_wolf(X, weight)
        if weight is not None:
            raise InputError(
                "A covariance_estimator knows no weights. Leave out sample_weight, or use "
                "shrinkage."
            )
        # Any object with `fit` and `covariance_` will do; its `fit` need not return it.
        estimator = clone(self.covariance_estimator, safe=False)
        estimator.fit(X)
        matrix = np.asarray(estimator.covariance_, float)
        if matrix.shape != (X.shape[1], X.shape[1]):
            raise InputError(
                f"covariance_estimator gave a covariance of shape {matrix.shape} for {X.shape[1]} "
                "columns."
            )
        return matrix

    def _estimate_of(self, statistics: GaussianStatistics, matrices: Floats) -> GaussianEstimate:
        """The estimate with these covariances of classes (K, d, d)."""
        raise TypeError(
            f"{type(self).__name__} does not say what it does with {len(matrices)} covariances of "
            f"{len(statistics.classes)} classes."
        )


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, DiscriminantAnalysis
):
    """Gaussian classes with one covariance: linear boundaries.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}
        All are solved alike; the name decides what scikit-learn's solvers of that name do with
        given priors. "svd" pools the classes by their weights, the others by their priors. The
        zero of `decision_function` differs too: "svd" puts it at `xbar_`.
    shrinkage : None, "auto" or float from 0 to 1
        Towards the mean variance; "auto" by Ledoit and Wolf, from the rows of each class.
    priors : array-like of shape (n_classes,), optional
    n_components : int, optional
        Directions that `transform` keeps; by default all, at most the number of classes minus one.
    store_covariance : bool
        Without effect: `covariance_` is always there.
    tol : float
        Without effect: directions without spread are found relative to the columns' variances.
    covariance_estimator : object with `fit` and `covariance_`, optional
        Fitted to the rows of each class.

    Attributes
    ----------
    coef_ : array (n_classes, n_columns), or (1, n_columns) for two classes
    intercept_ : array (n_classes,), or (1,)
    covariance_ : array (n_columns, n_columns)
    means_, priors_, classes_, xbar_
    scalings_ : array (n_columns, n_components)
        Directions of largest variance between classes relative to that within them, which is 1
        along each.
    explained_variance_ratio_ : array (n_components,)
        Shares of the directions in the variance between classes.

    Notes
    -----
    `transform` projects on Fisher's directions, as `novum.decomposition.DiscriminantProjection`
    does, which keeps them from fit to fit, adds rows and goes back; here they are found when they
    are asked for, and a row with a missing cell has no coordinates (NaN). Given priors weigh class
    means for both solvers. Where the covariance has no spread in some direction (collinear
    columns, fewer rows than columns), scikit-learn drops the direction; here its variance is raised
    to 1e-9 of the columns', with a warning. Missing cells, weights, statistics, noise and working
    points are as in `GaussianClassifier`; `shrinkage="auto"` and `covariance_estimator` need every
    cell and all rows at once.

    Examples
    --------
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]]).tolist()
    [1]
    """

    solver: str = parameter({"svd", "lsqr", "eigen"}, default="svd", kw_only=False)
    shrinkage: str | float | None = parameter(
        {"auto"}, default=None, at_least=0, at_most=1, kw_only=False
    )
    priors: ArrayLike | None = parameter("array-like", default=None, kw_only=False)
    n_components: int | None = parameter(default=None, at_least=1, kw_only=False)
    store_covariance: bool = parameter(default=False, kw_only=False)
    tol: float = parameter(default=1e-4, at_least=0, kw_only=False)
    covariance_estimator: Any = parameter(HasMethods("fit"), None, default=None, kw_only=False)

    @property
    def covariance_(self) -> Floats:
        """The covariance that all classes share."""
        return self.covariances_

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model; see `GaussianClassifier.fit`."""
        super().fit(X, y, sample_weight)
        round_attributes(self, X, "means_")
        return self

    @property
    def xbar_(self) -> Floats:
        """Mean of the class means, weighted by the priors."""
        return self._center().astype(self.means_.dtype)

    @property
    def coef_(self) -> Floats:
        """Coefficients of `decision_function`."""
        coef = self._discriminants()[0]
        directions = coef[1:] - coef[:1] if len(self.classes_) == 2 else coef
        return directions.astype(self.means_.dtype)

    @property
    def intercept_(self) -> Floats:
        """Constants of `decision_function`."""
        coef, offset = self._discriminants()
        constant = offset - coef @ self._center()
        offsets = constant[1:] - constant[:1] if len(self.classes_) == 2 else constant
        return offsets.astype(self.means_.dtype)

    # Projection

    @property
    def scalings_(self) -> Floats:
        """Directions of `transform`, as columns."""
        return self._directions()[0].astype(self.means_.dtype)

    @property
    def explained_variance_ratio_(self) -> Floats:
        """Shares of the directions in the variance between classes."""
        return self._directions()[1]

    @property
    def _n_features_out(self) -> int:
        return self._directions()[0].shape[1]

    def transform(self, X: Any) -> Floats:
        """Coordinates of the rows along the directions (n_rows, n_components)."""
        rows = self._rows(X)
        # scikit-learn's "eigen" projects about the origin, and its "lsqr" not at all.
        about = rows if self.solver == "eigen" else rows - self._center()
        with one_blas_thread():
            return np.asarray(about @ self._directions()[0], kept_float(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _directions(self) -> tuple[Floats, Floats]:
        """The directions, and their shares in the variance between classes."""
        laws = self.densities_
        directions = _DIRECTIONS.get(laws)
        if directions is None:
            directions = directions_of(self._within(), laws.location, self.class_prior_)
            _DIRECTIONS[laws] = directions
        kept = self.n_components or len(self.classes_) - 1
        return directions.scalings[:, :kept], ratio_shares(directions)[:kept]

    def _within(self) -> Floats:
        """Covariance within classes, as summed: a floor would pass for spread of its own."""
        statistics = getattr(self, "statistics_", None)
        if statistics is None:
            return self.covariance_
        weight = np.where(statistics.weight > 0, statistics.weight, 1.0)
        shares = statistics.weight / statistics.weight.sum()
        if self.priors is not None and self.solver != "svd":
            shares = self.class_prior_
        within = np.einsum("k,kij->ij", shares / weight, statistics.scatters)
        change = self._adjustment()
        return within if change is None else change(within)

    def decision_function(self, X: Any) -> Floats:
        """Log posteriors up to a term that all classes share; of two classes the difference."""
        rows = self._rows(X)
        if np.isnan(np.sum(rows)):
            scores = self._joint(rows)
        else:
            coef, offset = self._discriminants()
            scores = (rows - self._center()) @ coef.T + offset
        decisions = scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores
        return answered(self.means_, X, decisions)

    def predict_proba(self, X: Any, noise: ArrayLike | None = None) -> Floats:
        """Posterior probabilities of the classes; see `GaussianClassifier.predict_proba`."""
        probabilities = super().predict_proba(X, noise)
        return answered(self.means_, X, probabilities)

    def predict_log_proba(self, X: Any, noise: ArrayLike | None = None) -> Floats:
        """Logarithms of `predict_proba`, right also where probabilities underflow."""
        logs = super().predict_log_proba(X, noise)
        return answered(self.means_, X, logs)

    def _center(self) -> Floats:
        """`xbar_` in double precision."""
        return np.asarray(self.class_prior_ @ self.densities_.location)

    def _discriminants(self) -> tuple[Floats, Floats]:
        """Coefficients (K, d), and the scores at `xbar_` (K,)."""
        law = self.densities_
        assert isinstance(law, MatrixDensities)
        A = law.roots[0][0]
        center = self._center()
        about = law.location - center
        coef = about @ A @ A.T
        offset = -0.5 * np.einsum("ij,ij->i", coef, about) + self._log_prior()
        if self.solver != "svd":
            # The same scores about the origin: one term more, shared by all classes.
            shared = center @ A @ A.T
            offset = offset + 0.5 * float(shared @ center)
            coef = coef + shared
        return coef, offset

    # What the family asks

    def _structure(self) -> str:
        return "tied"

    def _check_components(self, statistics: GaussianStatistics) -> None:
        classes = len(statistics.classes)
        most = min(classes - 1, statistics.schema.n_columns)
        if self.n_components is not None and self.n_components > most:
            raise InputError(
                "n_components cannot be larger than min(n_features, n_classes - 1), which is "
                f"{most} for {classes} class{'' if classes == 1 else 'es'}, got "
                f"{self.n_components}."
            )

    def _has_formula(self) -> bool:
        pooled = self.priors is None or self.solver == "svd"
        return pooled and self._adjustment() is None and self._is_additive()

    def _laws(self, statistics: GaussianStatistics) -> tuple[Densities, Certificate]:
        if self._has_formula():
            self._check_components(statistics)
            return self._likely_laws(statistics, "tied")
        weight = np.where(statistics.weight > 0, statistics.weight, 1.0)
        change = self._adjustment() or (lambda matrix: matrix)
        matrices = [
            change(scatter / amount)
            for scatter, amount in zip(statistics.scatters, weight, strict=True)
        ]
        estimate = self._estimate_of(statistics, np.array(matrices))
        return self._store_estimate(estimate, statistics), certify(estimate, statistics)

    def _estimate_of(self, statistics: GaussianStatistics, matrices: Floats) -> GaussianEstimate:
        self._check_components(statistics)
        shares = statistics.weight / statistics.weight.sum()
        if self.priors is not None and self.solver != "svd":
            shares = np.asarray(self.priors, float)
            if shares.shape != statistics.weight.shape:
                shares = statistics.weight / statistics.weight.sum()
        pooled = np.einsum("k,kij->ij", shares, matrices)
        raised = raised_to_floor(pooled, reference_variances(statistics), self._floor())
        return GaussianEstimate.of_matrices("tied", known_means(statistics), [raised])


class QuadraticDiscriminantAnalysis(DiscriminantAnalysis):
    """Gaussian classes with a covariance each: quadratic boundaries.

    Parameters
    ----------
    solver : {"svd", "eigen"}
        Without effect: both are solved alike.
    shrinkage : None, "auto" or float from 0 to 1
        Towards the mean variance of each class; "auto" by Ledoit and Wolf, from its rows.
    priors : array-like of shape (n_classes,), optional
    reg_param : float from 0 to 1
        Mixes this share of the identity into every covariance, in the units of the columns.
    store_covariance : bool
        Without effect: `covariance_` is always there.
    tol : float
        Without effect: directions without spread are found relative to the columns' variances.
    covariance_estimator : object with `fit` and `covariance_`, optional
        Fitted to the rows of each class.

    Attributes
    ----------
    covariance_ : list of n_classes arrays (n_columns, n_columns)
    rotations_, scalings_ : lists of n_classes arrays
        Eigenvectors and eigenvalues of the covariances, largest first.
    means_, priors_, classes_

    Notes
    -----
    A class without spread in some direction is an error in scikit-learn; here its variance there is
    raised to 1e-9 of the columns', with a warning, and a class may have a single row. Missing
    cells, weights, statistics, noise and working points are as in `GaussianClassifier`;
    `shrinkage="auto"` and `covariance_estimator` need every cell and all rows at once.

    Examples
    --------
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]]).tolist()
    [1]
    """

    solver: str = parameter({"svd", "eigen"}, default="svd")
    shrinkage: str | float | None = parameter({"auto"}, default=None, at_least=0, at_most=1)
    priors: ArrayLike | None = parameter("array-like", default=None)
    reg_param: float = parameter(default=0.0, at_least=0, at_most=1)
    store_covariance: bool = parameter(default=False)
    tol: float = parameter(default=1e-4, at_least=0)
    covariance_estimator: Any = parameter(HasMethods("fit"), None, default=None)

    @property
    def covariance_(self) -> list[Floats]:
        """Covariance of each class."""
        return list(self.covariances_)

    @property
    def rotations_(self) -> list[Floats]:
        """Principal axes of each class, as columns."""
        return [vectors[:, ::-1] for vectors in np.linalg.eigh(self.covariances_)[1]]

    @property
    def scalings_(self) -> list[Floats]:
        """Variances of each class along its principal axes."""
        return [values[::-1] for values in np.linalg.eigvalsh(self.covariances_)]

    def decision_function(self, X: Any) -> Floats:
        """Log posteriors up to a term that all classes share; of two classes the difference."""
        rows = self._rows(X)
        scores = self._joint(rows)
        present = rows.shape[1] - np.isnan(rows).sum(axis=1)
        scores += 0.5 * np.log(2 * np.pi) * present[:, None]
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    # What the family asks

    def _structure(self) -> str:
        return "full"

    def _adjustment(self) -> Adjustment | None:
        shrink, amount = super()._adjustment(), float(self.reg_param)
        if amount == 0:
            return shrink
        return lambda matrix: mixed_with_identity(shrink(matrix) if shrink else matrix, amount)

    def _has_formula(self) -> bool:
        return self._adjustment() is None and self._is_additive()

    def _estimate_of(self, statistics: GaussianStatistics, matrices: Floats) -> GaussianEstimate:
        reference, amount = reference_variances(statistics), float(self.reg_param)
        raised = [
            raised_to_floor(mixed_with_identity(matrix, amount), reference, self._floor())
            for matrix in matrices
        ]
        return GaussianEstimate.of_matrices("full", known_means(statistics), raised)
