"""`novum demo`: real output of a real fit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from novum.apps.cli.demo import report


def test_the_command_prints_certificate_inference_and_an_honest_score(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("novum")
    done = subprocess.run(
        [command, "demo"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "verdict         proved" in done.stdout
    assert "bmi" in done.stdout
    assert "Predictions of rows left out in 10 folds" in done.stdout


def test_the_report_is_the_textbook_arithmetic() -> None:
    y, predicted = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 2.0])
    folds = [(None, np.array([0, 1])), (None, np.array([2, 3]))]
    text = report(y, predicted, folds, 0.9)
    # Squared errors sum to 4 of 5; fold errors are 0 and sqrt(2), so the mean is 0.71 +- 0.71.
    assert "R2 0.200" in text
    assert "error 0.71 +- 0.71" in text
