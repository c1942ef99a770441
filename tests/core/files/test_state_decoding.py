"""State decoding: nodes an enemy would write, each refused for its own reason."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from novum.core.errors import ModelFileError
from novum.core.files import registry
from novum.core.files.state_coding import is_as_declared
from novum.core.files.state_decoding import StateDecoder
from novum.numerics import Positions


class Color(Enum):
    RED = "red"


@dataclass(frozen=True)
class Share:
    part: "float"
    whole: "float" = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.part <= self.whole:
            raise ValueError(f"a part of {self.part!r} is impossible")


class Table(Mapping[str, Any]):
    def __init__(self, items: dict[str, Any]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Any:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


class Chain(BaseEstimator):
    """Children by index, as real trees have them; kernels would follow them without a check."""

    _holds_training_rows = False
    default_ = None
    share_: "float | None"
    rows_: "Positions"

    def __init__(self, depth: int = 2) -> None:
        self.depth = depth

    def fit(self, X: Any, y: Any = None) -> "Chain":  # noqa: ARG002
        return self

    def predict(self, X: Any) -> Any:
        return X

    @property
    def n_nodes_(self) -> int:
        return len(self.children_)

    def _check_state(self) -> None:
        nodes = np.arange(len(self.children_))
        # Children stand behind their parents, which also rules out cycles.
        if not (
            (self.children_ > nodes) & (self.children_ < len(nodes)) | (nodes == self.leaf_)
        ).all():
            raise ValueError("a child is out of range or before its parent")


REGISTERED: dict[str, dict[str, type]] = {
    "estimators": {"Chain": Chain},
    "values": {"Color": Color, "Share": Share, "Table": Table},
}
ARRAYS = [np.array([1, 2, 2]), np.array([0.5])]


def decode(node: Any, text_bytes: int = 1000) -> Any:
    with registry.registered(**REGISTERED):
        return StateDecoder(ARRAYS.__getitem__, len(ARRAYS), text_bytes).decode(node, "model", 0)


def tree(**changes: Any) -> dict[str, Any]:
    good = {
        "kind": "estimator",
        "name": "Chain",
        "params": {"depth": 3},
        "state": {"children_": {"kind": "array", "index": 0}, "leaf_": 2},
        "requests": {},
    }
    return {**good, **changes}


def value(**fields: Any) -> dict[str, Any]:
    return {"kind": "value", "name": "Share", "fields": fields}


def labels(**changes: Any) -> dict[str, Any]:
    good = {"kind": "labels", "dtype": "<U2", "shape": [2], "items": ["a", "b"], "writeable": True}
    return {**good, **changes}


def test_the_good_nodes_are_good() -> None:
    model = decode(tree())
    assert isinstance(model, Chain)
    assert (model.depth, model.leaf_, model.n_nodes_) == (3, 2, 3)
    assert decode(value(part=0.5)) == Share(0.5)
    assert decode(labels()).tolist() == ["a", "b"]
    table = {"kind": "mapping", "name": "Table", "items": [["a", 1]]}
    assert dict(decode(table)) == {"a": 1}
    assert decode({"kind": "enum", "name": "Color", "member": "RED"}) is Color.RED


def test_an_estimator_without_state_is_not_checked() -> None:
    assert decode(tree(state={})).depth == 3


@pytest.mark.parametrize(
    ("node", "message"),
    [
        # kinds
        ({"a": 1}, "has no kind"),
        ({"kind": 3}, "has no kind"),
        ({"kind": "pickle"}, "unknown kind 'pickle'"),
        ({"kind": "tuple"}, "of kind tuple needs exactly items"),
        ({"kind": "tuple", "items": [], "more": 1}, "needs exactly items"),
        ({"kind": "tuple", "items": {}}, "no list of items"),
        # numbers
        ({"kind": "int", "hex": "12"}, "malformed entry '12'"),
        ({"kind": "int", "hex": 12}, "malformed entry 12"),
        ({"kind": "float", "bits": "00"}, "not a float of 64 bits"),
        ({"kind": "float", "bits": "zz"}, "malformed"),
        ({"kind": "scalar", "dtype": "|O", "bytes": "0" * 16}, "not a NumPy number"),
        ({"kind": "scalar", "dtype": ["<f8"], "bytes": "0" * 16}, "not a NumPy number"),
        ({"kind": "scalar", "dtype": "<f8", "bytes": "00"}, "not a NumPy number"),
        ({"kind": "scalar", "dtype": "|b1", "bytes": "02"}, "truth value"),
        ({"kind": "text", "text": 5}, "is no text"),
        # arrays
        ({"kind": "array", "index": 2}, "not in the file or used elsewhere"),
        ({"kind": "array", "index": -1}, "not in the file"),
        ({"kind": "array", "index": True}, "not in the file"),
        ({"kind": "array", "index": [0]}, "not in the file"),
        ([{"kind": "array", "index": 0}] * 2, r"model\[1\] refers .* used elsewhere"),
        (labels(dtype="|O"), "malformed entry"),
        (labels(dtype="<U1000000000000"), "malformed entry"),
        (labels(dtype="<U9999"), "more memory as text than the size"),
        (labels(dtype="<U2", items=["abc", "b"]), "up to 2 characters"),
        (labels(items=["a", 1]), "up to 2 characters"),
        (labels(shape=[10**15]), "states 2 bytes, but its shape"),
        (labels(shape=[-2]), "integers of at least 0"),
        (labels(shape="2"), "is no array of labels"),
        (labels(items="ab"), "is no array of labels"),
        (labels(dtype="object", items=["a", ["b"]]), "labels that are no text or numbers"),
        (labels(dtype="object", items=["a", {"kind": "array", "index": 0}]), "no text or numbers"),
        (labels(writeable=1), "whether it may be written"),
        # dicts
        ({"kind": "dict", "items": [[1, 2], [1, 3]]}, "has a key twice"),
        ({"kind": "dict", "items": [[1]]}, "no pairs"),
        ({"kind": "dict", "items": {"a": 1}}, "no pairs"),
        ({"kind": "dict", "items": [[[], 1]]}, "cannot be a key"),
        # registered classes
        ({"kind": "enum", "name": "Color", "member": "__class__"}, "no member of Color"),
        ({"kind": "enum", "name": "Color", "member": ["RED"]}, "no member of Color"),
        ({"kind": "enum", "name": "Share", "member": "part"}, "no member of Share"),
        ({"kind": "enum", "name": "os.system", "member": "x"}, "'os.system' is not a value"),
        ({"kind": "mapping", "name": "Share", "items": []}, "treats Share as a mapping"),
        ({"kind": "value", "name": "Chain", "fields": {}}, "'Chain' is not a value"),
        ({"kind": "value", "name": "Color", "fields": {}}, "no dataclass"),
        ({"kind": "value", "name": {}, "fields": {}}, "is not a value"),
        (value(), "is not in order: .*missing 1 required"),
        (value(part=2.0), "is not in order: a part of 2.0 is impossible"),
        (value(part="x"), "part to a value of another type: str"),
        (value(part=0.5, __class__=1), "sets '__class__', which Share does not have"),
        (value(part=0.5, __post_init__=None), "sets '__post_init__', which Share"),
        (tree(name="builtins.eval"), "'builtins.eval' is not an estimator"),
        (tree(name="Share"), "'Share' is not an estimator"),
        (tree(name="Тree"), r"'\\u0422ree' is not an estimator"),
        (tree(params={"width": 1}), "sets 'width', which Chain does not have"),
        (tree(params=[]), "has no named parts"),
        (tree(state=[]), "has no fitted attributes"),
        (tree(state={"predict": 1}), "sets 'predict', which is no fitted attribute"),
        (tree(state={"backdoor": 1}), "sets 'backdoor', which is no fitted attribute"),
        (tree(state={"backdoor_": 1}), "sets 'backdoor_', which is no fitted attribute"),
        (tree(state={"_backdoor": 1}), "sets '_backdoor', which is no fitted attribute"),
        (
            tree(state={"_holds_training_rows": 7}),
            "_holds_training_rows to a value of another type: int",
        ),
        (tree(state={"share_": "half"}), "share_ to a value of another type: str"),
        (tree(state={"share_": True}), "share_ to a value of another type: bool"),
        (tree(state={"rows_": [0]}), "rows_ to a value of another type: list"),
        (tree(state={"n_features_in_": 0.5}), "n_features_in_ to a value of another type: float"),
        (tree(state={"_check_state": None}), "sets '_check_state'"),
        (tree(state={"__class__": 1}), "sets '__class__'"),
        (tree(state={"__dict__": {}}), "sets '__dict__'"),
        (tree(state={"n_nodes_": 1}), "sets 'n_nodes_'"),
        (tree(state={"depth": 1}), "sets 'depth'"),
        (tree(state={"a.b": 1}), "sets 'a.b'"),
        (tree(requests={"__init__": {}}), "unknown method"),
        (tree(requests=[]), "unknown method"),
        (tree(requests={"transform": {"x": True}}), "takes none"),
        (tree(requests={"predict": {"x": True}}), "takes none|not in order"),
        (tree(state={"leaf_": 2}), "is not in order"),
    ],
)
def test_hostile_nodes_are_refused(node: Any, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        decode(node)


@pytest.mark.parametrize(
    "children",
    [[1, 9, 2], [1, -5, 2], [1, 0, 2], [0, 2, 2]],
    ids=["beyond", "negative", "back", "self"],
)
def test_indices_out_of_range_and_cycles_fail_the_check_of_state(
    children: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ARRAYS", [np.array(children)])
    with pytest.raises(ModelFileError, match="model is not in order: a child is out of range"):
        decode(tree())


def test_class_defaults_may_be_replaced() -> None:
    state = {**tree()["state"], "default_": 1, "_holds_training_rows": True}
    assert decode(tree(state=state)).default_ == 1


@pytest.mark.parametrize(
    ("kind", "fits"), [(np.int64, True), (np.int32, True), (float, False), (complex, False)]
)
def test_arrays_are_of_the_declared_kind(kind: Any, fits: bool) -> None:
    assert is_as_declared(Chain, "rows_", np.zeros(2, kind)) == fits


def test_nesting_is_bounded() -> None:
    node: Any = 1
    for _ in range(70):
        node = [node]
    with pytest.raises(ModelFileError, match="nested deeper than 60"):
        decode(node)


def test_text_arrays_share_one_account() -> None:
    # Each takes 4 * 60 * 2 = 480 bytes of 1000.
    assert len(decode([labels(dtype="<U60")] * 2)) == 2
    with pytest.raises(ModelFileError, match="more memory as text"):
        decode([labels(dtype="<U60")] * 3)


@pytest.mark.parametrize("root", [None, [], 3, {"kind": "tuple", "items": []}, {"kind": "array"}])
def test_the_root_is_a_model(root: Any) -> None:
    with pytest.raises(ModelFileError, match="describes no estimator"):
        StateDecoder(ARRAYS.__getitem__, 0, 0).decode_model(root)


def test_arrays_that_belong_to_nothing_are_refused() -> None:
    with (
        registry.registered(**REGISTERED),
        pytest.raises(ModelFileError, match="1 arrays of the file belong to no part"),
    ):
        StateDecoder(ARRAYS.__getitem__, 2, 0).decode_model(tree())


def test_faults_of_nested_parts_have_their_path() -> None:
    node = tree(params={"depth": {"kind": "tuple", "items": [1, value(part=3)]}})
    with pytest.raises(ModelFileError, match=r"The file's model\.depth\[1\] is not in order"):
        decode(node)
