"""Runs of the main job without what takes a third of their time and is tested by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from novum.apps.job import job, last_fits, mistakes


@contextmanager
def small_runs() -> Iterator[None]:
    """What a model saves is known from few resamples, and its learning curve from few folds.

    The speed of the machine is not measured either: forecasts are of one speed, so that a busy
    machine plans no other run.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "speed_probe", lambda: 1.0)
        fewest, _ = mistakes.RESAMPLES
        patch.setattr(mistakes, "RESAMPLES", (fewest, fewest))
        patch.setattr(last_fits, "CURVE_FOLDS", "1x3")
        yield
