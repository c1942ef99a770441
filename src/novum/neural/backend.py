"""torch, where it is needed: one sentence where it is not there, one thread where it is.

Random numbers never come from torch but from `core.runtime.randomness`, and products run on one
thread. So the bits of a fit on the CPU depend on its seed alone.
"""

from __future__ import annotations

import importlib.util
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
            "Neural networks need torch, which is not installed: pip install 'novum[neural]'."
        ) from error
    return torch


def has_torch() -> bool:
    """Whether torch is installed; does not import it."""
    try:
        return importlib.util.find_spec("torch") is not None
    except (ImportError, ValueError):
        return False


@contextmanager
def one_torch_thread() -> Iterator[Any]:
    """Holds torch and BLAS to one thread inside the block; gives torch."""
    torch = torch_library()
    before = torch.get_num_threads()
    with one_blas_thread():
        torch.set_num_threads(1)
        try:
            yield torch
        finally:
            torch.set_num_threads(before)


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
