"""The line under the map of a game: whose turn it is, what has happened, the scores."""

from typing import Any

from abmarl.extras import load
from abmarl.render.colors import RGB
from abmarl.render.drawing.lines import NAME_LENGTHS, brief_name, shortened
from abmarl.render.drawing.marks import PERSON_COLORS
from abmarl.render.drawing.sprites import FAINT_INK, INK, text
from abmarl.render.play.show import PlayShow

pygame = load("pygame")

_GROUND, _CALL, _NOTE = (244, 242, 237), (190, 70, 20), (176, 40, 40)
_PAD, _GAP, _DOT = 12, 18, 9
_HEIGHT = 15  # of the letters


class GameLine:
    """A strip with the scores and whose turn it is."""

    height = 34

    def __init__(self, show: PlayShow):
        self.show = show

    def draw(self, surface: Any) -> None:
        """Draw it over the whole of a surface."""
        surface.fill(_GROUND)
        middle, right = self.height // 2, surface.get_width() - _PAD
        call, color, note, scores = self._fitted(right - _PAD)
        for name, owner in reversed(scores):
            label = text(name, _HEIGHT, INK)
            right -= label.get_width()
            surface.blit(label, (right, middle - label.get_height() // 2))
            if owner is not None:
                right -= _DOT + 4
                place = pygame.Rect(right, middle - _DOT // 2, _DOT, _DOT)
                pygame.draw.rect(surface, owner, place, 2, border_radius=2)
            right -= _GAP
        left = _PAD
        for words, ink in ((call, color), (note, _NOTE)):
            if words and right > left:
                label = text(shortened(words, _HEIGHT, right - left), _HEIGHT, ink)
                surface.blit(label, (left, middle - label.get_height() // 2))
                left += label.get_width() + _GAP

    def _fitted(self, room: int) -> tuple[str, RGB, str, list[tuple[str, RGB | None]]]:
        """What to write, with names as short as need be for all of it to fit."""
        for most in NAME_LENGTHS:
            call, color = self._call(most)
            note, scores = self._named(self.show.note, most), self._scores(most)
            words = [call, note, *(score for score, _ in scores)]
            wide = sum(text(one, _HEIGHT, INK).get_width() + _GAP for one in words if one)
            if wide + len(scores) * (_DOT + 4) - _GAP <= room:
                break
        return call, color, note, scores

    def _call(self, most: int) -> tuple[str, RGB]:
        show = self.show
        if show.game.over:
            return f"game over, {self._left(most)}  -  r: another one, esc: end", _CALL
        acting = show.acting()
        if not acting:
            return "you are out  -  + faster, p: pause, esc: end", FAINT_INK
        if not show.started:
            return "press space or a key that moves to start", _CALL
        if show.real_time:
            return self._listed(acting, most), INK
        asked = show.asked()
        done = [name for name in acting if name not in asked]
        call = f"{self._listed(show.turns(), most)}: your move"
        return f"{call}  -  ordered: {self._listed(done, most)}" if done else call, INK

    def _left(self, most: int) -> str:
        """Which groups are left, with how many agents."""
        vec = self.show.game.vec
        counts = {
            name: (int(vec.store.active[0, group.slots].sum()), len(group.slots))
            for name, group in vec.groups.items()
        }
        left = [
            f"{brief_name(name, most)} ({alive} of {total})"
            for name, (alive, total) in counts.items()
            if alive
        ]
        if not left:
            return "nobody is left"
        if len(left) > 3:
            return f"{len(left)} groups are left"
        return f"left: {', '.join(left)}"

    def _scores(self, most: int) -> list[tuple[str, RGB | None]]:
        """Returns so far, and whose they are: the number and colour of the person."""
        show = self.show
        several = len(show.people) > 1
        found: list[tuple[str, RGB | None]] = []
        for number, names in enumerate(show.people, 1):
            if len(names) > 2:
                group = show.game.pilots[names[0]].group
                lines = [f"{brief_name(group, most)} {show.game.scores()[group]:.2f}"]
            else:
                lines = [f"{brief_name(one, most)} {show.game.score(one):.2f}" for one in names]
            color = PERSON_COLORS[number - 1]
            found += [(f"{number}: {line}" if several else line, color) for line in lines]
        return found

    def _listed(self, names: list[str], most: int) -> str:
        short = [brief_name(name, most) for name in names]
        if len(short) > 3:
            return f"{short[0]} and {len(short) - 1} more"
        return " and ".join(short)

    def _named(self, note: str, most: int) -> str:
        """A note with shorter names in it."""
        for name in self.show.game.pilots:
            note = note.replace(name, brief_name(name, most)) if len(name) > most else note
        return note
