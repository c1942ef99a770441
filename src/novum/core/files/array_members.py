"""Arrays inside a model file: NumPy's `.npy` format, in its simplest form and nothing else.

    magic, length, {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }, data

The manifest describes each array (`ArrayEntry`): dtype from a list of twelve, shape, bytes and
SHA-256. The entry is checked by itself, and the header in the file must then be, byte for byte, the
one NumPy writes for that entry. Nothing in a header is evaluated, and none can make the reader
allocate.
"""

from __future__ import annotations

import hashlib
import math
import re
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import ModelFileError

Array = np.ndarray[Any, Any]

DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8", "<c16")
MAX_DIMENSIONS = 32

_MEMBER = re.compile(r"arrays/[0-9]{5}\.npy")
_HEADER = re.compile(
    rb"\{'descr': '([^']{2,4})', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n"
)
_MAGIC = b"\x93NUMPY\x01\x00"


def is_member_name(name: object) -> bool:
    """Whether a zip member of that name can be an array."""
    return isinstance(name, str) and _MEMBER.fullmatch(name) is not None


@dataclass(frozen=True)
class ArrayEntry:
    """One line of the manifest's table of arrays."""

    member: str
    dtype: str
    shape: tuple[int, ...]
    fortran_order: bool
    writeable: bool
    n_bytes: int
    sha256: str

    def __post_init__(self) -> None:
        """Check what may come from a hostile file."""
        if not is_member_name(self.member):
            raise ModelFileError(f"The array table names {shown(self.member)}, not a member.")
        if self.dtype not in DTYPES:
            raise ModelFileError(
                f"{self.member} has dtype {shown(self.dtype)}; allowed are {', '.join(DTYPES)}."
            )
        checked_shape(self.shape, np.dtype(self.dtype).itemsize, self.n_bytes, self.member)
        flags = (self.fortran_order, self.writeable)
        if not all(type(flag) is bool for flag in flags) or not isinstance(self.sha256, str):
            raise ModelFileError(f"The array table's line for {self.member} is malformed.")

    @property
    def header(self) -> bytes:
        """The `.npy` header, byte for byte as NumPy writes it."""
        sizes = ", ".join(map(str, self.shape)) + ("," if len(self.shape) == 1 else "")
        text = (
            f"{{'descr': '{self.dtype}', 'fortran_order': {self.fortran_order}, "
            f"'shape': ({sizes}), }}"
        )
        # NumPy leaves room for the growing axis to reach 21 digits.
        if self.shape:
            text += " " * (21 - len(str(self.shape[-1 if self.fortran_order else 0])))
        padding = -(len(_MAGIC) + 2 + len(text) + 1) % 64
        body = text.encode("ascii") + b" " * padding + b"\n"
        return _MAGIC + struct.pack("<H", len(body)) + body


def checked_shape(shape: object, item_bytes: int, n_bytes: object, what: str) -> None:
    """Refuse a shape that is malformed, overflows or is not `n_bytes` large."""
    whole = isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)
    if not whole or len(shape) > MAX_DIMENSIONS or type(n_bytes) is not int:  # type: ignore[arg-type]
        raise ModelFileError(
            f"{what} has the shape {shown(shape)}; a shape is up to {MAX_DIMENSIONS} integers of "
            "at least 0."
        )
    sizes: tuple[int, ...] = shape  # type: ignore[assignment]
    # NumPy's own strides must not overflow, not even for an array without elements.
    if math.prod(n for n in sizes if n) * item_bytes >= 2**62:
        raise ModelFileError(f"{what} states the impossible shape {shown(shape)}.")
    if math.prod(sizes) * item_bytes != n_bytes:
        raise ModelFileError(
            f"{what} states {n_bytes} bytes, but its shape {shown(shape)} has "
            f"{math.prod(sizes) * item_bytes}."
        )


def shown(value: object) -> str:
    """A hostile value for a message: short, with control and look-alike characters visible."""
    return ascii(value)[:80]


def stored_form(array: Array) -> Array:
    """Little-endian and contiguous, in the order of memory it has."""
    array = np.asarray(array, array.dtype.newbyteorder("<"))
    contiguous = array.flags.c_contiguous or array.flags.f_contiguous
    return array if contiguous else np.ascontiguousarray(array)


def entry_of(index: int, data: Array, writeable: bool) -> ArrayEntry:
    """The line of the table for an array in stored form."""
    return ArrayEntry(
        member=f"arrays/{index:05d}.npy",
        dtype=data.dtype.str,
        shape=data.shape,
        fortran_order=data.flags.f_contiguous and not data.flags.c_contiguous,
        writeable=writeable,
        n_bytes=data.nbytes,
        sha256=hashlib.sha256(raw_bytes(data)).hexdigest(),
    )


def raw_bytes(data: Array) -> memoryview:
    """The bytes of a contiguous array, without a copy."""
    rows = data if data.flags.c_contiguous else data.T
    return memoryview(rows.reshape(-1).view(np.uint8))  # type: ignore[arg-type]


def check_header(member: Any, entry: ArrayEntry) -> None:
    """The `.npy` header must say what the manifest says, before anything is allocated."""
    expected = entry.header
    prefix = member.read(len(expected))
    if prefix == expected:
        return
    match = _HEADER.fullmatch(prefix[len(_MAGIC) + 2 :]) if prefix.startswith(_MAGIC) else None
    stated = ascii(match.groups()) if match else "no header of a plain array in format 1.0"
    raise ModelFileError(
        f"{entry.member} states {stated[:120]}, the manifest {entry.dtype} of shape {entry.shape}."
    )
