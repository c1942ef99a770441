"""The room of networks: open, draw or learn one, observe states, ask why.

A network is a value, so every change makes a new version. Versions are named by their content and
kept as files among the studio's notes: a link still finds them after a restart, and undoing a
change is going back to the name before.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from novum.apps.studio.folder import NETWORKS, clean_name, keep_private
from novum.apps.studio.rooms import Kept, Studio, stamp_of
from novum.core.errors import InputError
from novum.core.text import printable
from novum.graphical import (
    BayesianNetwork,
    BDeu,
    Constraints,
    learn_structure,
    placed,
    table_notes,
    trails,
)
from novum.numerics import Floats

Text = Annotated[str, Field(max_length=200)]
Version = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
# Of a box on the page: its width, a line, and what a name and the borders take.
WIDTH, LINE, HEAD = 170.0, 18.0, 34.0
MOST_NODES, MOST_STATES, MOST_CELLS = 400, 60, 20_000
# Columns of a table that a network is learned from while a page waits.
MOST_LEARNED = 60


class Opened(BaseModel):
    """A file of the folder, or an example."""

    name: Text


class Asked(BaseModel):
    """A version and what is observed in it."""

    version: Version
    given: dict[Text, Text] = {}


class AskedTrails(Asked):
    """Whether two nodes tell something of each other."""

    a: Text
    b: Text


class Changed(BaseModel):
    """What changes of a version: a new node, its parents, its table, or its removal."""

    version: Version | None = None
    node: Text
    states: list[Text] | None = Field(default=None, max_length=50)
    parents: list[Text] | None = Field(default=None, max_length=20)
    table: list[list[float]] | None = Field(default=None, max_length=100_000)
    remove: bool = False


class Learned(BaseModel):
    """A table of the folder, or a bundled one."""

    table: Text
    max_parents: Annotated[int, Field(ge=1, le=20)] | None = None


class Saved(BaseModel):
    """A version that becomes a file of the folder."""

    version: Version
    name: Text
    replace: bool = False


class Versions:
    """Networks by the names of their contents; the last ones are held in memory."""

    def __init__(self, studio: Studio) -> None:
        self._studio, self._kept = studio, Kept(32)

    def put(self, network: BayesianNetwork) -> str:
        """The name of a network, which is kept."""
        name = hashlib.sha256(network.to_text().encode()).hexdigest()[:16]
        path = self._path(name)
        if not path.exists():
            network.write(path)
        self._kept(name, lambda: network)
        return name

    def get(self, name: str) -> BayesianNetwork:
        path = self._path(name)
        if path.is_symlink() or not path.exists():
            raise InputError(
                "This version of the network is not there any more. Open its file again."
            )

        def read() -> BayesianNetwork:
            # A sheet without nodes has no text.
            return BayesianNetwork.read(path) if path.stat().st_size > 1 else BayesianNetwork()

        network: BayesianNetwork = self._kept(name, read)
        return network

    def _path(self, name: str) -> Path:
        folder = self._studio.folder
        return folder.own(folder.notes() / "networks") / f"{name}.network"


def routes(studio: Studio) -> APIRouter:
    """Below `/api/networks`."""
    router, versions, learned = APIRouter(), Versions(studio), Kept(8)

    @router.get("/list")
    def listed() -> dict[str, Any]:
        from novum import data

        return {
            "files": list(studio.folder.files(NETWORKS)),
            "examples": sorted(examples()),
            "tables": [*studio.folder.files(), *data.available()],
        }

    @router.post("/upload")
    async def upload(request: Request, name: str) -> dict[str, Any]:
        return {"name": await studio.folder.receive(name, request.stream(), NETWORKS)}

    @router.post("/open")
    def opened(asked: Opened) -> dict[str, Any]:
        if asked.name in examples():
            network = BayesianNetwork.read(examples()[asked.name])
        else:
            path = studio.folder.file(asked.name, NETWORKS)
            with warnings.catch_warnings():
                # Rows that are rounded are told by the command line; here they are only used.
                warnings.simplefilter("ignore")
                network = BayesianNetwork.read(path)
        return shown(versions.put(network), network)

    @router.post("/show")
    def version(asked: Asked) -> dict[str, Any]:
        return shown(asked.version, versions.get(asked.version))

    @router.post("/posteriors")
    def posteriors(asked: Asked) -> dict[str, Any]:
        network = versions.get(asked.version)
        given = states_of(network, asked.given)
        marginals = network.marginals(given)
        return {
            "marginals": {
                name: np.asarray(marginals[name].values).round(8).tolist() for name in network.names
            },
            "log_evidence": network.log_evidence(given) if given else 0.0,
        }

    @router.post("/explanation")
    def explanation(asked: Asked) -> dict[str, Any]:
        network = versions.get(asked.version)
        best = network.most_probable(states_of(network, asked.given))
        return {
            "states": {name: str(state) for name, state in best.items()},
            "probability": best.probability,
        }

    @router.post("/trails")
    def separation(asked: AskedTrails) -> dict[str, Any]:
        network = versions.get(asked.version)
        for name in (asked.a, asked.b, *asked.given):
            if name not in network:
                raise InputError(f"The network has no node {printable(name, 60)!r}.")
        if asked.a == asked.b:
            raise InputError("Choose two different nodes.")
        if {asked.a, asked.b} & set(asked.given):
            raise InputError("One of the two is observed. Take its observation back first.")
        observed = tuple(asked.given)
        separated = network.graph.d_separated(asked.a, asked.b, observed)
        # Beside the open trails that prove a dependence, some that are blocked.
        ways = list(separated.trails)
        ways += [one for one in trails(network.graph, asked.a, asked.b, observed) if one.blockers]
        return {
            "separated": bool(separated),
            "trails": [
                {"nodes": list(one.nodes), "text": str(one), "open": not one.blockers}
                for one in ways
            ],
        }

    @router.post("/change")
    def change(asked: Changed) -> dict[str, Any]:
        network = versions.get(asked.version) if asked.version else BayesianNetwork()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = changed(network, asked)
        return shown(versions.put(network), network)

    @router.post("/learn")
    def learn(asked: Learned) -> dict[str, Any]:
        from novum import data
        from novum.apps.cli.learn import with_truth_as_text

        if asked.table in data.available():
            key: Any = (asked.table, asked.max_parents)
        else:
            key = (asked.table, stamp_of(studio.folder.file(asked.table)), asked.max_parents)

        def found() -> tuple[str, str]:
            rows = with_truth_as_text(studio.tables.read(asked.table))
            if rows.num_columns > MOST_LEARNED or rows.num_rows * rows.num_columns > 2_000_000:
                raise InputError(
                    f"The table has {rows.num_rows:,} rows of {rows.num_columns} columns, more "
                    "than a page should wait for. Learn it with: novum learn TABLE -o net.bif"
                )
            constraints = Constraints(max_parents=asked.max_parents)
            structure = learn_structure(rows, constraints=constraints)
            score = f"{structure.score:,.1f}".replace("-", "−")
            said = (
                f"{len(structure.dag.names)} columns and {rows.num_rows:,} rows: "
                f"{len(structure.dag.edges)} edges, BIC {score}."
            )
            said = " ".join([said, *table_notes(structure.table)])
            return versions.put(structure.network(BDeu(1.0))), said

        name, said = learned(key, found)
        return {**shown(name, versions.get(name)), "said": said}

    @router.post("/save")
    def save(asked: Saved) -> dict[str, Any]:
        name = clean_name(asked.name)
        if not name.lower().endswith(".bif"):
            name = f"{name}.bif"
        path = studio.folder.path / name
        if path.exists() and not asked.replace:
            raise InputError(f"There is a file {name!r} already. Choose another name.")
        versions.get(asked.version).write(path)
        keep_private(path)
        return {"name": name}

    return router


def examples() -> dict[str, Path]:
    """Networks that come along, by name."""
    folder = Path(str(files("novum.apps.studio"))) / "examples"
    return {path.stem: path for path in folder.glob("*.bif")}


def shown(version: str, network: BayesianNetwork) -> dict[str, Any]:
    """What the page draws: nodes with their tables, and where they stand."""
    names = network.names
    if len(names) > MOST_NODES:
        raise InputError(
            f"The network has {len(names)} nodes; the page shows up to {MOST_NODES}. Ask it with "
            "novum query."
        )
    for variable in network.variables:
        if len(variable.states) > MOST_STATES:
            raise InputError(
                f"{printable(variable.name, 60)} has {len(variable.states)} states; the page shows "
                f"up to {MOST_STATES}. Leave out columns that name rows, or use novum query."
            )
    number = {name: i for i, name in enumerate(names)}
    parents = [[number[p] for p in network.parents(name)] for name in names]
    sizes = [(WIDTH, HEAD + LINE * len(one.states)) for one in network.variables]
    where = placed(parents, network.graph.order, sizes)
    nodes = []
    for i, (name, variable) in enumerate(zip(names, network.variables, strict=True)):
        table = network.conditionals[i].table
        x, y = where.corners[i]
        nodes.append(
            {
                "name": name,
                "states": [str(state) for state in variable.states],
                "parents": list(network.parents(name)),
                "table": table.reshape(-1, table.shape[-1]).tolist()
                if table.size <= MOST_CELLS
                else None,
                "x": round(x, 1),
                "y": round(y, 1),
                "height": sizes[i][1],
            }
        )
    bends = [
        {
            "from": names[parent],
            "to": names[child],
            "points": [[round(x, 1), round((top + bottom) / 2, 1)] for x, top, bottom in points],
        }
        for (parent, child), points in where.bends.items()
    ]
    return {
        "version": version,
        "nodes": nodes,
        "bends": bends,
        "width": where.width,
        "height": where.height,
        "box": WIDTH,
        "parameters": network.n_parameters,
    }


def states_of(network: BayesianNetwork, given: dict[str, str]) -> dict[str, Any]:
    """Observed states as the network has them; the page knows their texts."""
    states = {}
    for name, text in given.items():
        if name not in network:
            raise InputError(f"The network has no node {printable(name, 60)!r}.")
        variable = network.variables[network.names.index(name)]
        by_text = {str(state): state for state in variable.states}
        if text not in by_text:
            raise InputError(
                f"{printable(name, 60)} has no state {printable(text, 60)!r}; it has "
                f"{', '.join(printable(one, 30) for one in by_text)}."
            )
        states[name] = by_text[text]
    return states


def changed(network: BayesianNetwork, asked: Changed) -> BayesianNetwork:
    """The network after one change."""
    name = asked.node
    if asked.remove:
        for child in network.children(name):
            kept = [one for one in network.parents(child) if one != name]
            network = network.replace(child, with_parents(network, child, kept), kept)
        return network.remove(name)
    if name not in network:
        states = [one.strip() for one in asked.states or ["true", "false"] if one.strip()]
        if not name.strip():
            raise InputError("A node needs a name.")
        if len(set(states)) < 2:
            raise InputError("A node needs at least two different states, such as: yes, no.")
        uniform = np.full(len(states), 1.0 / len(states))
        network = network.add(name.strip(), (), uniform, states)
        name = name.strip()
    if asked.parents is not None:
        table = with_parents(network, name, asked.parents)
        network = network.replace(name, table, asked.parents)
    if asked.table is not None:
        item = network.conditionals[network.names.index(name)]
        if len({len(row) for row in asked.table}) != 1:
            raise InputError("The rows of a table have as many cells each.")
        cells = np.array(asked.table, np.float64)
        if cells.size != math.prod(item.shape):
            raise InputError(
                f"The table of {printable(name, 60)} has {math.prod(item.shape)} cells."
            )
        network = network.replace(name, cells.reshape(item.shape))
    return network


def with_parents(network: BayesianNetwork, name: str, parents: list[str]) -> Floats:
    """The table of a node for other parents: new ones change nothing, old ones are averaged out."""
    item = network.conditionals[network.names.index(name)]
    old = [parent.name for parent in item.parents]
    table = item.table
    for axis in reversed(range(len(old))):
        if old[axis] not in parents:
            table = table.mean(axis=axis)
    left = [one for one in old if one in parents]
    sizes = {one.name: len(one.states) for one in network.variables}
    if len(set(parents)) < len(parents):
        raise InputError("A parent is named twice.")
    for one in parents:
        if one not in sizes:
            raise InputError(f"The network has no node {printable(one, 60)!r}.")
    n_cells = math.prod(sizes[one] for one in parents) * len(item.variable.states)
    if n_cells > MOST_CELLS:
        raise InputError(
            f"The table of {printable(name, 60)} would have {n_cells:,} cells; {MOST_CELLS:,} are "
            "the most here. Take fewer parents."
        )
    for one in parents:
        if one not in left:
            table = np.repeat(table[np.newaxis], sizes[one], axis=0)
            left = [one, *left]
    return np.transpose(table, [*(left.index(one) for one in parents), len(left)])
