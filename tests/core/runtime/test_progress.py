"""Progress: scikit-learn's own callbacks, a recording one, bars on terminals, silence elsewhere."""

import builtins
import importlib.util
import io
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV

from novum.core.runtime import SILENT, CallbackSupport, track, with_callbacks
from novum.core.runtime import progress as module

callback = pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")


class Counter(CallbackSupport, BaseEstimator):
    """Fits nothing in `steps` steps; remembers whether it was told to stop."""

    def __init__(self, steps: int = 3, total: int | None = 3, verbose: bool = False) -> None:
        self.steps = steps
        self.total = total
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> "Counter":
        with track(self, "fit", total=self.total, X=X, y=y) as progress:
            for step in range(self.steps):
                if step == 2 and X is None:
                    raise RuntimeError("broken")
                if progress.advance(note=f"value {step}", fitted=lambda: {"mean_": 7.0}):
                    break
            self.done_ = step + 1
        return self


class Recorder:
    """Writes down every hook as `(event, task, number)`; stops the fit at step `stop_at`."""

    def __init__(self, stop_at: int = -1) -> None:
        self.events: list[tuple[str, str, int]] = []
        self.models: list[Any] = []
        self.stop_at = stop_at

    def _record(self, event: str, estimator: Any, context: Any) -> None:
        assert isinstance(estimator, Counter)
        self.events.append((event, context.task_name, context.task_id))

    def setup(self, estimator: Any, context: Any) -> None:
        self._record("setup", estimator, context)

    def teardown(self, estimator: Any, context: Any) -> None:
        self._record("teardown", estimator, context)

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self._record("begin", estimator, context)

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> bool:
        self._record("end", estimator, context)
        self.models.append(fitted_estimator)
        return bool(context.task_name == "iteration" and context.task_id == self.stop_at)


ITERATIONS = [(event, "iteration", number) for number in range(3) for event in ("begin", "end")]


# --- Callbacks ------------------------------------------------------------------------------------


def test_hooks_come_in_order_and_once() -> None:
    recorder = Recorder()
    Counter().set_callbacks(recorder).fit([[1.0]])
    assert recorder.events == [
        ("setup", "fit", 0),
        ("begin", "fit", 0),
        *ITERATIONS,
        ("end", "fit", 0),
        ("teardown", "fit", 0),
    ]
    assert [model.mean_ for model in recorder.models[:3]] == [7.0] * 3


def test_a_second_fit_and_a_clone_report_again() -> None:
    recorder = Recorder()
    model = Counter().set_callbacks(recorder).fit([[1.0]])
    first = list(recorder.events)
    model.fit([[1.0]])
    clone(model).fit([[1.0]])
    assert recorder.events == first * 3


def test_a_decorated_fit_tears_down_once() -> None:
    class Decorated(Counter):
        fit = with_callbacks(Counter.fit)

    recorder = Recorder()
    Decorated().set_callbacks(recorder).fit([[1.0]])
    assert [event for event, _, _ in recorder.events].count("teardown") == 1


def test_a_callback_can_stop_the_fit() -> None:
    assert Counter().set_callbacks(Recorder(stop_at=1)).fit([[1.0]]).done_ == 2


def test_a_failed_fit_is_torn_down_without_an_end() -> None:
    recorder = Recorder()
    model = Counter().set_callbacks(recorder)
    with pytest.raises(RuntimeError, match="broken"):
        model.fit(None)
    assert recorder.events[-1] == ("teardown", "fit", 0)
    assert ("end", "fit", 0) not in recorder.events
    assert not hasattr(model, "_callback_fit_ctx")


def test_a_callback_that_fails_at_the_beginning_is_torn_down() -> None:
    class Failing(Recorder):
        def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
            raise RuntimeError(f"no screen for {context} of {estimator}")

    recorder = Failing()
    model = Counter().set_callbacks(recorder)
    with pytest.raises(RuntimeError, match="no screen"):
        model.fit([[1.0]])
    assert recorder.events[-1] == ("teardown", "fit", 0)
    assert not hasattr(model, "_callback_fit_ctx")


def test_more_steps_than_announced_are_no_error() -> None:
    recorder = Recorder()
    model = Counter(steps=9, total=3).set_callbacks(recorder).fit([[1.0]])
    assert model.done_ == 9
    assert [event for event in recorder.events if event[1] == "iteration"] == ITERATIONS


def test_parts_of_a_fit_are_tasks_below_it() -> None:
    class Nested(Counter):
        def fit(self, X: Any, y: Any = None) -> "Nested":
            with track(self, "fit", total=2, X=X, y=y) as outer:
                for part in ("grow", "prune", "surplus"):
                    with track(self, part, total=1) as inner:
                        inner.advance()
                assert not outer.advance()
            return self

    recorder = Recorder()
    Nested().set_callbacks(recorder).fit([[1.0]])
    names = [(event, name) for event, name, _ in recorder.events]
    assert names.count(("begin", "grow")) == names.count(("end", "prune")) == 1
    assert ("begin", "surplus") not in names
    assert names.count(("teardown", "fit")) == 1
    assert names[-1] == ("teardown", "fit")


def test_the_progress_bar_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    Counter().set_callbacks(callback.ProgressBar()).fit([[1.0]])
    assert "Counter - fit" in screen.getvalue()
    assert "100%" in screen.getvalue()


def test_a_search_shows_the_fits_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    search = GridSearchCV(Counter(), {"steps": [2, 3]}, cv=2, scoring=lambda *_: 0.0)
    search.set_callbacks(callback.ProgressBar()).fit(np.ones((4, 1)))
    # Two settings on two folds, and the final fit.
    assert screen.getvalue().count("Counter - fit #") >= 5


def test_the_scoring_monitor_of_scikit_learn_gets_models() -> None:
    monitor = callback.ScoringMonitor(scoring={"score": lambda model, X, y: model.mean_ + X @ y})
    Counter().set_callbacks(monitor).fit(np.ones((1, 2)), np.ones(2))
    assert [row["score"] for row in monitor.get_logs().data] == [9.0] * 3


# --- Bars -----------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_silent_by_default_and_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert track(Counter()) is SILENT
    Counter(verbose=True).fit([[1.0]])
    assert capsys.readouterr() == ("", "")


def test_verbose_draws_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with track(Counter(verbose=True), "fit [bold]", total=10) as progress:
        assert not progress.advance(2, note="[red]\x1b[2J")
        progress.note("a remark [blue]")
    text = screen.getvalue()
    assert "Counter fit [bold]" in text
    assert "[red]\\x1b[2J" in text
    assert "a remark [blue]" in text
    # Two of ten steps sufficed: the finished bar is full.
    assert "2/2" in text


def test_a_failed_fit_leaves_the_bar_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with pytest.raises(RuntimeError, match="broken"):
        Counter(total=10, verbose=True).fit(None)
    assert "2/10" in screen.getvalue()


def test_without_rich_lines_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_rich(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == "rich":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(builtins, "__import__", without_rich)
    with track(Counter(verbose=True), "fit", total=3) as progress:
        progress.advance(3, note="value 1")
        progress.note("a remark")
    assert screen.getvalue() == "Counter fit: 3 of 3 value 1\na remark\n"


# --- Older scikit-learn ---------------------------------------------------------------------------


def test_without_callbacks_in_scikit_learn_all_still_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    spec = importlib.util.spec_from_file_location("older_progress", module.__file__)
    assert spec is not None
    assert spec.loader is not None
    older = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(older)

    class Learner(older.CallbackSupport, BaseEstimator):  # type: ignore[name-defined,misc]
        @older.with_callbacks  # type: ignore[untyped-decorator]
        def fit(self, X: Any) -> "Learner":
            self.n_rows_ = len(X)
            with older.track(self, "fit", total=1) as progress:
                assert progress.advance() is False
            return self

    assert not hasattr(Learner(), "set_callbacks")
    assert isinstance(Learner().fit([[1.0]]), Learner)
