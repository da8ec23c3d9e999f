"""Widgets below the map of a replay, rewards over time and a timeline to jump on; films of replays.

Moments go from the left to the right.
"""

import os
from typing import Any

import numpy as np

from abmarl.render.colors import RGB
from abmarl.render.drawing.geometry import picture_size
from abmarl.render.drawing.library import pygame
from abmarl.render.drawing.sprites import marker
from abmarl.render.drawing.surface import frame, pixels_of
from abmarl.render.drawing.text import FAINT_INK, INK, text_image
from abmarl.render.films import FrameWriter
from abmarl.render.replay.show import ReplayShow
from abmarl.render.viewer.canvas import Widget
from abmarl.rollout.replay import Replay

_GROUND, _LINE, _BAR = (244, 242, 237), (222, 219, 211), (206, 203, 195)
_DEATH, _DOUBT = (214, 52, 52), (238, 172, 166)
_PAD = 12


class _TimeAxis(Widget):
    """A widget in which pixels stand for moments."""

    def __init__(self, show: ReplayShow) -> None:
        self.show = show

    def click(self, x: int, width: int) -> None:
        """Go to the moment at a pixel."""
        share = (x - _PAD) / max(width - 2 * _PAD - 1, 1)
        self.show.go(round(share * (len(self.show.replay.moments) - 1)))

    def _x(self, moment: Any, width: int) -> Any:
        room = max(width - 2 * _PAD - 1, 1)
        last = max(len(self.show.replay.moments) - 1, 1)
        return _PAD + np.rint(np.asarray(moment) * (room / last)).astype(np.int64)


class Timeline(_TimeAxis):
    """A bar with episodes, kills, what could not be simulated again, and the present moment."""

    height = 40

    def draw(self, surface: pygame.Surface) -> None:
        show, replay, width = self.show, self.show.replay, surface.get_width()
        moments = replay.moments
        surface.fill(_GROUND)
        now = int(self._x(show.moment, width))
        left, right = int(self._x(0, width)), int(self._x(len(moments) - 1, width))
        pygame.draw.rect(surface, _BAR, (left, 9, right - left + 1, 6), border_radius=3)
        pygame.draw.rect(surface, FAINT_INK, (left, 9, now - left + 1, 6), border_radius=3)
        if replay.mismatch is not None:
            start = int(self._x(replay.good, width))
            surface.fill(_DOUBT, (start, 9, right - start + 1, 6))
        # As many as pixels would be a wall of them.
        starts = np.unique(self._x(np.flatnonzero(moments.fresh)[1:], width))
        if len(starts) < (right - left) / 3:
            for x in starts.tolist():
                surface.fill(INK, (x, 6, 1, 12))
        for x in np.unique(self._x(replay.deaths, width)).tolist():
            surface.fill(_DEATH, (x, 2, 1, 5))
        pygame.draw.circle(surface, INK, (now, 12), 6)
        self._write(surface)

    def _write(self, surface: pygame.Surface) -> None:
        show, replay = self.show, self.show.replay
        moments, moment = replay.moments, show.moment
        words = (
            f"step {moments.step[moment]} of {show.rollout.num_steps}, "
            f"episode {moments.episode[moment] + 1} of {moments.episode[-1] + 1}"
        )
        if moments.final[moment]:
            words += ", its end"
        surface.blit(text_image(words, 13, INK), (_PAD, 23))
        if replay.mismatch is not None:
            warning = "not as recorded from here on: shown is the record"
            known = moment < replay.good
            later = f"from step {replay.mismatch.step} on the record is shown, it differs"
            label = text_image(later if known else warning, 13, FAINT_INK if known else _DEATH)
        else:
            label = text_image("backwards" if show.backwards else "", 13, FAINT_INK)
        surface.blit(label, (surface.get_width() - _PAD - label.get_width(), 23))


class ReturnCurves(_TimeAxis):
    """The rewards of each group over time, added up from the start of every episode."""

    height = 84

    def __init__(self, show: ReplayShow) -> None:
        super().__init__(show)
        self._world = -1
        self._returns: dict[str, np.ndarray] = {}
        self._curves: pygame.Surface | None = None
        self._colors = _group_colors(show)

    def draw(self, surface: pygame.Surface) -> None:
        replay, width = self.show.replay, surface.get_width()
        if self._world != replay.world:
            self._returns = returns_so_far(replay)
            self._world, self._curves = replay.world, None
        if self._curves is None or self._curves.get_size() != surface.get_size():
            self._curves = self._drawn(surface.get_size())
        surface.blit(self._curves, (0, 0))
        now = int(self._x(self.show.moment, width))
        surface.fill(INK, (now, 22, 1, self.height - 26))
        x = _PAD
        for name, values in self._returns.items():
            value = f"{name} {values[self.show.moment]:.2f}"
            label, dot = (
                text_image(value, 13, INK),
                marker("o", self._colors[name], 9.0, False, False),
            )
            if x + dot.get_width() + label.get_width() + 90 > width:
                break
            surface.blit(dot, (x, 11 - dot.get_height() // 2))
            surface.blit(label, (x + dot.get_width() + 3, 11 - label.get_height() // 2))
            x += dot.get_width() + label.get_width() + 16
        label = text_image("return so far", 13, FAINT_INK)
        surface.blit(label, (width - _PAD - label.get_width(), 11 - label.get_height() // 2))

    def _drawn(self, size: tuple[int, int]) -> pygame.Surface:
        surface = pygame.Surface(size, 0, 32)
        surface.fill(_GROUND)
        width, bottom, top = size[0], self.height - 8, 26
        low = min(0.0, *(values.min() for values in self._returns.values()))
        high = max(0.0, *(values.max() for values in self._returns.values()))
        scale = (bottom - top) / (high - low) if high > low else 0.0

        def y(value: Any) -> Any:
            return bottom - (np.asarray(value) - low) * scale

        surface.fill(_LINE, (_PAD, int(y(0.0)), width - 2 * _PAD, 1))
        moments = self.show.replay.moments
        starts = np.flatnonzero(moments.fresh)
        ends = np.append(starts[1:], len(moments))
        # A point per pixel is all that can be seen.
        stride = max(1, len(moments) // max(width, 1))
        for name, values in self._returns.items():
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                at = np.unique(np.append(np.arange(start, end, stride), end - 1))
                xs, ys = self._x(at, width), y(values[at])
                points = list(zip(xs.tolist(), ys.tolist(), strict=True))
                if len(points) > 1:
                    pygame.draw.lines(surface, self._colors[name], False, points, 2)
        return surface


def returns_so_far(replay: Replay) -> dict[str, np.ndarray]:
    """Return group -> float64 [P], its rewards in the episode until each moment."""
    moments = replay.moments
    starts = np.flatnonzero(moments.fresh)[moments.episode]
    found = {}
    for name, column in replay.rollout.rewards.items():
        earned = np.zeros(len(moments))
        earned[~moments.fresh] = column[:, replay.world].sum(axis=1)
        total = np.cumsum(earned)
        found[name] = total - total[starts]
    return found


def _group_colors(show: ReplayShow) -> dict[str, RGB]:
    """Return the colour of the first agent of every group."""
    of_agent, looks = show.drawn.looks()
    slots = {name: int(group.slots[0]) for name, group in show.replay.vec.groups.items()}
    return {name: looks[of_agent[slot]].color for name, slot in slots.items()}


class Clip(FrameWriter):
    """Films moments of a `ReplayShow`: the map, with the rewards over time under it.

    Args:
        show: the replay.
        path: where to write; the suffix decides the format, see `FrameWriter`.
        fps: pictures per second.

    Raises:
        ValueError, OSError, ImportError: as `FrameWriter`.
    """

    def __init__(self, show: ReplayShow, path: str | os.PathLike, fps: float) -> None:
        self.show = show
        self._curves = ReturnCurves(show)
        self._size = _size_for(show)
        super().__init__(path, fps)

    def take(self, moment: int) -> np.ndarray:
        """Film a moment.

        Returns:
            The picture, uint8 [height, width, 3].
        """
        self.show.go(moment)
        surface = pygame.Surface((self._size[0], self._curves.height), 0, 32)
        self._curves.draw(surface)
        upper = frame(self.show.scene(self.show.replay.world), self._size)
        picture = np.concatenate([upper, pixels_of(surface)])
        self.add(picture)
        return picture


def _size_for(show: ReplayShow) -> tuple[int, int]:
    """Return a size for the world, and from a mismatch on for what every agent saw."""
    store, replay = show.replay.vec.store, show.replay
    width, height = picture_size(store.rows, store.cols)
    if replay.mismatch is not None:
        now = show.moment
        show.go(replay.good)
        tiles = show.scene(replay.world)
        show.go(now)
        wide, high = picture_size(tiles.rows, tiles.cols)
        width, height = max(width, wide), max(height, high)
    return width, height
