"""Reading BIF files."""

from __future__ import annotations

from benchmarks.clock import Clock
from benchmarks.graphical.networks import network
from benchmarks.graphical.novum_adapter import Novum
from benchmarks.graphical.pgmpy_adapter import Pgmpy
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe
from benchmarks.registry import Figures, workload


def read(make: Make, data: Data, clock: Clock) -> Figures:
    adapter = make(data)
    # Code is loaded by the first call, which `benchmarks.startup` measures.
    adapter.load(data.path)
    with clock("read"):
        for _ in range(data.repeat):
            adapter.load(data.path)
    return {}


# Of small files opening takes most, so that the bar is lower.
SMALL = {"alarm"}

for name, repeat in {"alarm": 50, "link": 1, "pathfinder": 1, "diabetes": 1, "munin": 1}.items():
    workload(
        f"graphical.formats.bif.{name}",
        Recipe(network, name, repeat=repeat),
        read,
        [
            Peer("pyagrum", lambda _: PyAgrum()),
            Peer("pgmpy", lambda _: Pgmpy(), slow=True),
        ],
        novum=Peer("novum", lambda _: Novum(), ours=True),
        target=2.0 if name in SMALL else 12.0,
        note=f"reading the BIF file, {repeat} time(s)",
    )
