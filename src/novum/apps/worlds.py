"""Worlds from files: grids and tables of outcomes in TOML.

A grid:

    [grid]
    map = '''
    ...+
    .#.-
    S...
    '''
    living_reward = -0.04
    slip = 0.2

Any other process, by its states and actions:

    discount = 0.9
    start = "good"

    [states.good.run]
    reward = 10
    to = {good = 0.8, worn = 0.2}

    [states.end]          # without actions: terminal

A reward may be a table by next state. `discount` stands at the top of either.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from novum.core.errors import FileFormatError, InputError
from novum.core.text import label_text, listed, meant
from novum.reinforcement import GridWorld, MarkovDecisionProcess

_GRID = ("map", "living_reward", "slip", "ends")
_TOP = ("discount", "start", "states", "grid")
_ACTION = ("to", "reward", "ends")


def read_world(path: Path) -> MarkovDecisionProcess:
    """The process that a TOML file describes."""
    if not path.exists():
        raise InputError(f"There is no file {str(path)!r}. Check the name and the folder.")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path.name} is not TOML: {error}.") from None
    _check_keys(content, _TOP, path.name)
    if ("grid" in content) == ("states" in content):
        raise InputError(
            f"{path.name} describes a world by [grid] or by [states.NAME.ACTION], one of both."
        )
    discount = content.get("discount", 1.0)
    if "grid" in content:
        return _grid(content["grid"], discount, path.name)
    return _table(content["states"], discount, content.get("start"), path.name)


def _grid(given: Any, discount: float, name: str) -> MarkovDecisionProcess:
    if not isinstance(given, dict):
        raise InputError(f"[grid] of {name} is a table with a map.")
    _check_keys(given, _GRID, f"[grid] of {name}")
    ends = {}
    for key, reward in given.get("ends", {}).items():
        try:
            column, row = (int(part) for part in key.split(","))
        except ValueError:
            raise InputError(
                f"An end of {name} is named by its column and row, such as '4,3'; got {key!r}."
            ) from None
        ends[column, row] = float(reward)
    options = {key: given[key] for key in ("map", "living_reward", "slip") if key in given}
    return GridWorld(**options, discount=discount, ends=ends or None).process


def _table(given: Any, discount: float, start: Any, name: str) -> MarkovDecisionProcess:
    if not isinstance(given, dict) or not given:
        raise InputError(f"[states] of {name} has a table for each state.")
    table: dict[str, dict[str, list[tuple[Any, ...]]]] = {}
    for state, actions in given.items():
        table[state] = {}
        for action, step in actions.items():
            where = f"[states.{state}.{action}] of {name}"
            if not isinstance(step, dict) or not isinstance(step.get("to"), dict):
                raise InputError(f"{where} needs `to`, a table of next states and probabilities.")
            _check_keys(step, _ACTION, where)
            table[state][action] = [
                (chance, to, _reward(step, to, where)) for to, chance in step["to"].items()
            ]
            unknown = [to for to in step["to"] if to not in given]
            if unknown:
                raise InputError(
                    f"{where} leads to {label_text(unknown[0])}, which is no state; "
                    f"{meant(unknown[0], list(given))}"
                )
    return MarkovDecisionProcess.from_outcomes(table, discount, start=start)


def _reward(step: dict[str, Any], to: str, where: str) -> float:
    reward = step.get("reward", 0.0)
    if isinstance(reward, dict):
        reward = reward.get(to, 0.0)
    if not isinstance(reward, int | float) or isinstance(reward, bool):
        raise InputError(f"The reward of {where} is a number, got {label_text(reward)}.")
    return float(reward)


def _check_keys(given: dict[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key not in known:
            raise InputError(
                f"{where} has {label_text(key)}, which means nothing here; it may have "
                f"{listed(known)}."
            )
