"""``abmarl rollout``: run many worlds at once and keep, film or plot what happens."""

import os
from typing import Annotated

import typer

from abmarl.cli import options
from abmarl.cli.errors import UserError, for_the_user
from abmarl.cli.outputs import check_outputs, make_room

EXAMPLES = {
    "abmarl rollout team-battle": "1024 worlds, 500 steps, random actions; prints a table",
    "abmarl rollout team-battle --policy heuristic --record battle.mp4": "film the first world",
    "abmarl rollout predator-prey-resources --policy predator=heuristic --plot alive.png": (
        "hunters that hunt, and a plot of who survives"
    ),
    "abmarl rollout foraging --policy forager=ppo.zip": "a policy that Stable-Baselines3 trained",
    "abmarl rollout my_sim.py --num-envs 64 --steps 2000 --save run.npz": (
        "your simulation; read the file with abmarl.rollout.load"
    ),
}


def rollout(
    sim: options.Sim,
    num_envs: Annotated[
        int, typer.Option("--num-envs", "-n", min=1, metavar="N", help="Worlds to run at once.")
    ] = 1024,
    steps: Annotated[
        int, typer.Option("--steps", "-t", min=1, metavar="N", help="Steps of every world.")
    ] = 500,
    horizon: options.Horizon = 200,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    order: options.Order = "fixed",
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[GROUP=]NAME",
            show_default=False,
            help="How a group of agents acts, or all of them: random, heuristic, or the path of a "
            "checkpoint or of a results folder of `abmarl train`; of several policies the one that "
            "has the name of the group, or PATH#policy. May be given for several groups. "
            "[default: random]",
        ),
    ] = None,
    trust: options.Trust = False,
    sample: options.Sample = False,
    save: Annotated[
        str | None,
        typer.Option(metavar="FILE.npz", help="Save every step (observations, actions, rewards)."),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Film one world: .mp4, .gif, or .png for the last frame. Needs abmarl[render].",
        ),
    ] = None,
    record_world: Annotated[
        int, typer.Option(min=0, metavar="K", help="Which world to film, from 0.")
    ] = 0,
    fps: Annotated[int, typer.Option(min=1, metavar="N", help="Steps per second of film.")] = 10,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.png",
            help="Plot how many agents of each team are alive over the steps of an episode, on "
            "average. Needs abmarl[render].",
        ),
    ] = None,
) -> int:
    """Run many worlds of a simulation at once and tell what happened.

    Worlds start anew when their episode ends. Ctrl-C stops early: what was collected until then is
    saved, filmed and counted as usual.
    """
    if order not in ("fixed", "random"):
        raise UserError(f"--order {order}: allowed are fixed and random")
    outputs = {"--save": save, "--record": record, "--plot": plot}
    check_outputs(outputs)
    # numpy and numba come in here, after what can be refused without them.
    from abmarl.cli.simulation import load_simulation

    with for_the_user():
        simulation = load_simulation(sim)
        vec = simulation.vectorize(
            num_envs=num_envs,
            seed=seed,
            horizon=horizon or None,
            num_threads=threads,
            order=order,
        )
    if record_world >= num_envs:
        raise UserError(f"--record-world {record_world}: there are worlds 0 to {num_envs - 1}")
    from abmarl.cli.policies import chosen, policies_of

    names = chosen(vec, policy or [])
    for group, several in names.items():
        if len(several) > 1:
            raise UserError(
                f"--policy: a rollout takes one policy for group {group!r}, got "
                f"{', '.join(several)};\nabmarl evaluate plays all of them"
            )
    read = policies_of(vec, names, trust, sample, seed)
    policies = {group: read[group][name] for group, [name] in names.items()}
    if save:
        from abmarl.rollout.columns import check_rollout_memory

        with for_the_user("--save"):
            check_rollout_memory(vec, steps)
    make_room(outputs)
    from abmarl.cli.session import Session

    name = os.path.basename(sim).removesuffix(".py")
    session = Session(vec, name, policies, steps, save, plot)
    if record:
        session.film(record, record_world, fps)
    return session.run()
