"""Every test draws the same numbers, whatever ran before it."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _same_numbers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if hasattr(request.module, "rng"):
        monkeypatch.setattr(request.module, "rng", np.random.default_rng(1))
