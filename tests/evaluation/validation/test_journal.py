"""Journals: what was put is there again, whatever happens in between."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import FileFormatError, InputError
from novum.evaluation.validation.journal import Journal, as_journal

PARTS = {"data": "d1", "splits": "s1"}


def test_results_survive_reopening(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, PARTS) as journal:
        journal.put("a", {"score": 0.1 + 0.2})
        journal.put_all({"b": {"score": 1.0}, "c": {"score": 2.0}})
    with Journal(path, PARTS) as journal:
        assert journal.get("a") == {"score": 0.1 + 0.2}
        assert list(journal) == ["a", "b", "c"]
        assert len(journal) == 3
        assert "b" in journal
        assert journal.get("d") is None
        assert "3 results" in repr(journal)


def test_every_result_is_on_the_disk_when_put_returns(tmp_path: Path) -> None:
    with Journal(tmp_path / "run", PARTS) as journal:
        journal.put("a", {"score": 1.0})
        assert b'"key": "a"' in (tmp_path / "run").read_bytes()


@given(st.integers(0, 200))
def test_a_file_cut_anywhere_keeps_all_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "run"
    with Journal(path, PARTS) as journal:
        journal.put("a", {"n": 1})
        journal.put("b", {"n": 2})
    content = path.read_bytes()
    kept = content[: max(len(content) - cut, 0)]
    path.write_bytes(kept)
    with Journal(path, PARTS) as journal:
        n_whole = max(kept.count(b"\n") - 1, 0)
        assert list(journal) == ["a", "b"][:n_whole]
        journal.put("c", {"n": 3})
    with Journal(path, PARTS) as journal:
        assert list(journal) == [*["a", "b"][:n_whole], "c"]


def test_another_experiment_is_refused_with_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "run"
    Journal(path, PARTS).close()
    with pytest.raises(InputError, match=r"another experiment: splits was s1 and is s2[.]"):
        Journal(path, {**PARTS, "splits": "s2"})
    with pytest.raises(InputError, match="weights was not given and is w"):
        Journal(path, {**PARTS, "weights": "w"})
    with pytest.raises(InputError, match="splits was s1 and is not given"):
        Journal(path, {"data": "d1"})


def test_a_fingerprint_may_be_one_text(tmp_path: Path) -> None:
    Journal(tmp_path / "run", "one").close()
    with pytest.raises(InputError, match="experiment was one and is two"):
        Journal(tmp_path / "run", "two")


def test_damage_in_the_middle_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with Journal(path, PARTS) as journal:
        journal.put("a", {"score": 0.25})
        journal.put("b", {"score": 0.5})
    content = path.read_bytes().replace(b"0.25", b"0.75")
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"Line 2 of the journal .* is damaged") as raised:
        Journal(path, PARTS)
    assert raised.value.line == 2
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name,score\na,1\n", "is no journal: its first line is 'name,score'"),
        (b"\x1b[2J\n", r"first line is '\\\\x1b\[2J'"),
        (json.dumps({"format": "novum journal", "version": 9}).encode() + b"\n", "version 9"),
        (b"[" * 100_000 + b"\n", "is no journal"),
    ],
)
def test_other_files_are_refused_and_not_touched(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message):
        Journal(path, PARTS)
    assert path.read_bytes() == content


def test_places_that_cannot_hold_a_journal(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        Journal(tmp_path, PARTS)
    with pytest.raises(InputError, match="nowhere of the journal does not exist; create it first"):
        Journal(tmp_path / "nowhere" / "run", PARTS)


def test_two_at_once_are_refused_in_one_process_and_in_two(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with Journal(path, PARTS), pytest.raises(InputError, match="in use by another run"):
        Journal(path, PARTS)
    with Journal(path, PARTS):
        code = (
            "import sys\n"
            "from novum.evaluation.validation.journal import Journal\n"
            "try:\n    Journal(sys.argv[1], {})\n"
            "except ValueError as error:\n    print(error)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
        )
    assert "in use by another run" in done.stdout


def test_threads_may_share_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with Journal(path, PARTS) as journal:

        def work(number: int) -> None:
            for i in range(20):
                journal.put(f"{number}:{i}", {"values": np.full(50, number)})

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with Journal(path, PARTS) as journal:
        assert len(journal) == 80


def test_a_closed_journal_says_so(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run", PARTS)
    journal.close()
    with pytest.raises(ValueError, match="is closed; open it again"):
        journal.put("a", {})


def test_a_path_is_opened_and_closed_an_open_journal_stays(tmp_path: Path) -> None:
    with as_journal(None, PARTS) as nothing:
        assert nothing is None
    with as_journal(tmp_path / "run", PARTS) as journal:
        assert journal.fingerprint == PARTS
        with as_journal(journal, {"other": "x"}) as same:
            assert same is journal
        journal.put("a", {})
    with pytest.raises(ValueError, match="closed"):
        journal.put("b", {})
