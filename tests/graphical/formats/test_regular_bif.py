"""The quick way through regular BIF files agrees with the careful one, or steps aside."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.graphical.formats.bif import _Reader, written
from novum.graphical.formats.regular_bif import regular_draft
from novum.graphical.models.bayesian_network import BayesianNetwork
from tests.strategies.network_files import damaged, networks

BUNDLED = Path(__file__).parents[3] / "benchmarks" / "data"


def careful(text: str) -> object:
    """What the reader by tokens says: a draft or None."""
    try:
        return _Reader(text, "x").draft()
    except InputError:
        return None


def assert_same(text: str) -> None:
    """Where a quick way decides, it decides as the careful one."""
    slow = careful(text)
    quick = regular_draft(text, "x")
    if quick is None:
        return
    assert slow is not None
    assert quick.axes == slow.axes
    assert quick.parents == slow.parents
    np.testing.assert_array_equal(quick.cells, slow.cells)


@pytest.mark.parametrize("name", ["asia", "child", "alarm", "andes"])
def test_published_files_are_regular(name: str) -> None:
    text = gzip.decompress((BUNDLED / f"{name}.bif.gz").read_bytes()).decode()
    assert regular_draft(text, "x") is not None
    assert_same(text)


@given(networks(st.from_regex("[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)))
def test_what_this_library_writes_is_read_alike(network: BayesianNetwork) -> None:
    assert_same(written(network, "x"))


VALID = """network unknown {
}
variable a {
  type discrete [ 2 ] { x/y, <5 };
  property position = (1, 2);
}
variable b { // a comment
  type discrete [ 3 ] { u, v, w };
}
probability ( a ) {
  table 0.25, 7.5e-1;
}
probability ( b | a ) {
  (<5) 0.1, 0.30000000000000004, 0.6;
  (x/y) 1.0, 0.0, 0.0;
}
"""


def test_comments_properties_and_any_order_of_rows_are_regular() -> None:
    draft = regular_draft(VALID, "x")
    assert draft is not None
    assert draft.cells.tolist() == [0.25, 0.75, 1, 0, 0, 0.1, 0.30000000000000004, 0.6]


@settings(max_examples=500)
@given(damaged(VALID))
def test_damaged_files_are_never_read_differently(data: bytes) -> None:
    assert_same(data.decode())


@given(
    st.lists(
        st.one_of(
            st.floats(0, 1).map(repr),
            st.from_regex(r"[0-9]{0,25}\.[0-9]{1,25}([eE][+-]?[0-9]{1,3})?", fullmatch=True),
        ),
        min_size=2,
        max_size=5,
        unique=True,
    )
)
def test_every_number_is_the_float_nearest_to_its_text(numbers: list[str]) -> None:
    labels = ", ".join(f"s{i}" for i in range(len(numbers)))
    text = (
        f"variable a {{ type discrete [ {len(numbers)} ] {{ {labels} }}; }}"
        f"probability ( a ) {{ table {', '.join(numbers)}; }}"
    )
    draft = regular_draft(text, "x")
    assert draft is not None
    assert draft.cells.tolist() == [float(number) for number in numbers]


@pytest.mark.parametrize(
    "change",
    [
        ("0.6;", "0.6, 0.0;"),
        ("(x/y) 1.0, 0.0, 0.0;", ""),
        ("(x/y)", "(<5)"),
        ("(x/y)", "(x)"),
        ("1.0, 0.0", "1.0 0.0"),
        ("1.0, 0.0, 0.0;\n", "1.0, 0.0, 0.0\n"),
        ("1.0, 0.0, 0.0;", "1.0, 0.0; 0.0;"),
        ("1.0", "1_0"),
        ("1.0", "nan"),
        ("1.0", "1.0e"),
        ("1.0", "."),
        ("b | a", "b | a, a"),
        ("b | a", "b | c"),
        ("[ 3 ]", "[ 4 ]"),
        ("u, v, w", "u, v v, w"),
        ("table", "tables"),
        ("}\nprobability ( b", "} x\nprobability ( b"),
        ("<5 }", '"<5" }'),
    ],
)
def test_irregular_files_are_left_to_the_careful_reader(change: tuple[str, str]) -> None:
    text = VALID.replace(*change)
    assert text != VALID
    assert regular_draft(text, "x") is None


def test_nothing_is_allocated_that_the_file_does_not_fill() -> None:
    names = [f"x{i}" for i in range(60)]
    text = "".join(f"variable {name} {{ type discrete [2] {{ a, b }}; }}\n" for name in names)
    text += "".join(f"probability ({name}) {{ table 0.5, 0.5; }}\n" for name in names[:-1])
    text += f"probability (x59 | {', '.join(names[:59])}) {{ (a) 0.5, 0.5; }}"
    assert regular_draft(text, "x") is None


@pytest.mark.parametrize("unit", ["property ", "property x {", "/*", "a,"])
def test_what_never_ends_takes_linear_time(unit: str) -> None:
    # Looked for from each of its starts to the end of the file, it would take minutes.
    assert regular_draft(VALID + unit * (2_000_000 // len(unit)), "x.bif") is None
