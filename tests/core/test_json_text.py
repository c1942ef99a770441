"""How deep JSON is nested, and what is refused before it is built."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.json_text import json_depth, parsed_json

json_values = st.recursive(
    st.none() | st.text() | st.sampled_from(['"', "\\", '\\"[', "{[}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=20,
)
# Blocks of the scan have 2^18 bytes; a text behind that many blanks, less a few, is cut by one.
BLOCK = 1 << 18


@given(json_values, st.integers(0, 40))
def test_depth_is_that_of_the_parsed_value(value: Any, cut: int) -> None:
    def depth(part: Any) -> int:
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        return isinstance(part, (dict, list)) + max(map(depth, inner), default=0)

    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    assert json_depth(text) == depth(value)
    assert json_depth(b" " * (BLOCK - cut) + text) == depth(value)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "[NaN]", "[1e999]", "[-Infinity]", "[1", b"\xff", ""]
)
def test_what_is_no_strict_json_is_one_kind_of_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parsed_json(text)
