"""What is measured of the adapters: worlds played through other libraries."""

from benchmarks.worlds import HORIZON, POOL, action_dicts


class ParallelPlay:
    """One world played through ``PettingZooParallelWrapper``, with dicts in and out.

    Args:
        sim: The simulation.
        warm_up: Steps to play first.
    """

    def __init__(self, sim, warm_up=HORIZON):
        # PettingZoo is an extra, which the other benchmarks do without.
        from abmarl.external.pettingzoo import PettingZooParallelWrapper

        self.env = PettingZooParallelWrapper(sim, horizon=HORIZON)
        self._pool = action_dicts(sim)
        self._count = 0
        self.env.reset(seed=0)
        for _ in range(warm_up):
            self.step()

    def step(self) -> int:
        """One step, and a reset where it ends the episode; returns how many agents acted."""
        env = self.env
        chosen = self._pool[self._count % POOL]
        self._count += 1
        acting = env.agents
        env.step({agent_id: chosen[agent_id] for agent_id in acting})
        if not env.agents:
            env.reset()
        return len(acting)
