"""What the controls of a viewer do."""

import time

import numpy as np

from abmarl.render.viewer.controls import CONTROLS, Control

_SLOWEST, _FASTEST = 0.5, 512.0


class Commands:
    """The part of a `Viewer` that its keys call, by the names in `viewer.controls`."""

    @property
    def controls(self) -> list[Control]:
        """The controls that the show has a use for."""
        able = {
            "": True,
            "several": self.show.num_worlds > 1,
            "can_reset": self.show.can_reset,
            "pace": not self.show.waits,
        }
        taken = getattr(self.hands, "taken", frozenset())
        left = [
            one._replace(keys=tuple(key for key in one.keys if key not in taken))
            for one in CONTROLS
            if able[one.needs]
        ]
        return [one for one in left if one.keys]

    def pause(self) -> None:
        """Stand still, or go on."""
        self.paused = not self.paused
        self._due = time.perf_counter()

    def one_step(self) -> None:
        """Do one step and stand still."""
        self.paused = self._single = True

    def slower(self) -> None:
        """Half as fast."""
        self.speed = max(self.speed / 2, min(_SLOWEST, self.speed))
        self._due = time.perf_counter()

    def faster(self) -> None:
        """Twice as fast."""
        self.speed = min(self.speed * 2, max(_FASTEST, self.speed))
        self._due = time.perf_counter()

    def reset(self) -> None:
        """Start anew."""
        self.show.reset()

    def next_world(self) -> None:
        """Show the next world."""
        self.world = (self.world + 1) % self.show.num_worlds

    def previous_world(self) -> None:
        """Show the previous world."""
        self.world = (self.world - 1) % self.show.num_worlds

    def next_agent(self) -> None:
        """Choose the next agent that lives and acts."""
        scene = self.show.scene(self.world)
        acting = np.flatnonzero(scene.alive & scene.acting)
        if len(acting):
            last = -1 if self.chosen is None else self.chosen
            later = acting[acting > last]
            self.chosen = int(later[0] if len(later) else acting[0])

    def follow(self) -> None:
        """Keep the chosen agent in the middle, or let go; from nearby, if all is shown."""
        if self.chosen is None:
            self.next_agent()
        self.following = self.chosen is not None and not self.following
        if self.following and self.view.shows_all:
            self.view.approach()

    def fit(self) -> None:
        """Show the whole grid."""
        self.following = False
        self.view.fit()

    def help(self) -> None:
        """Show or hide the keys."""
        self.helping = not self.helping

    def quit(self) -> None:
        """Close the help, or else the window."""
        if self.helping:
            self.helping = False
        else:
            self.close()
