"""Progress of a fit: scikit-learn's callbacks, a bar on a terminal, otherwise silence.

A fit opens one `track` and reports its steps; where they go is decided here, once:

- to the callbacks that the user registered with `set_callbacks` (scikit-learn 1.9 and later): each
  step is a task below the fit's own task, with begin and end, and a callback that returns True at
  a step's end asks the fit to stop;
- to a bar on standard error if the estimator's `verbose` is set and someone is looking;
- nowhere otherwise, at the cost of one method call per step.

Estimators inherit `CallbackSupport`, which is scikit-learn's mixin where there is one and empty
otherwise, so that the same classes work with 1.7 and 1.8.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Protocol

from novum.core.runtime.interrupts import on_terminal
from novum.core.text import printable

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands in for the mixin of scikit-learn 1.9; adds nothing."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Stands in for the decorator of scikit-learn 1.9; changes nothing."""
        return method


Attributes = Mapping[str, Any]


class Display(Protocol):
    """One place that steps are shown."""

    def advance(self, note: str, fitted: Callable[[], Attributes] | None, /) -> bool:
        """Show one more step; True asks the fit to stop."""

    def note(self, text: str) -> None:
        """Show a line of text."""

    def close(self, *, finished: bool) -> None:
        """Clean up, also after an error (`finished=False`)."""


# --- What fits use --------------------------------------------------------------------------------


class Progress:
    """Steps of one task, passed on to every display; a context manager made by `track`.

    Examples
    --------
    >>> with Progress() as progress:
    ...     progress.advance(note="no display, no output")
    False
    """

    def __init__(self, *displays: Display) -> None:
        self._displays = displays

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for display in self._displays:
            display.close(finished=kind is None)

    def advance(
        self, n: int = 1, note: str = "", *, fitted: Callable[[], Attributes] | None = None
    ) -> bool:
        """Report `n` finished steps.

        Parameters
        ----------
        n : int
            Steps done since the last call.
        note : str
            A few words on where the fit stands, such as its objective.
        fitted : callable, optional
            Gives the attributes of a model that stopped now, for callbacks that want to score it;
            called only if one does.

        Returns
        -------
        bool
            True when a callback asks the fit to stop.
        """
        stop = False
        for _ in range(n):
            for display in self._displays:
                stop |= display.advance(note, fitted)
        return stop

    def note(self, text: str) -> None:
        """Show a line that is no step, such as the cost of a call that cannot be interrupted."""
        for display in self._displays:
            display.note(text)


SILENT: Progress = Progress()


def track(
    estimator: Any, name: str = "fit", total: int | None = None, *, X: Any = None, y: Any = None
) -> Progress:
    """Open the progress of one task of an estimator.

    Parameters
    ----------
    estimator : estimator
        Its callbacks are called, and its `verbose`, if it has one, opens a bar on a terminal.
    name : str
        Name of the task.
    total : int, optional
        Largest number of steps, if known.
    X, y : optional
        Training data as the callbacks should see it.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Learner(CallbackSupport, BaseEstimator):
    ...     def fit(self, X):
    ...         with track(self, "fit", total=2) as progress:
    ...             for _ in range(2):
    ...                 progress.advance()
    ...         return self
    >>> Learner().fit([[1.0]])
    Learner()
    """
    displays: list[Display] = []
    if getattr(estimator, "_skl_callbacks", None) and hasattr(estimator, "_init_callback_context"):
        displays.append(_CallbackTask(estimator, name, total, {"X": X, "y": y}))
    if getattr(estimator, "verbose", False) and on_terminal():
        displays.append(_bar(f"{type(estimator).__name__} {name}", total))
    return Progress(*displays) if displays else SILENT


# --- scikit-learn's callbacks ---------------------------------------------------------------------


class _CallbackTask:
    """A task in scikit-learn's tree: the fit itself, or a part of it if a fit is under way."""

    def __init__(self, estimator: Any, name: str, total: int | None, data: dict[str, Any]) -> None:
        self._estimator, self._data = estimator, data
        outer = getattr(estimator, "_callback_fit_ctx", None)
        self._is_root = outer is None
        try:
            if outer is None:
                self._context = estimator._init_callback_context(task_name=name, max_subtasks=total)
            else:
                self._context = _part(outer, name, total)
            if self._context is not None:
                self._context.call_on_fit_task_begin(estimator=estimator, **data)
        except BaseException:
            self.close(finished=False)
            raise

    def advance(self, _note: str, fitted: Callable[[], Attributes] | None, /) -> bool:
        step = None if self._context is None else _part(self._context, "iteration", 0)
        if step is None:
            return False
        step.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        stop = step.call_on_fit_task_end(
            estimator=self._estimator, **self._data, reconstruction_attributes=fitted
        )
        return bool(stop)

    def note(self, text: str) -> None:
        """Callbacks have no place for remarks."""

    def close(self, *, finished: bool) -> None:
        try:
            if finished and self._context is not None:
                self._context.call_on_fit_task_end(estimator=self._estimator, **self._data)
        finally:
            if self._is_root:
                _tear_down(self._estimator)


def _part(outer: Any, name: str, total: int | None) -> Any:
    """A task below another, or `None` when that one announced fewer parts than it has."""
    try:
        return outer.subcontext(task_name=name, max_subtasks=total)
    except ValueError:
        # Progress that cannot be shown is no reason to end a fit.
        return None


@with_callbacks
def _tear_down(estimator: Any) -> None:
    """End the callbacks of the estimator, as scikit-learn does after a decorated fit."""


# --- Bars -----------------------------------------------------------------------------------------


def _bar(name: str, total: int | None) -> Display:
    try:
        import rich  # noqa: F401
    except ImportError:
        return _LineBar(name, total)
    return _RichBar(name, total)


class _RichBar:
    """A bar drawn by rich on standard error."""

    def __init__(self, name: str, total: int | None) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=Console(file=sys.stderr),
        )
        self._task = self._bars.add_task(escape(printable(name)), total=total, note="")
        self._bars.start()

    def advance(self, note: str, _fitted: Callable[[], Attributes] | None, /) -> bool:
        self._bars.update(self._task, advance=1, note=printable(note))
        return False

    def note(self, text: str) -> None:
        self._bars.console.print(printable(text), markup=False, highlight=False)

    def close(self, *, finished: bool) -> None:
        if finished:
            # A fit that converged before its last allowed step is complete all the same.
            self._bars.update(self._task, total=self._bars.tasks[0].completed)
        self._bars.stop()


class _LineBar:
    """A line per second on standard error, for installations without rich."""

    def __init__(self, name: str, total: int | None) -> None:
        self._name, self._total, self._done = printable(name), total, 0
        self._last = time.perf_counter()

    def advance(self, note: str, _fitted: Callable[[], Attributes] | None, /) -> bool:
        self._done += 1
        if time.perf_counter() - self._last >= 1.0 or self._done == self._total:
            self._last = time.perf_counter()
            of = "" if self._total is None else f" of {self._total}"
            self.note(f"{self._name}: {self._done}{of} {note}".rstrip())
        return False

    def note(self, text: str) -> None:
        print(printable(text), file=sys.stderr, flush=True)

    def close(self, *, finished: bool) -> None:
        """Lines need no cleaning up."""
