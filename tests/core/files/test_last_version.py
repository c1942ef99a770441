"""Model files of the last version: each still loads and answers as it did when it was written.

`models_of_0_1.zip` holds a file of every learner, fitted to 24 rows, and its answers.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from novum.core import load

ARCHIVE = ZipFile(Path(__file__).with_name("models_of_0_1.zip"))
KEPT = json.loads(ARCHIVE.read("expected.json"))


@pytest.mark.parametrize("name", KEPT["learners"])
def test_a_file_of_the_last_version_answers_as_it_did(name: str, tmp_path: Path) -> None:
    model: Any = load(ARCHIVE.extract(f"{name}.novum", tmp_path))
    learner = KEPT["learners"][name]
    rows = KEPT[learner["data"]]
    table = rows if learner["data"] == "text" else np.array(rows)
    assert learner["answers"]
    for method, expected in learner["answers"].items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            answers = np.asarray(getattr(model, method)(table))
        if answers.dtype.kind in "fc":
            np.testing.assert_allclose(answers, expected, rtol=1e-9, atol=1e-12)
        else:
            assert answers.tolist() == expected
