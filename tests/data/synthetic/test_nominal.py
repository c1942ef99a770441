"""Nominal classes: the error by plain enumeration, and by simulation."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from novum.core.errors import InputError
from novum.data.synthetic.nominal import NominalClasses

TABLES = [
    [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]],
    [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.0, 0.6, 0.4]],
    [[0.3, 0.7], [0.6, 0.4], [1.0, 0.0]],
]
LAW = NominalClasses(TABLES, [0.5, 0.3, 0.2])


def enumerated(missing: float) -> float:
    """Term by term over configurations, None standing for a missing cell."""
    correct = 0.0
    for x in product(*([*range(len(table[0])), None] for table in TABLES)):
        joint = []
        for c, prior in enumerate([0.5, 0.3, 0.2]):
            p = prior
            for table, level in zip(TABLES, x, strict=True):
                p *= missing if level is None else (1 - missing) * table[c][level]
            joint.append(p)
        correct += max(joint)
    return 1 - correct


@pytest.mark.parametrize("missing", [0.0, 0.25, 0.9])
def test_the_error_is_the_enumeration(missing: float) -> None:
    assert LAW.error(missing) == pytest.approx(enumerated(missing), rel=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_simulation_meets_the_stated_error(missing: float) -> None:
    sample = LAW.sample(20_000, random_state=3, missing=missing)
    wrong = np.mean(sample.bayes_predict(sample.X) != sample.y)
    spread = np.sqrt(sample.bayes_error * (1 - sample.bayes_error) / 20_000)
    assert abs(wrong - sample.bayes_error) < 4 * spread
    nulls = sum(column.null_count for column in sample.X.columns)
    assert abs(nulls / 60_000 - missing) <= 4 * np.sqrt(missing * (1 - missing) / 60_000)


def test_frequencies_are_those_of_the_law() -> None:
    sample = LAW.sample(20_000, random_state=4)
    cells = np.array(sample.X.column("x1").to_pylist())
    for c in range(3):
        rows = cells[sample.y == c]
        for level, p in zip("abc", TABLES[1][c], strict=True):
            assert abs(np.mean(rows == level) - p) <= 4 * np.sqrt(p * (1 - p) / len(rows))


def test_columns_are_nominal_and_seeds_decide() -> None:
    a, b = (LAW.sample(20, random_state=1).X for _ in range(2))
    assert a.equals(b)
    assert pa.types.is_dictionary(a.schema.field("x0").type)


def test_refusals() -> None:
    with pytest.raises(InputError, match="Table 1 needs 2 rows"):
        NominalClasses([[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.6], [0.5, 0.5]]])
    with pytest.raises(InputError, match=r"shape \(classes, levels\)"):
        NominalClasses([])
    wide = NominalClasses([[[0.5, 0.5], [0.4, 0.6]]] * 40)
    with pytest.raises(InputError, match="1,099,511,627,776 configurations"):
        wide.error()
    with pytest.raises(InputError, match="'q' is no level"):
        LAW.bayes_predict(pa.table({"x0": ["q"], "x1": ["a"], "x2": ["a"]}))
