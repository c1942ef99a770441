"""Model archive: zips an enemy would build, and the bytes we write."""

import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.core.errors import ModelFileError
from novum.core.files import model_archive, model_manifest
from novum.core.files.model_archive import open_archive, write_archive

ARRAYS = [
    np.arange(12.0).reshape(3, 4),
    np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
    np.array([True, False]),
    np.zeros((0, 5)),
    np.array(2.5),
]


def archive_bytes(arrays: list[Any] | None = None) -> bytes:
    buffer = io.BytesIO()
    write_archive(buffer, {"model": None}, ARRAYS if arrays is None else arrays)
    return buffer.getvalue()


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(
    contents: list[tuple[str, bytes]],
    method: int = zipfile.ZIP_STORED,
    change: Callable[[zipfile.ZipInfo], None] | None = None,
) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in contents:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            if change:
                change(info)
            archive.writestr(info, content)
    return buffer.getvalue()


def edited(edit: Callable[[dict[str, Any]], None], **replaced: bytes) -> bytes:
    """The good archive with another manifest, whose checksum is right."""
    contents = members(archive_bytes())
    manifest = json.loads(contents["manifest.json"])
    del manifest["sha256"]
    edit(manifest)
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    contents["manifest.json"] = f'{text[:-1]},"sha256":"{digest}"}}'.encode()
    contents.update({name.replace("_", "/") + ".npy": data for name, data in replaced.items()})
    return zipped(list(contents.items()))


def read_all(path: Path, data: bytes, limit: int | str | None = None) -> list[Any]:
    path.write_bytes(data)
    with open_archive(path, limit) as archive:
        return [archive.array(index) for index in range(len(archive.entries))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.novum"


# --- Good files -----------------------------------------------------------------------------------


def test_arrays_come_back(path: Path) -> None:
    for array, back in zip(ARRAYS, read_all(path, archive_bytes()), strict=True):
        np.testing.assert_array_equal(array, back, strict=True)
        assert back.flags.c_contiguous == array.flags.c_contiguous
        assert back.flags.writeable


def test_numpy_reads_the_members_too() -> None:
    contents = members(archive_bytes())
    for index, array in enumerate(ARRAYS):
        member = io.BytesIO(contents[f"arrays/{index:05d}.npy"])
        np.testing.assert_array_equal(np.load(member, allow_pickle=False), array, strict=True)


def test_equal_content_has_equal_bytes_and_fixed_times() -> None:
    data = archive_bytes()
    assert archive_bytes([array.copy(order="K") for array in ARRAYS]) == data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.testzip() is None


def test_a_file_repacked_with_deflate_is_read(path: Path) -> None:
    contents = members(archive_bytes())
    data = zipped(list(contents.items()), zipfile.ZIP_DEFLATED)
    for array, back in zip(ARRAYS, read_all(path, data), strict=True):
        np.testing.assert_array_equal(array, back, strict=True)


def test_arrays_beyond_one_chunk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_archive, "CHUNK", 1000)
    array = np.random.default_rng(0).normal(size=1234)
    data = zipped(list(members(archive_bytes([array])).items()), zipfile.ZIP_DEFLATED)
    np.testing.assert_array_equal(read_all(path, data)[0], array)


def test_manifests_beyond_one_chunk(path: Path) -> None:
    buffer = io.BytesIO()
    write_archive(buffer, {"model": "x" * 6_000_000}, [])
    path.write_bytes(buffer.getvalue())
    with open_archive(path) as archive:
        assert len(archive.manifest["model"]) == 6_000_000


def test_too_many_arrays_are_refused_on_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_archive, "MAX_ARRAYS", 4)
    with pytest.raises(ModelFileError, match="has 5 arrays; a model file holds 4"):
        archive_bytes()


# --- Hostile zips ---------------------------------------------------------------------------------

GOOD = list(members(archive_bytes()).items())


def encrypt(info: zipfile.ZipInfo) -> None:
    info.flag_bits |= 1


def link(info: zipfile.ZipInfo) -> None:
    info.create_system = 3
    info.external_attr = 0o120777 << 16


def folder(info: zipfile.ZipInfo) -> None:
    info.external_attr = 0x10


def patched(data: bytes, signature: bytes, offset: int, new: bytes, which: int = 0) -> bytes:
    """Overwrite a field of the n-th record with that signature."""
    position = -1
    for _ in range(which + 1):
        position = data.index(signature, position + 1)
    start = position + offset
    return data[:start] + new + data[start + len(new) :]


CENTRAL, END = b"PK\x01\x02", b"PK\x05\x06"


def duplicated() -> bytes:
    with pytest.warns(UserWarning, match="Duplicate name"):
        return zipped([*GOOD, GOOD[1]])


def overlapping() -> bytes:
    """Two entries of the directory for the same bytes."""
    data = archive_bytes()
    return patched(data, CENTRAL, 42, struct.pack("<I", 0), which=1)


def huge_directory() -> bytes:
    """Five megabytes of directory."""
    return (
        archive_bytes()[:4]
        + b"\0" * 5_000_000
        + END
        + struct.pack("<4H2IH", 0, 0, 1, 1, 5_000_000, 4, 0)
    )


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (lambda: b"", "does not start as a zip"),
    "text": (lambda: b"hello", "does not start as a zip"),
    "no manifest": (lambda: zipped(GOOD[1:]), "no manifest.json"),
    "empty zip": (lambda: zipped([]), "does not start as a zip"),
    "parent": (lambda: zipped([*GOOD, ("../x", b"")]), r"'\.\./x' has a name no model file has"),
    "absolute": (lambda: zipped([*GOOD, ("/etc/x", b"")]), "has a name no model file has"),
    "drive": (lambda: zipped([*GOOD, ("C:\\x", b"")]), "has a name no model file has"),
    "nul": (lambda: zipped([*GOOD]).replace(b"00004.npy", b"0000\0.npy"), "has a name no model"),
    "nested zip": (lambda: zipped([*GOOD, ("a.zip", archive_bytes())]), "has a name no model"),
    "surplus": (lambda: zipped([*GOOD, ("arrays/00009.npy", b"")]), "members are not those"),
    "lacking": (lambda: zipped(GOOD[:-1]), "members are not those"),
    "duplicate": (duplicated, "twice"),
    "overlap": (overlapping, "overlaps another one"),
    "prefix": (lambda: b"PK\x03\x04junk" + archive_bytes(), "foreign bytes precede"),
    "link": (lambda: zipped(GOOD, change=link), "is a link or another special file"),
    "folder": (lambda: zipped(GOOD, change=folder), "is a folder or another special file"),
    "encrypted": (
        lambda: patched(archive_bytes(), CENTRAL, 8, b"\1\0"),
        "'manifest.json' is encrypted",
    ),
    "patch data": (
        lambda: patched(archive_bytes(), CENTRAL, 8, b"\x20\0"),
        "uses a zip feature no model file uses",
    ),
    "lzma": (lambda: zipped(GOOD, zipfile.ZIP_LZMA), "something else than deflate"),
    "bzip2": (lambda: zipped(GOOD, zipfile.ZIP_BZIP2), "something else than deflate"),
    "bomb": (
        lambda: zipped([GOOD[0], ("arrays/00000.npy", b"\0" * 10**7)], zipfile.ZIP_DEFLATED),
        "compression of more than 250:1",
    ),
    "two sizes": (
        lambda: patched(archive_bytes(), CENTRAL, 24, struct.pack("<I", 10**9)),
        "is stored, yet states two sizes",
    ),
    "offset": (
        lambda: patched(archive_bytes(), CENTRAL, 42, struct.pack("<I", 2**31), which=2),
        "reach into its directory|overlaps",
    ),
    "directory": (huge_directory, "directory is larger than that of any model file"),
    "crc": (
        lambda: patched(archive_bytes(), CENTRAL, 16, b"abcd", which=1),
        "not an intact zip .*CRC",
    ),
    "local name": (
        lambda: archive_bytes().replace(b"00001.npy", b"00007.npy", 1),
        "not an intact zip",
    ),
    "truncated": (lambda: archive_bytes()[:-30], "not an intact zip"),
    "npz of objects": (lambda: object_npz(), "has a name no model file has"),
}


def object_npz() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, a=np.array([{}], dtype=object))
    return buffer.getvalue()


@pytest.mark.parametrize("attack", HOSTILE)
def test_hostile_zips_are_refused(path: Path, attack: str) -> None:
    build, message = HOSTILE[attack]
    with pytest.raises(ModelFileError, match=message):
        read_all(path, build())


def test_too_many_members_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = archive_bytes()
    monkeypatch.setattr(model_archive, "MAX_ARRAYS", 4)
    with pytest.raises(ModelFileError, match="has 6 members, more than 4"):
        read_all(path, data)


def test_all_members_together_may_not_expand_without_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_archive, "MAX_EXPANSION", 0)
    with pytest.raises(ModelFileError, match="expands to more than 0 times"):
        read_all(path, archive_bytes())


# --- Hostile tables and arrays --------------------------------------------------------------------


def entry_edit(index: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest["arrays"][index].update(changes)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda m: m.pop("arrays"), "not a list"),
        (lambda m: m.update(arrays={}), "not a list"),
        (lambda m: m["arrays"][0].pop("dtype"), "line of the array table"),
        (lambda m: m["arrays"].__setitem__(0, 3), "line of the array table"),
        (entry_edit(0, shape=3), "line of the array table"),
        (entry_edit(0, more=3), "line of the array table"),
        (entry_edit(0, shape=[10**15]), "states 96 bytes"),
        (entry_edit(0, shape=[10**15], n_bytes=8 * 10**15), "00000.npy has 224 bytes where"),
        (entry_edit(0, shape=[-3, -4]), "integers of at least 0"),
        (entry_edit(0, dtype="|O"), "dtype"),
        (entry_edit(0, member="manifest.json"), "not a member"),
        (entry_edit(0, member="arrays/00001.npy"), "members are not those"),
        (entry_edit(0, shape=[4, 3]), r"states .*3, 4.*of shape \(4, 3\)"),
        (entry_edit(0, dtype="<i8"), "states .*<f8.* the manifest <i8"),
        (entry_edit(1, fortran_order=False), "the manifest <i4"),
        (entry_edit(0, sha256="0" * 64), "00000.npy does not match its checksum"),
    ],
)
def test_tables_that_lie_are_refused(
    path: Path, edit: Callable[[dict[str, Any]], None], message: str
) -> None:
    with pytest.raises(ModelFileError, match=message):
        read_all(path, edited(edit))


def test_a_header_that_lies_is_found_before_anything_is_allocated(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = dict(GOOD)["arrays/00000.npy"]
    data = edited(lambda _: None, arrays_00000=good.replace(b"(3, 4)", b"(9, 9)"))
    monkeypatch.setattr(np, "empty", lambda *_, **__: pytest.fail("allocated"))
    with pytest.raises(ModelFileError, match=r"states .*9, 9"):
        read_all(path, data)


def test_changed_data_is_found_even_with_a_right_crc(path: Path) -> None:
    good = dict(GOOD)["arrays/00000.npy"]
    with pytest.raises(ModelFileError, match=r"00000\.npy does not match its checksum"):
        read_all(path, edited(lambda _: None, arrays_00000=good[:-1] + b"\1"))


def test_truth_values_are_zero_or_one(path: Path) -> None:
    good = dict(GOOD)["arrays/00002.npy"]
    digest = hashlib.sha256(b"\2\0").hexdigest()
    data = edited(entry_edit(2, sha256=digest), arrays_00002=good[:-2] + b"\2\0")
    with pytest.raises(ModelFileError, match="truth values other than 0 and 1"):
        read_all(path, data)


# --- Memory ---------------------------------------------------------------------------------------


def test_a_model_beyond_the_memory_limit_is_refused(path: Path) -> None:
    data = archive_bytes([np.zeros(100_000)])
    with pytest.raises(
        ModelFileError, match=r"needs about 8.* kB of memory, more than .* 500\.0 kB"
    ):
        read_all(path, data, limit="500kB")
    assert len(read_all(path, data, limit="1MB")) == 1


def test_the_text_counts_with_what_python_makes_of_it(path: Path) -> None:
    buffer = io.BytesIO()
    write_archive(buffer, {"model": "x" * 100_000}, [])
    with pytest.raises(ModelFileError, match=r"needs about 4\.8 MB"):
        read_all(path, buffer.getvalue(), limit="4MB")


def test_a_manifest_over_its_cap_is_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = archive_bytes()
    monkeypatch.setattr(model_manifest, "MAX_BYTES", 100)
    monkeypatch.setattr(model_manifest, "read_manifest", lambda _: pytest.fail("read"))
    with pytest.raises(ModelFileError, match="at most 100 B are read"):
        read_all(path, data)
