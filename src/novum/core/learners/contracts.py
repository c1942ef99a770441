"""The estimator contract as executable checks.

Every estimator of Novum, and any that others build on it, runs these beside scikit-learn's own:

    @pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
    def test_contract(check):
        check(Case(LinearRegression(), X, y))

A check raises `AssertionError` with what differed. `core.sums.contracts` has those for
learners whose statistics add up.
"""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from novum.core.errors import InputError
from novum.core.files import load, save
from novum.core.tables import frame_of, rows_of, with_columns
from novum.numerics import Array


@dataclass(frozen=True, eq=False)
class Case:
    """An unfitted estimator and a table that it can learn from.

    Parameters
    ----------
    model : estimator
    X : array or data frame
    y : array, optional
    """

    model: Any
    X: Any
    y: Any = None

    @property
    def n_rows(self) -> int:
        return len(np.asarray(self.y)) if self.y is not None else len(self.X)

    def rows(self, chosen: Array) -> tuple[Any, Any]:
        """`X` and `y` of some of the rows."""
        return rows_of(self.X, chosen), None if self.y is None else np.asarray(self.y)[chosen]

    def fitted(self, X: Any = None, y: Any = None, **more: Any) -> Any:
        """A fresh model, fitted to these rows or to all."""
        model = clone(self.model)
        return model.fit(self.X, self.y, **more) if X is None else model.fit(X, y, **more)


Check = Callable[[Case], None]


def estimator_checks() -> list[Check]:
    """Checks that every estimator passes."""
    return [
        check_certificate,
        check_same_fit_same_bits,
        check_failed_fit_changes_nothing,
        check_files_keep_predictions,
        check_threads_agree,
        check_input_is_not_changed,
        *INVARIANCES.values(),
    ]


def check_name(check: Check) -> str:
    """The name of a check, for test reports."""
    return check.__name__.removeprefix("check_")


# --- Fits -----------------------------------------------------------------------------------------


def check_certificate(case: Case) -> None:
    """A fit carries an immutable certificate, and says that it converged."""
    certificate = case.fitted().certificate_
    assert certificate.converged, f"not converged: {certificate!r}"
    try:
        certificate.value = 0.0
    except FrozenInstanceError:
        pass
    else:
        raise AssertionError("the certificate can be changed")
    assert repr(certificate)
    assert certificate._repr_html_()


def check_same_fit_same_bits(case: Case) -> None:
    """Fitting twice, and with any number of jobs, gives the same bits."""
    reference = predictions(case.fitted(), case.X)
    for jobs in (1, 2, 4):
        model = clone(case.model)
        if "n_jobs" in model.get_params():
            model.set_params(n_jobs=jobs)
        _assert_identical(predictions(model.fit(case.X, case.y), case.X), reference, f"{jobs} jobs")


def check_bits_in_new_processes(case: Case) -> None:
    """A fit and its predictions have the same bits for any number of BLAS and kernel threads."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.pickle"
        path.write_bytes(pickle.dumps((case.model, case.X, case.y)))
        digests = {_digest(path, threads) for threads in (1, 3)}
    assert len(digests) == 1, "another number of threads gave other bits"


_DIGEST = """
import hashlib, pickle, sys
from novum.core.learners.contracts import Case, predictions
case = Case(*pickle.load(open(sys.argv[1], "rb")))
print(hashlib.sha256(predictions(case.fitted(), case.X).tobytes()).hexdigest())
"""


def _digest(path: Path, threads: int) -> str:
    counts = {f"{name}_NUM_THREADS": str(threads) for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")}
    done = subprocess.run(
        [sys.executable, "-c", _DIGEST, str(path)],
        env={**os.environ, **counts},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_failed_fit_changes_nothing(case: Case) -> None:
    """A fit that raises leaves a fitted model as it was."""
    model = case.fitted()
    before = predictions(model, case.X)
    attributes = set(vars(model))
    # One row with a missing target, or no row where there is no target.
    short = rows_of(case.X, np.arange(int(case.y is not None)))
    try:
        model.fit(short, np.full(1, np.nan) if case.y is not None else None)
    except ValueError:
        pass
    else:
        raise AssertionError("a fit without a target or a row did not raise")
    assert set(vars(model)) == attributes, "a failed fit added or removed attributes"
    _assert_identical(predictions(model, case.X), before, "after a failed fit")


def check_interrupted_fit_changes_nothing(case: Case, *, rows: int = 400_000) -> None:
    """Ctrl-C gives control back soon, and leaves a fitted model as it was.

    The interrupt is real: a timer's signal raises `KeyboardInterrupt` between two instructions of
    the interpreter, as the terminal's does. It comes at several times of a fit to `rows` rows; one
    that comes at the very end finds the new model whole.
    """
    many = case.rows(np.resize(np.arange(case.n_rows), rows))
    model = case.fitted()
    before, attributes = predictions(model, case.X), set(vars(model))
    started = time.perf_counter()
    whole = clone(case.model).fit(*many)
    seconds = time.perf_counter() - started
    after = predictions(whole, case.X)
    for part in (0.05, 0.3, 0.5, 0.7, 0.9):
        state = copy.copy(vars(model))
        late = _interrupted(model, many, seconds * part)
        if predictions(model, case.X).tobytes() == after.tobytes() != before.tobytes():
            assert set(vars(model)) == set(vars(whole)), "a fit left without some attributes"
            vars(model).clear()
            vars(model).update(state)
        assert set(vars(model)) == attributes, "an interrupted fit added or removed attributes"
        _assert_identical(predictions(model, case.X), before, "after an interrupted fit")
        # Half a second is promised; on a loaded machine a signal may be late by more.
        assert late < 2.0, f"control came back after {late:.1f} seconds"


def _interrupted(model: Any, many: tuple[Any, Any], delay: float) -> float:
    """Seconds from the signal until control is back; 0 if the fit was faster."""
    is_fitting = True

    def interrupt(*_: object) -> None:
        # A signal that comes after the fit finds nobody to catch it.
        if is_fitting:
            raise KeyboardInterrupt

    earlier = signal.signal(signal.SIGALRM, interrupt)
    started = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, max(delay, 1e-4))
    try:
        model.fit(*many)
        is_fitting = False
    except KeyboardInterrupt:
        return time.perf_counter() - started - delay
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, earlier)
    return 0.0


def check_files_keep_predictions(case: Case) -> None:
    """Model files, pickle and copies predict the same bits."""
    model = case.fitted()
    reference = predictions(model, case.X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.novum"
        save(model, path)
        restored = {"model file": load(path)}
    restored["pickle"] = pickle.loads(pickle.dumps(model))
    restored["copy"] = copy.deepcopy(model)
    for name, other in restored.items():
        _assert_identical(predictions(other, case.X), reference, name)
        assert other.certificate_ == model.certificate_, f"{name} changed the certificate"


def check_threads_agree(case: Case) -> None:
    """Eight threads may predict with one model."""
    model = case.fitted()
    reference = predictions(model, case.X)
    with ThreadPoolExecutor(8) as pool:
        for answers in pool.map(lambda _: predictions(model, case.X), range(32)):
            _assert_identical(answers, reference, "in a thread")


def check_input_is_not_changed(case: Case) -> None:
    """Neither `X` nor `y` is written to, and read-only or strided arrays serve as well."""
    if not isinstance(case.X, np.ndarray):
        return
    X, y = case.X.copy(), None if case.y is None else np.array(case.y)
    reference = predictions(case.fitted(X, y), X)
    np.testing.assert_array_equal(X, case.X)
    X.setflags(write=False)
    if y is not None:
        y.setflags(write=False)
    strided = np.repeat(X, 2, axis=0)[::2]
    fortran = np.asfortranarray(X)
    for name, other in {"read-only": X, "strided": strided, "Fortran": fortran}.items():
        answers = predictions(case.fitted(other, y), X)
        _assert_close(answers, reference, 1e-9, name)


# --- Invariances ----------------------------------------------------------------------------------


def check_shift(case: Case) -> None:
    """An offset of 1e8 in every numeric column changes predictions by at most 1e-6."""
    _assert_invariant(case, "shift", lambda X: X + 1e8, 1e-6)


def check_column_scale(case: Case) -> None:
    """Units of numeric columns, up to 2^27 apart, do not matter."""

    def scaled(X: Any) -> Any:
        powers = np.where(np.arange(X.shape[1]) % 2 == 0, 27, -27)
        return X * np.ldexp(1.0, powers)

    _assert_invariant(case, "column_scale", scaled, 1e-6)


def check_common_scale(case: Case) -> None:
    """One common unit of all numeric columns does not matter."""
    _assert_invariant(case, "common_scale", lambda X: X * 2.0**27, 1e-6)


def check_row_order(case: Case) -> None:
    """The order of rows does not matter beyond rounding, nor where cells are equal."""
    if "row_order" not in _invariances(case):
        return
    order = np.random.default_rng(0).permutation(case.n_rows)
    with_ties = Case(case.model, _changed(case.X, lambda X: np.round(2.0 * X) / 2.0), case.y)
    for table in (case, with_ties):
        answers = predictions(table.fitted(*table.rows(order)), table.X)
        _assert_close(answers, predictions(table.fitted(), table.X), 1e-9, "rows in another order")


def check_duplication(case: Case) -> None:
    """Weight 2 is the row twice, weight 0 the row absent."""
    if "duplication" not in _invariances(case):
        return
    weight = np.random.default_rng(0).integers(0, 3, case.n_rows)
    repeated = case.rows(np.repeat(np.arange(case.n_rows), weight))
    weighted = case.fitted(case.X, case.y, sample_weight=weight.astype(float))
    known = repeated[0]
    _assert_close(
        predictions(weighted, known), predictions(case.fitted(*repeated), known), 1e-9, "weights"
    )


INVARIANCES: dict[str, Check] = {
    "shift": check_shift,
    "column_scale": check_column_scale,
    "common_scale": check_common_scale,
    "row_order": check_row_order,
    "duplication": check_duplication,
}


def _invariances(case: Case) -> tuple[str, ...]:
    return getattr(case.model, "invariances", ())


def _assert_invariant(case: Case, name: str, change: Callable[[Any], Any], rtol: float) -> None:
    if name not in _invariances(case):
        return
    other = _changed(case.X, change)
    answers = predictions(case.fitted(other, case.y), other)
    _assert_close(answers, predictions(case.fitted(), case.X), rtol, name)


def _changed(X: Any, change: Callable[[Any], Any]) -> Any:
    """The table with its numeric columns changed."""
    if isinstance(X, np.ndarray):
        return change(X)
    frame = frame_of(X)
    numeric = [name for name in frame.columns if frame[name].dtype.is_numeric()]
    values = change(frame.select(numeric).to_numpy().astype(float))
    return with_columns(X, numeric, values)


# --- Comparing models -----------------------------------------------------------------------------


def predictions(model: Any, X: Any) -> Array:
    """Probabilities where a model has them, numbers, labels or densities elsewhere."""
    for method in ("predict_proba", "predict", "transform", "score_samples"):
        if hasattr(model, method):
            answers = getattr(model, method)(X)
            return answers.toarray() if sparse.issparse(answers) else np.asarray(answers)
    raise InputError(f"{type(model).__name__} neither predicts nor transforms.")


def _assert_identical(actual: Array, expected: Array, when: str) -> None:
    assert actual.tobytes() == expected.tobytes(), (
        f"{when}: predictions differ in {int((actual != expected).sum())} places, and not one may"
    )


def _assert_close(actual: Array, expected: Array, rtol: float, when: str) -> None:
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(actual, expected, err_msg=when)
        return
    size = float(np.abs(expected).max())
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol * size, err_msg=when)
