"""The training loop: Adam by its formula, kills, interrupts, and losses that are no numbers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.files import load
from novum.core.learners import ConvergenceWarning
from novum.core.runtime import SILENT, Progress, seed_sequence
from novum.neural import (
    AutoencoderDetector,
    GenerativeAdversarialNetwork,
    VariationalAutoencoder,
    detector,
    training,
)
from novum.neural.backend import one_torch_thread
from novum.neural.training import Adam, Schedule, TrainingState, train
from tests.neural.tables import line

torch = pytest.importorskip("torch")


def quick(**settings: Any) -> AutoencoderDetector:
    return AutoencoderDetector(
        1, **{"hidden": (4,), "random_state": 0, "batch_size": 16, "max_iter": 200} | settings
    )


def test_adam_is_its_formula() -> None:
    rng = np.random.default_rng(0)
    start = [rng.normal(size=(2, 3)), rng.normal(size=4)]
    adam = Adam(start, "cpu", torch.float64)
    w = np.concatenate([a.ravel() for a in start])
    m, v = np.zeros(10), np.zeros(10)
    scale = rng.uniform(0.5, 2, 10)
    for t in range(1, 6):
        flat = torch.cat([view.reshape(-1) for view in adam.views])
        adam.step((torch.tensor(scale) * flat**4).sum(), 0.1)
        g = 4 * scale * w**3
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        w = w - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        np.testing.assert_allclose(adam.weights.numpy(), w, rtol=1e-12)


class Falling:
    """A loss that falls to 0; after some steps it is no number."""

    unit, warm_up = 0.0, 0

    def __init__(self, bad_step: int) -> None:
        self.optimizers = {"network": Adam([np.array([3.0])], "cpu", torch.float64)}
        self.bad, self.step = bad_step, 0

    def learn(self, rows: Any, rng: Any, rate: float, epoch: int) -> float:
        del rows, rng, epoch
        self.step += 1
        (w,) = self.optimizers["network"].views
        loss = (w**2).sum() * (float("nan") if self.step == self.bad else 1.0)
        self.optimizers["network"].step(loss, rate)
        return float(loss.detach())

    def judge(self) -> float:
        return float(self.optimizers["network"].weights[0]) ** 2

    def locate(self, rows: Any) -> str:
        return f"the square of {len(rows)} rows"


def run(task: Any, path: Path | None = None, **more: Any) -> tuple[TrainingState, str]:
    schedule = Schedule(**{"n_rows": 6, "batch_size": 2, "max_iter": 9, "rate": 0.1, "tol": 0.0,
                           "patience": 3} | more)  # fmt: skip
    return train(task, schedule, seed_sequence(0), "mark", path, SILENT)


def test_a_loss_that_is_no_number_ends_with_the_last_good_state(tmp_path: Path) -> None:
    task = Falling(bad_step=8)
    state, trouble = run(task, tmp_path / "state.novum")
    assert "gradient became NaN or infinite in epoch 3, batch 2 of 3" in trouble
    assert "first in the square of 2 rows; the weights of epoch 2 were kept" in trouble
    assert (state.epoch, state.best_epoch, state.stopped_by) == (2, 2, "not finite")
    good, _ = run(Falling(bad_step=-1), max_iter=2)
    assert task.optimizers["network"].weights.tolist() == good.best["network"].tolist()
    assert load(tmp_path / "state.novum").best["network"].tolist() == good.best["network"].tolist()
    with pytest.raises(InputError, match=r"failed at once.*epoch 1, batch 2.*learning_rate"):
        run(Falling(bad_step=2))


def test_a_detector_says_where_it_was_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="layer 1 of the decoder, Dense"):
        quick(activation="linear", learning_rate=1e200, hidden=()).fit(line())
    whole, steps = Adam.step, []

    def broken(self: Adam, loss: Any, rate: float) -> None:
        steps.append(rate)
        whole(self, loss * float("nan") if len(steps) == 17 else loss, rate)

    monkeypatch.setattr(Adam, "step", broken)
    with pytest.warns(ConvergenceWarning, match=r"epoch 5, batch 1.*weights of epoch 4.*Lower"):
        model = quick().fit(line())
    assert model.certificate_.details["stopped_by"] == "not finite"
    assert np.isfinite(model.score_samples(line())).all()


def test_early_stopping_and_the_best_weights() -> None:
    model = quick(patience=2).fit(line())
    losses = model.certificate_.trace
    assert model.certificate_.details["best_epoch"] == int(np.argmin(losses)) + 1
    assert model.certificate_.value == min(losses)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert quick(max_iter=2, patience=5).fit(line()).n_iter_ == 2


def test_torch_is_held_to_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, threads = Adam.step, []

    def counting(self: Adam, loss: Any, rate: float) -> None:
        threads.append(torch.get_num_threads())
        whole(self, loss, rate)

    monkeypatch.setattr(Adam, "step", counting)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        quick().fit(line())
        assert set(threads) == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


# --- Kills and interrupts -------------------------------------------------------------------------


def weights_of(model: Any) -> bytes:
    return (
        b"".join(w.tobytes() for w in model.weights_) + model.certificate_.trace.__repr__().encode()
    )


def in_child(function: Any) -> int:
    """Runs in a forked process; the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            function()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_after_kills_at_ten_points_the_bits_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, path = line(), tmp_path / "state.novum"
    whole = quick().fit(X)
    assert whole.n_iter_ > 11
    save = training.save

    def killed_at(epoch: int, before: bool) -> None:
        """Before the state of the epoch is written, or after."""

        def dying(state: Any, target: Path) -> None:
            if before and state.epoch == epoch:
                os.kill(os.getpid(), signal.SIGKILL)
            save(state, target)
            if state.epoch == epoch:
                os.kill(os.getpid(), signal.SIGKILL)

        monkeypatch.setattr(training, "save", dying)
        quick(checkpoint=path).fit(X)

    for point, epoch in enumerate((1, 2, 3, 4, 5, 6, 7, 8, 9, 11)):
        code = in_child(lambda e=epoch, b=point % 2 == 1: killed_at(e, b))
        assert code == -signal.SIGKILL
    monkeypatch.setattr(training, "save", save)
    assert load(path).epoch == 10
    resumed = quick(checkpoint=path).fit(X)
    assert weights_of(resumed) == weights_of(whole)
    # A finished training is not done again, and more epochs may be asked for later.
    monkeypatch.setattr(training, "_epoch", None)
    assert weights_of(quick(checkpoint=path).fit(X)) == weights_of(whole)


def test_ctrl_c_ends_within_a_batch_and_keeps_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, path = line(), tmp_path / "state.novum"
    whole, steps = Adam.step, []

    def interrupted(self: Adam, loss: Any, rate: float) -> None:
        steps.append(rate)
        if len(steps) == 14:
            signal.raise_signal(signal.SIGINT)
        whole(self, loss, rate)

    model = quick(checkpoint=path)
    with monkeypatch.context() as patch:
        patch.setattr(Adam, "step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
    assert len(steps) == 14
    assert not hasattr(model, "weights_")
    assert load(path).epoch == 3  # four batches an epoch
    assert weights_of(model.fit(X)) == weights_of(quick().fit(X))


def test_checkpoints_of_other_trainings_are_refused(tmp_path: Path) -> None:
    X, path = line(), tmp_path / "state.novum"
    quick(checkpoint=path).fit(X)
    others = [(quick(checkpoint=path, hidden=(5,)), X), (quick(checkpoint=path), X + 1e-9)]
    for other, rows in [*others, (quick(checkpoint=path, random_state=1), X)]:
        with pytest.raises(InputError, match="another training"):
            other.fit(rows)
    with pytest.raises(InputError, match="integer as random_state"):
        quick(checkpoint=path, random_state=None).fit(X)


@pytest.mark.filterwarnings("ignore:.*stopped early")
@pytest.mark.parametrize("kind", [VariationalAutoencoder, GenerativeAdversarialNetwork])
def test_other_networks_go_on_with_the_same_bits(kind: Any, tmp_path: Path) -> None:
    X, path = line(), tmp_path / "state.novum"
    settings = {"hidden": (4,), "random_state": 0, "batch_size": 16, "patience": 50}
    for epochs in (1, 3, 8):
        last = kind(1, **settings, checkpoint=path, max_iter=epochs).fit(X)
    assert weights_of(last) == weights_of(kind(1, **settings, max_iter=8).fit(X))


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shown(Progress):
        notes: list[str] = []  # noqa: RUF012

        def advance(self, n: int = 1, note: str = "", *, fitted: Any = None) -> bool:
            del n, fitted
            self.notes.append(note)
            return len(self.notes) == 4

    monkeypatch.setattr(detector, "track", lambda *_, **__: Shown())
    model = quick().fit(line())
    assert model.n_iter_ == 4  # somebody asked to stop
    shown = [float(note.removeprefix("loss ")) for note in Shown.notes]
    assert shown == pytest.approx(model.certificate_.trace, rel=1e-3)
    assert model.certificate_.details["stopped_by"] == "callback"


CHILD = """
import sys
import threading
from novum.neural import AutoencoderDetector
from tests.neural.tables import line
AutoencoderDetector(
    1, hidden=(4,), random_state=0, batch_size=4, max_iter=120, tol=0.0, patience=1000,
    checkpoint=sys.argv[1],
).fit(line(200))
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*stopped early")
def test_a_process_killed_ten_times_ends_with_the_same_bits(tmp_path: Path) -> None:
    path = tmp_path / "state.novum"
    rng, kills = np.random.default_rng(0), 0
    while kills < 10:
        process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", CHILD, str(path)])
        before = load(path).epoch if path.exists() else 0
        while not path.exists() or (load(path).epoch == before and process.poll() is None):
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    settings = {"batch_size": 4, "max_iter": 120, "tol": 0.0, "patience": 1000}
    resumed = quick(checkpoint=path, **settings).fit(line(200))
    assert weights_of(resumed) == weights_of(quick(**settings).fit(line(200)))


def test_threads_of_torch_are_restored_however_blocks_overlap() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with one_torch_thread(), one_torch_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
        entered, leave = threading.Event(), threading.Event()

        def other() -> None:
            with one_torch_thread():
                entered.set()
                leave.wait()

        worker = threading.Thread(target=other)
        with one_torch_thread():
            worker.start()
            entered.wait()
        leave.set()
        worker.join()
        # A new thread gets the number of the process; this one has its own back after a block.
        seen: list[int] = []
        late = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
        late.start()
        late.join()
        with one_torch_thread():
            pass
        assert (seen, torch.get_num_threads()) == ([2], 2)
    finally:
        torch.set_num_threads(before)
