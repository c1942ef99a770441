"""Bayesian networks as files, with evidence and tables drawn from them (by pyAgrum)."""

from __future__ import annotations

import gzip
import importlib.util
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recipes import Data, scratch_folder

# Cases with other states of the nodes that the first case observes.
SAME = 5
HERE = Path(__file__).parents[1] / "data"
# pyAgrum reads only identifiers as labels; 'child' has '<5', '5-12', 'Asy/Patch'.
_SPELLING = {"<": "lt", ">": "gt", "+": "plus", "=": "e"}


def network(
    name: str,
    cases: int = 0,
    rows: int = 0,
    test: int = 0,
    repeat: int = 1,
    missing: float = 0.0,
    part: float = 0.1,
) -> Data:
    """A network with evidence cases and tables.

    Parameters
    ----------
    name : str
        File name without `.bif.gz`.
    cases : int
        Evidence cases: a `part` of the nodes observed, as in a forward sample.
    rows, test : int
        Rows of the table to learn from (`frame`) and of the one to judge by (`test`).
    repeat : int
        How often the protocol repeats a quick call.
    missing : float
        Part of the cells of `frame` that is missing.
    """
    import pyagrum

    data = Data(name=name, repeat=repeat)
    data.path = str(plain_file(name, scratch_folder(data, "bench-bif-")))
    bn = pyagrum.loadBN(data.path)
    data.nodes = sorted(bn.names())
    data.labels = {v: list(bn.variable(v).labels()) for v in data.nodes}
    data.edges = sorted((bn.variable(a).name(), bn.variable(b).name()) for a, b in bn.arcs())
    pyagrum.initRandom(1)
    generator = pyagrum.BNDatabaseGenerator(bn)
    generator.drawSamples(max(cases, rows + test, SAME + 1))
    rng = np.random.default_rng(0)
    data.cases = _evidence(generator, cases, part, rng)
    data.same = _same_nodes(generator, data.cases[0]) if cases else []
    if rows:
        _add_tables(data, generator, rows, missing, rng)
    return data


def plain_file(name: str, folder: Path) -> Path:
    """Unpacks a network into `folder`, with labels that every reader accepts."""
    with gzip.open(_packed(name), "rt") as file:
        text = file.read()
    if name == "child":
        text = _with_plain_labels(text)
    path = folder / f"{name}.bif"
    path.write_text(text.replace("Transp.", "Transp"))
    return path


def _packed(name: str) -> Path:
    folders = [HERE]
    if chosen := os.environ.get("NOVUM_BENCH_NETWORKS"):
        folders.insert(0, Path(chosen))
    if found := importlib.util.find_spec("pgmpy"):
        folders += [Path(place) / "utils/example_models" for place in _places(found)]
    for folder in folders:
        if (path := folder / f"{name}.bif.gz").exists():
            return path
    raise FileNotFoundError(
        f"There is no network {name}.bif.gz in benchmarks/data. Give the folder that has it by "
        "--networks, or install pgmpy, which ships it."
    )


def _places(found: Any) -> list[str]:
    return list(found.submodule_search_locations or [])


def _with_plain_labels(text: str) -> str:
    lists = re.findall(r"discrete \[ *\d+ *\] *\{([^}]*)\}", text)
    labels = {label.strip() for part in lists for label in part.split(",")}
    # The longest first, so that no label is replaced inside another.
    for label in sorted(filter(_is_odd, labels), key=len, reverse=True):
        plain = "L_" + re.sub(r"\W", lambda match: _SPELLING.get(match[0], "_"), label)
        text = re.sub(rf"(?<=[\s(,]){re.escape(label)}(?=[\s,)])", plain, text)
    return text


def _is_odd(label: str) -> bool:
    return re.search(r"[^\w.]", label) is not None


def _evidence(
    generator: Any, cases: int, part: float, rng: np.random.Generator
) -> list[dict[str, str]]:
    order = list(generator.varOrderNames())
    size = max(1, int(part * len(order)))
    chosen = [rng.choice(len(order), size, replace=False) for _ in range(cases)]
    return [
        {order[j]: generator.samplesLabelAt(i, int(j)) for j in columns}
        for i, columns in enumerate(chosen)
    ]


def _same_nodes(generator: Any, case: dict[str, str]) -> list[dict[str, str]]:
    """Other states of the nodes of a case, as in further rows."""
    columns = {v: j for j, v in enumerate(generator.varOrderNames()) if v in case}
    return [
        {v: generator.samplesLabelAt(i, j) for v, j in columns.items()} for i in range(1, SAME + 1)
    ]


def _add_tables(
    data: Data, generator: Any, rows: int, missing: float, rng: np.random.Generator
) -> None:
    import pandas as pd

    path = data.path + ".csv"
    generator.toCSV(path)
    drawn = pd.read_csv(path, dtype=str, keep_default_na=False)[data.nodes]
    data.test = drawn.iloc[rows:].reset_index(drop=True)
    frame = drawn.iloc[:rows].reset_index(drop=True)
    if missing:
        frame = frame.mask(rng.random(frame.shape) < missing)
    data.frame = pd.DataFrame(
        {v: pd.Categorical(frame[v], categories=data.labels[v]) for v in data.nodes}
    )
