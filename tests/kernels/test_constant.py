"""The constant kernel: on whatever objects, as many as there are."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from novum.core.errors import InputError
from novum.kernels.algebra import Constant
from tests.strategies.vector_kernels import assert_prepared_rows_agree

CONTAINERS = [
    ["ab", "c"],
    [{}, {}],
    np.ones((2, 3)),
    sparse.csr_array(np.ones((2, 3))),
    pd.DataFrame({"a": [1, 2]}),
]


@pytest.mark.parametrize("objects", CONTAINERS)
def test_all_objects_are_alike(objects: Any) -> None:
    np.testing.assert_array_equal(Constant(0.25).gram(objects), np.full((2, 2), 0.25))
    np.testing.assert_array_equal(Constant(0.25).feature_map(objects), [[0.5], [0.5]])
    assert Constant(0.25).is_psd_by_construction


def test_prepared_rows_agree() -> None:
    assert_prepared_rows_agree(Constant(2.0), ["a", "b", "c"], ["d"])


def test_negative_constants_are_refused() -> None:
    with pytest.raises(InputError, match=r"-1\.0 times a kernel is not positive semi-definite"):
        Constant(-1.0)
