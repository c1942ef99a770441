"""The transcriptions themselves, by numbers that can be checked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.evaluation.selection import definitions


def test_by_hand() -> None:
    assert definitions.anova_f([[1, 2, 3], [4, 5, 6]]) == pytest.approx(13.5)
    assert definitions.mutual_information("aabb", "xxyy") == pytest.approx(math.log(2))
    assert definitions.mutual_information("abab", "xxyy") == pytest.approx(0)
    assert definitions.holm_rejects([0.01, 0.04, 0.03], 0.05) == [True, False, False]
    assert definitions.hochberg_rejects([0.01, 0.04, 0.03], 0.05) == [True, True, True]
    assert definitions.stability([[1, 1, 0, 0], [1, 0, 1, 0]]) == pytest.approx(0)
    # A row at 0 with others at 1 and 3; at 1 with 1 and 2; at 3 with 2 and 3: median of 2, 1, 0.5.
    assert definitions.relative_contrast(np.array([[0.0], [1.0], [3.0]])) == pytest.approx(1)


def test_groups_far_apart_tell_all() -> None:
    x = [0.0, 0.1, 0.25, 0.45, 100.0, 100.1, 100.25, 100.45]
    # psi(8) - psi(4): the estimate of log 2 for eight rows in two groups of four.
    found = definitions.information_of_groups(x, [0] * 4 + [1] * 4, 1)
    assert found == pytest.approx(1 / 4 + 1 / 5 + 1 / 6 + 1 / 7)
