"""Follows one world from step to step, so that its scenes show what happened in between."""

import dataclasses
from typing import Any

import numpy as np

from abmarl.render.scenes.cast import Cast
from abmarl.render.scenes.episode import episode_of
from abmarl.render.scenes.scene import Scene

# What is left of a dead agent, one look after the other.
_FADE = (0.75, 0.45, 0.2)


class Tracker:
    """Makes the scenes of one world: its state, attacks and deaths since the scene before.

    Args:
        sim: a grid simulation, a vectorised one, or a wrapper or manager around one.
        world: which world of a vectorised simulation.
        title: text for the score line.

    Attributes:
        cast: the agents.
        episode: the running episode, see `abmarl.render.scenes.episode`.
        scene: the last one.

    Raises:
        TypeError: `sim` has no grid.
        ValueError: there is no such world, or an agent has an unknown colour.
    """

    def __init__(self, sim: Any, world: int = 0, title: str = ""):
        self.cast = Cast(sim)
        self.world, self.title = world, title
        Scene.of(self.cast.sim, world, cast=self.cast)  # says what is wrong with them
        self.episode = episode_of(self.cast.sim, world)
        self.episode.attacks()
        self._moment: tuple[int, int] | None = None
        self._age = np.full(len(self.cast.ids), len(_FADE))
        self.scene: Scene | None = None
        self.look()

    def look(self) -> Scene:
        """Take the next scene; call it after every step that is to be shown.

        Without a step since the last one, what is to be seen of attacks and deaths stays.
        """
        attacks, moment = self.episode.attacks(), (self.episode.starts, self.episode.step)
        now = Scene.of(self.cast.sim, self.world, step=moment[1], title=self.title, cast=self.cast)
        if self._moment is None or moment[0] != self._moment[0]:
            # Another episode: nobody in it has died or attacked yet.
            attacks = attacks[:0]
            self._age[:] = len(_FADE)
        elif moment == self._moment:
            attacks = np.concatenate([self.scene.attacks, attacks])
            self._age[self.scene.alive & ~now.alive] = 0
        else:
            self._age[:] = np.minimum(self._age + 1, len(_FADE))
            self._age[self.scene.alive & ~now.alive] = 0
        self._moment = moment
        self._age[now.alive] = len(_FADE)
        fading = np.array([*_FADE, 0.0])[self._age]
        self.scene = dataclasses.replace(now, attacks=attacks, fading=fading)
        return self.scene
