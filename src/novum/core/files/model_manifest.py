"""The text of a model file: canonical JSON with a format version and a checksum.

    manifest = {..., "format_version":1, ..., "sha256":"..."}
    sha256   = SHA-256 of the text without its last member, which is the checksum itself

Canonical means sorted keys, no spaces, ASCII, so that the same content always has the same bytes
and a changed byte is found before anything is parsed. All format versions keep this rule. The
checksum finds accidents; it does not make a file trustworthy, so reading assumes an enemy: size and
nesting are bounded before parsing, and repeated keys, NaN and numbers without end are refused.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import novum
from novum.core.errors import ModelFileError
from novum.core.json_text import MAX_DEPTH, json_depth
from novum.core.runtime import format_bytes

FORMAT_VERSION = 1
# The first release that reads FORMAT_VERSION; written into every file for older releases to name.
NEEDS = "0.1.0"
MAX_BYTES = 64 * 10**6
# An empty object takes three bytes of text and up to two hundred of memory.
MAX_PARTS = 2 * 10**6

_CHECKSUM_BYTES = len(',"sha256":""}') + 64
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")


def write_manifest(content: dict[str, Any]) -> bytes:
    """The bytes of `manifest.json` for that content.

    Examples
    --------
    >>> text = write_manifest({"model": None})
    >>> read_manifest(text)["model"] is None
    True
    """
    body = {
        **content,
        "format_version": FORMAT_VERSION,
        "library_version": novum.__version__,
        "needs": NEEDS,
    }
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")
    text = _with_checksum(text)
    if len(text) > MAX_BYTES:
        raise ModelFileError(
            f"The model's description takes {format_bytes(len(text))}, more than the "
            f"{format_bytes(MAX_BYTES)} a model file allows. Long lists belong into NumPy arrays."
        )
    return text


def read_manifest(text: bytes) -> dict[str, Any]:
    """The content of a manifest, with its version and checksum confirmed.

    Raises
    ------
    ModelFileError
        If the text is too long, too deeply nested, does not match its checksum, is no strict JSON
        or of an unknown format version.
    """
    if len(text) > MAX_BYTES:
        raise ModelFileError(
            f"manifest.json has {format_bytes(len(text))}; at most {format_bytes(MAX_BYTES)} "
            "are read."
        )
    if json_depth(text) > MAX_DEPTH:
        raise ModelFileError(f"manifest.json is nested deeper than {MAX_DEPTH} levels.")
    n_parts = text.count(b"{") + text.count(b"[")
    if n_parts > MAX_PARTS:
        raise ModelFileError(
            f"manifest.json has {n_parts:,} lists and objects; at most {MAX_PARTS:,} are read."
        )
    body = _without_checksum(text)
    try:
        manifest = json.loads(
            body.decode("ascii"), object_pairs_hook=_unique, parse_constant=_refuse_constant
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"manifest.json is not valid JSON: {error}") from None
    if not isinstance(manifest, dict):
        raise ModelFileError("manifest.json is not a JSON object.")
    _check_version(manifest)
    if not (_is_version(manifest.get("library_version")) and _is_version(manifest.get("needs"))):
        raise ModelFileError("manifest.json does not state the release that wrote it.")
    return manifest


def _with_checksum(body: bytes) -> bytes:
    digest = hashlib.sha256(body).hexdigest()
    return body[:-1] + f',"sha256":"{digest}"}}'.encode("ascii")


def _without_checksum(text: bytes) -> bytes:
    """The text before the checksum was put at its end, if it is still that text."""
    body = text[:-_CHECKSUM_BYTES] + b"}"
    if _with_checksum(body) != text:
        raise ModelFileError(
            "manifest.json does not match its checksum: the file was damaged or changed by hand. "
            "Take another copy or save the model again."
        )
    return body


def _check_version(manifest: dict[str, Any]) -> None:
    version = manifest.get("format_version")
    if type(version) is int and version == FORMAT_VERSION:
        return
    needed = manifest.get("needs")
    if type(version) is int and version > FORMAT_VERSION and _is_version(needed):
        raise ModelFileError(
            f"The file has format version {version}, which needs novum {needed} or later; this is "
            f"novum {novum.__version__}, which reads version {FORMAT_VERSION}. Upgrade novum."
        )
    raise ModelFileError(
        f"The file states format version {ascii(version)[:40]}; novum {novum.__version__} reads "
        f"version {FORMAT_VERSION}. The file is damaged or not from novum."
    )


def _is_version(text: object) -> bool:
    return isinstance(text, str) and _VERSION.fullmatch(text) is not None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ModelFileError("manifest.json has an object with the same key twice.")
    return content


def _refuse_constant(name: str) -> None:
    raise ModelFileError(f"manifest.json has {name}, which is not JSON.")
