"""The report of a run: one HTML page, a function of its record alone."""

from novum.apps.report.page import render, write_report

__all__ = ["render", "write_report"]
