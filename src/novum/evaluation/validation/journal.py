"""A journal: results on the disk as they come, so that an interrupted run goes on where it was.

    line 1      what the experiment is: data, splits, measures, versions, by name
    line 2 ...  one finished result for each line: key, record, checksum

Lines are only ever appended, and each is handed to the operating system before the next result is
computed. A process that dies in the middle of a line leaves a torn last line, which is cut off on
reopening; everything before it counts. Lines are forced to the disk where a second has passed since
it was done last, and at the end: a power failure takes at most a second of work, and small tables
do not wait for the disk after every fold. A journal of another experiment is refused, with what
differs. While it is open the file is locked by the operating system, which lets go when a process
dies, however it dies.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import math
import os
import threading
import time
from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from novum.core.errors import FileFormatError, InputError
from novum.core.files import open_descriptor
from novum.core.text import printable

FORMAT = "novum journal"
VERSION = 1
# How much work a power failure may take.
_SECONDS_AT_RISK = 1.0

Record = dict[str, Any]


class Journal:
    """Finished results by key, kept in a file of JSON lines.

    Parameters
    ----------
    path : path of the file
        Created if it does not exist; its folder must.
    fingerprint : mapping of str to str, or str
        What the experiment is, part by part. A file that was begun with another one is refused.

    Notes
    -----
    Records hold what JSON holds, and numbers that are not finite, arrays and tuples besides; all
    come back as they were, to the last bit. Threads may share a journal; a second process, or a
    second `Journal` of the same file, is refused while the first is open.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> with Journal(path, {"data": "a1"}) as journal:
    ...     journal.put("fold 0", {"score": 0.75})
    >>> with Journal(path, {"data": "a1"}) as journal:
    ...     journal.get("fold 0"), journal.get("fold 1")
    ({'score': 0.75}, None)
    """

    def __init__(self, path: str | os.PathLike[str], fingerprint: Mapping[str, str] | str) -> None:
        self.path = Path(path)
        parts = {"experiment": fingerprint} if isinstance(fingerprint, str) else fingerprint
        self.fingerprint = {str(name): str(value) for name, value in parts.items()}
        self._records: dict[str, Record] = {}
        self._thread_lock = threading.Lock()
        self._forced, self._is_new = time.monotonic(), False
        self._file = _opened(self.path)
        try:
            _lock(self._file, self.path)
            self._read()
        except BaseException:
            self._file.close()
            raise

    # Results

    def get(self, key: str) -> Record | None:
        """The record of a key, or None if that result is not there yet."""
        record = self._records.get(key)
        return None if record is None else decoded(record)

    def put(self, key: str, record: Mapping[str, Any]) -> None:
        """Adds a result; it outlives the process when this returns."""
        self.put_all({key: record})

    def put_all(self, records: Mapping[str, Mapping[str, Any]]) -> None:
        """Adds several results, written at once."""
        plain = {key: encoded(dict(record)) for key, record in records.items()}
        lines = b"".join(_line(key, record) for key, record in plain.items())
        with self._thread_lock:
            if self._file.closed:
                raise ValueError(f"The journal {self.path} is closed; open it again to add to it.")
            self._append(lines)
            self._records.update(plain)

    def __contains__(self, key: object) -> bool:
        return key in self._records

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._records))

    # The file

    def close(self) -> None:
        """Lets go of the file; results stay readable from memory."""
        with self._thread_lock:
            try:
                if not self._file.closed:
                    self._force()
            finally:
                self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Journal({str(self.path)!r}: {len(self)} results)"

    def _append(self, lines: bytes) -> None:
        end = self._file.seek(0, os.SEEK_END)
        try:
            self._file.write(lines)
            self._file.flush()
            if time.monotonic() - self._forced > _SECONDS_AT_RISK:
                self._force()
        except BaseException:
            # A full disk or Ctrl-C in the middle must not leave half a line before the next one.
            with contextlib.suppress(OSError):
                self._file.truncate(end)
            raise

    def _force(self) -> None:
        os.fsync(self._file.fileno())
        if self._is_new:
            _sync_folder(self.path)
        self._forced, self._is_new = time.monotonic(), False

    def _read(self) -> None:
        whole = self._file.read()
        kept = whole[: whole.rfind(b"\n") + 1]
        lines = kept.splitlines()
        if len(kept) < len(whole):
            self._file.truncate(len(kept))
        if not lines:
            self._is_new = True
            self._append(_header(self.fingerprint))
            return
        self._check_header(lines[0])
        for number, line in enumerate(lines[1:], start=2):
            key, record = _parsed(line, number, self.path)
            self._records[key] = record

    def _check_header(self, line: bytes) -> None:
        header = _json(line)
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise FileFormatError(
                f"{self.path} is no journal: its first line is {_shown(line)}. Give another path; "
                "the file was left as it is.",
                line=1,
            )
        if header.get("version") != VERSION:
            raise FileFormatError(
                f"{self.path} is a journal of version {header.get('version')!r}, and this library "
                f"reads version {VERSION}. Use the library that wrote it, or another path.",
                line=1,
            )
        known = header.get("fingerprint")
        other = known if isinstance(known, dict) else {}
        names = [*self.fingerprint, *(name for name in other if name not in self.fingerprint)]
        differing = [name for name in names if other.get(name) != self.fingerprint.get(name)]
        if differing:
            raise InputError(
                f"{self.path} belongs to another experiment: {_listed(differing, other, self)}. "
                "Its results are not those of this run. Give another path, or delete the file."
            )


def as_journal(
    journal: Any, fingerprint: Mapping[str, str]
) -> contextlib.AbstractContextManager[Any]:
    """A journal of a path, closed after use; one that is open already, or None, stays as it is."""
    if journal is None or isinstance(journal, Journal):
        return contextlib.nullcontext(journal)
    return Journal(journal, fingerprint)


# --- Lines ----------------------------------------------------------------------------------------


def _header(fingerprint: Mapping[str, str]) -> bytes:
    header = {"format": FORMAT, "version": VERSION, "fingerprint": dict(fingerprint)}
    return json.dumps(header, ensure_ascii=True).encode() + b"\n"


def _line(key: str, record: Record) -> bytes:
    body = json.dumps([key, record], ensure_ascii=True, allow_nan=False)
    line = {"key": key, "record": record, "check": _check(body)}
    return json.dumps(line, ensure_ascii=True, allow_nan=False).encode() + b"\n"


def _check(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def _parsed(line: bytes, number: int, path: Path) -> tuple[str, Record]:
    entry = _json(line)
    if isinstance(entry, dict) and isinstance(entry.get("record"), dict):
        key, record = entry.get("key"), entry["record"]
        body = json.dumps([key, record], ensure_ascii=True)
        if isinstance(key, str) and entry.get("check") == _check(body):
            return key, record
    raise FileFormatError(
        f"Line {number} of the journal {path} is damaged: {_shown(line)}. Delete that line to "
        "compute its result again, or delete the file to begin anew.",
        line=number,
    )


def _json(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _shown(line: bytes) -> str:
    return repr(printable(line.decode("utf-8", "replace"), 60))


def _listed(names: list[str], other: Mapping[str, str], journal: Journal) -> str:
    parts = []
    for name in names:
        before, now = other.get(name), journal.fingerprint.get(name)
        parts.append(f"{printable(name)} was {_short(before)} and is {_short(now)}")
    return "; ".join(parts)


def _short(value: str | None) -> str:
    return "not given" if value is None else printable(str(value), 40)


# --- Files ----------------------------------------------------------------------------------------


def _opened(path: Path) -> Any:
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file in it for the journal.")
    if not path.parent.is_dir():
        raise InputError(
            f"The folder {path.parent} of the journal does not exist; create it first."
        )
    # Neither "a", which cannot cut a torn line, nor "w", which would empty the file.
    return os.fdopen(open_descriptor(path, os.O_RDWR | os.O_CREAT), "r+b")


def _lock(file: Any, path: Path) -> None:
    try:
        try:
            import fcntl
        except ImportError:
            import msvcrt

            # Far behind the end, so that the lock is in nobody's way.
            file.seek(2**40)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            file.seek(0)
        else:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise InputError(
            f"The journal {path} is in use by another run. Wait for it to end, or give this run "
            "another path."
        ) from error


def _sync_folder(path: Path) -> None:
    """Forces the name of a new file to the disk, where the file system can do that."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(path.resolve().parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# --- Values as JSON -------------------------------------------------------------------------------
# Records as JSON without loss: arrays, tuples and numbers that are not finite.
#
# JSON has no such values; each becomes an object with one reserved key. Finite numbers are written
# with all their digits by `json` itself. Arrays of numbers and of text are stored as their bytes,
# arrays of objects cell by cell.


ARRAY, CELLS, NUMBER, TUPLE = "__array__", "__cells__", "__number__", "__tuple__"
_RESERVED = {ARRAY, CELLS, NUMBER, TUPLE}
_KINDS = "biufcUSmM"


def encoded(value: Any) -> Any:
    """A value as JSON holds it.

    Examples
    --------
    >>> encoded({"scores": (0.5, float("inf"))})
    {'scores': {'__tuple__': [0.5, {'__number__': 'inf'}]}}
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else {NUMBER: repr(number)}
    if isinstance(value, np.ndarray):
        return _encoded_array(value)
    if isinstance(value, tuple):
        return {TUPLE: [encoded(item) for item in value]}
    if isinstance(value, list):
        return [encoded(item) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) and key not in _RESERVED for key in value):
            raise InputError(f"A record of a journal has text as keys, got {list(value)!r}.")
        return {key: encoded(item) for key, item in value.items()}
    raise InputError(
        f"A journal stores numbers, text, arrays and lists or mappings of them, not "
        f"{type(value).__name__}. Convert the value first."
    )


def decoded(value: Any) -> Any:
    """The value that `encoded` was given.

    Examples
    --------
    >>> decoded(encoded(np.array([0.1, np.nan])))
    array([0.1, nan])
    """
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1 or not _RESERVED.intersection(value):
        return {key: decoded(item) for key, item in value.items()}
    ((kind, content),) = value.items()
    if kind == NUMBER:
        return float(content)
    if kind == TUPLE:
        return tuple(decoded(item) for item in content)
    return _decoded_array(kind, content)


def _encoded_array(array: np.ndarray) -> dict[str, Any]:
    if array.dtype.kind in _KINDS:
        content = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
        return {ARRAY: [array.dtype.str, list(array.shape), content]}
    if array.dtype.kind != "O":
        raise InputError(f"A journal cannot store arrays of type {array.dtype}.")
    return {CELLS: [list(array.shape), [encoded(cell) for cell in array.ravel().tolist()]]}


def _decoded_array(kind: str, content: Any) -> np.ndarray:
    try:
        if kind == CELLS:
            shape, cells = content
            array = np.empty(len(cells), object)
            array[:] = [decoded(cell) for cell in cells]
            return array.reshape(shape)
        name, shape, text = content
        dtype = np.dtype(name)
        if dtype.kind not in _KINDS:
            raise ValueError(f"type {name}")
        return np.frombuffer(base64.b64decode(text, validate=True), dtype).reshape(shape).copy()
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"An array of the journal cannot be read ({error}).") from error
