"""One pass over chunks, wherever they are: in a list, behind a callable, in a file, on a cluster.

A step is given `(number, chunk)`, so that what is random about a chunk can depend on its number and
on nothing else. Sums are those of `core.engine` and `core.cluster`: for one partition of the rows
the same bits on every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from novum.core import cluster
from novum.core.chunk_passes import check_restartable
from novum.core.cluster import is_dask, sum_on_cluster
from novum.core.engine import sum_chunks


@dataclass(frozen=True, eq=False)
class Passes:
    """Chunks that can be gone through again and again.

    Attributes
    ----------
    chunks : list, callable that returns a fresh iterable, Dask collections or partitions
    client : distributed.Client, optional
        The cluster that sums partitions.

    Examples
    --------
    >>> Passes(["a", "b"]).total(lambda numbered: f"{numbered[0]}{numbered[1]} ")
    '0a 1b '
    """

    chunks: Any
    client: Any = None

    @classmethod
    def over(cls, chunks: Any, learner: str) -> Passes:
        """The passes over a user's chunks; refuses an iterator, which is used up after one."""
        check_restartable(chunks, learner, "Every level of a tree needs the rows again")
        return cls(chunks)

    def total(self, step: Callable[[tuple[int, Any]], Any]) -> Any:
        """The sum of `step((number, chunk))` over all chunks."""
        if self.client is not None or is_dask(self.chunks):
            # Collections are cut into partitions here, so that each can be given its number.
            parts = cluster.partitions_of(cluster.dask_library(), self.chunks)
            return sum_on_cluster(step, list(enumerate(parts)), self.client or _client(parts))
        stream = self.chunks() if callable(self.chunks) else self.chunks
        return sum_chunks(step, enumerate(stream) if isinstance(stream, Iterable) else stream)


def _client(parts: list[Any]) -> Any:
    """The client that futures belong to, which need not be the default one."""
    flat = (one for part in parts for one in (part if isinstance(part, tuple) else (part,)))
    return next((one.client for one in flat if type(one).__name__ == "Future"), None)
