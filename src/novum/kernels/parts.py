"""Kernels on parts of an object: some columns of a table, an item, a key, an attribute.

    on(part, a)(x, z) = a(x[part], z[part])

A sum of kernels on different parts is the kernel of the direct sum of their feature spaces, so that
a row with a text, a graph and numbers has one similarity:

    on("text", Spectrum(3)) + on(["age", "income"], Gaussian(1.0))

| the objects are          | parts are                           |
|--------------------------|-------------------------------------|
| a frame of any kind      | names or positions of columns       |
| an array, a CSR matrix   | positions of columns                |
| tuples, lists, arrays    | positions                           |
| dicts                    | keys                                |
| other objects            | names of attributes                 |

A single name or position gives the item itself; several, in a list or tuple, give a row of items.
Positive semi-definite where `a` is: choosing parts only renames the objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from novum.core.errors import InputError
from novum.core.tables import UNSEEN, Sample, Schema, frame_of, is_frame
from novum.core.text import label_text, listed
from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.numerics import Array, Floats

Part = str | int


def on(part: Part | Sequence[Part], kernel: Kernel) -> On:
    """The kernel applied to parts of the objects.

    Examples
    --------
    >>> from novum.kernels.vectors.gaussian import Gaussian
    >>> from novum.kernels.vectors.linear import Linear
    >>> kernel = on("height", Linear()) * on(["age", "height"], Linear())
    >>> kernel.diagonal([{"age": 1.0, "height": 2.0}, {"age": 3.0, "height": 1.0}])
    array([20., 10.])
    >>> on([0, 2], Gaussian(1.0))
    on([0, 2], Gaussian(width=1.0))
    """
    if isinstance(part, (str, Integral)) or not isinstance(part, (Sequence, np.ndarray)):
        return On(_checked_part(part), kernel)
    return On(tuple(_checked_part(item) for item in part), kernel)


@dataclass(frozen=True, repr=False)
class On(Kernel):
    """What `on(part, kernel)` makes.

    Notes
    -----
    A learner gives rows of a table (`takes == "table"`) where the inner kernel compares numbers or
    cells, and whole objects where it compares objects; `rows_of` makes such objects of a frame.
    """

    part: Part | tuple[Part, ...]
    kernel: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise InputError(
                f"on(part, kernel) takes a kernel of novum.kernels, got {label_text(self.kernel)}."
            )
        if isinstance(self.part, tuple):
            if not self.part:
                raise InputError("on(part, kernel) was given no part. Name at least one column.")
            if len(set(self.part)) < len(self.part):
                raise InputError(f"on(part, kernel) names a part twice: {listed(self.part)}.")

    def __repr__(self) -> str:
        part = list(self.part) if isinstance(self.part, tuple) else self.part
        return f"on({part!r}, {self.kernel!r})"

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        return "objects" if self.kernel.takes == "objects" else "table"

    @property
    def is_psd_by_construction(self) -> bool:
        return self.kernel.is_psd_by_construction

    @property
    def feature_map(self) -> FeaturesOfParts | None:
        return None if self.kernel.feature_map is None else FeaturesOfParts(self)

    def prepare(self, X: Any, like: OnRows | None = None) -> OnRows:
        chosen = self.chosen(X)
        return OnRows(self, self.kernel.prepare(chosen, None if like is None else like.inner))

    def chosen(self, X: Any) -> Any:
        """The parts of all objects, in a form that the inner kernel takes."""
        if isinstance(X, Sample):
            return _of_sample(X, self.part, self.kernel.takes)
        if is_frame(X):
            return _of_frame(frame_of(X), self.part, self.kernel.takes)
        if sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2):
            return _of_matrix(X, self.part, self.kernel.takes)
        return _of_sequence(X, self.part, self.kernel.takes)


@dataclass(frozen=True, eq=False)
class OnRows(Prepared):
    """The parts, prepared for the inner kernel."""

    kernel: On
    inner: Any

    def __len__(self) -> int:
        return len(self.inner)

    def take(self, rows: Any) -> OnRows:
        return OnRows(self.kernel, self.inner.take(rows))

    def diagonal(self) -> Floats:
        return np.asarray(self.inner.diagonal())

    def cross(self, other: OnRows, dtype: DTypeLike = np.float64) -> Array:
        return np.asarray(self.inner.cross(other.inner, dtype))

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        return np.asarray(self.inner.gram(dtype))


@dataclass(frozen=True)
class FeaturesOfParts:
    """The features of the inner kernel on the parts."""

    kernel: On

    def __call__(self, X: Any) -> Any:
        return self.kernel.kernel.feature_map(self.kernel.chosen(X))


def rows_of(frame: Any) -> tuple[dict[str, Any], ...]:
    """The rows of a frame as objects: one dict for each, by names of columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows_of(pa.table({"age": [1, 2], "name": ["a", "b"]}))
    ({'age': 1, 'name': 'a'}, {'age': 2, 'name': 'b'})
    """
    return tuple(frame_of(frame).iter_rows(named=True))


# --- Choosing -------------------------------------------------------------------------------------


def _of_sample(sample: Sample, part: Any, takes: Takes) -> Any:
    names = list(sample.schema.names)
    positions = [_position(item, names) for item in _as_tuple(part)]
    columns = tuple(sample.schema.columns[i] for i in positions)
    numeric = [
        list(sample.schema.numeric).index(i) for i in positions if i in sample.schema.numeric
    ]
    categorical = list(sample.schema.categorical)
    codes = [categorical.index(i) for i in positions if i in categorical]
    chosen = replace(
        sample,
        schema=Schema(columns, sample.schema.named),
        numeric=sample.numeric[:, numeric],
        codes=sample.codes[:, codes],
    )
    return chosen if takes != "objects" else _objects_of(chosen, part)


def _objects_of(sample: Sample, part: Any) -> list[Any]:
    """Cells of a checked sample as the values they stand for."""
    columns, numbers, codes = [], iter(np.asarray(sample.numeric).T), iter(sample.codes.T)
    for column in sample.schema.columns:
        if not column.levels and column.kind.value == "numeric":
            columns.append(next(numbers).tolist())
            continue
        own = next(codes)
        if (own == UNSEEN).any():
            raise InputError(
                f"Column {column.name!r} holds values that its schema does not list, so they are "
                "lost. Pass the rows themselves in place of a checked sample."
            )
        columns.append([column.levels[code] for code in own])
    return list(zip(*columns, strict=True)) if isinstance(part, tuple) else columns[0]


def _of_frame(frame: Any, part: Any, takes: Takes) -> Any:
    names = [str(name) for name in frame.columns]
    positions = [_position(item, names) for item in _as_tuple(part)]
    if takes != "objects":
        return frame[:, positions].to_native()
    columns = [frame[:, i].to_list() for i in positions]
    return list(zip(*columns, strict=True)) if isinstance(part, tuple) else columns[0]


def _of_matrix(X: Any, part: Any, takes: Takes) -> Any:
    positions = []
    for item in _as_tuple(part):
        if isinstance(item, str) or not -X.shape[1] <= item < X.shape[1]:
            raise InputError(
                f"on({item!r}, ...) finds no such column: X is an array with {X.shape[1]} columns, "
                f"which are named by their positions 0 to {X.shape[1] - 1}. Pass a frame to use "
                "names."
            )
        positions.append(item)
    if takes != "objects":
        return X[:, positions]
    dense = X.toarray() if sparse.issparse(X) else X
    rows = dense[:, positions].tolist()
    return rows if isinstance(part, tuple) else [row[0] for row in rows]


def _of_sequence(X: Any, part: Any, takes: Takes) -> Any:
    if isinstance(X, (str, bytes, Mapping)) or not hasattr(X, "__iter__"):
        raise InputError(
            f"on({part!r}, ...) needs a table or a sequence of objects, got {label_text(X)}."
        )
    rows = [[_item(x, item, i) for item in _as_tuple(part)] for i, x in enumerate(X)]
    if not rows:
        raise InputError(f"on({part!r}, ...) was given no objects (0 samples).")
    if isinstance(part, tuple):
        return rows
    items = [row[0] for row in rows]
    # A vector in one place is a row of numbers already; a single number is a row of one.
    return items if takes == "objects" or np.ndim(items[0]) else rows


def _item(x: Any, item: Part, row: int) -> Any:
    if isinstance(x, Mapping):
        if item in x:
            return x[item]
        known = f"has the keys {listed(list(x))}"
    elif isinstance(item, str):
        try:
            return getattr(x, item)
        except AttributeError:
            known = f"is a {type(x).__name__} without such an attribute"
    else:
        try:
            return x[item]
        except (IndexError, KeyError, TypeError):
            known = f"is a {type(x).__name__} without such a position"
    raise InputError(
        f"on({item!r}, ...) finds no such part: object {row} {known}. Name parts that every object "
        "has."
    )


def _position(item: Part, names: list[str]) -> int:
    if isinstance(item, str) and item in names:
        return names.index(item)
    if not isinstance(item, str) and -len(names) <= item < len(names):
        return item % len(names)
    raise InputError(
        f"on({item!r}, ...) finds no such column; the table has {listed(names)}. Give names or "
        "positions of its columns."
    )


def _as_tuple(part: Any) -> tuple[Part, ...]:
    return part if isinstance(part, tuple) else (part,)


def _checked_part(item: Any) -> Part:
    if isinstance(item, str):
        return str(item)
    if isinstance(item, Integral) and not isinstance(item, bool):
        return int(item)
    raise InputError(
        f"on(part, kernel) was given the part {label_text(item)}. Parts are names (text) or "
        "positions (whole numbers)."
    )
