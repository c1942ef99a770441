"""The contract of kernels, as an executable check.

Every kernel of Novum runs it, and a new one should:

    def test_contract():
        check_kernel_contract(MyKernel(), objects)

It raises `AssertionError` with what differed. Objects should be a handful, with two equal ones and
an extreme one (empty, zero, very long) among them. Checked are: similarities of all pairs, exactly
symmetric and finite; blocks, parts (`take`) and diagonals equal to the whole; new objects prepared
`like` others; single precision; blocks that the caller may overwrite; the promise to be positive
semi-definite; and the feature map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.kernels.precomputed import Precomputed
from novum.kernels.protocol import Kernel
from novum.kernels.similarity_matrix import objects_at
from novum.kernels.validity import check_kernel
from novum.numerics import Floats, Positions, cached_property

# Single precision carries 24 bits; sums over features and functions of them lose some.
SINGLE = 1e-4


@dataclass(frozen=True, eq=False)
class KernelCase:
    """A kernel, objects, and how closely two ways to a similarity must agree.

    Parameters
    ----------
    kernel : Kernel
    objects : list, array, matrix or table
        At least 3.
    tolerance : float
        Largest difference, as a share of the largest similarity.
    """

    kernel: Kernel
    objects: Any
    tolerance: float = 1e-10

    @cached_property
    def matrix(self) -> Floats:
        """Similarities of all pairs."""
        return self.kernel.gram(self.objects)

    @property
    def n(self) -> int:
        return len(self.matrix)

    def part(self, rows: Positions) -> Any:
        """Some of the objects."""
        return objects_at(self.objects, rows)

    def assert_close(self, actual: Any, expected: Any, what: str, share: float = 0.0) -> None:
        """Numbers that mean the same similarities."""
        allowed = max(share, self.tolerance) * float(np.abs(self.matrix).max(initial=0.0))
        np.testing.assert_allclose(
            np.asarray(actual, float), expected, rtol=0, atol=allowed, err_msg=what
        )


KernelCheck = Callable[[KernelCase], None]


def kernel_checks() -> list[KernelCheck]:
    """All checks."""
    return [
        check_value,
        check_gram,
        check_blocks,
        check_parts,
        check_new_objects,
        check_single_precision,
        check_blocks_are_new,
        check_promise,
        check_feature_map,
    ]


def check_kernel_contract(kernel: Kernel, objects: Any, *, tolerance: float = 1e-10) -> None:
    """Runs all checks of the contract on a kernel.

    Parameters
    ----------
    kernel : Kernel
    objects : list, array, matrix or table
        What the kernel compares, at least 3; the square matrix for `Precomputed`.
    tolerance : float
        Largest difference of two ways to a similarity, as a share of the largest one.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> check_kernel_contract(Linear(), [[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]])
    """
    case = KernelCase(kernel, objects, tolerance)
    for check in kernel_checks():
        check(case)


# --- Checks ---------------------------------------------------------------------------------------


def check_value(case: KernelCase) -> None:
    """A kernel says what it takes and is equal to itself by content."""
    assert case.kernel.takes in ("vectors", "table", "objects"), case.kernel.takes
    assert isinstance(case.kernel.is_psd_by_construction, bool)
    assert case.kernel == case.kernel
    assert isinstance(hash(case.kernel), int)


def check_gram(case: KernelCase) -> None:
    """All pairs: square, finite, exactly symmetric, the same at every call."""
    rows = case.kernel.prepare(case.objects)
    K = case.matrix
    assert K.shape == (len(rows), len(rows)), f"{len(rows)} objects, a matrix of shape {K.shape}"
    assert len(rows) >= 3, "the contract needs at least 3 objects"
    assert K.dtype == np.float64
    assert np.isfinite(K).all(), "similarities are not finite"
    np.testing.assert_array_equal(K, K.T, err_msg="gram is not exactly symmetric")
    np.testing.assert_array_equal(rows.gram(), K, err_msg="two calls of gram differ")


def check_blocks(case: KernelCase) -> None:
    """`cross` and `diagonal` are parts of `gram`."""
    rows = case.kernel.prepare(case.objects)
    block = rows.cross(rows)
    assert block.flags.c_contiguous, "cross is not C-contiguous"
    case.assert_close(block, case.matrix, "cross(X, X) differs from gram(X)")
    diagonal = rows.diagonal()
    assert diagonal.shape == (case.n,), f"the diagonal has shape {diagonal.shape}"
    case.assert_close(diagonal, np.diagonal(case.matrix), "the diagonal differs from gram's")


def check_parts(case: KernelCase) -> None:
    """`take` by slice, positions (repeated, reversed, none) and mask is indexing."""
    rows = case.kernel.prepare(case.objects)
    mask = np.arange(case.n) % 2 == 0
    choices: list[Any] = [slice(1, None), slice(None, None, 2), [2, 0, 0], np.array([-1]), mask]
    for chosen in (*choices, np.array([], int)):
        part, where = rows.take(chosen), np.arange(case.n)[chosen]
        assert len(part) == len(where), f"take({chosen!r}) has {len(part)} rows"
        block = part.cross(rows)
        assert block.shape == (len(where), case.n), f"take({chosen!r}): a block of {block.shape}"
        case.assert_close(block, case.matrix[where], f"cross after take({chosen!r})")
        case.assert_close(rows.cross(part), case.matrix[:, where], f"cross with take({chosen!r})")
        if len(where):
            corner = case.matrix[np.ix_(where, where)]
            case.assert_close(part.gram(), corner, f"gram after take({chosen!r})")
            case.assert_close(part.diagonal(), np.diagonal(corner), f"diagonal, take({chosen!r})")


def check_new_objects(case: KernelCase) -> None:
    """Objects prepared `like` others have the similarities that they have among all."""
    if isinstance(case.kernel, Precomputed):
        # Objects are positions in one matrix; parts of it are no objects.
        return
    first, second = np.arange(case.n // 2), np.arange(case.n // 2, case.n)
    old = case.kernel.prepare(case.part(first))
    new = case.kernel.prepare(case.part(second), old)
    assert len(new) == len(second)
    block, corner = case.matrix[np.ix_(second, first)], case.matrix[np.ix_(second, second)]
    case.assert_close(new.cross(old), block, "new against old objects")
    case.assert_close(old.cross(new), block.T, "old against new objects")
    case.assert_close(new.gram(), corner, "new objects among each other")
    case.assert_close(new.diagonal(), np.diagonal(corner), "the diagonal of new objects")
    direct = case.kernel.cross(case.part(second), case.part(first))
    case.assert_close(direct, block, "kernel.cross")


def check_single_precision(case: KernelCase) -> None:
    """float32 blocks are float32, and near the float64 ones."""
    rows = case.kernel.prepare(case.objects)
    for name, block in (("cross", rows.cross(rows, np.float32)), ("gram", rows.gram(np.float32))):
        assert block.dtype == np.float32, f"{name} of float32 gave {block.dtype}"
        case.assert_close(block, case.matrix, f"{name} in single precision", share=SINGLE)
    block = rows.gram(np.float32)
    np.testing.assert_array_equal(block, block.T, err_msg="float32 gram is not symmetric")


def check_blocks_are_new(case: KernelCase) -> None:
    """A caller may overwrite what it was given."""
    rows = case.kernel.prepare(case.objects)
    for ask in (rows.gram, lambda: rows.cross(rows), rows.diagonal):
        answer = ask()
        if ask == rows.diagonal and not answer.flags.writeable:
            continue
        expected = answer.copy()
        answer[...] = np.nan
        np.testing.assert_array_equal(ask(), expected, err_msg="overwriting an answer changes it")


def check_promise(case: KernelCase) -> None:
    """A kernel that is positive semi-definite by construction has no negative eigenvalue."""
    if case.kernel.is_psd_by_construction:
        verdict = check_kernel(case.kernel, case.objects, accuracy=case.tolerance)
        assert verdict.verdict == "valid", str(verdict)


def check_feature_map(case: KernelCase) -> None:
    """The feature map, where there is one, reproduces the kernel."""
    phi = case.kernel.feature_map
    if phi is None:
        return
    assert case.kernel.is_psd_by_construction, "a feature map proves the kernel valid"
    features = phi(case.objects)
    assert features.shape[0] == case.n, f"the feature map gave shape {features.shape}"
    products = features @ features.T
    dense = products.toarray() if hasattr(products, "toarray") else products
    case.assert_close(dense, case.matrix, "products of the feature map")
