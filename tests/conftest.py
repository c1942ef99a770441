"""Hypothesis: no deadlines, since the first example may compile a kernel; the same examples in CI.

A push is judged by what it changes, so CI draws the same examples every time; everywhere else new
ones are drawn and a failure found once is kept.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("novum", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "novum")
