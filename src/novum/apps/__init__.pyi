from novum.apps.runs import Report, Run, run

__all__ = ["Report", "Run", "run"]
