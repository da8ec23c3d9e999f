"""Golden traces: short episodes as text, kept to notice when a simulation changes.

Grid worlds are told with their grid, and with the observations of the first agent of every group.

Write them anew, after a change that is meant to be one:

    python -m tests.golden.traces
"""

from pathlib import Path

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from abmarl.examples import MultiCorridor, Predator, PredatorPreySimulation, Prey, shipped
from abmarl.gridworld import GridWorldSimulation
from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.trainers.debug import event_text

FOLDER = Path(__file__).parent
SEED, STEPS = 20, 12


def multi_corridor():
    """Three agents in a corridor of five cells, one after the other."""
    return TurnBasedManager(MultiCorridor(end=5, num_agents=3))


def predator_prey(observation_mode):
    """A predator and two prey on four by four cells."""
    agents = [Predator(id="predator0", view=1), Prey(id="prey0", view=1), Prey(id="prey1", view=1)]
    config = {"region": 4, "agents": agents, "observation_mode": observation_mode}
    return AllStepManager(PredatorPreySimulation.build(config))


TRACED = {
    "multi_corridor": multi_corridor,
    "predator_prey_grid": lambda: predator_prey("grid"),
    "predator_prey_distance": lambda: predator_prey("distance"),
    **{name: lambda make=make: AllStepManager(make()) for name, make in shipped.items()},
}


def trace(name, seed=SEED):
    """An episode of a simulation under random actions, as lines of text."""
    manager, actions = TRACED[name](), np.random.default_rng(seed)
    tell = grid_text if isinstance(manager.sim, GridWorldSimulation) else plain_text
    obs = manager.reset(seed=seed)
    text = tell(manager, 0, {}, (obs, {}, {}, {}))
    for step in range(1, STEPS + 1):
        chosen = {
            agent_id: drawn(manager.agents[agent_id].action_space, actions)
            for agent_id in obs
            if agent_id not in manager.done_agents
        }
        output = manager.step(chosen)
        obs = output[0]
        text += tell(manager, step, chosen, output)
        if output[2]["__all__"]:
            break
    return text.splitlines()


def plain_text(manager, step, actions, output):
    """All that happened in a step."""
    return event_text(step, actions, output)


def grid_text(manager, step, actions, output):
    """The grid after a step, what everybody did and earned, and what some of them see."""
    obs, rewards, dones, _ = output
    lines = [f"Step {step}" if step else "Reset", *rows_of_grid(manager.sim.grid)]
    for agent_id, channels in actions.items():
        did = "; ".join(f"{key} {numbers(value)}" for key, value in channels.items())
        ended = ", done" if dones[agent_id] else ""
        lines.append(f"{agent_id}: {did}: {rewards[agent_id]:.6g}{ended}")
    for group in manager.sim.groups.values():
        first = next((one for one in group.agent_ids if one in obs), None)
        for key, value in obs[first].items() if first else ():
            lines.append(f"{first} sees {key}")
            lines += [numbers(row) for row in value.reshape(len(value), -1)]
    return "".join(f"{line}\n" for line in [*lines, ""])


def rows_of_grid(grid):
    """The encodings in every cell, the newest agent first, a dot for nobody."""
    for r in range(grid.rows):
        cells = [[agent.encoding for agent in grid[r, c].values()] for c in range(grid.cols)]
        yield " ".join("+".join(map(str, reversed(cell))) or "." for cell in cells)


def numbers(value):
    """One number or several, separated by blanks."""
    return " ".join(f"{one:.6g}" for one in np.ravel(value).tolist())


def drawn(space, rng):
    """A random point; not `space.sample`, whose draws may change with gymnasium."""
    if isinstance(space, Dict):
        return {key: drawn(part, rng) for key, part in space.spaces.items()}
    if isinstance(space, Discrete):
        return int(rng.integers(space.n))
    assert isinstance(space, Box)
    return rng.integers(space.low, space.high + 1)


def path_of(name):
    """The file of a trace."""
    return FOLDER / f"{name}.txt"


if __name__ == "__main__":
    for traced in TRACED:
        path_of(traced).write_text("".join(f"{line}\n" for line in trace(traced)))
        print(path_of(traced))
