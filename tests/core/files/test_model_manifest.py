"""Manifest: canonical text, and every way of not being one."""

import hashlib
import json
import sys
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import novum
from novum.core.errors import ModelFileError
from novum.core.files import model_manifest
from novum.core.files.model_manifest import read_manifest, write_manifest
from novum.core.json_text import MAX_DEPTH

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(json_values)
def test_content_and_bytes_survive(value: Any) -> None:
    text = write_manifest({"model": value})
    content = read_manifest(text)
    assert (
        json.dumps(content["model"]) == json.dumps(value, sort_keys=False)
        or content["model"] == value
    )
    assert write_manifest({"model": content["model"]}) == text


def test_lone_surrogates_and_negative_zero_survive() -> None:
    content = read_manifest(write_manifest({"model": ["\ud800", -0.0]}))
    assert content["model"][0] == "\ud800"
    assert str(content["model"][1]) == "-0.0"


def test_keys_are_sorted_so_that_bytes_are_equal() -> None:
    a = write_manifest({"model": {"x": 1, "y": 2}, "arrays": []})
    assert a == write_manifest({"arrays": [], "model": {"y": 2, "x": 1}})


def test_the_checksum_is_that_of_the_rest() -> None:
    content = json.loads(write_manifest({"model": 1}))
    stated = content.pop("sha256")
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == stated
    assert content == {
        "format_version": 1,
        "library_version": novum.__version__,
        "model": 1,
        "needs": "0.1.0",
    }


def test_every_flipped_bit_is_noticed() -> None:
    text = write_manifest({"model": {"a": [1.5, "b"]}})
    for position in range(len(text)):
        for bit in range(8):
            changed = bytearray(text)
            changed[position] ^= 1 << bit
            with pytest.raises(ModelFileError):
                read_manifest(bytes(changed))


def signed(text: bytes) -> bytes:
    """Any text with a right checksum, as an enemy would make it."""
    digest = hashlib.sha256(text).hexdigest()
    return text[:-1] + f',"sha256":"{digest}"}}'.encode()


def manifest(**content: Any) -> bytes:
    body = {"format_version": 1, "library_version": "1.0", "needs": "1.0", **content}
    return signed(json.dumps(body).encode())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{]}", "not valid JSON"),
        (b'{"a":"\xc3\xa4"}', "not valid JSON"),
        (b'{"a":1,"a":2}', "same key twice"),
        (b'{"format_version":NaN}', "has NaN, which is not JSON"),
        (b'{"format_version":-Infinity}', "has -Infinity"),
        (b'{"format_version":1,"x":' + b"9" * 5000 + b"}", "not valid JSON"),
        (b'{"format_version":true}', "states format version True"),
        (b'{"format_version":"1"}', "states format version '1'"),
        (b'{"a":1}', "states format version None"),
        (b'{"format_version":0,"needs":"0.0.1"}', "states format version 0"),
        (b'{"format_version":2}', "states format version 2"),
        (b'{"format_version":2,"needs":"\\u001b[31m"}', "states format version 2"),
    ],
)
def test_what_is_no_manifest_is_named(text: bytes, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        read_manifest(signed(text))


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b'{"format_version":1}', b"x" * 200])
def test_a_text_without_a_right_checksum_is_not_parsed(
    text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("parsed"))
    with pytest.raises(ModelFileError, match="does not match its checksum"):
        read_manifest(text)


@pytest.mark.parametrize("wrong", [{"needs": None}, {"library_version": "<b>"}, {"needs": 1}])
def test_the_release_must_be_stated(wrong: dict[str, Any]) -> None:
    with pytest.raises(ModelFileError, match="does not state the release"):
        read_manifest(manifest(**wrong))


def test_a_newer_format_names_the_release_it_needs() -> None:
    with pytest.raises(ModelFileError, match=r"needs novum 3\.2 or later; this is novum"):
        read_manifest(signed(b'{"format_version":7,"needs":"3.2"}'))


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_deep_nesting_ends_before_the_parser(
    opening: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("parsed"))
    with pytest.raises(ModelFileError, match="nested deeper than 200"):
        read_manifest(opening * 10**6)


def test_nesting_is_counted_over_blocks_and_not_inside_strings() -> None:
    wide = b"[" + b"[]," * 800_000 + b"[" * 201
    with pytest.raises(ModelFileError, match="nested deeper"):
        read_manifest(wide)
    text = manifest(x="[" * 1000 + '\\"' + "{" * 1000)
    assert read_manifest(text)["x"].startswith("[[[")


def test_nesting_up_to_the_limit_is_read() -> None:
    value: list[Any] = []
    for _ in range(MAX_DEPTH - 2):
        value = [value]
    assert read_manifest(manifest(x=value))["x"] == value
    assert sys.getrecursionlimit() >= 1000


def test_too_many_parts_are_refused_before_they_are_made() -> None:
    text = b"[" + b"{}," * model_manifest.MAX_PARTS + b"{}]"
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="2,000,002 lists and objects"):
        read_manifest(text)
    assert tracemalloc.get_traced_memory()[1] < 20 * 10**6
    tracemalloc.stop()


def test_too_long_is_refused_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    text = write_manifest({"model": "x" * 1000})
    monkeypatch.setattr(model_manifest, "MAX_BYTES", 1000)
    with pytest.raises(ModelFileError, match=r"at most 1\.0 kB are read"):
        read_manifest(text)
    with pytest.raises(ModelFileError, match=r"more than the 1\.0 kB a model file allows"):
        write_manifest({"model": "x" * 1000})
