"""Filling missing cells, on purpose and counted, for learners that need every cell."""

from novum.data.filling.fill_missing import FillMissing

__all__ = ["FillMissing"]
