"""Pictures of plans: a grid, bars of states, and their three views."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np

from novum.reinforcement import GridWorld, MarkovDecisionProcess, solve

matplotlib.use("Agg")


def test_three_views_of_a_grid(tmp_path: Path) -> None:
    picture = solve(GridWorld.notes().process).draw()
    assert "0.705" in str(picture)
    assert "███" in str(picture)
    svg = str(picture.as_svg())
    ElementTree.fromstring(svg)
    assert svg.count("<rect") == 12
    picture.save(tmp_path / "world.svg")
    assert (tmp_path / "world.svg").read_text(encoding="utf-8") == svg
    assert picture.plot() is not None
    assert "<svg" in picture._repr_html_()


def test_bars_of_any_process() -> None:
    chain = np.array([[[0.5, 0.5], [0.1, 0.9]]])
    process = MarkovDecisionProcess(chain, [1.0, -2.0], 0.9, states=["a & b", "c"])
    picture = solve(process).draw()
    assert "a & b" in str(picture)
    ElementTree.fromstring(str(picture.as_svg()))
