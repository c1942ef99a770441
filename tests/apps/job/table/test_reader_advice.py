"""Advice of readers for a user of a run: real messages, none of which names an argument."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from novum.apps.job.table.reader_advice import for_a_run
from novum.core.errors import InputError
from novum.data.readers import read
from tests.apps.job.table.tables import csv

ARGUMENTS = re.compile(r"Dialect|`|kinds|columns=|open_source|fit_file")


@pytest.mark.parametrize(
    "text",
    ["a,b\n", "a,a\n1,2\n", 'a,b\n"1,2\n3,4\n', "a,b\n1\x00,2\n"],
    ids=["no rows", "a name twice", "open quote", "zero byte"],
)
def test_real_messages_name_no_argument(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read(csv(tmp_path, text))
    found = for_a_run(str(caught.value))
    assert not ARGUMENTS.search(found), found
    assert found.endswith(".")
    # What is wrong and where comes first and stays.
    assert found[:12] == str(caught.value)[:12]


def test_declared_kinds_become_those_of_the_table(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(csv(tmp_path, "a\n1\nx\n"), kinds={"a": "numeric"})
    found = for_a_run(str(caught.value))
    assert not ARGUMENTS.search(found), found
    assert "the table has column 'a' numeric, but it holds 'x'" in found
    assert found.endswith("Correct the cell, or name the word with --missing-values.")
