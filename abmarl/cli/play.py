"""``abmarl play``: act for agents with keys and mouse."""

import contextlib
import os
import sys
import tempfile
from typing import Annotated, Any

import typer

from abmarl.cli import options
from abmarl.cli.console import (
    DONE,
    INTERRUPTED,
    UserError,
    brief,
    check_outputs,
    for_the_user,
    needs_screen,
    prepare_outputs,
    require_library,
)
from abmarl.cli.inputs import load_policies, load_simulation, name_of_simulation, names_of_policies
from abmarl.terminal import print_table

EXAMPLES = {
    "abmarl play team-battle": "the first agent is yours; h shows the keys",
    "abmarl play pacman --agent pacman --fps 4": "in real time, four steps a second",
    "abmarl play team-battle --agent agent0 --agent agent1": "two people on one keyboard",
    "abmarl play foragers-and-hunters --group hunter --opponents forager=heuristic "
    "--save game.npz": "order a whole group, and keep the game as demonstrations",
}
MOST_PEOPLE = 2


def play(
    sim: options.Sim,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            show_default=False,
            help="The agent to play. Given twice, two people share the keyboard: the first one "
            "has the letters, the second one the arrows. [default: the first that acts]",
        ),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="Play all agents of a group. They take their orders one after the other, or "
            "with --fps all at once.",
        ),
    ] = None,
    opponents: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[GROUP=]NAME",
            show_default=False,
            help="How all other agents act, or those of a group: random, heuristic, or the path "
            "of a checkpoint. May be given several times. [default: heuristic where it knows the "
            "actions, else random]",
        ),
    ] = None,
    fps: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            show_default=False,
            help="Play in real time, with so many steps per second. [default: a step when the "
            "orders are given]",
        ),
    ] = None,
    horizon: options.Horizon = 200,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            show_default=False,
            help="The same seed gives the same start. [default: a fresh one]",
        ),
    ] = None,
    save: Annotated[
        str | None, typer.Option(metavar="FILE.npz", help="Save what was played as a rollout.")
    ] = None,
    trust: options.Trust = False,
) -> int:
    """Play a simulation in a window: with arrows or letters, attacks with space or a click.

    The window lists its keys when you press h. When it is closed, the score is told and what was
    played is saved. Needs abmarl[render].
    """
    if agent and group:
        raise UserError("--agent and --group: give one of them")
    if fps is not None and not 0 < fps <= 60:
        raise UserError(f"--fps {fps:g}: allowed are numbers above 0 up to 60")
    if agent and len(set(agent)) != len(agent):
        raise UserError(f"--agent {agent[0]} is given twice: two people play two agents")
    if agent and len(agent) > MOST_PEOPLE:
        raise UserError(f"--agent: {len(agent)} are given, but {MOST_PEOPLE} people fit a keyboard")
    if group and len(group) > 1:
        raise UserError(f"--group {' and '.join(group)}: a person plays one group, give one")
    check_outputs({"--save": save})
    require_library("pygame")
    from abmarl.rollout.game import Game

    with for_the_user():
        vec = _vectorised(load_simulation(sim), sim, seed, horizon or None)
    people = _people(vec, agent or [], group[0] if group else None)
    agents = [name for mine in people for name in mine]
    policies = _opponents(vec, opponents or [], set(agents), trust)
    with for_the_user():
        game = Game(vec, agents, policies)
        _compile(vec)
    prepare_outputs({"--save": save})
    name = name_of_simulation(sim)
    viewer = _window(game, people, name, fps)
    lost, code = "", DONE
    try:
        with for_the_user():
            viewer.run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    finally:
        results = game.results
        try:
            lost = save_game(game, name, save)  # first of all: the score can be printed again
        finally:
            _print_score(results, people, name)
    if lost:
        raise UserError(lost)
    return code


def _vectorised(simulation: Any, name: str, seed: int | None, horizon: int | None) -> Any:
    """Return one world of a simulation, which stays as it ended."""
    parameters = {"seed": seed, "horizon": horizon, "autoreset": False, "copy": True}
    try:
        return simulation.vectorize(num_envs=1, **parameters)
    except (TypeError, NotImplementedError) as error:
        raise UserError(
            f"{name}: cannot be played, as it cannot be vectorised: {brief(error)}\n"
            "to watch it, step it in a loop of your own and call sim.render() after every step"
        ) from error


def _compile(vec: Any) -> None:
    """Do a step and take it back, so that nobody waits for the compiler after the first key."""
    state = vec.state_dict()
    vec.step(vec.sample_actions())
    vec.load_state_dict(state)


def _people(vec: Any, agents: list[str], group: str | None) -> list[list[str]]:
    """Return for every person the agents that it plays."""
    from abmarl.rollout.pilot import place_of
    from abmarl.rollout.policies import bind_policies

    if group is not None:
        with for_the_user("--group"):
            bind_policies(vec, {group: "random"})
        return [list(vec.groups[group].agent_ids)]
    with for_the_user("--agent"):
        for name in agents:
            place_of(vec, name)
    if not agents:
        acting = {name for one in vec.groups.values() for name in one.agent_ids}
        agents = [next(name for name in vec.agents if name in acting)]
    return [[name] for name in agents]


def _opponents(vec: Any, given: list[str], agents: set[str], trust: bool) -> dict[str, Any]:
    """Return group -> policy, for all agents but those that people play."""
    found: dict[str, Any] = {}
    asked: dict[str, list[str]] = {}
    for group, names in names_of_policies(vec, given, "--opponents", "").items():
        if len(names) > 1:
            raise UserError(f"--opponents: group {group!r} is given {' and '.join(names)}")
        if set(vec.groups[group].agent_ids) <= agents:
            found[group] = "random"  # it is called, but its actions are not used
        elif names[0]:
            asked[group] = names
        else:
            found[group] = _default_policy(vec, group)
    loaded = load_policies(vec, asked, trust, False, vec.seed, "--opponents")
    return found | {group: loaded[group][name] for group, [name] in asked.items()}


def _default_policy(vec: Any, group: str) -> str:
    from abmarl.rollout.policies import bind_policies

    try:
        bind_policies(vec, {group: "heuristic"})
    except ValueError:
        return "random"
    return "heuristic"


def _window(game: Any, people: list[list[str]], name: str, fps: float | None) -> Any:
    """Open the window."""
    from abmarl.render import Viewer
    from abmarl.render.play import GameStatus, Keyboard, PlayShow

    alone = len(people) == 1
    with for_the_user(), needs_screen("playing needs one"):
        show = PlayShow(game, fps is not None, follows=alone)
        viewer = Viewer(
            show, title=f"{name} - abmarl", speed=fps or 8,
            input_handler=Keyboard(show, people), widgets=[GameStatus(show)],
        )  # fmt: skip
        if alone:
            viewer.chosen = game.pilots[people[0][0]].slot
        viewer.open()
    return viewer


def save_game(game: Any, name: str, path: str | None) -> str:
    """Save a game, in the folder for temporary files if its place cannot be written.

    Args:
        game: The game.
        name: The name of the simulation.
        path: Where the game goes, or None.

    Returns:
        Why the game is not at its place, "" if it is.
    """
    if path is None:
        return ""
    if not game.num_steps:
        print("nothing was played, so nothing is saved", file=sys.stderr)
        return ""
    from abmarl.rollout import save

    try:
        rollout = game.rollout(name)
        save(rollout, path)
    except OSError as error:
        # The disk is full, or the folder is gone: nobody plays the same game again.
        with contextlib.suppress(OSError):
            spare = tempfile.mkdtemp(prefix="abmarl-play-")
            try:
                save(rollout, os.path.join(spare, "game.npz"))
            except OSError:
                os.rmdir(spare)
                raise
            return f"--save: {brief(error)}\nthe game is in {os.path.join(spare, 'game.npz')}"
        return f"--save: {brief(error)}\nthere was no other place to keep it"
    except (ValueError, MemoryError) as error:
        return f"--save: {brief(error)}"
    print(f"wrote {path}", file=sys.stderr)
    return ""


def _print_score(results: list, people: list[list[str]], name: str) -> None:
    """Print the score of every game that ended, and of the one that was broken off."""
    rows = []
    for number, line in enumerate(results, 1):
        rows.append((f"game {number}, {line.steps} steps", "" if line.ended else "broken off"))
        for mine in people:
            rows += [(f"  {agent}", f"{line.agents[agent]:.2f}") for agent in mine]
        rows += [(f"  group {group}", f"{score:.2f}") for group, score in line.groups.items()]
    if rows:
        print_table(f"{name}: score", rows)
    else:
        print("nothing was played")
