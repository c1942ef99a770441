"""Numbers of parts: kept by later vocabularies, and lists of trees are told from other things."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.kernels.trees.ordered_tree import OrderedTree
from novum.kernels.trees.production_rows import Vocabulary, check_one_code, read_trees

keys = st.lists(st.sampled_from("abcdefg"), max_size=20)


@given(keys, keys)
def test_later_numbers_go_on_from_the_earlier(first: list[str], second: list[str]) -> None:
    training = Vocabulary()
    numbers = {key: training.number(key) for key in first}
    before = len(training)
    later = Vocabulary(training)
    numbers.update({key: later.number(key) for key in second})
    assert sorted(numbers.values()) == list(range(len(later)))
    assert len(training) == before == len(set(first))
    assert {key: later.number(key) for key in numbers} == numbers


def test_only_vocabularies_of_one_line_agree() -> None:
    training = Vocabulary()
    one, other = Vocabulary(training), Vocabulary(training)
    check_one_code(training, one)
    check_one_code(Vocabulary(one), training)
    with pytest.raises(InputError, match="prepared apart"):
        check_one_code(one, other)


@pytest.mark.parametrize(
    "container", [list, tuple, np.array, pd.Series, lambda x: np.array(x, dtype=object)]
)
def test_trees_are_read_from_any_list(container: Any) -> None:
    assert read_trees(container(["(a b)", "c"])) == [OrderedTree.of("(a b)"), OrderedTree.of("c")]


@pytest.mark.parametrize(
    "given_",
    [
        "(a b)",
        OrderedTree.of("(a b)"),
        {"a": "b"},
        {"(a b)"},
        7,
        np.array([["(a b)"]]),
        pd.DataFrame({"tree": ["(a b)"]}),
    ],
)
def test_what_is_no_list_of_trees_is_refused(given_: Any) -> None:
    with pytest.raises(InputError, match="Expected a list of trees, got"):
        read_trees(given_)


def test_the_wrong_object_is_named() -> None:
    with pytest.raises(InputError, match=r"Object 1 is not a tree\. .* position 0"):
        read_trees(["(a b)", "(a b"])
