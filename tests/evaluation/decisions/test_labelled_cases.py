"""Labels, scores and weights: codes, and what is wrong with its row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core.errors import InputError
from novum.evaluation.decisions.labelled_cases import (
    case_weights,
    checked_scores,
    class_codes,
    class_weights,
)


@pytest.mark.parametrize("y", [["b", "a"], np.array(["b", "a"]), pd.Series(["b", "a"])])
def test_codes_of_any_container(y: Any) -> None:
    assert class_codes(y, ("a", "b")).tolist() == [1, 0]


def test_true_is_one() -> None:
    assert class_codes([True, False], (0, 1)).tolist() == [1, 0]


def test_weights() -> None:
    assert case_weights(None, 2).tolist() == [1.0, 1.0]
    codes = np.array([0, 1, 1])
    assert class_weights(codes, np.array([2.0, 1.0, 0.5]), ("a", "b")).tolist() == [2.0, 1.5]
    with pytest.raises(InputError, match="No case of class 'a' counts"):
        class_weights(codes, np.array([0.0, 1.0, 1.0]), ("a", "b"))
    with pytest.raises(InputError, match="Negative values in sample_weight"):
        case_weights([1, -1], 2)


def test_bad_labels_and_scores_are_named() -> None:
    with pytest.raises(InputError, match="label 'c' at row 1 \\(1 such rows"):
        class_codes(["a", "c"], ("a", "b"))
    with pytest.raises(InputError, match="label None at row 0"):
        class_codes([None, "a"], ("a", "b"))
    with pytest.raises(InputError, match="shape \\(1, 2\\)"):
        class_codes([["a", "b"]], ("a", "b"))
    with pytest.raises(InputError, match="score of row 1 is NaN \\(2 such"):
        checked_scores([0.0, np.nan, np.nan], 3)
    with pytest.raises(InputError, match="12 in all"):
        class_codes([99], tuple(range(12)))
