"""The rooms of the studio, in the order of the navigation, and what they share.

A room is one Python module with its routes and one JavaScript module with its view; a line here is
all that makes it known.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from novum import data
from novum.apps.studio.folder import OpenedFolder
from novum.apps.studio.runs import Runs

if TYPE_CHECKING:
    from fastapi import APIRouter


@dataclass(frozen=True)
class Room:
    """A room.

    Attributes
    ----------
    name : str
        Of its module here, of `page/rooms/<name>.js`, and of its routes `/api/<name>/...`.
    title, description : str
        For people.
    """

    name: str
    title: str
    description: str

    def routes(self, studio: Studio) -> APIRouter:
        """The routes of the room, relative to `/api/<name>`."""
        module = importlib.import_module(f"novum.apps.studio.{self.name}")
        router: APIRouter = module.routes(studio)
        return router


class Kept:
    """The last few values that were computed, each once, whoever asks at the same time.

    Parameters
    ----------
    most : int

    Examples
    --------
    >>> kept = Kept(2)
    >>> kept("a", lambda: 1), kept("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, tuple[threading.Lock, list[Any]]] = OrderedDict()

    def __call__(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The value of a key, computed if it is not there; an error is not kept."""
        with self._lock:
            lock, value = self._values.setdefault(key, (threading.Lock(), []))
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        with lock:
            if not value:
                value.append(compute())
        return value[0]


class Tables:
    """Tables of the folder and bundled ones, the last few held in memory."""

    def __init__(self, folder: OpenedFolder) -> None:
        self._folder, self._kept = folder, Kept(3)

    def read(self, name: str) -> Any:
        """A table by its name, as an Arrow table."""
        if name in data.available():
            return self._kept(name, lambda: data.load(name).table)
        path = self._folder.file(name)
        return self._kept((name, stamp_of(path)), lambda: data.read(str(path)).table)


def stamp_of(path: os.PathLike[str]) -> tuple[int, int]:
    """What changes when a file does."""
    status = os.stat(path)
    return status.st_mtime_ns, status.st_size


@dataclass(frozen=True)
class Studio:
    """What rooms share.

    Attributes
    ----------
    folder : OpenedFolder
    debug : bool
        Whether the terminal shows where errors come from.
    runs : Runs
    tables : Tables
    """

    folder: OpenedFolder
    debug: bool = False
    runs: Runs = field(init=False)
    tables: Tables = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", Runs(self.folder))
        object.__setattr__(self, "tables", Tables(self.folder))


ROOMS = (
    Room("tables", "Tables", "Look at a table, start a run, watch it and compare runs."),
    Room("decide", "Decide", "Move the working point of a model and see what changes."),
    Room("understand", "Understand", "Walk through a tree, change a row, find unusual rows."),
    Room("networks", "Networks", "Observe states and see every probability move; draw and learn."),
    Room("playground", "Playground", "Paint points and watch learners at work, step by step."),
)
