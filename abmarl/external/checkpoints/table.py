"""Tables of values as policies of groups."""

import numpy as np

from abmarl.external.checkpoints.described import DescribedSpace
from abmarl.external.checkpoints.policy import Brain
from abmarl.policies.policy import GreedyPolicy, QTablePolicy


class TableBrain(Brain):
    """Chooses by a policy that `QTablePolicy.save` wrote; reading it executes nothing.

    Args:
        path: The file.
    """

    def __init__(self, path: str) -> None:
        policy = QTablePolicy.load(path)
        spaces = policy.action_space, policy.observation_space
        self.sampled, self.greedy = policy, GreedyPolicy(*spaces, policy.q_table)
        self.action_space, self.observation_space = map(DescribedSpace.of, spaces)

    def choose(
        self,
        points: np.ndarray,
        masks: np.ndarray | None,
        deterministic: bool,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """The best actions, or those of the policy as it was saved."""
        policy = self.greedy if deterministic else self.sampled
        policy.rng = rng
        return policy.compute_action_batch(points, len(points))
