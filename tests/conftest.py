"""Hypothesis without deadlines: the first example of a test may compile a kernel."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("novum", deadline=None)
settings.load_profile("novum")
