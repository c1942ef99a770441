"""Many labels: a column of sets such as "a;b", or several columns of zeros and ones.

A set is a text of labels with a separator between them, which is found and said; a separator alone
is the empty set, and an empty cell is missing. Each label becomes a column of its own, 1 where the
set has it, so that it is learned like any other target of two classes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from novum.apps.job.table.column_cells import cells_of
from novum.apps.job.table.reading import LoadedTable
from novum.core.errors import InputError
from novum.core.sources import counted
from novum.core.tables import Column, Schema
from novum.core.text import label_text, listed, printable
from novum.numerics import Floats

SEPARATORS = (";", "|", ",", "/", "+", "&", " ")
MOST_LABELS = 200


@dataclass(frozen=True, eq=False)
class LabelSets:
    """The sets of a column.

    Attributes
    ----------
    target, separator : str
    labels : tuple of str
        Sorted.
    indicator : array (n, L)
        1 where a row has a label, else 0; NaN in rows whose set is missing.
    """

    target: str
    separator: str
    labels: tuple[str, ...]
    indicator: Floats

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that stand for the labels."""
        return tuple(f"{self.target}={label}" for label in self.labels)

    @property
    def sentence(self) -> str:
        """How the column was understood."""
        mark = "a blank" if self.separator == " " else repr(self.separator)
        n_missing = int(np.isnan(self.indicator[:, 0]).sum())
        rows = f"; {counted(n_missing, 'row')} without a set" if n_missing else ""
        return (
            f"{printable(self.target)!r} holds sets of {len(self.labels)} labels, with {mark} "
            f"between them: {listed(self.labels)}{rows}."
        )


def separator_of(texts: Sequence[str], target: str) -> str:
    """What stands between labels: the first separator that occurs and whose labels come again.

    Examples
    --------
    >>> separator_of(["a;b", "b", "a;c d"], "y"), separator_of(["x y", "y z", "x"], "y")
    (';', ' ')
    """
    for mark in SEPARATORS:
        with_mark = [text for text in texts if mark in text.strip()]
        labels = Counter(label for text in texts for label in labels_of(text, mark))
        if with_mark and len(labels) < len(set(texts)) + 1 and max(labels.values(), default=0) > 1:
            return mark
    marks = ", ".join(repr(mark) for mark in SEPARATORS[:-1])
    raise InputError(
        f"No cell of {printable(target)!r} holds two labels: none of {marks} or a blank stands "
        "between them. Write sets as a;b, or say --task multiclass if each row has one label."
    )


def labels_of(text: str, separator: str) -> list[str]:
    """The labels of a set, each once.

    Examples
    --------
    >>> labels_of(" b; a ;b", ";"), labels_of(";", ";")
    (['b', 'a'], [])
    """
    return list(dict.fromkeys(label for part in text.split(separator) if (label := part.strip())))


def read_sets(
    loaded: LoadedTable, known: Sequence[str] | None = None, separator: str | None = None
) -> LabelSets:
    """The sets of the target; with `known` labels, others are refused."""
    target = loaded.target
    cells = cells_of(loaded.table.column(target), loaded.column(target))
    if cells.is_numeric:
        raise InputError(
            f"{printable(target)!r} holds numbers, and --task labels predicts sets of labels such "
            "as a;b. Name several columns of zeros and ones, or another target."
        )
    texts = [None if code < 0 else str(cells.level(int(code))) for code in cells.values]
    present = [text for text in texts if text is not None]
    mark = separator_of(present, target) if separator is None else separator
    sets = [None if text is None else labels_of(text, mark) for text in texts]
    labels = sorted({label for one in sets for label in one or ()})
    if known is not None:
        strange = [label for label in labels if label not in known]
        if strange:
            raise InputError(
                f"{printable(loaded.name)} has the label {label_text(strange[0])} of "
                f"{printable(target)!r}, which the model does not know; it knows {listed(known)}."
            )
        labels = list(known)
    _refuse(labels, target)
    places = {label: place for place, label in enumerate(labels)}
    indicator = np.full((len(sets), len(labels)), np.nan)
    for row, one in enumerate(sets):
        if one is not None:
            indicator[row] = 0.0
            indicator[row, [places[label] for label in one]] = 1.0
    return LabelSets(target, mark, tuple(labels), indicator)


def _refuse(labels: Sequence[str], target: str) -> None:
    if len(labels) < 2:
        only = f"one label only, {label_text(labels[0])}" if labels else "no label"
        raise InputError(
            f"The sets of {printable(target)!r} have {only}, so there is nothing to tell apart. "
            "Name another column with --target."
        )
    if len(labels) > MOST_LABELS:
        raise InputError(
            f"The sets of {printable(target)!r} have {len(labels):,} different labels; "
            f"{MOST_LABELS} are the most. Join or leave out rare ones first."
        )


def with_labels(loaded: LoadedTable, label_sets: LabelSets) -> LoadedTable:
    """The table with a column of zeros and ones for each label."""
    table, columns = loaded.table, list(loaded.schema.columns)
    for place, name in enumerate(label_sets.columns):
        if name in loaded.schema.names:
            raise InputError(
                f"{printable(loaded.name)} has a column {printable(name)!r}, the name that the "
                "label needs. Rename the column."
            )
        cells = label_sets.indicator[:, place]
        table = table.append_column(name, pa.array(cells, pa.float64(), mask=np.isnan(cells)))
        columns.append(Column(name))
    return replace(loaded, table=table, schema=Schema(tuple(columns)))
