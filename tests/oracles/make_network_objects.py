"""Make the frozen oracle of the converters: a network as pgmpy and pyAgrum hold it.

    python make_network_objects.py --out FOLDER

Needs Novum, pgmpy 1.1 and pyAgrum 3.3. Written is `network_objects.json`: what the objects of both
libraries answer for the burglary network, and a posterior that each of them computes. Before that,
networks go to each library and back, and must return equal.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyagrum
from pgmpy.factors.discrete import TabularCPD
from pgmpy.inference import VariableElimination
from pgmpy.models import DiscreteBayesianNetwork

from novum.graphical import BayesianNetwork
from novum.graphical.formats.pgmpy import from_pgmpy, to_pgmpy
from novum.graphical.formats.pyagrum import from_pyagrum, to_pyagrum

STATES = {"b": ["true", "false"], "e": ["yes", "no", "strong"], "a": ["on", "off"], "j": ["1", "0"]}
PARENTS = {"b": [], "e": [], "a": ["e", "b"], "j": ["a"]}
GIVEN = {"j": "1", "e": "no"}


def tables() -> dict[str, Any]:
    rng = np.random.default_rng(7)
    shapes = {v: [*(len(STATES[p]) for p in PARENTS[v]), len(STATES[v])] for v in STATES}
    return {v: rng.dirichlet(np.ones(shape[-1]), shape[:-1]) for v, shape in shapes.items()}


def of_pgmpy(cells: dict[str, Any]) -> dict[str, Any]:
    model = DiscreteBayesianNetwork([(p, v) for v, up in PARENTS.items() for p in up])
    for v, up in PARENTS.items():
        names = {w: STATES[w] for w in [v, *up]}
        values = cells[v].reshape(-1, len(STATES[v])).T
        cards = [len(STATES[p]) for p in up]
        model.add_cpds(TabularCPD(v, len(STATES[v]), values, up or None, cards or None, names))
    assert model.check_model()
    cpds = {v: model.get_cpds(v) for v in model.nodes()}
    posterior = VariableElimination(model).query(["b"], GIVEN, show_progress=False)
    return {
        "nodes": list(model.nodes()),
        "variables": {v: list(cpd.variables) for v, cpd in cpds.items()},
        "values": {v: cpd.values.tolist() for v, cpd in cpds.items()},
        "state_names": {v: cpd.state_names for v, cpd in cpds.items()},
        "posterior": posterior.values.tolist(),
    }


def of_pyagrum(cells: dict[str, Any]) -> dict[str, Any]:
    bn = pyagrum.BayesNet()
    for v, labels in STATES.items():
        bn.add(pyagrum.LabelizedVariable(v, v, labels))
    for v, up in PARENTS.items():
        for p in up:
            bn.addArc(p, v)
    for v, up in PARENTS.items():
        for index in np.ndindex(*(len(STATES[p]) for p in up)):
            row = {p: STATES[p][i] for p, i in zip(up, index, strict=True)}
            bn.cpt(v)[row] = cells[v][index].tolist()
    engine = pyagrum.LazyPropagation(bn)
    engine.setEvidence(GIVEN)
    return {
        "names": [bn.variable(node).name() for node in sorted(bn.nodes())],
        "labels": {v: list(bn.variable(v).labels()) for v in STATES},
        "variables": {v: list(bn.cpt(v).names) for v in STATES},
        "arrays": {v: bn.cpt(v).toarray().tolist() for v in STATES},
        "posterior": engine.posterior("b").toarray().tolist(),
    }


def check_round_trips(cells: dict[str, Any]) -> None:
    nodes = {v: {"states": STATES[v], "parents": PARENTS[v], "table": cells[v]} for v in STATES}
    folder = Path(__file__).parents[2] / "benchmarks" / "data"
    networks = [BayesianNetwork.from_dict(nodes)]
    networks += [BayesianNetwork.read(folder / f"{name}.bif.gz") for name in ("asia", "child")]
    for network in networks:
        assert from_pgmpy(to_pgmpy(network)) == network
        assert to_pgmpy(network).check_model()
        assert from_pyagrum(to_pyagrum(network)) == network
        engine = pyagrum.LazyPropagation(to_pyagrum(network))
        for name, table in network.marginals().items():
            np.testing.assert_allclose(engine.posterior(name).toarray(), table.values, atol=1e-12)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    cells = tables()
    check_round_trips(cells)
    found = {
        "states": STATES,
        "parents": PARENTS,
        "given": GIVEN,
        "tables": {v: table.tolist() for v, table in cells.items()},
        "pgmpy": of_pgmpy(cells),
        "pyagrum": of_pyagrum(cells),
    }
    (out / "network_objects.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
