"""Text and HTML: all numbers are there, names are escaped, the page is well-formed."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

from novum.evaluation.comparison.comparison import Comparison, compare_scores

RNG = np.random.default_rng(0)
ALLOWED = {
    "section",
    "style",
    "h2",
    "h3",
    "div",
    "p",
    "strong",
    "ul",
    "li",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</td>", "\x1b]0;x\x07"]


class Tags(HTMLParser):
    """Counts tags and keeps the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert not tags.open
    return tags


def one(*names: str) -> Comparison:
    scores = {name: RNG.normal(0.8, 0.05, 10) for name in names}
    return compare_scores(scores, 1 / 4, n_repeats=2, measure="accuracy")


def several(*names: str) -> Comparison:
    scores = {f"set {i}": {name: RNG.normal(0.8, 0.05, 5) for name in names} for i in range(3)}
    return compare_scores(scores, 1 / 4)


def test_text_has_scores_pairs_and_verdict() -> None:
    found = one("forest", "tree", "stump")
    text = repr(found)
    assert text.startswith("Comparison of 3 models by accuracy, 10 folds")
    for pair in found.pairs:
        assert f"{pair.first} - {pair.second}" in text
        assert f"{pair.difference.estimate:+.4f}" in text
        assert f"{pair.adjusted_p_value:.3g}" in text
    assert f"{found.mean('tree').estimate:.4f}" in text
    for line in found.verdict.splitlines():
        assert line in text


def test_text_of_several_data_sets() -> None:
    found = several("forest", "tree")
    text = repr(found)
    assert "Comparison of 2 models by score on 3 data sets" in text
    assert "mean rank" in text
    assert "win/tie/loss" in text
    assert str(found.pairs[0].counts) in text  # type: ignore[union-attr]


def test_html_says_what_the_text_says() -> None:
    for found in (one("forest", "tree", "stump"), several("forest", "tree")):
        tags = parsed(found._repr_html_())
        for line in found.verdict.splitlines():
            assert line in tags.text
        assert {"table", "caption", "th"} <= tags.seen


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_do_nothing(name: str) -> None:
    for found in (one(name, "tree"), several(name, "tree")):
        page = found._repr_html_()
        assert parsed(page).seen <= ALLOWED
        assert "\x1b" not in page
        assert "\x1b" not in repr(found)
