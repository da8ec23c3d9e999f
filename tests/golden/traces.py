"""Golden traces: short episodes as text, kept to notice when a simulation changes.

Write them anew, after a change that is meant to be one:

    python -m tests.golden.traces
"""

from pathlib import Path

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from abmarl.examples import MultiCorridor, Predator, PredatorPreySimulation, Prey
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
}


def trace(name, seed=SEED):
    """An episode of a simulation under random actions, as lines of text."""
    manager, actions = TRACED[name](), np.random.default_rng(seed)
    obs = manager.reset(seed=seed)
    text = event_text(0, {}, (obs, {}, {}, {}))
    for step in range(1, STEPS + 1):
        chosen = {
            agent_id: drawn(manager.agents[agent_id].action_space, actions)
            for agent_id in obs
            if agent_id not in manager.done_agents
        }
        output = manager.step(chosen)
        obs = output[0]
        text += event_text(step, chosen, output)
        if output[2]["__all__"]:
            break
    return text.splitlines()


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
