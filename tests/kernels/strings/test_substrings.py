"""All-substrings kernel: brute force, the spectrum kernel, closed forms, contract, odd input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.normalization import normalize
from novum.kernels.strings import substrings
from novum.kernels.strings.spectrum import Spectrum
from novum.kernels.strings.substrings import Substrings
from tests.oracles import string_kernel_definitions as definitions

texts = st.lists(st.text("abé😀", max_size=12), max_size=4)
kernels = st.one_of(
    st.just(Substrings()),
    st.builds(Substrings, st.floats(1e-3, 1.0)),
    st.just(Substrings(weights=(0, 2.5, 1))),
)
# A sum of n terms of one sign errs by at most n roundings; there are fewer than 500 here.
ROUNDING = 500 * 2.0**-53


def by_definition(kernel: Substrings, X: list[Any], Z: list[Any]) -> np.ndarray:
    def weight(length: int) -> float:
        if kernel.weights is None:
            return kernel.decay**length
        return dict(enumerate(kernel.weights, 1)).get(length, 0.0)

    values = [[definitions.substrings(s, t, weight) for t in Z] for s in X]
    return np.array(values, float).reshape(len(X), len(Z))


@pytest.mark.parametrize("compiled_from", [0, 2**62], ids=["compiled", "plain"])
@given(kernel=kernels, X=texts, Z=texts)
def test_values_are_those_of_the_definition(
    compiled_from: int, kernel: Substrings, X: list[str], Z: list[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(substrings, "COMPILED_FROM_SYMBOLS", compiled_from)
        gram, cross, diagonal = kernel.gram(X), kernel.cross(X, Z), kernel.diagonal(X)
    np.testing.assert_allclose(gram, by_definition(kernel, X, X), rtol=ROUNDING)
    np.testing.assert_allclose(cross, by_definition(kernel, X, Z), rtol=ROUNDING)
    assert gram.tobytes() == gram.T.tobytes()
    assert diagonal.tobytes() == np.diag(gram).tobytes()


def test_bounded_lengths_are_the_spectrum_kernel() -> None:
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ACGT"), rng.integers(0, 200))) for _ in range(60)]
    only = Substrings(weights=(0, 0, 1)).gram(X)
    np.testing.assert_array_equal(only, Spectrum(3).gram(X))
    np.testing.assert_array_equal(Substrings().gram(X), Spectrum(up_to=200).gram(X))


def test_parts_and_single_precision() -> None:
    rng = np.random.default_rng(1)
    X = ["".join(rng.choice(list("ACGT"), 120)) for _ in range(30)]
    rows = Substrings(0.7).prepare(X)
    gram = rows.gram()
    mask = np.arange(30) % 4 == 0
    for chosen in (np.array([4, 1, 1]), slice(3, 9), mask):
        np.testing.assert_allclose(rows.take(chosen).cross(rows), gram[chosen], rtol=1e-13)
        np.testing.assert_allclose(rows.cross(rows.take(chosen)), gram[:, chosen], rtol=1e-13)
    single = rows.take(mask).cross(rows, np.float32)
    assert single.dtype == np.float32
    assert single.flags.c_contiguous
    np.testing.assert_array_equal(single, rows.take(mask).cross(rows).astype(np.float32))


def test_a_long_string_of_one_symbol() -> None:
    # n + 1 - l places for each length l; squares of 1 to n add up to this.
    n = 20_000
    assert Substrings().diagonal(["a" * n]).tolist() == [n * (n + 1) * (2 * n + 1) // 6]


@pytest.mark.parametrize("kernel", [Substrings(), Substrings(0.5), Substrings(weights=(0, 1))])
def test_contract(kernel: Substrings) -> None:
    check_kernel_contract(kernel, ["banana", "ananas", "banana", "", "b", "ab" * 300])


def test_empty_strings_are_similar_to_nothing() -> None:
    assert Substrings().gram(["", "a"]).tolist() == [[0, 0], [0, 1]]
    assert normalize(Substrings()).gram(["", "a"]).tolist() == [[0, 0], [0, 1]]
    assert Substrings().gram([]).shape == (0, 0)
    assert Substrings().cross([], ["a"]).shape == (0, 1)


def test_unseen_symbols_match_nothing_but_themselves() -> None:
    kernel = Substrings()
    rows = kernel.prepare(["ab"])
    new = kernel.prepare(["xa", b"ab", ["x", "a"]], rows)
    assert rows.cross(new).tolist() == [[1, 0, 1]]
    assert new.gram().tolist() == [[3, 0, 3], [0, 3, 0], [3, 0, 3]]


def test_strings_prepared_apart_are_refused() -> None:
    with pytest.raises(InputError, match=r"prepared apart.*Prepare one like the other"):
        Substrings().prepare(["ab"]).cross(Substrings().prepare(["ab"]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decay": 0}, "decay must be a finite number above 0, got 0"),
        ({"decay": 1.5}, "decay must be at most 1, got 1.5"),
        ({"decay": 0.5, "weights": (1,)}, "takes decay or weights, got both"),
        ({"weights": (1, -2)}, "must not be negative, got -2.0 for length 2"),
        ({"weights": (0, 0)}, "weights are all 0"),
        ({"weights": (1, "a")}, "weight of length 2 must be a finite number, got 'a'"),
    ],
)
def test_impossible_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Substrings(**settings)


def test_what_is_no_string_is_named() -> None:
    with pytest.raises(InputError, match=r"Substrings compares strings.*got 7 at position 0"):
        Substrings().gram([7])


def test_the_kernel_is_a_value() -> None:
    assert Substrings(1) == Substrings(1.0)
    assert Substrings().is_psd_by_construction
    assert Substrings().feature_map is None
