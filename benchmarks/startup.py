"""What a user waits for before the first result: imports and first calls, in fresh processes.

    python -m benchmarks.startup            imports, and first calls with a warm cache
    python -m benchmarks.startup --cold     first calls from an empty cache, and `novum warmup`

Each figure is the minimum over several new processes, in CPU seconds. A first call is counted after
the learner's import, as the gates are. Cold means an empty `NUMBA_CACHE_DIR`; warm means the same
folder after another process has filled it. Nothing touches the user's own cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.verdict import HELD, MISSED
from benchmarks.worker import ERROR, NOT_YET, one_line

FORBIDDEN = ("numba", "sklearn", "scipy.stats", "pandas", "matplotlib", "dask", "torch")
IMPORT_RATIO = 2.0
WARM_SECONDS = 0.5
COLD_SECONDS = 3.0
WARMUP_SECONDS = 90.0
TABLE = "import numpy as np; X = np.random.default_rng(0).standard_normal((50_000, 20)); y = X @ "
REGRESSION = TABLE + "np.arange(20.0)"
CLASSES = TABLE + "np.arange(20.0) > 0"
FIT_AND_PREDICT = "Learner().fit(X, y).predict(X)"
# A chain of SIZE nodes: the posterior of one, and of all.
CHAIN = """
rows = [[0.9, 0.1], [0.2, 0.8]]
nodes = {"x0": {"table": [0.5, 0.5]}}
nodes |= {f"x{i}": {"parents": [f"x{i - 1}"], "table": rows} for i in range(1, SIZE)}
network = Learner.from_dict(nodes)
"""
ASK = 'network.query("x0", given={"x3": "true"}); network.marginals({"x3": "true"})'


@dataclass(frozen=True)
class FirstUse:
    """A first call: what is imported and prepared before the clock, and what is timed.

    `learner` is an import string; the call finds the class under the name `Learner`.
    """

    name: str
    learner: str
    call: str
    setup: str = REGRESSION
    warm: float = WARM_SECONDS
    cold: float = COLD_SECONDS


FIRST_USES = (
    FirstUse("LinearRegression.fit", "novum.linear:LinearRegression", FIT_AND_PREDICT),
    FirstUse("Ridge.fit", "novum.linear:Ridge", FIT_AND_PREDICT),
    FirstUse("RidgeCV.fit", "novum.linear:RidgeCV", FIT_AND_PREDICT),
    *(
        FirstUse(f"{name}.fit", f"novum.bayes:{name}", FIT_AND_PREDICT, setup=CLASSES)
        for name in ("GaussianClassifier", "GaussianNB", "NaiveBayes")
    ),
    FirstUse(
        "LogisticRegression.fit",
        "novum.linear:LogisticRegression",
        FIT_AND_PREDICT,
        setup=CLASSES,
    ),
    FirstUse("SVC.fit", "novum.svm:SVC", FIT_AND_PREDICT, setup=CLASSES),
    FirstUse("LinearSVC.fit", "novum.svm:LinearSVC", FIT_AND_PREDICT, setup=CLASSES),
    FirstUse("PCA.fit", "novum.decomposition:PCA", "Learner(5).fit(X).transform(X)"),
    FirstUse(
        "DecisionTreeClassifier.fit",
        "novum.trees:DecisionTreeClassifier",
        FIT_AND_PREDICT,
        setup=CLASSES,
        cold=8.0,
    ),
    FirstUse(
        "AdaBoostClassifier.fit",
        "novum.ensemble:AdaBoostClassifier",
        FIT_AND_PREDICT,
        setup=CLASSES,
    ),
    FirstUse(
        "RandomForestClassifier.fit",
        "novum.trees:RandomForestClassifier",
        FIT_AND_PREDICT,
        setup=CLASSES,
        cold=8.0,
    ),
    # Networks of textbook size are answered without compiled code.
    FirstUse(
        "BayesianNetwork.query, 5 nodes",
        "novum.graphical:BayesianNetwork",
        ASK,
        setup="SIZE = 5" + CHAIN,
        cold=1.0,
    ),
    FirstUse(
        "BayesianNetwork.query, 40 nodes",
        "novum.graphical:BayesianNetwork",
        ASK,
        setup="SIZE = 40" + CHAIN,
        cold=10.0,
    ),
)


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    name: str
    status: str
    value: float | None = None
    limit: float | None = None
    detail: str = ""

    def line(self) -> str:
        value = "-" if self.value is None else f"{self.value:.3f}"
        limit = "-" if self.limit is None else f"{self.limit:g}"
        return f"{self.name:44s} {value:>8s} of {limit:>4s}  {self.status}" + (
            f"  ({self.detail})" if self.detail else ""
        )


# --- Imports --------------------------------------------------------------------------------------

_IMPORT = """
import json, sys, time
cpu = time.process_time()
import {module}
print(json.dumps([time.process_time() - cpu, sorted(sys.modules)]))
"""


def import_findings(repeats: int = 7) -> list[Finding]:
    """`import novum` against `import numpy`, and what it drags in."""
    seconds: dict[str, list[float]] = {"numpy": [], "novum": []}
    modules: list[str] = []
    for _ in range(repeats):
        for module, found in seconds.items():
            taken, imported = json.loads(_fresh(_IMPORT.format(module=module)))
            found.append(taken)
            modules = imported if module == "novum" else modules
    ratio = min(seconds["novum"]) / min(seconds["numpy"])
    detail = f"{min(seconds['novum']):.3f} s, numpy {min(seconds['numpy']):.3f} s"
    unwanted = [name for name in FORBIDDEN if name in modules]
    return [
        Finding(
            "import novum / import numpy",
            verdict(ratio, IMPORT_RATIO),
            ratio,
            IMPORT_RATIO,
            detail,
        ),
        Finding(
            "modules that import novum must not import",
            MISSED if unwanted else HELD,
            float(len(unwanted)),
            0.0,
            ", ".join(unwanted),
        ),
    ]


# --- First calls ----------------------------------------------------------------------------------

_FIRST = """
import json, time
from benchmarks.peers import NotYetError, load
try:
    Learner = load({learner!r})
except NotYetError as missing:
    print(json.dumps(f"Novum has no {{missing}}"))
    raise SystemExit
{setup}
cpu = time.process_time()
{call}
print(json.dumps(time.process_time() - cpu))
"""


def first_call(use: FirstUse, cache: Path) -> float | str:
    """CPU seconds of the first call in a new process, or why there is no such learner."""
    code = _FIRST.format(learner=use.learner, setup=use.setup, call=use.call)
    result: float | str = json.loads(_fresh(code, cache))
    return result


def first_call_findings(
    uses: Sequence[FirstUse] = FIRST_USES, cold: bool = False, repeats: int = 3
) -> list[Finding]:
    """Every first use against its gates; `cold` adds the empty cache."""
    findings = []
    for use in uses:
        try:
            findings += _findings(use, cold, repeats)
        except RuntimeError as failure:
            findings.append(Finding(use.name, ERROR, detail=str(failure)))
    return findings


def _findings(use: FirstUse, cold: bool, repeats: int) -> list[Finding]:
    empty: list[float] = []
    filled: list[float] = []
    # Two empty caches are enough for a minimum: compilation takes seconds and varies little.
    for _ in range(2 if cold else 1):
        with tempfile.TemporaryDirectory(prefix="bench-cache-") as folder:
            first = first_call(use, Path(folder))
            if isinstance(first, str):
                return [Finding(use.name, NOT_YET, detail=one_line(first))]
            empty.append(first)
            filled += [float(first_call(use, Path(folder))) for _ in range(repeats)]
    warm = Finding(f"{use.name}, warm", verdict(min(filled), use.warm), min(filled), use.warm)
    if not cold:
        return [warm]
    return [
        warm,
        Finding(f"{use.name}, cold", verdict(min(empty), use.cold), min(empty), use.cold),
    ]


_WARMUP = """
import json, sys, time
from benchmarks.peers import NotYetError, load
try:
    main = load("novum.apps.cli:main")
except NotYetError as missing:
    print(json.dumps(f"Novum has no {missing}"))
    raise SystemExit
sys.argv = ["novum", "warmup"]
wall = time.perf_counter()
sys.stdout, out = sys.stderr, sys.stdout
try:
    main()
except SystemExit as end:
    if end.code:
        raise
sys.stdout = out
print(json.dumps(time.perf_counter() - wall))
"""


def warmup_finding() -> Finding:
    """`novum warmup` from an empty cache; wall seconds, because it uses two processes."""
    name = "novum warmup (wall)"
    with tempfile.TemporaryDirectory(prefix="bench-cache-") as folder:
        try:
            taken = json.loads(_fresh(_WARMUP, Path(folder), threads=2))
        except RuntimeError as failure:
            return Finding(name, ERROR, detail=str(failure))
    if isinstance(taken, str):
        return Finding(name, NOT_YET, detail=one_line(taken))
    return Finding(name, verdict(taken, WARMUP_SECONDS), taken, WARMUP_SECONDS)


# --- Shared ---------------------------------------------------------------------------------------


def verdict(value: float, limit: float) -> str:
    return HELD if value <= limit else MISSED


def _fresh(code: str, cache: Path | None = None, threads: int = 1) -> str:
    """What `code` prints last in a new process with an empty or given Numba cache."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "NUMBA_NUM_THREADS": str(threads)}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise RuntimeError(one_line(ended.stderr.strip().splitlines()[-1] if ended.stderr else ""))
    return ended.stdout.strip().splitlines()[-1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the findings; 1 when `--check` is given and a gate is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.startup",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cold", action="store_true", help="also from an empty cache")
    parser.add_argument("--repeats", type=int, default=3, help="new processes for each figure")
    parser.add_argument("--check", action="store_true", help="status 1 when a gate is missed")
    options = parser.parse_args(arguments)
    findings = import_findings(max(options.repeats, 3))
    findings += first_call_findings(FIRST_USES, options.cold, options.repeats)
    if options.cold:
        findings.append(warmup_finding())
    print("\n".join(finding.line() for finding in findings))
    bad = any(finding.status in (MISSED, ERROR) for finding in findings)
    return 1 if options.check and bad else 0


if __name__ == "__main__":
    sys.exit(main())
