"""What all kernel learners share: objects in, an expansion over some of them out.

    f_t(x) = sum over i in the support of  c_ti k(x_i, x)

A kernel learner reads its training objects by what its kernel takes (`novum.svm.objects`), refuses
or projects a kernel that is not positive semi-definite, keeps the objects whose coefficients are
not zero, and sums the expansion for new objects block by block, so that a matrix of similarities
larger than a block never exists.

The similarities of a large support are summed in single precision where that leaves an error of
the sums of about `SINGLE_ERROR` at most: the typical one, `2^-18 max k |c|_2`, as the roundings of
many terms partly cancel. All others are summed in double precision. Which of the two is a property
of the model, not of the batch in which a row comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import MissingValuesError, ModelFileError
from novum.core.learners import (
    Certificate,
    Stopwatch,
    deferred,
    fitted,
    later,
    warn_if_stopped,
)
from novum.core.runtime import check_cancelled
from novum.core.tables import Sample, Target
from novum.kernels import Kernel, Linear, Precomputed, admitted
from novum.numerics import Floats, Mask, Positions, cached_property, one_blas_thread
from novum.svm.objects import (
    KernelSample,
    SparseVectors,
    as_prepared_input,
    is_pairwise,
    read_new,
    read_training,
    takes_of,
)
from novum.svm.parameters import KernelParameters, SolverParameters
from novum.svm.solver.centering import linear_rows, middle_of
from novum.svm.solver.certification import certify, reason_of
from novum.svm.solver.problem import Solution

# Similarities of one block: small enough for the second cache, large enough for one matrix product.
BLOCK_ENTRIES = 2**19
# Supports below this are summed in double precision, which costs little there.
SINGLE_SUPPORT = 1024
SINGLE_ERROR = 1e-3
# Sums of coefficients below this part of their sizes are rounding errors of zero.
_CANCELLED = 1e-13


class KernelMachine(KernelParameters):
    """A learner whose model is an expansion in a kernel.

    Its `fit` calls `_read`, `_prepared` and `_keep`; its
    predictions are made of `_scores`.

    Attributes
    ----------
    kernel_ : Kernel
        With all its settings as numbers.
    schema_ : Schema, or None where objects are no rows of a table
    support_ : int array of shape (n_support,)
        Positions of the support objects in `X` of the fit.
    expansion_ : array of shape (n_outputs, n_support)
        Coefficients `c` in the order of `support_`.
    """

    # A file of such a model has rows of the training data in it.
    _holds_training_rows = True

    kernel_: Kernel = fitted()
    support_: Positions = fitted()
    expansion_: Floats = fitted()

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; objects and given similarities are not compared."""
        compared = takes_of(self.kernel) != "objects" and not is_pairwise(self.kernel)
        return ("row_order", "duplication") if compared else ()

    # Fitting

    def _read(self, X: Any, y: Any, sample_weight: Any, target: Target) -> KernelSample:
        """The training sample; sets `kernel_`, `schema_` and `shape_fit_`."""
        self._forget()
        if is_pairwise(self.kernel):
            _refuse_missing_similarities(X)
        sample = read_training(self, X, y, sample_weight, target)
        self.kernel_, self.schema_ = sample.kernel, sample.schema
        columns = () if sample.schema is None else (sample.schema.n_columns,)
        self.shape_fit_ = (sample.n_rows, *columns)
        return sample

    def _prepared(self, sample: KernelSample) -> Any:
        """The prepared objects, of a kernel that is fit for learning: refused or projected if not.

        A projected kernel `k(x, .) P` keeps its expansions in the original one: see `_keep`.
        """
        return admitted(self.kernel_, sample.prepared, self.indefinite)

    def _keep(
        self, sample: KernelSample, prepared: Any, coefficients: Floats, order: Any = None
    ) -> Positions:
        """Keeps the rows that have a coefficient other than zero, and says which.

        Parameters
        ----------
        sample : KernelSample
        prepared : Prepared
            What the coefficients were found with.
        coefficients : array of shape (n_outputs, m)
            Of the sample's objects.
        order : array of shape (n,), optional
            Support rows are sorted by this first, such as the class of each row; then by position.

        Returns
        -------
        int array of shape (n_support,)
            Places among the rows that count.
        """
        unprojected = getattr(prepared, "unprojected", None)
        if unprojected is not None:
            coefficients = np.stack([unprojected(row) for row in coefficients])
        rows = sample.to_rows(coefficients)
        chosen = (rows != 0).any(axis=0).nonzero()[0]
        if order is not None:
            chosen = chosen[np.argsort(order[chosen], kind="stable")]
        self.support_ = sample.rows[chosen]
        self.expansion_ = np.ascontiguousarray(rows[:, chosen])
        # Without any support one object is kept all the same: new ones are prepared like it.
        self.support_objects_ = sample.objects_of_rows(chosen if chosen.size else np.arange(1))
        # Made now, so that no prediction changes the model.
        _ = self._support
        return chosen

    def _forget(self) -> None:
        self.__dict__.pop("_support", None)

    # The support

    @property
    def support_vectors_(self) -> Any:
        """The support objects: rows of the design, or a list of the objects themselves.

        Empty for precomputed similarities, whose objects the model never sees.
        """
        kept, n = self.support_objects_, len(self.support_)
        if kept is None:
            return np.empty((0, 0))
        if isinstance(kept, Sample):
            return kept.rows(slice(0, n))
        if isinstance(kept, SparseVectors):
            return kept.matrix()[:n]
        return list(kept[:n]) if isinstance(kept, tuple) else kept[:n]

    @cached_property
    def _support(self) -> Any:
        """The support objects as prepared rows, the same for a fitted model and for its file."""
        if isinstance(self.kernel_, Precomputed):
            return Precomputed.positions(self.support_, self.shape_fit_[0])
        kept = self.kernel_.prepare(as_prepared_input(self.support_objects_))
        return kept if len(self.support_) else kept.take(slice(0, 0))

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_support"}

    # Predicting

    def _scores(self, X: Any) -> Floats:
        """The expansions at new objects, of shape (n, n_outputs)."""
        return self._scores_of(self._prepared_new(X))

    def _prepared_new(self, X: Any) -> Any:
        """New objects, prepared like the support."""
        if not hasattr(self, "expansion_"):
            check_is_fitted(self, "expansion_")
        if is_pairwise(self.kernel):
            _refuse_missing_similarities(X)
        return self.kernel_.prepare(read_new(self, X), self._support)

    def _scores_of(self, new: Any, segments: Sequence[int] | None = None) -> Floats:
        """The expansions at prepared objects; see `expand` for segments."""
        return expand(new, self._support, self.expansion_, self._score_type, segments)

    @property
    def _score_type(self) -> DTypeLike:
        """Single precision where the support is large and its rounding small; see the module."""
        if len(self.support_) < SINGLE_SUPPORT or isinstance(self.kernel_, Precomputed):
            return np.float64
        largest = float(np.max(self._support.diagonal(), initial=0.0))
        lengths = np.sqrt(np.square(self.expansion_).sum(axis=1))
        error = 2.0**-18 * largest * float(lengths.max(initial=0.0))
        return np.float32 if error <= SINGLE_ERROR else np.float64

    @property
    def _linear_vectors(self) -> Any:
        """The support of a linear kernel; an AttributeError of all others, as in scikit-learn."""
        if not isinstance(self.kernel_, Linear):
            raise AttributeError(
                f"coef_ is only available when using a linear kernel, not {self.kernel_!r}."
            )
        rows = self.support_vectors_
        if not isinstance(rows, np.ndarray) or not len(rows) or not _cancel(self.expansion_).all():
            return rows
        # The same sums, without the rounding errors of rows far from the origin.
        return rows - middle_of(rows)

    @property
    def _column_weights(self) -> Floats:
        """Weights of the columns of a linear kernel, of shape (n_outputs, n_columns).

        They are a copy, made by every call: writing into it would change nothing, so it raises.
        """
        return read_only(np.asarray(self.expansion_ @ self._linear_vectors))

    # scikit-learn

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        takes = takes_of(self.kernel)
        tags.input_tags.pairwise = is_pairwise(self.kernel)
        tags.input_tags.sparse = takes == "vectors" and not is_pairwise(self.kernel)
        tags.input_tags.two_d_array = takes != "objects"
        chosen = self.categorical_features
        tags.input_tags.string = chosen is not None and not is_pairwise(self.kernel)
        tags.input_tags.categorical = isinstance(chosen, str) and chosen == "all"
        return tags

    def _check_state(self) -> None:
        """The parts of a loaded model belong together."""
        n, n_rows = len(self.support_), self.shape_fit_[0]
        if self.expansion_.ndim != 2 or self.expansion_.shape[1] != n or not len(self.expansion_):
            raise ModelFileError(
                f"{n} support objects do not fit coefficients of shape {self.expansion_.shape}"
            )
        if self.expansion_.dtype != np.float64 or not np.isfinite(self.expansion_).all():
            raise ModelFileError("The model has coefficients that are not finite numbers.")
        support = self.support_
        if support.dtype.kind != "i" or not ((support >= 0) & (support < n_rows)).all():
            raise ModelFileError(f"The support of the model is not among its {n_rows} rows.")
        columns = () if self.schema_ is None else (self.schema_.n_columns,)
        if tuple(self.shape_fit_[1:]) != columns:
            raise ModelFileError("The schema of the model is not that of its rows.")
        if self.support_objects_ is not None and len(self._support) != n:
            raise ModelFileError(f"{len(self._support)} objects are kept of {n} in the support")


def read_only(copy: Floats) -> Floats:
    """The array, guarded: what is written into a copy of the model would be lost in silence."""
    copy.flags.writeable = False
    return copy


def _refuse_missing_similarities(X: Any) -> None:
    """Raises for NaN in given similarities, which are no cells that a learner could work around."""
    try:
        missing = np.isnan(np.asarray(X, np.float64))
    except (TypeError, ValueError):
        # The reader says what is wrong with anything else.
        return
    if missing.ndim == 2 and missing.any():
        row, column = np.argwhere(missing)[0].tolist()
        raise MissingValuesError(
            f"Input X contains NaN: of the precomputed similarities {int(missing.sum())} are "
            f"missing, the first of them in row {row}, column {column}. Compute them, or leave out "
            "the objects without similarities."
        )


class RowSlack:
    """The slack of the rows, worked out when one of its three forms is asked for.

    Parameters
    ----------
    sample : KernelSample
    support : int array of shape (n_support,)
        Positions of the support objects in the table.
    of_objects : callable
        Gives the slack, of shape (m,) or (n_machines, m), and a mask of shape (m,): objects with a
        coefficient that cannot grow.
    """

    def __init__(
        self,
        sample: KernelSample,
        support: Positions,
        of_objects: Callable[[], tuple[Floats, Mask]],
    ) -> None:
        self._n_rows, self._rows, self._group = sample.n_rows, sample.rows, sample.group
        self._support, self._of_objects = support, of_objects

    @cached_property
    def _values(self) -> tuple[Floats, Mask]:
        return self._of_objects()

    def of_rows(self) -> Floats:
        """Of every row, of shape (n,) or (n, n_machines); NaN where its weight is zero."""
        slack = self._values[0]
        values = np.full((self._n_rows, *slack.shape[:-1]), np.nan)
        values[self._rows] = np.moveaxis(slack[..., self._group], -1, 0)
        return values

    def bound(self, is_bound: bool = True) -> Positions:
        """The support whose coefficient cannot grow, or can, in the order of the table."""
        full = np.zeros(self._n_rows, bool)
        full[self._rows] = self._values[1][self._group]
        support = np.sort(self._support)
        return support[full[support] == is_bound]


class ProgramMachine(KernelMachine, SolverParameters):
    """A kernel learner that solves quadratic programs, with a certificate of their solutions."""

    _objective: ClassVar[str]
    # The objective in units of the program's.
    _scale: ClassVar[float] = 1.0

    certificate_: Certificate = deferred()
    xi_: Floats = deferred()
    bound_: Positions = deferred()
    unbound_: Positions = deferred()

    def _keep_slack(
        self, sample: KernelSample, of_objects: Callable[..., tuple[Floats, Mask]], *args: Any
    ) -> None:
        """Sets `xi_`, and `bound_` and `unbound_` among the support; see `RowSlack`."""
        slack = RowSlack(sample, self.support_, partial(of_objects, *args))
        self.xi_ = later(slack.of_rows)
        self.bound_, self.unbound_ = later(slack.bound), later(slack.bound, False)

    def _certify(self, solutions: Sequence[Solution], watch: Stopwatch) -> None:
        """Sets the certificate and what follows from it; warns of a fit that was not done."""
        self.certificate_ = later(
            certify, self._objective, solutions, self.tol, watch.seconds, scale=self._scale
        )
        self.fit_status_ = int(reason_of(solutions) is not None)

    def _warn_if_stopped(self) -> None:
        if self.fit_status_:
            warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=5)

    def _check_one_machine(self, number: Any) -> None:
        """A loaded model of one machine has one row of coefficients, and a finite number."""
        if len(self.expansion_) != 1 or np.ndim(number) or not np.isfinite(number):
            raise ModelFileError("The coefficients of the model are not those of one machine.")


def expand(
    new: Any,
    support: Any,
    coefficients: Floats,
    dtype: DTypeLike = np.float64,
    segments: Sequence[int] | None = None,
) -> Floats:
    """`sum_i c_ti k(x_i, x)` of every new object, of shape (n, n_outputs), block by block.

    Parameters
    ----------
    new, support : Prepared
        `new` was prepared like `support`.
    coefficients : array of shape (n_outputs, n_support)
    dtype : float64 or float32
        Of the similarities and their sums.
    segments : sequence of int, optional
        Ends of consecutive parts of the support, the first of them 0. The sums are then over each
        part by itself, of shape (n, n_segments, n_outputs).

    Examples
    --------
    >>> rows = Linear().prepare(np.array([[1.0], [2.0]]))
    >>> expand(rows, rows, np.array([[1.0, 1.0]])).ravel().tolist()
    [3.0, 6.0]
    """
    ends = (0, len(support)) if segments is None else tuple(segments)
    parts = [slice(a, b) for a, b in pairwise(ends)]
    sums = np.zeros((len(new), len(parts), len(coefficients)))
    columns = np.ascontiguousarray(coefficients.T, dtype)
    size = max(1, BLOCK_ENTRIES // max(1, len(support)))
    rows_of_support, rows_of_new = linear_rows(support), linear_rows(new)
    if rows_of_support is not None and rows_of_new is not None and len(support):
        for number, part in enumerate(parts):
            W = _hyperplanes(rows_of_support[part], coefficients[:, part])
            with one_blas_thread():
                sums[:, number] = rows_of_new @ W.T
        return sums[:, 0] if segments is None else sums
    with one_blas_thread():
        for start in range(0, len(new) if len(support) else 0, size):
            check_cancelled()
            rows = slice(start, min(start + size, len(new)))
            part_of_new = new if size >= len(new) else new.take(rows)
            block = part_of_new.cross(support, dtype)
            for number, part in enumerate(parts):
                sums[rows, number] = block[:, part] @ columns[part]
    return sums[:, 0] if segments is None else sums


def _hyperplanes(rows: Floats, coefficients: Floats) -> Floats:
    """`w_t = sum_i c_ti x_i`, of shape (n_outputs, n_columns).

    Summed about the mean row: far from the origin, similarities of rows have no digits left where
    their sums differ.
    """
    if not len(rows):
        return np.zeros((len(coefficients), rows.shape[1]))
    middle = middle_of(rows)
    sums = np.where(_cancel(coefficients), 0.0, coefficients.sum(axis=1))
    return np.asarray(coefficients @ (rows - middle) + np.outer(sums, middle))


def _cancel(coefficients: Floats) -> Mask:
    """Whether the coefficients of each output add up to zero, but for rounding."""
    sums, sizes = coefficients.sum(axis=1), np.abs(coefficients).sum(axis=1)
    return np.asarray(np.abs(sums) <= _CANCELLED * sizes)
