"""What findings are drawn from, and how they are worded alike."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from novum.apps.job.record import ColumnRecord, ProfileRecord
from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.task import Task
from novum.core.runtime import stream
from novum.core.sources import ReadReport
from novum.core.text import printable
from novum.numerics import Array, Integers, cached_property

# Rows that costly searches look at; fewer in wide tables, so that their cells stay few.
SAMPLE_ROWS = 20_000
SAMPLE_CELLS = 10_000_000
FEWEST_SAMPLE_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Evidence:
    """A task, its profile and the report of its reading.

    Attributes
    ----------
    task : Task
    profile : ProfileRecord
    report : ReadReport or None
    folds : int
        Folds of the cross-validation to come.
    """

    task: Task
    profile: ProfileRecord
    report: ReadReport | None
    folds: int

    @cached_property
    def columns(self) -> dict[str, ColumnRecord]:
        """The profile of each column by its name."""
        return {column.name: column for column in self.profile.columns}

    @cached_property
    def sample(self) -> Integers:
        """Labeled rows in random order, at most so many that costly searches stay quick."""
        rows = self.task.labeled
        room = SAMPLE_CELLS // max(self.task.schema.n_columns, 1)
        most = min(SAMPLE_ROWS, max(FEWEST_SAMPLE_ROWS, room))
        # A seed of its own: what is found must not depend on the seed of the run.
        return stream(0, "findings").permutation(rows)[:most]

    @property
    def sampled(self) -> str:
        """The remark that a sample was looked at; empty where it is all rows."""
        if len(self.sample) == len(self.task.labeled):
            return ""
        return f" (in a sample of {len(self.sample):,} rows)"

    def sample_cells(self, place: int) -> Cells:
        """A feature in the rows of the sample."""
        return self.task.cells_at(place, self._sample_rows)

    @cached_property
    def _sample_rows(self) -> pa.Array:
        return pa.array(self.sample)

    @cached_property
    def sample_target(self) -> Array:
        return np.asarray(self.task.coded[self.sample])


def quoted(names: Sequence[str], most: int = 5) -> str:
    """Names of columns in a text, the first of many.

    Examples
    --------
    >>> quoted(["a", "b"]), quoted(["a", "b", "c"], most=2)
    ("'a' and 'b'", "'a', 'b' and 1 more")
    """
    shown = [repr(printable(name, 60)) for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def them(columns: Sized) -> str:
    """The word for columns that have been named.

    Examples
    --------
    >>> them(["a"]), them(["a", "b"])
    ('it', 'them')
    """
    return "it" if len(columns) == 1 else "them"


def percent(share: float) -> str:
    """A share in percent, with as many digits as it needs.

    Examples
    --------
    >>> percent(0.25), percent(0.0042), percent(0.99996)
    ('25 %', '0.42 %', '99.996 %')
    """
    value = 100 * share
    near = min(value, 100 - value)
    digits = 0 if near >= 1 or near <= 0 else int(np.ceil(-np.log10(near))) + 1
    text = f"{value:.{min(digits, 6)}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"
