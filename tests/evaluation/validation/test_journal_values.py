"""Values in journals come back as they were, to the last bit."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from novum.core.errors import FileFormatError, InputError
from novum.evaluation.validation.journal import decoded, encoded

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def stored(value: Any) -> Any:
    return decoded(json.loads(json.dumps(encoded(value), allow_nan=False)))


@given(plain)
def test_plain_values(value: Any) -> None:
    assert stored({"value": value}) == {"value": value}


@given(
    arrays.arrays(
        st.sampled_from(["<f8", ">f4", "<i8", "|b1", "<U5", "<c16"]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0),
    )
)
def test_arrays_keep_type_shape_and_bits(array: np.ndarray) -> None:
    found = stored(array)
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == np.ascontiguousarray(array).tobytes()


def test_numbers_without_end_and_cells_of_objects() -> None:
    assert np.isnan(stored(float("nan")))
    assert stored(float("-inf")) == float("-inf")
    labels = np.array(["a", None, 3, (1, 2.5)], object)
    assert stored(labels).tolist() == labels.tolist()
    assert stored(np.float32(0.1)) == float(np.float32(0.1))
    assert stored(np.bool_(True)) is True


@pytest.mark.parametrize("bad", [object(), {1: 2}, {"__array__": 1}, np.zeros(2, "V8")])
def test_what_cannot_be_stored_is_refused(bad: Any) -> None:
    with pytest.raises(InputError, match="journal"):
        encoded({"value": bad})


@pytest.mark.parametrize(
    "damaged",
    [
        {"__array__": ["<f8", [3], "AAAA"]},
        {"__array__": ["|O", [1], "AAAAAAAAAAA="]},
        {"__array__": 5},
        {"__cells__": [[2], [1]]},
    ],
)
def test_damaged_arrays_are_refused(damaged: Any) -> None:
    with pytest.raises(FileFormatError, match="array of the journal cannot be read"):
        decoded(damaged)
