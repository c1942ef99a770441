"""The table of a run: first the ratios with held or missed, then every peer of every workload."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.measuring import Outcome
from benchmarks.registry import Workload
from benchmarks.verdict import Verdict, bar_of, equal_quality, judge

Outcomes = Mapping[str, Mapping[str, Outcome]]


def markdown(workloads: Mapping[str, Workload], outcomes: Outcomes, meta: Mapping[str, Any]) -> str:
    """The whole report as Markdown."""
    shown = [workloads[name] for name in workloads if outcomes.get(name)]
    clock = str(meta["clock"])
    verdicts = [judge(workload, outcomes[workload.name], clock) for workload in shown]
    lines = [*_opening(meta, verdicts), *_ratios(shown, outcomes, verdicts, clock)]
    for workload, verdict in zip(shown, verdicts, strict=True):
        lines += _details(workload, outcomes[workload.name], verdict, clock)
    return "\n".join(lines) + "\n"


def seconds(value: float) -> str:
    """Three or more significant figures, never an exponent.

    Examples
    --------
    >>> seconds(12.345), seconds(0.1234), seconds(0.001234)
    ('12.35', '0.123', '0.00123')
    """
    if value >= 1:
        return f"{value:.2f}"
    return f"{value:.3f}" if value >= 0.01 else f"{value:.5f}"


def counts(verdicts: Iterable[Verdict]) -> str:
    """How many workloads have which verdict, for one line of text."""
    tally: dict[str, int] = {}
    for verdict in verdicts:
        tally[verdict.status] = tally.get(verdict.status, 0) + 1
    return ", ".join(f"{number} {status}" for status, number in sorted(tally.items()))


def _opening(meta: Mapping[str, Any], verdicts: list[Verdict]) -> list[str]:
    unit = "CPU" if meta["clock"] == "cpu" else "wall"
    lines = [
        "# Novum and its rivals",
        "",
        f"{meta['threads']} thread(s), {unit} seconds, minimum over interleaved repetitions. "
        "MB: growth of the peak resident size. Ratio: rival's seconds over Novum's, above 1 Novum "
        "is ahead. **Bold**: the rival that sets the bar, the fastest of equal quality unless the "
        "workload names one. (worse): outside the tolerance of the best quality. "
        "`difference_x`: largest difference from the first peer's result.",
        "",
        "Versions: " + ", ".join(f"{name} {text}" for name, text in meta["versions"].items()),
        "",
        f"Verdicts: {counts(verdicts)}.",
    ]
    if meta["scale"] == "quick":
        lines += ["", "**Quick sizes: a look at the machinery, not at the speed.**"]
    return lines


def _ratios(
    workloads: list[Workload], outcomes: Outcomes, verdicts: list[Verdict], clock: str
) -> list[str]:
    lines = [
        "",
        "## Ratios",
        "",
        "| workload | Novum s | against | its s | ratio | target | MB | verdict |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for workload, verdict in zip(workloads, verdicts, strict=True):
        peers = outcomes[workload.name]
        ours = next((o for o in peers.values() if o.ours and o.ran), None)
        bar = peers.get(verdict.bar)
        cells = [
            workload.name,
            seconds(ours.total(clock)) if ours else "-",
            verdict.bar or "-",
            seconds(bar.total(clock)) if bar else "-",
            f"{verdict.ratio:.2f}" if verdict.ratio is not None else "-",
            f"{workload.target:g}" if workload.target is not None else "-",
            _megabytes(ours, workload.memory),
            verdict.status + (f" ({verdict.reason})" if verdict.reason else ""),
        ]
        lines.append(_row(cells))
    return lines


def _megabytes(outcome: Outcome | None, limit: float | None) -> str:
    if outcome is None:
        return "-"
    grown = max(outcome.memory.values(), default=math.nan)
    return f"{grown:.0f}" + (f" of {limit:g}" if limit is not None else "")


def _details(
    workload: Workload, peers: Mapping[str, Outcome], verdict: Verdict, clock: str
) -> list[str]:
    lines = ["", f"## {workload.name}", ""]
    if workload.note:
        lines += [workload.note, ""]
    phases = list(dict.fromkeys(p for peer in peers.values() for p in peer.seconds(clock)))
    heads = ["peer", *(f"{phase} s" for phase in phases), "quality", "MB", "repetitions"]
    lines += [_row(heads), "|---" * len(heads) + "|"]
    equal, bar = equal_quality(workload.quality, peers), bar_of(workload, peers, clock)
    ranked = sorted(
        peers.items(), key=lambda item: item[1].total(clock) if item[1].ran else math.inf
    )
    for name, outcome in ranked:
        lines.append(_row(_cells(name, outcome, phases, clock, name in equal, name == bar)))
    if verdict.ratio is not None:
        each = ", ".join(f"{phase} {ratio:.2f}" for phase, ratio in verdict.phases)
        lines += [
            "",
            f"novum against {verdict.bar}: {verdict.ratio:.2f} in all "
            f"(against the best rival of each phase: {each}): {verdict.status}.",
        ]
    return lines


def _cells(
    name: str, outcome: Outcome, phases: list[str], clock: str, equal: bool, bar: bool
) -> list[str]:
    if not outcome.ran:
        why = f"{outcome.status}: {outcome.message}" if outcome.message else outcome.status
        return [name, *("-" for _ in phases), why, "", ""]
    label = f"**{name}**" if bar else name
    if outcome.other_method:
        label += " (other method)"
    elif not equal:
        label += " (worse)"
    times = outcome.seconds(clock)
    figures = ", ".join(f"{figure} {value:.6g}" for figure, value in outcome.quality.items())
    return [
        label,
        *(seconds(times[phase]) if phase in times else "-" for phase in phases),
        "; ".join([figures, *outcome.notes]) if outcome.notes else figures,
        _megabytes(outcome, None),
        str(outcome.repetitions),
    ]


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
