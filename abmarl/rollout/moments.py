"""What there is to see of one world of a rollout, one moment after the other."""

import numpy as np

from abmarl.rollout.columns import Rollout


class Moments:
    """What there is to see of one world of a rollout, one after the other.

    The start is one, and every step adds one; a step that ends an episode adds two, the end and
    the start of the next episode, unless it is the last step of the rollout.

    Args:
        rollout: the rollout.
        world: the world.

    Attributes:
        step: int64 [P], steps of the rollout done until then.
        fresh: bool [P], an episode starts.
        final: bool [P], an episode has ended.
        episode: int64 [P], number of the episode, from 0.
    """

    def __init__(self, rollout: Rollout, world: int):
        ended = rollout.ended[:, world]
        after = 1 + np.arange(len(ended)) + np.concatenate([[0], np.cumsum(ended[:-1])])
        count = 1 + len(ended) + int(np.count_nonzero(ended[:-1]))
        self.fresh, self.final = np.ones(count, bool), np.zeros(count, bool)
        self.fresh[after] = False
        self.final[after] = ended
        self.step = np.cumsum(~self.fresh)
        self.episode = np.cumsum(self.fresh) - 1

    def __len__(self) -> int:
        return len(self.step)

    def of_step(self, step: int) -> int:
        """The moment after so many steps, the end of an episode rather than the next start."""
        return int(np.searchsorted(self.step, step))


def recorded_observations(
    rollout: Rollout, moments: Moments, world: int, moment: int
) -> dict[str, dict[str, np.ndarray]]:
    """What was recorded of what the agents of a world saw at a moment.

    Returns:
        group -> channel -> [n, ...].
    """
    step = int(moments.step[moment])
    if moments.final[moment]:
        index = np.flatnonzero((rollout.final_index == (step - 1, world)).all(axis=1))[0]
        source, at = rollout.final_observations, (index,)
    elif step == rollout.num_steps:
        source, at = rollout.last_observations, (world,)
    else:
        source, at = rollout.observations, (step, world)
    return {
        name: {key: column[at] for key, column in channels.items()}
        for name, channels in source.items()
    }
