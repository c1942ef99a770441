"""Creates the environment of the benchmarks: Novum and the rivals, at exact versions.

    python3 benchmarks/environment.py linear trees

makes `.venv-bench` beside this folder and installs the rivals of those packages (all of them for
`all`, none twice). Versions come from `benchmarks/constraints.txt`. Rivals that bring a framework
of several gigabytes have a group of their own, `torch`, and are installed only when it is named;
workloads of `neural` need it too.
Only the standard library is used here, because nothing else exists yet.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import venv
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".venv-bench"
CONSTRAINTS = ROOT / "benchmarks" / "constraints.txt"

DEFAULT = ("scikit-learn-intelex", "statsmodels", "pandas", "duckdb")
GROUPS: dict[str, tuple[str, ...]] = {
    "bayes": (),
    "clustering": ("fastcluster", "faiss-cpu", "hdbscan"),
    "core": (),
    "decomposition": (),
    "ensemble": ("lightgbm", "xgboost", "catboost", "shap"),
    "evaluation": (),
    "graphical": ("pyagrum", "pgmpy", "causal-learn", "hmmlearn"),
    "kernels": ("grakel",),
    "linear": ("celer", "skglm", "glum"),
    "mixture": ("stepmix",),
    "neighbors": ("faiss-cpu", "gower", "hnswlib"),
    "neural": ("pyod", "tqdm"),
    "numerics": (),
    "reinforcement": ("quantecon", "pymdptoolbox", "gymnasium"),
    "small": (),
    "svm": ("libsvm-official",),
    "trees": ("lightgbm", "xgboost"),
}
# Never part of `all`: torch alone is larger than everything else together.
GIANTS: dict[str, tuple[str, ...]] = {"torch": ("torch", "pomegranate")}


def requirements(names: Iterable[str]) -> list[str]:
    """The rivals for workloads, packages or groups, the default ones first.

    Examples
    --------
    >>> requirements(["trees.forest"])[-2:]
    ['lightgbm', 'xgboost']
    """
    chosen = dict.fromkeys(DEFAULT)
    for name in names:
        group = name.partition(".")[0].partition("*")[0]
        if group in ("all", ""):
            packages = [package for group in GROUPS.values() for package in group]
        elif group in GROUPS or group in GIANTS:
            packages = list((GROUPS | GIANTS)[group])
        else:
            known = ", ".join([*GROUPS, "all", *GIANTS])
            raise ValueError(f"There is no group of rivals {group!r}. Groups: {known}.")
        chosen |= dict.fromkeys(packages)
    return list(chosen)


def install(names: Sequence[str], folder: Path = FOLDER) -> Path:
    """Makes the environment where needed, installs what is not there; returns its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"creating {folder.name}", flush=True)
        venv.create(folder, with_pip=True)
    wanted = requirements(names)
    stamp = folder / "installed.txt"
    done = set(stamp.read_text().split()) if stamp.exists() else set()
    marks = {f"{name}@{_fingerprint()}" for name in ("novum", *wanted)}
    if marks <= done:
        return python
    print(f"installing {', '.join(wanted)}", flush=True)
    quiet = ["--quiet", "--disable-pip-version-check"]
    command = [str(python), "-m", "pip", "install", *quiet, "--constraint", str(CONSTRAINTS)]
    subprocess.run([*command, "--editable", f"{ROOT}[scale,cli]", *wanted], check=True)
    stamp.write_text("\n".join(sorted(done | marks)) + "\n")
    return python


def _fingerprint() -> str:
    """Changes with the lock file and with Novum's own requirements."""
    content = CONSTRAINTS.read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(content).hexdigest()[:12]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Creates .venv-bench with the rivals.")
    parser.add_argument("names", nargs="*", help="packages or workloads; `all`; `torch`")
    try:
        install(parser.parse_args(arguments).names)
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as failure:
        print(f"pip ended with status {failure.returncode}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
