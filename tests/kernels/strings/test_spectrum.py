"""Spectrum kernel: counting by brute force, scikit-learn's counts, the contract, and odd input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from novum.core.errors import InputError
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.normalization import normalize
from novum.kernels.strings.spectrum import Spectrum
from tests.oracles import string_kernel_definitions as definitions

# Beginnings of promoters of E. coli (UCI, Molecular Biology: Promoter Gene Sequences).
PROMOTERS = [
    "gccttctccaaaacgtgttttttgttgttaattcggtgtag",
    "atgcaattttttagttgcatgaactcgcatgtctccatag",
]

texts = st.lists(st.text("abcé😀", max_size=9), max_size=5)
kernels = st.one_of(
    st.builds(Spectrum, st.integers(1, 4)),
    st.builds(Spectrum, up_to=st.integers(1, 4)),
    st.builds(lambda k, more: Spectrum(k, up_to=k + more), st.integers(1, 3), st.integers(0, 3)),
    st.just(Spectrum(2, up_to=4, weights=(0.5, 3, 0.5))),
)


def by_definition(kernel: Spectrum, X: list[Any], Z: list[Any]) -> np.ndarray:
    weights = kernel.weights or (1.0,) * len(kernel.lengths)
    pairs = list(zip(weights, kernel.lengths, strict=True))
    values = [
        [sum(w * definitions.spectrum(s, t, length) for w, length in pairs) for t in Z] for s in X
    ]
    return np.array(values, float).reshape(len(X), len(Z))


@given(kernels, texts, texts)
def test_values_are_those_of_the_definition(kernel: Spectrum, X: list[str], Z: list[str]) -> None:
    # Weights are halves and whole numbers, so that sums are exact in any order.
    np.testing.assert_array_equal(kernel.gram(X), by_definition(kernel, X, X))
    np.testing.assert_array_equal(kernel.cross(X, Z), by_definition(kernel, X, Z))
    np.testing.assert_array_equal(kernel.diagonal(X), np.diag(by_definition(kernel, X, X)))
    rows = kernel.prepare(Z, kernel.prepare(X))
    np.testing.assert_array_equal(rows.gram(), by_definition(kernel, Z, Z))


@pytest.mark.parametrize("alphabet", ["ACGT", "ACDEFGHIKLMNPQRSTVWY"])
@pytest.mark.parametrize("kernel", [Spectrum(3), Spectrum(6), Spectrum(3, up_to=6)])
def test_large_samples_agree_with_scikit_learn(kernel: Spectrum, alphabet: str) -> None:
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list(alphabet), rng.integers(0, 300))) for _ in range(150)]
    lengths = kernel.lengths
    counter = CountVectorizer(
        analyzer="char", ngram_range=(lengths[0], lengths[-1]), lowercase=False, dtype=np.int64
    )
    counts = counter.fit_transform(X)
    np.testing.assert_array_equal(kernel.gram(X), (counts @ counts.T).toarray())
    features = kernel.feature_map.named(X)
    assert sorted(features.feature_names) == sorted(counter.get_feature_names_out())
    rows = kernel.prepare(X)
    np.testing.assert_array_equal(rows.take(np.arange(40)).cross(rows), rows.gram()[:40])


@settings(max_examples=30)
@given(kernels, texts)
def test_sequences_of_symbols_equal_text(kernel: Spectrum, X: list[str]) -> None:
    words = [[f"word {ord(c)}" for c in text] for text in X]
    np.testing.assert_array_equal(kernel.gram(words), kernel.gram(X))
    np.testing.assert_array_equal(kernel.gram([tuple(text) for text in X]), kernel.gram(X))


@given(kernels, texts, texts)
def test_features_reproduce_the_kernel(kernel: Spectrum, X: list[str], Z: list[str]) -> None:
    features = kernel.feature_map.named(X)
    other = features.of(Z)
    assert len(features.feature_names) == features.matrix.shape[1] == other.matrix.shape[1]
    names = list(features.feature_names)
    assert names == sorted(names, key=len)
    # Roots of weights are not exact.
    expected = by_definition(kernel, Z, X)
    np.testing.assert_allclose((other.matrix @ features.matrix.T).toarray(), expected, rtol=1e-13)
    np.testing.assert_array_equal(kernel.feature_map(Z, features).toarray(), other.matrix.toarray())
    for j, name in enumerate(names[:5]):
        weight = (kernel.weights or (1.0,) * 9)[len(name) - kernel.lengths[0]]
        counts = [definitions.gram_counts(s, len(name))[tuple(name)] for s in X]
        np.testing.assert_allclose(
            features.matrix[:, [j]].toarray()[:, 0], np.sqrt(weight) * np.array(counts), rtol=1e-15
        )


@pytest.mark.parametrize(
    ("X", "names"),
    [
        (["ab"], ("ab",)),
        ([b"ab"], (b"ab",)),
        ([["a word", "b"]], (("a word", "b"),)),
        ([[300, -1]], ((300, -1),)),
    ],
)
def test_grams_are_named_as_the_strings_are_written(X: list[Any], names: tuple[Any]) -> None:
    assert Spectrum(2).feature_map.named(X).feature_names == names


@pytest.mark.parametrize(
    "kernel", [Spectrum(2), Spectrum(up_to=3), Spectrum(2, up_to=3, weights=(1, 0.25))]
)
def test_contract(kernel: Spectrum) -> None:
    check_kernel_contract(kernel, [*PROMOTERS, PROMOTERS[0], "", "g", "gcc", "ta" * 200])


def test_empty_and_short_strings_are_similar_to_nothing() -> None:
    kernel = Spectrum(3)
    assert kernel.gram(["", "ab", "abc"]).tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert normalize(kernel).gram(["", "abc"]).tolist() == [[0, 0], [0, 1]]
    assert kernel.gram(["", ""]).tolist() == [[0, 0], [0, 0]]
    assert kernel.gram([]).shape == (0, 0)
    assert kernel.cross(["abc"], []).shape == (1, 0)


def test_unseen_symbols_match_nothing_but_themselves() -> None:
    kernel = Spectrum(2)
    rows = kernel.prepare(["abab"])
    new = kernel.prepare(["xyab", "xy", b"ab"], rows)
    assert rows.cross(new).tolist() == [[2, 0, 0]]
    assert new.gram().tolist() == [[3, 1, 0], [1, 1, 0], [0, 0, 1]]


def test_strings_prepared_apart_are_refused() -> None:
    kernel = Spectrum(2)
    with pytest.raises(InputError, match=r"prepared apart.*Prepare one like the other"):
        kernel.prepare(["ab"]).cross(kernel.prepare(["ab"]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"needs the length of its grams: Spectrum\(3\)"),
        ({"k": 0}, "k must be a whole number of at least 1, got 0"),
        ({"k": 2.5}, "k must be a whole number of at least 1, got 2.5"),
        ({"up_to": -1}, "up_to must be a whole number of at least 1, got -1"),
        ({"k": 5, "up_to": 3}, "from k=5 up to 3, which are none"),
        ({"up_to": 3, "weights": (1, 2)}, r"each of its 3 lengths \(1 to 3\), got 2"),
        ({"k": 2, "weights": (0,)}, "weight of length 2 must be a finite number above 0, got 0"),
        ({"k": 2, "weights": (float("nan"),)}, "weight of length 2 must be a finite number"),
    ],
)
def test_impossible_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Spectrum(**settings)


def test_what_is_no_string_is_named() -> None:
    with pytest.raises(InputError, match=r"Spectrum compares strings.*got None at position 1"):
        Spectrum(3).gram(["abc", None])


def test_the_kernel_is_a_value() -> None:
    assert Spectrum(3) == Spectrum(np.int64(3))
    assert hash(Spectrum(up_to=2, weights=[1, 2])) == hash(Spectrum(up_to=2, weights=(1.0, 2.0)))
    assert Spectrum(3).is_psd_by_construction
    assert list(Spectrum(3, up_to=6).lengths) == [3, 4, 5, 6]
