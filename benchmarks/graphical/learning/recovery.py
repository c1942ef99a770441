"""How often known networks come back from samples, beside pyAgrum's searches on the same samples.

    python -m benchmarks.graphical.learning.recovery [--samples 10] [--networks alarm,asia]

prints a table: structural Hamming distance between patterns of equivalence, mean and standard
deviation over the samples, how much better the BIC of the graph is than pyAgrum's best in nats,
and CPU seconds. "pyAgrum's best" is, sample by sample, whichever of its searches has the best BIC.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.graphical.learning.patterns import pattern
from benchmarks.graphical.networks import plain_file
from benchmarks.graphical.novum_adapter import Novum
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.recipes import Data, scratch_folder

ROWS = {"asia": 5_000, "child": 5_000, "insurance": 20_000, "alarm": 20_000}
RIVALS = ("GreedyHillClimbing", "LocalSearchWithTabuList")


def recovered(name: str, samples: int) -> list[dict[str, tuple[int, float, float]]]:
    """Of each sample, by search: distance, BIC, seconds."""
    from novum.graphical import BayesianNetwork, Dag, score

    data = Data(name=name)
    data.path = str(plain_file(name, scratch_folder(data, "bench-bif-")))
    truth = BayesianNetwork.read(data.path)
    wanted = pattern(truth.edges)
    searches: dict[str, Any] = {"novum": Novum()}
    searches |= {f"pyAgrum {search}": PyAgrum(search=search) for search in RIVALS}
    answers = []
    for seed in range(samples):
        data.frame = truth.sample(ROWS[name], random_state=seed, frame="pandas")
        row = {}
        for title, adapter in searches.items():
            begin = time.process_time()
            edges, _ = adapter.structure(data)
            seconds = time.process_time() - begin
            found = pattern(edges)
            distance = sum(wanted.get(p) != found.get(p) for p in wanted.keys() | found.keys())
            graph = Dag.from_edges(edges, truth.names)
            row[title] = (distance, score(graph, data.frame), seconds)
        rivals = [row[title] for title in row if title != "novum"]
        row["pyAgrum's best"] = max(rivals, key=lambda one: one[1])
        answers.append(row)
    return answers


def lines(name: str, answers: Sequence[dict[str, tuple[int, float, float]]]) -> list[str]:
    """Rows of a Markdown table."""
    best = np.array([row["pyAgrum's best"][1] for row in answers])
    made = []
    for title in answers[0]:
        distances = np.array([row[title][0] for row in answers], float)
        gains = np.array([row[title][1] for row in answers]) - best
        seconds = np.array([row[title][2] for row in answers])
        spread = distances.std(ddof=1) if len(distances) > 1 else 0.0
        made.append(
            f"| {name}, {ROWS[name]} rows | {title} | {distances.mean():.1f} ± {spread:.1f} | "
            f"{gains.mean():+.1f} | {seconds.mean():.3f} |"
        )
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--networks", default=",".join(ROWS))
    given = parser.parse_args()
    print("| network | search | distance | BIC against pyAgrum's best | seconds |")
    print("|---|---|--:|--:|--:|")
    for name in given.networks.split(","):
        print("\n".join(lines(name, recovered(name, given.samples))), flush=True)


if __name__ == "__main__":
    main()
