"""The options of a run offer what a request takes."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

from novum.apps.cli.run_options import PresetChoice, TaskChoice
from novum.apps.job import request
from tests.apps.cli.commands import invoke


def test_choices_are_those_of_a_request() -> None:
    assert tuple(TaskChoice) == get_args(request.TaskChoice)
    assert tuple(PresetChoice) == get_args(request.Preset)


def test_every_setting_of_a_request_has_an_option() -> None:
    shown = invoke("run", "--help").stdout
    names = {"table": "table", "budget_seconds": "--budget", "repeats": "--cv", "folds": "--cv"}
    names |= {"n_jobs": "--jobs", "refit": "--no-refit", "targets": "--target"}
    for field in fields(request.Request):
        assert names.get(field.name, f"--{field.name.replace('_', '-')}") in shown
