"""A peer's own process: forked once the data exist, it repeats the protocol on demand.

A process of its own keeps imports, patches and memory of the peers apart. The fork shares the data
without copying. The process dies with the run, is silent, and may not take more memory than stated:
an exact method on a hard problem can ask for more than the machine has.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import multiprocessing
import os
import re
import resource
import signal
import warnings
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.clock import Clock
from benchmarks.peers import NotYetError, Peer
from benchmarks.recipes import Data
from benchmarks.registry import Workload

RAN = "ran"
ERROR = "error"
OVER_LIMIT = "over the limit"
OUT_OF_MEMORY = "out of memory"
NOT_INSTALLED = "not installed"
NOT_YET = "not yet"

# How often a repetition is looked at, in seconds; small against every limit.
_LOOK = 0.05
_DIE_WITH_PARENT = 1


@dataclass
class Answer:
    """One repetition as the peer's process reports it."""

    status: str = RAN
    message: str = ""
    cpu: dict[str, float] = field(default_factory=dict)
    wall: dict[str, float] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)
    quality: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class Worker:
    """The parent's handle on a peer's process."""

    def __init__(self, workload: Workload, peer: Peer, data: Data, gigabytes: float) -> None:
        context = multiprocessing.get_context("fork")
        self.limit = workload.limit
        self.connection, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(theirs, workload, peer, data, gigabytes), daemon=True
        )
        with warnings.catch_warnings():
            # Python 3.12 warns of forks beside threads; the worker uses none of the parent's.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        theirs.close()

    def repeat(self) -> Answer:
        """One repetition; a process over its limit is ended."""
        start = _cpu_of(self.process.pid)
        try:
            self.connection.send(True)
            while not self.connection.poll(_LOOK):
                if not self.process.is_alive() and not self.connection.poll(_LOOK):
                    return self._ended()
                if _cpu_of(self.process.pid) - start > self.limit:
                    self.process.kill()
                    return Answer(OVER_LIMIT, f"over {self.limit:g} s")
            answer: Answer = self.connection.recv()
            return answer
        except (EOFError, OSError):
            return self._ended()

    def close(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.connection.send(False)
        self.connection.close()
        self.process.join(2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def _ended(self) -> Answer:
        self.process.join(5)
        return Answer(ERROR, f"process ended with {self.process.exitcode}")


def _serve(
    connection: Connection, workload: Workload, peer: Peer, data: Data, gigabytes: float
) -> None:
    _seclude(gigabytes)
    heard = _Heard()
    logging.getLogger("sklearnex").addHandler(heard)
    logging.getLogger("sklearnex").setLevel(logging.INFO)
    first = True
    while connection.recv():
        try:
            answer = _repetition(workload, peer, data, judged=first)
            answer.notes = sorted(heard.notes)
        except BaseException as failure:
            answer = explain(failure, gigabytes)
        connection.send(answer)
        first = False


def _repetition(workload: Workload, peer: Peer, data: Data, judged: bool) -> Answer:
    clock = Clock()
    figures = workload.protocol(peer.make, data, clock)
    if not judged:
        figures = {}
    elif callable(figures):
        figures = figures()
    return Answer(cpu=clock.cpu, wall=clock.wall, memory=clock.memory, quality=dict(figures))


def explain(failure: BaseException, gigabytes: float) -> Answer:
    """Why a peer did not run, in one line and without paths of this machine."""
    text = str(failure)
    if isinstance(failure, NotYetError):
        return Answer(NOT_YET, f"Novum has no {text}")
    if isinstance(failure, ModuleNotFoundError):
        if (failure.name or "").partition(".")[0] == "novum":
            return Answer(NOT_YET, f"Novum has no {failure.name}")
        return Answer(NOT_INSTALLED, f"needs the module {failure.name}")
    if isinstance(failure, MemoryError) or "bad_alloc" in text:
        return Answer(OUT_OF_MEMORY, f"more than {gigabytes:g} GB")
    return Answer(ERROR, one_line(f"{type(failure).__name__}: {text}"))


def one_line(text: str) -> str:
    """At most 160 characters, paths replaced: a report may be shown to others."""
    return re.sub(r"(/[\w.+-]+){2,}", "<path>", " ".join(text.split()))[:160]


def _seclude(gigabytes: float) -> None:
    with contextlib.suppress(AttributeError, OSError):  # prctl is Linux's own
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    size = int(gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    warnings.simplefilter("ignore")


def _cpu_of(process: int | None) -> float:
    try:
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class _Heard(logging.Handler):
    """Collects what the accelerated scikit-learn says of itself: own code, or a fall back."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if "fallback" in record.getMessage():
            self.notes.add("falls back to scikit-learn")
