"""Small tables, and runs of them, made by the job itself in the test's own process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from novum.apps.cli.run import recorded
from novum.apps.job.clock import Silent
from novum.apps.job.request import Request

HOSTILE = "<img src=x onerror=document.title='hacked'>"


def two_classes(path: Path, n: int = 120, hostile: bool = False) -> Path:
    """Two numbers and a level that tell two classes apart, though not entirely."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=n), rng.normal(size=n)
    level = np.where(rng.random(n) < 0.5, "low", "high")
    sick = x + 0.5 * (level == "high") + 0.7 * rng.normal(size=n) > 0.6
    names = ["name", "x", "z", "level", "state"]
    labels = np.where(sick, "sick", "well")
    if hostile:
        names = ["=name", f"x{HOSTILE}", "z", f"level{HOSTILE}", "state"]
        level = np.where(level == "low", "low", f"@{HOSTILE}")
        labels = np.where(sick, "=sick", f"well{HOSTILE}")
    lines = [",".join(names)]
    for i in range(n):
        cells = [f"=p{i}", f"{x[i]:.4f}", "" if i % 17 == 0 else f"{z[i]:.4f}", level[i], labels[i]]
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Works in a folder, as the command does."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def make_run(folder: Path, table: str, name: str, **settings: Any) -> Any:
    """A finished run of a table in the folder, with its report."""
    quick: dict[str, Any] = {"preset": "quick", "models": ("tree", "linear"), "folds": 3}
    with inside(folder):
        return recorded(Request(table, **(quick | settings)), Path(name), Silent())
