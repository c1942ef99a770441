"""`novum models`: the table of families, none left out."""

from __future__ import annotations

import json

from novum.apps.job.families import FAMILIES
from tests.apps.cli.commands import invoke


def test_every_family_is_listed_with_what_it_takes() -> None:
    done = invoke("models")
    assert done.exit_code == 0, done.output
    names = [line.split()[0] for line in done.stdout.splitlines() if line[:1].isalpha()]
    assert names[1:-1] == [family.name for family in FAMILIES]
    assert "C 1.0, 0.1, 10.0, 0.01," in done.stdout
    assert "filled before" in done.stdout


def test_json_has_the_settings_that_are_tried() -> None:
    told = json.loads(invoke("models", "--json").stdout)
    assert [row["name"] for row in told] == [family.name for family in FAMILIES]
    by_name = {row["name"]: row for row in told}
    assert by_name["tree"]["regression"]["learner"] == "novum.trees:DecisionTreeRegressor"
    assert by_name["tree"]["classification"]["candidates"][0] == {"min_samples_leaf": "5"}
    assert by_name["naive_bayes"]["regression"] is None
    assert by_name["boosting"]["regression"]["candidates"][1] == {"estimator": "of max_depth 3"}
