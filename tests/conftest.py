"""The same checks for everybody: fixed examples, and a Ctrl-C that arrives.

Hypothesis draws the same examples in every run, so that a failure is one of the change at hand: 10
for a property in `make test` and 200 in `make test-all` (profile `full`). The profile `fuzz`
(`make fuzz`) draws new ones and keeps those that fail. There are no deadlines, since the first
example may compile a kernel.

A shell that starts a command in the background makes it ignore SIGINT, and its children with it.
Tests of interruption need the usual handler: set here, it holds in the workers, which are started
later, and in every process that a test starts, since a handler becomes the default across `exec`.

No test pulls the plug: what `os.fsync` is asked to bring to the disk stays in memory, which saves a
tenth of a second in each run of the main job. A descriptor that is closed is still an error.

Numbers that a module draws for its tests are the same for each test, whichever came before it in
the process: two workers share the tests, and one may run alone.

Tests that are collected stay to the end: the collector of garbage need not look at them each time
that a test asks for it, which takes a second.

scikit-learn's checks run in `make test` on the first configuration of each class, and on the others
in `make test-all`. There are also, marked `slow`, simulations of levels and coverage, sizes that
only memory or the stack would notice, the quality of other libraries on real tables, and drills
(kills, full disks, cold caches) that repeat at a further layer what one test of `make test` shows.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from sklearn.utils import estimator_checks

settings.register_profile("fixed", deadline=None, derandomize=True, database=None, max_examples=10)
settings.register_profile("full", deadline=None, derandomize=True, database=None, max_examples=200)
settings.register_profile("fuzz", deadline=None, print_blob=True)
settings.load_profile("fixed")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.fsync = os.fstat  # type: ignore[assignment]


# What `make test` runs.
QUICK = "not slow and not browser"
_checks_of = estimator_checks.parametrize_with_checks
_first: dict[type, str] = {}


def _is_first(estimator: Any) -> bool:
    return _first.setdefault(type(estimator), repr(estimator)) == repr(estimator)


def _checks_of_first(estimators: Any, **options: Any) -> Any:
    first = [estimator for estimator in estimators if _is_first(estimator)]
    return _checks_of(first, **options) if first else pytest.mark.slow


def pytest_configure(config: pytest.Config) -> None:
    """`make test` does not even collect the others, which would take a minute."""
    if config.option.markexpr == QUICK:
        estimator_checks.parametrize_with_checks = _checks_of_first


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.markexpr != "slow":
        return
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if {"estimator", "check"} <= parameters.keys() and not _is_first(parameters["estimator"]):
            item.add_marker(pytest.mark.slow)


# The generators of each module of tests, and their states when all are imported.
_draws: dict[Any, list[tuple[np.random.Generator, Any]]] = {}


def pytest_collection_finish(session: pytest.Session) -> None:
    for module in {item.module for item in session.items if isinstance(item, pytest.Function)}:
        _draws[module] = [
            (kept, kept.bit_generator.state)
            for kept in vars(module).values()
            if isinstance(kept, np.random.Generator)
        ]
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for generator, state in _draws.get(getattr(item, "module", None), []):
        generator.bit_generator.state = state


@pytest.fixture
def without_collector() -> Iterator[None]:
    """No collection of garbage: an interruption within Hypothesis's callback would be lost."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Two processes of Dask for all tests that need them."""
    import dask
    from distributed import LocalCluster

    settings = {
        # A partition that kills two workers is given up; the default of four takes seconds longer.
        "distributed.scheduler.allowed-failures": 1,
        "distributed.comm.timeouts.connect": "30s",
    }
    options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **options) as started,
    ):
        yield started


@pytest.fixture(scope="module")
def client(cluster: Any) -> Iterator[Any]:
    """The cluster as the one that Dask uses, for the tests of a file."""
    from distributed import Client

    with Client(cluster) as connected:
        yield connected


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests that need one: its driver can be started only once."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("Debian's chromium is not installed")
    # Chromium's sandbox needs a user that is not root.
    args = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=args)
        yield opened
        opened.close()
