"""Small, well-known tables that come with the library.

    table, target = load("iris")

`catalog.json` beside the files holds for each table its task, target, kinds and levels, origin,
licence and the SHA-256 of its CSV text, which is checked at every load.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import pyarrow as pa

from novum.core.errors import FileFormatError, InputError
from novum.core.sources import CellReader, TableBuilder, arrow_cells
from novum.core.tables import Column, Frame, Kind, Schema, to_frame

_MISSING = frozenset({"?"})


@dataclass(frozen=True)
class BundledTable:
    """A bundled table; unpacks as `table, target`.

    Parameters
    ----------
    name : str
    table : pyarrow.Table, pandas.DataFrame or polars.DataFrame
    target : str
        Name of the column to predict.
    schema : Schema
        Kinds and levels, the target's too; levels may occur that no row has.
    task : str
        `"classification"` or `"regression"`.
    description, origin, licence : str
    costs : dict or None
        Published with the table: the positive class, `cost_fn` of missing it and `cost_fp` of a
        false alarm.
    """

    name: str
    table: Any
    target: str
    schema: Schema
    task: str
    description: str
    origin: str
    licence: str
    costs: dict[str, Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.table, self.target))

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{count} {kind.value}"
            for kind in Kind
            if (count := sum(column.kind is kind for column in self.schema.columns))
        )
        return (
            f"{self.name}: {self.description}\n"
            f"  {len(self.table):,} rows, {self.schema.n_columns} columns ({counts}); "
            f"{self.task} of {self.target!r}\n"
            f"  origin: {self.origin}; licence: {self.licence}"
        )


def available() -> tuple[str, ...]:
    """Names that `load` knows.

    Examples
    --------
    >>> "iris" in available()
    True
    """
    return tuple(sorted(_catalog()))


def load(name: str, *, frame: Frame = "arrow") -> BundledTable:
    """A bundled table by its name.

    Parameters
    ----------
    name : str
        One of `available()`.
    frame : {"arrow", "pandas", "polars"}, default="arrow"

    Returns
    -------
    BundledTable
        Unpacks as `table, target`.

    Examples
    --------
    >>> table, target = load("iris")
    >>> table.num_rows, target
    (150, 'species')
    """
    catalog = _catalog()
    if name not in catalog:
        raise InputError(f"There is no bundled table {name!r}; there are {', '.join(available())}.")
    entry = catalog[name]
    schema = Schema(
        tuple(
            Column(column["name"], Kind(column["kind"]), tuple(column.get("levels", ())))
            for column in entry["columns"]
        )
    )
    table = _parsed(_text(entry), schema)
    return BundledTable(
        name,
        to_frame(table, frame),
        entry["target"],
        schema,
        entry["task"],
        entry["description"],
        entry["origin"],
        entry["licence"],
        entry.get("costs"),
    )


@cache
def _catalog() -> dict[str, Any]:
    text = (files("novum.data") / "tables" / "catalog.json").read_text("utf-8")
    catalog: dict[str, Any] = json.loads(text)
    return catalog


def _text(entry: dict[str, Any]) -> bytes:
    data = (files("novum.data") / "tables" / entry["file"]).read_bytes()
    text = gzip.decompress(data) if entry["file"].endswith(".gz") else data
    if hashlib.sha256(text).hexdigest() != entry["sha256"]:
        raise FileFormatError(
            f"The bundled file {entry['file']} is damaged: its checksum is wrong. "
            "Install the library again."
        )
    return text


def _parsed(text: bytes, schema: Schema) -> pa.Table:
    """The file's cells under its known schema; no guess is needed, so none is made."""
    header, _, rows = text.partition(b"\n")
    names = header.decode("utf-8").strip().split(",")
    places = [names.index(name) for name in schema.names]
    cells = arrow_cells(rows, ",", '"', len(names), places)
    return TableBuilder(schema, CellReader(_MISSING)).table(cells)
