"""Numba's disk cache with a stamp of our own, and entries that cannot be mixed up.

Numba keeps an index file per function, which names numbered data files, and writes the index before
the data. A process killed between the two, or two processes that save at once, can leave an index
that names the data of another version or signature. Here the names say what the files hold,

    <function>-<line>.py311.<stamp>.nbi        <function>-<line>.py311.<stamp>.<key>.nbc

with the stamp of the sources and the digest of signature and machine, and data come first. Files of
different content never share a name; processes that save the same thing at once replace a file by
an equal one. A damaged entry counts as absent. Files of former versions are removed.

This module imports Numba: it is imported when a kernel is defined, not before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from glob import escape
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

Digest = Callable[[FunctionType], str]


class StampedFiles(IndexDataCacheFile):
    """An index and its data files, all named by their content."""

    def save(self, key: Any, data: Any) -> None:
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        name = f"{self._index_name.removesuffix('.nbi')}.{digest}.nbc"
        self._save_data(name, data)
        try:
            overloads = self._load_index()
        except Exception:
            overloads = {}
        self._save_index({**overloads, key: name})


class StampedCache(FunctionCache):
    """Numba's function cache, with the stamp taken when the function is about to be compiled.

    A kernel may call one that is defined further down its file, so the stamp cannot be known when
    the decorator runs.
    """

    def __init__(self, function: FunctionType, digest: Digest) -> None:
        super().__init__(function)
        self._digest = digest
        self._stamp: str | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        self._use_stamp()
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            # Whatever is wrong with the entry, compiling again replaces it.
            return None

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether the index names an entry for these types of arguments on this machine."""
        self._use_stamp()
        try:
            return self._index_key(sig, target_context.codegen()) in self._cache_file._load_index()
        except Exception:
            # An index that cannot be read counts as empty.
            return False

    def save_overload(self, sig: Any, data: Any) -> None:
        self._use_stamp()
        try:
            super().save_overload(sig, data)
            self._remove_former_versions()
        except OSError:
            # A full disk, or a folder that has become read-only, costs the next process a
            # compilation; the code at hand is good.
            return

    def _use_stamp(self) -> None:
        if self._stamp is None:
            stamp = self._digest(self._py_func)
            self._cache_file = StampedFiles(
                cache_path=self._cache_path,
                filename_base=f"{self._impl.filename_base}.{stamp[:16]}",
                source_stamp=stamp,
            )
            self._stamp = stamp

    def _remove_former_versions(self) -> None:
        base = self._impl.filename_base
        assert self._stamp is not None
        for path in Path(self._cache_path).glob(f"{escape(base)}.*.nb[ic]"):
            if not path.name.startswith(f"{base}.{self._stamp[:16]}."):
                path.unlink(missing_ok=True)


def stamped_cache(function: FunctionType, digest: Digest) -> StampedCache:
    """A cache for `function`; raises where Numba finds no folder or has other internals."""
    cache = StampedCache(function, digest)
    for owner, names in (
        (cache, ("_cache_path", "_impl", "_cache_file", "_py_func")),
        (cache._cache_file, ("_index_name", "_load_index", "_save_index", "_save_data")),
    ):
        for name in names:
            if not hasattr(owner, name):
                raise RuntimeError(f"this Numba's {type(owner).__name__} has no {name}.")
    return cache
