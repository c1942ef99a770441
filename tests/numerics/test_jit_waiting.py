"""Ctrl-C while a kernel is compiled: always KeyboardInterrupt, at once, and caches stay whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.numerics.forked_process import needs_fork, output
from tests.numerics.fresh_process import run, surroundings

# Some seconds of compilation, in which inner kernels, loops and arrays take part.
_KERNELS = """
    import numpy as np
    from novum.numerics.jit import inner_kernel, kernel

    @inner_kernel(allocates=True)
    def smoothed(x, k):
        out = np.empty_like(x)
        for i in range(x.size):
            out[i] = x[max(0, i - k) : i + k + 1].mean() + np.sqrt(np.abs(x[i]))
        return np.sort(out) - np.cumsum(out)

    @kernel("float64(float64[::1])")
    def total(x):
        s = 0.0
        for k in range(5):
            s += smoothed(x, k).sum() + np.argsort(x)[0]
        return s
"""
_CALL = """
    import signal, time
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import numpy as np
    from package.kernels import total
    x = np.linspace(-1.0, 1.0, 20)
    print("ready", flush=True)
    try:
        total(x)
        time.sleep(60)
    except BaseException as error:
        print(type(error).__name__, time.time(), flush=True)
    print(np.isclose(total(x), total.py_func(x)), flush=True)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "kernels.py").write_text(textwrap.dedent(_KERNELS))
    return folder


@pytest.mark.skipif(os.name == "nt", reason="this system sends no SIGINT to a process")
@pytest.mark.parametrize("delay", [0.1, pytest.param(0.8, marks=pytest.mark.slow)])
def test_an_interrupted_compilation_raises_keyboard_interrupt_at_once(
    package: Path, delay: float
) -> None:
    environment = {**surroundings(package), "NUMBA_CACHE_DIR": str(package / "cache")}
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(_CALL)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    sent = time.time()
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    raised, answer = out.splitlines()
    assert raised.split()[0] == "KeyboardInterrupt"
    # A machine under load, and yet not the seconds that a compilation takes.
    assert float(raised.split()[1]) - sent < 0.5
    assert answer == "True"
    assert err == ""


@pytest.mark.slow
def test_an_abandoned_compilation_is_kept_on_disk(package: Path) -> None:
    left = run(
        """
        import _thread, signal, threading
        import numpy as np
        from package.kernels import total

        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.2, _thread.interrupt_main).start()
        try:
            total(np.ones(3))
        except KeyboardInterrupt:
            print("interrupted")
        for thread in threading.enumerate():
            if thread.name == "novum call":
                thread.join()
        """,
        package,
    )
    assert left == "interrupted\n"
    hits = run(
        """
        import numpy as np
        from package.kernels import total
        total(np.ones(3))
        print(sum(total.stats.cache_hits.values()))
        """,
        package,
    )
    assert hits.strip() == "1"


@needs_fork
def test_a_fork_waits_for_the_compilation_of_another_thread() -> None:
    found = output("""
        from novum.numerics.jit import kernel
        from numba.core.compiler_lock import global_compiler_lock
        @kernel("int64(int64)")
        def twice(x):
            return 2 * x
        inside = threading.Event()
        def compile_something():
            with global_compiler_lock:
                inside.set()
                threading.Event().wait(0.5)
        thread = threading.Thread(target=compile_something)
        thread.start()
        inside.wait()
        print(succeeds(lambda: twice(21) == 42))
    """)
    assert found == "True"
