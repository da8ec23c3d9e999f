"""The environment for RLlib, and the way back."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

from gymnasium.spaces import Discrete
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from abmarl.examples import MultiAgentSameSpacesSim, MultiCorridor, shipped
from abmarl.external import MultiAgentWrapper, multi_agent_to_abmarl
from abmarl.external.rllib_multiagentenv_wrapper import MultiAgentWrapper as FromOldPlace
from abmarl.managers import AllStepManager, DynamicOrderManager, TurnBasedManager
from abmarl.sim.agent_based_simulation import DynamicOrderSimulation
from abmarl.sim.agents import Agent
from tests.support.grid_worlds import skirmish, strike

STAY = {"move": np.zeros(2, int), "attack": 0}
HIT = {"move": np.zeros(2, int), "attack": 1}


class InPairs(DynamicOrderSimulation):
    """Two of three agents act at a time; agent c is done after its second turn."""

    pairs = (["a", "b"], ["c"], ["b", "a"], ["c", "a"], ["c", "b"])

    def __init__(self):
        self.agents = {
            key: Agent(id=key, observation_space=Discrete(10), action_space=Discrete(2))
            for key in "abc"
        }
        self.finalize()

    def reset(self, **kwargs):
        self.time = 0
        self.next_agent = self.pairs[0]

    def step(self, action, **kwargs):
        self.time += 1
        self.next_agent = self.pairs[self.time % len(self.pairs)]

    def render(self, **kwargs):
        return self.time

    def get_obs(self, agent_id, **kwargs):
        return self.time % 10

    def get_reward(self, agent_id, **kwargs):
        return 1.0

    def get_done(self, agent_id, **kwargs):
        return agent_id == "c" and self.time >= 4

    def get_all_done(self, **kwargs):
        return self.time >= 6

    def get_info(self, agent_id, **kwargs):
        return None


MANAGERS = {
    "all": lambda: AllStepManager(skirmish()),
    "turns": lambda: TurnBasedManager(skirmish()),
    "corridor": lambda: TurnBasedManager(MultiCorridor()),
    "named": lambda: DynamicOrderManager(InPairs()),
}


def play(env, steps, seed=None):
    """Random episodes as RLlib records them; returns them with everything that was seen."""
    rng = np.random.default_rng(0)
    for one in env.action_spaces.values():
        one.seed(int(rng.integers(2**31)))
    episodes, seen = [], []
    obs, infos = env.reset(seed=seed)
    for _ in range(steps):
        if not episodes or episodes[-1].is_done:
            if episodes:
                obs, infos = env.reset()
            episodes.append(MultiAgentEpisode(agent_to_module_mapping_fn=lambda *_, **__: "x"))
            episodes[-1].add_env_reset(observations=obs, infos=infos)
            ended = set()
        seen.append(copy.deepcopy(obs))
        actions = {key: env.action_spaces[key].sample() for key in obs if key not in ended}
        obs, rewards, terminateds, truncateds, infos = env.step(actions)
        episodes[-1].add_env_step(
            obs, actions, rewards, infos, terminateds=terminateds, truncateds=truncateds
        )
        assert set(obs) == set(rewards) == set(infos)
        assert set(obs) == set(terminateds) - {"__all__"}
        ended |= {key for key in obs if terminateds[key]}
        seen.append((rewards, terminateds, truncateds))
    return episodes, seen


@pytest.mark.parametrize("name", list(shipped))
def test_shipped_simulations_pass_the_checks_of_rllib(name):
    env = MultiAgentWrapper(AllStepManager(shipped[name]()), horizon=20)
    check_multiagent_environments(env)
    obs, _ = env.reset(seed=1)
    for key, space in env.observation_spaces.items():
        assert key not in obs or obs[key] in space


@pytest.mark.parametrize("name", list(MANAGERS))
@pytest.mark.parametrize("horizon", [None, 5])
def test_episodes_of_every_manager(name, horizon):
    env = MultiAgentWrapper(MANAGERS[name](), horizon=horizon)
    check_multiagent_environments(env)
    episodes, _ = play(env, 60)
    if horizon:
        assert max(len(one) for one in episodes) <= 5
        assert any(one.is_truncated for one in episodes)
    for episode in episodes[:-1]:
        for single in episode.agent_episodes.values():
            assert single.is_terminated or episode.is_truncated
            assert len(single.observations) == len(single.rewards) + 1


def test_agents_and_spaces():
    env = MultiAgentWrapper(AllStepManager(strike()))
    assert isinstance(env, MultiAgentEnv)
    assert FromOldPlace is MultiAgentWrapper
    assert env.possible_agents == ["knight"]
    assert env.agent_ids == {"knight"} == env._agent_ids == env.get_agent_ids()
    # The victim does not learn, and scripts look agents up in unwrapped.agents.
    assert set(env.unwrapped.agents) == {"knight", "victim"}
    knight = env.unwrapped.agents["knight"]
    assert env.observation_space["knight"] == knight.observation_space
    assert env.get_action_space("knight") == knight.action_space
    assert isinstance(env.sim, AllStepManager)
    assert repr(env).startswith("MultiAgentWrapper(AllStepManager(")
    assert len(pickle.loads(pickle.dumps(env)).possible_agents) == 1


@pytest.mark.parametrize(
    ("horizon", "attack_at", "terminated", "truncated"),
    [(5, 3, True, False), (3, None, False, True), (3, 3, True, False)],
)
def test_endings_of_the_environment(horizon, attack_at, terminated, truncated):
    env = MultiAgentWrapper(strike(), horizon=horizon)
    env.reset(seed=0)
    for step in (1, 2, 3):
        action = HIT if step == attack_at else STAY
        obs, rewards, terminateds, truncateds, _ = env.step({"knight": action})
        ended = step == 3
        assert terminateds == dict.fromkeys(("knight", "__all__"), ended and terminated)
        late = ended and truncated
        assert truncateds == {"__all__": True} if late else {"knight": False, "__all__": False}
    window = obs["knight"]["position_centered_encoding"]
    assert (window == 2).any() == (attack_at is None)
    assert rewards == {"knight": 0.875 if attack_at == 3 else -0.125}
    with pytest.raises(ValueError, match="has ended: call reset"):
        env.step({"knight": STAY})


def test_endings_of_an_agent_that_leaves_first():
    env = MultiAgentWrapper(skirmish(), horizon=4)
    env.reset(seed=0)
    obs, rewards, terminateds, truncateds, _ = env.step({"red": HIT, "blue0": STAY, "blue1": STAY})
    assert terminateds == {"red": False, "blue0": True, "blue1": False, "__all__": False}
    assert rewards["blue0"] == -1.125
    assert "blue0" in obs
    with pytest.raises(ValueError, match=r"action from agent 'blue0', which is done"):
        env.step({"blue0": STAY})
    for _ in range(3):
        obs, _, terminateds, truncateds, _ = env.step({"red": STAY, "blue1": STAY})
        assert set(obs) == {"red", "blue1"}
    assert truncateds == {"__all__": True}
    assert not any(terminateds.values())


def test_endings_of_those_who_wait_for_their_turn():
    env = MultiAgentWrapper(TurnBasedManager(skirmish()), horizon=2)
    env.reset(seed=0)
    env.step({"red": STAY})
    obs, rewards, _, truncateds, _ = env.step({"blue0": STAY})
    assert set(obs) == {"red", "blue0", "blue1"}
    assert rewards == {"red": -0.125, "blue0": -0.125, "blue1": 0.0}
    assert truncateds == {"__all__": True}


def test_seeds():
    first, second = (play(MultiAgentWrapper(skirmish(), horizon=9), 40, seed=5)[1] for _ in "ab")
    np.testing.assert_equal(first, second)
    sim = skirmish()
    sim.reset(seed=5)
    obs, _ = MultiAgentWrapper(skirmish()).reset(seed=5)
    np.testing.assert_equal(obs, {key: sim.get_obs(key) for key in obs})


def test_bad_actions_change_nothing():
    env = MultiAgentWrapper(skirmish())
    with pytest.raises(ValueError, match="no episode is running"):
        env.step({})
    env.reset(seed=0)
    with pytest.raises(ValueError, match="'nobody', which is not in the simulation"):
        env.step({"nobody": STAY})
    with pytest.raises(ValueError, match=r"'red'.*'attack'"):
        env.step({"red": {**STAY, "attack": 7}})
    obs = env.step(dict.fromkeys(env.possible_agents, STAY))[0]
    other = MultiAgentWrapper(skirmish())
    other.reset(seed=0)
    np.testing.assert_equal(obs, other.step(dict.fromkeys(env.possible_agents, STAY))[0])


def test_bad_parameters():
    with pytest.raises(TypeError, match="needs a simulation or a manager, got int"):
        MultiAgentWrapper(3)
    with pytest.raises(ValueError, match="horizon"):
        MultiAgentWrapper(strike(), horizon=0)
    with pytest.raises(ValueError, match="render_mode"):
        MultiAgentWrapper(strike(), render_mode="loud")


def test_render():
    env = MultiAgentWrapper(strike(), render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().dtype == np.uint8
    env = MultiAgentWrapper(DynamicOrderManager(InPairs()))
    env.reset()
    assert env.render() == 0


def test_there_and_back():
    sim, inner = multi_agent_to_abmarl(MultiAgentWrapper(skirmish())), skirmish()
    managers = AllStepManager(sim), AllStepManager(inner)
    np.testing.assert_equal(*(one.reset(seed=3) for one in managers))
    done = {}
    while not done.get("__all__"):
        live = [key for key in sim.agents if key not in managers[0].done_agents]
        actions = {key: {**HIT, "move": np.array([0, 1])} for key in live}
        found, expected = (one.step(actions) for one in managers)
        np.testing.assert_equal(found[:2], expected[:2])
        done = found[2]
        # The environment reports everybody as ended when the world does.
        assert done["__all__"] == expected[2]["__all__"]


def test_back_where_agents_take_turns():
    manager = DynamicOrderManager(multi_agent_to_abmarl(MultiAgentWrapper(MANAGERS["named"]())))
    assert list(manager.reset()) == ["a", "b"]
    obs, rewards, _, _ = manager.step({"a": 0, "b": 1})
    assert obs == {"c": 1}
    assert rewards == {"c": 1.0}
    obs, _, _, _ = manager.step({"c": 0})
    assert list(obs) == ["b", "a"]
    with pytest.raises(ValueError, match="use the DynamicOrderManager"):
        AllStepManager(multi_agent_to_abmarl(MultiAgentWrapper(MANAGERS["named"]()))).reset()


def test_what_cannot_be_brought_back():
    with pytest.raises(TypeError, match="must be a MultiAgentEnv of RLlib, got int"):
        multi_agent_to_abmarl(1)

    class Spaceless(MultiAgentEnv):
        def __init__(self):
            self.agents = ["a"]
            super().__init__()

    with pytest.raises(ValueError, match="agent 'a' has no space"):
        multi_agent_to_abmarl(Spaceless())


def test_plain_simulations():
    episodes, _ = play(MultiAgentWrapper(MultiAgentSameSpacesSim(), horizon=8), 16)
    assert len(episodes) == 2
