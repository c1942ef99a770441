"""What a kernel learner is given: objects of any kind, read by what its kernel takes.

    vectors       rows of numbers, dense or sparse; nominal columns are coded by their levels
    table         rows of a table, columns with their kinds
    objects       a sequence of anything else, such as strings or graphs
    precomputed   similarities themselves: of all pairs of training objects, or of new ones to them

A row of weight zero is absent. Rows that are equal, with equal targets, are one object that weighs
as much as all of them, and objects stand in an order that depends on their cells alone; the order
of a table therefore does not matter, and weight 2 is the row twice, to the last bit. Objects that
are neither vectors nor tables keep their order and are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from novum.core.errors import InputError
from novum.core.tables import (
    Sample,
    Schema,
    Target,
    check_classes,
    check_features,
    check_numbers,
    check_sample,
    checked_weight,
    plain_target,
    treatment_rows,
)
from novum.kernels import Kernel, Precomputed, resolve_kernel, rows_of
from novum.numerics import Array, Floats, Positions, distinct_rows

# --- Values ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SparseVectors:
    """Rows of a CSR matrix, in the form in which a model keeps and saves them.

    Attributes
    ----------
    data : float array of shape (n_stored,)
    indices : int array of shape (n_stored,)
    starts : int array of shape (n_rows + 1,)
    n_columns : int
    """

    data: Floats
    indices: Array
    starts: Array
    n_columns: int

    def __post_init__(self) -> None:
        # A file may say anything; SciPy checks that the three arrays describe a matrix.
        self.matrix().check_format(full_check=True)

    @classmethod
    def of(cls, X: Any) -> SparseVectors:
        """The rows of a CSR matrix."""
        return cls(X.data, X.indices, X.indptr, int(X.shape[1]))

    def matrix(self) -> Any:
        """The rows as a CSR matrix again."""
        shape = (len(self.starts) - 1, self.n_columns)
        return sparse.csr_matrix((self.data, self.indices, self.starts), shape=shape)


@dataclass(frozen=True, eq=False)
class KernelSample:
    """The distinct objects that a kernel learner is fitted to.

    Attributes
    ----------
    kernel : Kernel
    objects : array, CSR matrix, Sample, tuple or square matrix
        What `kernel.prepare` takes, m of them.
    target : array of shape (m,), or None
        Numbers, or codes of `classes`.
    classes : array, or None
    weight : array of shape (m,)
        The total weight of the rows that are this object.
    rows : int array of shape (n,)
        Positions in the given table of the rows that count.
    group : int array of shape (n,)
        The object that each of these rows is.
    row_weight : array of shape (n,)
    n_rows : int
        Of the given table, rows of weight zero included.
    schema : Schema, or None
    """

    kernel: Kernel
    objects: Any
    target: Any
    classes: Array | None
    weight: Floats
    rows: Positions
    group: Positions
    row_weight: Floats
    n_rows: int
    schema: Schema | None = None

    @property
    def prepared(self) -> Any:
        """The objects in the form in which the kernel computes."""
        if isinstance(self.kernel, Precomputed):
            whole = self.kernel.prepare(self.objects)
            return whole if len(self.rows) == self.n_rows else whole.take(self.rows)
        return self.kernel.prepare(self.objects)

    @property
    def row_target(self) -> Any:
        """The target of every row that counts, of shape (n,)."""
        return self.target[self.group]

    @property
    def kinds(self) -> Positions:
        """The kind of every object, whatever its target, of shape (m,)."""
        if isinstance(self.kernel, Precomputed) or isinstance(self.objects, tuple):
            return np.arange(len(self.weight))
        return distinct_rows(_cells(self.objects)).group

    def to_rows(self, values: Floats) -> Floats:
        """Shares of the objects' values, of shape (..., m), that fall to their rows, (..., n)."""
        share = self.row_weight / self.weight[self.group]
        return np.asarray(values[..., self.group] * share)

    def objects_of_rows(self, chosen: Positions) -> Any:
        """The objects of some of the rows, in the form in which a model keeps them."""
        if isinstance(self.kernel, Precomputed):
            return None
        return kept_objects(self.objects, self.group[chosen])


def kept_objects(objects: Any, chosen: Positions) -> Any:
    """Some of the objects, as a value that a model file can hold."""
    if isinstance(objects, Sample):
        part = objects.rows(chosen)
        return replace(part, target=None, classes=None, weight=None)
    if sparse.issparse(objects):
        return SparseVectors.of(objects[chosen])
    if isinstance(objects, tuple):
        return tuple(objects[i] for i in chosen)
    return np.ascontiguousarray(objects[chosen])


def _cells(objects: Any) -> Any:
    """The rows of vectors or of a table as numbers, for comparing them."""
    if isinstance(objects, Sample):
        return np.column_stack([objects.numeric, objects.codes.astype(np.float64)])
    return objects


def as_prepared_input(kept: Any) -> Any:
    """What `Kernel.prepare` takes, of kept objects."""
    return kept.matrix() if isinstance(kept, SparseVectors) else kept


# --- Reading --------------------------------------------------------------------------------------


def read_training(
    estimator: Any, X: Any, y: Any, sample_weight: Any, target: Target
) -> KernelSample:
    """The sample that a kernel learner is fitted to; sets `n_features_in_` where there are columns.

    Parameters
    ----------
    estimator : kernel learner
        Its `kernel`, `gamma`, `degree`, `coef0` and `categorical_features` say how to read `X`.
    X, y, sample_weight
        As given to `fit`.
    target : {"numbers", "classes", "none"}
    """
    takes = takes_of(estimator.kernel)
    sample_weight = None if sample_weight is None else plain_target(sample_weight)
    if is_pairwise(estimator.kernel):
        return _read_precomputed(estimator, X, y, sample_weight, target)
    if takes == "objects":
        return _read_objects(estimator, X, y, sample_weight, target)
    sample = check_sample(
        estimator, X, y, sample_weight, target=target, accept_sparse=takes == "vectors"
    )
    kept = _weighted_positions(sample_weight, sample.n_rows)
    objects = _vectors(sample) if takes == "vectors" else sample
    chosen, group = distinct_rows(_cells(objects), sample.target)
    distinct = sample.rows(chosen) if isinstance(objects, Sample) else objects[chosen]
    weight = np.bincount(group, sample.weights, len(chosen)).astype(np.float64)
    return KernelSample(
        kernel=_resolved(estimator, _gamma_of(estimator, distinct, weight), distinct),
        objects=distinct,
        target=None if sample.target is None else sample.target[chosen],
        classes=sample.classes,
        weight=weight,
        rows=kept,
        group=group,
        row_weight=sample.weights,
        n_rows=_n_given(sample_weight, sample.n_rows),
        schema=sample.schema,
    )


def read_new(estimator: Any, X: Any) -> Any:
    """New objects for the fitted `estimator.kernel_`, as `Kernel.prepare` takes them."""
    kernel = estimator.kernel_
    if isinstance(kernel, Precomputed):
        return _checked_similarities(estimator, X)
    if kernel.takes == "objects":
        return _sequence(X, type(estimator).__name__)
    sample = check_features(
        estimator, X, accept_sparse=kernel.takes == "vectors", tell_unseen=False
    )
    return _vectors(sample) if kernel.takes == "vectors" else sample


def is_pairwise(kernel: Any) -> bool:
    """Whether a learner with this kernel is given similarities in place of objects."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def takes_of(kernel: Any) -> str:
    """What a learner with this kernel is given; names and callables are kernels of vectors."""
    return kernel.takes if isinstance(kernel, Kernel) else "vectors"


def _vectors(sample: Sample) -> Any:
    if not sample.is_sparse:
        rows = np.ascontiguousarray(treatment_rows(sample, 0, sample.n_rows))
        # Columns of one level each leave no column: all rows are then the same point.
        return rows if rows.shape[1] else np.zeros((sample.n_rows, 1))
    rows = sample.numeric
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return sparse.csr_matrix(rows)


def _read_precomputed(
    estimator: Any, X: Any, y: Any, sample_weight: Any, target: Target
) -> KernelSample:
    sample = check_sample(estimator, X, y, target=target)
    matrix = sample.numeric
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"Precomputed matrix must be a square matrix. Input is a {matrix.shape[0]}x"
            f"{matrix.shape[1]} matrix. Give the similarities of all pairs of training objects."
        )
    weight = checked_weight(sample_weight, sample.n_rows)
    kept = _weighted_positions(sample_weight, sample.n_rows)
    kernel, schema = _resolved(estimator, None, None), sample.schema
    return _each_its_own(kernel, matrix, sample.target, sample.classes, weight, kept, schema)


def _read_objects(
    estimator: Any, X: Any, y: Any, sample_weight: Any, target: Target
) -> KernelSample:
    name = type(estimator).__name__
    if y is None and target != "none":
        raise InputError(f"{name} requires y to be passed, but the target y is None.")
    objects = _sequence(X, name)
    classes: Array | None = None
    values: Any = None
    if target == "classes":
        classes, values = check_classes(y, name)
    elif target == "numbers":
        values = check_numbers(y, name)
    if values is not None and len(values) != len(objects):
        raise InputError(
            f"X has {len(objects)} objects, but y has {len(values)}: found input variables with "
            "inconsistent numbers of samples. Pass one target for each object."
        )
    weight = checked_weight(sample_weight, len(objects))
    kept = _weighted_positions(sample_weight, len(objects))
    n_rows = len(objects)
    objects = tuple(objects[i] for i in kept)
    kernel = _resolved(estimator, None, None)
    sample = _each_its_own(kernel, objects, values, classes, weight, kept, None)
    return replace(sample, n_rows=n_rows)


def _each_its_own(
    kernel: Kernel,
    objects: Any,
    target: Any,
    classes: Array | None,
    weight: Floats | None,
    kept: Positions,
    schema: Schema | None,
) -> KernelSample:
    """A sample in which no two rows are compared."""
    weights = np.ones(len(kept)) if weight is None else weight[kept]
    if target is not None:
        target = target[kept]
        if classes is not None:
            met, target = np.unique(target, return_inverse=True)
            classes = classes[met]
    numbers = np.arange(len(kept))
    n_rows = len(kept) if weight is None else len(weight)
    return KernelSample(
        kernel, objects, target, classes, weights, kept, numbers, weights, n_rows, schema
    )


def _sequence(X: Any, learner: str) -> tuple[Any, ...]:
    """Objects one by one, of a list, an array or a column."""
    if nw.dependencies.is_into_series(X):
        return tuple(nw.from_native(X, series_only=True).to_list())
    if nw.dependencies.is_into_dataframe(X):
        return rows_of(X)
    if isinstance(X, (str, bytes, dict)) or sparse.issparse(X) or not isinstance(X, Iterable):
        raise InputError(
            f"{learner} has a kernel of objects and needs a sequence of them, got X of type "
            f"{type(X).__name__}. Pass a list of objects, or one column of the table."
        )
    objects = tuple(X.tolist()) if isinstance(X, np.ndarray) and X.ndim == 1 else tuple(X)
    if not objects:
        raise InputError(
            f"Found array with 0 sample(s) while a minimum of 1 is required by {learner}. Give it "
            "objects to learn from."
        )
    return objects


def _checked_similarities(estimator: Any, X: Any) -> Floats:
    matrix = check_array(X, dtype=np.float64, estimator=type(estimator).__name__)
    if matrix.shape[1] != estimator.n_features_in_:
        raise InputError(
            f"X has {matrix.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input: the similarities of each new object "
            "to all objects of the training. Give one column for each of them."
        )
    return np.asarray(matrix)


# --- The kernel -----------------------------------------------------------------------------------


def _resolved(estimator: Any, gamma: Any, X: Any) -> Kernel:
    kernel: Kernel = resolve_kernel(
        estimator.kernel,
        gamma=gamma,
        degree=getattr(estimator, "degree", 3),
        coef0=getattr(estimator, "coef0", 0.0),
        X=X,
        callable_form=getattr(estimator, "_callable_form", "matrix"),
    )
    return kernel


def _gamma_of(estimator: Any, X: Any, weight: Floats) -> Any:
    """`gamma` as a number where it depends on how often rows occur, else as it was given."""
    gamma = getattr(estimator, "gamma", None)
    if gamma != "scale" or isinstance(X, Sample) or (weight == 1.0).all():
        return gamma
    share = weight / (weight.sum() * X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(share @ np.asarray(X.sum(axis=1)).ravel())
        if sparse.issparse(X):
            squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
            spread = X.shape[1] * (float(share @ squares) - mean * mean)
        else:
            spread = X.shape[1] * float(share @ np.square(X - mean).sum(axis=1))
    # What has no variance in double precision is refused where a kernel asks for it.
    return 1.0 / spread if np.finfo(float).tiny <= spread < np.inf else gamma


# --- Weights --------------------------------------------------------------------------------------


def _weighted_positions(sample_weight: Any, n_kept: int) -> Positions:
    if sample_weight is None or sample_weight.ndim == 0:
        return np.arange(n_kept)
    return np.flatnonzero(sample_weight.astype(float))


def _n_given(sample_weight: Any, n_kept: int) -> int:
    """How many rows there were before those of weight zero were left out."""
    return n_kept if sample_weight is None or sample_weight.ndim == 0 else len(sample_weight)
