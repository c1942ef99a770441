"""The workloads, each a few lines in a `bench_<file>.py` that mirrors the source tree.

A workload has deterministic data, a protocol and peers. The protocol is called as
`protocol(make, data, clock)`: `make(data)` builds what the peer offers, only what runs inside
`with clock("phase"):` counts, and it returns figures of quality, or a function that computes them
(called after the first repetition only, outside the time). A figure whose name starts with `_` is
an array; it is compared with the first peer's by the largest absolute difference.
"""

from __future__ import annotations

import fnmatch
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe

Figures = Mapping[str, Any]
Protocol = Callable[[Make, Data, Clock], Figures | Callable[[], Figures]]

WORKLOADS: dict[str, Workload] = {}


@dataclass(frozen=True)
class Quality:
    """The figure that must not be worse.

    Equal quality is a value within `tolerance` (relative) of the best rival's; where `required` is
    given, it is a value on the right side of `required`, whatever the others reach.
    """

    figure: str
    better: str = "high"
    tolerance: float = 0.01
    required: float | None = None

    def __post_init__(self) -> None:
        if self.better not in ("high", "low"):
            raise ValueError(f"Quality is better 'high' or 'low', not {self.better!r}.")


@dataclass(frozen=True)
class Workload:
    """One comparison.

    Parameters
    ----------
    name : str
        `<package>.<file>[.<variant>]`, after the `bench_<file>.py` it stands in.
    data : Recipe
    protocol : callable
    rivals : sequence of Peer
    novum : Peer or None
        Absent until Novum's interface for this work is decided.
    target : float or None
        Rival's time over Novum's, to hold at least.
    against : str
        The rival the target speaks of; the fastest of equal quality when empty.
    quality : Quality or None
    memory : float or None
        MB that Novum's peak may grow by, at most.
    limit : float
        CPU seconds after which a repetition is ended.
    note : str
        One line on the data.
    """

    name: str
    data: Recipe
    protocol: Protocol
    rivals: Sequence[Peer]
    novum: Peer | None = None
    target: float | None = None
    against: str = ""
    quality: Quality | None = None
    memory: float | None = None
    limit: float = 60.0
    note: str = ""

    def __post_init__(self) -> None:
        names = [peer.name for peer in self.peers()]
        if len(set(names)) < len(names):
            raise ValueError(f"Workload {self.name} names a peer twice: {', '.join(names)}.")
        if self.against and self.against not in names:
            raise ValueError(
                f"Workload {self.name} holds its target against {self.against!r}, "
                f"which is none of its rivals: {', '.join(names)}."
            )

    def peers(self) -> list[Peer]:
        """Novum first, then the rivals."""
        return [*([self.novum] if self.novum else []), *self.rivals]

    def limited(self, seconds: float) -> Workload:
        return replace(self, limit=min(self.limit, seconds))


def workload(
    name: str, data: Recipe, protocol: Protocol, rivals: Sequence[Peer], **options: Any
) -> None:
    """Registers a workload; a second one of the same name is refused."""
    if name in WORKLOADS:
        raise ValueError(f"There are two workloads named {name!r}; rename one.")
    WORKLOADS[name] = Workload(name, data, protocol, rivals, **options)


def load_workloads() -> dict[str, Workload]:
    """Imports every `bench_*.py` below this folder; returns the registry."""
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("bench_*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        importlib.import_module(".".join(parts))
    return WORKLOADS


def select(names: Sequence[str], known: Mapping[str, Workload]) -> list[Workload]:
    """The workloads that match a name, a dotted prefix or a glob; all of them for no names.

    A name that matches nothing is an error that lists the packages.
    """
    if not names:
        return list(known.values())
    chosen: dict[str, Workload] = {}
    for name in names:
        matched = {
            key: value
            for key, value in known.items()
            if fnmatch.fnmatch(key, name) or key.startswith(name.rstrip(".") + ".")
        }
        if not matched:
            packages = sorted({key.partition(".")[0] for key in known})
            raise ValueError(
                f"No workload matches {name!r}. Packages: {', '.join(packages)}; "
                "--list shows every name."
            )
        chosen |= matched
    return [value for key, value in known.items() if key in chosen]
