"""Replays in a viewer: moments, jumps, worlds, what was recorded; on pixels where it is drawn."""

import dataclasses

import numpy as np
import pytest

from abmarl.examples import shipped
from abmarl.render import Tracker, Viewer, frame
from abmarl.render.drawing.geometry import fit_geometry
from abmarl.render.drawing.surface import pygame
from abmarl.render.replay.show import ReplayKeys, ReplayShow, tiles
from abmarl.render.replay.timeline import Clip, ReturnCurves, Timeline, returns_so_far
from abmarl.render.scenes.appearance import Look
from abmarl.rollout import collect
from tests.render.test_play import press
from tests.render.viewer.test_viewer import click
from tests.support.grid_worlds import build, fighter

STEPS = 90
BAD = 40


def battle(bad=False):
    vec = shipped["team-battle"]().vectorize(num_envs=3, seed=7, horizon=30, num_threads=1)
    found = collect(vec, "random", STEPS, name="team-battle", progress=False)
    if bad:
        found.observations["blue"]["position_centered_encoding"][BAD, 1, 0, 0, 0] += 1
    return found


@pytest.fixture(scope="module")
def rollout():
    return battle()


def shown(rollout, world=0, **kwargs):
    show = ReplayShow(shipped["team-battle"](), rollout, world, **kwargs)
    viewer = Viewer(
        show, world=world, input_handler=ReplayKeys(show),
        widgets=[ReturnCurves(show), Timeline(show)], paused=True,
    )  # fmt: skip
    return show, viewer


def test_scenes_are_those_of_a_straight_run(rollout):
    """Those a tracker takes, in any order of looking."""
    show, _ = shown(rollout, 2)
    vec = shipped["team-battle"]().vectorize(num_envs=3, seed=7, horizon=30, autoreset=False)
    vec.reset()
    tracker = Tracker(vec, 2)
    expected = [frame(tracker.scene)]
    for step in range(STEPS):
        *_, infos = vec.step(
            {
                name: {key: column[step] for key, column in channels.items()}
                for name, channels in rollout.actions.items()
            }
        )
        ended = infos["ended"].copy()
        expected.append(frame(tracker.look()))
        if ended.any():
            vec.reset(worlds=ended)
            if ended[2] and step + 1 < STEPS:
                expected.append(frame(tracker.look()))
    assert len(expected) == len(show.replay.moments)
    order = [*range(len(expected)), *range(len(expected) - 1, -1, -1)]
    order += np.random.default_rng(0).integers(0, len(expected), 40).tolist()
    for moment in order:
        show.go(moment)
        assert np.array_equal(frame(show.scene(2)), expected[moment]), moment


def test_scenes_do_not_depend_on_the_first_look(rollout):
    straight, _ = shown(rollout)
    pictures = []
    for moment in range(len(straight.replay.moments)):
        straight.go(moment)
        pictures.append(frame(straight.scene(0)))
    for moment in (0, 1, 3, 59, 60, 61, 63, 64, 65, 70, len(pictures) - 1):
        fresh, _ = shown(rollout)
        fresh.go(moment)
        assert np.array_equal(frame(fresh.scene(0)), pictures[moment])


def test_keys(rollout):
    show, viewer = shown(rollout)
    viewer.paused = False
    press(viewer, "right", "right", "right", "left")
    assert viewer.paused
    assert show.moment == 2
    press(viewer, "left", "left", "left")
    assert show.moment == 0
    starts = np.flatnonzero(show.replay.moments.fresh)
    press(viewer, "e")
    assert show.moment == starts[1]
    press(viewer, "right", "w")
    assert show.moment == starts[1]
    press(viewer, "w")
    assert show.moment == 0
    deaths = show.replay.deaths
    press(viewer, "k", "k")
    assert show.moment == deaths[1]
    press(viewer, "j")
    assert show.moment == deaths[0]
    press(viewer, "j")
    assert show.moment == deaths[0]
    press(viewer, "b", "n")
    show.step()
    assert show.moment == deaths[0] - 1
    press(viewer, "r")
    assert (show.moment, show.backwards) == (0, False)
    assert "r" in [keys for keys, _ in viewer.input_handler.help_lines]
    assert "reset" not in [one.action for one in viewer.controls], "it stands in the help once"


def test_space_at_the_beginning_plays_forwards(rollout):
    show, viewer = shown(rollout)
    show.go(2)
    press(viewer, "b")
    assert not viewer.paused
    for _ in range(3):
        show.step()
    assert (show.moment, viewer.paused) == (0, True)
    press(viewer, "space")
    assert not viewer.paused
    show.step()
    assert show.moment == 1


def test_it_stands_still_at_both_ends(rollout):
    show, viewer = shown(rollout)
    for backwards, end in ((False, len(show.replay.moments) - 1), (True, 0)):
        show.backwards, viewer.paused = backwards, False
        for _ in range(200):
            assert show.step()
            if viewer.paused:
                break
        assert show.moment == end
        assert viewer.paused


def test_worlds_keep_the_step(rollout):
    show, viewer = shown(rollout)
    show.go(50)
    step = show.replay.moments.step[50]
    for world in (1, 2, 0):
        press(viewer, "]")
        assert viewer.world == world
        viewer.picture()
        assert show.replay.world == world
        assert show.replay.moments.step[show.moment] == step


def test_the_panel(rollout):
    show, _ = shown(rollout)
    show.go(1)
    slot = int(np.flatnonzero(show.scene(0).alive)[0])
    group, k = "red", 0
    facts = dict(show.facts(0, slot))
    assert facts["group"] == group
    assert facts["reward"] == f"{rollout.rewards[group][0, 0, k]:.4g} so far"
    seen = show.observed(0, slot)
    then = rollout.observations[group]["position_centered_encoding"][1, 0, k]
    assert np.array_equal(seen.panes[0].cells, then)
    assert show.sight(0, slot).visible.any()
    show.go(0)
    assert dict(show.facts(0, slot))["last action"] == "none yet"


# --- mismatches ---


def test_from_a_mismatch_on_the_record_is_shown():
    told = []
    found = battle(bad=True)
    show, viewer = shown(found, on_mismatch=told.append)
    assert told == []
    press(viewer, "]")
    viewer.picture()
    (mismatch,) = told
    assert (mismatch.world, mismatch.step) == (1, BAD)
    good = show.replay.good
    show.go(good - 1)
    assert show.scene(1).ids[0] == "agent0"
    show.go(good + 3)
    scene = show.scene(1)
    assert scene.title == "as recorded"
    names = {one for one in scene.ids if one}
    moment = show.moment
    step = int(show.replay.moments.step[moment])
    active = [
        found.groups[name].ids[k]
        for name, column in found.active.items()
        for k in np.flatnonzero(column[step, 1])
    ]
    assert names == {f"seen by {one}" for one in active}
    press(viewer, "[", "]")
    viewer.picture()
    assert len(told) == 1


def test_facts_of_the_record():
    show, viewer = shown(battle(bad=True), 1)
    show.go(show.replay.good + 3)
    scene = show.scene(1)
    slot = next(k for k, name in enumerate(scene.ids) if name)
    facts = dict(show.facts(1, slot))
    assert scene.ids[slot].removeprefix("seen by ") in show.rollout.groups[facts["group"]].ids
    assert "for the last step" in facts["reward"]
    assert "attack" in facts["last action"]
    between = scene.ids.index("")
    assert show.facts(1, between) == []
    viewer.picture()
    row, col = int(scene.row[slot]), int(scene.col[slot])
    click(viewer, row, col)
    assert viewer.chosen == slot
    viewer.picture()


class Few:
    """Two agents that see 3 x 3, one that sees nothing."""

    ids, encoding = ("one", "two"), 1


class Blind:
    ids, encoding = ("blind",), 2


def test_tiles():
    window = np.array([[-1, -1, -1], [0, 1, 2], [-2, -2, 0]])
    found = tiles(
        {"few": {"position_centered_encoding": np.stack([window, window])}, "blind": {}},
        {"few": np.array([True, False]), "blind": np.array([True])},
        {"few": Few, "blind": Blind},
        {},
        5,
        "as recorded",
    )
    scene = found.scene
    assert (scene.rows, scene.cols) == (8, 7)
    assert [tuple(one) for one in scene.captions] == [
        (0, 0, 3, "one"), (0, 4, 3, "two"), (4, 0, 3, "blind"),
    ]  # fmt: skip
    cells = np.zeros((8, 7), int)
    colors = [look.color for look in scene.looks]
    cells[scene.row, scene.col] = [1 + colors.index(colors[k]) for k in scene.look]
    cells = cells[1:]  # names are in the first row
    # Nothing is where something is empty; between the tiles and in that of `two` all is alike.
    assert (cells == 0).sum() == 2
    assert cells[1, 0] == cells[2, 2] == 0
    assert len(set(cells[:3, 4:].ravel())) == 1
    assert cells[0, 0] == cells[0, 2] != cells[2, 0]
    assert found.owner[scene.agents_at(2, 1)[0]] == ("few", 0)
    assert found.owner[scene.agents_at(5, 0)[0]] == ("blind", 0)
    assert found.owner[scene.agents_at(4, 3)[0]] is None
    named, nameless = (frame(one) for one in (scene, dataclasses.replace(scene, captions=())))
    changed = np.argwhere((named != nameless).any(-1))
    geometry = fit_geometry(8, 7, (named.shape[1], named.shape[0]))
    rows = set(((changed[:, 0] - geometry.top) // geometry.cell).tolist())
    assert rows == {0, 4}, "the words are above their tiles"


def test_rollouts_that_went_on_show_the_record():
    vec = shipped["team-battle"]().vectorize(num_envs=1, seed=7, horizon=30)
    vec.reset()
    show, viewer = shown(collect(vec, "random", 10, progress=False))
    assert show.scene(0).title == "as recorded"
    for _ in range(12):
        show.step()
        viewer.picture()


# --- widgets ---


def drawn(strip, width=500):
    surface = pygame.Surface((width, strip.height), 0, 32)
    strip.draw(surface)
    return pygame.surfarray.array3d(surface).transpose(1, 0, 2).astype(int)


def columns_with(picture, color, rows=slice(None)):
    return np.flatnonzero((picture[rows] == color).all(-1).any(0))


def test_the_timeline(rollout):
    show, viewer = shown(rollout)
    strip = viewer.widgets[1]
    last = len(show.replay.moments) - 1
    for moment in (0, last // 2, last):
        show.go(moment)
        picture = drawn(strip)
        # Row 7 crosses the knob above the bar, and the lines between the episodes.
        marks = columns_with(picture, (52, 52, 58), slice(7, 8))
        knob = [x for x in marks if {x - 1, x + 1} <= set(marks)]
        assert abs(np.mean(knob) - (12 + moment * 475 / last)) <= 1
        deaths = columns_with(picture, (214, 52, 52), slice(2, 5))
        places = {round(12 + int(d) * 475 / last) for d in show.replay.deaths}
        assert set(deaths.tolist()) == places


def test_clicks_on_the_timeline_jump(rollout):
    show, viewer = shown(rollout)
    last = len(show.replay.moments) - 1
    for x, moment in ((12, 0), (487, last), (0, 0), (499, last), (249.5, last / 2)):
        viewer.widgets[1].click(x, 500)
        assert abs(show.moment - moment) <= 1
    viewer.picture()
    rect = viewer.canvas.widget_rects()[1]
    viewer.handle(
        pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=(rect.left + 12, rect.top + 10), button=1)
    )
    assert show.moment == 0


def test_the_timeline_shows_what_is_doubtful():
    show, viewer = shown(battle(bad=True), 1)
    picture = drawn(viewer.widgets[1])
    doubtful = columns_with(picture, (238, 172, 166))
    last = len(show.replay.moments) - 1
    assert abs(doubtful[0] - (12 + show.replay.good * 475 / last)) <= 1
    assert doubtful[-1] == 487


def test_returns_so_far(rollout):
    show, _ = shown(rollout, 1)
    returns = returns_so_far(show.replay)
    moments = show.replay.moments
    total = dict.fromkeys(returns, 0.0)
    for moment in range(len(moments)):
        for name in returns:
            if moments.fresh[moment]:
                total[name] = 0.0
            else:
                total[name] += rollout.rewards[name][moments.step[moment] - 1, 1].sum()
            assert returns[name][moment] == pytest.approx(total[name])


def test_the_rewards_strip(rollout):
    show, viewer = shown(rollout)
    strip = viewer.widgets[0]
    picture = drawn(strip)
    for color in ((255, 0, 0), (0, 0, 255), (0, 128, 0)):
        columns = columns_with(picture, color, slice(26, 80))
        assert columns[0] <= 40  # at first the lines lie over one another
        assert columns[-1] >= 480
    show.go(30)
    assert not np.array_equal(drawn(strip), picture)


# --- clips ---


def test_clips(rollout, tmp_path):
    from PIL import Image

    show, _ = shown(rollout)
    with Clip(show, tmp_path / "clip.gif", 10) as clip:
        pictures = [clip.take(moment) for moment in range(5, 12)]
    assert len({picture.shape for picture in pictures}) == 1
    with Image.open(tmp_path / "clip.gif") as image:
        assert image.n_frames == 7
    show.go(7)
    upper = frame(show.scene(0))
    assert np.array_equal(pictures[2][: len(upper)], upper)


def test_clips_across_a_mismatch_keep_their_size(tmp_path):
    show, _ = shown(battle(bad=True), 1)
    with Clip(show, tmp_path / "clip.png", 10) as clip:
        good = show.replay.good
        before, after = clip.take(good - 1), clip.take(good)
    assert before.shape == after.shape
    assert not np.array_equal(before, after)


def test_clips_of_low_grids_have_room_for_the_record(tmp_path):
    """One row of cells, and nine agents whose windows lie on three rows of tiles."""
    agents = [fighter(f"a{k}", at=(0, k), view_range=3) for k in range(9)]
    sim = build(agents, rows=1, cols=80)
    vec = sim.vectorize(num_envs=1, seed=0, horizon=9)
    found = collect(vec, "random", 4, progress=False)
    next(iter(found.rewards.values()))[2] += 1
    show = ReplayShow(sim, found)
    assert show.replay.good == 3
    with Clip(show, tmp_path / "clip.png", 10) as clip:
        assert len({clip.take(moment).shape for moment in range(5)}) == 1


def test_the_panel_does_not_go_over_to_somebody_else():
    """Numbers of agents are others where the record is shown."""
    show, viewer = shown(battle(bad=True), 1)
    show.go(show.replay.good - 1)
    viewer.chosen, viewer.following = 3, True
    viewer.picture()
    assert viewer.chosen == 3
    show.go(show.replay.good)
    viewer.picture()
    assert (viewer.chosen, viewer.following) == (None, False)
    press(viewer, "[")
    viewer.chosen = 3
    viewer.picture()
    show.go(3)
    viewer.picture()
    assert viewer.chosen == 3


def test_tiles_of_the_whole_grid_show_the_agent_itself():
    class Seer:
        ids, encoding = ("seer",), 4

    window = np.array([[0, -1, 2], [-2, 0, 0]])
    mine = Look("o", (1, 2, 3), 200.0)
    found = tiles(
        {"seers": {"absolute_encoding": window[None]}}, {"seers": np.array([True])},
        {"seers": Seer}, {4: (mine, False)}, 5, "as recorded",
    )  # fmt: skip
    (slot,) = found.scene.agents_at(1, 1)
    assert found.scene.looks[found.scene.look[slot]] == mine
