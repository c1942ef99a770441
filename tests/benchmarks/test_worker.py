"""Worker: a peer's process answers, fails in words, and is ended when it takes too long."""

import pytest

from benchmarks.peers import NotYetError
from benchmarks.worker import (
    ERROR,
    NOT_INSTALLED,
    NOT_YET,
    OUT_OF_MEMORY,
    explain,
    one_line,
)


@pytest.mark.parametrize(
    ("failure", "status", "message"),
    [
        (NotYetError("novum.trees:Forest"), NOT_YET, "Novum has no novum.trees:Forest"),
        (ModuleNotFoundError("x", name="faiss"), NOT_INSTALLED, "needs the module faiss"),
        (ModuleNotFoundError("x", name="novum.core.x"), NOT_YET, "Novum has no novum.core.x"),
        (MemoryError(), OUT_OF_MEMORY, "more than 6 GB"),
        (RuntimeError("std::bad_alloc"), OUT_OF_MEMORY, "more than 6 GB"),
        (ValueError("bad\n  value"), ERROR, "ValueError: bad value"),
    ],
)
def test_a_failure_is_told_in_one_line(failure: Exception, status: str, message: str) -> None:
    answer = explain(failure, 6.0)
    assert (answer.status, answer.message) == (status, message)


def test_paths_of_the_machine_stay_out_of_reports() -> None:
    assert one_line("cannot read /some/where/file.bif now") == "cannot read <path> now"
    assert len(one_line("x" * 1000)) == 160
