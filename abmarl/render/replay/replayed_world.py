"""One world of a rollout as it is shown, by simulating it again or from the record."""

from collections import OrderedDict

import numpy as np

from abmarl.render.replay.recorded import Tiles, tiles
from abmarl.render.scenes.cast import Cast
from abmarl.render.scenes.scene import Scene
from abmarl.render.scenes.sight import Sight
from abmarl.render.scenes.tracker import Tracker
from abmarl.render.scenes.words import action_words
from abmarl.render.viewer.shows import Observed, SimulationShow
from abmarl.rollout.replay import RUN_UP, STRIDE, Replay, recorded_observations

_KEPT = 4 * STRIDE  # scenes


class ReplayedWorld(SimulationShow):
    """Shows one world of a rollout at any moment.

    Args:
        replay: the world, checked.
        title: text for the score line.
    """

    def __init__(self, replay: Replay, title: str):
        super().__init__(replay.vec, title)
        self.replay = replay
        self._scenes: OrderedDict[int, Scene] = OrderedDict()
        self._tiles: tuple[int, Tiles] | None = None
        self._title = title
        self._since = 0
        if replay.good:
            replay.go(0, self._moved)
            if self._tracker is None:  # it was there already
                self._moved(True)

    def scene_at(self, moment: int) -> Scene:
        """What there is to see at a moment."""
        if moment >= self.replay.good:
            return self.tiles_at(moment).scene
        if moment not in self._scenes:
            self._go(moment)
        self._scenes.move_to_end(moment)
        return self._scenes[moment]

    def tiles_at(self, moment: int) -> Tiles:
        """What was recorded at a moment that could not be simulated again."""
        if self._tiles is None or self._tiles[0] != moment:
            self._tiles = moment, self._recorded(moment)
        return self._tiles[1]

    def facts_at(self, moment: int, slot: int) -> list[tuple[str, str]]:
        """What there is to tell about an agent at a moment."""
        if moment >= self.replay.good:
            owner = self.tiles_at(moment).owner[slot]
            return [] if owner is None else self._recorded_facts(moment, *owner)
        self._go(moment)
        return self.facts(0, slot)

    def sight_at(self, moment: int, slot: int) -> Sight | None:
        """The cells that an agent saw at a moment."""
        if moment >= self.replay.good:
            return None
        self._go(moment)
        return self.sight(0, slot)

    def observed_at(self, moment: int, slot: int) -> Observed | None:
        """What an agent observed at a moment."""
        if moment >= self.replay.good:
            return None
        self._go(moment)
        return self.observed(0, slot)

    def _go(self, moment: int) -> None:
        self.replay.go(moment, self._moved)
        self._keep(moment)

    def _moved(self, elsewhere: bool) -> None:
        """The world is at another moment, elsewhere after a jump."""
        if elsewhere:
            self._tracker = Tracker(self.sim, 0, self._title)
            self._since = RUN_UP if self.replay.now == 0 else 0
        else:
            self._tracker.look()
            self._since += 1
        if self._since >= RUN_UP:  # what happened just before a jump is not known at once
            self._keep(self.replay.now)

    def _keep(self, moment: int) -> None:
        self._scenes[moment] = self._tracker.scene
        while len(self._scenes) > _KEPT:
            self._scenes.popitem(last=False)

    def _recorded(self, moment: int) -> Tiles:
        replay = self.replay
        record, moments, world = replay.rollout, replay.moments, replay.world
        step = int(moments.step[moment])
        if moments.final[moment] or step == record.num_steps:
            active = {
                name: column[step - 1, world] & ~record.terminated[name][step - 1, world]
                for name, column in record.active.items()
            }
        else:
            active = {name: column[step, world] for name, column in record.active.items()}
        observations = recorded_observations(record, moments, world, moment)
        looks = _looks(self.cast)
        return tiles(observations, active, record.groups, looks, step, "as recorded")

    def _recorded_facts(self, moment: int, group: str, k: int) -> list[tuple[str, str]]:
        replay = self.replay
        step = int(replay.moments.step[moment])
        lines = [("group", group)]
        if not replay.moments.fresh[moment]:
            record, at = replay.rollout, (step - 1, replay.world, k)
            slot = int(replay.vec.groups[group].slots[k])
            action = {key: column[at] for key, column in record.actions[group].items()}
            actors = replay.vec.sim.actors
            points = {
                key: actors[key].form(slot).point(np.ascontiguousarray(value).reshape(-1), 0)
                for key, value in action.items()
            }
            lines.append(("reward", f"{float(record.rewards[group][at]):.4g} for the last step"))
            lines.append(("last action", ", ".join(action_words(actors, slot, points))))
        return lines


def _looks(cast: Cast) -> dict[int, tuple]:
    """encoding -> how its first agent is drawn, and whether it blocks the view."""
    of_agent, looks = cast.looks()
    found: dict[int, tuple] = {}
    for slot, kind in enumerate(np.asarray(cast.store.traits["encoding"]).tolist()):
        found.setdefault(kind, (looks[of_agent[slot]], bool(cast.blocking[slot])))
    return found
