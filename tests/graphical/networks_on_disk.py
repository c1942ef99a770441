"""Published networks, read once."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

from novum.graphical import BayesianNetwork

FOLDER = Path(__file__).parents[2] / "benchmarks" / "data"
# From small to large.
PUBLISHED = (
    "cancer", "earthquake", "survey", "asia", "sachs", "child", "insurance", "alarm", "hailfinder",
    "win95pts", "andes",
)  # fmt: skip


@cache
def network_on_disk(name: str) -> BayesianNetwork:
    with warnings.catch_warnings():
        # Of zeros in their tables.
        warnings.simplefilter("ignore")
        return BayesianNetwork.read(FOLDER / f"{name}.bif.gz")
