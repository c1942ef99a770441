"""A pytest plugin that puts Novum's classes behind scikit-learn's names.

    from sklearn.svm import SVC      gives novum.svm.SVC in every test module

Everything of scikit-learn is imported first, so that its own code keeps its own classes. A test is
kept if it reaches one of the names that were put in: by itself, through a parameter, or through a
function or collection of its module.
"""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
import sklearn

DOORS = [
    "novum.bayes",
    "novum.core",
    "novum.data.scaling",
    "novum.decomposition",
    "novum.ensemble",
    "novum.evaluation",
    "novum.kernels",
    "novum.linear",
    "novum.neighbors",
    "novum.svm",
    "novum.trees",
]
# Names that mean something else in the two libraries.
HOMONYMS = {
    "LeaveOneOut": "novum.svm: of kernel ridge, not a splitter",
    "normalize": "novum.kernels: of a kernel, not of rows",
    "confusion_matrix": "novum.evaluation: gives an object with intervals",
    "roc_curve": "novum.evaluation: gives an object with an area, intervals and bands",
    "precision_recall_curve": "as roc_curve",
    "det_curve": "as roc_curve",
    "plot_tree": "novum.trees: draws by its own arguments",
}
DIFFERENCES = Path(__file__).with_name("differences.toml")


def put_in_place() -> set[Any]:
    """Replace every name that both libraries export, and return Novum's objects."""
    ours: dict[str, Any] = {}
    for door in DOORS:
        package = importlib.import_module(door)
        ours |= {name: getattr(package, name) for name in package.__all__}
    names = (m.name for m in pkgutil.iter_modules(sklearn.__path__, "sklearn."))
    public = [n for n in names if not n.split(".")[1].startswith(("_", "conftest", "tests"))]
    packages = [importlib.import_module(name) for name in public]
    importlib.import_module("sklearn.utils.estimator_checks")
    placed = set()
    for package in packages:
        for name in getattr(package, "__all__", ()):
            if name in ours and name not in HOMONYMS and ours[name] is not getattr(package, name):
                setattr(package, name, ours[name])
                placed.add(ours[name])
    return placed


class Mentions:
    """Whether something reaches one of `targets`."""

    def __init__(self, targets: set[Any]) -> None:
        self.targets, self.seen = targets, set[int]()

    def __call__(self, thing: Any) -> bool:
        if id(thing) in self.seen:
            return False
        self.seen.add(id(thing))
        if isinstance(thing, FunctionType):
            return self.of_code(thing.__code__, thing.__globals__)
        if isinstance(thing, dict):
            return any(self(value) for value in thing.values())
        if isinstance(thing, (list, tuple, set)):
            return any(self(value) for value in thing)
        if hasattr(thing, "get_params") and not isinstance(thing, type):
            return type(thing) in self.targets or any(map(self, vars(thing).values()))
        return isinstance(thing, (type, FunctionType)) and thing in self.targets

    def of_code(self, code: CodeType, namespace: dict[str, Any]) -> bool:
        named = [namespace[name] for name in code.co_names if name in namespace]
        for module in [thing for thing in named if isinstance(thing, ModuleType)]:
            named += [getattr(module, name, None) for name in code.co_names]
        return any(
            thing in self.targets if isinstance(thing, type) else self.is_local(thing, namespace)
            for thing in named
        ) or any(self.of_code(c, namespace) for c in code.co_consts if isinstance(c, CodeType))

    def is_local(self, thing: Any, namespace: dict[str, Any]) -> bool:
        """Follow what the test module itself defines, and the functions that were put in."""
        if isinstance(thing, FunctionType):
            if thing in self.targets:
                return True
            if thing.__module__ != namespace["__name__"]:
                return False
        return self(thing)


PLACED = put_in_place()
REASONS = {
    test: reason
    for reason, tests in tomllib.loads(DIFFERENCES.read_text()).items()
    for test in tests
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what reaches a name that was put in, and expect the listed differences."""
    others = []
    for item in items:
        call = getattr(item, "callspec", None)
        reached = Mentions(PLACED)(item.function) or (
            call is not None and Mentions(PLACED)(list(call.params.values()))
        )
        if not reached:
            others.append(item)
            continue
        # The modules lie outside the project, so that pytest's own names of tests do not have them.
        name = f"{item.module.__name__}::{item.originalname}".replace(".tests.", ".")
        item.user_properties.append(("test", name.removeprefix("sklearn.")))
        if name.removeprefix("sklearn.") in REASONS:
            item.add_marker(pytest.mark.xfail(reason=REASONS[name.removeprefix("sklearn.")]))
    dropped = set(map(id, others))
    items[:] = [item for item in items if id(item) not in dropped]
    config.hook.pytest_deselected(items=others)


OUTCOMES: dict[str, Counter[str]] = defaultdict(Counter)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    differs = report.skipped and hasattr(report, "wasxfail")
    if report.when == "call" or report.failed:
        name = dict(report.user_properties)["test"]
        OUTCOMES[name]["differs" if differs else report.outcome] += 1


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What differs and is not listed, and what is listed and no longer differs."""
    tested = OUTCOMES.items()
    new = [f"{n['failed']:5} {test}" for test, n in tested if n["failed"]]
    gone = [test for test, n in tested if test in REASONS and n["passed"] and not n["differs"]]
    for title, tests in (("not in differences.toml", new), ("no longer different", gone)):
        if tests:
            terminalreporter.section(title)
            terminalreporter.write("\n".join(sorted(tests)) + "\n")
    if gone:
        terminalreporter._session.exitstatus = 1
