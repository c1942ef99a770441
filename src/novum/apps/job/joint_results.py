"""What several targets come to: their files joined, all of them judged together, and the words."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from novum.apps.job.labels import JUDGED, Lines, row_key
from novum.apps.job.outputs import LEADERBOARD, safe_cell
from novum.apps.job.record import OF_NUMBERS, RunRecord
from novum.apps.job.record_model import Estimate
from novum.core.files import replacing
from novum.core.text import printable
from novum.display import counted
from novum.evaluation import proportion_interval


def prediction_lines(path: Path) -> Lines:
    """Lines of predictions; none where a run has none."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def joined_predictions(lines: Mapping[str, Lines], id: str | None) -> Iterator[Sequence[str]]:
    """A line for each row of the table, with all targets side by side."""
    heads = {name: [c for c in (own[0] if own else ()) if c not in ("row", id)]
             for name, own in lines.items()}  # fmt: skip
    named = [] if id is None else [id]
    titles = [_column(column, name) for name, own in heads.items() for column in own]
    yield [*map(safe_cell, named), "row", *map(safe_cell, titles)]
    by_row = {name: {row_key(line): line for line in own} for name, own in lines.items()}
    for key in sorted({key for own in by_row.values() for key in own}):
        predictions = [own[key] for own in by_row.values() if key in own]
        cells = [by_row[name].get(key, {}).get(c, "") for name, own in heads.items() for c in own]
        yield [*(predictions[0][id] for id in named), str(key[1]), *cells]


def _column(column: str, target: str) -> str:
    """A column of predictions under the name of its target.

    Examples
    --------
    >>> _column("prediction", "y"), _column("probability a", "y"), _column("target", "y")
    ('prediction y', 'probability y=a', 'target y')
    """
    if column.startswith("probability "):
        return f"probability {target}={column.removeprefix('probability ')}"
    return f"{column} {target}"


def joined_leaderboards(folder: Path, folders: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """All models of all targets; the measure of each target is named in its lines."""
    head: list[str] = []
    for name, one in folders.items():
        with (folder / one / LEADERBOARD).open(newline="", encoding="utf-8") as file:
            own, *rows = list(csv.reader(file))
        if not head:
            head = ["target", own[0], "measure", "value", *own[2:]]
            yield head
        for row in rows:
            yield [safe_cell(name), row[0], own[1], *row[1:]]


def write_rows(path: Path, rows: Iterator[Sequence[str]]) -> None:
    """Writes cells that are safe already as CSV."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        csv.writer(text).writerows(rows)
        text.flush()
        text.detach()


def all_right(
    lines: Mapping[str, Lines], records: Mapping[str, RunRecord]
) -> tuple[tuple[str, Estimate], ...]:
    """The share of new rows whose classes are all right; nothing where a target is a number."""
    if len(records) < 2 or any(one.task.kind in OF_NUMBERS for one in records.values()):
        return ()
    known = [[line for line in own if line["answered"] in JUDGED] for own in lines.values()]
    rights = [
        {row_key(line): line["target"] == line["prediction"] for line in own} for own in known
    ]
    rows = sorted(set.intersection(*(set(own) for own in rights)))
    if not rows:
        return ()
    hits = np.array([all(own[row] for own in rights) for row in rows])
    interval = proportion_interval(int(hits.sum()), len(hits))
    return (("all targets right", Estimate(interval.estimate, interval.low, interval.high)),)


def verdict(
    records: Mapping[str, RunRecord], measures: Sequence[tuple[str, Estimate]]
) -> tuple[str, ...]:
    """All targets, each by itself, and all together."""
    chosen = ", ".join(
        f"{printable(name, 60)} by {record.chosen.title}" for name, record in records.items()
    )
    each = (f"{printable(name, 60)}: {record.verdict[1]}" for name, record in records.items())
    return (
        f"{counted(len(records), 'target')}, each with a model of its own: {chosen}.",
        *each,
        *together(records, measures),
    )


def together(
    records: Mapping[str, RunRecord], measures: Sequence[tuple[str, Estimate]]
) -> Iterator[str]:
    """What holds for all targets together."""
    savings = [record.holdout.saving if record.holdout else None for record in records.values()]
    if any(saving is not None for saving in savings):
        ahead = sum(one is not None and (one.saved.low or 0.0) > 0 for one in savings)
        number = "All" if ahead == len(savings) else f"{ahead} of the {len(savings)}"
        verb = "is" if ahead == 1 and len(savings) > 1 else "are"
        yield (
            f"{number} targets {verb} clearly better predicted than by the same answer for every "
            "row, on the rows set aside."
        )
    for name, estimate in measures:
        if name == "all targets right" and estimate.value is not None:
            ends = f"between {100 * (estimate.low or 0):.1f} and {100 * (estimate.high or 0):.1f} %"
            yield (
                f"All targets at once are right for {100 * estimate.value:.1f} % of the rows that "
                f"have them ({ends} with 95 % confidence)."
            )
