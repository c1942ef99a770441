"""All runs of these tests are quick ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.apps.small_runs import small_runs


@pytest.fixture(scope="module", autouse=True)
def _small_runs() -> Iterator[None]:
    with small_runs():
        yield
