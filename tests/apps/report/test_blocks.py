"""Blocks: every kind has its macro, and lists say what they leave out."""

from __future__ import annotations

from pathlib import Path

import novum.apps.report.blocks as blocks
from novum.apps.report.blocks import Block, Points, Text, sentences


def test_every_kind_of_block_has_a_macro() -> None:
    source = (Path(blocks.__file__).parent / "templates" / "blocks.html").read_text()
    kinds = {kind.kind for kind in Block.__subclasses__()}
    assert len(kinds) == len(Block.__subclasses__())
    for kind in kinds:
        assert f"{{% macro {kind}(b) %}}" in source
        assert f'b.kind == "{kind}"' in source


def test_sentences_beyond_the_limit_are_counted() -> None:
    assert sentences((), 3) == []
    assert sentences(("a", "b"), 2) == [Points(("a", "b"))]
    assert sentences(("a", "b", "c"), 1) == [
        Points(("a",)),
        Text("2 more are in run.json.", "quiet"),
    ]
