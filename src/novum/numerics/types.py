"""The types of arrays, by what they hold; every module takes them from here.

A name says the number type and nothing of the shape, which docstrings state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Positions = NDArray[np.intp]  # indices of rows, columns or nodes
Codes = NDArray[np.int32]  # levels of categorical columns, classes, bins
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
