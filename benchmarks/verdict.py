"""Held or missed: Novum's time against the bar, at equal quality.

    ratio = rival's seconds / Novum's seconds        over 1: Novum is ahead

The bar is the rival a workload names, or else the fastest one whose quality equals the best rival's
within the tolerance. Whoever is faster by being worse sets no bar, and Novum outside the tolerance
has missed, whatever its time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.measuring import Outcome
from benchmarks.registry import Quality, Workload

HELD = "held"
MISSED = "missed"
WORSE = "worse quality"
OPEN = "no target"
ABSENT = "no Novum entry"
NO_BAR = "no rival ran"


@dataclass(frozen=True)
class Verdict:
    """What the report says of one workload."""

    workload: str
    status: str
    reason: str = ""
    ratio: float | None = None
    bar: str = ""
    phases: tuple[tuple[str, float], ...] = ()


def judge(workload: Workload, outcomes: Mapping[str, Outcome], clock: str = "cpu") -> Verdict:
    """The verdict on Novum's side of a workload."""
    ours = next((outcome for outcome in outcomes.values() if outcome.ours), None)
    bar = bar_of(workload, outcomes, clock)
    if ours is None:
        return Verdict(workload.name, ABSENT, bar=bar)
    if not ours.ran:
        return Verdict(workload.name, ours.status, ours.message, bar=bar)
    equal = equal_quality(workload.quality, outcomes)
    if not any(outcomes[name].ours for name in equal):
        return Verdict(workload.name, WORSE, _shortfall(workload, outcomes), bar=bar)
    over = _memory_excess(workload, ours)
    if not bar:
        status = MISSED if over else NO_BAR
        return Verdict(workload.name, status, over)
    ratio = outcomes[bar].total(clock) / max(ours.total(clock), 1e-9)
    phases = _phase_ratios(outcomes, equal, ours, clock)
    status, reason = _status(workload, ratio, over)
    return Verdict(workload.name, status, reason, ratio, bar, phases)


def bar_of(workload: Workload, outcomes: Mapping[str, Outcome], clock: str) -> str:
    """The rival that sets the bar; empty where none ran."""
    equal = equal_quality(workload.quality, outcomes)
    named = outcomes.get(workload.against)
    if named is not None and named.ran:
        return workload.against
    able = [name for name in equal if not outcomes[name].ours and not outcomes[name].other_method]
    return min(able, key=lambda name: outcomes[name].total(clock), default="")


def equal_quality(quality: Quality | None, outcomes: Mapping[str, Outcome]) -> set[str]:
    """The peers, Novum among them, whose quality is not worse than the best rival's."""
    ran = {name: outcome for name, outcome in outcomes.items() if outcome.ran}
    if quality is None:
        return set(ran)
    sign = 1.0 if quality.better == "high" else -1.0
    values = {
        name: sign * outcome.quality.get(quality.figure, math.nan) for name, outcome in ran.items()
    }
    if quality.required is not None:
        floor = sign * quality.required
    else:
        rivals = [
            value
            for name, value in values.items()
            if not ran[name].ours and not ran[name].other_method and math.isfinite(value)
        ]
        best = max(rivals, default=-math.inf)
        floor = best - quality.tolerance * max(abs(best), 1e-12) if rivals else -math.inf
    # A comparison with NaN is false, so a figure that could not be computed is never equal.
    return {name for name, value in values.items() if value >= floor}


def _status(workload: Workload, ratio: float, over: str) -> tuple[str, str]:
    if over:
        return MISSED, over
    if workload.target is None:
        return OPEN, ""
    if ratio >= workload.target:
        return HELD, ""
    return MISSED, f"{ratio:.2f} of {workload.target:g}"


def _memory_excess(workload: Workload, ours: Outcome) -> str:
    grown = max(ours.memory.values(), default=math.nan)
    if workload.memory is None or grown <= workload.memory:
        return ""
    return f"memory grew by {grown:.0f} MB of {workload.memory:g} MB"


def _shortfall(workload: Workload, outcomes: Mapping[str, Outcome]) -> str:
    quality = workload.quality
    if quality is None:
        return ""
    ours = next(outcome for outcome in outcomes.values() if outcome.ours)
    value = ours.quality.get(quality.figure, math.nan)
    if quality.required is not None:
        return f"{quality.figure} {value:.3g}, required {quality.required:g}"
    rivals = [
        outcome.quality.get(quality.figure, math.nan)
        for outcome in outcomes.values()
        if outcome.ran and not outcome.ours and not outcome.other_method
    ]
    pick = max if quality.better == "high" else min
    best = pick((value for value in rivals if math.isfinite(value)), default=math.nan)
    return f"{quality.figure} {value:.6g}, the best rival has {best:.6g}"


def _phase_ratios(
    outcomes: Mapping[str, Outcome], equal: set[str], ours: Outcome, clock: str
) -> tuple[tuple[str, float], ...]:
    """By phase, against the rival that is best in that phase."""
    ratios = []
    for phase, seconds in ours.seconds(clock).items():
        rivals = [
            outcomes[name].seconds(clock)[phase]
            for name in equal
            if not outcomes[name].ours
            and not outcomes[name].other_method
            and phase in outcomes[name].seconds(clock)
        ]
        if rivals:
            ratios.append((phase, min(rivals) / max(seconds, 1e-9)))
    return tuple(ratios)
