"""State coding: what can be written comes back the same, the rest is refused with its path."""

import json
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from novum.core.errors import ModelFileError
from novum.core.files import registry
from novum.core.files.array_members import DTYPES
from novum.core.files.state_coding import StateEncoder, field_names, is_fitted_attribute
from novum.core.files.state_decoding import StateDecoder


class Color(Enum):
    RED = "red"
    GREEN = "green"


class Level(IntEnum):
    LOW = 1


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass(frozen=True)
class Box:
    content: Any
    label: str = "box"
    derived: int = field(init=False, default=7)


class Model(BaseEstimator):
    """Any estimator: one parameter, anything as state."""

    _cache: Any
    _sklearn_output_config: Any
    n_iter_: Any
    alpha_: Any

    def __init__(self, alpha: Any = 1.0, inner: Any = None) -> None:
        self.alpha = alpha
        self.inner = inner

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "Model":  # noqa: ARG002
        self.coef_ = np.asarray(X)
        return self

    @property
    def twice_(self) -> Any:
        return 2 * self.coef_

    @cached_property
    def slow_(self) -> int:
        return 5


class Rows(Model):
    _holds_training_rows = True


REGISTERED: dict[str, dict[str, type]] = {
    "estimators": {"Model": Model, "Rows": Rows},
    "values": {"Color": Color, "Level": Level, "Pair": Pair, "Box": Box},
}


def there_and_back(value: Any) -> tuple[Any, StateEncoder, Any]:
    """A value through its JSON text, with the encoder and the JSON."""
    with registry.registered(**REGISTERED):
        encoder = StateEncoder()
        node = json.loads(json.dumps(encoder.encode(value, "x"), allow_nan=False))
        decoder = StateDecoder(lambda i: encoder.arrays[i], len(encoder.arrays), 10**9)
        return decoder.decode(node, "x", 0), encoder, node


def same(a: Any, b: Any) -> bool:
    """Equal in type, structure and bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return (
            a.dtype.newbyteorder("<") == b.dtype.newbyteorder("<")
            and a.shape == b.shape
            and (
                same(a.ravel().tolist(), b.ravel().tolist())
                if a.dtype.kind in "OU"
                else a.astype(a.dtype.newbyteorder("<")).tobytes() == b.tobytes()
            )
        )
    if isinstance(a, np.str_):
        # The bytes of an empty text are not defined.
        return str(a) == str(b)
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return np.float64(a).tobytes() == np.float64(b).tobytes()
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (dict, MappingProxyType)):
        return same([*a.keys()], [*b.keys()]) and same([*a.values()], [*b.values()])
    if isinstance(a, (Model, Box)):
        return same(dict(sorted(vars(a).items())), dict(sorted(vars(b).items())))
    return bool(a == b)


texts = st.text(st.characters(), max_size=5)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**200), 2**200)
    | st.floats()
    | texts
    | st.sampled_from([Color.RED, Color.GREEN, Level.LOW])
)
numeric_arrays = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(
        dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
    )
)
numpy_scalars = st.sampled_from(DTYPES).flatmap(lambda d: hnp.arrays(d, 1)).map(lambda a: a[0])
text_arrays = st.lists(texts, max_size=4).map(lambda x: np.array(x, dtype=object)) | st.lists(
    st.text("abü", max_size=5), max_size=4
).map(lambda x: np.array(x, dtype="<U7"))
keys = st.booleans() | st.integers() | texts | st.none() | st.tuples(st.integers(), texts)
values = st.recursive(
    scalars | numeric_arrays | numpy_scalars | text_arrays | texts.map(np.str_),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
        | st.dictionaries(texts, inner, max_size=2).map(MappingProxyType)
        | st.builds(Pair, inner, inner)
        | st.builds(Box, inner)
        | st.builds(Model, inner, inner)
    ),
    max_leaves=8,
)


@settings(max_examples=200)
@given(values)
def test_everything_comes_back_the_same(value: Any) -> None:
    back, _, node = there_and_back(value)
    assert same(value, back)
    # And a second time it is written in the same way.
    assert json.dumps(there_and_back(back)[2]) == json.dumps(node)


@given(
    st.dictionaries(st.sampled_from(["coef_", "_cache", "n_iter_", "alpha_"]), values, max_size=3)
)
def test_fitted_attributes_come_back(state: dict[str, Any]) -> None:
    model = Model(alpha=(1, "two"), inner=Model(inner=Box(None)))
    vars(model).update(state)
    back = there_and_back(model)[0]
    assert type(back) is Model
    assert same(model, back)


def test_arrays_keep_order_of_memory_and_protection() -> None:
    frozen = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    frozen.flags.writeable = False
    labels = np.array(["a", "b"])
    labels.flags.writeable = False
    back = there_and_back([frozen, labels, np.array(["c"])])[0]
    assert back[0].flags.f_contiguous
    assert [array.flags.writeable for array in back] == [False, False, True]


def test_a_class_that_holds_rows_is_noticed_at_any_depth() -> None:
    assert not there_and_back(Model())[1].holds_training_rows
    assert there_and_back(Rows())[1].holds_training_rows
    assert there_and_back(Model(inner=[{"a": Rows()}]))[1].holds_training_rows


def test_cached_properties_are_computed_again() -> None:
    model = Model()
    assert model.slow_ == 5
    back, _, node = there_and_back(model)
    assert node["state"] == {}
    assert back.slow_ == 5


def test_metadata_requests_are_kept() -> None:
    with config_context(enable_metadata_routing=True):
        model = Model().set_fit_request(sample_weight=True)
    back, _, node = there_and_back(model)
    assert node["requests"] == {"fit": {"sample_weight": True}}
    assert back.get_metadata_routing().fit.requests == {"sample_weight": True}


def test_output_configuration_is_kept() -> None:
    model = Model()
    model._sklearn_output_config = {"transform": "pandas"}
    assert there_and_back(model)[0]._sklearn_output_config == {"transform": "pandas"}


# --- Refusals -------------------------------------------------------------------------------------


def cycle() -> list[Any]:
    inner: list[Any] = []
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Model(alpha=[1, {"k": object()}]), r"^Model\.alpha\[1\]\['k'\], a object, cannot"),
        (Model(inner=StandardScaler()), r"Model\.inner, a sklearn.*StandardScaler, cannot .* own"),
        (make_pipeline(Model()), r"^Model, a sklearn\.pipeline\.Pipeline, .*one by one"),
        (Model(alpha=np.random.default_rng(0)), r"Model\.alpha.*Give an integer as random_state"),
        (Model(alpha=len), r"Model\.alpha, a builtin_function_or_method,"),
        (Model(alpha=1j), r"Model\.alpha, a complex,"),
        (Model(alpha={1, 2}), r"Model\.alpha, a set,"),
        (Model(alpha=b"x"), r"Model\.alpha, a bytes,"),
        (Model(alpha=np.float16(1)), r"Model\.alpha, a numpy\.float16,"),
        (Model(alpha=np.longdouble(1)), r"Model\.alpha, a numpy\.longdouble,"),
        (Model(alpha=np.datetime64("2020")), r"Model\.alpha, a numpy\.datetime64,"),
        (Model(alpha=np.zeros(2, "f2")), r"Model\.alpha, an array of dtype float16, .*float64"),
        (Model(alpha=np.zeros(1, "f8,i4")), r"Model\.alpha, an array of dtype \[\('f0'"),
        (Model(alpha=np.zeros(1, "f8,i4")[0]), r"Model\.alpha, a numpy\.void,"),
        (Model(alpha=np.array(["a", {}], object)), r"Model\.alpha\[1\], a dict in an array"),
        (Model(alpha=np.ma.masked_array([1.0])), r"Model\.alpha, a numpy\.ma.*MaskedArray,"),
        (Model(alpha=np.ones((1, 1)).view(np.matrix)), r"Model\.alpha, a numpy\.matrix,"),
        (Model(alpha=Box(content=Box(content=Ellipsis))), r"Model\.alpha\.content\.content, a el"),
        (Model(alpha=type("Text", (str,), {})("x")), r"Model\.alpha, a .*Text, cannot"),
        (Model(alpha={(1, Ellipsis): 1}), r"Model\.alpha\.key\(\(1, Ellipsis\)\)\[1\], a ellipsis"),
        (Model(alpha=cycle()), "nested deeper than 60 levels or contains itself"),
    ],
    ids=range(21),
)
@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_what_cannot_be_written_is_named_with_its_path(value: Any, message: str) -> None:
    with registry.registered(**REGISTERED), pytest.raises(ModelFileError, match=message):
        StateEncoder().encode(value, "Model")


@pytest.mark.parametrize("name", ["fit", "twice_", "__dict__x", "ä_", "a b", "set_params"])
def test_attributes_that_would_hide_a_member_are_refused(name: str) -> None:
    model = Model()
    vars(model)[name] = 1
    assert not is_fitted_attribute(Model, name)
    with (
        registry.registered(**REGISTERED),
        pytest.raises(ModelFileError, match="no such attribute"),
    ):
        StateEncoder().encode(model, "Model")


def test_unregistered_classes_are_refused() -> None:
    with pytest.raises(ModelFileError, match=r"x, a .*Box, cannot be written"):
        StateEncoder().encode(Box(1), "x")


def test_only_fields_of_the_constructor_are_written() -> None:
    assert field_names(Box) == ("content", "label")
    assert field_names(Pair) == ("left", "right")
    with pytest.raises(ModelFileError, match="object is registered as a value but is no dataclass"):
        field_names(object)


class Ring:
    """A value that is no dataclass and says what it is made from."""

    _saved_fields = ("size", "first")

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    @property
    def size(self) -> int:
        return len(self.items)

    @property
    def first(self) -> Any:
        return self.items[0]

    @classmethod
    def _from_saved(cls, size: int, first: Any) -> "Ring":
        if size > 3:
            raise ValueError("too long")
        return cls([first] * size)


def test_a_class_may_say_what_it_is_made_from() -> None:
    assert field_names(Ring) == ("size", "first")
    with registry.registered(values={"Ring": Ring}):
        encoder = StateEncoder()
        node = encoder.encode(Ring(["x", "x"]), "ring")
        assert StateDecoder(encoder.arrays.__getitem__, 0, 0).decode_model(node).items == ["x", "x"]
        node["fields"]["size"] = 4
        with pytest.raises(ModelFileError, match="model is not in order: too long"):
            StateDecoder(encoder.arrays.__getitem__, 0, 0).decode_model(node)


def test_a_splitter_is_refused_with_what_to_give_instead() -> None:
    with pytest.raises(ModelFileError, match=r"x\.alpha, a sklearn.*KFold.*set_params\(cv=5\)"):
        there_and_back(Model(alpha=KFold(5)))
