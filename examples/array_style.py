"""A simulation in the array style, with a component and a rule of its own.

``step_batch`` works on arrays [worlds, agents]: it serves one world and thousands.

Run it:  abmarl rollout examples/array_style.py --num-envs 256 --steps 200
"""

import numba
import numpy as np
from gymnasium.spaces import Box

from abmarl.gridworld import Field, GridObservingAgent, MovingAgent, SmartGridWorldSimulation
from abmarl.gridworld.observer import ObserverBase


class Courier(MovingAgent, GridObservingAgent):
    """Carries parcels from the left edge of the grid to the right one."""

    parcels = Field(np.int32)
    delivered = Field(np.int32)


class LoadObserver(ObserverBase):
    """Tells a courier whether it carries a parcel: an observer in NumPy."""

    key = "load"
    supported_agent_type = Courier

    def space(self, agent):
        """Return the space of one number, 0 or 1."""
        return Box(0, 1, (1,), int)

    def observe(self, out=None):
        """Return the channel of all agents, int [B, N, 1]."""
        return self.store.parcels[:, :, None]


@numba.njit
def on_the_way(parcels, position):
    """Reward, in a compiled rule, a little for carrying a parcel far to the right."""
    return 0.001 * parcels * position[:, :, 1]


class CourierSim(SmartGridWorldSimulation):
    """+1 for every parcel that arrives, -0.01 a step."""

    def __init__(self, **kwargs):
        super().__init__(
            states=["PositionState", "HealthState"],
            actors=["MoveActor"],
            observers=["PositionCenteredEncodingObserver", LoadObserver],
            dones=["ActiveDone"],
            rewards={"step": -0.01, "on_the_way": on_the_way},
            **kwargs,
        )

    def step_batch(self, actions):
        """Everybody moves; then parcels are picked up on the left and handed in on the right."""
        self.actors["move"].process(actions)
        store = self.store
        col = store.position[..., 1]
        arrived = (col == self.grid.cols - 1) & (store.parcels > 0)
        store.delivered[arrived] += 1
        store.rewards[arrived] += 1.0
        store.parcels[arrived] = 0
        store.parcels[col == 0] = 1


def make_sim():
    """Six couriers on 6 x 10."""
    agents = {
        f"courier{i}": Courier(
            id=f"courier{i}", encoding=1, view_range=2, move_range=1, initial_health=1.0,
            render_color="seagreen",
        )
        for i in range(6)
    }  # fmt: skip
    return CourierSim.build_sim(6, 10, agents=agents)
