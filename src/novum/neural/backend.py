"""torch, where it is needed: one sentence where it is not there, one thread where it is.

Random numbers never come from torch but from `core.runtime.randomness`, and products run on one
thread. So the bits of a fit on the CPU depend on its seed alone.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from novum.core.errors import InputError
from novum.numerics import one_blas_thread


@cache
def torch_library() -> Any:
    """The library; ImportError with what to install where it is not there."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "Neural networks need torch, which is not installed: pip install '.[neural]' in a "
            "copy of the sources."
        ) from error
    return torch


def has_torch() -> bool:
    """Whether torch is installed; does not import it."""
    try:
        return importlib.util.find_spec("torch") is not None
    except (ImportError, ValueError):
        return False


class _Threads:
    """How many blocks hold torch to one thread, and the number before the first of them."""

    lock, blocks, before = threading.Lock(), 0, 1
    # Of a thread that left while others were inside, which keeps one thread until all have left.
    own = threading.local()


@contextmanager
def one_torch_thread() -> Iterator[Any]:
    """Holds torch and BLAS to one thread inside the block; gives torch.

    May be nested and entered from several threads at once: torch has one number for products of
    all of them, so that the last who leaves sets what the first has met.
    """
    torch = torch_library()
    with one_blas_thread():
        with _Threads.lock:
            if not _Threads.blocks:
                number, own = torch.get_num_threads(), vars(_Threads.own).pop("before", 1)
                _Threads.before = own if number == 1 else number
            _Threads.blocks += 1
            torch.set_num_threads(1)
        try:
            yield torch
        finally:
            with _Threads.lock:
                _Threads.blocks -= 1
                if _Threads.blocks:
                    _Threads.own.before = _Threads.before
                else:
                    vars(_Threads.own).pop("before", None)
                    torch.set_num_threads(_Threads.before)


def device_of(name: str) -> tuple[Any, Any]:
    """The device of that name, and the precision that it computes in.

    Everything is in double precision, except on devices that have none.
    """
    torch = torch_library()
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except Exception as error:
        raise InputError(
            f"device={name!r} cannot be used: {str(error).splitlines()[0]} Use device='cpu'."
        ) from error
    return device, torch.float32 if device.type == "mps" else torch.float64
