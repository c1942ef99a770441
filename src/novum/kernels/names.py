"""From scikit-learn's words for kernels to kernels.

    "linear"       <x, z>                          "rbf"          exp(-gamma |x - z|^2)
    "poly"         (gamma <x, z> + coef0)^degree   "sigmoid"      tanh(gamma <x, z> + coef0)
    "cosine"       <x, z> / (|x| |z|)              "precomputed"  the matrix itself

    gamma: "scale" is 1 / (n_columns * variance of all cells), "auto" is 1 / n_columns

Estimators take these words, a function, or a `Kernel`; this is the one place that reads them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.kernels.callables import Form, FromCallable
from novum.kernels.parameters import finite_number, positive_number
from novum.kernels.precomputed import Precomputed
from novum.kernels.protocol import Kernel
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.polynomial import Polynomial
from novum.kernels.vectors.sigmoid import Sigmoid

NAMES = ("linear", "poly", "polynomial", "rbf", "sigmoid", "cosine", "precomputed")


def resolve_kernel(
    kernel: Any,
    *,
    gamma: Any = "scale",
    degree: Any = 3,
    coef0: Any = 0.0,
    X: Any = None,
    callable_form: Form = "matrix",
) -> Kernel:
    """The kernel that an estimator's parameters mean.

    Parameters
    ----------
    kernel : str, callable or Kernel
        One of scikit-learn's names, a function, or a kernel, which is returned as it is.
    gamma : {"scale", "auto"}, float or None
        Used by "rbf", "poly" and "sigmoid"; None is "auto".
    degree : int
        Used by "poly".
    coef0 : float
        Used by "poly" and "sigmoid".
    X : array or CSR matrix
        Training rows, from which "scale" and "auto" are computed.
    callable_form : {"matrix", "pair"}
        What a function is taken for; scikit-learn's support vector machines use the first
        convention, its `KernelRidge` and `Nystroem` the second.

    Examples
    --------
    >>> resolve_kernel("rbf", gamma=0.5)
    Gaussian(width=1.0)
    >>> resolve_kernel("poly", gamma="auto", X=np.ones((3, 4)))
    Polynomial(degree=3, constant=0.0, scale=0.25)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        return _named(kernel, gamma, degree, coef0, X)
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise InputError(
            f"kernel={kernel.__name__} is a class; make a kernel of it first, as in "
            f"kernel={kernel.__name__}(...)."
        )
    if callable(kernel):
        return FromCallable(kernel, callable_form)
    raise InputError(
        f"kernel={label_text(kernel)} is no kernel. Give one of {', '.join(map(repr, NAMES))}, a "
        "function of two arrays, or a value of novum.kernels."
    )


def resolve_gamma(gamma: Any, X: Any) -> float:
    """The number that "scale", "auto" or a number means for these rows.

    Examples
    --------
    >>> resolve_gamma("scale", np.array([[0.0, 2.0], [2.0, 0.0]]))
    0.5
    """
    if not (gamma is None or isinstance(gamma, str)):
        return finite_number(gamma, "gamma")
    if gamma not in (None, "scale", "auto"):
        raise InputError(f"gamma={gamma!r} is not 'scale', 'auto' or a number.")
    if X is None:
        raise InputError(f"gamma={gamma!r} is computed from training rows, but there are none.")
    if gamma != "scale":
        return 1.0 / X.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        spread = X.shape[1] * _variance(X)
    is_tiny = spread < np.finfo(float).tiny and X.min() < X.max()
    if is_tiny or not np.isfinite(spread):
        size, limit = ("small", "below the smallest") if is_tiny else ("large", "above the largest")
        raise InputError(
            f"Cells of X are so {size} that their variance, from which gamma='scale' is computed, "
            f"is {limit} number there is. Scale the columns, for example by "
            "novum.data.StandardScaler, or give gamma as a number."
        )
    # Rows that are all equal have no scale; scikit-learn takes 1 as well.
    return 1.0 / spread if spread > 0 else 1.0


def _named(name: str, gamma: Any, degree: Any, coef0: Any, X: Any) -> Kernel:
    if name == "linear":
        return Linear()
    if name == "precomputed":
        return Precomputed()
    if name == "cosine":
        from novum.kernels.normalization import normalize

        return normalize(Linear())
    if name == "rbf":
        if not isinstance(gamma, str) and gamma is not None:
            positive_number(gamma, "gamma", "With gamma 0 all rows would be equal.")
        return Gaussian.from_gamma(resolve_gamma(gamma, X))
    if name in ("poly", "polynomial"):
        constant = finite_number(coef0, "coef0")
        return Polynomial(degree, constant, resolve_gamma(gamma, X))
    if name == "sigmoid":
        return Sigmoid(resolve_gamma(gamma, X), finite_number(coef0, "coef0"))
    raise InputError(
        f"kernel={name!r} is not one of {', '.join(map(repr, NAMES))}. Any other similarity can be "
        "passed as a function of two arrays, or as a value of novum.kernels."
    )


def _variance(X: Any) -> float:
    """The variance of all cells."""
    if not sparse.issparse(X):
        return float(np.var(np.asarray(X, np.float64)))
    cells = X.shape[0] * X.shape[1]
    values = np.asarray(X.data, np.float64)
    mean = float(values.sum()) / cells
    # Cells that are not stored are zero, each mean^2 away from the mean.
    return (float(np.square(values - mean).sum()) + (cells - values.size) * (mean * mean)) / cells
