"""How much of a run is left, from the forecasts of its plan and the pace so far.

The pace is the time that finished work took over the time that was forecast for it, drawn to 1
while little is finished; work under way counts up to its forecast,

    left = pace * (forecast of the present work not yet used + forecasts of what follows).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from novum.apps.job.record import PlanRecord

# Fits of the last stage: settings, learning curve, judged fit, fit for use, importances.
_LAST_FITS = 12
_LAST_SECONDS = 3.0
_DRAWING_SECONDS = 3.0
_STACK_MEMBERS = 3


@dataclass
class Remaining:
    """Work in order, each with its forecast.

    Attributes
    ----------
    forecasts : mapping of str to float
        Titles with seconds, in the order of the work.

    Examples
    --------
    >>> work = Remaining({"a": 10.0, "b": 10.0})
    >>> work.begin("a", now=0.0)
    >>> work.seconds(now=5.0), work.share(now=5.0)
    (15.0, 0.25)
    """

    forecasts: Mapping[str, float]
    _present: str = field(init=False, default="")
    _began: float = field(init=False, default=0.0)
    _used: float = field(init=False, default=0.0)
    _forecast_of_used: float = field(init=False, default=0.0)

    def begin(self, title: str, now: float) -> None:
        """Work of that title begins and the one before is finished; unknown titles are ignored."""
        if title == self._present or title not in self.forecasts:
            return
        if self._present:
            self._used += now - self._began
            self._forecast_of_used += self.forecasts[self._present]
        self._present, self._began = title, now

    def seconds(self, now: float) -> float:
        """Seconds that are left."""
        return self._pace * self._open_forecast(now)

    def share(self, now: float) -> float:
        """Of the whole that is done, between 0 and 1."""
        total = sum(self.forecasts.values())
        return 1.0 - self._open_forecast(now) / total if total > 0 else 1.0

    @property
    def _pace(self) -> float:
        doubt = 0.1 * sum(self.forecasts.values())
        known = self._forecast_of_used + doubt
        return (self._used + doubt) / known if known > 0 else 1.0

    def _open_forecast(self, now: float) -> float:
        if not self._present:
            return sum(self.forecasts.values())
        titles = list(self.forecasts)
        later = titles[titles.index(self._present) + 1 :]
        used = (now - self._began) / self._pace
        # Work that takes longer than forecast is never quite done.
        own = self.forecasts[self._present]
        return max(own - used, 0.05 * own) + sum(self.forecasts[title] for title in later)


def forecasts_of(plan: PlanRecord, stack: str, judging: str, drawing: str) -> dict[str, float]:
    """Titles of the work of a run with their forecasts.

    Parameters
    ----------
    plan : PlanRecord
    stack, judging, drawing : str
        Titles of the trial of stacks, of the stage after the trials, and of the report's.
    """
    tried = [trial for trial in plan.trials if trial.n_fits > 0]
    found = {trial.title: trial.forecast_seconds for trial in tried}
    one_fit = sorted((t.forecast_seconds / t.n_fits for t in tried), reverse=True)
    n_stacked = plan.repeats * plan.folds * (plan.inner_folds + 1)
    found[stack] = n_stacked * sum(one_fit[:_STACK_MEMBERS])
    found[judging] = _LAST_SECONDS + _LAST_FITS * max(one_fit, default=0.0)
    found[drawing] = _DRAWING_SECONDS
    return found
