"""The disk cache's own rules; its behavior in fresh processes is in `test_jit.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from novum.numerics.jit_cache import StampedFiles, stamped_cache


def files(folder: Path, stamp: str) -> StampedFiles:
    return StampedFiles(cache_path=str(folder), filename_base=f"f-1.{stamp}", source_stamp=stamp)


def test_entries_of_equal_stamp_do_not_share_a_data_file(tmp_path: Path) -> None:
    # Both writers start from an empty index, as two cold processes do.
    a, b = files(tmp_path, "s"), files(tmp_path, "s")
    a._load_index = b._load_index = dict
    a.save(("int64",), "of int64")
    b.save(("float64",), "of float64")
    reader = files(tmp_path, "s")
    assert reader.load(("float64",)) == "of float64"
    assert reader.load(("int64",)) in (None, "of int64")


def test_data_of_another_stamp_is_never_returned(tmp_path: Path) -> None:
    files(tmp_path, "old").save(("int64",), "old code")
    assert files(tmp_path, "new").load(("int64",)) is None


def test_a_numba_with_other_internals_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.delattr("numba.core.caching.IndexDataCacheFile._save_index")
    with pytest.raises(RuntimeError, match="has no _save_index"):
        stamped_cache(files, lambda _: "stamp")  # type: ignore[arg-type]


def test_an_index_that_cannot_be_read_holds_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    from numba.core.registry import cpu_target

    cache = stamped_cache(files, lambda _: "stamp")  # type: ignore[arg-type]
    assert not cache.holds(("int64",), cpu_target.target_context)
    key = cache._index_key(("int64",), cpu_target.target_context.codegen())
    Path(cache.cache_path).mkdir(parents=True, exist_ok=True)
    cache._cache_file.save(key, "code")
    assert cache.holds(("int64",), cpu_target.target_context)
    assert not cache.holds(("float64",), cpu_target.target_context)
    for path in Path(cache.cache_path).glob("*.nbi"):
        path.write_bytes(b"damaged")
    assert not cache.holds(("int64",), cpu_target.target_context)
