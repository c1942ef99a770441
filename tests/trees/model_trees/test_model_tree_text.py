"""Model trees as text: the questions, the numbered models, and names that are safe to print."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from novum.core.errors import InputError
from novum.trees.model_trees.model_tree import ModelTreeRegressor
from novum.trees.model_trees.model_tree_text import model_tree_text


def colored() -> tuple[pd.DataFrame, np.ndarray]:
    size = np.tile(np.arange(20.0), 3)
    color = np.repeat(["blue", "green", "red"], 20)
    y = np.where(color == "red", 1000 - 5 * size, 2 * size + 10 * (color == "green"))
    return pd.DataFrame({"size": size, "color": color}), y


def test_the_whole_text() -> None:
    X, y = colored()
    model = ModelTreeRegressor(smoothing=None).fit(X, y)
    assert model.text() == (
        f"all rows [weight 60, deviation {y.std():.6g}]\n"
        "├─ color in {blue, green}: LM 1 [weight 40, error 0.0 %]\n"
        "└─ color = red: LM 2 [weight 20, error 0.0 %]\n"
        "\n"
        "LM 1: y = 0 + 2 size + 10 color=green\n"
        "LM 2: y = 1000 - 5 size"
    )


def test_models_are_printed_as_they_predict() -> None:
    X, y = colored()
    model = ModelTreeRegressor().fit(X, y)
    leaf = int(model.apply(X.iloc[:1])[0])
    lines = model.text().splitlines()
    assert lines[-2] == f"LM 1: y = {model.leaf_model(leaf)}"
    said = model.leaf_model(leaf)
    assert said.intercept == pytest.approx(model.predict(X.iloc[:1])[0])


def test_a_depth_can_be_shown() -> None:
    model = ModelTreeRegressor(smoothing=None).fit(*colored())
    lines = model.text(max_depth=0).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("all rows: LM 1 [weight 60, error ")
    with pytest.raises(InputError, match="max_depth is at least 0"):
        model.text(max_depth=-1)


def test_a_constant_target_is_one_number() -> None:
    model = ModelTreeRegressor().fit(np.arange(12.0)[:, np.newaxis], np.full(12, 3.5))
    assert model.text() == "all rows: LM 1 [weight 12, error 0.0 %]\n\nLM 1: y = 3.5"


def test_many_models_are_numbered_in_the_order_of_the_lines() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(400, 2))
    y = 10.0 ** (np.floor(5 * x[:, 0]) % 2) * np.floor(5 * x[:, 1]) ** 3 % 7
    model = ModelTreeRegressor().fit(x, y)
    text = model.text()
    numbers = [int(line.split("LM ")[1].split()[0]) for line in text.splitlines() if ": LM" in line]
    assert numbers == list(range(1, model.get_n_leaves() + 1))
    assert len(numbers) >= 12
    assert "\nLM 1 : y" in text


def test_names_and_targets() -> None:
    X, y = colored()
    X = X.rename(columns={"size": "si\x1b[2Jze"})
    model = ModelTreeRegressor(smoothing=None).fit(X, np.column_stack([y, -y]))
    assert "\x1b" not in model.text()
    first, second = model.text(), model.text(target=1)
    assert "1000 - 5" in first
    assert "-1000 + 5" in second
    text = model_tree_text(model.tree_, model.models_, 0.0, digits=2)
    assert f"deviation {np.sqrt(2) * y.std():.1f}" in text
