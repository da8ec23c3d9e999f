import pytest
from gymnasium.spaces import Discrete

from abmarl.policies.policy import EpsilonSoftPolicy, Policy
from tests.support.chain_mdp import Chain


class Script(Policy):
    """Acts as a script says, which begins anew with every episode."""

    def __init__(self, script, length=3):
        super().__init__(Discrete(2), Discrete(length + 1))
        self.script = script

    def reset(self):
        self.left = iter(self.script)

    def compute_action(self, obs):
        return next(self.left)


@pytest.fixture
def chain():
    """The class `Chain`."""
    return Chain


@pytest.fixture
def script():
    """The class `Script`."""
    return Script


@pytest.fixture
def soft():
    """Makes an epsilon-soft policy for a chain of three."""

    def make(epsilon=0.2, seed=0, length=3):
        return EpsilonSoftPolicy(Discrete(2), Discrete(length + 1), epsilon=epsilon, seed=seed)

    return make
