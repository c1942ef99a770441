"""Nystroem's features: a kernel machine as a linear one, through landmarks.

    phi(x) = K_mm^(-1/2) k(landmarks, x),      phi(x)'phi(z) ~ k(x, z)

`K_mm` are the similarities of the landmarks; its inverse root leaves out directions of rounding, so
equal landmarks do no harm. Landmarks are drawn at random, or chosen greedily where the error is
largest. What is left of the similarities of the training objects to themselves,
`sum_i k(x_i, x_i) - |phi(x_i)|^2`, is the trace of the error matrix and bounds all its norms.

References
----------
Williams and Seeger, "Using the Nystroem method to speed up kernel machines", 2001.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Learner, parameter
from novum.core.runtime import RandomSource, check_memory, fit_context, fitting, run_tasks, stream
from novum.core.tables import Sample, check_features, check_sample, treatment_rows
from novum.kernels.callables import FromCallable, read_objects, taken
from novum.kernels.landmarks.low_rank import inverse_root, low_rank_certificate
from novum.kernels.landmarks.pivoted_cholesky import pivoted_cholesky
from novum.kernels.names import NAMES, resolve_kernel
from novum.kernels.precomputed import Precomputed
from novum.kernels.protocol import Kernel
from novum.kernels.validity import refuse_indefinite
from novum.numerics import Floats, Positions

# Similarities computed at once; larger blocks gain nothing.
BLOCK_ENTRIES = 2**20


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Learner):
    """Features whose inner products approximate a kernel, with a bound of the error.

    Parameters
    ----------
    kernel : str, callable or Kernel
        "linear", "poly", "rbf", "sigmoid", "cosine" or "precomputed"; a function of two rows that
        returns a number; or any kernel of `novum.kernels`, also of strings, graphs and trees.
    gamma, coef0, degree : float, optional
        Of the named kernels; by default 1 / n_columns, 1 and 3, as in scikit-learn.
    kernel_params : dict, optional
        Keywords of a function.
    n_components : int
        Landmarks; all rows where there are fewer, with a warning.
    random_state : int, generator or None
        Of the draw.
    n_jobs : int, optional
        Blocks of rows transformed at once; results do not depend on it.
    landmarks : {"uniform", "greedy"}
        Drawn at random without replacement, or by pivoted Cholesky: always the row whose
        similarity to itself is explained least, until nothing is left to explain.
    indefinite : {"refuse", "project"}
        What to do where the landmarks' similarities are not positive semi-definite: raise, or
        leave out the directions of negative eigenvalues.
    categorical_features : "auto", "all", None, mask, names or indices
        Columns to be coded by their levels, for kernels of vectors.

    Attributes
    ----------
    components_ : array, sparse matrix, list or table
        The landmarks; None for "precomputed".
    component_indices_ : int array of shape (n_components,)
        Where they stand in the training.
    normalization_ : array of shape (n_components, n_components)
        `K_mm^(-1/2)`, of the rank of `K_mm`.
    kernel_ : Kernel
        With all its settings as numbers.
    certificate_ : Certificate
        The trace of the error on the training objects, and the spectral bound it gives; with
        greedy landmarks the trace after every choice.
    n_features_in_ : int

    Notes
    -----
    A fit computes n m similarities of n objects and m landmarks. Missing cells are refused.

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0]]
    >>> model = Nystroem(gamma=0.5, n_components=3, landmarks="greedy").fit(X)
    >>> features = model.transform(X)
    >>> (features @ features.T).round(4).tolist()[0]
    [1.0, 0.6065, 0.0111]
    >>> model.certificate_.verdict.value
    'proved'
    """

    kernel: Any = parameter(set(NAMES), callable, Kernel, default="rbf", kw_only=False)
    gamma: float | None = parameter(default=None, at_least=0)
    coef0: float | None = parameter(Interval(Real, None, None, closed="neither"), default=None)
    degree: float | None = parameter(default=None, at_least=1)
    kernel_params: dict[str, Any] | None = parameter(dict, default=None)
    n_components: int = parameter(default=100, at_least=1)
    random_state: RandomSource = parameter(default=None)
    n_jobs: int | None = parameter(default=None)
    landmarks: str = parameter({"uniform", "greedy"}, default="uniform")
    indefinite: str = parameter({"refuse", "project"}, default="refuse")
    categorical_features: Any = parameter(default="auto")

    # The landmarks are rows of the training.
    _holds_training_rows = True
    invariances: ClassVar[tuple[str, ...]] = ()

    # Fitting

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Chooses the landmarks.

        Parameters
        ----------
        X : rows, a table, objects, or the square matrix of a precomputed kernel
        y : ignored

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self) as watch:
            objects = self._read(X)
            rows = self.kernel_.prepare(objects)
            chosen, trace = self._chosen(rows)
            landmarks = rows.take(chosen)
            if self.indefinite == "refuse":
                refuse_indefinite(self.kernel_, landmarks)
            self.normalization_ = inverse_root(landmarks.gram())
            self.component_indices_ = chosen
            self._components = self._kept(objects, chosen)
            self._n_features_out = len(chosen)
            residual = self._residual(rows, landmarks)
            errors = np.append(trace[:-1], residual.sum())
            self.certificate_ = low_rank_certificate(
                self.kernel_, errors, residual, chosen, seconds=watch.seconds
            )
        return self

    def _chosen(self, rows: Any) -> tuple[Positions, Floats]:
        """Positions of the landmarks, and the trace of the error on the way."""
        n = len(rows)
        if self.n_components > n:
            warnings.warn(
                f"n_components={self.n_components} landmarks were asked for, but there are "
                f"n_samples={n} rows: all of them are landmarks. Lower n_components.",
                UserWarning,
                stacklevel=4,
            )
        wanted = min(self.n_components, n)
        if self.landmarks == "greedy":
            factor = pivoted_cholesky(rows, wanted)
            # Objects without any similarity leave nothing to choose; one keeps the shapes alive.
            if len(factor.landmarks):
                return factor.landmarks, factor.errors
            wanted = 1
        drawn = stream(self.random_state, "landmarks").permutation(n)[:wanted]
        total = float(np.maximum(rows.diagonal(), 0.0).sum())
        return drawn.astype(np.intp), np.array([total, 0.0])

    def _residual(self, rows: Any, landmarks: Any) -> Floats:
        """What the features leave of every object's similarity to itself."""
        left = np.array(rows.diagonal(), float)
        for part in _blocks(len(rows), len(landmarks)):
            features = rows.take(part).cross(landmarks, np.float64) @ self.normalization_.T
            left[part] -= np.einsum("ij,ij->i", features, features)
        return np.maximum(left, 0.0)

    # Transforming

    def transform(self, X: Any) -> Floats:
        """Features of rows or objects, of shape (n, n_components)."""
        check_is_fitted(self, "normalization_")
        landmarks = self._landmark_rows()
        new = self.kernel_.prepare(self._read_new(X), landmarks)
        check_memory(
            8 * len(new) * len(landmarks),
            f"Features of {len(new)} rows by {len(landmarks)} landmarks",
            "Transform fewer rows at a time.",
        )

        def features(part: slice) -> Floats:
            block = new.take(part).cross(landmarks, np.float64)
            return np.asarray(block @ self.normalization_.T)

        parts = list(_blocks(len(new), len(landmarks)))
        return np.vstack(run_tasks(features, parts, self.n_jobs))

    @property
    def components_(self) -> Any:
        """The landmarks as they were given, coded where they are rows of a table."""
        check_is_fitted(self, "normalization_")
        kept = self._components
        if isinstance(kept, dict):
            return sparse.csr_matrix(
                (kept["data"], kept["indices"], kept["indptr"]), shape=tuple(kept["shape"])
            )
        return list(kept) if isinstance(kept, tuple) else kept

    def _landmark_rows(self) -> Any:
        if isinstance(self.kernel_, Precomputed):
            return Precomputed.positions(self.component_indices_, self.n_features_in_)
        return self.kernel_.prepare(self.components_)

    # Reading

    def _read(self, X: Any) -> Any:
        """The training objects as `Kernel.prepare` takes them; sets `kernel_` and `schema_`."""
        plain = self.kernel if isinstance(self.kernel, Kernel) else None
        if plain is not None and plain.takes == "objects":
            self.kernel_, self.schema_ = plain, None
            return read_objects(X, type(self).__name__)
        pairwise = self._is_pairwise()
        sample = check_sample(self, X, target="none", accept_sparse=not pairwise)
        self.schema_ = sample.schema
        if plain is not None and plain.takes == "table":
            self.kernel_ = plain
            return sample
        objects = sample.numeric if pairwise else _vectors(sample)
        self.kernel_ = plain if plain is not None else self._named(objects)
        return objects

    def _read_new(self, X: Any) -> Any:
        if self.schema_ is None:
            return read_objects(X, type(self).__name__)
        pairwise = isinstance(self.kernel_, Precomputed)
        sample = check_features(self, X, accept_sparse=not pairwise, tell_unseen=False)
        if self.kernel_.takes == "table":
            return sample
        return sample.numeric if pairwise else _vectors(sample)

    def _named(self, X: Any) -> Kernel:
        settings = (self.gamma, self.coef0, self.degree)
        if (callable(self.kernel) or self._is_pairwise()) and settings != (None, None, None):
            raise InputError(
                "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed "
                "kernel: they belong to the named kernels. Pass kernel_params to a function."
            )
        if X.shape[1] == 0:
            raise InputError(
                f"Nystroem has no column to compare rows by: in n_samples={X.shape[0]} rows every "
                "column has a single level. Give columns that differ between rows."
            )
        if callable(self.kernel) and self.kernel_params:
            return FromCallable(_WithKeywords(self.kernel, self.kernel_params), "pair")
        return resolve_kernel(
            self.kernel,
            gamma=self.gamma,
            degree=3 if self.degree is None else self.degree,
            coef0=1.0 if self.coef0 is None else self.coef0,
            X=X,
            callable_form="pair",
        )

    def _is_pairwise(self) -> bool:
        if isinstance(self.kernel, str):
            return self.kernel == "precomputed"
        return isinstance(self.kernel, Precomputed)

    def _kept(self, objects: Any, chosen: Positions) -> Any:
        """The landmarks in a form that a model file can hold."""
        if isinstance(self.kernel_, Precomputed):
            return None
        if isinstance(objects, Sample):
            return objects.rows(chosen)
        if sparse.issparse(objects):
            part = sparse.csr_array(objects[chosen])
            return {
                "data": part.data,
                "indices": part.indices,
                "indptr": part.indptr,
                "shape": tuple(int(size) for size in part.shape),
            }
        return taken(objects, chosen) if isinstance(objects, tuple) else objects[chosen]

    # scikit-learn and files

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        takes = self.kernel.takes if isinstance(self.kernel, Kernel) else "vectors"
        pairwise = self._is_pairwise()
        tags.input_tags.pairwise = pairwise
        tags.input_tags.sparse = takes == "vectors" and not pairwise
        tags.input_tags.two_d_array = takes != "objects"
        chosen = self.categorical_features
        tags.input_tags.string = chosen is not None and not pairwise
        tags.input_tags.categorical = isinstance(chosen, str) and chosen == "all"
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        m = len(self.component_indices_)
        if self.normalization_.shape != (m, m) or not np.isfinite(self.normalization_).all():
            raise ModelFileError(
                f"The model has {m} landmarks and a normalization of shape "
                f"{self.normalization_.shape}, or one that is not finite."
            )
        if len(self._landmark_rows()) != m:
            raise ModelFileError(f"The model does not hold {m} landmarks.")


class _WithKeywords:
    """A function of two objects with some keywords filled in."""

    def __init__(self, function: Any, keywords: dict[str, Any]) -> None:
        self.function, self.keywords = function, dict(keywords)
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, x: Any, z: Any) -> Any:
        return self.function(x, z, **self.keywords)


def _vectors(sample: Sample) -> Any:
    if not sample.is_sparse:
        return np.ascontiguousarray(treatment_rows(sample, 0, sample.n_rows))
    rows = sparse.csr_array(sample.numeric)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _blocks(n: int, width: int) -> Iterator[slice]:
    """Slices of rows; their cut depends on the shapes alone."""
    size = max(1, BLOCK_ENTRIES // max(1, width))
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
