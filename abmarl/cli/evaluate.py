"""``abmarl evaluate``: how good policies are, alone or against each other."""

import os
from typing import Annotated

import typer

from abmarl.cli import options
from abmarl.cli.errors import UserError, for_the_user
from abmarl.cli.outputs import check_outputs, make_room

EXAMPLES = {
    "abmarl evaluate team-battle --policy red=heuristic": "1000 battles, with win rates",
    "abmarl evaluate foraging --policy forager=ppo.zip -n 200 --save ppo.json": (
        "200 episodes of a trained policy"
    ),
    "abmarl evaluate predator-prey-resources --policy predator=a.zip --policy predator=b.zip "
    "--policy prey=random --policy prey=c.zip --plot cross.png": (
        "every predator against every prey, as a table and a picture"
    ),
}
SUFFIXES = {"--save": (".json", ".csv"), "--plot": (".png",)}


def evaluate(
    sim: options.Sim,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[GROUP=]NAME",
            show_default=False,
            help="How a group of agents acts, or all of them: random, heuristic, or the path of a "
            "checkpoint or of a results folder of `abmarl train`; of several policies the one that "
            "has the name of the group, or PATH#policy. Several for one group: every combination "
            "is played. [default: random]",
        ),
    ] = None,
    episodes: Annotated[
        int,
        typer.Option("--episodes", "-n", min=1, metavar="N", help="Episodes of each combination."),
    ] = 1000,
    num_envs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Worlds to run at once, at most.")
    ] = 1024,
    horizon: options.Horizon = 200,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    order: options.Order = "fixed",
    trust: options.Trust = False,
    sample: options.Sample = False,
    save: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Save the numbers: .json, or .csv."),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.png",
            help="Draw the cross-play of two groups, of which one at least has several policies. "
            "Needs abmarl[render].",
        ),
    ] = None,
) -> int:
    """Play a number of episodes and tell how good the policies are, with 95 % intervals.

    The episodes are shared out to the worlds beforehand, so that short ones are not favoured. With
    several policies for a group, every combination is played from the same seed. Ctrl-C stops
    early and reports what was finished.
    """
    if order not in ("fixed", "random"):
        raise UserError(f"--order {order}: allowed are fixed and random")
    outputs = {"--save": save, "--plot": plot}
    check_outputs(outputs, SUFFIXES)
    # numpy and numba come in here, after what can be refused without them.
    from abmarl.cli.simulation import load_simulation

    with for_the_user():
        vec = load_simulation(sim).vectorize(
            num_envs=min(num_envs, episodes),
            seed=seed,
            horizon=horizon or None,
            num_threads=threads,
            order=order,
        )
    from abmarl.cli.comparison import Comparison
    from abmarl.cli.policies import chosen, policies_of

    policies = policies_of(vec, chosen(vec, policy or []), trust, sample, seed)

    name = os.path.basename(sim).removesuffix(".py")
    comparison = Comparison(vec, name, policies, episodes, seed, save, plot)
    make_room(outputs)
    return comparison.run()
