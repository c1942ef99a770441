"""Autoencoders: gradients by hand, principal components, kinds of columns, alarms, manners."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, ModelFileError
from novum.core.files import load, save
from novum.core.learners import Case, FewRowsWarning
from novum.core.learners.contracts import (
    check_bits_in_new_processes,
    check_certificate,
    check_column_scale,
    check_common_scale,
    check_failed_fit_changes_nothing,
    check_files_keep_predictions,
    check_same_fit_same_bits,
    check_threads_agree,
)
from novum.neural import (
    Activation,
    AutoencoderDetector,
    Convolution,
    Dense,
    DeviationThreshold,
    Flatten,
    QuantileThreshold,
    Stack,
)
from novum.neural.autoencoder import AutoencoderNetwork
from novum.neural.stack import dense_stack
from novum.neural.table_coding import CodedRows, NetworkCoding, components_for
from tests.neural.tables import line, mixed_table

torch = pytest.importorskip("torch")


class OnAllRows(AutoencoderDetector):
    """Trained on and judged by the same rows, which makes the least loss a known one."""

    def _parts(self, n: int, rng: Any) -> Any:
        del rng
        return [np.arange(n)] * 3


def quick(**settings: Any) -> AutoencoderDetector:
    return AutoencoderDetector(
        **{"bottleneck": 2, "hidden": (6,), "random_state": 0, "max_iter": 400} | settings
    )


@pytest.mark.filterwarnings("ignore::novum.core.learners.FewRowsWarning")
@parametrize_with_checks([quick(bottleneck=1, hidden=(3,), max_iter=200, patience=1)], legacy=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [check_certificate, check_same_fit_same_bits, check_failed_fit_changes_nothing,
     check_files_keep_predictions, check_threads_agree, check_column_scale, check_common_scale],
)  # fmt: skip
def test_contract(check: Any) -> None:
    check(Case(quick(), line()))


@pytest.mark.slow
def test_bits_do_not_depend_on_threads() -> None:
    check_bits_in_new_processes(Case(quick(), line()))


# --- Losses and gradients by hand -----------------------------------------------------------------


def numbers(X: Any) -> CodedRows:
    n = len(X)
    return CodedRows(
        np.nan_to_num(X), (~np.isnan(X)).astype(float), np.empty((n, 0), int), np.empty((n, 0))
    )


def by_hand(W: Any, b: Any, V: Any, c: Any, X: Any) -> tuple[float, list[Any]]:
    """Loss and gradients of tanh(X W' + b) V' + c, over the cells that are there."""
    mask, Z = ~np.isnan(X), np.nan_to_num(X)
    H = np.tanh(Z @ W.T + b)
    R = np.where(mask, H @ V.T + c - Z, 0.0)
    G = 2 * R / mask.sum()
    back = (G @ V) * (1 - H**2)
    return (R**2).sum() / mask.sum(), [back.T @ Z, back.sum(0), G.T @ H, G.sum(0)]


@pytest.mark.parametrize("tied", [False, True])
def test_losses_and_gradients_equal_those_by_hand(tied: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 3))
    X[1, 2] = X[3, 0] = np.nan
    there = Stack((3,), (Dense(2), Activation("tanh")))
    network = AutoencoderNetwork(there, Stack((2,), (Dense(3),)), tied)
    coding = NetworkCoding(
        _schema(3), np.zeros(3), np.ones(3), np.zeros(3, bool), np.zeros(3, bool), 5
    )
    weights = network.start(coding, rng, 1.0)
    assert [w.shape for w in weights] == [(2, 3), (2,), *([] if tied else [(3, 2)]), (3,)]
    views = [torch.tensor(w, requires_grad=True) for w in weights]
    rows = numbers(X).to("cpu", torch.float64)
    loss = coding.errors(network.outputs(coding, views, rows), rows).sum() / rows.present.sum()
    W, b, V, c = (weights[0], weights[1], weights[0].T, weights[2]) if tied else weights
    value, (dW, db, dV, dc) = by_hand(W, b, V, c, X)
    assert float(loss.detach()) == pytest.approx(value, rel=1e-14)
    expected = [dW + dV.T, db, dc] if tied else [dW, db, dV, dc]
    for found, known in zip(torch.autograd.grad(loss, views), expected, strict=True):
        np.testing.assert_allclose(found.numpy(), known, rtol=1e-12)


def _schema(n: int) -> Any:
    from novum.core.tables import Schema

    return Schema.of_array(n)


def test_cross_entropy_of_levels_and_of_new_ones() -> None:
    table = mixed_table()
    model = quick().fit(table)
    rows = model._rows(table[:4])
    with torch.no_grad():
        outputs = model.network_.outputs(
            model.coding_, model._tensors(), rows.to("cpu", torch.float64)
        )
    scores = outputs.numpy()[:, 2:4]
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    cells = model.column_errors(table[:4])
    for i, level in enumerate(table["sign"][:3]):
        known = -np.log(chances[i, ["minus", "plus"].index(level)])
        assert cells[i, 2] == pytest.approx(known, rel=1e-12)
    assert cells[3, 2] == 0.0  # missing
    errors = model.column_errors(table[3:4])
    assert -model.score_samples(table[3:4])[0] == pytest.approx(errors.sum() / 3, rel=1e-12)
    new = table[:1].assign(sign="neither")
    with pytest.warns(UserWarning, match="not met in training"):
        (error,) = model.column_errors(new)
    assert error[2] == pytest.approx(np.log(model.coding_.n_rows + 1.0))


def test_a_linear_autoencoder_is_principal_components() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 5))
    settings = {"bottleneck": 2, "hidden": (), "activation": "linear", "noise": 0.0, "tol": 0.0,
                "max_iter": 1500, "patience": 60, "learning_rate": 0.03}  # fmt: skip
    model = OnAllRows(random_state=0, **settings).fit(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    _, spectrum, axes = np.linalg.svd(Z, full_matrices=False)
    least = (spectrum[2:] ** 2).sum() / Z.size
    assert least <= -model.score_samples(X).mean() * (1 + 1e-12)
    assert -model.score_samples(X).mean() == pytest.approx(least, rel=1e-4)
    span, _ = np.linalg.qr(model.weights_[2])
    cosines = np.linalg.svd(axes[:2] @ span, compute_uv=False)
    assert cosines.min() > 1 - 1e-4
    tied = OnAllRows(random_state=0, tied=True, **settings).fit(X)
    assert tied.certificate_.value == pytest.approx(least, rel=1e-4)
    assert len(tied.weights_) == 3


def test_the_bottleneck_explains_its_share_of_the_variance() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 6)) * [5, 3, 1, 0.5, 0.2, 0.1]
    shares = np.cumsum(np.linalg.eigvalsh(np.cov(X.T))[::-1])
    shares /= shares[-1]
    for wanted in (0.5, 0.9, 0.97, 0.9999):
        k = components_for(X, wanted)
        assert shares[k - 1] >= wanted
        assert k == 1 or shares[k - 2] < wanted
    assert components_for(np.ones((4, 3)), 0.9) == 1


# --- Detection ------------------------------------------------------------------------------------


def test_alarms_are_explained_in_words() -> None:
    table = mixed_table(300)
    model = quick(threshold=QuantileThreshold(0.02)).fit(table)
    odd = table[20:22].copy()
    odd["y"] = [30.0, odd["y"].iloc[1]]
    (alarm, calm) = model.explain(odd)
    assert alarm.cells[0].column == "y"
    assert alarm.cells[0].value == "30"
    assert abs(float(alarm.cells[0].expected)) < 10
    assert alarm.sentence.startswith("novel: error ")
    assert "unusual (expected values in brackets): y = 30 (" in alarm.sentence
    assert model.predict(odd).tolist() == [-1, 1]
    assert calm.sentence.startswith("ordinary")
    assert model.reconstruct(odd).shape == (2, 4)
    assert model.reconstruct(odd)[1, 2] == odd["sign"].iloc[1]
    assert model.encode(odd).shape == (2, 2)


def test_missing_cells_do_not_count() -> None:
    X = line(100)
    X[:40, 1] = np.nan
    model = quick(bottleneck=1).fit(X)
    row = np.array([[1.0, np.nan, -1.0]])
    assert model.predict(row).tolist() == [1]
    assert model.column_errors(row)[0, 1] == 0.0
    assert model.score_samples(np.full((1, 3), np.nan)).tolist() == [0.0]
    assert model.coding_.input_shape == (4,)  # one more that says what is there
    odd = np.array([[1.0, 2.0, 9.0]])
    assert model.predict(odd).tolist() == [-1]


def test_lines_and_false_alarms() -> None:
    X = line(400)
    plain = quick(bottleneck=1, threshold=DeviationThreshold(1.0)).fit(X)
    held, judged = (part for part in plain._parts(400, _rows_stream())[1:])
    errors = -plain.score_samples(X)
    assert -plain.offset_ == pytest.approx(errors[held].mean() + errors[held].std(), rel=1e-9)
    rate = float((errors[judged] > -plain.offset_).mean())
    assert plain.false_alarm_rate_ == rate
    low, high = plain.false_alarm_interval_
    assert low < rate < high
    fresh = quick(bottleneck=1, threshold=QuantileThreshold(0.1)).fit(X)
    share = (fresh.predict(line(4000, seed=9)) == -1).mean()
    assert fresh.false_alarm_interval_[0] < share < fresh.false_alarm_interval_[1]


def test_a_line_by_few_rows_is_told_with_its_numbers() -> None:
    with pytest.warns(FewRowsWarning) as heard:
        model = quick(bottleneck=1).fit(line(12))
    (said,) = (str(one.message) for one in heard if one.category is FewRowsWarning)
    assert "draws its line by 1 row and counts false alarms by 1 other:" in said
    assert "between 0" in said
    assert "97.5" in said
    assert "validation_fraction=0.2" in said
    assert model.false_alarm_interval_ == pytest.approx([0.0, 0.975])
    # From six rows on, no false alarm says that they are less than half.
    assert (
        quick(bottleneck=1, threshold=DeviationThreshold(9.0))
        .fit(line(60))
        .false_alarm_interval_[1]
        < 0.5
    )


def _rows_stream() -> Any:
    from novum.core.runtime import seed_sequence, stream

    return stream(seed_sequence(0), "rows")


def test_images_by_convolutions() -> None:
    rng = np.random.default_rng(0)
    strength = rng.uniform(1, 2, size=(60, 1, 1))
    bars = strength * np.ones((60, 6, 6)) * (np.arange(6) % 2) + 0.05 * rng.normal(size=(60, 6, 6))
    stack = Stack((1, 6, 6), (Convolution(3, 3, 2, 1), Activation("relu")))
    for tied in (False, True):
        model = AutoencoderDetector(2, layers=stack, tied=tied, random_state=0, noise=0.3).fit(bars)
        assert model.network_.encoder.output_shape == (2,)
        turned = bars.transpose(0, 2, 1)
        assert (model.predict(turned) == -1).mean() > 0.9
        assert (model.predict(bars) == 1).mean() > 0.9
    flat = Stack((1, 6, 6), (Flatten(), Dense(2)))
    assert AutoencoderDetector(layers=flat, random_state=0).fit(bars).network_.encoder is flat
    with pytest.raises(InputError, match="Image 1 is 6 x 5"):
        model.fit([np.zeros((6, 6)), np.zeros((6, 5))])
    with pytest.raises(InputError, match="36 numbers"):
        model.fit(np.zeros((20, 5, 5)))
    with pytest.raises(InputError, match="larger than"):
        Stack((1, 6, 6), (Convolution(3, 3, 4), Convolution(3, 3)))


def test_odd_tables() -> None:
    X = line(60)
    X[:, 1] = 7.0
    model = quick(bottleneck=1, batch_size=4096).fit(X)
    assert model.predict([[0.0, 7.0, 0.0], [0.0, 70.0, 0.0]]).tolist() == [1, -1]
    X[:, 1] = np.nan
    with pytest.warns(UserWarning, match=r"1 of 3 columns have no cell .*'x1'"):
        empty = quick(bottleneck=1).fit(X)
    scores = empty.score_samples([[0.0, 1e6, 0.0], [0.0, np.nan, 0.0]])
    assert scores[0] == pytest.approx(scores[1])
    with pytest.raises(InputError, match="at least 4 rows"):
        quick().fit(line(3))
    with pytest.raises(InputError, match="hidden="):
        quick(hidden=(0,)).fit(line())
    with pytest.raises(InputError, match=r"Use device='cpu'"):
        quick(device="nonsense").fit(line())
    with pytest.raises(InputError, match="too far"):
        quick().fit(line(60) * 1e-300).score_samples([[1e300, 0, 0]])


def test_files_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    model = quick().fit(mixed_table())
    path = tmp_path / "model.novum"
    save(model, path)
    table = mixed_table(30, seed=3)
    assert load(path).score_samples(table).tobytes() == model.score_samples(table).tobytes()
    assert b"pickle" not in path.read_bytes()
    model.weights_[2] = model.weights_[2][:-1]
    save(model, path)
    with pytest.raises(ModelFileError, match="another network"):
        load(path)
    other = quick().fit(mixed_table())
    other.network_ = AutoencoderNetwork(dense_stack((9, 2), "tanh"), dense_stack((2, 7), "tanh"))
    save(other, path)
    with pytest.raises(ModelFileError):
        load(path)


HIDDEN = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, NoTorch())
import numpy as np, novum, novum.neural
from novum.neural import *
from novum.linear import LinearRegression
X = np.random.default_rng(0).normal(size=(30, 3))
print(Stack((1, 8, 8), (Convolution(2, 3), Pooling(2))).n_parameters)
LinearRegression().fit(X, X[:, 0])
assert not has_torch()
from novum.core import load
model = load(sys.argv[1])
for attempt in (lambda: AutoencoderDetector().fit(X), lambda: model.predict(X),
                Stack((1, 8, 8), (Convolution(2, 3),)).to_torch):
    try:
        attempt()
    except ImportError as error:
        print(error)
"""


def test_without_torch_everything_else_works(tmp_path: Path) -> None:
    save(quick(bottleneck=1).fit(line()), tmp_path / "model.novum")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HIDDEN, str(tmp_path / "model.novum")],
        capture_output=True, text=True, check=False, env=os.environ,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    install = "pip install '.[neural]' in a copy of the sources"
    said = f"Neural networks need torch, which is not installed: {install}."
    assert done.stdout.splitlines() == ["20", said, said, said]
