"""Properties without locks, and locks that forks leave open."""

from __future__ import annotations

import threading
from pathlib import Path

import novum
from novum.numerics import cached_property, fork_safe_lock
from tests.numerics.forked_process import needs_fork, output


class Meeting:
    """Its property is computed by two threads at once: each waits for the other to begin."""

    def __init__(self) -> None:
        self.barrier = threading.Barrier(2)

    @cached_property
    def met(self) -> object:
        self.barrier.wait(10)
        return object()


def test_threads_that_compute_at_once_see_one_value() -> None:
    meeting, seen = Meeting(), []
    threads = [threading.Thread(target=lambda: seen.append(meeting.met)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 2
    assert seen[0] is seen[1] is meeting.met


class Crossed:
    """Two properties that ask for those of another object, each for the other's kind."""

    other: Crossed | None = None

    def __init__(self, barrier: threading.Barrier) -> None:
        self.barrier = barrier

    @cached_property
    def first(self) -> int:
        if self.other is None:
            return 1
        self.barrier.wait(10)
        return self.other.second

    @cached_property
    def second(self) -> int:
        if self.other is None:
            return 2
        self.barrier.wait(10)
        return self.other.first


def test_properties_that_ask_for_each_other_do_not_wait_forever() -> None:
    barrier = threading.Barrier(2)
    a, b = Crossed(barrier), Crossed(barrier)
    a.other, b.other = Crossed(barrier), Crossed(barrier)
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(a.first), daemon=True),
        threading.Thread(target=lambda: found.append(b.second), daemon=True),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(found) == [1, 2]


def test_a_property_is_on_its_class() -> None:
    assert isinstance(Meeting.met, cached_property)


def test_a_lock_excludes() -> None:
    with (lock := fork_safe_lock()):
        assert not lock.acquire(blocking=False)
    assert not lock.locked()


def test_no_file_uses_the_property_that_locks() -> None:
    sources = Path(novum.__file__).parent.rglob("*.py")
    users = [
        path.name
        for path in sources
        if path.name != "shared_state.py"
        and any(
            "cached_property" in line
            for line in path.read_text().splitlines()
            if line.startswith(("from functools", "    from functools"))
        )
    ]
    assert users == []


@needs_fork
def test_a_child_computes_a_property_that_another_thread_was_computing() -> None:
    found = output("""
        from contextlib import contextmanager
        from novum.numerics.shared_state import cached_property
        class Slow:
            @cached_property
            def value(self):
                inside.set()
                may_end.wait()
                return 1
        inside, may_end = threading.Event(), threading.Event()
        thread = threading.Thread(target=lambda: Slow().value)
        thread.start()
        inside.wait()
        def child():
            may_end.set()
            return Slow().value == 1
        print(succeeds(child))
        may_end.set()
    """)
    assert found == "True"


@needs_fork
def test_locks_are_open_in_a_child() -> None:
    found = output("""
        from novum.numerics.shared_state import fork_safe_lock, held_over_fork
        lock, held = fork_safe_lock(), threading.RLock()
        held_over_fork(held)
        print(while_inside(lambda: lock, lambda: succeeds(lambda: lock.acquire(timeout=10))))
        inside = threading.Event()
        def briefly():
            with held:
                inside.set()
                threading.Event().wait(0.3)
        thread = threading.Thread(target=briefly)
        thread.start()
        inside.wait()
        print(succeeds(lambda: held.acquire(timeout=10)), held.acquire(timeout=10))
    """)
    assert found.split() == ["True", "True", "True"]


@needs_fork
def test_a_fork_does_not_wait_for_a_thread_that_waits_for_it() -> None:
    found = output("""
        from novum.numerics.shared_state import held_over_fork
        first, second = threading.RLock(), threading.RLock()
        held_over_fork(first)
        held_over_fork(second)
        over = threading.Event()
        def take(a, b):
            while not over.is_set():
                # Sleeps let the fork come between the two.
                with a:
                    over.wait(0.001)
                    with b:
                        pass
        # One thread at a time, which takes them in either order.
        for order in [(first, second), (second, first)]:
            thread = threading.Thread(target=take, args=order, daemon=True)
            thread.start()
            print(sum(succeeds(lambda: first.acquire(timeout=10)) for _ in range(20)))
            over.set()
            thread.join()
            over.clear()
    """)
    assert found.split() == ["20", "20"]
