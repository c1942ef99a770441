"""Tables as numbers for a network, and back: kinds of columns, missing cells, errors by column.

A numeric cell x enters as (x - mean) / scale and is judged by its squared error; a cell with levels
enters as a learned vector for each level (an embedding; of ordered levels the sum of the vectors up
to its own) and is judged by the cross-entropy of the predicted levels. Columns that had missing
cells in training have one more input that says whether the cell is there.

A missing cell is never filled: it enters as nothing, 0, and its error does not count. The error of
a row is the mean over the cells that it has. A level that training did not have enters as nothing
too, and its error is log(n + 1), that of a level of which one row in n + 1 was expected.

Images are rows of numbers in a common unit, so that pixels keep their relations.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from novum.core.errors import InputError, ModelFileError
from novum.core.tables import UNSEEN, Kind, Sample, Schema
from novum.neural.backend import torch_library
from novum.neural.layers import Shape, shape_text
from novum.numerics import Floats, Mask, Positions, cached_property


class CodedRows(NamedTuple):
    """Rows for a network; columns are in coded order, numbers first.

    numbers : (n, numeric), 0 where missing
    present : (n, columns), 1 or 0
    codes : (n, categorical); one past the last level where there is none
    unseen : (n, categorical), 1 or 0
    """

    numbers: Any
    present: Any
    codes: Any
    unseen: Any

    def take(self, rows: Any) -> CodedRows:
        return CodedRows(*(part[rows] for part in self))

    @property
    def n_rows(self) -> int:
        return int(self.numbers.shape[0])

    def to(self, device: Any, dtype: Any) -> CodedRows:
        """As tensors of their own memory."""
        torch = torch_library()
        numbers, present, unseen = (
            torch.tensor(part, device=device, dtype=dtype)
            for part in (self.numbers, self.present, self.unseen)
        )
        return CodedRows(numbers, present, torch.tensor(self.codes, device=device), unseen)


@dataclass(frozen=True, eq=False)
class NetworkCoding:
    """How a table becomes numbers; learned from the training rows.

    Attributes
    ----------
    schema : Schema
    mean, scale : array (numeric,)
        A column of one value has its size as unit, or 1.
    flagged : bool array (columns,)
        In coded order: had missing cells in training.
    empty : bool array (columns,)
        In coded order: had no cell at all, and takes no part.
    n_rows : int
    image_shape : tuple, empty for tables
    """

    schema: Schema
    mean: Floats
    scale: Floats
    flagged: Mask
    empty: Mask
    n_rows: int
    image_shape: Shape = ()

    @classmethod
    def of(cls, sample: Sample, image_shape: Shape = ()) -> NetworkCoding:
        schema, numbers = sample.schema, np.asarray(sample.numeric, np.float64)
        if image_shape and (schema.categorical.size or math.prod(image_shape) != numbers.shape[1]):
            raise InputError(
                f"Images of {shape_text(image_shape)} have {math.prod(image_shape)} numbers, and "
                f"the rows have {schema.n_columns} columns, {schema.categorical.size} of them with "
                "levels. Give a stack for these rows, or rows for this stack."
            )
        gone = np.hstack([np.isnan(numbers), sample.codes < 0])
        empty = np.asarray(gone.all(axis=0))
        if empty.any():
            order = np.concatenate([schema.numeric, schema.categorical])
            names = ", ".join(repr(schema.names[order[j]]) for j in np.flatnonzero(empty)[:5])
            warnings.warn(
                f"{empty.sum()} of {len(empty)} columns have no cell in the training rows "
                f"({names}); they take no part in scores. Drop them, or pass rows that have them.",
                UserWarning,
                stacklevel=5,
            )
        count = np.maximum((~gone[:, : numbers.shape[1]]).sum(axis=0), 1)
        # From a present cell, so that units far from zero lose no digits.
        first = np.array([_first_of(column) for column in numbers.T])
        mean = first + np.nansum(numbers - first, axis=0) / count
        spread = np.sqrt(np.nansum((numbers - mean) ** 2, axis=0) / count)
        if image_shape and numbers.size:
            center = float(mean.mean())
            common = math.sqrt(float(np.mean(spread**2 + (mean - center) ** 2)))
            mean, spread = np.full(len(mean), center), np.full(len(mean), common)
        # Rounding of a constant is no spread.
        constant = spread <= 1e-12 * np.abs(mean)
        scale = np.where(constant, np.where(mean == 0, 1.0, np.abs(mean)), spread)
        flagged = gone.any(axis=0) & ~empty
        return cls(schema, mean, scale, flagged, empty, sample.n_rows, tuple(image_shape))

    def check(self) -> None:
        """Refuses a loaded coding whose parts do not fit together."""
        q, columns = len(self.schema.numeric), self.schema.n_columns
        fits = (
            np.shape(self.mean) == np.shape(self.scale) == (q,)
            and np.shape(self.flagged) == np.shape(self.empty) == (columns,)
            and np.isfinite(self.mean).all()
            and (np.asarray(self.scale) > 0).all()
            and self.n_rows > 0
            and (not self.image_shape or math.prod(self.image_shape) == q)
        )
        if not fits:
            raise ModelFileError("The coding of the columns does not fit their schema.")

    # Sizes

    @property
    def n_numeric(self) -> int:
        return len(self.mean)

    @cached_property
    def order(self) -> Positions:
        """Positions in the table of the columns in coded order."""
        return np.concatenate([self.schema.numeric, self.schema.categorical])

    @cached_property
    def level_counts(self) -> tuple[int, ...]:
        return tuple(max(column.n_levels, 1) for column in self.schema.categorical_columns)

    @cached_property
    def embedding_shapes(self) -> tuple[Shape, ...]:
        """Levels and length of their vectors; few levels have one number each."""
        return tuple((k, min(k, 4 + math.isqrt(k))) for k in self.level_counts)

    @cached_property
    def input_shape(self) -> Shape:
        if self.image_shape:
            return self.image_shape
        return (
            self.n_numeric + int(self.flagged.sum()) + sum(d for _, d in self.embedding_shapes),
        )

    @property
    def output_width(self) -> int:
        return self.n_numeric + sum(self.level_counts)

    # Rows

    def rows(self, sample: Sample) -> CodedRows:
        """Coded rows of a sample, as arrays."""
        numbers = np.asarray(sample.numeric, np.float64)
        with np.errstate(over="ignore"):
            standard = (numbers - self.mean) / self.scale
        if np.isinf(standard).any():
            row, j = np.argwhere(np.isinf(standard))[0]
            raise InputError(
                f"Column {self.schema.names[self.order[j]]!r} has {numbers[row, j]} at row {row}, "
                "too far from the training rows for numbers to tell how far."
            )
        present = np.hstack([~np.isnan(numbers), sample.codes >= 0])
        unseen = sample.codes == UNSEEN
        present[:, self.n_numeric :] |= unseen
        present &= ~self.empty
        limit = np.array(self.level_counts, np.int64)
        codes = np.where(sample.codes >= 0, sample.codes, limit).astype(np.int64)
        standard[:, self.empty[: self.n_numeric]] = 0.0
        return CodedRows(
            np.nan_to_num(standard), present.astype(float), codes, unseen.astype(float)
        )

    # Tensors

    def inputs(self, rows: CodedRows, embeddings: Sequence[Any]) -> Any:
        """What enters the network, (n, *input_shape)."""
        if self.image_shape:
            return rows.numbers.reshape(-1, *self.image_shape)
        parts = [rows.numbers]
        if self.flagged.any():
            parts.append(rows.present[:, np.flatnonzero(self.flagged)])
        for j, vectors in enumerate(self.level_vectors(embeddings)):
            parts.append(vectors[rows.codes[:, j]])
        return torch_library().cat(parts, dim=1) if len(parts) > 1 else parts[0]

    def level_vectors(self, embeddings: Sequence[Any]) -> list[Any]:
        """Vectors of levels, with one of zeros for none."""
        torch = torch_library()
        vectors = []
        for column, own in zip(self.schema.categorical_columns, embeddings, strict=True):
            summed = own.cumsum(dim=0) if column.kind is Kind.ORDINAL else own
            vectors.append(torch.cat([summed, torch.zeros_like(own[:1])]))
        return vectors

    def log_probabilities(self, outputs: Any) -> list[Any]:
        """Of the levels of every column with levels, by the outputs of a network."""
        ends = np.cumsum([self.n_numeric, *self.level_counts])
        return [
            torch_library().log_softmax(outputs[:, a:b], dim=1) for a, b in pairwise(ends.tolist())
        ]

    def likeliest(self, outputs: Any) -> tuple[Floats, Any]:
        """Standardized numbers and codes of the likeliest levels, as arrays."""
        numbers = outputs[:, : self.n_numeric].cpu().double().numpy()
        codes = [logs.argmax(dim=1).cpu().numpy() for logs in self.log_probabilities(outputs)]
        return numbers, np.stack(codes, axis=1) if codes else np.empty((len(numbers), 0), int)

    def surprise(self, outputs: Any, rows: CodedRows) -> Any:
        """Cross-entropy of the cells with levels, (n, categorical)."""
        torch = torch_library()
        costs = []
        for j, logs in enumerate(self.log_probabilities(outputs)):
            code = rows.codes[:, j].clamp(max=self.level_counts[j] - 1)
            cost = -logs.gather(1, code[:, None])[:, 0]
            new = rows.unseen[:, j]
            costs.append(cost * (1 - new) + math.log(self.n_rows + 1.0) * new)
        return torch.stack(costs, dim=1)

    def errors(self, outputs: Any, rows: CodedRows) -> Any:
        """Error of every cell, (n, columns) in coded order; 0 where the cell is missing."""
        outputs = outputs.flatten(1)
        squares = (outputs[:, : self.n_numeric] - rows.numbers) ** 2
        if not self.level_counts:
            return squares * rows.present
        both = [squares, self.surprise(outputs, rows)]
        return torch_library().cat(both, dim=1) * rows.present

    # Back to the table

    def cells(self, numbers: Floats, codes: Any) -> Any:
        """A table of standardized numbers and codes: floats, or objects where there are levels."""
        values = numbers * self.scale + self.mean
        if self.schema.is_numeric:
            return values
        table = np.empty((len(values), self.schema.n_columns), object)
        for j, place in enumerate(self.schema.numeric):
            table[:, place] = values[:, j]
        for j, place in enumerate(self.schema.categorical):
            levels = self.schema.columns[place].levels
            table[:, place] = [levels[c] if c < len(levels) else None for c in codes[:, j]]
        return table

    def in_table_order(self, values: Any) -> Any:
        """Columns of an array in coded order, in the order of the table."""
        back = np.empty_like(values)
        back[:, self.order] = values
        return back


def _first_of(column: Floats) -> float:
    present = column[~np.isnan(column)]
    return float(present[0]) if present.size else 0.0


def indicators(coding: NetworkCoding, rows: CodedRows) -> Floats:
    """Standardized numbers beside indicators of levels; 0 where missing."""
    blocks = [rows.numbers]
    for j, n_levels in enumerate(coding.level_counts):
        blocks.append((rows.codes[:, j, np.newaxis] == np.arange(n_levels)).astype(float))
    return np.hstack(blocks)


def components_for(X: Floats, explained: float) -> int:
    """The least number of principal components that explain a share of the variance.

    Examples
    --------
    >>> components_for(np.diag([3.0, 2.0, 1.0, 0.0]), 0.9)
    2
    """
    spectrum = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    total = float(spectrum.sum())
    if total == 0.0:
        return 1
    return int(np.searchsorted(np.cumsum(spectrum) / total, explained * (1 - 1e-12))) + 1


def image_rows(images: Any) -> Any:
    """Images of one size as rows of numbers; tables stay as they are.

    Examples
    --------
    >>> image_rows(np.zeros((5, 8, 8))).shape
    (5, 64)
    >>> try:
    ...     image_rows([np.zeros((8, 8)), np.zeros((8, 7))])
    ... except InputError as error:
    ...     print(error)
    Image 1 is 8 x 7, and image 0 is 8 x 8: a network takes images of one size. Crop or resize them.
    """
    if isinstance(images, (list, tuple)) and images and np.ndim(images[0]) >= 2:
        shapes = [np.shape(image) for image in images]
        for at, shape in enumerate(shapes):
            if shape != shapes[0]:
                raise InputError(
                    f"Image {at} is {shape_text(shape)}, and image 0 is {shape_text(shapes[0])}: a "
                    "network takes images of one size. Crop or resize them."
                )
        images = np.stack([np.asarray(image) for image in images])
    if isinstance(images, np.ndarray) and images.ndim > 2:
        return images.reshape(len(images), -1)
    return images
