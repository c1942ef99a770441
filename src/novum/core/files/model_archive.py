"""The container of a model file: one zip with `manifest.json` and `arrays/00000.npy`, ...

Everything a reader would have to believe is checked before it is used: names against one pattern,
sizes in the zip's directory against the file, against each other and against caps, the header of
each array against the manifest and the bytes that are there, all before memory is allocated, and
the SHA-256 of each array after reading. Array headers have one fixed form and are matched as text,
never evaluated; there is no object dtype and no pickle.

Files are written without compression, with fixed times and modes, so that equal models give equal
bytes; a file repacked with deflate is read as well.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, BinaryIO

import numpy as np

from novum.core.errors import ModelFileError
from novum.core.files import model_manifest
from novum.core.files.array_members import (
    Array,
    ArrayEntry,
    check_header,
    entry_of,
    is_member_name,
    raw_bytes,
    shown,
    stored_form,
)
from novum.core.runtime import format_bytes, memory_limit

MANIFEST = "manifest.json"
MAX_ARRAYS = 10_000
MAX_RATIO = 250
# All arrays together may be this many times the file: four times the ratio of one member.
MAX_EXPANSION = 4 * MAX_RATIO
# Python objects take up to 33 times the JSON text they are parsed from (measured, `{"":{}},`).
TEXT_EXPANSION = 48
MAX_DIRECTORY_BYTES = 4 * 10**6
CHUNK = 2**20

# Bits 1 and 2 tell the level of deflate, 3 a checksum after the data, 11 UTF-8 names.
_HARMLESS_FLAGS = 0b1000_0000_1110
_LOCAL_HEADER_BYTES = 30
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    NotImplementedError,
    UnicodeError,
    ValueError,
    IndexError,
    KeyError,
)


# --- Writing --------------------------------------------------------------------------------------


def write_archive(file: BinaryIO, content: dict[str, Any], arrays: Sequence[Array]) -> None:
    """Write the manifest, extended by the table of arrays, and the arrays."""
    if len(arrays) > MAX_ARRAYS:
        raise ModelFileError(
            f"The model has {len(arrays):,} arrays; a model file holds {MAX_ARRAYS:,}. "
            "Models of many parts must join their arrays."
        )
    stored = [stored_form(array) for array in arrays]
    entries = [
        entry_of(index, data, array.flags.writeable)
        for index, (data, array) in enumerate(zip(stored, arrays, strict=True))
    ]
    manifest = model_manifest.write_manifest({**content, "arrays": [asdict(e) for e in entries]})
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _write_member(archive, MANIFEST, manifest)
        for entry, data in zip(entries, stored, strict=True):
            _write_member(archive, entry.member, entry.header, raw_bytes(data))


def _write_member(archive: zipfile.ZipFile, name: str, *parts: bytes | memoryview) -> None:
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    info.file_size = sum(len(part) for part in parts)
    with archive.open(info, "w") as member:
        for part in parts:
            member.write(part)


# --- Reading --------------------------------------------------------------------------------------


class ModelArchive:
    """A model file whose directory and manifest have been checked; arrays are read one by one.

    Attributes
    ----------
    manifest : dict
        The manifest without its table of arrays.
    entries : list of ArrayEntry
    file_bytes : int
    """

    def __init__(self, archive: zipfile.ZipFile, file_bytes: int, limit: int) -> None:
        self.file_bytes = file_bytes
        self._archive = archive
        self._members = _checked_directory(archive, file_bytes)
        if MANIFEST not in self._members:
            raise ModelFileError("The zip has no manifest.json: it is not a model file of novum.")
        text_bytes = self._members[MANIFEST].file_size
        if text_bytes > model_manifest.MAX_BYTES:
            raise ModelFileError(
                f"manifest.json states {format_bytes(text_bytes)}; at most "
                f"{format_bytes(model_manifest.MAX_BYTES)} are read."
            )
        _check_limit(TEXT_EXPANSION * text_bytes, limit)
        self.manifest = model_manifest.read_manifest(self._read(self._members[MANIFEST]))
        self.entries = _entries(self.manifest.pop("arrays", None))
        self._check_table()
        declared = sum(entry.n_bytes for entry in self.entries)
        _check_limit(TEXT_EXPANSION * text_bytes + declared, limit)

    def array(self, index: int) -> Array:
        """Array number `index` of the table, with header and checksum confirmed."""
        entry = self.entries[index]
        with _reported(), self._archive.open(self._members[entry.member]) as member:
            check_header(member, entry)
            order = "F" if entry.fortran_order else "C"
            data = np.empty(entry.shape, entry.dtype, order=order)  # type: ignore[call-overload]
            raw = raw_bytes(data)
            digest = hashlib.sha256()
            for start in range(0, entry.n_bytes, CHUNK):
                part = member.read(min(CHUNK, entry.n_bytes - start))
                raw[start : start + CHUNK] = part
                digest.update(part)
            # Reading past the end makes zipfile compare its own checksum.
            surplus = member.read(1)
        if surplus or digest.hexdigest() != entry.sha256:
            raise ModelFileError(
                f"{entry.member} does not match its checksum: the file was damaged or changed. "
                "Take another copy or save the model again."
            )
        if entry.dtype == "|b1" and (data.view(np.uint8) > 1).any():
            raise ModelFileError(f"{entry.member} has truth values other than 0 and 1.")
        data.flags.writeable = entry.writeable
        return data

    def _read(self, info: zipfile.ZipInfo) -> bytes:
        with _reported(), self._archive.open(info) as member:
            # One byte more than stated, so that a longer member is noticed.
            n_parts = info.file_size // CHUNK + 1
            text = b"".join(member.read(CHUNK) for _ in range(n_parts)) + member.read(1)
        if len(text) != info.file_size:
            raise ModelFileError(f"{info.filename} is shorter or longer than the zip states.")
        return text

    def _check_table(self) -> None:
        """The table and the zip have the same members, of the same sizes."""
        listed = {entry.member: entry for entry in self.entries}
        if len(listed) != len(self.entries) or {MANIFEST, *listed} != set(self._members):
            raise ModelFileError("The zip's members are not those of the manifest's array table.")
        for name, entry in listed.items():
            expected, stated = len(entry.header) + entry.n_bytes, self._members[name].file_size
            if stated != expected:
                raise ModelFileError(
                    f"{name} has {stated:,} bytes where the manifest describes {expected:,}."
                )


@contextmanager
def open_archive(
    path: str | os.PathLike[str], limit: int | str | None = None
) -> Iterator[ModelArchive]:
    """Open a model file and check all but the content of its arrays.

    Parameters
    ----------
    path : path
    limit : int or str, optional
        Most memory the content may take; see `novum.core.runtime.memory.memory_limit`.
    """
    with open(path, "rb") as file:
        file_bytes = os.fstat(file.fileno()).st_size
        _check_kind(file)
        with _reported():
            # `zipfile` reads the whole directory at once; nothing larger is needed to open.
            archive = zipfile.ZipFile(_BoundedReader(file))
        with archive:
            yield ModelArchive(archive, file_bytes, memory_limit(limit))


class _BoundedReader(io.RawIOBase):
    """A file that refuses single reads larger than a directory of 10,000 arrays or a chunk."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        bounded = MAX_DIRECTORY_BYTES + 1 if size < 0 else size
        content = self._file.read(min(bounded, MAX_DIRECTORY_BYTES + 1))
        if len(content) > MAX_DIRECTORY_BYTES:
            raise ModelFileError("The zip's directory is larger than that of any model file.")
        return content

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True


@contextmanager
def _reported() -> Iterator[None]:
    """Whatever a broken zip makes the zip reader raise, the caller sees one kind of error."""
    try:
        yield
    except ModelFileError:
        raise
    except _BROKEN as error:
        raise ModelFileError(
            f"The file is not an intact zip ({type(error).__name__}: {shown(str(error))}). "
            "Take another copy or save the model again."
        ) from None


def _check_kind(file: BinaryIO) -> None:
    start = file.read(4)
    file.seek(0)
    if start == b"PK\x03\x04":
        return
    if start[:1] == b"\x80" or start[:2] in (b"\x1f\x8b", b"x\x9c"):
        raise ModelFileError(
            "The file looks like a pickle or joblib dump renamed to a model file. Loading such a "
            "file can run any program in it, so novum never does. Ask for a file written by "
            "novum.core.save."
        )
    raise ModelFileError("The file is not a model file of novum: it does not start as a zip.")


def _checked_directory(archive: zipfile.ZipFile, file_bytes: int) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    if len(infos) > MAX_ARRAYS + 1:
        raise ModelFileError(f"The zip has {len(infos):,} members, more than {MAX_ARRAYS:,}.")
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        _check_member(info)
        if info.filename in members:
            raise ModelFileError(f"The zip has the member {info.filename} twice.")
        members[info.filename] = info
    if sum(info.file_size for info in infos) > MAX_EXPANSION * file_bytes:
        raise ModelFileError(f"The zip expands to more than {MAX_EXPANSION} times its size.")
    end = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end or (end == 0 and info.header_offset > 0):
            raise ModelFileError(
                f"The member {info.filename} overlaps another one, or foreign bytes precede it."
            )
        end = info.header_offset + _LOCAL_HEADER_BYTES + len(info.filename) + info.compress_size
    if end > archive.start_dir:
        raise ModelFileError("The zip's members reach into its directory.")
    return members


def _check_member(info: zipfile.ZipInfo) -> None:
    # `orig_filename` is what the file says; zipfile cuts `filename` at the first NUL.
    name = info.orig_filename
    mode = info.external_attr >> 16
    faults = {
        "has a name no model file has": not (name == MANIFEST or is_member_name(name))
        or name != info.filename,
        "is a link or another special file": stat.S_IFMT(mode) not in (0, stat.S_IFREG),
        "is a folder or another special file": bool(info.external_attr & 0x10),
        "is encrypted": bool(info.flag_bits & ~_HARMLESS_FLAGS & 1),
        "uses a zip feature no model file uses": bool(info.flag_bits & ~_HARMLESS_FLAGS),
        "is compressed by something else than deflate": info.compress_type
        not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED),
        "is stored, yet states two sizes": info.compress_type == zipfile.ZIP_STORED
        and info.file_size != info.compress_size,
        f"states a compression of more than {MAX_RATIO}:1": info.file_size
        > MAX_RATIO * max(info.compress_size, 1),
    }
    for fault, present in faults.items():
        if present:
            raise ModelFileError(f"The zip's member {shown(name)} {fault}; it is refused.")


def _check_limit(n_bytes: int, limit: int) -> None:
    if n_bytes > limit:
        raise ModelFileError(
            f"The model needs about {format_bytes(n_bytes)} of memory, more than the limit of "
            f"{format_bytes(limit)}. Raise the limit (`memory_limit=` or NOVUM_MEMORY_LIMIT) if "
            "you trust the file."
        )


def _entries(table: object) -> list[ArrayEntry]:
    names = set(ArrayEntry.__dataclass_fields__)
    if not isinstance(table, list) or len(table) > MAX_ARRAYS:
        raise ModelFileError(f"The manifest's array table is not a list of up to {MAX_ARRAYS:,}.")
    entries = []
    for line in table:
        if not isinstance(line, dict) or set(line) != names or not isinstance(line["shape"], list):
            raise ModelFileError(f"A line of the array table is not made of {sorted(names)}.")
        entries.append(ArrayEntry(**{**line, "shape": tuple(line["shape"])}))
    return entries
