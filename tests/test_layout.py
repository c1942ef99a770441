"""The tree itself: tests mirror sources, files stay short, and every package is in a layer."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "novum"
TESTS = ROOT / "tests"
LONGEST = 500

# Folders of tests that mirror no folder of sources.
ELSEWHERE = {"benchmarks", "docs", "end_to_end", "oracles", "strategies"}


def source_files() -> list[Path]:
    return sorted(p for p in SOURCES.rglob("*.py") if "__pycache__" not in p.parts)


def python_files() -> list[Path]:
    folders = (SOURCES, TESTS, ROOT / "benchmarks")
    return sorted(p for folder in folders for p in folder.rglob("*.py"))


def test_every_folder_of_sources_has_its_folder_of_tests() -> None:
    folders = {path.parent for path in source_files() if path.stem != "__init__"}
    mirrors = {folder: TESTS / folder.relative_to(SOURCES) for folder in folders}
    untested = [
        str(f.relative_to(ROOT)) for f, m in mirrors.items() if not any(m.glob("test_*.py"))
    ]
    assert not untested


def test_every_folder_of_tests_mirrors_one_of_sources() -> None:
    folders = {test.parent.relative_to(TESTS) for test in TESTS.rglob("test_*.py")}
    here = [f for f in folders if f != Path() and f.parts[0] not in ELSEWHERE]
    orphans = [str(folder) for folder in here if not (SOURCES / folder).is_dir()]
    assert not orphans


def test_no_file_is_too_long() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in python_files()}
    long = {str(p.relative_to(ROOT)): n for p, n in lengths.items() if n > LONGEST}
    assert not long, f"{LONGEST} lines at most"


def test_every_oracle_of_definitions_is_used_by_a_test() -> None:
    for path in SOURCES.rglob("definitions.py"):
        module = ".".join(path.relative_to(SOURCES.parent).with_suffix("").parts)
        ways = (module, f"from {module.removesuffix('.definitions')} import definitions")
        texts = (test.read_text() for test in TESTS.rglob("test_*.py"))
        users = [text for text in texts if any(way in text for way in ways)]
        assert users, f"{module} is used by no test"


def test_every_package_is_in_a_layer() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    named = {name.strip() for layer in layers for name in layer.split("|")}
    packages = {p.name for p in SOURCES.iterdir() if (p / "__init__.py").exists()}
    assert packages | {"__main__"} == named


def test_numba_is_imported_in_one_place() -> None:
    for path in source_files():
        text = path.read_text()
        if "import numba" in text or "from numba" in text:
            assert path.parent.name == "numerics", path
            assert path.name == "warmup.py" or path.name.startswith("jit"), path


def test_no_name_of_a_door_is_a_module() -> None:
    # Importing a module sets it as an attribute of its package, in place of the name.
    for door in sorted(SOURCES.rglob("__init__.pyi")):
        inside = [path for path in door.parent.iterdir() if path.suffix == ".py" or path.is_dir()]
        package = ".".join(door.parent.relative_to(SOURCES.parent).parts)
        names = set(importlib.import_module(package).__all__)
        assert not {path.stem for path in inside} & names, package


def test_every_package_is_reached_from_the_top() -> None:
    import novum

    folders = {path.parent.name for path in SOURCES.glob("*/__init__.py")}
    assert folders <= set(dir(novum))
    assert all(getattr(novum, name).__name__ == f"novum.{name}" for name in folders)
