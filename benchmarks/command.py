"""`python -m benchmarks [NAME ...] [options]`: a name may be a prefix or a glob.

python -m benchmarks --list               the workloads, their rivals and targets
python -m benchmarks linear               one package
python -m benchmarks 'trees.forest*' --slow
python -m benchmarks linear --quick       small sizes, to see that it runs
python -m benchmarks linear --full        the sizes of the memory limits (2 GB files)
python -m benchmarks --report             the table again, no run
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.measuring import Outcome
    from benchmarks.peers import Peer
    from benchmarks.registry import Workload

RESULTS = Path(__file__).parent / "results"
# Read before NumPy and the like are imported, so set before this file imports any of them.
THREAD_VARIABLES = ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB", "BLIS")
DISTRIBUTIONS = (
    "novum",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "scikit-learn-intelex",
    "statsmodels",
    "pyarrow",
    "duckdb",
    "lightgbm",
    "xgboost",
    "catboost",
    "shap",
    "celer",
    "glum",
    "faiss-cpu",
    "hnswlib",
    "fastcluster",
    "libsvm-official",
    "grakel",
    "pyagrum",
    "pgmpy",
    "causal-learn",
    "pomegranate",
    "quantecon",
    "pymdptoolbox",
    "gymnasium",
    "torch",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for; 1 when `--check` is given and a target is missed."""
    options = parser().parse_args(arguments)
    for variable in THREAD_VARIABLES:
        os.environ[variable + "_NUM_THREADS"] = str(options.threads)
    if options.networks:
        os.environ["NOVUM_BENCH_NETWORKS"] = options.networks
    from benchmarks.registry import load_workloads, select

    known = load_workloads()
    try:
        chosen = select(options.names, known)
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(listing(chosen)))
        return 0
    return _run(options, known, chosen)


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("names", nargs="*", help="workloads: names, prefixes or globs; all when absent")
    add("--list", action="store_true", help="show the workloads and stop")
    add("--rivals", default="*", help="only these rivals (globs, comma-separated)")
    add("--slow", action="store_true", help="also the rivals marked slow")
    sizes = made.add_mutually_exclusive_group()
    sizes.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    sizes.add_argument("--full", action="store_true", help="sizes that test the memory limits")
    add("--repeats", type=int, default=3, help="repetitions of everyone, at least (default 3)")
    add("--threads", type=int, default=1)
    add("--clock", choices=("cpu", "wall"), default="cpu")
    add("--limit", type=float, default=1e9, help="CPU seconds for a repetition, at most")
    add("--memory", type=float, default=6.0, help="GB of data a peer may take (default 6)")
    add("--networks", default="", help="folder of further Bayesian networks (.bif.gz)")
    add("--results", type=Path, default=RESULTS, help="folder for results.md and results.json")
    add("--report", action="store_true", help="no run: the table from results.json")
    add("--check", action="store_true", help="status 1 when a target is missed")
    return made


def listing(workloads: Sequence[Workload]) -> list[str]:
    """One line for each workload: name, target, Novum's side, rivals."""
    lines = []
    for workload in workloads:
        rivals = ", ".join(peer.name + (" (slow)" if peer.slow else "") for peer in workload.rivals)
        target = f"{workload.target:g}x" if workload.target is not None else "-"
        side = "novum" if workload.novum else "-"
        lines.append(f"{workload.name:42s} {target:>5s}  {side:5s}  {rivals}")
    return lines


def _run(
    options: argparse.Namespace, known: Mapping[str, Workload], chosen: Sequence[Workload]
) -> int:
    from benchmarks.measuring import Settings, measure
    from benchmarks.recipes import Recipe
    from benchmarks.report import counts, markdown
    from benchmarks.verdict import MISSED, WORSE, judge

    settings = Settings(options.repeats, options.clock, options.memory, _scale(options))
    meta = description(options)
    outcomes = stored(options.results / "results.json", meta)
    started = time.perf_counter()
    for workload in [] if options.report else chosen:
        peers = taking_part(workload, options.rivals.split(","), options.slow)
        limited = workload.limited(options.limit)
        outcomes[workload.name] = measure(
            limited, peers, settings, lambda line: print(line, flush=True)
        )
        save(options.results / "results.json", meta, outcomes)
    Recipe.drop()
    wanted = {workload.name: known[workload.name] for workload in chosen}
    text = markdown(known, outcomes, meta)
    (options.results / "results.md").write_text(text)
    verdicts = [
        judge(wanted[name], outcomes[name], options.clock) for name in wanted if name in outcomes
    ]
    summary = markdown(wanted, outcomes, meta).partition("## Ratios")[2]
    print("\n## Ratios" + summary.partition("\n## ")[0])
    print(f"{counts(verdicts)}; {time.perf_counter() - started:.0f} s in all")
    missed = any(verdict.status in (MISSED, WORSE) for verdict in verdicts)
    return 1 if options.check and missed else 0


def taking_part(workload: Workload, patterns: Sequence[str], slow: bool) -> list[Peer]:
    """Novum, and the rivals that match a pattern and are not held back as slow."""
    return [
        peer
        for peer in workload.peers()
        if peer.ours
        or (
            any(fnmatch.fnmatch(peer.name, pattern) for pattern in patterns)
            and (slow or not peer.slow)
        )
    ]


def description(options: argparse.Namespace) -> dict[str, Any]:
    """What a reader of the table needs to know of the run."""
    return {
        "threads": options.threads,
        "clock": options.clock,
        "repeats": options.repeats,
        "scale": _scale(options).value,
        "processor": processor(),
        "versions": {"python": platform.python_version(), **versions()},
    }


def versions() -> dict[str, str]:
    """The versions of those rivals that are installed."""
    found = {}
    for name in DISTRIBUTIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """The processor's own name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def stored(path: Path, meta: Mapping[str, Any]) -> dict[str, dict[str, Outcome]]:
    """Outcomes of earlier runs under the same conditions; other conditions start afresh."""
    from benchmarks.measuring import Outcome

    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        return {}
    earlier = json.loads(path.read_text())
    same = all(earlier["meta"].get(key) == meta[key] for key in ("threads", "clock", "scale"))
    if not same:
        return {}
    return {
        name: {peer: Outcome(**values) for peer, values in peers.items()}
        for name, peers in earlier["results"].items()
    }


def save(
    path: Path, meta: Mapping[str, Any], outcomes: Mapping[str, Mapping[str, Outcome]]
) -> None:
    results = {
        name: {peer: asdict(outcome) for peer, outcome in peers.items()}
        for name, peers in outcomes.items()
    }
    path.write_text(json.dumps({"meta": meta, "results": results}, indent=1))


def _scale(options: argparse.Namespace) -> Any:
    from benchmarks.recipes import Scale

    return Scale.QUICK if options.quick else Scale.FULL if options.full else Scale.NORMAL
