"""The room of the playground: points that are painted, learners that are watched, a grid world.

The server computes all frames of a lesson at once; the page walks through them, forwards and
backwards, without asking again. A link keeps points, settings and step.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter
from pydantic import BaseModel, Field

from novum.apps.studio.rooms import Studio
from novum.core.errors import InputError

MOST_POINTS = 400
Place = Annotated[float, Field(ge=0, le=1)]


class Painted(BaseModel):
    """A lesson with its points: places in the unit square and classes from 0 to 3."""

    lesson: str
    points: list[tuple[Place, Place, Annotated[int, Field(ge=0, le=3)]]] = Field(
        max_length=MOST_POINTS
    )
    settings: dict[str, float | str] = {}


class World(BaseModel):
    """A grid world and what is to be done with it."""

    fields: str = Field(max_length=400)
    method: str
    living_reward: Annotated[float, Field(ge=-10, le=10)] = -0.04
    slip: Annotated[float, Field(ge=0, le=1)] = 0.2
    discount: Annotated[float, Field(gt=0, le=1)] = 1.0


def routes(studio: Studio) -> APIRouter:
    """Below `/api/playground`."""
    del studio
    router = APIRouter()

    @router.get("/lessons")
    def lessons() -> dict[str, Any]:
        from novum.apps.studio.grid_lessons import METHODS
        from novum.apps.studio.lessons import LESSONS

        return {
            "lessons": [
                {
                    "name": one.name,
                    "title": one.title,
                    "about": one.about,
                    "classes": one.needs_classes,
                    "settings": [asdict(setting) for setting in one.settings],
                }
                for one in LESSONS
            ],
            "methods": [{"name": name, "about": about} for name, about in METHODS.items()],
        }

    @router.post("/frames")
    def frames(painted: Painted) -> dict[str, Any]:
        from novum.apps.studio.lessons import LESSONS, Points

        lesson = next((one for one in LESSONS if one.name == painted.lesson), None)
        if lesson is None:
            raise InputError(f"There is no lesson {painted.lesson!r}.")
        cells = np.array(painted.points, np.float64).reshape(-1, 3)
        points = Points(cells[:, :2].copy(), cells[:, 2].astype(np.int64))
        return {"frames": lesson.frames(points, painted.settings)}

    @router.post("/world")
    def world(asked: World) -> dict[str, Any]:
        from novum.apps.studio.grid_lessons import frames, world_of

        made = world_of(asked.fields, asked.living_reward, asked.slip, asked.discount)
        return {
            "width": made.width,
            "height": made.height,
            "frames": frames(made, asked.method),
        }

    return router
