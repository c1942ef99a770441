"""Models of several targets as one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from novum.bayes import GaussianNB
from novum.core import load, save
from novum.core.errors import InputError
from novum.ensemble import TargetModels
from novum.linear import LinearRegression


def both() -> tuple[TargetModels, pa.Table]:
    X = pa.table({"x": [0.0, 1.0, 2.0, 3.0]})
    numbers = LinearRegression().fit(X, [0.0, 2.0, 4.0, 6.0])
    classes = GaussianNB().fit(X, ["low", "low", "high", "high"])
    return TargetModels(["n", "c"], [numbers, classes]), X


def test_every_target_is_answered_by_its_own_model(tmp_path: Path) -> None:
    models, X = both()
    save(models, tmp_path / "m.novum")
    for one in (models, load(tmp_path / "m.novum")):
        found = one.predict(X)
        assert found.column_names == ["n", "c"]
        assert np.allclose(found["n"].to_numpy(), [0, 2, 4, 6])
        assert found["c"].to_pylist() == ["low", "low", "high", "high"]
        assert list(one.predict_proba(X)) == ["c"]
        assert one["c"].predict(X).tolist() == found["c"].to_pylist()


def test_answers_come_in_the_library_of_the_rows() -> None:
    models, X = both()
    assert isinstance(models.predict(X.to_pandas()), pd.DataFrame)


def test_misuse_is_told() -> None:
    models, _ = both()
    with pytest.raises(InputError, match="There is no target 'z'; there are 'n', 'c'"):
        _ = models["z"]
    with pytest.raises(InputError, match="one name and one model"):
        TargetModels(["a", "a"], models.models)
