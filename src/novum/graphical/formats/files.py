"""Network files: which format a path has, and its bytes read and written safely.

The format is that of the suffix, before `.gz` where the file is compressed. A file is read whole,
up to a size that no honest network has; one that unpacks to a multiple of its size no network
reaches is refused while it is read.
"""

from __future__ import annotations

import gzip
import importlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novum.core.errors import FileFormatError, InputError
from novum.core.files import replacing
from novum.core.runtime import check_memory, format_bytes
from novum.core.sources import TextStream, checked_path
from novum.core.text import label_text
from novum.graphical.models.conditional import Conditional
from novum.graphical.structure.dag import CyclicGraphError

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork

MAX_BYTES = 2**28
# Bytes of memory for a byte of text: the text itself, its numbers and what is made of them.
_BYTES_PER_BYTE = 6
_MODULES = {
    ".bif": "bif",
    ".xmlbif": "xmlbif",
    ".bifxml": "xmlbif",
    ".xml": "xmlbif",
    ".uai": "uai",
    ".net": "hugin",
    ".network": "plain_text",
}
_FACTOR_FORMAT = ".uai"


def read_network(path: str | Path) -> list[Conditional]:
    """The conditional distributions of a file, in the format of its suffix.

    Parameters
    ----------
    path : path
        `.bif`, `.xmlbif` (also `.bifxml`, `.xml`), `.uai`, `.net` or `.network`, each also with
        `.gz`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rain.net"
    >>> _ = path.write_text('node rain { states = ("yes" "no"); }'
    ...                     'potential (rain) { data = (0.2 0.8); }')
    >>> [(item.name, item.table.tolist()) for item in read_network(path)]
    [('rain', [0.2, 0.8])]
    """
    path = as_path(path)
    module = _module(path)
    data = file_bytes(path)
    return module.read(data, path.name)


def write_network(network: BayesianNetwork, path: str | Path) -> None:
    """A network as a file in the format of the suffix; an existing file is replaced as a whole."""
    path = as_path(path)
    write_text(_module(path).written(network, path.name), path)


@contextmanager
def naming_file(path: str | Path) -> Iterator[None]:
    """A cycle among the nodes of a file is reported with the file's name."""
    try:
        yield
    except CyclicGraphError as error:
        raise error.in_file(Path(path).name) from None


def as_path(path: object) -> Path:
    """A path from what the user gave."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"A file is named by its path, as text or Path; got {label_text(path)}.")
    return Path(path)


def check_factor_suffix(path: Path) -> None:
    """Refuses paths that are no files of factors."""
    suffix = _suffix(path)
    if suffix == _FACTOR_FORMAT:
        return
    if suffix in _MODULES:
        raise InputError(
            f"{path.name!r} is a file of a Bayesian network; factor graphs have "
            f"{_FACTOR_FORMAT}. Use BayesianNetwork.read or write, and FactorGraph.of(network) for "
            "its tables as factors."
        )
    raise InputError(
        f"{path.name!r} has no suffix of a factor graph's file. Use {_FACTOR_FORMAT}, also with "
        ".gz behind."
    )


def file_bytes(path: Path) -> bytes:
    """The whole file, unpacked where it ends in `.gz`."""
    checked_path(path)
    parts, size = [], 0
    with TextStream(path) as stream:
        while chunk := stream.read(1 << 20):
            size += len(chunk)
            if size > MAX_BYTES:
                raise FileFormatError(
                    f"{path.name} has more than {format_bytes(MAX_BYTES)}; networks of that size "
                    "cannot be used. Split it."
                )
            parts.append(chunk)
    what = f"Reading {path.name}"
    check_memory(size * _BYTES_PER_BYTE, what, "Read it on a machine with more memory.")
    return b"".join(parts)


def file_text(data: bytes, source: str) -> str:
    """Bytes as text in UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        text, place = "", error.start
    else:
        place = data.find(0)
    if place >= 0:
        line = data.count(b"\n", 0, place) + 1
        raise FileFormatError(
            f"{source}, line {line}: byte {data[place]:#04x} is not text in UTF-8. Save the "
            "file as UTF-8.",
            line=line,
        )
    return text


def write_text(text: str, path: Path) -> None:
    """Writes a file in one step; the same text gives the same bytes."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            "The network has a name with half a surrogate pair, which no file can hold. Rename "
            "it first."
        ) from None
    if path.suffix.lower() == ".gz":
        packed = io.BytesIO()
        # A time in the header would make equal networks different files.
        with gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=0) as file:
            file.write(data)
        data = packed.getvalue()
    with replacing(path) as target:
        target.write(data)


def _module(path: Path) -> Any:
    name = _MODULES.get(_suffix(path))
    if name is None:
        *others, last = _MODULES
        raise InputError(
            f"{path.name!r} has no suffix of a network file. Use {', '.join(others)} or {last}, "
            "each also with .gz behind."
        )
    return importlib.import_module(f"novum.graphical.formats.{name}")


def _suffix(path: Path) -> str:
    """The suffix that tells the format, before `.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
