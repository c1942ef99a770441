"""Runs of many labels: which can be learned, what the others get, and how sets are judged.

A label that has fewer rows than there are folds cannot be compared on them; it gets its share of
the rows as its probability, for every row, and a sentence says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.apps.job.judging import estimate_of
from novum.apps.job.outputs import safe_cell
from novum.apps.job.planning import PRESETS
from novum.apps.job.record import LabelsRecord
from novum.apps.job.record_model import Estimate
from novum.apps.job.request import Request
from novum.apps.job.shared_rows import SharedRows
from novum.apps.job.table.labels import LabelSets
from novum.apps.job.table.task import Task
from novum.core.errors import InputError
from novum.core.text import printable
from novum.display import about, percent
from novum.evaluation import DummyClassifier, label_set_measures
from novum.numerics import Mask

Lines = list[dict[str, str]]
JUDGED = ("hold-out", "test file")
_TITLES = {
    "hamming_loss": "Hamming loss",
    "f1_micro": "micro F1",
    "f1_macro": "macro F1",
    "exact_match": "exact match",
}


def row_key(line: Mapping[str, str]) -> tuple[bool, int]:
    """Rows of a test file are other rows than those of the table."""
    return line["answered"] == "test file", int(line["row"])


# --- Rare labels ----------------------------------------------------------------------------------


def rare_labels(tasks: Mapping[str, Task], request: Request) -> dict[str, int]:
    """Labels that too few rows have, or lack, for the folds; with how many rows those are."""
    folds = request.folds or PRESETS[request.preset].folds
    rare = {}
    for name, task in tasks.items():
        fewest = int(task.class_counts().min()) if task.classes is not None else 0
        if round((1.0 - request.holdout) * fewest) < folds:
            rare[name] = fewest
    if len(rare) == len(tasks):
        raise InputError(
            f"No label has {folds} rows to learn from besides those set aside, which {folds} folds "
            "take. Add rows, or name fewer folds, such as --cv 2."
        )
    return rare


def rare_sentence(name: str, n_rows: int) -> str:
    """What is said of a label that cannot be learned."""
    rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
    return (
        f"The label {printable(name)!r} has {rows} of its rarer value, fewer than the folds: its "
        "share of the rows is its probability everywhere, and nothing is learned about it."
    )


def constant_model(task: Task) -> Any:
    """The share of a label as the answer for every row."""
    rows = task.rows()
    return DummyClassifier().fit(rows.X, rows.y, sample_weight=rows.weight)


def constant_lines(task: Task, shared: SharedRows, request: Request) -> Lines:
    """Predictions of a rare label, as the run of another label writes them."""
    parts = shared.parts_of(task, request)
    assert task.classes is not None
    counts = np.bincount(task.coded[parts.train], minlength=len(task.classes))
    answer = {"prediction": str(task.classes[counts.argmax()])}
    shares = counts / max(counts.sum(), 1)
    for label, share in zip(task.classes, shares, strict=True):
        answer[f"probability {label}"] = f"{share:.6g}"
    lines = []
    sources = {"out of fold": parts.train, "hold-out": parts.holdout, "no target": parts.unlabeled}
    for source, positions in sources.items():
        for at in positions.tolist():
            named = {} if request.id is None or task.ids is None else {request.id: task.ids[at]}
            true = "" if source == "no target" else str(task.classes[task.coded[at]])
            line = {"row": str(at + 1), "answered": source, "target": true}
            lines.append({**named, **line, **answer})
    return lines


# --- Judgment -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class JudgedSets:
    """Labels of new rows: the truth, the decisions, and what is always said."""

    true: Mask
    decided: Mask
    always: Mask


def judged_sets(lines: Mapping[str, Lines]) -> JudgedSets | None:
    """The new rows that have all labels; None where there are none."""
    by_row = [{row_key(x): x for x in own if x["answered"] in JUDGED} for own in lines.values()]
    rows = sorted(set.intersection(*(set(own) for own in by_row)))
    if not rows:
        return None
    # The higher one of both values is that of rows that have the label.
    values = [sorted({x["target"] for x in own if x["target"]})[-1] for own in lines.values()]
    true, decided = (
        np.array([
            [own[row][what] == value for own, value in zip(by_row, values, strict=True)]
            for row in rows
        ])
        for what in ("target", "prediction")
    )  # fmt: skip
    shares = [
        np.mean([x["target"] == value for x in own if x["answered"] == "out of fold"])
        for own, value in zip(lines.values(), values, strict=True)
    ]
    return JudgedSets(true, decided, np.tile(np.array(shares) > 0.5, (len(rows), 1)))


def set_measures(judged: JudgedSets | None) -> tuple[tuple[tuple[str, Estimate], ...], ...]:
    """Measures of the decisions, and of the same answer for every row."""
    if judged is None:
        return (), ()
    return tuple(
        tuple(
            (_TITLES[name], estimate_of(interval))
            for name, interval in label_set_measures(judged.true, decided).items()
        )
        for decided in (judged.decided, judged.always)
    )


def label_verdict(record: LabelsRecord, measures: Sequence[tuple[str, Estimate]]) -> Iterator[str]:
    """Which labels, how good the sets are, and what the same answer for every row gives."""
    own, same = dict(measures), dict(record.constant)
    learned = len(record.labels) - len(record.rare)
    yield (
        f"{len(record.labels)} labels of {printable(record.target, 80)}, each decided by its own "
        f"probability; {learned} of them by a model that was chosen for it."
    )
    if not own:
        yield "No rows were set aside to judge the sets on; each label has its own record."
        return
    wrong, exact, f1 = own["Hamming loss"], own["exact match"], own["micro F1"]
    yield (
        f"On new rows {percent(wrong.value)} of all decisions are wrong (Hamming loss, between "
        f"{percent(wrong.low)} and {percent(wrong.high)} with 95 % confidence); the same set for "
        f"every row has {percent(same['Hamming loss'].value)}."
    )
    yield (
        f"The whole set is right for {percent(exact.value)} of them; micro F1 is {about(f1.value)},"
        f" macro F1 {about(own['macro F1'].value)}."
    )


# --- Files ----------------------------------------------------------------------------------------


def set_lines(
    lines: Mapping[str, Lines], sets: LabelSets, id: str | None
) -> Iterator[Sequence[str]]:
    """A line for each row: the set as the table writes it, and a probability of each label."""
    named = [] if id is None else [id]
    heads = ["row", "answered", "target", "prediction"]
    heads += [f"probability {label}" for label in sets.labels]
    yield [safe_cell(name) for name in (*named, *heads)]
    by_row = [{row_key(line): line for line in own} for own in lines.values()]
    for key in sorted({key for own in by_row for key in own}):
        own = [one[key] for one in by_row]
        pairs = list(zip(sets.labels, own, strict=True))
        true, decided = (
            joined_set([label for label, line in pairs if line[what] == "1"], sets.separator)
            for what in ("target", "prediction")
        )
        source = own[0]["answered"]
        yield [
            *(own[0][name] for name in named),
            str(key[1]),
            source,
            "" if source == "no target" else safe_cell(true),
            safe_cell(decided),
            *(line.get("probability 1", "") for line in own),
        ]


def joined_set(labels: Sequence[str], separator: str) -> str:
    """A set as a table writes it; the separator alone is the empty one."""
    return separator.join(labels) or separator.strip() or "none"
