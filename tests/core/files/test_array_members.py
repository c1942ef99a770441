"""Array members: NumPy's own writer as reference, and entries that lie."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.core.errors import ModelFileError
from novum.core.files.array_members import (
    DTYPES,
    ArrayEntry,
    check_header,
    checked_shape,
    entry_of,
    is_member_name,
    raw_bytes,
    shown,
    stored_form,
)

shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
arrays = st.sampled_from(DTYPES).flatmap(lambda dtype: hnp.arrays(dtype, shapes))


@given(arrays, st.sampled_from(["plain", "transposed", "strided", "big-endian"]))
def test_members_are_what_numpy_writes(array: np.ndarray, form: str) -> None:
    if form == "transposed":
        array = array.T
    if form == "strided":
        array = array[..., ::-1] if array.ndim else array
    if form == "big-endian":
        array = array.astype(array.dtype.newbyteorder(">"))
    data = stored_form(array)
    entry = entry_of(0, data, writeable=True)
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array, data.dtype))
    assert entry.header + bytes(raw_bytes(data)) == buffer.getvalue()
    check_header(io.BytesIO(buffer.getvalue()), entry)


def test_raw_bytes_are_not_copied() -> None:
    array = np.zeros((3, 4), order="F")
    raw_bytes(array)[:8] = np.float64(5).tobytes()
    assert array[0, 0] == 5


GOOD = {
    "member": "arrays/00000.npy",
    "dtype": "<f8",
    "shape": (2, 3),
    "fortran_order": False,
    "writeable": True,
    "n_bytes": 48,
    "sha256": "0" * 64,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"member": "../x.npy"}, "names '../x.npy'"),
        ({"member": 3}, "names 3"),
        ({"dtype": "|O"}, r"dtype '\|O'; allowed are \|b1"),
        ({"dtype": "<f2"}, "dtype '<f2'"),
        ({"dtype": ["<f8"]}, "dtype"),
        ({"dtype": "<f8,<f8"}, "dtype"),
        ({"shape": (10**15,)}, "states 48 bytes, but its shape"),
        ({"shape": (-2, -3)}, "integers of at least 0"),
        ({"shape": (2, 3.0)}, "integers of at least 0"),
        ({"shape": (2, True)}, "integers of at least 0"),
        ({"shape": (1,) * 33, "n_bytes": 8}, "up to 32 integers"),
        ({"shape": (2**32, 2**32), "n_bytes": 0}, "impossible shape"),
        ({"shape": (0, 2**40, 2**40), "n_bytes": 0}, "impossible shape"),
        ({"n_bytes": 40}, "states 40 bytes, but its shape .* has 48"),
        ({"n_bytes": "48"}, "has the shape"),
        ({"fortran_order": 1}, "malformed"),
        ({"writeable": None}, "malformed"),
        ({"sha256": 0}, "malformed"),
    ],
)
def test_entries_that_lie_are_refused(change: dict[str, object], message: str) -> None:
    ArrayEntry(**GOOD)  # type: ignore[arg-type]
    with pytest.raises(ModelFileError, match=message):
        ArrayEntry(**{**GOOD, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"<f8", b"<f4", "states .*<f4"),
        (b"(2, 3)", b"(9, 9)", r"states .*9, 9.* the manifest <f8 of shape \(2, 3\)"),
        (b"False", b"True ", "no header of a plain array"),
        (b"'<f8'", b"'|O' ", "no header of a plain array"),
        (b"NUMPY\x01", b"NUMPY\x02", "no header of a plain array in format 1.0"),
        (b"\x93NUMPY", b"\x80\x04PICK", "no header"),
    ],
)
def test_headers_that_differ_are_refused(old: bytes, new: bytes, message: str) -> None:
    entry = ArrayEntry(**GOOD)  # type: ignore[arg-type]
    assert old in entry.header
    with pytest.raises(ModelFileError, match=message):
        check_header(io.BytesIO(entry.header.replace(old, new)), entry)


@pytest.mark.parametrize(
    "name",
    ["arrays/1.npy", "arrays/00000.npy\n", "/arrays/00000.npy", "arrays/٠٠٠٠٠.npy", b"", None],
)
def test_other_names_are_no_members(name: object) -> None:
    assert not is_member_name(name)


def test_shapes_without_elements_are_fine() -> None:
    checked_shape((0, 10), 8, 0, "it")
    checked_shape((), 8, 8, "it")


def test_hostile_texts_are_shown_short_and_inert() -> None:
    assert shown("\x1b[31m\u202e" * 100).isprintable()
    assert len(shown("x" * 1000)) == 80
