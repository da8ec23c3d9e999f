"""Trained policies, as scripts ask them for actions."""

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import torch
from gymnasium.spaces import Box
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule

from abmarl.experiments.environment import codecs_of, learners_of
from abmarl.experiments.trained import TrainedPolicies
from abmarl.external import gym_to_abmarl
from abmarl.managers import AllStepManager

# What importing and building RLlib's modules warns of is its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


class Half(TorchRLModule):
    """Always says 0.5, whatever is dropped out while it learns."""

    def setup(self):
        self.dropout = torch.nn.Dropout(1.0)

    def _forward(self, batch, **kwargs):
        return {Columns.ACTIONS: self.dropout(torch.full((len(batch[Columns.OBS]), 1), 0.5))}


class Lever:
    """An environment with an action of floats."""

    observation_space = Box(0, 1, (2,))
    action_space = Box(-4, 4, (1,))

    def reset(self, **kwargs):
        return np.zeros(2, np.float32), {}

    def step(self, action):
        return np.zeros(2, np.float32), 0.0, False, False, {}


@pytest.mark.parametrize(("config", "action"), [({}, 2.0), ({"normalize_actions": False}, 0.5)])
def test_actions_are_stretched_as_in_training(tmp_path, config, action):
    manager = AllStepManager(gym_to_abmarl(Lever()))
    (codec,) = codecs_of(learners_of(manager)).values()
    spec = RLModuleSpec(Half, codec.observation_space, codec.action_space, model_config={})
    modules = MultiRLModuleSpec(rl_module_specs={"puller": spec}).build()
    modules.save_to_path(str(tmp_path / "learner_group" / "learner" / "rl_module"))
    trainer = TrainedPolicies(tmp_path, manager, lambda agent_id: "puller", config)
    for explore in (False, True):
        found = trainer.compute_single_action(np.zeros(2, np.float32), explore=explore)
        assert found.tolist() == [action]
