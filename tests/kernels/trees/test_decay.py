"""The decay of tree kernels: above 0, at most 1."""

from __future__ import annotations

from typing import Any

import pytest

from novum.core.errors import InputError
from novum.kernels.trees.subset_tree import checked_decay


@pytest.mark.parametrize("decay", [1, 1.0, 1e-300])
def test_good_decays_become_plain_floats(decay: Any) -> None:
    assert type(checked_decay(decay, "K")) is float


@pytest.mark.parametrize("decay", [0, -0.1, 1.0001, float("nan"), float("inf"), "0.5", None, True])
def test_other_decays_are_refused(decay: Any) -> None:
    with pytest.raises(InputError, match="above 0 and at most 1, got"):
        checked_decay(decay, "K")
