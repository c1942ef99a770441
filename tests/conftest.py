"""The same checks for everybody: fixed examples, and a Ctrl-C that arrives.

Hypothesis draws the same examples in every run, so that a failure is one of the change at hand; the
profile `fuzz` (`make fuzz`) draws new ones and keeps those that fail. There are no deadlines, since
the first example may compile a kernel.

A shell that starts a command in the background makes it ignore SIGINT, and its children with it.
Tests of interruption need the usual handler: set here, it holds in the workers, which are started
later, and in every process that a test starts, since a handler becomes the default across `exec`.

scikit-learn's checks run in `make test` on the first configuration of each class, and on the others
in `make test-all`.
"""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

settings.register_profile("fixed", deadline=None, derandomize=True, database=None)
settings.register_profile("fuzz", deadline=None, print_blob=True)
settings.load_profile("fixed")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    first: dict[type, str] = {}
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if {"estimator", "check"} <= parameters.keys():
            estimator = parameters["estimator"]
            configuration = f"{item.path} {estimator!r}"
            if first.setdefault(type(estimator), configuration) != configuration:
                item.add_marker(pytest.mark.slow)
