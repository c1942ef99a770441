"""Model files: round trips, attacks, mutations, and crashes in the middle of saving."""

import contextlib
import gzip
import hashlib
import io
import json
import os
import pickle
import random
import subprocess
import sys
import textwrap
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import joblib
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.linear_model import LinearRegression as SklearnLinearRegression

from novum.core.decisions import WorkingPoint
from novum.core.errors import ModelFileError
from novum.core.files import describe, load, registry, save
from novum.core.learners import Certificate, Verdict
from novum.core.tables import Schema
from novum.linear import LinearRegression, Ridge, RidgeCV
from tests.core.saved_learners import Mean, Neighbors, X, fitted


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    with registry.registered(estimators={"Mean": Mean, "Neighbors": Neighbors}):
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.novum"


# --- Round trips ----------------------------------------------------------------------------------


def test_a_fitted_model_comes_back(path: Path) -> None:
    model = fitted(shrinkage=0.1, point=WorkingPoint.uniform("ab"), base=fitted())
    save(model, path)
    back = load(path)
    assert type(back) is Mean
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert back.point == model.point
    assert back.certificate_ == model.certificate_
    assert back.schema_ == model.schema_
    assert type(back.mean_) is np.float64
    assert back.scatter_.flags.f_contiguous
    assert back.feature_names_in_.dtype == object
    assert type(back.base) is Mean


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(2.0), RidgeCV([0.1, 1.0])], ids=repr)
def test_a_model_of_text_and_truth_values_goes_on_where_it_was(path: Path, model: Any) -> None:
    table = pa.table(
        {
            "city": ["Ulm", "Bonn", "Ulm", "Köln", "Bonn", "Ulm", "Köln", "Bonn"],
            "new": [True, False, False, True, True, False, True, False],
            "size": [1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 1.5, 3.0],
        }
    )
    y = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0])
    fitted = clone(model).fit(table, y)
    save(fitted, path)
    found = load(path)
    assert vars(found).keys() == vars(fitted).keys()
    assert found.schema_ == fitted.schema_
    assert found.schema_.columns[1].levels == (False, True)
    assert found.certificate_ == fitted.certificate_
    if not isinstance(model, RidgeCV):
        for step in ("partial_fit", "forget"):
            for one in (fitted, found):
                getattr(one, step)(table.slice(0, 2), y[:2])
    np.testing.assert_array_equal(found.coef_, fitted.coef_)
    np.testing.assert_array_equal(found.predict(table), fitted.predict(table))


def test_a_second_save_has_the_same_bytes(path: Path) -> None:
    save(fitted(base=fitted(), point=WorkingPoint.binary(prior=0.1, cost_fn=3, cost_fp=1)), path)
    first = path.read_bytes()
    save(load(path), path)
    assert path.read_bytes() == first


@given(
    st.floats(),
    hnp.arrays("<f8", hnp.array_shapes(max_dims=2, min_side=0)),
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=4),
)
def test_write_read_write_is_byte_identical(
    tmp_path_factory: pytest.TempPathFactory, alpha: float, array: np.ndarray, names: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("m") / "model.novum"
    model = Mean(shrinkage=alpha)
    model.coef_, model.names_, model.n_features_in_ = array.ravel(), names, array.size
    save(model, path)
    first, back = path.read_bytes(), load(path)
    save(back, path)
    assert path.read_bytes() == first
    assert back.coef_.tobytes() == model.coef_.tobytes()
    assert back.names_ == names


def test_an_unfitted_model_comes_back_unfitted(path: Path) -> None:
    save(Mean(shrinkage=3), path)
    assert vars(load(path)) == {"shrinkage": 3, "point": None, "base": None}


def test_a_new_parameter_gets_its_default_in_an_old_file(path: Path) -> None:
    save(Mean(shrinkage=3), path)
    rewrite(path, lambda manifest: manifest["model"]["params"].pop("base"))
    assert load(path).base is None


def test_values_alone_can_be_saved(path: Path) -> None:
    point = WorkingPoint.binary(prior=0.1, cost_fn=3, cost_fp=1)
    save(point, path)
    assert load(path) == point


def test_the_file_describes_itself(path: Path) -> None:
    save(Mean(base=Neighbors(shrinkage=2)), path)
    assert describe(path)["holds_training_rows"] is True
    save(fitted(shrinkage=0.5), path)
    description = describe(path)
    assert description["holds_training_rows"] is False
    assert description["estimator"] == "Mean"
    assert description["params"] == {"base": None, "point": None, "shrinkage": 0.5}
    assert description["array_bytes"] == 16 + 32
    assert description["format_version"] == 1


def test_pickle_and_joblib_keep_working(tmp_path: Path) -> None:
    model = fitted()
    joblib.dump(model, tmp_path / "m.joblib")
    for back in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "m.joblib")):
        np.testing.assert_array_equal(back.predict(X), model.predict(X))


# --- Refusals on saving ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model", "model.pkl", "model.novum.gz"])
def test_another_suffix_is_refused_with_the_right_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelFileError, match=r"end in '\.novum': write to '.*\.novum' instead of"):
        save(Mean(), tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_foreign_estimators_are_refused_by_name_and_nothing_is_written(path: Path) -> None:
    path.write_bytes(b"old")
    with pytest.raises(ModelFileError, match=r"Mean\.base, a sklearn.*LinearRegression, cannot be"):
        save(Mean(base=SklearnLinearRegression()), path)
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == ["model.novum"]


@pytest.mark.parametrize("thing", [3, "text", [1], np.zeros(2), Verdict.PROVED])
def test_what_is_no_model_is_refused(path: Path, thing: Any) -> None:
    with pytest.raises(ModelFileError, match="is no estimator; model files hold"):
        save(thing, path)


# --- Attacks --------------------------------------------------------------------------------------


class Bomb:
    """Runs a command when it is unpickled."""

    def __init__(self, sign: Path) -> None:
        self.sign = sign

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.system, (f"touch {self.sign}",))


def rewrite(path: Path, edit: Any) -> None:
    """Change the manifest as an enemy would: with a right checksum."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(contents["manifest.json"])
    del manifest["sha256"]
    edit(manifest)
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    contents["manifest.json"] = f'{text[:-1]},"sha256":"{digest}"}}'.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


def object_npz(bomb: Bomb) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, a=np.array([bomb], dtype=object))
    return buffer.getvalue()


def object_member(bomb: Bomb) -> bytes:
    """Our own format with an array of objects inside."""
    member, buffer = io.BytesIO(), io.BytesIO()
    np.save(member, np.array([bomb], dtype=object))
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("manifest.json", "{}")
        archive.writestr("arrays/00000.npy", member.getvalue())
    return buffer.getvalue()


def joblib_bytes(bomb: Bomb) -> bytes:
    buffer = io.BytesIO()
    joblib.dump(bomb, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "make",
    [
        pickle.dumps,
        lambda bomb: pickle.dumps(bomb, protocol=0),
        lambda bomb: gzip.compress(pickle.dumps(bomb)),
        lambda bomb: zlib.compress(pickle.dumps(bomb)),
        cloudpickle.dumps,
        joblib_bytes,
        object_npz,
        object_member,
    ],
    ids=["pickle", "pickle 0", "gzip", "zlib", "cloudpickle", "joblib", "npz", "member"],
)
def test_pickles_in_disguise_do_nothing(path: Path, make: Any) -> None:
    sign = path.with_name("executed")
    path.write_bytes(make(Bomb(sign)))
    with pytest.raises(ModelFileError, match=r"model\.novum: "):
        load(path)
    assert not sign.exists()


@pytest.mark.parametrize(
    "name", ["os.system", "builtins.eval", "sklearn.linear_model.Ridge", "Меan", "", None, ["Mean"]]
)
def test_estimator_names_outside_the_registry_are_refused(path: Path, name: Any) -> None:
    save(fitted(), path)

    def edit(manifest: dict[str, Any]) -> None:
        manifest["estimator"] = manifest["model"]["name"] = name

    rewrite(path, edit)
    modules = set(sys.modules)
    with pytest.raises(ModelFileError, match="is not an estimator in Novum's registry"):
        load(path)
    assert set(sys.modules) == modules


def test_the_name_in_front_must_be_that_of_the_model(path: Path) -> None:
    save(fitted(), path)
    rewrite(path, lambda manifest: manifest.update(estimator="Neighbors"))
    with pytest.raises(ModelFileError, match="names another estimator than it describes"):
        load(path)


@pytest.mark.parametrize(
    "edit",
    [
        lambda manifest: manifest.pop("holds_training_rows"),
        lambda manifest: manifest.update(holds_training_rows="no"),
        lambda manifest: manifest.update(more=1),
        lambda manifest: manifest.pop("estimator"),
    ],
)
def test_statements_are_complete(path: Path, edit: Any) -> None:
    save(fitted(), path)
    rewrite(path, edit)
    for read in (load, describe):
        with pytest.raises(ModelFileError, match="The manifest is not made of estimator, format"):
            read(path)


def test_a_state_that_does_not_fit_is_refused(path: Path) -> None:
    save(fitted(), path)
    rewrite(path, lambda manifest: manifest["model"]["state"].update(n_features_in_=3))
    with pytest.raises(ModelFileError, match=r"model is not in order: coef_ has shape \(2,\)"):
        load(path)


def test_values_run_their_own_checks(path: Path) -> None:
    save(Mean(point=WorkingPoint.uniform("ab")), path)

    def edit(manifest: dict[str, Any]) -> None:
        manifest["model"]["params"]["point"]["fields"]["classes"]["items"] = ["a", "a"]

    rewrite(path, edit)
    with pytest.raises(ModelFileError, match=r"model\.point is not in order: classes must differ"):
        load(path)


def test_an_unknown_format_names_the_release_it_needs(path: Path) -> None:
    save(fitted(), path)
    rewrite(path, lambda manifest: manifest.update(format_version=9, needs="4.0"))
    with pytest.raises(ModelFileError, match=r"model\.novum: .* needs novum 4\.0 or later"):
        load(path)


def test_the_memory_limit_holds(path: Path) -> None:
    model = Mean()
    model.big_ = np.zeros(10**6)
    save(model, path)
    with pytest.raises(ModelFileError, match=r"8\.0 MB of memory, more than the limit of 2\.0 MB"):
        load(path, memory_limit="2MB")


def test_a_file_that_is_not_there_is_just_that(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.novum")


# --- Mutations ------------------------------------------------------------------------------------

_watched: list[str] = []
_watching = False
_FORBIDDEN = {"exec", "compile", "os.system", "os.exec", "subprocess.Popen", "pickle.find_class"}


def _audit(event: str, _: Any) -> None:
    if _watching and event in _FORBIDDEN:
        _watched.append(event)


sys.addaudithook(_audit)


@contextlib.contextmanager
def nothing_runs() -> Iterator[None]:
    """Python's own audit events show whether code was compiled, run or unpickled."""
    global _watching
    _watched.clear()
    _watching = True
    try:
        yield
    finally:
        _watching = False
    assert _watched == []


def mutated(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        kind, position = rng.randrange(6), rng.randrange(len(changed))
        length = rng.randrange(1, 64)
        if kind == 0:
            changed[position] ^= 1 << rng.randrange(8)
        elif kind == 1:
            changed[position] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, ord("PK"[0])])
        elif kind == 2:
            del changed[position : position + length]
        elif kind == 3:
            changed[position:position] = changed[rng.randrange(len(changed)) :][:length]
        elif kind == 4:
            changed[position : position + 4] = rng.randbytes(4)
        else:
            del changed[position:]
        if not changed:
            break
    return bytes(changed)


def test_mutated_files_load_unchanged_or_are_refused(path: Path) -> None:
    model = fitted(shrinkage=0.25, point=WorkingPoint.uniform("ab"), base=Mean())
    save(model, path)
    data = path.read_bytes()
    load(path)
    rng, refused = random.Random(1), 0
    for _ in range(3000):
        path.write_bytes(mutated(data, rng))
        with nothing_runs():
            try:
                back = load(path)
            except ModelFileError:
                refused += 1
                continue
        # What is not covered by a checksum (times, modes) must not matter.
        np.testing.assert_array_equal(back.predict(X), model.predict(X))
        assert back.get_params(deep=False).keys() == model.get_params(deep=False).keys()
        assert back.shrinkage == 0.25
    assert 2500 < refused < 3000


JUNK = [None, True, -1, 2**63, 1e308, "", "Mean", "__class__", [], {}, [[]], {"kind": "array"}]


def scramble(node: Any, rng: random.Random) -> Any:
    """Replace, remove or exchange one random part of a JSON tree."""
    if isinstance(node, (dict, list)) and node and rng.random() < 0.9:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = rng.choice(keys)
        if rng.random() < 0.1:
            del node[key]
        elif rng.random() < 0.1:
            node[key] = node[rng.choice(keys)]
        else:
            node[key] = scramble(node[key], rng)
        return node
    return rng.choice(JUNK)


@pytest.mark.slow
def test_scrambled_manifests_with_right_checksums_are_refused_or_make_a_model(path: Path) -> None:
    save(fitted(point=WorkingPoint.uniform("ab"), base=Mean(shrinkage=float("nan"))), path)
    data = path.read_bytes()
    rng, refused = random.Random(2), 0
    for _ in range(1000):
        path.write_bytes(data)
        rewrite(path, lambda manifest: scramble(manifest, rng))
        with nothing_runs():
            try:
                assert type(load(path)) in (Mean, WorkingPoint, Certificate, Schema)
            except ModelFileError:
                refused += 1
    assert 500 < refused < 1000


# --- Crashes --------------------------------------------------------------------------------------

KILLS = """
import os, random, signal, sys, time
import numpy as np
from novum.core.files.persistence import load, save
from novum.core.decisions.working_point import WorkingPoint

path, n_kills = sys.argv[1], int(sys.argv[2])
K = 150
def point(number):
    return WorkingPoint(range(K), np.full(K, 1 / K), np.full((K, K), float(number)))

save(point(0), path)
rng = random.Random(3)
last = changed = 0
for kill in range(n_kills):
    child = os.fork()
    if child == 0:
        number = last
        while True:
            number += 1
            save(point(number), path)
    time.sleep(rng.uniform(0.0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    cost = load(path).cost
    assert (cost == cost[0, 0]).all() and cost[0, 0] >= last
    changed += cost[0, 0] > last
    last = int(cost[0, 0])
print(n_kills, changed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_save_leaves_a_whole_file(path: Path) -> None:
    script = textwrap.dedent(KILLS)
    command = [sys.executable, "-c", script, str(path), "25"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    kills, changed = map(int, result.stdout.split())
    # Some children must have got through a save, or nothing was tested.
    assert kills == 25
    assert changed > 4


@pytest.mark.parametrize("step", ["fsync", "replace", "write"])
def test_a_failing_disk_leaves_the_old_model(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    save(Mean(shrinkage=1), path)

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(*((zipfile.ZipFile, "open") if step == "write" else (os, step)), fail)
        with pytest.raises(OSError, match="No space left"):
            save(Mean(shrinkage=2), path)
    assert load(path).shrinkage == 1
    assert os.listdir(path.parent) == ["model.novum"]
