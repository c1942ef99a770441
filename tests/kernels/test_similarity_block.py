"""Memory for similarities: given in the type asked for, refused where it would not fit."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import MemoryLimitError
from novum.kernels.similarity_matrix import empty_block


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_block_has_the_shape_and_type_asked_for(dtype: type) -> None:
    block = empty_block(3, 2, dtype)
    assert block.shape == (3, 2)
    assert block.dtype == dtype
    assert block.flags.c_contiguous


def test_a_block_beyond_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "6MB")
    with pytest.raises(MemoryLimitError, match=r"1,000,000 similarities needs 8.0 MB.*take"):
        empty_block(1000, 1000, np.float64)
    # Half the bytes fit.
    assert empty_block(1000, 1000, np.float32).nbytes == 4_000_000
