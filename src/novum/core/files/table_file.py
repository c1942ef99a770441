"""A file as chunks `(X, y, weight)` for a learner.

`core.sources` gives the columns of a file; this says which of them are features, target and weight.
The features' schema comes from the first pass over the file, so every chunk is read alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from novum.core.errors import InputError
from novum.core.runtime import is_stated, memory_limit
from novum.core.sources import Partition, Source, open_source
from novum.core.tables import Schema

# Times that the cells of a chunk are held, reader and learner together.
_COPIES = 16


@dataclass(frozen=True)
class Roles:
    """Which column of a file plays which part."""

    features: tuple[str, ...]
    target: str | None = None
    weight: str | None = None

    def chunk(self, table: pa.Table) -> tuple[Any, ...]:
        """`(X, y)` or `(X, y, weight)` of a table; `y` is None without a target."""
        X = table.select(list(self.features))
        y = None if self.target is None else _plain(table.column(self.target))
        return (X, y) if self.weight is None else (X, y, _plain(table.column(self.weight)))


@dataclass(frozen=True)
class FilePart:
    """A part of a file that a worker reads itself; a small value that can be pickled."""

    partition: Partition
    roles: Roles

    def __call__(self) -> tuple[Any, ...]:
        return self.roles.chunk(self.partition.read())


@dataclass(frozen=True, eq=False)
class TableFile:
    """A file with its roles."""

    source: Source
    roles: Roles
    schema: Schema
    memory_limit: str | None = None

    @classmethod
    def open(
        cls,
        path: Any,
        target: str | None = None,
        weight: str | None = None,
        features: Iterable[str] | None = None,
        kinds: Mapping[str, Any] | None = None,
        memory_limit: str | None = None,
    ) -> TableFile:
        """Opens a file and takes the first pass, which finds kinds and levels."""
        columns = None
        if features is not None:
            columns = [*features, *(name for name in (target, weight) if name is not None)]
        source = open_source(path, kinds=kinds, columns=columns, memory_limit=memory_limit)
        schema = source.schema()
        for role, name in (("target", target), ("weight", weight)):
            if name is not None and name not in schema.names:
                raise InputError(
                    f"{source.path.name} has no column {name!r} to be the {role}; it has "
                    f"{', '.join(schema.names[:20])}."
                )
        chosen = tuple(column for column in schema.columns if column.name not in (target, weight))
        if not chosen:
            raise InputError(f"{source.path.name} has no column left to learn from.")
        roles = Roles(tuple(column.name for column in chosen), target, weight)
        return cls(source, roles, Schema(chosen), memory_limit)

    def chunks(self, rows: int) -> Iterator[tuple[Any, ...]]:
        """A fresh pass over the file."""
        for table in self.source.chunks(rows):
            yield self.roles.chunk(table)

    def parts(self, rows: int) -> list[FilePart]:
        """The same chunks as values for a cluster."""
        return [FilePart(part, self.roles) for part in self.source.partitions(rows)]

    def rows_at_a_time(self, rows: int) -> int:
        """Fewer rows than asked for where a stated limit has no room for them.

        For sums, which do not depend on the cut but for rounding; forests draw by chunk. A learner
        holds a chunk several times: as it was read, as a table of the schema, as a matrix, and
        scaled or coded. A power of two, so that the cut moves in large steps only.
        """
        if not is_stated(self.memory_limit) or not isinstance(rows, int):
            return rows
        room = memory_limit(self.memory_limit) // (_COPIES * 8 * (self.schema.n_columns + 1))
        return min(rows, 1 << max(room, 1).bit_length() - 1)


def _plain(column: pa.ChunkedArray) -> Any:
    """A target or weight column as an array: labels as objects, numbers as floats."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.to_numpy()
