"""Arrays in, arrays out: compiled kernels, moments, counts, linear algebra. Knows no estimator."""

from novum.numerics.blas_threads import one_blas_thread
from novum.numerics.cholesky import (
    Downdate,
    cholesky_downdate,
    cholesky_factor,
    cholesky_update,
    mahalanobis,
)
from novum.numerics.column_moments import ColumnMoments, column_moments_of
from novum.numerics.counting import (
    MISSING,
    UNSEEN,
    ClassCounts,
    CountTable,
    count_by_class,
    count_jointly,
    count_levels,
)
from novum.numerics.coupling import (
    Coupling,
    couple_least_squares,
    normalize_one_vs_rest,
    pair_indices,
    vote_scores,
)
from novum.numerics.coupling_likelihood import couple_likelihood
from novum.numerics.definiteness import (
    Definiteness,
    PointKind,
    StationaryPoint,
    Verdict,
    definiteness_of,
    stationary_point,
)
from novum.numerics.eigen import EigenPairs, power_iteration, rayleigh_quotient
from novum.numerics.jit import (
    as_argument,
    fast_inner_kernel,
    fast_kernel,
    inner_kernel,
    kernel,
    lean_kernel,
    registered_kernels,
)
from novum.numerics.linear_algebra import (
    angle,
    coordinates,
    from_coordinates,
    is_in_span,
    matrix_in_basis,
    orthonormal_basis,
    project,
    projection_matrix,
    rank,
    subspace_angles,
)
from novum.numerics.logspace import log_add, log_mean, log_normalize, log_subtract, log_sum_exp
from novum.numerics.moments import Moments, autocorrelation, moments_of
from novum.numerics.warmup import KernelOutcome, WarmupResult, warm_up

__all__ = [
    "MISSING",
    "UNSEEN",
    "ClassCounts",
    "ColumnMoments",
    "CountTable",
    "Coupling",
    "Definiteness",
    "Downdate",
    "EigenPairs",
    "KernelOutcome",
    "Moments",
    "PointKind",
    "StationaryPoint",
    "Verdict",
    "WarmupResult",
    "angle",
    "as_argument",
    "autocorrelation",
    "cholesky_downdate",
    "cholesky_factor",
    "cholesky_update",
    "column_moments_of",
    "coordinates",
    "count_by_class",
    "count_jointly",
    "count_levels",
    "couple_least_squares",
    "couple_likelihood",
    "definiteness_of",
    "fast_inner_kernel",
    "fast_kernel",
    "from_coordinates",
    "inner_kernel",
    "is_in_span",
    "kernel",
    "lean_kernel",
    "log_add",
    "log_mean",
    "log_normalize",
    "log_subtract",
    "log_sum_exp",
    "mahalanobis",
    "matrix_in_basis",
    "moments_of",
    "normalize_one_vs_rest",
    "one_blas_thread",
    "orthonormal_basis",
    "pair_indices",
    "power_iteration",
    "project",
    "projection_matrix",
    "rank",
    "rayleigh_quotient",
    "registered_kernels",
    "stationary_point",
    "subspace_angles",
    "vote_scores",
    "warm_up",
]
