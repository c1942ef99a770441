"""The blocks of the guide that need torch, which README and guides are tested without."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "what_is_unusual.md"


def test_blocks_of_the_guide_run(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    names = {"np": np, "pd": pd, "rng": np.random.default_rng(0)}
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.S)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, names)
    said = capsys.readouterr().out
    assert said.startswith("novel: error ")
    assert "heat = 4 (" in said
    assert abs(float(names["whole"][0, 1]) - 28) < 6
