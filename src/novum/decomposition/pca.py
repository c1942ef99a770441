"""Principal components: the directions in which a table varies most.

The axes `u_1, ..., u_k` are orthonormal and maximize the variance of the coordinates,

    sum_j u_j'S u_j,       S = sum_i w_i (x_i - m)(x_i - m)',

which is the same as losing least when rows are replaced by their projections. They are the leading
eigenvectors of S. S is a sum over rows, so components can be fitted from chunks, files and
clusters, and rows can be added and removed exactly; where S would be larger than the rows, the axes
come from the rows themselves (`pca_routes`).
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from novum.core.errors import InputError
from novum.core.learners import (
    Certificate,
    ConvergenceWarning,
    Learner,
    Stopwatch,
    Verdict,
    count,
    fitted,
    parameter,
    share,
)
from novum.core.runtime import fit_context, fitting, round_attributes, seed
from novum.core.sums import StatisticsMixin, sum_blocks
from novum.core.tables import Sample, Schema
from novum.decomposition.component_choice import (
    ByEvidence,
    ByLikelihood,
    ByVariance,
    Rule,
    component_count,
    rule_of,
)
from novum.decomposition.component_statistics import ComponentStatistics
from novum.decomposition.held_out import held_out_scores
from novum.decomposition.numeric_rows import check_squares, numeric_sample
from novum.decomposition.pca_projection import PrincipalProjection
from novum.decomposition.pca_routes import (
    SUMS_WIDTH,
    Iteration,
    chosen_route,
    exact_budget,
    exact_spectrum,
    gram_spectrum,
    krylov_spectrum,
)
from novum.decomposition.spectrum import Spectrum, spectrum_of
from novum.numerics import Floats


def _adds_up(model: PCA) -> bool:
    """Whether the fit is a function of sums; scikit-learn hides `partial_fit` otherwise."""
    if not model._is_additive():
        raise AttributeError(
            f"{model!r} works on all rows at once and cannot add to them. Use svd_solver='auto' "
            "and a number of components, ByVariance or ByEvidence."
        )
    return True


class PCA(PrincipalProjection, StatisticsMixin, Learner):
    """Principal component analysis.

    Parameters
    ----------
    n_components : int, float, "mle", ByVariance, ByLikelihood, ByEvidence or None
        A number of components; a share of the variance below 1, the same as `ByVariance(share)`;
        `"mle"`, the same as `ByEvidence()`, Minka's choice; `ByLikelihood(folds)`, the number under
        which held-out rows are most probable. None keeps all, `min(n_rows, n_columns)`.
    copy : bool
        Without effect: `X` is never written to.
    whiten : bool
        Scales the coordinates to variance 1. Those without variance stay 0.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}
        "auto" takes the route of least cost that is exact, or an iteration carried to a residual of
        1e-10 where that is far cheaper. "full" works on a triangular factor and sees directions
        1e-12 as wide as the widest. "covariance_eigh" works on the scatter. "arpack" and
        "randomized" iterate on the rows and need a number of components.
    tol : float
        Residual at which "arpack" and "randomized" stop, as a share of the largest variance; 0 is
        1e-10.
    iterated_power : int or "auto"
        Products of "randomized" with the table; "auto" takes as many as the residual needs.
    n_oversamples : int
        Vectors of the iteration beyond the number of components.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}
        Without effect: blocks are always made orthogonal.
    random_state : int, RandomState, Generator or None
        Of the start of an iteration.

    Attributes
    ----------
    components_ : array (n_components, n_columns)
        Orthonormal axes by falling variance, the largest loading of each positive.
    explained_variance_ : array (n_components,)
        With denominator `weight - 1`.
    explained_variance_ratio_ : array (n_components,)
    singular_values_ : array (n_components,)
    mean_ : array (n_columns,)
    noise_variance_ : float
        Mean variance of the remaining `min(n_rows, n_columns) - n_components` directions.
    reconstruction_error_ : float
        Mean squared distance of a row from its projection.
    n_components_, n_samples_, n_features_in_ : int
    component_scores_ : array
        Where a rule compared numbers of components: for 0, 1, 2, ... the log-evidence up to a
        constant (`ByEvidence`) or the mean held-out log-likelihood (`ByLikelihood`).
    certificate_ : Certificate
        The reconstruction error with its bound from the residuals of the eigenpairs.
    statistics_ : ComponentStatistics
        Where the fit has sums: not from wide tables, and not with "arpack" and "randomized".

    Notes
    -----
    O(n d min(n, d)) operations. Columns are centered, not scaled. A weight says how often a row
    counts. Missing cells are refused; `ProbabilisticPCA` takes them. Nominal columns are refused.

    References
    ----------
    Jolliffe, "Principal Component Analysis", 2nd ed., 2002, chapters 2 and 3.

    Examples
    --------
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = PCA(n_components=1).fit(X)
    >>> model.components_.round(3).tolist(), model.explained_variance_ratio_.round(4).tolist()
    ([[0.838, 0.545]], [0.9924])
    >>> model.certificate_.verdict.value
    'proved'
    """

    n_components: Any = parameter(
        count(0),
        share("neither"),
        {"mle"},
        ByVariance,
        ByLikelihood,
        ByEvidence,
        None,
        default=None,
        kw_only=False,
    )
    copy: bool = parameter(default=True)
    whiten: bool = parameter(default=False)
    svd_solver: str = parameter(
        {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
    )
    tol: float = parameter(default=0.0, at_least=0)
    iterated_power: int | str = parameter({"auto"}, default="auto", at_least=0)
    n_oversamples: int = parameter(default=10, at_least=1)
    power_iteration_normalizer: str = parameter({"auto", "QR", "LU", "none"}, default="auto")
    random_state: Any = parameter("random_state", np.random.Generator, default=None)

    statistics_: ComponentStatistics = fitted()

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; folds are drawn by what rows hold."""
        drawn = isinstance(self.n_components, ByLikelihood)
        return ("row_order", "duplication") if drawn else ("shift", "row_order", "duplication")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Finds the components.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self) as watch:
            sample = self._read(X, y, sample_weight, None)
            rule, scores = self._rule(sample)
            spectrum, statistics = self._solve_rows(sample, rule)
            self._store(spectrum, sample.schema, rule, watch)
            if scores is not None:
                self.component_scores_ = scores
            self.__dict__.pop("statistics_", None)
            if statistics is not None:
                self.statistics_ = statistics
            round_attributes(
                self,
                X,
                "mean_",
                "components_",
                "explained_variance_",
                "explained_variance_ratio_",
                "singular_values_",
                "noise_variance_",
            )
        return self

    @available_if(_adds_up)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Adds rows to those the model has learned from; the first call starts anew."""
        return super().partial_fit(X, y, sample_weight)

    # Steps of a fit

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:  # noqa: ARG002
        return numeric_sample(self, X, sample_weight, schema)

    def _sum(self, sample: Sample) -> ComponentStatistics:
        return ComponentStatistics.of(sample, as_factor=self.svd_solver == "full")

    def _estimate(self, statistics: ComponentStatistics) -> None:
        rule = rule_of(self.n_components)
        count = rule if isinstance(rule, int) else None
        self._store(spectrum_of(statistics, count), statistics.schema, rule, Stopwatch())
        self.statistics_ = statistics

    def _is_additive(self) -> bool:
        iterates = self.svd_solver in ("arpack", "randomized")
        return not iterates and not isinstance(self.n_components, ByLikelihood)

    def _rule(self, sample: Sample) -> tuple[Rule | int | None, Floats | None]:
        """The rule, with a choice by likelihood already made."""
        rule = rule_of(self.n_components)
        if not isinstance(rule, ByLikelihood):
            return rule, None
        scores = held_out_scores(rule, sample, exact_spectrum)
        return int(np.argmax(scores)), scores

    def _solve_rows(
        self, sample: Sample, rule: Rule | int | None
    ) -> tuple[Spectrum, ComponentStatistics | None]:
        """The spectrum of rows in memory, with their sums where these are cheap."""
        n, d = sample.numeric.shape
        count = rule if isinstance(rule, int) else None
        if count is not None and count > n and count > np.floor(sample.weights.sum()):
            count = None
        route = chosen_route(n, d, count, self.svd_solver, sample.is_sparse)
        if route == "krylov":
            check_squares(sample)
            spectrum = self._iterated(sample, rule)
            if spectrum is not None:
                return spectrum, None
            route = "gram" if n < d else "sums"
        if route == "gram":
            statistics = sum_blocks(self._sum, sample) if d <= SUMS_WIDTH else None
            return gram_spectrum(sample, count), statistics
        statistics = sum_blocks(self._sum, sample)
        return spectrum_of(statistics, count), statistics

    def _iterated(self, sample: Sample, rule: Rule | int | None) -> Spectrum | None:
        """The leading pairs by iteration; None where "auto" had better solve exactly."""
        n, d = sample.numeric.shape
        given = self.svd_solver != "auto"
        if rule is None:
            rule = min(n, d) - (self.svd_solver == "arpack")
        if not isinstance(rule, int):
            raise InputError(
                f"n_components={self.n_components!r} needs the whole spectrum, which svd_solver="
                f"{self.svd_solver!r} does not find. Use svd_solver='auto'."
            )
        if self.svd_solver == "arpack" and rule == min(n, d):
            raise InputError(
                f"n_components={rule} must be strictly less than min(n_samples, n_features)="
                f"{min(n, d)} with svd_solver='arpack'. Use svd_solver='full'."
            )
        limited = self.svd_solver == "randomized" and self.iterated_power != "auto"
        products = int(self.iterated_power) + 1 if limited else 1000
        if not given:
            products = exact_budget(n, d, rule + self.n_oversamples)
        spectrum = krylov_spectrum(
            sample,
            rule,
            Iteration(self.n_oversamples, self.tol, products, seed(self.random_state, "start")),
        )
        return spectrum if given or spectrum.converged else None

    def _store(
        self, spectrum: Spectrum, schema: Schema, rule: Rule | int | None, watch: Stopwatch
    ) -> None:
        if not spectrum.weight > 1:
            raise InputError(
                f"PCA needs a variance, and a weight of {spectrum.weight:g} has none: n_samples=1 "
                "row is a single point. Give at least 2 rows; weights count repetitions, so scale "
                "those that sum to 1 by the number of rows."
            )
        default = min(spectrum.limit, len(spectrum.squares))
        count, scores = component_count(rule, spectrum, default, type(self).__name__)
        self.certificate_ = certify(spectrum, count, watch.seconds)
        if not spectrum.converged:
            warnings.warn(
                f"PCA: {self.certificate_.sentence}. Raise iterated_power or leave it 'auto', or "
                "loosen tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.schema_ = schema
        self._store_axes(spectrum, count)
        self.__dict__.pop("component_scores_", None)
        if scores is not None:
            self.component_scores_ = scores


# --- Certificate ----------------------------------------------------------------------------------
#
# What a fit of principal components can prove: residuals of eigenpairs as bounds.
#
# PCA with k axes minimizes the squared reconstruction error
#
#     f(U) = sum_i w_i |x_i - m - U'U (x_i - m)|^2 = trace S - sum_(j<=k) u_j'S u_j
#
# over orthonormal U; the minimum is the sum of the smallest eigenvalues. Let R be the residuals `S
# u_j - s_j u_j` of all pairs. There are k eigenvalues of S that differ from s_1, ..., s_k by at
# most |R| each, so f is within `k |R|` of what these eigenvalues allow, and the plane of the axes
# is within an angle of `sin a <= |R| / (s_k - s_(k+1) - |R|)` of theirs. Routines that find all
# eigenvalues, or the leading ones by counting (LAPACK), cannot mistake their order.


OBJECTIVE = "squared reconstruction error"

# Residuals below this share of the largest eigenvalue are rounding of sums over many rows.
_ROUNDING = 1e-9


def certify(spectrum: Spectrum, count: int, seconds: float) -> Certificate:
    """The certificate of the first `count` axes of a spectrum."""
    squares = spectrum.squares
    value = spectrum.outside(count)
    largest = float(squares[0]) if squares.size else 0.0
    relative = spectrum.residual / largest if largest > 0 else 0.0
    gap = min(count * spectrum.residual, value)
    exact = spectrum.iterations is None and relative <= _ROUNDING
    if exact:
        verdict = Verdict.PROVED
    elif spectrum.converged:
        verdict = Verdict.WITHIN_TOLERANCE
    else:
        verdict = Verdict.STOPPED_EARLY
    return Certificate(
        objective=OBJECTIVE,
        verdict=verdict,
        value=value,
        lower_bound=value - gap,
        residual=relative,
        iterations=spectrum.iterations,
        details=_details(spectrum, count),
        seconds=seconds,
    )


def _details(spectrum: Spectrum, count: int) -> dict[str, Any]:
    squares = spectrum.squares
    details: dict[str, Any] = {
        "route": spectrum.route,
        "components": count,
        "explained": float(squares[:count].sum()) / spectrum.total if spectrum.total > 0 else None,
    }
    if 0 < count < len(squares):
        room = float(squares[count - 1] - squares[count]) - spectrum.residual
        details["angle_bound"] = spectrum.residual / room if room > spectrum.residual else None
    return {name: value for name, value in details.items() if value is not None}
