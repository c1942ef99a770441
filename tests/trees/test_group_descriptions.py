"""Descriptions of groups: rules, effects, corrected tests, odd tables, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from novum.core.errors import InputError
from novum.trees import describe_groups


def table(n: int = 120, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    return labels, pd.DataFrame(
        {
            "size": rng.normal(size=n) + 5.0 * (labels == 1),
            "noise": rng.normal(size=n),
            "color": np.where(labels == 2, "red", rng.choice(["blue", "green"], n)),
        }
    )


def test_rules_and_differences_tell_each_group() -> None:
    labels, X = table()
    found = describe_groups(labels, X)
    assert [group.label for group in found] == [0, 1, 2]
    assert found[1].rule.startswith("size > ")
    assert found[2].rule == "color = red"
    assert found[2].found == found[2].right == 1.0
    assert found[1].differences[0].column == "size"
    assert found[2].differences[0].level == "red"
    assert all(group.share == pytest.approx(1 / 3) for group in found)
    # A column that took no part is not told.
    assert all("noise" not in group.sentence for group in found)


def test_effects_and_tests_are_those_of_the_definition() -> None:
    labels, X = table()
    found = describe_groups(labels, X)
    size = X["size"].to_numpy()
    a, b = size[labels == 1], size[labels != 1]
    pooled = np.sqrt((a.var(ddof=1) * (len(a) - 1) + b.var(ddof=1) * (len(b) - 1)) / (len(X) - 2))
    d = next(d for d in found[1].differences if d.column == "size")
    assert d.effect == pytest.approx((a.mean() - b.mean()) / pooled)
    assert (d.inside, d.outside) == (pytest.approx(a.mean()), pytest.approx(b.mean()))
    raw = []
    for label in range(3):
        mine = labels == label
        for name in ("size", "noise"):
            x = X[name].to_numpy()
            raw.append(stats.ttest_ind(x[mine], x[~mine], equal_var=False).pvalue)
        raw.append(stats.chi2_contingency(pd.crosstab(mine, X["color"])).pvalue)
    expected = np.sort(stats.false_discovery_control(raw, method="by"))
    told = np.sort([d.p_value for group in found for d in group.differences])
    np.testing.assert_allclose(told, expected, rtol=1e-9)


def test_rules_count_rows_as_they_are() -> None:
    labels, X = table(seed=4)
    group = describe_groups(labels, X, max_depth=1)[1]
    limit = float(group.rule.split(" > ")[1])
    caught = X["size"].to_numpy() > limit
    assert group.found == pytest.approx(caught[labels == 1].mean(), abs=0.05)
    assert group.right == pytest.approx((labels == 1)[caught].mean(), abs=0.05)


def test_missing_cells_single_rows_and_constant_columns() -> None:
    X = pd.DataFrame({"a": [1.0, None, 1.1, 9.0], "b": ["u", None, "u", "v"], "c": [1.0] * 4})
    found = describe_groups(["x", "x", "x", "y"], X)
    assert [group.size for group in found] == [3, 1]
    assert "Group y (1 row, 25 %)" in found[1].sentence.replace("\xa0", " ")
    constant = describe_groups([0, 0, 1, 1], [[1.0], [1.0], [2.0], [2.0]])
    assert constant[0].differences[0].effect == -np.inf


def test_groups_by_chance_are_not_told_apart() -> None:
    rng = np.random.default_rng(3)
    found = describe_groups(rng.integers(0, 3, 300), rng.normal(size=(300, 5)))
    assert all(d.p_value > 0.05 for group in found for d in group.differences)


def test_what_is_shown() -> None:
    found = describe_groups(*table())
    assert len(found) == 3
    assert "What tells groups from the rest" in repr(found)
    assert "color = red" in repr(found)
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize(
    ("labels", "how", "message"),
    [
        ([0, 1], {}, "rows need a label each"),
        ([0] * 120, {}, "one group only"),
        ([0, 1] * 60, {"max_depth": 0}, "at least one question"),
    ],
)
def test_bad_input(labels: Any, how: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        describe_groups(labels, table()[1], **how)
