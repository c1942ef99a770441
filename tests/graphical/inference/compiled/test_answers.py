"""Answers: tables of what is left among zeros, and ones at what is known."""

from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.answers_kernels import spread
from novum.graphical.inference.compiled.layout import HEADER, LOCAL_AT, N_LOCAL


def test_answers_stand_at_their_states() -> None:
    # Three variables of 3, 2 and 3 states; the first has two left, the last is known.
    code = np.zeros(HEADER + 2, np.int64)
    code[LOCAL_AT], code[N_LOCAL] = HEADER, 2
    code[HEADER:] = [0, 1]
    states = np.array([0, 2, -9, 0, 1, 1, -9, -9])
    found = np.full(8, np.nan)
    spread(
        code, np.array([0.3, 0.7, 0.4, 0.6]), np.array([-1, -1, 0]), np.array([0, 3, 5]),
        np.array([2, 2, 1]), states, found,
    )  # fmt: skip
    assert found.tolist() == [0.3, 0.0, 0.7, 0.4, 0.6, 0.0, 1.0, 0.0]
