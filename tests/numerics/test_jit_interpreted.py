"""Interpreted kernels: the same values as compiled ones, and what counts as at hand."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.numerics import Patience, inner_kernel, jit_interpreted, kernel, trailing_zeros
from novum.numerics.jit_interpreted import interpreted, is_at_hand
from tests.numerics.fresh_process import run

FACTOR = np.uint64(6364136223846793005)


@inner_kernel()
def defined_first(word: np.uint64) -> int:
    return trailing_zeros(word) + defined_below(word)


@inner_kernel()
def defined_below(word: np.uint64) -> int:
    return np.int64((word * FACTOR) >> np.uint64(60))


@kernel("int64(uint64[::1])")
def mixed(words: np.ndarray) -> int:
    total = 0
    for word in words:
        total += defined_first(word)
    return total


@given(st.lists(st.integers(0, 2**64 - 1), max_size=5))
def test_interpreted_kernels_give_the_same_numbers(words: list[int]) -> None:
    # The product wraps around, in silence: warnings are errors here.
    values = np.array(words, np.uint64)
    wanted = sum(
        ((w & -w).bit_length() - 1 if w else 64) + (w * int(FACTOR) % 2**64 >> 60) for w in words
    )
    assert interpreted(mixed)(values) == wanted
    with np.errstate(over="ignore"):
        assert mixed(values) == wanted


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="plain functions have no machine code"
)
def test_nothing_is_compiled_by_interpreting() -> None:
    @kernel("int64(int64)")
    def next_one(x: int) -> int:
        return x + 1

    assert interpreted(next_one)(1) == 2
    assert not next_one.overloads


@pytest.mark.slow
def test_a_kernel_is_at_hand_once_it_is_on_disk(tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "some_kernels.py").write_text(
        "from novum.numerics.jit import kernel\n"
        '@kernel("int64(int64)")\n'
        "def next_one(x):\n"
        "    return x + 1\n"
    )
    probe = """
    from pack.some_kernels import next_one
    from novum.numerics.jit_interpreted import is_at_hand
    print(is_at_hand(next_one), next_one(1), is_at_hand(next_one), len(next_one.stats.cache_hits))
    """
    assert run(probe, folder).split() == ["False", "2", "True", "0"]
    assert run(probe, folder).split() == ["True", "2", "True", "1"]
    for path in (tmp_path / "cache").rglob("*.nbi"):
        path.write_bytes(b"damaged")
    assert run(probe, folder).split()[0] == "False"


def test_no_thread_sees_globals_that_are_being_filled() -> None:
    def called(x: int) -> int:
        return x + 1

    class Slow:
        """A compiled kernel that other threads have time to come upon."""

        @property
        def py_func(self) -> Any:
            time.sleep(0.02)
            return called

        def __call__(self, *_: int) -> int:
            raise AssertionError("compiled code ran in an interpreted kernel")

    names: dict[str, Any] = {"callee": Slow()}
    exec("def caller(x):\n    return callee(x)\n", names)
    kernel = SimpleNamespace(py_func=names["caller"])
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda x: jit_interpreted._uncompiled(kernel)(x), range(8)))
    assert found == list(range(1, 9))


def test_plain_functions_are_at_hand() -> None:
    assert is_at_hand(sum)


def test_patience_ends_and_is_not_asked_for_code_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    by_python: list[object] = []
    monkeypatch.setattr(jit_interpreted, "is_at_hand", lambda kernel: kernel is min)
    monkeypatch.setattr(
        jit_interpreted, "interpreted", lambda kernel: by_python.append(kernel) or kernel
    )
    patience = Patience(1.0)
    assert (patience.run(min, 1, 2), patience.run(max, 1, 2)) == (1, 2)
    assert by_python == [max]
    assert 0 < patience.spent < 1
    patience.spent = 1.0
    assert patience.run(max, 1, 2) == 2
    assert by_python == [max]
    # What fails has taken its time, too.
    patience.spent = 0.0
    with pytest.raises(TypeError):
        patience.run(max, 1)
    assert patience.spent > 0
