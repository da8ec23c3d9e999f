"""The parts of the viewer's window, and what is drawn in them: map, strips, status and panel."""

from typing import Any

from abmarl.extras import load
from abmarl.render.drawing.layout import SCORE_HEIGHT
from abmarl.render.drawing.lines import brief_name
from abmarl.render.drawing.score import score_line
from abmarl.render.drawing.sprites import FAINT_INK, INK, text
from abmarl.render.drawing.surface import BACKGROUND, draw
from abmarl.render.scenes.scene import Scene
from abmarl.render.viewer.controls import draw_help
from abmarl.render.viewer.panel import PANEL_WIDTH, draw_panel

pygame = load("pygame")

_CHOSEN = (20, 22, 30)
_PAD = 12


class Canvas:
    """Divides the window of a `Viewer` and draws it.

    The panel is on the right while an agent is chosen, the strips and the status line are at the
    bottom, the map has the rest.

    Args:
        viewer: the viewer.
    """

    def __init__(self, viewer: Any):
        self._viewer = viewer
        self._size = (1, 1)

    def map_rect(self, size: tuple[int, int]) -> Any:
        """Where the map is in a window of some size."""
        self._size = size
        viewer = self._viewer
        below = SCORE_HEIGHT + sum(strip.height for strip in viewer.strips)
        beside = PANEL_WIDTH if viewer.chosen is not None else 0
        return pygame.Rect(0, 0, max(size[0] - beside, 1), max(size[1] - below, 1))

    def strip_rects(self) -> list:
        """Where the strips are."""
        area = self.map_rect(self._size)
        y, rects = area.bottom, []
        for strip in self._viewer.strips:
            rects.append(pygame.Rect(0, y, area.width, strip.height))
            y += strip.height
        return rects

    def on_map(self, place: tuple[int, int]) -> bool:
        """Whether a point of the window is on the map."""
        return self.map_rect(self._size).collidepoint(place)

    def strip_at(self, place: tuple[int, int]) -> int | None:
        """The number of the strip at a point of the window, if there is one."""
        found = [k for k, rect in enumerate(self.strip_rects()) if rect.collidepoint(place)]
        return found[0] if found else None

    def in_strip(self, number: int, place: tuple[int, int]) -> tuple[Any, int, int]:
        """A strip, the column in it of a point of the window, and its width."""
        rect = self.strip_rects()[number]
        x = min(max(place[0] - rect.left, 0), rect.width - 1)
        return self._viewer.strips[number], x, rect.width

    def draw(self, surface: Any, scene: Scene) -> None:
        """Draw the whole window."""
        viewer = self._viewer
        size = surface.get_size()
        area = self.map_rect(size)
        surface.fill(BACKGROUND, (0, area.bottom, *size))
        self._draw_map(surface.subsurface(area.clip(surface.get_rect())), scene)
        for strip, rect in zip(viewer.strips, self.strip_rects(), strict=True):
            rect = rect.clip(surface.get_rect())
            if rect.height:
                strip.draw(surface.subsurface(rect))
        self._draw_status(surface, scene, area.width)
        if viewer.chosen is not None and size[0] > PANEL_WIDTH:
            rect = pygame.Rect(size[0] - PANEL_WIDTH, 0, PANEL_WIDTH, size[1])
            facts = viewer.show.facts(viewer.world, viewer.chosen)
            observed = viewer.show.observed(viewer.world, viewer.chosen)
            draw_panel(surface.subsurface(rect), scene, viewer.chosen, facts, observed)
        if viewer.helping:
            draw_help(surface, area.center, viewer.controls, getattr(viewer.hands, "keys", ()))

    def _draw_map(self, surface: Any, scene: Scene) -> None:
        viewer, plan = self._viewer, self._viewer.view.layout
        slot = viewer.chosen
        sight = None if slot is None else viewer.show.sight(viewer.world, slot)
        marks = getattr(viewer.hands, "marks", None)
        draw(scene, surface, plan, sight, () if marks is None else marks())
        if slot is not None:
            x = plan.left + int(scene.col[slot]) * plan.cell
            y = plan.top + int(scene.row[slot]) * plan.cell
            around = pygame.Rect(x, y, plan.cell + 1, plan.cell + 1)
            grown = around.inflate(max(0, 9 - plan.cell), max(0, 9 - plan.cell))
            pygame.draw.rect(surface, _CHOSEN, grown, 2, border_radius=3)

    def _draw_status(self, surface: Any, scene: Scene, width: int) -> None:
        """The score, and at its right pause or pace, the world, and where the keys are listed."""
        viewer = self._viewer
        top = surface.get_height() - SCORE_HEIGHT
        middle = top + SCORE_HEIGHT // 2
        words = [text("h: keys", 14, FAINT_INK)]
        if viewer.show.num_worlds > 1:
            number = f"world {viewer.world + 1} of {viewer.show.num_worlds}"
            words.append(text(number, 14, INK))
        if viewer.following and viewer.chosen is not None:
            name = brief_name(scene.ids[viewer.chosen], 12)
            words.append(text(f"follows {name}", 14, INK))
        if not viewer.show.waits:
            words.append(text(f"{viewer.speed:g}/s", 14, INK))
        x = width - _PAD
        for image in words:
            x -= image.get_width()
            surface.blit(image, (x, middle - image.get_height() // 2))
            x -= 14
        x -= 10 - 8
        if viewer.show.waits:
            pass  # there is no pace
        elif viewer.paused:
            for left in (x - 8, x - 3):
                surface.fill(INK, (left, middle - 6, 3, 11))
        else:
            corners = [(x - 8, middle - 6), (x - 8, middle + 5), (x, middle - 0.5)]
            pygame.draw.polygon(surface, INK, corners)
        surface.blits(score_line(scene, _PAD, x - 8, top), False)
