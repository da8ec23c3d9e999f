"""The viewer's controls, with events made by hand and pictures of its window. Needs no screen."""

import copy
import gc
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

from abmarl.examples import shipped
from abmarl.gridworld import GridWorldAgent, GridWorldSimulation, PositionState
from abmarl.render import PolicyShow, Show, SimulationShow, Viewer, frame, view
from abmarl.render.drawing.surface import pygame
from abmarl.render.viewer.canvas import Widget
from abmarl.render.viewer.controls import InputHandler
from abmarl.render.viewer.panel import PANEL_WIDTH
from tests.support.grid_worlds import act, battle, build, fighter, wall


@pytest.fixture
def many():
    vec = shipped["team-battle"]().vectorize(3, seed=1, horizon=100)
    return Viewer(PolicyShow(vec))


def press(viewer, *names):
    for name in names:
        known = {"space": pygame.K_SPACE, "tab": pygame.K_TAB, "escape": pygame.K_ESCAPE}
        known |= {"page down": pygame.K_PAGEDOWN, "home": pygame.K_HOME, "left": pygame.K_LEFT}
        unicode = "" if name in known else name
        key = known.get(name) or ord(name.lower())
        viewer.handle(pygame.event.Event(pygame.KEYDOWN, key=key, unicode=unicode))
        viewer.handle(pygame.event.Event(pygame.KEYUP, key=key, unicode=unicode))


def mouse(viewer, kind, pos, **more):
    viewer.handle(pygame.event.Event(kind, pos=pos, **more))


def click(viewer, row, col, button=1):
    geometry = viewer.view.geometry
    pos = (
        geometry.left + int((col + 0.5) * geometry.cell),
        geometry.top + int((row + 0.5) * geometry.cell),
    )
    mouse(viewer, pygame.MOUSEBUTTONDOWN, pos, button=button)
    mouse(viewer, pygame.MOUSEBUTTONUP, pos, button=button)


def test_keys(many):
    press(many, "space")
    assert many.paused
    press(many, "p")
    assert not many.paused
    press(many, "n")
    assert many.paused
    press(many, "-", "-")
    assert many.speed == 2.5
    press(many, "+", "=", "+")
    assert many.speed == 20
    press(many, *"-" * 20)
    assert many.speed == 0.5
    press(many, *"+" * 20)
    assert many.speed == 512
    press(many, "]", "page down")
    assert many.world == 2
    press(many, "]")
    assert many.world == 0
    press(many, "[")
    assert many.world == 2
    press(many, "H")  # as with caps lock
    assert many.helping
    press(many, "escape")
    assert (many.helping, many.closed) == (False, False)
    press(many, "escape")
    assert many.closed


def test_every_control_is_in_the_help_and_has_a_method(many):
    for control in many.controls:
        assert callable(getattr(many, control.action))
    single = Viewer(SimulationShow(battle()))
    actions = {control.action for control in many.controls}
    assert actions - {control.action for control in single.controls} == {
        "reset", "next_world", "previous_world",
    }  # fmt: skip
    press(single, "r", "]")
    assert single.world == 0
    before = many.picture()
    press(many, "h")
    assert (many.picture() != before).any(-1).sum() > 10_000


def test_reset_starts_anew(many):
    for _ in range(5):
        many.show.step()
    assert many.show.scene(0).step == 5
    press(many, "r")
    assert many.show.scene(0).step == 0


def test_worlds_are_different(many):
    for _ in range(4):
        many.show.step()
    first = many.picture()
    press(many, "]")
    assert not np.array_equal(many.picture(), first)
    press(many, "[")
    assert (many.picture() == first).mean() > 0.9


def test_a_click_chooses_an_agent_and_the_next_one_of_its_cell(many):
    red = [slot for slot in range(24) if slot % 4 == 0]
    row, col = (int(v) for v in many.show.sim.store.position[0, 0])
    found = []
    for _ in range(7):
        many.picture()
        click(many, row, col)
        found.append(many.chosen)
    assert found == [*red, red[0]]
    many.picture()
    click(many, 4, 4)
    assert many.chosen is None


def test_the_panel_tells_and_shows_what_the_agent_sees():
    agents = [
        fighter("a", 1, (1, 0), view_range=3, initial_health=0.5),
        wall("w", 9, (1, 1)),
        fighter("b", 2, (1, 3)),
    ]
    sim = build(agents, attack_mapping={1: 2}, rewards={"step": -0.5})
    sim.reset(seed=0)
    show = SimulationShow(sim)
    viewer = Viewer(show)
    plain = viewer.picture()
    click(viewer, 1, 0)
    assert viewer.chosen == 0
    sim.step({"a": act(move=(1, 0))})
    show.look()
    facts = dict(show.facts(0, 0))
    assert facts["position"] == "row 2, column 0"
    assert facts["health"] == "0.5"
    assert facts["reward"] == "-0.5 so far"
    assert facts["last action"] == "no attack, move 1 down"
    observed = show.observed(0, 0)
    assert [pane.channel for pane in observed.panes] == ["position centered encoding"]
    assert not observed.lines
    pane = observed.panes[0]
    assert np.array_equal(pane.cells, sim.get_obs("a")["position_centered_encoding"])
    assert set(pane.looks) <= {1, 2, 9}
    image = viewer.picture()
    assert (image[:, -PANEL_WIDTH:] == 255).all(-1).sum() > 50_000
    assert not np.array_equal(image, plain)
    assert show.sight(0, 1) is None  # a wall sees nothing
    assert show.observed(0, 1) is None
    assert "reward" not in dict(show.facts(0, 1))


def test_the_fog_is_there_while_an_agent_is_chosen(many):
    many.picture()
    plain = many.picture()
    press(many, "tab")
    assert many.chosen == 0
    foggy = many.picture()
    # Cells that nobody stands on are darker where the agent does not see them.
    geometry = many.view.geometry
    sight = many.show.sight(0, 0).on_grid(8, 8)
    for row, col in ((0, 0), (3, 3), (4, 7), (7, 4)):
        y, x = (
            geometry.top + int((row + 0.5) * geometry.cell),
            geometry.left + int((col + 0.5) * geometry.cell),
        )
        assert (foggy[y, x].mean() < 200) == (not sight[row, col])
    assert plain.mean() > foggy[:, :-PANEL_WIDTH].mean()


def test_drag_wheel_and_fit(many):
    many.picture()
    fitted = many.view.geometry
    mouse(many, pygame.MOUSEMOTION, (300, 200), rel=(0, 0), buttons=(0, 0, 0))
    many.handle(pygame.event.Event(pygame.MOUSEWHEEL, x=0, y=2))
    assert many.view.cell > fitted.cell
    left = many.view.left
    mouse(many, pygame.MOUSEBUTTONDOWN, (300, 200), button=1)
    for k in range(1, 6):
        mouse(many, pygame.MOUSEMOTION, (300 + 10 * k, 200), rel=(10, 0), buttons=(1, 0, 0))
    mouse(many, pygame.MOUSEBUTTONUP, (350, 200), button=1)
    assert many.view.left == left + 50
    assert many.chosen is None  # a drag is no click
    press(many, "0")
    assert many.view.geometry == fitted


def test_following(many):
    press(many, "f")
    assert (many.chosen, many.following) == (0, True)
    many.view.zoom(20, 10, 10)
    for _ in range(5):
        many.show.step()
        many.picture()
        scene = many.show.scene(0)
        row, col = many.view.place(*(side / 2 for side in many.view.size))
        assert (int(row), int(col)) == (scene.row[0], scene.col[0])
    size = many.view.cell
    mouse(many, pygame.MOUSEMOTION, (30, 20), rel=(0, 0), buttons=(0, 0, 0))
    many.handle(pygame.event.Event(pygame.MOUSEWHEEL, x=0, y=-2))
    many.picture()
    assert many.following
    assert many.view.cell < size
    row, col = many.view.place(*(side / 2 for side in many.view.size))
    assert (int(row), int(col)) == (scene.row[0], scene.col[0]), "zooming does not let go"
    press(many, "f")
    assert not many.following


def test_following_zooms_in_where_all_is_shown(many):
    many.picture()
    assert many.view.shows_all
    cell = many.view.cell
    status = many.picture()[-25:]
    press(many, "f")
    followed = many.picture()
    assert many.view.cell >= 1.4 * cell
    assert not many.view.shows_all
    assert (followed[-25:] != status).any(-1).sum() > 100, "the status line says so"


def test_tab_goes_over_those_who_act():
    agents = [wall("w", 9, (0, 0)), fighter("a", 1, (1, 0)), fighter("b", 2, (1, 3))]
    still = GridWorldAgent(id="c", encoding=3, initial_position=(2, 4))
    sim = build([*agents, still])
    sim.reset(seed=0)
    viewer = Viewer(SimulationShow(sim))
    found = []
    for _ in range(3):
        press(viewer, "tab")
        found.append(viewer.chosen)
    assert found == [1, 2, 1]


class Handler(InputHandler):
    help_lines = (("w a s d", "move"),)

    def __init__(self):
        self.seen = []

    def on_key(self, name, down):
        self.seen.append((name, down))
        return name in "wasd" or name == "space"

    def on_cell(self, row, col, button):
        self.seen.append((row, col, button))
        return button == 3


class Clicked(Widget):
    height = 24

    def __init__(self):
        self.clicks = []

    def draw(self, surface):
        surface.fill((1, 2, 3))

    def click(self, x, width):
        self.clicks.append((x, width))


def test_the_input_handler_comes_first():
    sim = battle()
    sim.reset(seed=0)
    handler = Handler()
    viewer = Viewer(SimulationShow(sim), input_handler=handler)
    press(viewer, "w", "space", "p")
    assert viewer.paused
    assert handler.seen[:3] == [("w", True), ("w", False), ("space", True)]
    viewer.picture()
    click(viewer, 0, 0, button=3)
    assert viewer.chosen is None
    click(viewer, 0, 0)
    assert viewer.chosen == 0
    assert handler.seen[-2:] == [(0, 0, 3), (0, 0, 1)]
    press(viewer, "h")
    viewer.picture()


def test_widgets_lie_below_the_map():
    sim = battle()
    sim.reset(seed=0)
    widgets = [Clicked(), Clicked()]
    viewer = Viewer(SimulationShow(sim), widgets=widgets)
    image = viewer.picture()
    height = image.shape[0]
    rows = np.flatnonzero((image == (1, 2, 3)).all(-1).all(-1))
    assert rows.tolist() == list(range(height - 30 - 48, height - 30))
    mouse(viewer, pygame.MOUSEBUTTONDOWN, (100, height - 40), button=1)
    mouse(viewer, pygame.MOUSEMOTION, (120, height - 500), rel=(20, 0), buttons=(1, 0, 0))
    mouse(viewer, pygame.MOUSEBUTTONUP, (120, height - 500), button=1)
    assert widgets[1].clicks == [(100, image.shape[1]), (120, image.shape[1])]
    assert not widgets[0].clicks


def test_identical_state_identical_window(many):
    press(many, "tab")
    assert np.array_equal(many.picture(), many.picture())


def test_small_and_large_windows():
    sim = battle()
    sim.reset(seed=0)
    for size in ((60, 60), (200, 100), (1600, 900)):
        viewer = Viewer(SimulationShow(sim), size=size)
        for key in ("tab", "h"):
            press(viewer, key)
            assert viewer.picture().shape == (size[1], size[0], 3)


def test_a_show_of_scenes_alone():
    sim = battle()
    sim.reset(seed=0)
    scene = SimulationShow(sim).scene(0)

    class Still(Show):
        def scene(self, world):
            return scene

    viewer = Viewer(Still())
    press(viewer, "tab")
    assert viewer.chosen == 0
    assert viewer.picture().any()
    assert frame(scene).any()


def test_refused():
    show = SimulationShow(battle())
    with pytest.raises(ValueError, match="world is 1, but there are 1"):
        Viewer(show, world=1)
    with pytest.raises(ValueError, match="speed is 0"):
        Viewer(show, speed=0)
    with pytest.raises(TypeError, match="no grid to draw"):
        SimulationShow(object())
    with pytest.raises(TypeError, match="PolicyShow plays a vectorised simulation"):
        PolicyShow(battle())


# --- driving it, on SDL's dummy driver ---


@pytest.fixture
def dummy(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    pygame.display.quit()


def test_run_plays_until_it_is_closed(dummy, many):
    class Closing:
        steps = 0

    step = many.show.step

    def counted():
        Closing.steps += 1
        if Closing.steps == 30:
            pygame.event.post(pygame.event.Event(pygame.QUIT))
        return step()

    many.show.step = counted
    many.speed = 400
    many.run()
    assert Closing.steps >= 30
    assert many.closed
    assert not pygame.display.get_init()


def test_run_keeps_to_the_pace(dummy, many):
    counts = []
    step = many.show.step
    step()  # compiled by now

    def counted():
        counts.append(time.perf_counter())
        if len(counts) == 6:
            many.close()
        return step()

    many.show.step = counted
    many.speed = 20
    many.run()
    gaps = np.diff(counts)
    assert 0.03 < np.median(gaps) < 0.1


def test_a_show_that_is_over_can_be_reset(dummy):
    sim = battle()
    sim.reset(seed=0)

    class Short(SimulationShow):
        can_step = can_reset = True
        left, asked = 2, 0

        def step(self):
            self.asked += 1
            if self.asked == 8:
                event = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_r, unicode="r")
                pygame.event.post(event)
            if self.asked > 20:
                viewer.close()
            self.left -= 1
            return self.left >= 0

        def reset(self):
            self.left = 5

    viewer = Viewer(Short(sim), speed=500)
    viewer.run()
    assert viewer.show.left < 0
    assert viewer.show.asked > 20


def test_update_keeps_to_the_pace_and_waits_while_paused(dummy):
    sim = battle()
    sim.reset(seed=0)
    viewer = Viewer(SimulationShow(sim), speed=50)
    start = time.perf_counter()
    for _ in range(10):
        assert viewer.update()
    assert time.perf_counter() - start > 0.1
    for key, unicode in ((pygame.K_p, "p"), (pygame.K_n, "n"), (pygame.K_n, "n")):
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key, unicode=unicode))
    assert viewer.update()
    assert viewer.paused
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert not viewer.update()
    assert not viewer.update()
    assert viewer.closed


def test_sim_render_in_a_window(dummy):
    sim = battle()
    sim.reset(seed=0)
    assert sim.render() is None
    assert pygame.display.get_init()
    assert np.ptp(pygame.surfarray.array3d(pygame.display.get_surface())) > 100
    sim.step({"red0": act(1)})
    sim.render()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    sim.render()
    assert not pygame.display.get_init()
    sim.render()  # the person does not want it any more
    assert not pygame.display.get_init()
    sim.close()
    sim.render()  # the program does
    assert pygame.display.get_init()
    sim.close()
    assert not pygame.display.get_init()


def test_a_window_does_not_keep_its_simulation(dummy):
    sim = battle()
    sim.reset(seed=0)
    sim.render()
    other, gone = copy.deepcopy(sim), weakref.ref(sim)
    del sim
    gc.collect()
    assert gone() is None
    other.render()
    assert pygame.display.get_init()
    other.close()
    assert not pygame.display.get_init()


def test_two_simulations_share_the_frame(dummy):
    one, other = battle(), shipped["team-battle"]()
    for sim in (one, other):
        sim.reset(seed=0)
        sim.render()
    one.render()
    one.close()
    assert pygame.display.get_init()
    other.close()
    assert not pygame.display.get_init()


def test_view(dummy, monkeypatch):
    def closing(self):
        self.open()
        self.picture()
        self.close()

    monkeypatch.setattr(Viewer, "run", closing)
    view(shipped["team-battle"](), "random", num_worlds=2)
    assert not pygame.display.get_init()


def test_a_wheel_that_turns_sideways_does_nothing(many):
    cell = many.view.cell
    many.handle(pygame.event.Event(pygame.MOUSEWHEEL, x=1, y=0))
    assert many.view.cell == cell


def test_a_wheel_is_no_click(many):
    """Turning it comes as buttons 4 and 5 too."""
    scene = many.show.scene(0)
    geometry = many.view.geometry
    place = (
        geometry.left + int(scene.col[0]) * geometry.cell + 5,
        geometry.top + int(scene.row[0]) * geometry.cell + 5,
    )
    mouse(many, pygame.MOUSEBUTTONDOWN, place, button=1)
    mouse(many, pygame.MOUSEBUTTONUP, place, button=4)
    assert many.chosen is None
    mouse(many, pygame.MOUSEBUTTONUP, place, button=1)
    assert many.chosen is not None


@pytest.mark.parametrize("speed", [0.1, 2000.0])
def test_slower_is_never_faster(many, speed):
    viewer = Viewer(many.show, speed=speed)
    press(viewer, "-")
    assert viewer.speed <= speed
    viewer = Viewer(many.show, speed=speed)
    press(viewer, "+")
    assert viewer.speed >= speed


@pytest.mark.parametrize("sim", [3, None, "team-battle", object()])
def test_view_of_what_is_no_simulation(sim):
    with pytest.raises(TypeError, match=r"^sim is .*, but must be a grid world simulation"):
        view(sim)


def test_view_of_what_cannot_be_vectorised():
    class ByHand(GridWorldSimulation):
        def __init__(self, **kwargs):
            self.agents = kwargs["agents"]
            self.position_state = PositionState(**kwargs)
            self.finalize()

        def reset(self, **kwargs):
            self.position_state.reset(**kwargs)

        def step(self, action_dict, **kwargs):
            pass

        def get_obs(self, agent_id, **kwargs):
            return {}

        get_reward = get_done = get_all_done = get_info = get_obs

    sim = ByHand.build_sim(3, 5, agents={"a": fighter("a", 1, (1, 1))})
    with pytest.raises(TypeError, match=r"(?s)cannot be vectorised.*sim\.render\(\)"):
        view(sim)


def test_the_loop_of_the_page_runs(dummy):
    page = (Path(__file__).resolve().parents[3] / "docs/guide/viewing.md").read_text()
    code = page.partition("```py\n")[2].partition("```")[0]
    assert "range(100)" in code
    names = {}
    exec(code.replace("range(100)", "range(2)"), names)
    assert names["sim"].agents


def test_large_grids_use_the_room():
    """Of 625 pixels 200 cells can have 3 each, not 2."""
    viewer = Viewer(SimulationShow(build([fighter("a", 1, (1, 1))], rows=200, cols=200)))
    viewer.picture()
    assert viewer.view.cell == 3
